/* SPDX-License-Identifier: MIT */
/* choose.h - from what a person asks for, and `auto`, to a master: the four choices, each with its reason. */
#ifndef TUTTI_MASTER_CHOOSE_H
#define TUTTI_MASTER_CHOOSE_H

#include "master/master.h"

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

/* With all units computed and none out of its initialisation: makes the choices. ARGUMENT or UNSUPPORTED for what does not go
 * together, naming the unit that is in the way and what to use instead. Later once more, with the stability that was found
 * then, if units turn out to forget (unit.h). */
TUTTI_CHECKED enum tutti_err tutti_master_choose(struct tutti_master *master);
/* With units that have left their initialisation, collective: where `auto` has chosen an explicit coupling with fixed steps, and the
 * states of all units can be seen (Model Exchange), is it stable with steps of that size? If not, the choices are made once more. */
TUTTI_CHECKED enum tutti_err tutti_master_reconsider(struct tutti_master *master);
/* Do the choices take units back, if only for short steps that find out about derivatives? */
bool tutti_master_relies_on_going_back(const struct tutti_master *master);
/* Tells the log what `auto` has chosen, and which options have no effect. */
void tutti_master_tell(const struct tutti_master *master);

#endif
