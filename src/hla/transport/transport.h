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
    TUTTI_FEDPRO_IO_ENDED, /* the peer has closed it */
    TUTTI_FEDPRO_IO_FAILED /* this thread's message has the reason */
};

struct tt_transport {
    const struct tt_transport_kind *kind;
};

struct tt_transport_kind {
    const char *name; /* "tcp" */
    /* At most `size` bytes, how many in *count. */
    enum tt_transport_io (*read)(struct tt_transport *self, void *bytes, size_t size, size_t *count);
    /* As `read`, but waits at most `milliseconds` (at least 1) for input: one system call instead of two, for a
     * blocking socket. A second thread may write meanwhile. NULL: unsupported. */
    enum tt_transport_io (*await)(struct tt_transport *self, void *bytes, size_t size, size_t *count, int milliseconds);
    /* As `read`; with 0 bytes: writes the transport's own pending bytes. */
    enum tt_transport_io (*write)(struct tt_transport *self, const void *bytes, size_t size, size_t *count);
    /* Returns true if the transport itself has bytes to write, apart from the connection's. NULL: never. */
    bool (*wants_write)(struct tt_transport *self);
    /* Bytes wait in it that can be read although nothing more comes in by the socket. NULL: never. */
    bool (*has_more)(struct tt_transport *self);
    /* Says goodbye as far as that can be done at once, and frees itself. The socket stays open. */
    void (*free)(struct tt_transport *self);
};

/* The socket is borrowed. NULL when memory is out. */
struct tt_transport *tt_transport_new_tcp(int socket);

#endif
