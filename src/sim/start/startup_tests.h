/* SPDX-License-Identifier: MIT */
/* startup_tests.h - do units come back as they were? Tried once per unit, before the first step, where a run relies on it.
 *
 * Saved states of some FMUs are incomplete: a step that is repeated differs from the first. Nothing is sent or recorded, no
 * count changes, and a unit that does come back stands where it stood. */
#ifndef TT_SIM_START_STARTUP_TESTS_H
#define TT_SIM_START_STARTUP_TESTS_H

#include "sim/rank.h"

/* What a rehearsal found out. */
struct tt_startup_test_result {
    bool tried;     /* there was room for it */
    bool forgets;   /* the unit does not come back as it was, and is no longer where it should be */
    bool unsteady;  /* ... only if it is told that it may be taken back beyond the start of a step */
    char why[1024]; /* it forgets */
    /* An output that follows inputs at once, which the model structure denies (startup_tests.h); TUTTI_NONE: none does. */
    uint32_t undeclared;
};

/* Co-Simulation units that say that they save their state; others have nothing to forget. At the start of the run, after
 * the initialisation. An error of the FMU on the way is no error here: it forgets. */
TUTTI_CHECKED enum tutti_err tt_startup_tests_run(struct tt_rank *rank, struct tt_member *member,
                                                  struct tt_startup_test_result *rehearsal);

/* Do outputs follow inputs at once although the model structure says that they do not?
 *
 * Some FMUs name wrong dependencies, or none. An input that such a unit holds in a step is then held at its mean, which is right for states
 * only: outputs show the middle of each step, and their errors fall with its first power. Tried once per unit, with the rehearsal of
 * going back (startup_tests.h): steps so short that states hardly move, with inputs as they are and with inputs moved a little. */

/* At the start of the run, of a unit that goes back to `saved`, where it is; `h` is a step that it can make. *output is the first variable
 * found, TUTTI_NONE: none is. Inputs that move in a step are not tried. The unit is restored; FMU: it failed on the way. */
TUTTI_CHECKED enum tutti_err tt_startup_tests_find_undeclared(struct tt_rank *rank, const struct tt_member *member,
                                                              const struct tt_unit_saved *saved, double h,
                                                              uint32_t *output);

#endif
