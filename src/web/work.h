/* SPDX-License-Identifier: MIT */
/* work.h - threads that answer requests which take a while, so that the server's loop never waits. */
#ifndef TUTTI_WEB_WORK_H
#define TUTTI_WEB_WORK_H

#include "base/err.h"
#include "serve/http.h"

struct tutti_web_work;

struct tutti_web_work_plan {
    unsigned threads;
    /* Fills in *answer, which is zeroed. In one of the threads. The request is good during the call. */
    void (*answer)(void *context, const struct tutti_http_request *request, struct tutti_http_answer *answer);
    void *context;
    int bell; /* an eventfd, which rings when an answer is there */
};

/* MEMORY, LIMIT. */
TUTTI_CHECKED enum tutti_err tutti_web_work_new(struct tutti_web_work **out, const struct tutti_web_work_plan *plan);
/* Answers that are being made come to their end; others are not begun. */
void tutti_web_work_end(struct tutti_web_work *work);
void tutti_web_work_free(struct tutti_web_work *work); /* after it has ended and nothing is pending; NULL is fine */

/* *answer is pending. False: no memory, or too many wait already. */
bool tutti_web_work_add(struct tutti_web_work *work, const struct tutti_http_request *request,
                        struct tutti_http_answer *answer);

#endif
