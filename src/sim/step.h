/* SPDX-License-Identifier: MIT */
/* step.h - a macro step whose size may have to be determined by attempts.
 *
 * Invariants:
 *  M1  Every attempt begins at the start of the macro step, with the state of that point.
 *  M2  In an accepted step no watched discrete output has changed, except in the short step across an event.
 *  M3  Every do-step is counted once: accepted, rejected or auxiliary. */
#ifndef TT_SIM_STEP_H
#define TT_SIM_STEP_H

#include "sim/sim.h"

/* Makes a macro step from the rank's time towards `target`, which becomes its end: attempt by attempt, until one is
 * accepted; events in it are located. For runs with variable steps or rollback; other runs call the coupling alone. */
TUTTI_CHECKED enum tutti_err tt_step_macro(struct tt_sim *master, double *target);
/* Begins it: the rank's time becomes the start of the attempts. For callers with a single attempt (control/twin.h). */
TUTTI_CHECKED enum tutti_err tt_step_begin(struct tt_sim *master);

#endif
