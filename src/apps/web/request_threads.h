/* SPDX-License-Identifier: MIT */
/* request_threads.h - threads that answer requests which take a while, so that the server's loop never waits. */
#ifndef TT_APPS_WEB_REQUEST_THREADS_H
#define TT_APPS_WEB_REQUEST_THREADS_H

#include "base/fail.h"
#include "run/net/http.h"

struct tt_request_threads;

struct tt_request_threads_plan {
    unsigned threads;
    /* Fills in *answer, which is zeroed. In one of the threads. The request is good during the call. */
    void (*answer)(void *context, const struct tt_http_request *request, struct tt_http_response *answer);
    void *context;
    int bell; /* an eventfd, which rings when an answer is there */
};

/* MEMORY, LIMIT. */
TUTTI_CHECKED enum tutti_err tt_request_threads_new(struct tt_request_threads **out,
                                                    const struct tt_request_threads_plan *plan);
/* Completes answers that have begun; the rest are dropped. */
void tt_request_threads_stop(struct tt_request_threads *work);
void tt_request_threads_free(
    struct tt_request_threads *work); /* after it has ended and nothing is pending; NULL is fine */

/* *answer is pending. False: no memory, or too many wait already. */
bool tt_request_threads_add(struct tt_request_threads *work, const struct tt_http_request *request,
                            struct tt_http_response *answer);

#endif
