/* SPDX-License-Identifier: MIT */
/* Addresses: what each rule accepts, hostile text, and the sockets that are opened for them. */
#include "test.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "base/address.h"

/* `--listen` of node, web and rti; a rank; a node of a run; `--live` and `--metrics`; the RTI of a federate. */
static const struct tt_address_rule listen_rule = {.option = "--listen", .any_port = true},
                                    reach_rule = {.option = "--nodes"},
                                    local_rule = {.option = "--live", .any_port = true, .host = "127.0.0.1"},
                                    rti_rule = {.option = "--join", .host = "localhost", .port = 15164};

static void expect(const char *text, const struct tt_address_rule *rule, const char *host, int port)
{
    struct tt_address address, again;
    char written[TUTTI_ADDRESS_SIZE];
    assert_ok(tt_address_read(&address, text, rule));
    assert_string_equal(address.host, host);
    assert_int_equal(address.port, port);
    tt_address_format(&address, "", written, sizeof written);
    assert_ok(tt_address_read(&again, written, rule));
    assert_string_equal(again.host, host);
    assert_int_equal(again.port, port);
}

static void refuse(const char *text, const struct tt_address_rule *rule)
{
    struct tt_address address;
    const char *name = rule->option + strspn(rule->option, "-"); /* the command line puts the dashes in */
    assert_fails(tt_address_read(&address, text, rule), TUTTI_ERR_ARGUMENT, name);
    assert_fails(tt_address_read(&address, text, rule), TUTTI_ERR_ARGUMENT, "is not HOST:PORT or [IPv6]:PORT");
}

static void all_rules_accept(void **state)
{
    (void)state;
    const struct tt_address_rule *rules[] = {&listen_rule, &reach_rule, &local_rule, &rti_rule};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        expect("127.0.0.1:7000", rules[i], "127.0.0.1", 7000);
        expect("a:1", rules[i], "a", 1);
        expect("[::1]:65535", rules[i], "::1", 65535);
        expect("[fe80::1%eth0]:80", rules[i], "fe80::1%eth0", 80);
        expect("my-host_2.example.org:0080", rules[i], "my-host_2.example.org", 80);
        expect("[localhost]:80", rules[i], "localhost", 80);
    }
}

static void hostile_text_is_refused(void **state)
{
    (void)state;
    const struct tt_address_rule *rules[] = {&listen_rule, &reach_rule, &local_rule, &rti_rule};
    static const char *const texts[] = {
        ":",
        "a:",
        "a:-1",
        "a:+1",
        "a: 1",
        "a:1 ",
        "a:1x",
        "a:0x50",
        "a:1e3",
        "a:65536",
        "a:*",
        "a:b:c",
        "::1",
        "::1:80",
        "[::1]",
        "[::1]80",
        "[::1",
        "[::1:80",
        "[]:80",
        "[",
        "[[::1]]:80",
        "]:80",
        "a]:80",
        "[a]b:80",
        "a b:80",
        "\ta:80",
        "a/b:80",
        "*:80",
        "tcp://:1",
        "tcp://a:80",
        "a:80:",
        "a\n:80",
        "\x7f:80",
        "a:1\n",
        "a::80",
        "[::1]::80",
        "[:80",
        "a:99999999999999999999999",
        "a:4294967376",
        "a:18446744073709551696",
        "a:\xd9\xa1",
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            if (rules[i] != &rti_rule || strcmp(texts[k], "[::1]") != 0)
                refuse(texts[k], rules[i]);
}

static void only_rules_with_defaults_leave_parts_out(void **state)
{
    (void)state;
    static const char *const partial[] = {"", "7000", "localhost", ":7000"};
    for (size_t i = 0; i < sizeof partial / sizeof *partial; i++) {
        refuse(partial[i], &listen_rule);
        refuse(partial[i], &reach_rule);
    }
    expect("7000", &local_rule, "127.0.0.1", 7000);
    expect("0", &local_rule, "127.0.0.1", 0);
    refuse("", &local_rule);
    refuse(":7000", &local_rule);
    refuse("localhost", &local_rule);
    refuse("70000", &local_rule);
    expect("", &rti_rule, "localhost", 15164);
    expect(":7000", &rti_rule, "localhost", 7000);
    expect("host", &rti_rule, "host", 15164);
    expect("[::1]", &rti_rule, "::1", 15164);
}

static void port_zero_is_for_listening(void **state)
{
    (void)state;
    struct tt_address address;
    expect("a:0", &listen_rule, "a", 0);
    refuse("a:0", &reach_rule);
    refuse("a:0", &rti_rule);
    assert_fails(tt_address_read(&address, "a:x", &listen_rule), TUTTI_ERR_ARGUMENT, "a port from 0 to 65535");
    assert_fails(tt_address_read(&address, "a:0", &reach_rule), TUTTI_ERR_ARGUMENT, "a port from 1 to 65535");
}

static void the_longest_name_fits(void **state)
{
    (void)state;
    char text[400], written[TUTTI_ADDRESS_SIZE];
    struct tt_address address;
    snprintf(text, sizeof text, "[%0*d:]:65535", TUTTI_HOST_SIZE - 2, 1);
    assert_ok(tt_address_read(&address, text, &listen_rule));
    tt_address_format(&address, "tcp://", written, sizeof written);
    assert_string_equal(written + strlen("tcp://"), text);
    snprintf(text, sizeof text, "%0*d:65535", TUTTI_HOST_SIZE, 1);
    refuse(text, &listen_rule);
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refuse(text, &rti_rule);
    memset(text, '1', sizeof text - 1);
    refuse(text, &local_rule);
}

static void loopback_is_known_by_its_text(void **state)
{
    (void)state;
    static const char *const near[] = {"127.0.0.1:1", "127.3.2.1:1", "[::1]:1", "localhost:1", "LOCALHOST:1"};
    static const char *const beyond[] = {
        "0.0.0.0:1", "[::]:1", "10.0.0.1:1", "127.0.0.1.example.org:1", "host:1", "[::ffff:127.0.0.1]:1"};
    struct tt_address address;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        assert_ok(tt_address_read(&address, near[i], &reach_rule));
        assert_true(tt_address_is_loopback(&address));
    }
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_ok(tt_address_read(&address, beyond[i], &reach_rule));
        assert_false(tt_address_is_loopback(&address));
    }
}

