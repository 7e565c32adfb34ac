/* SPDX-License-Identifier: MIT */
/* Keys, and who is let in by them. */
#include "test.h"

#include <stdlib.h>
#include <zmq.h>

#include "sim/ranks/curve_auth.h"

static void keys_are_written_and_read(void **state)
{
    (void)state;
    struct tt_curve_keys a, b, c;
    char text[TUTTI_KEY_TEXT];
    assert_ok(tt_curve_auth_make_keys(&a));
    assert_ok(tt_curve_auth_make_keys(&b));
    assert_memory_not_equal(a.secret_key, b.secret_key, TUTTI_KEY_SIZE);
    tt_curve_auth_format_key(a.secret_key, text);
    assert_int_equal(strlen(text), 64);
    assert_ok(tt_curve_auth_parse_key(text, c.secret_key));
    assert_ok(tt_curve_auth_derive_keys(&c));
    assert_memory_equal(c.public_key, a.public_key, TUTTI_KEY_SIZE);
    uint8_t key[TUTTI_KEY_SIZE];
    assert_ok(tt_curve_auth_parse_key("00ff0AaB0000000000000000000000000000000000000000000000000000000f", key));
    assert_int_equal(key[1], 255);
    assert_int_equal(key[3], 0xab);
    assert_int_equal(key[31], 15);
    tt_curve_auth_wipe_keys(&a);
    for (int i = 0; i < TUTTI_KEY_SIZE; i++)
        assert_int_equal(a.secret_key[i], 0);
}

static void what_is_no_key_is_refused_and_not_repeated(void **state)
{
    (void)state;
    uint8_t key[TUTTI_KEY_SIZE];
    static const char *const texts[] = {"", "12", "0000000000000000000000000000000000000000000000000000000000000secret",
                                        "000000000000000000000000000000000000000000000000000000000000secre",
                                        "00000000000000000000000000000000000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_fails(tt_curve_auth_parse_key(texts[i], key), TUTTI_ERR_FORMAT, "64 hexadecimal digits");
        assert_null(strstr(tutti_err_message(), "secre"));
    }
}

/* A server, and a client that connects to it. */
struct pair {
    struct tt_curve_keys server_keys, client_keys;
    void *context, *server; /* of one context, with the thread */
    void *strange, *client; /* of another */
    struct tt_zap *zap;
    char endpoint[256];
    char logged[256];
};

static void note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct pair *pair = context;
    if (level == TUTTI_LOG_WARNING)
        snprintf(pair->logged, sizeof pair->logged, "%s %s", origin, text);
}

static struct tutti_log pair_log;

enum { PATIENCE = 60000 }; /* milliseconds after which nothing comes any more; a safety net, not a measurement */

static void start(struct pair *pair)
{
    *pair = (struct pair){0};
    pair_log = (struct tutti_log){TUTTI_LOG_WARNING, note, pair};
    assert_ok(tt_curve_auth_make_keys(&pair->server_keys));
    assert_ok(tt_curve_auth_make_keys(&pair->client_keys));
    pair->context = zmq_ctx_new();
    pair->strange = zmq_ctx_new();
    assert_ok(tt_curve_auth_start(&pair->zap, pair->context, &pair_log));
    pair->server = zmq_socket(pair->context, ZMQ_PULL);
    assert_ok(tt_curve_auth_guard_socket(pair->server, &pair->server_keys));
    size_t size = sizeof pair->endpoint;
    assert_int_equal(zmq_bind(pair->server, "tcp://127.0.0.1:*"), 0);
    assert_int_equal(zmq_getsockopt(pair->server, ZMQ_LAST_ENDPOINT, pair->endpoint, &size), 0);
    pair->client = zmq_socket(pair->strange, ZMQ_PUSH);
    int linger = 0;
    zmq_setsockopt(pair->client, ZMQ_LINGER, &linger, sizeof linger);
}

static void finish(struct pair *pair)
{
    zmq_close(pair->client);
    zmq_close(pair->server);
    tt_curve_auth_stop(pair->zap);
    zmq_ctx_term(pair->context);
    zmq_ctx_term(pair->strange);
}

/* Sends "hello"; returns true if it arrives within `wait` milliseconds. */
static bool comes(struct pair *pair, int wait, char user[64])
{
    zmq_setsockopt(pair->server, ZMQ_RCVTIMEO, &wait, sizeof wait);
    assert_int_equal(zmq_connect(pair->client, pair->endpoint), 0);
    zmq_send(pair->client, "hello", 5, ZMQ_DONTWAIT);
    zmq_msg_t message;
    zmq_msg_init(&message);
    bool came = zmq_msg_recv(&message, pair->server, 0) == 5;
    const char *name = came ? zmq_msg_gets(&message, "User-Id") : NULL;
    snprintf(user, 64, "%s", name ? name : "");
    zmq_msg_close(&message);
    return came;
}

