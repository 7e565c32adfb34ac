/* SPDX-License-Identifier: MIT */
#include "hla/transport/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/number.h"

struct tcp_transport {
    struct tt_transport base;
    int socket;
    int patience; /* milliseconds; 0: unlimited */
};

static enum tt_transport_io tcp_result(ssize_t got, size_t *count)
{
    *count = got > 0 ? (size_t)got : 0;
    if (got > 0)
        return TUTTI_FEDPRO_IO_DONE;
    if (got == 0)
        return TUTTI_FEDPRO_IO_ENDED;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return TUTTI_FEDPRO_IO_WAIT;
    (void)tt_fail(TUTTI_ERR_IO, "%s", strerror(errno));
    return TUTTI_FEDPRO_IO_FAILED;
}

static enum tt_transport_io tcp_read(struct tt_transport *self, void *bytes, size_t size, size_t *count)
{
    return tcp_result(recv(((struct tcp_transport *)self)->socket, bytes, size, MSG_DONTWAIT), count);
}

static enum tt_transport_io tcp_await(struct tt_transport *self, void *bytes, size_t size, size_t *count,
                                      int milliseconds)
{
    struct tcp_transport *tcp = (struct tcp_transport *)self;
    struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000L};
    if (tcp->patience != milliseconds && setsockopt(tcp->socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0)
        tcp->patience = milliseconds;
    return tcp_result(recv(tcp->socket, bytes, size, 0), count);
}

static enum tt_transport_io tcp_write(struct tt_transport *self, const void *bytes, size_t size, size_t *count)
{
    return tcp_result(send(((struct tcp_transport *)self)->socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT), count);
}

static void tcp_free(struct tt_transport *self)
{
    free(self);
}

static const struct tt_transport_kind tcp_kind = {.name = "tcp",
                                                  .read = tcp_read,
                                                  .await = tcp_await,
                                                  .write = tcp_write,
                                                  .free = tcp_free};

struct tt_transport *tt_transport_new_tcp(int socket)
{
    struct tcp_transport *tcp = calloc(1, sizeof *tcp);
    if (!tcp)
        return NULL;
    tcp->base.kind = &tcp_kind;
    tcp->socket = socket;
    return &tcp->base;
}
