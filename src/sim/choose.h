/* SPDX-License-Identifier: MIT */
/* choose.h - from what a person asks for, and `auto`, to a master: the four choices, each with its reason. */
#ifndef TT_SIM_CHOOSE_H
#define TT_SIM_CHOOSE_H

#include "sim/sim.h"

/* With all units computed and none out of its initialisation: makes the choices. ARGUMENT or UNSUPPORTED for what does not go
 * together, naming the unit that is in the way and what to use instead. Later once more, with the stability that was found
 * then, if units turn out to forget (unit.h). */
TUTTI_CHECKED enum tutti_err tt_choose_method(struct tt_sim *master);
/* Called after the initialisation, collective: if `auto` has chosen an explicit coupling with fixed steps, and the
 * states of all units are known (Model Exchange), tests its stability. If it is unstable, the choices are repeated. */
TUTTI_CHECKED enum tutti_err tt_choose_reconsider_coupling(struct tt_sim *master);
/* Returns true if the choices roll units back, even if only for short steps that determine derivatives. */
bool tt_choose_relies_on_rollback(const struct tt_sim *master);

#endif