static void a_key_in_the_list_is_let_in_under_its_name(void **state)
{
    (void)state;
    struct pair pair;
    char user[64];
    start(&pair);
    assert_ok(tt_curve_auth_allow_key(pair.zap, pair.client_keys.public_key, "first name"));
    assert_ok(tt_curve_auth_allow_key(pair.zap, pair.client_keys.public_key, "rank 7"));
    tt_curve_auth_start_answering(pair.zap);
    assert_ok(tt_curve_auth_identify_socket(pair.client, &pair.client_keys, pair.server_keys.public_key));
    assert_true(comes(&pair, PATIENCE, user));
    assert_string_equal(user, "rank 7");
    assert_int_equal(tt_curve_auth_count_refused(pair.zap), 0);
    finish(&pair);
}

static void whoever_comes_early_waits(void **state)
{
    (void)state;
    struct pair pair;
    char user[64];
    start(&pair);
    assert_ok(tt_curve_auth_identify_socket(pair.client, &pair.client_keys, pair.server_keys.public_key));
    assert_false(comes(&pair, 200, user));
    assert_ok(tt_curve_auth_allow_key(pair.zap, pair.client_keys.public_key, "late"));
    tt_curve_auth_start_answering(pair.zap);
    int wait = PATIENCE;
    char bytes[8];
    zmq_setsockopt(pair.server, ZMQ_RCVTIMEO, &wait, sizeof wait);
    assert_int_equal(zmq_recv(pair.server, bytes, sizeof bytes, 0), 5);
    finish(&pair);
}

/* Waits until a client was refused; then nothing may have come. */
static void expect_refusal(struct pair *pair)
{
    char user[64];
    assert_false(comes(pair, 10, user));
    for (int i = 0; i < PATIENCE / 10 && tt_curve_auth_count_refused(pair->zap) == 0; i++) {
        char bytes[8];
        int wait = 10;
        zmq_setsockopt(pair->server, ZMQ_RCVTIMEO, &wait, sizeof wait);
        assert_int_equal(zmq_recv(pair->server, bytes, sizeof bytes, 0), -1);
    }
    assert_true(tt_curve_auth_count_refused(pair->zap) > 0);
    assert_false(comes(pair, 200, user));
}

static void any_other_key_is_refused(void **state)
{
    (void)state;
    struct pair pair;
    struct tt_curve_keys other;
    char text[TUTTI_KEY_TEXT];
    start(&pair);
    assert_ok(tt_curve_auth_make_keys(&other));
    assert_ok(tt_curve_auth_allow_key(pair.zap, pair.client_keys.public_key, "member"));
    tt_curve_auth_start_answering(pair.zap);
    assert_ok(tt_curve_auth_identify_socket(pair.client, &other, pair.server_keys.public_key));
    expect_refusal(&pair);
    finish(&pair); /* ends the thread that writes the log */
    tt_curve_auth_format_key(other.public_key, text);
    assert_non_null(strstr(pair.logged, text));
    assert_non_null(strstr(pair.logged, "127.0.0.1"));
}

static void a_key_that_was_taken_back_is_refused(void **state)
{
    (void)state;
    struct pair pair;
    start(&pair);
    assert_ok(tt_curve_auth_allow_key(pair.zap, pair.client_keys.public_key, "member"));
    tt_curve_auth_forbid_key(pair.zap, pair.client_keys.public_key);
    tt_curve_auth_forbid_key(pair.zap, pair.client_keys.public_key);
    tt_curve_auth_start_answering(pair.zap);
    assert_ok(tt_curve_auth_identify_socket(pair.client, &pair.client_keys, pair.server_keys.public_key));
    expect_refusal(&pair);
    finish(&pair);
}

/* Without any key, and with the wrong key of the server, nothing gets as far as the question. */
static void nobody_comes_without_a_key(void **state)
{
    (void)state;
    struct pair pair;
    char user[64];
    start(&pair);
    assert_ok(tt_curve_auth_allow_key(pair.zap, pair.client_keys.public_key, "member"));
    tt_curve_auth_start_answering(pair.zap);
    assert_false(comes(&pair, 300, user));
    assert_ok(tt_curve_auth_identify_socket(pair.client, &pair.client_keys, pair.client_keys.public_key));
    assert_false(comes(&pair, 300, user));
    finish(&pair);
}

static void stopping_nothing_is_fine(void **state)
{
    (void)state;
    tt_curve_auth_stop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_written_and_read),
        cmocka_unit_test(what_is_no_key_is_refused_and_not_repeated),
        cmocka_unit_test(a_key_in_the_list_is_let_in_under_its_name),
        cmocka_unit_test(whoever_comes_early_waits),
        cmocka_unit_test(any_other_key_is_refused),
        cmocka_unit_test(a_key_that_was_taken_back_is_refused),
        cmocka_unit_test(nobody_comes_without_a_key),
        cmocka_unit_test(stopping_nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
