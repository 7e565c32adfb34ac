/* SPDX-License-Identifier: MIT */
/* live_control.h - a run that is steered by those who watch it: what they ask for is done between two macro steps, on all ranks at the same one.
 *
 * The first rank takes orders (options.orders). Now and then, after the same number of macro steps on all, ranks look at them together. */
#ifndef TT_RUN_LIVE_LIVE_CONTROL_H
#define TT_RUN_LIVE_LIVE_CONTROL_H

#include "sim/execution.h"

/* Goes along with a job whose options have `live`, wherever it runs. */
void tt_live_control_attach(struct tt_job *job);

/* Measures how a rank goes, for those who watch the run: steps, errors and events, and what its units take (sim/report/reporter.h). While
 * nobody watches it does nothing. */

struct tt_live_load;

/* Of an execution that outlives it. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_control_load_new(struct tt_live_load **out, struct tt_execution *execution);
void tt_live_control_load_free(struct tt_live_load *gauge); /* NULL is fine */

/* Somebody watches, or nobody any more. */
void tt_live_control_load_watch(struct tt_live_load *gauge, bool wanted);
/* Between two macro steps: tells, if somebody watches and it is time. */
TUTTI_CHECKED enum tutti_err tt_live_control_load_report(struct tt_live_load *gauge);

#endif
