/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "fedpro/transport/transport.h"

struct tcp {
    struct tutti_fedpro_transport base;
    int socket;
    int patience; /* milliseconds, as the socket knows them; 0: no end */
};

static enum tutti_fedpro_io outcome(ssize_t got, size_t *count)
{
    *count = got > 0 ? (size_t)got : 0;
    if (got > 0)
        return TUTTI_FEDPRO_IO_DONE;
    if (got == 0)
        return TUTTI_FEDPRO_IO_ENDED;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return TUTTI_FEDPRO_IO_WAIT;
    (void)tutti_fail(TUTTI_ERR_IO, "%s", strerror(errno));
    return TUTTI_FEDPRO_IO_FAILED;
}

static enum tutti_fedpro_io tcp_read(struct tutti_fedpro_transport *self, void *bytes, size_t size, size_t *count)
{
    return outcome(recv(((struct tcp *)self)->socket, bytes, size, MSG_DONTWAIT), count);
}

static enum tutti_fedpro_io tcp_await(struct tutti_fedpro_transport *self, void *bytes, size_t size, size_t *count,
                                      int milliseconds)
{
    struct tcp *tcp = (struct tcp *)self;
    struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000L};
    if (tcp->patience != milliseconds && setsockopt(tcp->socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0)
        tcp->patience = milliseconds;
    return outcome(recv(tcp->socket, bytes, size, 0), count);
}

static enum tutti_fedpro_io tcp_write(struct tutti_fedpro_transport *self, const void *bytes, size_t size,
                                      size_t *count)
{
    return outcome(send(((struct tcp *)self)->socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT), count);
}

static void tcp_free(struct tutti_fedpro_transport *self)
{
    free(self);
}

static const struct tutti_fedpro_transport_kind tcp_kind = {.name = "tcp",
                                                            .read = tcp_read,
                                                            .await = tcp_await,
                                                            .write = tcp_write,
                                                            .free = tcp_free};

struct tutti_fedpro_transport *tutti_fedpro_tcp_new(int socket)
{
    struct tcp *tcp = calloc(1, sizeof *tcp);
    if (!tcp)
        return NULL;
    tcp->base.kind = &tcp_kind;
    tcp->socket = socket;
    return &tcp->base;
}
