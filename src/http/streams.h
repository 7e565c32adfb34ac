/* SPDX-License-Identifier: MIT */
/* streams.h - answers that come bit by bit, or later. One that has nothing at the moment is suspended, and costs nothing until it is woken. */
#ifndef TUTTI_HTTP_STREAMS_H
#define TUTTI_HTTP_STREAMS_H

#include <microhttpd.h>

#include "serve/http.h"

struct stream;
struct waiting;

struct streams {
    struct stream *first;
    struct waiting *waiting; /* for answers that are not known yet */
    bool over;               /* all of them come to their end */
};

/* A response that goes on for as long as `source` has something; it closes that, also where NULL is returned. */
struct MHD_Response *streams_respond(struct streams *streams, struct MHD_Connection *connection,
                                     const struct tutti_http_stream *source);
void streams_wake(struct streams *streams);

/* The connection is suspended until the next wake. NULL: no memory, and the pending answer is dropped. */
struct waiting *streams_wait(struct streams *streams, struct MHD_Connection *connection,
                             const struct tutti_http_pending *pending);
/* Is the answer there? If not, the connection is suspended again; if it is, or never will be (*lost), `waiting` is gone. */
bool streams_take(struct waiting *waiting, struct tutti_http_answer *answer, bool *lost);

#endif
