/* SPDX-License-Identifier: MIT */
#ifndef TT_RUN_HTTP_HTTP_MODULE_H
#define TT_RUN_HTTP_HTTP_MODULE_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "run/net/http.h"

/* The connections of a server, and protection against deliberately slow clients.
 *
 * A request must arrive within LONGEST seconds, plus one for every SLOWEST bytes of its body. (The time-out of
 * libmicrohttpd restarts with each byte, so that a client could stay forever.) A connection that serves a stream has no
 * limit. */

struct tt_http_connection {
    int fd;
    double since;    /* it waits for a request */
    size_t received; /* bytes of its body */
    bool is_stream;
};

struct tt_http_connections {
    struct tt_http_connection *open; /* room for `most` */
    size_t count, most;
};

void tt_http_module_add_connection(struct tt_http_connections *connections, int fd);
void tt_http_module_remove_connection(struct tt_http_connections *connections, int fd);
/* NULL if the connection does not exist. */
struct tt_http_connection *tt_http_module_find_connection(const struct tt_http_connections *connections, int fd);
/* Its request was answered: a further one may follow. */
void tt_http_module_reset_connection(struct tt_http_connection *connection);
/* Slow ones are shut down; libmicrohttpd sees their end, and closes them. */
void tt_http_module_shut_slow_connections(const struct tt_http_connections *connections);

/* Answers that are sent in parts, or later. One without data is suspended, without any cost until it is woken. */

struct http_stream;
struct http_waiting;

struct tt_http_streams {
    struct http_stream *first;
    struct http_waiting *waiting; /* for answers that are not known yet */
    bool over;                    /* all of them come to their end */
};

/* Creates a response that continues while `source` has data; it closes the source, also if NULL is returned. */
struct MHD_Response *tt_http_module_stream_response(struct tt_http_streams *streams, struct MHD_Connection *connection,
                                                    const struct tt_http_stream *source);
void tt_http_module_wake_streams(struct tt_http_streams *streams);

/* The connection is suspended until the next wake. NULL: no memory, and the pending answer is dropped. */
struct http_waiting *tt_http_module_wait_for_answer(struct tt_http_streams *streams, struct MHD_Connection *connection,
                                                    const struct tt_http_pending *pending);
/* Returns true if the answer is ready. If not, the connection is suspended again; if it is ready, or lost for good
 * (*lost), `waiting` is freed. */
bool tt_http_module_take_answer(struct http_waiting *waiting, struct tt_http_response *answer, bool *lost);

#endif
