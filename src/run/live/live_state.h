/* SPDX-License-Identifier: MIT */
/* live_state.h - what is known of a run that is watched: put there by the run's thread, read by the server's. */
#ifndef TT_RUN_LIVE_LIVE_STATE_H
#define TT_RUN_LIVE_LIVE_STATE_H

#include <tutti/log.h>
#include <tutti/options.h>

#include "base/text.h"
#include "run/live/feed.h"
#include "sim/report/reporter.h"

struct tt_live_state;

/* Texts are copied. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_state_new(struct tt_live_state **out, const char *file, double start, double stop);
void tt_live_state_free(struct tt_live_state *board); /* NULL is fine */

/* ---- the run's side ---- */

/* Sets the recorded columns, once. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_state_set_columns(struct tt_live_state *board, const struct tutti_recorded *shown,
                                                       size_t count);
/* Where rows are to be put in, after that; NULL before it. */
struct tt_feed *tt_live_state_rows(const struct tt_live_state *board);
void tt_live_state_set_progress(struct tt_live_state *board, const struct tutti_progress *progress);
/* How a rank goes: names as tt_sse_add_load takes them. Its steps count if it is the first. */
void tt_live_state_add_load(struct tt_live_state *board, int rank, const struct tt_rank_load *load,
                            const char *const *names);
void tt_live_state_add_message(struct tt_live_state *board, enum tutti_log_level level, const char *origin,
                               const char *text);
/* "done", "interrupted", "failed", with a message or NULL, at this time of the run. Nothing follows. */
void tt_live_state_set_end(struct tt_live_state *board, const char *state, const char *message, double t);

/* ---- the server's side ---- */

/* Selects columns that match one of the patterns ("*", "?"), separated by ';'; NULL: all. *picked is by malloc. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_state_select_columns(struct tt_live_state *board, const char *patterns,
                                                          size_t **picked, size_t *count);
/* Writes an event for a new viewer with columns `picked`, with all but rows: the run, its progress, the last messages. */
void tt_live_state_write_welcome(struct tt_live_state *board, const size_t *picked, size_t count, struct tt_text *out);
/* Writes the reported macro steps so far, as an event; nothing if there are none. */
void tt_live_state_write_steps(struct tt_live_state *board, struct tt_text *out);
/* Rows that were taken so far, all of them; NULL: none. Good until the next tt_live_state_append_past. */
const struct tt_feed_block *tt_live_state_past_rows(const struct tt_live_state *board);
/* Adds the result of tt_live_state_next_block to the past. */
void tt_live_state_append_past(struct tt_live_state *board, const struct tt_feed_block *block);
/* The run as JSON, without the event around it. */
void tt_live_state_describe(struct tt_live_state *board, const size_t *picked, size_t count, struct tt_text *out);
/* In the format of Prometheus. */
void tt_live_state_write_metrics(struct tt_live_state *board, unsigned viewers, struct tt_text *out);
/* Returns rows and other events since the last call; NULL: none. *events is replaced. Valid until the next call. */
const struct tt_feed_block *tt_live_state_next_block(struct tt_live_state *board, struct tt_text *events);
/* The last events, once it is over: how far it came, and how it ended. */
void tt_live_state_write_end(struct tt_live_state *board, struct tt_text *out);

enum tt_live_phase {
    TUTTI_BOARD_EMPTY, /* the recorded columns are unknown */
    TUTTI_BOARD_OPEN,
    TUTTI_BOARD_OVER
};
enum tt_live_phase tt_live_state_phase(struct tt_live_state *board);

#endif
