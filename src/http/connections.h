/* SPDX-License-Identifier: MIT */
/* connections.h - the connections of a server, and which of them are slow on purpose.
 *
 * A request has LONGEST seconds to be there, and one more for every SLOWEST bytes of its body. What libmicrohttpd calls a time-out
 * begins anew with each byte, which lets a client stay for ever. A connection that serves a stream has all the time that it wants. */
#ifndef TUTTI_HTTP_CONNECTIONS_H
#define TUTTI_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct connection {
    int fd;
    double since;    /* it waits for a request */
    size_t received; /* bytes of its body */
    bool is_stream;
};

struct connections {
    struct connection *open; /* room for `most` */
    size_t count, most;
};

void connections_add(struct connections *connections, int fd);
void connections_remove(struct connections *connections, int fd);
/* NULL: there is no such connection. */
struct connection *connections_find(const struct connections *connections, int fd);
/* Its request was answered: another one may come. */
void connection_begin_anew(struct connection *connection);
/* Slow ones are shut down; libmicrohttpd sees their end, and closes them. */
void connections_shut_slow_ones(const struct connections *connections);

#endif
