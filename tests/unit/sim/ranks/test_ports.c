/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "sim/ranks/tcp_address.h"
#include "look.h"

static void test_ranges(void **state)
{
    (void)state;
    struct tt_port_range ports;
    assert_ok(tt_tcp_address_parse_ports(&ports, "5000-5100", "--ports"));
    assert_int_equal(ports.first, 5000);
    assert_int_equal(ports.last, 5100);
    assert_ok(tt_tcp_address_parse_ports(&ports, "65535", "--ports"));
    assert_int_equal(ports.first, 65535);
    assert_int_equal(ports.last, 65535);
    static const char *const wrong[] = {"",      "-",         "0",          "65536", "5000-",
                                        "-5000", "5100-5000", "5000-65536", "a-b",   "1-2-3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(tt_tcp_address_parse_ports(&ports, wrong[i], "--ports"), TUTTI_ERR_ARGUMENT,
                     "is no range of ports");
}

/* The port that a socket listens at. */
static int port_of(void *socket)
{
    char endpoint[256] = "";
    size_t size = sizeof endpoint;
    assert_int_equal(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size), 0);
    return (int)strtol(strrchr(endpoint, ':') + 1, NULL, 10);
}

static void test_bind(void **state)
{
    (void)state;
    void *context = zmq_ctx_new(), *first = zmq_socket(context, ZMQ_PAIR), *second = zmq_socket(context, ZMQ_PAIR);
    struct tt_port_range any = {0};
    assert_ok(tt_tcp_address_bind(&any, first, "tcp://127.0.0.1:*"));
    struct tt_port_range taken = {port_of(first), port_of(first)};
    assert_fails(tt_tcp_address_bind(&taken, second, "tcp://127.0.0.1:*"), TUTTI_ERR_IO, "is free");
    zmq_close(first);
    while (tt_tcp_address_bind(&taken, second, "tcp://127.0.0.1:*") !=
           TUTTI_OK) /* ZeroMQ closes it when it finds the time */
        look_again();
    assert_int_equal(port_of(second), taken.first);
    void *third = zmq_socket(context, ZMQ_PAIR);
    assert_fails(tt_tcp_address_bind(&any, third, "tcp://192.0.2.1:*"), TUTTI_ERR_IO,
                 "cannot listen at 192.0.2.1"); /* of none */
    assert_fails(tt_tcp_address_bind(&taken, third, "tcp://192.0.2.1:*"), TUTTI_ERR_IO, "cannot listen at 192.0.2.1");
    zmq_close(second);
    zmq_close(third);
    zmq_ctx_term(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges), cmocka_unit_test(test_bind)};
    return cmocka_run_group_tests_name("fabric/ports", tests, NULL, NULL);
}
