/* SPDX-License-Identifier: MIT */
/* init.h - from configured units to a consistent start, in the order in which a run does it; the master is chosen between
 * the first and the second. All of it is collective. */
#ifndef TT_SIM_START_INIT_H
#define TT_SIM_START_INIT_H

#include "sim/rank.h"

/* All units enter their initialisation, and everything is computed there: inputs and outputs in the order of their
 * dependencies, loops as blocks. */
TUTTI_CHECKED enum tutti_err tt_init_compute(struct tt_rank *rank);
/* All units leave it, and cross the events that they have at the start. One may end the run: rank->ended. */
TUTTI_CHECKED enum tutti_err tt_init_exit(struct tt_rank *rank);
/* What units without event mode that began in a saved state (sim/job/state_files.h) are told besides their inputs: inputs and tunable parameters that were
 * set. After everything was read, as the last thing before the first step. */
TUTTI_CHECKED enum tutti_err tt_init_apply_late(struct tt_rank *rank);
/* Where units are to be taken back: tries it once with each (startup_tests.h). A unit that does not come back as it was begins its
 * life anew, by forking if it may (open.h); else it loses TUTTI_CAN_STATE, on all ranks. It is warned of; *forgets: there is
 * one that cannot go back. */
TUTTI_CHECKED enum tutti_err tt_init_test_units(struct tt_rank *rank, bool *forgets);

#endif
