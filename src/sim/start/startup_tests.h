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
    /* An output that follows inputs at once, which the model structure denies (undeclared_dependencies.h); TUTTI_NONE: none does. */
    uint32_t undeclared;
};

/* Co-Simulation units that say that they save their state; others have nothing to forget. At the start of the run, after
 * the initialisation. An error of the FMU on the way is no error here: it forgets. */
TUTTI_CHECKED enum tutti_err tt_startup_tests_run(struct tt_rank *rank, struct tt_member *member,
                                                  struct tt_startup_test_result *rehearsal);

#endif
