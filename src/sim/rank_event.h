/* SPDX-License-Identifier: MIT */
/* rank_event.h - the end of an event of one unit. */
#ifndef TT_SIM_RANK_EVENT_H
#define TT_SIM_RANK_EVENT_H

#include "sim/rank.h"

/* Lets a unit that is in event mode settle; once more if it announces the next event for the same time. *ended becomes true
 * if its FMU ends the run. */
TUTTI_CHECKED enum tutti_err tt_rank_finish_event(const struct tt_rank *rank, struct tt_member *member, bool *ended);

/* The error of a unit whose time stands still: `how` says what the FMU does. */
TUTTI_CHECKED enum tutti_err tt_rank_fail_no_progress(const struct tt_member *member, const char *how);

#endif
