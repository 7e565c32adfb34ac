/* SPDX-License-Identifier: MIT */
/* Sessions of the RTI with federates that are written here: a link each, and connections that carry bytes as far as the test wants. */
#include "test.h"

#include <stdlib.h>

#include "hla/fedpro/sessions.h"

enum { MOST_CALLS = 5000 };

/* The calls that the RTI received. */
struct rti {
    struct tt_fedpro_sessions sessions;
    struct tt_fedpro_session *last;
    int began, ended, cuts, resumes, answers, calls;
    int call[MOST_CALLS]; /* what they carried */
    char why[200];
    bool echo; /* answer calls */
};

static void on_began(void *context, struct tt_fedpro_session *session)
{
    struct rti *rti = context;
    rti->began++;
    rti->last = session;
    session->connection->intake.limit = 1 << 20;
}

static void on_call(void *context, struct tt_fedpro_session *session, int32_t sequence, const uint8_t *bytes,
                    size_t size)
{
    struct rti *rti = context;
    assert_int_equal(size, 4);
    assert_true(rti->calls < MOST_CALLS);
    rti->call[rti->calls++] = (int)tt_fedpro_message_get_u32(bytes);
    if (rti->echo)
        tt_sessions_send(session, TUTTI_FEDPRO_CALL_RESPONSE, &sequence, bytes, size, NULL);
}

static void on_answer(void *context, struct tt_fedpro_session *session, int32_t sequence, const uint8_t *bytes,
                      size_t size)
{
    (void)session, (void)sequence, (void)bytes, (void)size;
    ((struct rti *)context)->answers++;
}

static void on_ended(void *context, struct tt_fedpro_session *session, const char *why)
{
    (void)session;
    struct rti *rti = context;
    rti->ended++;
    snprintf(rti->why, sizeof rti->why, "%s", why ? why : "");
}

static void on_cut(void *context, struct tt_fedpro_session *session, bool resumed)
{
    struct rti *rti = context;
    if (resumed) {
        rti->resumes++;
        session->connection->intake.limit = 1 << 20;
    } else {
        rti->cuts++;
    }
}

static void on_ready(void *context, struct tt_fedpro_connection *connection)
{
    (void)context, (void)connection;
}

static void rti_init(struct rti *rti, const struct tt_sessions_rules *rules)
{
    *rti = (struct rti){.echo = true};
    struct tt_fedpro_handler handler = {rti, on_began, on_call, on_answer, on_ended, on_cut, on_ready};
    tt_sessions_init(&rti->sessions, &handler, rules);
}

/* A federate: its link, its connection, and what came. */
struct federate {
    struct tt_session_link link;
    struct tt_fedpro_connection connection; /* the RTI's end */
    struct tt_fedpro_intake intake;
    int responses[MOST_CALLS], response_count;
    int callbacks[MOST_CALLS], callback_count;
    int heartbeats;
    bool terminated;
    int32_t status, status_sequence;
};

static void send_raw(struct federate *federate, const struct tt_fedpro_header *header, const void *payload)
{
    uint8_t bytes[100];
    tt_fedpro_message_put_header(bytes, header);
    memcpy(bytes + TUTTI_FEDPRO_HEADER, payload, header->size - TUTTI_FEDPRO_HEADER);
    assert_ok(tt_fedpro_message_append_bytes(&federate->connection.intake, bytes, header->size));
}

static uint8_t buffer[100]; /* of what is written at once: three messages or so */

/* Bytes of the federate to the RTI, at most `most`. */
static void flow_up(struct federate *federate, size_t most)
{
    size_t size = 0;
    const uint8_t *bytes = NULL;
    while (most > 0 && (bytes = tt_session_link_output(&federate->link, buffer, sizeof buffer, &size)) != NULL) {
        size = size < most ? size : most;
        assert_ok(tt_fedpro_message_append_bytes(&federate->connection.intake, bytes, size));
        tt_session_link_consume(&federate->link, size);
        most -= size;
    }
}

