/* SPDX-License-Identifier: MIT */
/* live_requests.h - what a request to the server of a run is answered with (broadcast.h). */
#ifndef TT_RUN_LIVE_LIVE_REQUESTS_H
#define TT_RUN_LIVE_LIVE_REQUESTS_H

#include "sim/ranks/command_ring.h"
#include "run/live/live_state.h"
#include "run/net/http.h"

/* What it takes to serve a run. */
struct tt_live_server_plan {
    const struct tt_http_module *module;
    int socket; /* that listens; the broadcast's from here on */
    const char *token;
    const char *certificate, *key;  /* of TLS, as text; NULL: none */
    struct tt_live_state *board;    /* borrowed, as `orders` is */
    struct tt_command_ring *orders; /* what is asked of the run */
    /* What an order to set a variable comes to; ARGUMENT, with what would be right. In the server's thread. */
    enum tutti_err (*settle)(const void *context, const char *name, double value, struct tt_run_command *order);
    const void *context;
};

/* Does it bring the token? Else *answer says so. */
bool tt_live_server_admit(const struct tt_live_server_plan *plan, const struct tt_http_request *request,
                          struct tt_http_response *answer);
/* All but /events; false: there is no such thing. `viewers` are there. */
bool tt_live_server_answer(const struct tt_live_server_plan *plan, unsigned viewers,
                           const struct tt_http_request *request, struct tt_http_response *answer);

#endif
