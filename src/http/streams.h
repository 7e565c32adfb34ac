/* SPDX-License-Identifier: MIT */
/* streams.h - answers that come bit by bit. One that has nothing at the moment is suspended, and costs nothing until it is woken. */
#ifndef TUTTI_HTTP_STREAMS_H
#define TUTTI_HTTP_STREAMS_H

#include <microhttpd.h>

#include "serve/http.h"

struct stream;

struct streams {
    struct stream *first;
    bool over; /* all of them come to their end */
};

/* A response that goes on for as long as `source` has something; it closes that, also where NULL is returned. */
struct MHD_Response *streams_respond(struct streams *streams, struct MHD_Connection *connection,
                                     const struct tutti_http_stream *source);
void streams_wake(struct streams *streams);

#endif
