/* SPDX-License-Identifier: MIT */
/* live_control.h - a run that is steered by those who watch it: what they ask for is done between two macro steps, on all ranks at the same one.
 *
 * The first rank takes orders (options.orders). Now and then, after the same number of macro steps on all, ranks look at them together. */
#ifndef TT_RUN_LIVE_LIVE_CONTROL_H
#define TT_RUN_LIVE_LIVE_CONTROL_H

#include "sim/execution.h"

/* Goes along with a job whose options have `live`, wherever it runs. */
void tt_live_control_attach(struct tt_job *job);

#endif
