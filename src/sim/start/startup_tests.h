/* SPDX-License-Identifier: MIT */
/* startup_tests.h - tests once per unit, before the first step, that a rollback restores it exactly, if the run relies
 * on rollback.
 *
 * Saved states of some FMUs are incomplete: a step that is repeated differs from the first. Nothing is sent or
 * recorded, no count changes, and a unit that passes is restored. */
#ifndef TT_SIM_START_STARTUP_TESTS_H
#define TT_SIM_START_STARTUP_TESTS_H

#include "sim/rank.h"

/* The result of the startup tests. */
struct tt_startup_test_result {
    bool tried;     /* there was room for it */
    bool forgets;   /* the unit is not restored exactly, and is no longer at its point */
    bool unsteady;  /* or only if it is informed of rollbacks beyond the start of a step */
    char why[1024]; /* it forgets */
    /* An output that follows inputs at once, which the model structure denies (startup_tests.h); TUTTI_NONE: none does. */
    uint32_t undeclared;
};

/* Tests Co-Simulation units that declare saved states, at the start of the run, after the initialisation. An error of
 * the FMU on the way is not an error here: it counts as `forgets`. */
TUTTI_CHECKED enum tutti_err tt_startup_tests_run(struct tt_rank *rank, struct tt_member *member,
                                                  struct tt_startup_test_result *rehearsal);

/* Tests whether outputs directly depend on inputs although the model structure denies it.
 *
 * Some FMUs name wrong dependencies, or none. A held input of such a unit is then held at its mean, which is correct
 * for states only: outputs correspond to the middle of each step, and are accurate to first order only. Tested once per
 * unit, with the rollback test (startup_tests.h): by steps so short that states hardly move, with present and slightly
 * moved inputs. */

/* At the start of the run, for a unit that can be restored to `saved`, where it is; `h` is a step that it can make.
 * *output is the first variable found, TUTTI_NONE: none. Inputs that move in a step are not tested. The unit is
 * restored; FMU: it failed on the way. */
TUTTI_CHECKED enum tutti_err tt_startup_tests_find_undeclared(struct tt_rank *rank, const struct tt_member *member,
                                                              const struct tt_unit_saved *saved, double h,
                                                              uint32_t *output);

#endif
