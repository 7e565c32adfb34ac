/* SPDX-License-Identifier: MIT */
/* pilot.h - a run that is steered by those who watch it: what they ask for is done between two macro steps, on all ranks at the same one.
 *
 * The first rank takes orders (options.orders). Now and then, after the same number of macro steps on all, ranks look at them together. */
#ifndef TUTTI_LIVE_PILOT_H
#define TUTTI_LIVE_PILOT_H

#include "master/execution.h"

/* Goes along with a job whose options have `live`, wherever it runs. */
void tt_live_control_attach(struct tt_job *job);

#endif
