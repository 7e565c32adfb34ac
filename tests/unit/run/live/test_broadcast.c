/* SPDX-License-Identifier: MIT */
/* The server of a run, asked over sockets by clients that know HTTP only. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "run/live/live_server.h"
#include "look.h"

struct fixture {
    struct tt_live_state *board;
    struct tt_command_ring orders;
    struct tt_live_server *broadcast;
    int port;
};

static enum tutti_err settle(const void *context, const char *name, double value, struct tt_run_command *order)
{
    (void)context;
    if (strcmp(name, "car.k") != 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "there is no '%s'", name);
    *order = (struct tt_run_command){.kind = TUTTI_ORDER_SET, .component = 1, .variable = 7, .value = value};
    return TUTTI_OK;
}

static int begin(void **state)
{
    struct fixture *f = *state = calloc(1, sizeof *f);
    struct tt_live_server_plan plan = {.token = "secret", .settle = settle};
    const struct tt_address address = {.host = "127.0.0.1"};
    struct tt_socket_address bound;
    assert_ok(tt_http_load(&plan.module));
    assert_ok(tt_address_listen(&plan.socket, &bound, &address, "--live"));
    f->port = bound.numeric.port;
    assert_ok(tt_live_state_new(&f->board, "car.ssp", 0, 10));
    plan.board = f->board;
    plan.orders = &f->orders;
    assert_ok(tt_live_server_open(&f->broadcast, &plan));
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    tt_live_server_close(f->broadcast);
    tt_live_state_free(f->board);
    free(f);
    return 0;
}

static void put_columns(const struct fixture *f)
{
    const struct tutti_recorded shown[] = {{.name = "car.z", .unit = "m", .type = "Float64"},
                                           {.name = "car.\"v\"", .type = "Float64"},
                                           {.name = "road.z", .type = "Float64"}};
    assert_ok(tt_live_state_set_columns(f->board, shown, 3));
}

/* ---- a client ---- */

static int send_request(const struct fixture *f, const char *method, const char *target, const char *body)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)f->port)};
    char text[1024];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    int length =
        snprintf(text, sizeof text,
                 "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nConnection: close\r\nContent-Length: "
                 "%zu\r\n\r\n%s",
                 method, target, strlen(body), body);
    assert_int_equal(write(fd, text, (size_t)length), length);
    return fd;
}

/* Until `until` is there, or the server closes; the caller's. */
static char *read_until(int fd, const char *until)
{
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    for (ssize_t more = 1; more > 0;) {
        if (room - size < 1 << 15)
            text = realloc(text, room *= 2);
        more = read(fd, text + size, room - size - 1);
        size += more > 0 ? (size_t)more : 0;
        text[size] = 0;
        if (until && strstr(text, until))
            break;
    }
    return text;
}

static void expect(const struct fixture *f, const char *method, const char *target, const char *body,
                   const char *status, const char *words)
{
    int fd = send_request(f, method, target, body);
    char *text = read_until(fd, NULL);
    if (!strstr(text, status) || !strstr(text, words))
        fail_msg("%s %s: %s", method, target, text);
    free(text);
    close(fd);
}

/* The next one is this. */
static void await_order(struct fixture *f, uint32_t kind, double value)
{
    struct tt_run_command order;
    while (tt_command_ring_pop(&f->orders, &order, 1) == 0)
        look_again();
    assert_int_equal(order.kind, kind);
    assert_true(order.value == value);
}

/* ---- */

static void test_answers(void **state)
{
    const struct fixture *f = *state;
    put_columns(f);
    expect(f, "GET", "/", "", " 200 ", "\"columns\":[{\"name\":\"car.z\",\"type\":\"Float64\",\"unit\":\"m\"");
    expect(f, "GET", "/", "", " 200 ", "\"car.\\\"v\\\"\"");
    expect(f, "GET", "/metrics", "", " 200 ", "tutti_run_stop_seconds 10\n");
    expect(f, "GET", "/nothing", "", " 404 ", "nothing");
    expect(f, "GET", "/orders", "", " 405 ", "POST");
    expect(f, "POST", "/events", "", " 404 ", "");
}

static void test_wrong_token(void **state)
{
    const struct fixture *f = *state;
    static const char *const wrong[] = {"", "Authorization: Bearer secre\r\n", "Authorization: Bearer secrets\r\n",
                                        "Authorization: Basic secret\r\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)f->port)};
        char request[256];
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
        int length = snprintf(request, sizeof request,
                              "GET /?token=wrong HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n", wrong[i]);
        assert_int_equal(write(fd, request, (size_t)length), length);
        char *text = read_until(fd, NULL);
        assert_non_null(strstr(text, " 401 "));
        assert_null(strstr(text, "car.ssp"));
        free(text);
        close(fd);
    }
}

