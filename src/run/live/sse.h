/* SPDX-License-Identifier: MIT */
/* sse.h - messages to viewers of a run, as server-sent events (the HTML standard's text/event-stream): "event: KIND",
 * and "data: " with one line of JSON. docs/live.md lists them.
 *
 * A number that is not finite is null, because JSON cannot express it. */
#ifndef TT_RUN_LIVE_SSE_H
#define TT_RUN_LIVE_SSE_H

#include <tutti/options.h>

#include "base/text.h"
#include "run/live/feed.h"
#include "sim/report/reporter.h"

/* Adds rows, or bars of several rows, of `columns` columns. */
void tt_sse_add_rows(struct tt_text *out, const struct tt_feed_block *block, size_t columns);
void tt_sse_add_progress(struct tt_text *out, const struct tutti_progress *progress);
/* Pieces of the run, each of several macro steps: bars of two columns, size and error. `made` has the totals, and events. */
void tt_sse_add_steps(struct tt_text *out, const struct tt_feed_block *block, const struct tt_step_counts *made);
/* Adds the load of the units of a rank; `names` has a name for each of `load`'s units, NULL: omitted. */
void tt_sse_add_load(struct tt_text *out, int rank, const struct tt_rank_load *load, const char *const *names);
/* `kind` with these members: pairs of a name and a text, ended by a NULL name. A NULL text is null. */
void tt_sse_add_texts(struct tt_text *out, const char *kind, const char *const *members);

/* Pieces of JSON. */
void tt_sse_write_number(struct tt_text *out, double value);
void tt_sse_write_text(struct tt_text *out, const char *text);

#endif