static void names_become_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *numeric;
        bool loopback;
    } cases[] = {
        {"127.9.8.7:65535", "127.9.8.7:65535", true},
        {"[0::1]:80", "[::1]:80", true},
        {"0.0.0.0:0", "0.0.0.0:0", false},
        {"[2001:db8::1]:1", "[2001:db8::1]:1", false},
        {"localhost:80", "127.0.0.1:80", true},
    };
    struct tt_address address;
    struct tt_socket_address found;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(tt_address_read(&address, cases[i].text, &listen_rule));
        assert_ok(tt_address_look_up(&found, &address, TUTTI_ERR_LOST));
        assert_string_equal(found.text, cases[i].numeric);
        assert_int_equal(found.numeric.port, address.port);
        assert_int_equal(found.loopback, cases[i].loopback);
    }
    assert_ok(tt_address_read(&address, "no.such.host.invalid:1", &listen_rule));
    assert_fails(tt_address_look_up(&found, &address, TUTTI_ERR_LOST), TUTTI_ERR_LOST,
                 "no.such.host.invalid cannot be looked up");
    assert_fails(tt_address_look_up(&found, &address, TUTTI_ERR_IO), TUTTI_ERR_IO, "cannot be looked up");
    found = (struct tt_socket_address){.storage.ss_family = AF_UNIX, .size = sizeof found.storage};
    tt_address_describe(&found);
    assert_false(found.loopback);
}

static void sockets_listen_and_connect(void **state)
{
    (void)state;
    const struct tt_address any = {.host = "127.0.0.1"};
    struct tt_socket_address bound, second;
    int server, client, other;
    assert_ok(tt_address_listen(&server, &bound, &any, "--listen"));
    assert_true(bound.numeric.port > 0 && bound.loopback);
    assert_ok(tt_address_connect(&client, &bound.numeric, 5, TUTTI_ERR_LOST));
    assert_fails(tt_address_listen(&other, &second, &bound.numeric, "--listen"), TUTTI_ERR_IO,
                 "listen: cannot listen at 127.0.0.1:");
    assert_int_equal(other, -1);
    close(client);
    close(server);
    assert_fails(tt_address_connect(&client, &bound.numeric, 0, TUTTI_ERR_LOST), TUTTI_ERR_LOST, "refused");
    assert_int_equal(client, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rules_accept),
        cmocka_unit_test(hostile_text_is_refused),
        cmocka_unit_test(only_rules_with_defaults_leave_parts_out),
        cmocka_unit_test(port_zero_is_for_listening),
        cmocka_unit_test(the_longest_name_fits),
        cmocka_unit_test(loopback_is_known_by_its_text),
        cmocka_unit_test(names_become_numbers),
        cmocka_unit_test(sockets_listen_and_connect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
