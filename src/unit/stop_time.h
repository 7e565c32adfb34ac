/* SPDX-License-Identifier: MIT */
/* stop_time.h - detects a Co-Simulation FMU that integrates to the stop time in its first step.
 *
 * The stop time of an experiment is a limit that no step will pass. Some FMUs (OpenModelica 1.13-dev) integrate to it
 * in their first do-step, and change nothing in later ones. The test is cheap for other FMUs: states and continuous
 * outputs are read at the start and after two steps. If one has changed in the first step and is identical to the bit
 * after the second, two further instances repeat the steps outside the run (fresh.h): one with a stop time and one
 * without. The FMU is at fault only if these differ. */
#ifndef TT_UNIT_STOP_TIME_H
#define TT_UNIT_STOP_TIME_H

#include "unit/fresh.h"

struct tt_stop_time;

/* For an experiment with a stop time. *check becomes NULL if there is nothing to test. `fresh` is borrowed. */
TUTTI_CHECKED enum tutti_err tt_stop_time_new(struct tt_stop_time **check, struct tt_unit *unit,
                                              const struct tt_fresh *fresh);
void tt_stop_time_free(struct tt_stop_time *check);

/* Each of these may be given NULL, and does nothing then. */

/* The initialisation is over. */
TUTTI_CHECKED enum tutti_err tt_stop_time_start(struct tt_stop_time *check);
/* A do-step from t has been made, and how it ended. The error of an FMU that is at fault, now and at each further step. */
TUTTI_CHECKED enum tutti_err tt_stop_time_check_step(struct tt_stop_time *check, double t,
                                                     const struct tt_fmi_step *step);
/* Returns true if the next step must be checked, too. */
bool tt_stop_time_is_open(const struct tt_stop_time *check);

#endif
