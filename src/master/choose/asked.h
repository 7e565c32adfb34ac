/* SPDX-License-Identifier: MIT */
/* asked.h - what options ask a master for, as far as that is known before there are units. */
#ifndef TUTTI_MASTER_CHOOSE_ASKED_H
#define TUTTI_MASTER_CHOOSE_ASKED_H

#include "job/job.h"

/* Is the choice left to `auto`? NULL: the option is not given. */
bool tutti_asked_auto(const char *word);
/* Does an option bound errors or steps? */
bool tutti_asked_tolerance(const struct tutti_run_options *options);
/* Of `auto`: a step that the options give, or that FMUs propose, is taken, unless a tolerance is asked for. */
bool tutti_asked_to_vary(const struct tutti_job *job);
/* Of one FMU: a tolerance is asked for, or a control that takes units back, or looks at how they move. */
bool tutti_asked_to_control(const struct tutti_run_options *options);

/* Before there are units: will errors of steps be estimated, as far as one can tell? */
bool tutti_master_may_control(const struct tutti_job *job);
/* ... of one FMU, if a table drives it and it does not follow that inside of a step? */
bool tutti_master_may_control_one(const struct tutti_job *job);
/* ... is something asked for that takes units back: a tolerance, or a coupling, a control or events by name? */
bool tutti_master_asks_to_go_back(const struct tutti_job *job);
/* ... is a coupling asked for that leaves the steps to units? */
bool tutti_master_federates(const struct tutti_job *job);
/* ... may connected inputs move inside of a step, by extrapolation or in an iteration? */
bool tutti_master_may_move_inputs(const struct tutti_job *job);

#endif