static void handle(struct federate *federate, const struct tt_fedpro_message *message)
{
    if (message->header.type == TUTTI_FEDPRO_NEW_SESSION_STATUS) {
        federate->status = (int32_t)tt_fedpro_message_get_u32(message->payload);
        federate->link.session = message->header.session;
    } else if (message->header.type == TUTTI_FEDPRO_RESUME_STATUS) {
        federate->status = (int32_t)tt_fedpro_message_get_u32(message->payload);
        federate->status_sequence = (int32_t)tt_fedpro_message_get_u32(message->payload + 4);
    } else if (!tt_session_link_receive(&federate->link, &message->header)) {
        fail_msg("message %d came twice", message->header.sequence);
    } else if (message->header.type == TUTTI_FEDPRO_CALL_RESPONSE) {
        federate->responses[federate->response_count++] = (int)tt_fedpro_message_get_u32(message->payload + 4);
    } else if (message->header.type == TUTTI_FEDPRO_CALLBACK) {
        federate->callbacks[federate->callback_count++] = (int)tt_fedpro_message_get_u32(message->payload);
    } else if (message->header.type == TUTTI_FEDPRO_HEARTBEAT_RESPONSE) {
        federate->heartbeats++;
    } else {
        assert_int_equal(message->header.type, TUTTI_FEDPRO_TERMINATED);
        federate->terminated = true;
    }
}

static bool next_of(struct tt_fedpro_intake *intake, struct tt_fedpro_message *message)
{
    bool whole = false;
    assert_ok(tt_fedpro_message_parse_next(intake, message, &whole));
    return whole;
}

/* Bytes of the RTI to the federate, at most `most`. */
static void flow_down(struct federate *federate, size_t most)
{
    size_t size = 0;
    const uint8_t *bytes = NULL;
    while (most > 0 && (bytes = tt_sessions_get_output(&federate->connection, buffer, sizeof buffer, &size)) != NULL) {
        size = size < most ? size : most;
        assert_ok(tt_fedpro_message_append_bytes(&federate->intake, bytes, size));
        tt_sessions_consume_output(&federate->connection, size);
        most -= size;
    }
    struct tt_fedpro_message message;
    while (next_of(&federate->intake, &message))
        handle(federate, &message);
}

static void take(struct federate *federate, double now)
{
    bool left = true;
    while (left)
        assert_ok(tt_sessions_handle_messages(&federate->connection, now, 3, &left));
}

static void begin(struct federate *federate, struct rti *rti, uint32_t version)
{
    *federate = (struct federate){.intake = {.limit = 1 << 20}, .status = -1};
    tt_session_link_init(&federate->link, 0, 1, &tt_session_link_default_limits);
    tt_sessions_init_connection(&federate->connection, &rti->sessions, 0);
    uint8_t payload[4];
    tt_fedpro_message_put_u32(payload, version);
    send_raw(federate, &(struct tt_fedpro_header){28, 0, 0, TUTTI_FEDPRO_NO_SEQUENCE, TUTTI_FEDPRO_NEW_SESSION},
             payload);
    take(federate, 0);
    flow_down(federate, SIZE_MAX);
}

/* An RTI with one federate in session. */
static void start(struct rti *rti, struct federate *federate, const struct tt_sessions_rules *rules)
{
    rti_init(rti, rules);
    begin(federate, rti, 1);
}

static void call(struct federate *federate, int number)
{
    uint8_t payload[4];
    tt_fedpro_message_put_u32(payload, (uint32_t)number);
    assert_ok(tt_session_link_push(&federate->link, TUTTI_FEDPRO_CALL, NULL, payload, sizeof payload, NULL));
}

static void call_back(struct rti *rti, int number)
{
    uint8_t payload[4];
    tt_fedpro_message_put_u32(payload, (uint32_t)number);
    tt_sessions_send(rti->last, TUTTI_FEDPRO_CALLBACK, NULL, payload, sizeof payload, NULL);
}

static void lose(struct federate *federate, double now)
{
    tt_sessions_free_connection(&federate->connection, now);
    tt_session_link_disconnect(&federate->link);
    tt_fedpro_message_free_intake(&federate->intake);
}

/* Asks to resume on a connection that is new. */
static void ask_to_resume(struct federate *federate, struct rti *rti, double now)
{
    uint8_t payload[8];
    tt_sessions_init_connection(&federate->connection, &rti->sessions, now);
    tt_fedpro_message_put_u32(payload, (uint32_t)federate->link.last_received);
    tt_fedpro_message_put_u32(payload + 4, (uint32_t)tt_session_link_oldest(&federate->link));
    federate->status = -1;
    send_raw(federate,
             &(struct tt_fedpro_header){32, TUTTI_FEDPRO_NO_SEQUENCE, federate->link.session,
                                        federate->link.last_received, TUTTI_FEDPRO_RESUME},
             payload);
    take(federate, now);
    flow_down(federate, 32); /* the status alone */
}

