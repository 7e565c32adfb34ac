/* SPDX-License-Identifier: MIT */
/* requested.h - requirements of the options for a master, as far as they are known before units are created. */
#ifndef TT_SIM_REQUESTED_H
#define TT_SIM_REQUESTED_H

#include "sim/job/job.h"

/* Returns true if the choice is left to `auto`. NULL: the option is not given. */
bool tt_choose_is_auto(const char *word);
/* Returns true if an option bounds errors or steps. */
bool tt_choose_requests_tolerance(const struct tutti_run_options *options);
/* Of `auto`: a step that the options give, or that FMUs propose, is taken, unless a tolerance is asked for. */
bool tt_choose_requests_varying_steps(const struct tt_job *job);
/* Of one FMU: a tolerance is asked for, or a control that takes units back, or looks at how they move. */
bool tt_choose_requests_control(const struct tutti_run_options *options);

/* Returns true if errors of steps may be estimated, as far as that is known before units are created. */
bool tt_choose_may_control(const struct tt_job *job);
/* As above for a single FMU: if a table drives it that it does not follow inside a step. */
bool tt_choose_may_control_single(const struct tt_job *job);
/* Returns true if an option requires rollback: a tolerance, or an explicit coupling, control or event detection. */
bool tt_choose_requests_rollback(const struct tt_job *job);
/* Returns true if the requested coupling leaves the steps to units. */
bool tt_choose_requests_federation(const struct tt_job *job);
/* Returns true if connected inputs may move inside a step, by extrapolation or in an iteration. */
bool tt_choose_may_extrapolate_inputs(const struct tt_job *job);

#endif
