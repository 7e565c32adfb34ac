/* SPDX-License-Identifier: MIT */
/* viewer.h - one who watches a run: what it wants to see, and what is on its way to it.
 *
 * Rows wait in a feed of its own, as long as what was written before has not gone: one who is slow gets fewer and larger bars, and holds up
 * nobody. */
#ifndef TT_RUN_LIVE_VIEWER_H
#define TT_RUN_LIVE_VIEWER_H

#include "base/text.h"
#include "run/live/feed.h"

struct tt_viewer;

/* Wants the columns `picked`, numbers among those of the run; copied. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_server_viewer_new(struct tt_viewer **out, const size_t *picked, size_t count);
void tt_live_server_viewer_free(struct tt_viewer *viewer); /* NULL is fine */

/* Rows of the run. */
void tt_live_server_viewer_add_rows(struct tt_viewer *viewer, const struct tt_feed_block *block);
/* The rows before, as a whole; before the first of those. Where there is no memory for it, reading ends. */
void tt_live_server_viewer_add_past(struct tt_viewer *viewer, const struct tt_feed_block *block);
/* Other events, as text (sse.h). One who does not take them in is left behind: tt_live_server_viewer_read then is at its end. */
void tt_live_server_viewer_add_event(struct tt_viewer *viewer, const char *text, size_t length);
/* This is the last event, after all rows. */
void tt_live_server_viewer_end(struct tt_viewer *viewer, const char *text, size_t length);
/* Puts at most `size` bytes; 0: there are none now, -1: never again. As tt_http_stream.read. */
ptrdiff_t tt_live_server_viewer_read(struct tt_viewer *viewer, char *bytes, size_t size);

#endif
