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
/* Sets values in units without event mode that began in a saved state (sim/job/state_files.h), besides their inputs:
 * inputs and tunable parameters that the user set. Called after all reads, immediately before the first step. */
TUTTI_CHECKED enum tutti_err tt_init_apply_late(struct tt_rank *rank);
/* If units will be rolled back: tests it once with each (startup_tests.h). A unit that is not restored exactly is
 * restarted, by forking if permitted (open.h); otherwise it loses TUTTI_CAN_STATE, on all ranks, with a warning;
 * *forgets: one cannot be rolled back. */
TUTTI_CHECKED enum tutti_err tt_init_test_units(struct tt_rank *rank, bool *forgets);

/* Distributes the computation of inputs and outputs in the order of their dependencies, and determines when ranks must
 * exchange.
 *
 * All ranks go through one list of actions (model/plan/eval_order.h), and each executes those of its own units. Outputs
 * are exchanged when a rank is about to read one that it does not have yet, which all ranks know: the exchange is
 * collective. Actions between two exchanges, whole loops among them, are done on several ranks at once. A loop with
 * units on several ranks is solved by all of them, each with an equal iteration (algebraic_loop.h). */

struct tt_init_exchange {
    struct tt_rank *rank;
    bool *news; /* per node: computed since the last exchange; of the arena */
    bool *told; /* per node, an input: it was set in its unit; in the arena */
};

TUTTI_CHECKED enum tutti_err tt_init_exchange_init(struct tt_init_exchange *spread, struct tt_rank *rank,
                                                   struct tt_arena *arena);
/* Collective: before an action on these nodes. *here: this rank takes part in it. */
TUTTI_CHECKED enum tutti_err tt_init_exchange_prepare(struct tt_init_exchange *spread, const uint32_t *nodes,
                                                      uint32_t count, bool *here);
/* Collective: all that was computed is known where it is read. */
TUTTI_CHECKED enum tutti_err tt_init_exchange_run(struct tt_init_exchange *spread);
/* Marks it as done by a different exchange. */
void tt_init_exchange_mark_done(struct tt_init_exchange *spread);

/* Checks that a unit has the expected parameters (unit/parameter_check.h), lest a run silently use different values. */

/* Reads the parameters of an own unit that is initialised, one call per type, and warns of those that differ from the
 * values that were set, or from the description. *refused: the FMU did not return them, after which FMI does not permit
 * stepping it. */
TUTTI_CHECKED enum tutti_err tt_init_compare_parameters(struct tt_rank *rank, const struct tt_member *member,
                                                        bool *refused);

#endif
