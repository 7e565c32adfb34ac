/* SPDX-License-Identifier: MIT */
/* upstream.h - runs as HTTP servers (run/live/live_server.h), asked by this one. */
#ifndef TT_APPS_WEB_UPSTREAM_H
#define TT_APPS_WEB_UPSTREAM_H

#include <poll.h>

#include "base/text.h"
#include "run/net/http.h"

/* A connection, on which the request was sent, and which waits for some seconds at most. LOST. */
TUTTI_CHECKED enum tutti_err tt_upstream_open(const char *address, const char *token, const char *method,
                                              const char *target, const char *body, size_t size, int *fd);
/* A whole answer: its status and its body, which is the caller's, also on failure. Waits for some seconds. LOST. */
TUTTI_CHECKED enum tutti_err tt_upstream_request(const char *address, const char *token, const char *method,
                                                 const char *target, const char *body, size_t size, unsigned *status,
                                                 struct tt_text *out);
/* Appends a text as an address has it. */
void tt_upstream_escape(struct tt_text *out, const char *text);

/* Events of a run, passed on as they come. What a viewer does not take in, is not taken from the run, which then thins it out for
 * this viewer (run/live/live_server.h): no one slows a run down, and nothing piles up here. */

struct tt_web_relay;

/* All that the server has. Only its loop touches it. */
struct tt_web_relays {
    struct tt_web_relay *first;
    size_t count;
};

/* Takes `fd`, on which the request was sent; *stream is for an answer. False: no memory, and the connection is closed. */
bool tt_upstream_relay_open(struct tt_web_relays *relays, int fd, struct tt_http_stream *stream);
/* What is to be polled: those that wait for their runs. `watched` has room for `count`; returns how many. */
size_t tt_upstream_relays_poll(const struct tt_web_relays *relays, struct pollfd *watched);

#endif
