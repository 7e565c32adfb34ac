/* SPDX-License-Identifier: MIT */
/* requested.h - what options ask a master for, as far as that is known before there are units. */
#ifndef TT_SIM_REQUESTED_H
#define TT_SIM_REQUESTED_H

#include "sim/job/job.h"

/* Is the choice left to `auto`? NULL: the option is not given. */
bool tt_choose_is_auto(const char *word);
/* Does an option bound errors or steps? */
bool tt_choose_requests_tolerance(const struct tutti_run_options *options);
/* Of `auto`: a step that the options give, or that FMUs propose, is taken, unless a tolerance is asked for. */
bool tt_choose_requests_varying_steps(const struct tt_job *job);
/* Of one FMU: a tolerance is asked for, or a control that takes units back, or looks at how they move. */
bool tt_choose_requests_control(const struct tutti_run_options *options);

/* Before there are units: will errors of steps be estimated, as far as one can tell? */
bool tt_choose_may_control(const struct tt_job *job);
/* ... of one FMU, if a table drives it and it does not follow that inside of a step? */
bool tt_choose_may_control_single(const struct tt_job *job);
/* ... is something asked for that takes units back: a tolerance, or a coupling, a control or events by name? */
bool tt_choose_requests_rollback(const struct tt_job *job);
/* ... is a coupling asked for that leaves the steps to units? */
bool tt_choose_requests_federation(const struct tt_job *job);
/* ... may connected inputs move inside of a step, by extrapolation or in an iteration? */
bool tt_choose_may_extrapolate_inputs(const struct tt_job *job);

#endif
