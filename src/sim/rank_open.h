/* SPDX-License-Identifier: MIT */
/* open.h - a rank with its units, signals and clock at the beginning. */
#ifndef TT_SIM_RANK_OPEN_H
#define TT_SIM_RANK_OPEN_H

#include "sim/rank.h"

/* Creates the units of the rank's job. `rank` is zeroed except for job, stats, observer, pending_sets; with a conductor
 * also fabric, place, reports and logs. */
TUTTI_CHECKED enum tutti_err tt_rank_open(struct tt_rank *rank);
/* Ends all units, after the last step. */
TUTTI_CHECKED enum tutti_err tt_rank_terminate(struct tt_rank *rank);
/* Releases everything, however far it came. */
void tt_rank_close(struct tt_rank *rank);

#endif
