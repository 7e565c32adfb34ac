/* SPDX-License-Identifier: MIT */
/* live_load.h - measures how a rank goes, for those who watch the run: steps, errors and events, and what its units take (sim/report/rank_load.h). While
 * nobody watches it does nothing. */
#ifndef TT_RUN_LIVE_LIVE_LOAD_H
#define TT_RUN_LIVE_LIVE_LOAD_H

#include "sim/execution.h"

struct tt_live_load;

/* Of an execution that outlives it. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_control_load_new(struct tt_live_load **out, struct tt_execution *execution);
void tt_live_control_load_free(struct tt_live_load *gauge); /* NULL is fine */

/* Somebody watches, or nobody any more. */
void tt_live_control_load_watch(struct tt_live_load *gauge, bool wanted);
/* Between two macro steps: tells, if somebody watches and it is time. */
TUTTI_CHECKED enum tutti_err tt_live_control_load_report(struct tt_live_load *gauge);

#endif