static void resume(struct federate *federate, struct rti *rti, double now)
{
    ask_to_resume(federate, rti, now);
    assert_int_equal(federate->status, TUTTI_FEDPRO_RESUMED);
    assert_true(tt_session_link_rewind(&federate->link, federate->status_sequence));
}

static void end(struct federate *federate, struct rti *rti)
{
    tt_sessions_free_connection(&federate->connection, 0);
    tt_sessions_fini(&rti->sessions, "the RTI ends");
    tt_session_link_fini(&federate->link);
    tt_fedpro_message_free_intake(&federate->intake);
}

static void a_session_from_its_beginning_to_its_end(void **state)
{
    (void)state;
    struct rti rti;
    struct federate federate;
    rti_init(&rti, &tt_sessions_default_rules);
    begin(&federate, &rti, TUTTI_FEDPRO_VERSION);
    assert_int_equal(federate.status, TUTTI_FEDPRO_WELCOME);
    assert_true(federate.link.session != 0);
    call(&federate, 11);
    assert_ok(tt_session_link_push(&federate.link, TUTTI_FEDPRO_HEARTBEAT, NULL, NULL, 0, NULL));
    flow_up(&federate, SIZE_MAX);
    take(&federate, 1);
    call_back(&rti, 12);
    flow_down(&federate, SIZE_MAX);
    assert_int_equal(federate.responses[0], 11);
    assert_int_equal(federate.callbacks[0], 12);
    assert_int_equal(federate.heartbeats, 1);
    int32_t head = 1;
    assert_ok(tt_session_link_push(&federate.link, TUTTI_FEDPRO_CALLBACK_RESPONSE, &head, NULL, 0, NULL));
    assert_ok(tt_session_link_push(&federate.link, TUTTI_FEDPRO_TERMINATE, NULL, NULL, 0, NULL));
    flow_up(&federate, SIZE_MAX);
    take(&federate, 2);
    assert_int_equal(rti.answers, 1);
    assert_int_equal(rti.ended, 1);
    assert_string_equal(rti.why, "");
    flow_down(&federate, SIZE_MAX);
    assert_true(federate.terminated);
    assert_true(federate.connection.closing);
    tt_sessions_free_connection(&federate.connection, 3);
    assert_int_equal(rti.sessions.count, 0);
    assert_int_equal(rti.cuts, 0);
    end(&federate, &rti);
    assert_int_equal(rti.ended, 1);
}

static void another_version_and_too_many_sessions_are_refused(void **state)
{
    (void)state;
    struct rti rti;
    struct federate one, other;
    struct tt_sessions_rules rules = tt_sessions_default_rules;
    rules.most_sessions = 1;
    rti_init(&rti, &rules);
    begin(&one, &rti, 2);
    assert_int_equal(one.status, TUTTI_FEDPRO_UNSUPPORTED_VERSION);
    assert_true(one.connection.closing);
    tt_session_link_fini(&one.link);
    tt_fedpro_message_free_intake(&one.intake);
    tt_sessions_free_connection(&one.connection, 0);
    begin(&one, &rti, 1);
    begin(&other, &rti, 1);
    assert_int_equal(one.status, TUTTI_FEDPRO_WELCOME);
    assert_int_equal(other.status, TUTTI_FEDPRO_OUT_OF_RESOURCES);
    assert_int_equal(rti.began, 1);
    tt_sessions_free_connection(&other.connection, 0);
    tt_session_link_fini(&other.link);
    tt_fedpro_message_free_intake(&other.intake);
    end(&one, &rti);
    assert_string_equal(rti.why, "the RTI ends");
}

