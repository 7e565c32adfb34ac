/* SPDX-License-Identifier: MIT */
/* failing_zmq.h - calls of ZeroMQ, which count as those about files do (failing.h). */
#ifndef TUTTI_TEST_FAILING_ZMQ_H
#define TUTTI_TEST_FAILING_ZMQ_H

#include <zmq.h>

#include "failing.h"

#define ZMQ_FAILS_WITH(value)                                                                                          \
    if (fails(FAILING_FILES)) {                                                                                        \
        errno = failing.error ? failing.error : EIO;                                                                   \
        return value;                                                                                                  \
    }
WRAPPED(void *, zmq_ctx_new, void)
{
    ZMQ_FAILS_WITH(NULL)
    return __real_zmq_ctx_new();
}
WRAPPED(void *, zmq_socket, void *context, int type)
{
    ZMQ_FAILS_WITH(NULL)
    return __real_zmq_socket(context, type);
}
WRAPPED(int, zmq_bind, void *socket, const char *address)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_bind(socket, address);
}
WRAPPED(int, zmq_connect, void *socket, const char *address)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_connect(socket, address);
}
WRAPPED(int, zmq_setsockopt, void *socket, int option, const void *value, size_t size)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_setsockopt(socket, option, value, size);
}
WRAPPED(int, zmq_getsockopt, void *socket, int option, void *value, size_t *size)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_getsockopt(socket, option, value, size);
}
WRAPPED(int, zmq_socket_monitor, void *socket, const char *address, int events)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_socket_monitor(socket, address, events);
}
WRAPPED(int, zmq_curve_keypair, char *public_key, char *secret_key)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_curve_keypair(public_key, secret_key);
}

WRAPPED(int, zmq_msg_init_size, zmq_msg_t *message, size_t size)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_msg_init_size(message, size);
}
WRAPPED(int, zmq_send, void *socket, const void *bytes, size_t size, int flags) /* only signals make it fail here */
{
    if (fails(FAILING_FILES)) {
        errno = EINTR;
        return -1;
    }
    return __real_zmq_send(socket, bytes, size, flags);
}
WRAPPED(int, zmq_recv, void *socket, void *bytes, size_t size, int flags)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_recv(socket, bytes, size, flags);
}
WRAPPED(int, zmq_msg_send, zmq_msg_t *message, void *socket, int flags)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_msg_send(message, socket, flags);
}
WRAPPED(int, zmq_msg_recv, zmq_msg_t *message, void *socket, int flags)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_msg_recv(message, socket, flags);
}
WRAPPED(int, zmq_poll, zmq_pollitem_t *items, int count, long timeout)
{
    ZMQ_FAILS_WITH(-1)
    return __real_zmq_poll(items, count, timeout);
}

#endif
