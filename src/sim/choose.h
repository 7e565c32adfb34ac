/* SPDX-License-Identifier: MIT */
/* choose.h - from what a person asks for, and `auto`, to a master: the four choices, each with its reason. */
#ifndef TT_SIM_CHOOSE_H
#define TT_SIM_CHOOSE_H

#include "sim/sim.h"

/* With all units computed and none out of its initialisation: makes the choices. ARGUMENT or UNSUPPORTED for what does not go
 * together, naming the unit that is in the way and what to use instead. Later once more, with the stability that was found
 * then, if units turn out to forget (unit.h). */
TUTTI_CHECKED enum tutti_err tt_choose_method(struct tt_sim *master);
/* With units that have left their initialisation, collective: where `auto` has chosen an explicit coupling with fixed steps, and the
 * states of all units can be seen (Model Exchange), is it stable with steps of that size? If not, the choices are made once more. */
TUTTI_CHECKED enum tutti_err tt_choose_reconsider_coupling(struct tt_sim *master);
/* Do the choices take units back, if only for short steps that find out about derivatives? */
bool tt_choose_relies_on_rollback(const struct tt_sim *master);

#endif
