/* SPDX-License-Identifier: MIT */
/* step.h - a macro step whose size may have to be found.
 *
 * Invariants:
 *  M1  Every attempt begins at the start of the macro step, with everything as it was there.
 *  M2  In an accepted step no discrete output has changed where it was looked at, except in the short one across an event.
 *  M3  Every do-step is counted once: accepted, rejected or auxiliary. */
#ifndef TT_SIM_STEP_H
#define TT_SIM_STEP_H

#include "sim/sim.h"

/* From the rank's time towards `target`, which becomes where it ends: attempt by attempt, until one is good; events in it are
 * located. For runs whose steps vary or may be taken back; others call the coupling alone. */
TUTTI_CHECKED enum tutti_err tt_step_macro(struct tt_sim *master, double *target);
/* Its beginning: the rank's time becomes the one that attempts begin at. For those who make one attempt only (control/twin.h). */
TUTTI_CHECKED enum tutti_err tt_step_begin(struct tt_sim *master);

#endif
