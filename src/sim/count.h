/* SPDX-License-Identifier: MIT */
/* count.h - what a rank did, as statistics. */
#ifndef TT_SIM_COUNT_H
#define TT_SIM_COUNT_H

#include "sim/sim.h"

/* Completes the rank's statistics when the run is over, however far it came. `units` is per component up to the last that this
 * rank had; those of other ranks have no name. Without memory for it: no texts, no unit. */
void tt_execution_count(struct tt_sim *master);

#endif
