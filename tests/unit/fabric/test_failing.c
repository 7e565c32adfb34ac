/* SPDX-License-Identifier: MIT */
/* Sockets of ranks are opened while each call of ZeroMQ, each allocation and each call about files fails once. */
#include "failing.h"

#include <stdlib.h>
#include <zmq.h>

#include "fabric/tcp.h"

/* Calls of ZeroMQ, which count as those about files do. */
#define FAILS_WITH(value)                                                                                              \
    if (fails(FAILING_FILES)) {                                                                                        \
        errno = failing.error ? failing.error : EIO;                                                                   \
        return value;                                                                                                  \
    }
WRAPPED(void *, zmq_ctx_new, void)
{
    FAILS_WITH(NULL)
    return __real_zmq_ctx_new();
}
WRAPPED(void *, zmq_socket, void *context, int type)
{
    FAILS_WITH(NULL)
    return __real_zmq_socket(context, type);
}
WRAPPED(int, zmq_bind, void *socket, const char *address)
{
    FAILS_WITH(-1)
    return __real_zmq_bind(socket, address);
}
WRAPPED(int, zmq_connect, void *socket, const char *address)
{
    FAILS_WITH(-1)
    return __real_zmq_connect(socket, address);
}
WRAPPED(int, zmq_setsockopt, void *socket, int option, const void *value, size_t size)
{
    FAILS_WITH(-1)
    return __real_zmq_setsockopt(socket, option, value, size);
}
WRAPPED(int, zmq_getsockopt, void *socket, int option, void *value, size_t *size)
{
    FAILS_WITH(-1)
    return __real_zmq_getsockopt(socket, option, value, size);
}
WRAPPED(int, zmq_socket_monitor, void *socket, const char *address, int events)
{
    FAILS_WITH(-1)
    return __real_zmq_socket_monitor(socket, address, events);
}
WRAPPED(int, zmq_curve_keypair, char *public_key, char *secret_key)
{
    FAILS_WITH(-1)
    return __real_zmq_curve_keypair(public_key, secret_key);
}

static enum tutti_err listen_at(void *context)
{
    struct tutti_keys keys = {0};
    struct tutti_tcp *tcp = NULL;
    const struct tutti_ports any = {0};
    bool has_keys = *(const bool *)context;
    if (has_keys)
        TRY(tutti_keys_make(&keys));
    enum tutti_err err = tutti_tcp_listen(&tcp, "127.0.0.1", &any, has_keys ? &keys : NULL, 10, NULL);
    assert_int_equal(err == TUTTI_OK, tcp != NULL);
    assert_true(err || tutti_tcp_port(tcp) > 0);
    tutti_tcp_free(tcp);
    return err;
}

static void test_listen(void **state)
{
    (void)state;
    bool has_keys = false;
    fail_each_call(FAILING_FILES, EMFILE, listen_at, &has_keys);
    has_keys = true;
    fail_each_call(FAILING_MEMORY, ENOMEM, listen_at, &has_keys);
    fail_each_call(FAILING_FILES, EMFILE, listen_at, &has_keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
