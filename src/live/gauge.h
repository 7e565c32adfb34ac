/* SPDX-License-Identifier: MIT */
/* gauge.h - measures how a rank goes, for those who watch the run: steps, errors and events, and what its units take (report/load.h). While
 * nobody watches it does nothing. */
#ifndef TUTTI_LIVE_GAUGE_H
#define TUTTI_LIVE_GAUGE_H

#include "master/execution.h"

struct tutti_gauge;

/* Of an execution that outlives it. MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_gauge_new(struct tutti_gauge **out, struct tutti_execution *execution);
void tutti_gauge_free(struct tutti_gauge *gauge); /* NULL is fine */

/* Somebody watches, or nobody any more. */
void tutti_gauge_watch(struct tutti_gauge *gauge, bool wanted);
/* Between two macro steps: tells, if somebody watches and it is time. */
TUTTI_CHECKED enum tutti_err tutti_gauge_tell(struct tutti_gauge *gauge);

#endif
