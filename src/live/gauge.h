/* SPDX-License-Identifier: MIT */
/* gauge.h - measures how a rank goes, for those who watch the run: steps, errors and events, and what its units take (report/load.h). While
 * nobody watches it does nothing. */
#ifndef TUTTI_LIVE_GAUGE_H
#define TUTTI_LIVE_GAUGE_H

#include "master/execution.h"

struct tt_live_load;

/* Of an execution that outlives it. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_control_load_new(struct tt_live_load **out, struct tt_execution *execution);
void tt_live_control_load_free(struct tt_live_load *gauge); /* NULL is fine */

/* Somebody watches, or nobody any more. */
void tt_live_control_load_watch(struct tt_live_load *gauge, bool wanted);
/* Between two macro steps: tells, if somebody watches and it is time. */
TUTTI_CHECKED enum tutti_err tt_live_control_load_report(struct tt_live_load *gauge);

#endif