/* Calls and callbacks continue while the connection is cut after any number of bytes in either direction, repeatedly. */
static void nothing_is_lost_and_nothing_comes_twice(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int round = 0; round < 30; round++) {
        struct rti rti;
        struct federate federate;
        rti_init(&rti, &tt_sessions_default_rules);
        begin(&federate, &rti, 1);
        if (round % 2) { /* over the end of the numbers */
            federate.link.next_sequence = INT32_MAX - 20;
            rti.last->link.next_sequence = INT32_MAX - 30;
        }
        int sent = 0;
        for (int cut = 0; cut < 20; cut++) {
            for (int i = 0; i < 5; i++, sent++) {
                call(&federate, sent);
                call_back(&rti, sent);
                if (i == 2)
                    assert_ok(tt_session_link_push(&federate.link, TUTTI_FEDPRO_HEARTBEAT, NULL, NULL, 0, NULL));
                seed = seed * 1103515245 + 12345;
                flow_up(&federate, seed >> 16 & 63);
                take(&federate, cut);
                flow_down(&federate, seed >> 22 & 63);
            }
            lose(&federate, cut);
            resume(&federate, &rti, cut);
        }
        flow_up(&federate, SIZE_MAX);
        take(&federate, 100);
        flow_down(&federate, SIZE_MAX);
        assert_int_equal(rti.calls, sent);
        assert_int_equal(federate.callback_count, sent);
        assert_int_equal(federate.response_count, sent);
        for (int i = 0; i < sent; i++) {
            assert_int_equal(rti.call[i], i);
            assert_int_equal(federate.callbacks[i], i);
            assert_int_equal(federate.responses[i], i);
        }
        assert_int_equal(rti.resumes, 20);
        end(&federate, &rti);
    }
}

static void who_resumes_drops_the_old_connection(void **state)
{
    (void)state;
    struct rti rti;
    struct federate federate;
    start(&rti, &federate, &tt_sessions_default_rules);
    struct federate old = federate; /* the RTI has not seen that its cable is cut */
    rti.last->connection = &old.connection;
    federate.connection.session = NULL;
    federate.connection.intake.bytes = NULL;
    resume(&federate, &rti, 1);
    assert_true(old.connection.closing);
    assert_null(old.connection.session);
    assert_ptr_equal(rti.last->connection, &federate.connection);
    tt_sessions_free_connection(&old.connection, 1);
    assert_int_equal(rti.cuts, 0);
    call(&federate, 5);
    flow_up(&federate, SIZE_MAX);
    take(&federate, 2);
    flow_down(&federate, SIZE_MAX);
    assert_int_equal(federate.responses[0], 5);
    end(&federate, &rti);
}

static void what_is_not_kept_cannot_be_resumed(void **state)
{
    (void)state;
    struct rti rti;
    struct federate federate;
    struct tt_sessions_rules rules = tt_sessions_default_rules;
    rules.limits.history = 3;
    start(&rti, &federate, &rules);
    for (int i = 0; i < 10; i++) {
        size_t size = 0;
        call_back(&rti, i);
        while (tt_sessions_get_output(&federate.connection, NULL, 0, &size) != NULL) /* lost on their way */
            tt_sessions_consume_output(&federate.connection, size);
    }
    lose(&federate, 0);
    ask_to_resume(&federate, &rti, 1);
    assert_int_equal(federate.status, TUTTI_FEDPRO_NOT_ENOUGH_MESSAGES);
    assert_int_equal(rti.ended, 1);
    assert_non_null(strstr(rti.why, "not kept any more"));
    assert_int_equal(rti.sessions.count, 0);
    lose(&federate, 1);
    ask_to_resume(&federate, &rti, 2);
    assert_int_equal(federate.status, TUTTI_FEDPRO_NO_SUCH_SESSION);
    end(&federate, &rti);
}

static void messages_that_never_were_cannot_be_resumed_from(void **state)
{
    (void)state;
    struct rti rti;
    struct federate federate;
    start(&rti, &federate, &tt_sessions_default_rules);
    lose(&federate, 0);
    federate.link.last_received = 1000;
    ask_to_resume(&federate, &rti, 1);
    assert_int_equal(federate.status, TUTTI_FEDPRO_NOT_ENOUGH_MESSAGES);
    end(&federate, &rti);
}

static void a_cut_session_waits_for_a_while(void **state)
{
    (void)state;
    struct rti rti;
    struct federate federate;
    double next = 0;
    start(&rti, &federate, &tt_sessions_default_rules);
    tt_sessions_tick(&rti.sessions, 1, &next);
    assert_same_double(next, tt_sessions_default_rules.silence);
    lose(&federate, 5);
    assert_int_equal(rti.cuts, 1);
    tt_sessions_tick(&rti.sessions, 6, &next);
    assert_same_double(next, 5 + tt_sessions_default_rules.grace);
    assert_int_equal(rti.ended, 0);
    tt_sessions_tick(&rti.sessions, next, &next);
    assert_int_equal(rti.ended, 1);
    assert_non_null(strstr(rti.why, "not resumed within 10 s"));
    assert_true(isinf(next));
    ask_to_resume(&federate, &rti, 20);
    assert_int_equal(federate.status, TUTTI_FEDPRO_NO_SUCH_SESSION);
    end(&federate, &rti);
}

