/* SPDX-License-Identifier: MIT */
/* connections.h - the connections of a server, and which of them are slow on purpose.
 *
 * A request has LONGEST seconds to be there, and one more for every SLOWEST bytes of its body. What libmicrohttpd calls a time-out
 * begins anew with each byte, which lets a client stay for ever. A connection that serves a stream has all the time that it wants. */
#ifndef TT_RUN_HTTP_CONNECTIONS_H
#define TT_RUN_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>

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
/* NULL: there is no such connection. */
struct tt_http_connection *tt_http_module_find_connection(const struct tt_http_connections *connections, int fd);
/* Its request was answered: another one may come. */
void tt_http_module_reset_connection(struct tt_http_connection *connection);
/* Slow ones are shut down; libmicrohttpd sees their end, and closes them. */
void tt_http_module_shut_slow_connections(const struct tt_http_connections *connections);

#endif
