/* SPDX-License-Identifier: MIT */
/* live_control.h - a run that viewers control: their requests are executed between two macro steps, on all ranks at one
 * step.
 *
 * The first rank takes orders (options.orders). From time to time, after an equal number of macro steps, all ranks
 * check them together. */
#ifndef TT_RUN_LIVE_LIVE_CONTROL_H
#define TT_RUN_LIVE_LIVE_CONTROL_H

#include "sim/execution.h"

/* Attaches to a job whose options have `live`, wherever it runs. */
void tt_live_control_attach(struct tt_job *job);

/* Measures the load of a rank for viewers: steps, errors and events, and the time of its units (sim/report/reporter.h).
 * Inactive while there are no viewers. */

struct tt_live_load;

/* Of an execution that outlives it. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_control_load_new(struct tt_live_load **out, struct tt_execution *execution);
void tt_live_control_load_free(struct tt_live_load *gauge); /* NULL is fine */

/* Switches measuring on or off. */
void tt_live_control_load_watch(struct tt_live_load *gauge, bool wanted);
/* Called between two macro steps: reports, if there are viewers and it is time. */
TUTTI_CHECKED enum tutti_err tt_live_control_load_report(struct tt_live_load *gauge);

#endif
