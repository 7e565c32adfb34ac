/* SPDX-License-Identifier: MIT */
/* broadcast.h - the server of a run that others watch and steer, in a thread of its own. docs/live.md has what it answers:
 *
 *     GET /            what is run, and what is recorded
 *     GET /events      rows, progress, messages, as they come (sse.h); ?columns=a.*;b.x picks
 *     POST /orders     {"pause":true}, {"go":true}, {"step":3}, {"stop":true}, {"set":{"a.k":2.5}}
 *     GET /metrics     for Prometheus
 *
 * Every request brings the token: "Authorization: Bearer TOKEN", or ?token=TOKEN where a client cannot set headers. */
#ifndef TT_RUN_LIVE_LIVE_SERVER_H
#define TT_RUN_LIVE_LIVE_SERVER_H

#include "run/live/live_requests.h"

struct tt_live_server;

/* Begins. IO, LIMIT, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_server_open(struct tt_live_server **out, const struct tt_live_server_plan *plan);
/* Ends, once those who watch have got everything up to the board's end; not later than a second from now. NULL is fine. */
void tt_live_server_close(struct tt_live_server *broadcast);

#endif
