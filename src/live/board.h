/* SPDX-License-Identifier: MIT */
/* board.h - what is known of a run that is watched: put there by the run's thread, read by the server's. */
#ifndef TUTTI_LIVE_BOARD_H
#define TUTTI_LIVE_BOARD_H

#include <tutti/log.h>
#include <tutti/options.h>

#include "base/str.h"
#include "live/feed.h"
#include "report/load.h"

struct tutti_board;

/* Texts are copied. MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_board_new(struct tutti_board **out, const char *file, double start, double stop);
void tutti_board_free(struct tutti_board *board); /* NULL is fine */

/* ---- the run's side ---- */

/* What is recorded, once. MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_board_put_columns(struct tutti_board *board, const struct tutti_recorded *shown,
                                                     size_t count);
/* Where rows are to be put in, after that; NULL before it. */
struct tutti_feed *tutti_board_rows(const struct tutti_board *board);
void tutti_board_put_progress(struct tutti_board *board, const struct tutti_progress *progress);
/* How a rank goes: names as tutti_news_add_load takes them. Its steps count if it is the first. */
void tutti_board_put_load(struct tutti_board *board, int rank, const struct tutti_load *load, const char *const *names);
void tutti_board_put_message(struct tutti_board *board, enum tutti_log_level level, const char *origin,
                             const char *text);
/* "done", "interrupted", "failed", with a message or NULL, at this time of the run. Nothing follows. */
void tutti_board_put_end(struct tutti_board *board, const char *state, const char *message, double t);

/* ---- the server's side ---- */

/* Columns that fit one of the patterns ("*" and "?"), which ';' separates; all for NULL. *picked is by malloc. MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_board_pick(struct tutti_board *board, const char *patterns, size_t **picked,
                                              size_t *count);
/* An event that tells a newcomer, who sees the columns `picked`, everything but rows: the run, its progress, the last messages. */
void tutti_board_welcome(struct tutti_board *board, const size_t *picked, size_t count, struct tutti_text *out);
/* The macro steps so far, as far as they were told, as an event; nothing where none was. */
void tutti_board_tell_steps(struct tutti_board *board, struct tutti_text *out);
/* Rows that were taken so far, all of them; NULL: none. Good until the next tutti_board_remember. */
const struct tutti_feed_block *tutti_board_past(const struct tutti_board *board);
/* What tutti_board_take has given belongs to the past. */
void tutti_board_remember(struct tutti_board *board, const struct tutti_feed_block *block);
/* The run as JSON, without the event around it. */
void tutti_board_describe(struct tutti_board *board, const size_t *picked, size_t count, struct tutti_text *out);
/* In the format of Prometheus. */
void tutti_board_measure(struct tutti_board *board, unsigned viewers, struct tutti_text *out);
/* Rows and other events since the last call; NULL: none. *events is replaced. Good until the next call. */
const struct tutti_feed_block *tutti_board_take(struct tutti_board *board, struct tutti_text *events);
/* The last events, once it is over: how far it came, and how it ended. */
void tutti_board_take_leave(struct tutti_board *board, struct tutti_text *out);

enum tutti_board_stage {
    TUTTI_BOARD_EMPTY, /* it is not known what is recorded */
    TUTTI_BOARD_OPEN,
    TUTTI_BOARD_OVER
};
enum tutti_board_stage tutti_board_stage(struct tutti_board *board);

#endif
