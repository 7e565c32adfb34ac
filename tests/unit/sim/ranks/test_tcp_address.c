/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "sim/ranks/tcp_address.h"

static void loopback_is_loopback_by_any_name(void **state)
{
    (void)state;
    char numeric[TUTTI_ADDRESS_SIZE];
    bool loopback = false;
    static const char *const texts[][2] = {
        {"tcp://127.0.0.1:5", "tcp://127.0.0.1:5"},
        {"tcp://127.9.8.7:65535", "tcp://127.9.8.7:65535"},
        {"tcp://[::1]:80", "tcp://[::1]:80"},
        {"tcp://127.0.0.1:0", "tcp://127.0.0.1:0"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_ok(tt_tcp_address_resolve(texts[i][0], numeric, &loopback));
        assert_string_equal(numeric, texts[i][1]);
        assert_true(loopback);
    }
    assert_ok(tt_tcp_address_resolve("tcp://localhost:80", numeric, &loopback));
    assert_true(loopback);
}

static void others_are_not(void **state)
{
    (void)state;
    char numeric[TUTTI_ADDRESS_SIZE];
    bool loopback = true;
    static const char *const texts[] = {"tcp://0.0.0.0:1", "tcp://192.0.2.1:1", "tcp://128.0.0.1:1", "tcp://[::]:1",
                                        "tcp://[2001:db8::1]:1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_ok(tt_tcp_address_resolve(texts[i], numeric, &loopback));
        assert_string_equal(numeric, texts[i]);
        assert_false(loopback);
    }
}

static void what_is_no_address_is_refused(void **state)
{
    (void)state;
    char numeric[TUTTI_ADDRESS_SIZE], longest[600];
    bool loopback;
    static const char *const texts[] = {"", "127.0.0.1:80", "ipc://a:1", "tcp", "TCP://a:1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_fails(tt_tcp_address_resolve(texts[i], numeric, &loopback), TUTTI_ERR_ARGUMENT, "tcp://HOST:PORT");
    static const char *const addresses[] = {
        "tcp://", "tcp://:80", "tcp://a", "tcp://127.0.0.1:123456789", "tcp://127.0.0.1:*", "tcp://127.0.0.1:x"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        assert_fails(tt_tcp_address_resolve(addresses[i], numeric, &loopback), TUTTI_ERR_ARGUMENT, "is not HOST:PORT");
    snprintf(longest, sizeof longest, "tcp://%0500d:1", 7);
    assert_fails(tt_tcp_address_resolve(longest, numeric, &loopback), TUTTI_ERR_ARGUMENT, "is not HOST:PORT");
    assert_fails(tt_tcp_address_resolve("tcp://no.such.host.invalid:1", numeric, &loopback), TUTTI_ERR_LOST,
                 "no.such.host.invalid cannot be looked up");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback_is_loopback_by_any_name),
        cmocka_unit_test(others_are_not),
        cmocka_unit_test(what_is_no_address_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
