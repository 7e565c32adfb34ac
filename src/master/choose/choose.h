/* SPDX-License-Identifier: MIT */
/* choose.h - from what a person asks for, and `auto`, to a master: the four choices, each with its reason. */
#ifndef TUTTI_MASTER_CHOOSE_CHOOSE_H
#define TUTTI_MASTER_CHOOSE_CHOOSE_H

#include "master/master.h"

/* With all units computed and none out of its initialisation: makes the choices. ARGUMENT or UNSUPPORTED for what does not go
 * together, naming the unit that is in the way and what to use instead. Later once more, with the stability that was found
 * then, if units turn out to forget (unit.h). */
TUTTI_CHECKED enum tutti_err tutti_master_choose(struct tutti_master *master);
/* With units that have left their initialisation, collective: where `auto` has chosen an explicit coupling with fixed steps, and the
 * states of all units can be seen (Model Exchange), is it stable with steps of that size? If not, the choices are made once more. */
TUTTI_CHECKED enum tutti_err tutti_master_reconsider(struct tutti_master *master);
/* Do the choices take units back, if only for short steps that find out about derivatives? */
bool tutti_master_relies_on_going_back(const struct tutti_master *master);

#endif
