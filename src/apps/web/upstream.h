/* SPDX-License-Identifier: MIT */
/* upstream.h - this server as a client of runs, which are HTTP servers (run/live/live_server.h). */
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

/* Relays events of a run. While a viewer is slow, the relay does not read from the run, which then thins out rows for
 * this viewer (run/live/live_server.h): a slow viewer neither slows down a run nor fills memory here. */

struct tt_web_relay;

/* All that the server has. Only its loop touches it. */
struct tt_web_relays {
    struct tt_web_relay *first;
    size_t count;
};

/* Takes `fd`, on which the request was sent; *stream is for an answer. False: no memory, and the connection is closed. */
bool tt_upstream_relay_open(struct tt_web_relays *relays, int fd, struct tt_http_stream *stream);
/* Fills `watched`, which has room for `count`, with the descriptors of relays that wait for runs; returns their number. */
size_t tt_upstream_relays_poll(const struct tt_web_relays *relays, struct pollfd *watched);

#endif
