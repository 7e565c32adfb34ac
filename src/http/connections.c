/* SPDX-License-Identifier: MIT */
#include "http/connections.h"

#include <sys/socket.h>
#include <time.h>

static const double LONGEST = 5, SLOWEST = 65536; /* seconds; bytes per second */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void connections_add(struct connections *connections, int fd)
{
    if (connections->count < connections->most)
        connections->open[connections->count++] = (struct connection){.fd = fd, .since = now()};
}

struct connection *connections_find(const struct connections *connections, int fd)
{
    for (size_t i = 0; i < connections->count; i++)
        if (connections->open[i].fd == fd)
            return &connections->open[i];
    return NULL;
}

void connections_remove(struct connections *connections, int fd)
{
    struct connection *connection = connections_find(connections, fd);
    if (connection)
        *connection = connections->open[--connections->count];
}

void connection_begin_anew(struct connection *connection)
{
    *connection = (struct connection){.fd = connection->fd, .since = now()};
}

void connections_shut_slow_ones(const struct connections *connections)
{
    double time = now();
    for (size_t i = 0; i < connections->count; i++) {
        const struct connection *connection = &connections->open[i];
        if (!connection->is_stream && time - connection->since > LONGEST + (double)connection->received / SLOWEST)
            shutdown(connection->fd, SHUT_RDWR);
    }
}