static void a_silent_connection_counts_as_cut(void **state)
{
    (void)state;
    struct rti rti;
    struct federate federate;
    double next = 0;
    start(&rti, &federate, &tt_sessions_default_rules);
    tt_sessions_tick(&rti.sessions, 181, &next);
    assert_int_equal(rti.cuts, 1);
    assert_true(federate.connection.closing);
    assert_int_equal(rti.ended, 0);
    end(&federate, &rti);
}

static void a_slow_federate_is_dropped(void **state)
{
    (void)state;
    struct rti rti;
    struct federate federate;
    struct tt_sessions_rules rules = tt_sessions_default_rules;
    rules.limits.waiting = 100;
    start(&rti, &federate, &rules);
    for (int i = 0; i < 101; i++)
        call_back(&rti, i);
    assert_int_equal(rti.ended, 1);
    assert_non_null(strstr(rti.why, "too slow: 100 messages"));
    assert_true(federate.connection.closing);
    end(&federate, &rti);
    assert_int_equal(rti.ended, 1);
}

static void expect_bad(const struct tt_fedpro_header *header, const char *words)
{
    struct rti rti;
    struct federate federate;
    uint8_t payload[100] = {0};
    bool left = true;
    start(&rti, &federate, &tt_sessions_default_rules);
    struct tt_fedpro_header bad = *header;
    bad.session += federate.link.session;
    send_raw(&federate, &bad, payload);
    assert_int_not_equal(tt_sessions_handle_messages(&federate.connection, 1, 5, &left), TUTTI_OK);
    assert_int_equal(rti.ended, 1);
    if (strstr(rti.why, words) == NULL)
        fail_msg("'%s' has no '%s'", rti.why, words);
    end(&federate, &rti);
}

static void bad_messages_end_a_session(void **state)
{
    (void)state;
    expect_bad(&(struct tt_fedpro_header){24, 1, 1, 0, TUTTI_FEDPRO_CALL}, "of another session");
    expect_bad(&(struct tt_fedpro_header){28, 1, 0, 0, TUTTI_FEDPRO_NEW_SESSION}, "do not send in a session");
    expect_bad(&(struct tt_fedpro_header){24, 1, 0, 0, TUTTI_FEDPRO_CALLBACK}, "do not send in a session");
    expect_bad(&(struct tt_fedpro_header){24, 1, 0, 0, 9}, "not a message");
}

static void a_connection_begins_with_a_session(void **state)
{
    (void)state;
    struct rti rti;
    struct tt_fedpro_connection connection;
    uint8_t bytes[TUTTI_FEDPRO_HEADER];
    bool left = true;
    rti_init(&rti, &tt_sessions_default_rules);
    tt_sessions_init_connection(&connection, &rti.sessions, 0);
    tt_fedpro_message_put_header(bytes, &(struct tt_fedpro_header){24, 0, 0, 0, TUTTI_FEDPRO_CALL});
    assert_ok(tt_fedpro_message_append_bytes(&connection.intake, bytes, sizeof bytes));
    assert_int_equal(tt_sessions_handle_messages(&connection, 0, 5, &left), TUTTI_ERR_FORMAT);
    assert_non_null(strstr(tutti_err_message(), "begins with NEW_SESSION"));
    tt_sessions_free_connection(&connection, 0);
    tt_sessions_fini(&rti.sessions, NULL);
    assert_int_equal(rti.began, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_from_its_beginning_to_its_end),
        cmocka_unit_test(another_version_and_too_many_sessions_are_refused),
        cmocka_unit_test(nothing_is_lost_and_nothing_comes_twice),
        cmocka_unit_test(who_resumes_drops_the_old_connection),
        cmocka_unit_test(what_is_not_kept_cannot_be_resumed),
        cmocka_unit_test(messages_that_never_were_cannot_be_resumed_from),
        cmocka_unit_test(a_cut_session_waits_for_a_while),
        cmocka_unit_test(a_silent_connection_counts_as_cut),
        cmocka_unit_test(a_slow_federate_is_dropped),
        cmocka_unit_test(bad_messages_end_a_session),
        cmocka_unit_test(a_connection_begins_with_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