static void test_orders(void **state)
{
    struct fixture *f = *state;
    struct tt_run_command orders[8];
    expect(f, "POST", "/orders", "{\"pause\":true}", " 202 ", "{}");
    expect(f, "POST", "/orders", "{\"step\":3,\"set\":{\"car.k\":2.5}}", " 202 ", "{}");
    expect(f, "POST", "/orders", "{\"stop\":true}", " 202 ", "{}");
    assert_int_equal(tt_command_ring_pop(&f->orders, orders, 8), 4);
    assert_int_equal(orders[0].kind, TUTTI_ORDER_PAUSE);
    assert_int_equal(orders[1].kind, TUTTI_ORDER_STEP);
    assert_true(orders[1].value == 3);
    assert_int_equal(orders[2].kind, TUTTI_ORDER_SET);
    assert_int_equal(orders[2].variable, 7);
    assert_true(orders[2].value == 2.5);
    assert_int_equal(orders[3].kind, TUTTI_ORDER_STOP);
    expect(f, "POST", "/orders", "{\"set\":{\"car.k\":1,\"car.q\":2}}", " 400 ",
           "there is no 'car.q'"); /* all or none */
    expect(f, "POST", "/orders", "{\"set\":{\"car.k\":\"1\"}}", " 400 ", "no number");
    expect(f, "POST", "/orders", "{\"set\":3}", " 400 ", "takes an object");
    expect(f, "POST", "/orders", "{\"step\":0}", " 400 ", "from 1 to");
    expect(f, "POST", "/orders", "{\"pause\":1}", " 400 ", "takes true");
    expect(f, "POST", "/orders", "{\"fly\":true}", " 400 ", "no order 'fly'");
    expect(f, "POST", "/orders", "[]", " 400 ", "JSON object");
    expect(f, "POST", "/orders", "{", " 400 ", "JSON object");
    assert_int_equal(tt_command_ring_pop(&f->orders, orders, 8), 0);
    for (int i = 0; i < 256; i++)
        assert_true(tt_command_ring_push(&f->orders, &orders[0]));
    expect(f, "POST", "/orders", "{\"go\":true}", " 503 ", "256 orders wait");
}

/* One who comes before anything is known sees all of it, in its order, and the end. */
static void test_watch(void **state)
{
    struct fixture *f = *state;
    int fd = send_request(f, "GET", "/events?columns=car.*", "");
    await_order(f, TUTTI_ORDER_WATCH, 1);
    put_columns(f);
    char *text = read_until(fd, "event: run");
    assert_null(strstr(text, "road.z"));
    free(text);
    for (int i = 0; i < 3; i++)
        tt_feed_add(tt_live_state_rows(f->board), i, (double[]){i, NAN, 100});
    tt_live_state_add_message(f->board, TUTTI_LOG_WARNING, "car", "a \"word\"\n");
    tt_live_state_set_progress(f->board, &(struct tutti_progress){0, 10, 2, 1, 3, 0.5, true, false});
    tt_live_state_set_end(f->board, "failed", "why", 2.5);
    tt_live_server_close(f->broadcast);
    f->broadcast = NULL;
    text = read_until(fd, NULL);
    assert_non_null(
        strstr(text, "event: rows\ndata: {\"first\":0,\"time\":[0,1,2],\"values\":[[0,1,2],[null,null,null]]}\n\n"));
    assert_non_null(strstr(text, "{\"level\":\"warning\",\"origin\":\"car\",\"text\":\"a \\\"word\\\"\\u000a\"}"));
    assert_non_null(strstr(text, "event: state\ndata: {\"state\":\"paused\",\"message\":null}"));
    assert_non_null(strstr(text, "\"time\":2,"));
    assert_non_null(strstr(text, "\"time\":2.5,"));
    const char *last = strstr(text, "event: end\ndata: {\"state\":\"failed\",\"message\":\"why\"}\n\n");
    assert_non_null(last);
    assert_true(last > strstr(text, "event: rows"));
    free(text);
    close(fd);
}

/* Millions of rows for one who does not read: neither side waits, and what it reads afterwards has the peak. */
static void test_slow_viewer(void **state)
{
    struct fixture *f = *state;
    put_columns(f);
    int fd = send_request(f, "GET", "/events", "");
    await_order(f, TUTTI_ORDER_WATCH, 1);
    for (int i = 0; i < 3000000; i++)
        tt_feed_add(tt_live_state_rows(f->board), i, (double[]){i == 1234567 ? 987654321.5 : 0, i, 0});
    tt_live_state_set_end(f->board, "done", NULL, 10);
    char *text = read_until(fd, "event: end");
    assert_non_null(strstr(text, "event: bars"));
    assert_non_null(strstr(text, "987654321.5"));
    assert_non_null(strstr(text, "2999999"));
    assert_true(strlen(text) < 4000000);
    free(text);
    close(fd);
}

/* One who leaves is not counted any more. */
static void test_leaves(void **state)
{
    struct fixture *f = *state;
    put_columns(f);
    int fd = send_request(f, "GET", "/events", "");
    await_order(f, TUTTI_ORDER_WATCH, 1);
    free(read_until(fd, "event: run"));
    close(fd);
    struct tt_run_command order = {.kind = TUTTI_ORDER_KINDS};
    while (tt_command_ring_pop(&f->orders, &order, 1) == 0) { /* it is noticed when something is sent */
        tt_feed_add(tt_live_state_rows(f->board), 0, (double[]){0, 0, 0});
        look_again();
    }
    assert_int_equal(order.kind, TUTTI_ORDER_WATCH);
    assert_true(order.value == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_answers, begin, end),
        cmocka_unit_test_setup_teardown(test_wrong_token, begin, end),
        cmocka_unit_test_setup_teardown(test_orders, begin, end),
        cmocka_unit_test_setup_teardown(test_watch, begin, end),
        cmocka_unit_test_setup_teardown(test_slow_viewer, begin, end),
        cmocka_unit_test_setup_teardown(test_leaves, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
