/* SPDX-License-Identifier: MIT */
/* streams.h - answers that come bit by bit, or later. One that has nothing at the moment is suspended, and costs nothing until it is woken. */
#ifndef TT_RUN_HTTP_STREAMS_H
#define TT_RUN_HTTP_STREAMS_H

#include <microhttpd.h>

#include "run/net/http.h"

struct http_stream;
struct http_waiting;

struct tt_http_streams {
    struct http_stream *first;
    struct http_waiting *waiting; /* for answers that are not known yet */
    bool over;                    /* all of them come to their end */
};

/* A response that goes on for as long as `source` has something; it closes that, also where NULL is returned. */
struct MHD_Response *tt_http_module_stream_response(struct tt_http_streams *streams, struct MHD_Connection *connection,
                                                    const struct tt_http_stream *source);
void tt_http_module_wake_streams(struct tt_http_streams *streams);

/* The connection is suspended until the next wake. NULL: no memory, and the pending answer is dropped. */
struct http_waiting *tt_http_module_wait_for_answer(struct tt_http_streams *streams, struct MHD_Connection *connection,
                                                    const struct tt_http_pending *pending);
/* Is the answer there? If not, the connection is suspended again; if it is, or never will be (*lost), `waiting` is gone. */
bool tt_http_module_take_answer(struct http_waiting *waiting, struct tt_http_response *answer, bool *lost);

#endif
