/* SPDX-License-Identifier: MIT */
#include "run/http/connections.h"

#include <sys/socket.h>
#include <time.h>

static const double LONGEST = 5, SLOWEST = 65536; /* seconds; bytes per second */

static double connections_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void tt_http_module_add_connection(struct tt_http_connections *connections, int fd)
{
    if (connections->count < connections->most)
        connections->open[connections->count++] = (struct tt_http_connection){.fd = fd, .since = connections_now()};
}

struct tt_http_connection *tt_http_module_find_connection(const struct tt_http_connections *connections, int fd)
{
    for (size_t i = 0; i < connections->count; i++)
        if (connections->open[i].fd == fd)
            return &connections->open[i];
    return NULL;
}

void tt_http_module_remove_connection(struct tt_http_connections *connections, int fd)
{
    struct tt_http_connection *connection = tt_http_module_find_connection(connections, fd);
    if (connection)
        *connection = connections->open[--connections->count];
}

void tt_http_module_reset_connection(struct tt_http_connection *connection)
{
    *connection = (struct tt_http_connection){.fd = connection->fd, .since = connections_now()};
}

void tt_http_module_shut_slow_connections(const struct tt_http_connections *connections)
{
    double time = connections_now();
    for (size_t i = 0; i < connections->count; i++) {
        const struct tt_http_connection *connection = &connections->open[i];
        if (!connection->is_stream && time - connection->since > LONGEST + (double)connection->received / SLOWEST)
            shutdown(connection->fd, SHUT_RDWR);
    }
}
