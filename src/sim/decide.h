/* SPDX-License-Identifier: MIT */
/* decide.h - the method of a run on its opened components: collects their traits, calls tt_choose_method (choose.h),
 * and calls it again where tests at the start change the traits. */
#ifndef TT_SIM_DECIDE_H
#define TT_SIM_DECIDE_H

#include "sim/sim.h"

/* Collective, with all components computed and none out of its initialisation: master->traits and master->chosen.
 * ARGUMENT or UNSUPPORTED for a method that is refused. */
TUTTI_CHECKED enum tutti_err tt_decide_method(struct tt_sim *master);
/* Collective, with components that have left their initialisation. Where `auto` has chosen an explicit coupling with
 * fixed steps, and the states of all components can be seen (Model Exchange), its stability with steps of that size is
 * measured: an unstable coupling is replaced by choosing again, or, if an option named it, causes a warning. */
TUTTI_CHECKED enum tutti_err tt_decide_reconsider_coupling(struct tt_sim *master);
/* Where the method takes components back, their rollback is tested. If one does not come back to the state that it
 * saved, the method is chosen again: `auto` takes one without rollback, and a method that the user named is refused.
 * Collective. */
TUTTI_CHECKED enum tutti_err tt_decide_test_rollback(struct tt_sim *master);
/* Logs what `auto` has chosen, with the reasons, and warnings. */
void tt_decide_log_method(const struct tt_sim *master);

#endif
