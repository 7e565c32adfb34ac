/* SPDX-License-Identifier: MIT */
/* relay.h - events of a run, passed on as they come. What a viewer does not take in, is not taken from the run, which then thins it out for
 * this viewer (run/live/viewer.h): no one slows a run down, and nothing piles up here. */
#ifndef TT_APPS_WEB_RELAY_H
#define TT_APPS_WEB_RELAY_H

#include <poll.h>

#include "run/net/http.h"

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
