/* SPDX-License-Identifier: MIT */
/* transport.h - how the bytes of a connection travel over a socket, without waiting for it: plain, or in something else. All but the plain one
 * need a socket that does not block. */
#ifndef TT_HLA_TRANSPORT_TRANSPORT_H
#define TT_HLA_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/fail.h"

enum tt_transport_io {
    TUTTI_FEDPRO_IO_DONE,  /* some bytes were read or written */
    TUTTI_FEDPRO_IO_WAIT,  /* none; later */
    TUTTI_FEDPRO_IO_ENDED, /* the other side closed it */
    TUTTI_FEDPRO_IO_FAILED /* this thread's message says why */
};

struct tt_transport {
    const struct tt_transport_kind *kind;
};

struct tt_transport_kind {
    const char *name; /* "tcp" */
    /* At most `size` bytes, how many in *count. */
    enum tt_transport_io (*read)(struct tt_transport *self, void *bytes, size_t size, size_t *count);
    /* The same, and waits for at most so many milliseconds (1 or more) until there are some: one call of the system instead of two, for a
     * socket that blocks. Another thread may write meanwhile. NULL: it cannot. */
    enum tt_transport_io (*await)(struct tt_transport *self, void *bytes, size_t size, size_t *count, int milliseconds);
    /* As `read`; of no bytes: what it has of its own to write. */
    enum tt_transport_io (*write)(struct tt_transport *self, const void *bytes, size_t size, size_t *count);
    /* Bytes of its own wait to be written, whether or not there is anything of the connection's. NULL: never. */
    bool (*wants_write)(struct tt_transport *self);
    /* Bytes wait in it that can be read although nothing more comes in by the socket. NULL: never. */
    bool (*has_more)(struct tt_transport *self);
    /* Says goodbye as far as that can be done at once, and frees itself. The socket stays open. */
    void (*free)(struct tt_transport *self);
};

/* The socket is borrowed. NULL when memory is out. */
struct tt_transport *tt_transport_new_tcp(int socket);

/* Where the RTI listens: a host and a port as text and for sockets. */

enum { TUTTI_FEDPRO_ADDRESS = 128 };

struct tt_transport_address {
    struct sockaddr_storage storage;
    socklen_t size;
    bool loopback; /* it cannot be reached from another machine */
    char text[TUTTI_FEDPRO_ADDRESS];
    char host[TUTTI_FEDPRO_ADDRESS]; /* as it was looked up: what a certificate must name */
};

/* "HOST:PORT", "[::1]:PORT", "HOST" or ":PORT"; what is not there is localhost and `port`. IPv4 where there is one. ARGUMENT: it is no such
 * text; LOST: the name cannot be looked up. */
TUTTI_CHECKED enum tutti_err tt_transport_resolve_address(struct tt_transport_address *address, const char *text,
                                                          uint16_t port);
/* `text` and `loopback` from the rest. */
void tt_transport_show_address(struct tt_transport_address *address);

#endif
