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

/* Who does what where inputs and outputs are computed in the order of their dependencies, and when ranks have to hear
 * of each other.
 *
 * All ranks go through the same list of actions (model/plan/eval_order.h), each does those of its own units. Outputs are sent when a rank is
 * about to read one that is news to it, which all ranks know: the exchange is collective. Actions between two exchanges, whole
 * loops among them, are done on several ranks at once. A loop whose units are on several ranks is solved by all of them, each with
 * the same iteration (algebraic_loop.h). */

struct tt_init_exchange {
    struct tt_rank *rank;
    bool *news; /* per node: computed since the last exchange; of the arena */
    bool *told; /* per node, an input: its unit was told; of the arena */
};

TUTTI_CHECKED enum tutti_err tt_init_exchange_init(struct tt_init_exchange *spread, struct tt_rank *rank,
                                                   struct tt_arena *arena);
/* Collective: before an action on these nodes. *here: this rank takes part in it. */
TUTTI_CHECKED enum tutti_err tt_init_exchange_prepare(struct tt_init_exchange *spread, const uint32_t *nodes,
                                                      uint32_t count, bool *here);
/* Collective: all that was computed is known where it is read. */
TUTTI_CHECKED enum tutti_err tt_init_exchange_run(struct tt_init_exchange *spread);
/* ... by another exchange. */
void tt_init_exchange_mark_done(struct tt_init_exchange *spread);

/* Has a unit the parameters that it should have (unit/parameter_check.h)? Else a run would go on with others in
 * silence. */

/* Reads the parameters of an own unit that is initialised, one call per type, and warns of those that are not what they were set
 * to, or what the description says. *refused: the FMU did not show them, and FMI lets nobody step it after that. */
TUTTI_CHECKED enum tutti_err tt_init_compare_parameters(struct tt_rank *rank, const struct tt_member *member,
                                                        bool *refused);

#endif
