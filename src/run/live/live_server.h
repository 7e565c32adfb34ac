/* SPDX-License-Identifier: MIT */
/* live_server.h - the server of a run that viewers watch and control, in a separate thread. docs/live.md defines its
 * answers:
 *
 *     GET /            what is run, and what is recorded
 *     GET /events      rows, progress, messages, as they come (sse.h); ?columns=a.*;b.x picks
 *     POST /orders     {"pause":true}, {"go":true}, {"step":3}, {"stop":true}, {"set":{"a.k":2.5}}
 *     GET /metrics     for Prometheus
 *
 * Every request has the token: "Authorization: Bearer TOKEN", or ?token=TOKEN where a client cannot set headers. */
#ifndef TT_RUN_LIVE_LIVE_SERVER_H
#define TT_RUN_LIVE_LIVE_SERVER_H

#include "base/text.h"
#include "run/live/feed.h"
#include "run/live/live_state.h"
#include "run/net/http.h"
#include "sim/ranks/command_ring.h"

/* Answers to requests to the server of a run (live_server.h). */

/* The data and callbacks of a server. */
struct tt_live_server_plan {
    const struct tt_http_module *module;
    int socket; /* that listens; the broadcast's from here on */
    const char *token;
    const char *certificate, *key;  /* of TLS, as text; NULL: none */
    struct tt_live_state *board;    /* borrowed, as `orders` is */
    struct tt_command_ring *orders; /* what is asked of the run */
    /* Executes a command to set a variable; ARGUMENT, with what is expected. Called in the server's thread. */
    enum tutti_err (*settle)(const void *context, const char *name, double value, struct tt_run_command *order);
    const void *context;
};

/* Checks the token; false with *answer filled in. */
bool tt_live_server_admit(const struct tt_live_server_plan *plan, const struct tt_http_request *request,
                          struct tt_http_response *answer);
/* Answers all requests except /events; false if the path is unknown. `viewers` are connected. */
bool tt_live_server_answer(const struct tt_live_server_plan *plan, unsigned viewers,
                           const struct tt_http_request *request, struct tt_http_response *answer);

struct tt_live_server;

/* Begins. IO, LIMIT, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_server_open(struct tt_live_server **out, const struct tt_live_server_plan *plan);
/* Ends the server once viewers have received everything up to the board's end, within a second. NULL is allowed. */
void tt_live_server_close(struct tt_live_server *broadcast);

/* A viewer of a run: its columns, and the data on its way to it.
 *
 * Rows wait in a separate feed while earlier data is unsent: a slow viewer gets fewer and larger bars. */

struct tt_viewer;

/* Creates a viewer of the columns `picked`, indices of those of the run; copied. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_server_viewer_new(struct tt_viewer **out, const size_t *picked, size_t count);
void tt_live_server_viewer_free(struct tt_viewer *viewer); /* NULL is fine */

/* Rows of the run. */
void tt_live_server_viewer_add_rows(struct tt_viewer *viewer, const struct tt_feed_block *block);
/* Adds all past rows; must precede new rows. If memory is out, reading ends. */
void tt_live_server_viewer_add_past(struct tt_viewer *viewer, const struct tt_feed_block *block);
/* Adds an event other than rows, as text (sse.h). A viewer that does not read is disconnected:
 * tt_live_server_viewer_read then returns -1. */
void tt_live_server_viewer_add_event(struct tt_viewer *viewer, const char *text, size_t length);
/* This is the last event, after all rows. */
void tt_live_server_viewer_end(struct tt_viewer *viewer, const char *text, size_t length);
/* Puts at most `size` bytes; 0: none now, -1: end. As tt_http_stream.read. */
ptrdiff_t tt_live_server_viewer_read(struct tt_viewer *viewer, char *bytes, size_t size);

#endif
