/* SPDX-License-Identifier: MIT */
/* stop_time.h - does a Co-Simulation FMU go to the stop time in its first step?
 *
 * The stop time of an experiment is a limit that no step will pass. Some FMUs (OpenModelica 1.13-dev) integrate to it in their first
 * do-step, and change nothing in later ones. They are found without cost to others: states and continuous outputs are read at the start
 * and after two steps. Where one has moved in the first step and kept its very bits in the second one, two further instances make the same
 * steps, apart from the run (fresh.h): one with a stop time and one without. Only where that makes the difference is the FMU at fault. */
#ifndef TT_UNIT_STOP_TIME_H
#define TT_UNIT_STOP_TIME_H

#include "unit/fresh.h"

struct tt_stop_time;

/* For an experiment that has a stop time. *check becomes NULL where there is nothing to look at. `fresh` is borrowed. */
TUTTI_CHECKED enum tutti_err tt_stop_time_new(struct tt_stop_time **check, struct tt_unit *unit,
                                              const struct tt_fresh *fresh);
void tt_stop_time_free(struct tt_stop_time *check);

/* Each of these may be given NULL, and does nothing then. */

/* The initialisation is over. */
TUTTI_CHECKED enum tutti_err tt_stop_time_start(struct tt_stop_time *check);
/* A do-step from t has been made, and how it ended. The error of an FMU that is at fault, now and at each further step. */
TUTTI_CHECKED enum tutti_err tt_stop_time_check_step(struct tt_stop_time *check, double t,
                                                     const struct tt_fmi_step *step);
/* Is there more to look at after the next step? */
bool tt_stop_time_is_open(const struct tt_stop_time *check);

#endif
