/* SPDX-License-Identifier: MIT */
/* requests.h - what a request to the server of a run is answered with (broadcast.h). */
#ifndef TUTTI_LIVE_REQUESTS_H
#define TUTTI_LIVE_REQUESTS_H

#include "fabric/orders.h"
#include "live/board.h"
#include "serve/http.h"

/* What it takes to serve a run. */
struct tutti_live_plan {
    const struct tutti_http_module *module;
    int socket; /* that listens; the broadcast's from here on */
    const char *token;
    const char *certificate, *key; /* of TLS, as text; NULL: none */
    struct tutti_board *board;     /* borrowed, as `orders` is */
    struct tutti_orders *orders;   /* what is asked of the run */
    /* What an order to set a variable comes to; ARGUMENT, with what would be right. In the server's thread. */
    enum tutti_err (*settle)(const void *context, const char *name, double value, struct tutti_run_order *order);
    const void *context;
};

/* Does it bring the token? Else *answer says so. */
bool tutti_live_admit(const struct tutti_live_plan *plan, const struct tutti_http_request *request,
                      struct tutti_http_answer *answer);
/* All but /events; false: there is no such thing. `viewers` are there. */
bool tutti_live_answer(const struct tutti_live_plan *plan, unsigned viewers, const struct tutti_http_request *request,
                       struct tutti_http_answer *answer);

#endif
