/* SPDX-License-Identifier: MIT */
/* Grants of time: the cases that a person can follow. test_time_oracle.c has the rest. */
#include "rti_helper.h"

#define TAR TUTTI_ADVANCE_TAR
#define TARA TUTTI_ADVANCE_TARA
#define NMR TUTTI_ADVANCE_NMR
#define NMRA TUTTI_ADVANCE_NMRA

/* All regulate with these lookaheads and are constrained; all publish and subscribe to events. */
static struct world timed(int count, const char *kind, const double *lookaheads)
{
    struct world w = world_of(count, kind);
    for (int i = 0; i < count; i++) {
        assert_done(tt_declarations_publish_interaction(w.a[i], EVENT));
        assert_done(tt_declarations_subscribe_interaction(w.a[i], EVENT, false));
        assert_done(tt_time_management_enable_regulation(w.a[i], at(&w, lookaheads[i])));
        assert_done(tt_time_management_enable_constrained(w.a[i]));
        assert_next(w.a[i], TimeRegulationEnabled);
        assert_next(w.a[i], TimeConstrainedEnabled);
    }
    return w;
}
#define TIMED(count, kind, ...) timed(count, kind, (const double[]){__VA_ARGS__})

static enum tt_hla send_at(struct world *w, int i, double t, uint64_t *retraction)
{
    int64_t time = at(w, t);
    return tt_objects_send_interaction(w->a[i], EVENT, NULL, 0, (struct tt_message_stamp){&time, NO_TAG}, retraction);
}

static void request(struct world *w, int i, enum tt_time_advance kind, double t)
{
    assert_done(tt_time_management_advance(w->a[i], kind, at(w, t)));
}

static void assert_received(struct world *w, int i, double t)
{
    assert_same_double(tt_logical_time_to_double(w->time, assert_next(w->a[i], ReceiveInteraction)->time), t);
}

static void test_steps(void **state)
{
    (void)state;
    struct world w = TIMED(2, "", 1, 1);
    request(&w, 0, TAR, 1);
    assert_quiet(w.a[0]); /* B may send at 1 */
    request(&w, 1, TAR, 1);
    assert_granted(&w, 0, 1);
    assert_granted(&w, 1, 1);
    assert_done(send_at(&w, 0, 2, NULL));
    request(&w, 1, TAR, 2);
    assert_quiet(w.a[1]);
    request(&w, 0, TAR, 2);
    assert_granted(&w, 0, 2);
    assert_received(&w, 1, 2);
    assert_granted(&w, 1, 2);
    tt_rti_free(w.rti);
}

/* 000 Fig. 4.9: values are exchanged at t by TARA, and TAR ends t. */
static void test_zero_lookahead(void **state)
{
    (void)state;
    struct world w = TIMED(2, "HLAinteger64Time", 0, 0);
    for (int t = 1; t <= 3; t++) {
        request(&w, 0, TARA, t);
        request(&w, 1, TARA, t);
        assert_granted(&w, 0, t);
        assert_granted(&w, 1, t);
        assert_done(send_at(&w, 0, t, NULL));
        assert_done(send_at(&w, 1, t, NULL));
        request(&w, 0, TAR, t);
        assert_quiet(w.a[0]); /* B may still send at t */
        request(&w, 1, TAR, t);
        assert_received(&w, 0, t);
        assert_granted(&w, 0, t);
        assert_received(&w, 1, t);
        assert_granted(&w, 1, t);
        assert_raises(send_at(&w, 0, t, NULL), InvalidLogicalTime, ", nor at it");
    }
    tt_rti_free(w.rti);
}

static void test_next_message(void **state)
{
    (void)state;
    struct world w = TIMED(2, "", 1, 0.5);
    assert_done(send_at(&w, 0, 3, NULL));
    assert_done(send_at(&w, 0, 4, NULL));
    request(&w, 1, NMR, 10);
    assert_quiet(w.a[1]); /* A may send at 1 */
    request(&w, 0, NMR, 10);
    assert_received(&w, 1, 3);
    assert_granted(&w, 1, 3);
    assert_quiet(w.a[0]); /* B may send at 3.5 */
    assert_done(send_at(&w, 1, 3.5, NULL));
    request(&w, 1, NMR, 10);
    assert_received(&w, 0, 3.5);
    assert_granted(&w, 0, 3.5);
    assert_received(&w, 1, 4); /* A can send no earlier than 4.5 */
    assert_granted(&w, 1, 4);
    request(&w, 1, NMR, 10);
    request(&w, 0, NMR, 20);
    assert_granted(&w, 1, 10);
    assert_quiet(w.a[0]);
    tt_rti_free(w.rti);
}

static void test_equal_stamps(void **state)
{
    (void)state;
    struct world w = TIMED(3, "", 1, 1, 1);
    assert_done(send_at(&w, 2, 5, NULL));
    assert_done(send_at(&w, 0, 5, NULL));
    assert_done(send_at(&w, 2, 4, NULL));
    assert_done(send_at(&w, 0, 5, NULL));
    request(&w, 1, TAR, 5);
    request(&w, 0, TAR, 9);
    request(&w, 2, TAR, 9);
    static const int senders[] = {3, 1, 1, 3};
    for (int i = 0; i < 4; i++)
        assert_int_equal(assert_next(w.a[1], ReceiveInteraction)->federate, senders[i]);
    assert_granted(&w, 1, 5);
    tt_rti_free(w.rti);
}

static void test_flush(void **state)
{
    (void)state;
    struct world w = TIMED(2, "", 1, 1);
    request(&w, 0, TAR, 1);
    request(&w, 1, TAR, 1);
    assert_granted(&w, 0, 1);
    assert_granted(&w, 1, 1);
    assert_done(send_at(&w, 0, 9, NULL));
    assert_done(send_at(&w, 0, 5, NULL));
    assert_done(tt_time_management_flush_queue(w.a[1], at(&w, 7)));
    assert_received(&w, 1, 5);
    assert_received(&w, 1, 9); /* all that is queued, also beyond what was asked for */
    const struct tt_callback *c = assert_next(w.a[1], FlushQueueGrant);
    assert_same_double(tt_logical_time_to_double(w.time, c->time), 2);            /* GALT */
    assert_same_double(tt_logical_time_to_double(w.time, c->optimistic_time), 5); /* the first one that came */
    assert_done(send_at(&w, 1, 3, NULL));
    assert_raises(send_at(&w, 1, 2.5, NULL), InvalidLogicalTime, "nothing before 3");
    tt_rti_free(w.rti);
}

static void test_retraction(void **state)
{
    (void)state;
    struct world w = TIMED(3, "", 1, 1, 1);
    uint64_t first, second, third;
    assert_done(send_at(&w, 0, 4, &first));
    assert_done(send_at(&w, 0, 5, &second));
    assert_done(send_at(&w, 0, 1, &third));
    assert_done(tt_time_management_flush_queue(w.a[2], at(&w, 7)));
    drain(w.a[2]);
    assert_done(tt_message_retract(w.a[0], first));
    assert_true(assert_next(w.a[2], RequestRetraction)->retraction == first);
    assert_raises(tt_message_retract(w.a[0], first), MessageCanNoLongerBeRetracted, "");
    assert_raises(tt_message_retract(w.a[0], 0), InvalidMessageRetractionHandle, "");
    assert_raises(tt_message_retract(w.a[0], 99), InvalidMessageRetractionHandle, "");
    request(&w, 0, TAR, 3);
    request(&w, 1, TAR, 9);
    request(&w, 2, TAR, 9);
    assert_granted(&w, 0, 3);
    assert_raises(tt_message_retract(w.a[0], third), MessageCanNoLongerBeRetracted, "");
    assert_done(tt_message_retract(w.a[0], second));
    request(&w, 0, TAR, 9);
    assert_received(&w, 1, 1);
    assert_granted(&w, 1, 9);
    assert_done(tt_time_management_disable_regulation(w.a[0]));
    assert_raises(tt_message_retract(w.a[0], second), TimeRegulationIsNotEnabled, "'A'");
    tt_rti_free(w.rti);
}

static void test_lookahead_shrinks_with_time(void **state)
{
    (void)state;
    struct world w = TIMED(1, "", 2);
    int64_t lookahead;
    assert_done(tt_time_management_modify_lookahead(w.a[0], at(&w, 0.5)));
    assert_done(tt_time_management_query_lookahead(w.a[0], &lookahead));
    assert_same_double(tt_logical_time_to_double(w.time, lookahead), 2);
    assert_raises(send_at(&w, 0, 1.5, NULL), InvalidLogicalTime, "before 2");
    request(&w, 0, TAR, 1);
    assert_done(tt_time_management_query_lookahead(w.a[0], &lookahead));
    assert_same_double(tt_logical_time_to_double(w.time, lookahead), 1);
    request(&w, 0, TAR, 3);
    assert_done(tt_time_management_query_lookahead(w.a[0], &lookahead));
    assert_same_double(tt_logical_time_to_double(w.time, lookahead), 0.5);
    assert_done(tt_time_management_modify_lookahead(w.a[0], at(&w, 4)));
    assert_raises(send_at(&w, 0, 6, NULL), InvalidLogicalTime, "before 7");
    tt_rti_free(w.rti);
}

static void test_late_regulation(void **state)
{
    (void)state;
    struct world w = TIMED(2, "", 1, 1);
    request(&w, 0, TAR, 10);
    request(&w, 1, TAR, 10);
    w.a[2] = connected(w.rti);
    join_as(w.a[2], "C");
    assert_done(tt_time_management_enable_regulation(w.a[2], at(&w, 3)));
    /* Others are at 10, and were promised that nothing comes at 10 any more. */
    const struct tt_callback *c = assert_next(w.a[2], TimeRegulationEnabled);
    assert_same_double(tt_logical_time_to_double(w.time, c->time), 10);
    tt_rti_free(w.rti);
}

static void test_late_constraint(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    assert_done(tt_declarations_publish_interaction(w.a[0], EVENT));
    assert_done(tt_declarations_subscribe_interaction(w.a[1], EVENT, false));
    assert_done(tt_time_management_enable_regulation(w.a[0], at(&w, 1)));
    request(&w, 1, TAR, 5);
    assert_granted(&w, 1, 5); /* unconstrained */
    assert_done(tt_time_management_enable_constrained(w.a[1]));
    assert_quiet(w.a[1]);
    assert_raises(tt_time_management_enable_constrained(w.a[1]), RequestForTimeConstrainedPending, "'B'");
    assert_raises(tt_time_management_advance(w.a[1], TAR, at(&w, 6)), RequestForTimeConstrainedPending, "'B'");
    assert_done(send_at(&w, 0, 3, NULL));
    assert_int_equal(assert_next(w.a[1], ReceiveInteraction)->received, TUTTI_ORDER_RECEIVE);
    drain(w.a[0]);
    request(&w, 0, TAR, 8);
    assert_next(w.a[1], TimeConstrainedEnabled);
    tt_rti_free(w.rti);
}

static void test_order_of_reception(void **state)
{
    (void)state;
    struct world w = TIMED(2, "", 1, 1);
    assert_done(tt_objects_send_interaction(w.a[0], EVENT, NULL, 0, NO_TIME, NULL));
    assert_quiet(w.a[1]); /* held until it advances */
    request(&w, 1, TAR, 5);
    assert_false(assert_next(w.a[1], ReceiveInteraction)->timed);
    assert_done(tt_objects_send_interaction(w.a[0], EVENT, NULL, 0, NO_TIME, NULL));
    assert_next(w.a[1], ReceiveInteraction); /* it is advancing */
    request(&w, 0, TAR, 5);
    assert_granted(&w, 1, 5);
    assert_done(tt_objects_send_interaction(w.a[0], EVENT, NULL, 0, NO_TIME, NULL));
    assert_quiet(w.a[1]);
    assert_raises(tt_time_management_disable_async(w.a[1]), AsynchronousDeliveryAlreadyDisabled, "'B'");
    assert_done(tt_time_management_enable_async(w.a[1]));
    assert_next(w.a[1], ReceiveInteraction);
    assert_raises(tt_time_management_enable_async(w.a[1]), AsynchronousDeliveryAlreadyEnabled, "'B'");
    assert_done(tt_declarations_set_interaction_order(w.a[0], EVENT, TUTTI_ORDER_RECEIVE));
    assert_done(send_at(&w, 0, 7, NULL));
    assert_true(assert_next(w.a[1], ReceiveInteraction)->timed);
    assert_done(tt_time_management_disable_async(w.a[1]));
    /* No longer constrained: what waits comes as it is. */
    assert_done(tt_declarations_set_interaction_order(w.a[0], EVENT, TUTTI_ORDER_TIMESTAMP));
    assert_done(send_at(&w, 0, 9, NULL));
    assert_done(tt_time_management_disable_constrained(w.a[1]));
    assert_int_equal(assert_next(w.a[1], ReceiveInteraction)->received, TUTTI_ORDER_RECEIVE);
    tt_rti_free(w.rti);
}

static void test_exceptions(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    int64_t time;
    assert_raises(tt_time_management_disable_regulation(w.a[0]), TimeRegulationIsNotEnabled, "'A'");
    assert_raises(tt_time_management_disable_constrained(w.a[0]), TimeConstrainedIsNotEnabled, "'A'");
    assert_raises(tt_time_management_query_lookahead(w.a[0], &time), TimeRegulationIsNotEnabled, "'A'");
    assert_raises(tt_time_management_modify_lookahead(w.a[0], 0), TimeRegulationIsNotEnabled, "'A'");
    assert_raises(tt_time_management_enable_regulation(w.a[0], -1), InvalidLookahead, "negative");
    assert_raises(tt_time_management_advance(w.a[0], TAR, -1), InvalidLogicalTime, "no time");
    assert_raises(tt_time_management_advance(w.a[0], TAR, INT64_MAX), InvalidLogicalTime, "no time");
    for (int i = 0; i < 2; i++) {
        assert_done(tt_time_management_enable_regulation(w.a[i], at(&w, 1)));
        assert_done(tt_time_management_enable_constrained(w.a[i]));
    }
    assert_raises(tt_time_management_enable_regulation(w.a[0], 0), TimeRegulationAlreadyEnabled, "'A'");
    assert_raises(tt_time_management_enable_constrained(w.a[0]), TimeConstrainedAlreadyEnabled, "'A'");
    assert_raises(tt_time_management_modify_lookahead(w.a[0], -1), InvalidLookahead, "negative");
    request(&w, 0, TAR, 5);
    assert_raises(tt_time_management_advance(w.a[0], NMRA, at(&w, 5)), InTimeAdvancingState,
                  "waits for the grant of 5");
    assert_raises(tt_time_management_flush_queue(w.a[0], at(&w, 5)), InTimeAdvancingState, "5");
    assert_raises(tt_time_management_modify_lookahead(w.a[0], 0), InTimeAdvancingState, "5");
    assert_done(tt_time_management_disable_regulation(w.a[0]));
    assert_raises(tt_time_management_enable_regulation(w.a[0], 0), InTimeAdvancingState, "5");
    request(&w, 1, TAR, 7);
    assert_raises(tt_time_management_advance(w.a[0], TAR, at(&w, 3)), LogicalTimeAlreadyPassed,
                  "asks for 3, and is at 5");
    assert_raises(tt_time_management_flush_queue(w.a[0], at(&w, 3)), LogicalTimeAlreadyPassed, "at 5");
    tt_rti_free(w.rti);
}

static void test_stall(void **state)
{
    (void)state;
    struct world w = TIMED(3, "", 1, 0, 2);
    struct tt_text text = {0};
    struct tt_federation *federation = tt_rti_find_federation(w.rti, "fed");
    tt_time_management_explain(federation, &text);
    assert_int_equal(text.length, 0);
    request(&w, 0, TAR, 5);
    request(&w, 2, NMR, 4);
    tt_time_management_explain(federation, &text);
    assert_string_equal(
        text.text,
        "'A' at 0 waits for 5 (time advance request) for 'B', which is at 0 with lookahead 0 and may send from 0\n"
        "'C' at 0 waits for 4 (next message request) for 'B', which is at 0 with lookahead 0 and may send from 0\n");
    struct tt_time_status status;
    tt_time_management_status(w.a[0]->federate, &status);
    assert_int_equal(status.holder, 2);
    tt_text_fini(&text);
    tt_rti_free(w.rti);
}

static void test_nothing_regulates(void **state)
{
    (void)state;
    struct world w = world_of(1, "");
    struct tt_text text = {0};
    bool valid;
    int64_t time;
    struct tt_federation *federation = tt_rti_find_federation(w.rti, "fed");
    assert_done(tt_time_management_enable_constrained(w.a[0]));
    request(&w, 0, TAR, 5);
    assert_next(w.a[0], TimeConstrainedEnabled);
    assert_granted(&w, 0, 5);
    assert_done(tt_time_management_query_galt(w.a[0], &valid, &time));
    assert_false(valid);
    assert_done(tt_time_management_query_lits(w.a[0], &valid, &time));
    assert_false(valid);
    federation->fom->switches.non_regulated_grant = false;
    request(&w, 0, TAR, 6);
    assert_quiet(w.a[0]);
    tt_time_management_explain(federation, &text);
    assert_non_null(strstr(text.text, "for a federate that regulates"));
    tt_text_fini(&text);
    tt_rti_free(w.rti);
}

static void test_times(void **state)
{
    (void)state;
    int64_t time;
    unsigned char bytes[TUTTI_TIME_BYTES];
    static const enum tt_logical_time_kind kinds[] = {TUTTI_TIME_FLOAT64, TUTTI_TIME_INTEGER64};
    for (int k = 0; k < 2; k++) {
        assert_false(tt_logical_time_from_double(kinds[k], -1, &time));
        assert_false(tt_logical_time_from_double(kinds[k], NAN, &time));
        assert_false(tt_logical_time_from_double(kinds[k], INFINITY, &time));
        assert_true(tt_logical_time_from_double(kinds[k], 3, &time));
        tt_logical_time_encode(kinds[k], time, bytes);
        int64_t again = 0;
        assert_true(tt_logical_time_decode(kinds[k], bytes, sizeof bytes, &again));
        assert_int_equal(time, again);
        assert_false(tt_logical_time_decode(kinds[k], bytes, 7, &again));
        memset(bytes, 0xff, sizeof bytes);
        assert_false(tt_logical_time_decode(kinds[k], bytes, sizeof bytes, &again));
        assert_int_equal(tt_logical_time_add(kinds[k], tt_logical_time_final(kinds[k]), time),
                         tt_logical_time_final(kinds[k]));
        assert_int_equal(tt_logical_time_subtract(kinds[k], 0, time), 0);
        assert_string_equal(tt_logical_time_show(kinds[k], time).text, "3");
        enum tt_logical_time_kind found;
        assert_true(tt_logical_time_kind_find(tt_logical_time_kind_name(kinds[k]), &found));
        assert_int_equal(found, kinds[k]);
    }
    assert_false(tt_logical_time_from_double(TUTTI_TIME_INTEGER64, 1.5, &time));
    assert_false(tt_logical_time_from_double(TUTTI_TIME_INTEGER64, 1e19, &time));
    assert_true(tt_logical_time_from_double(TUTTI_TIME_FLOAT64, -0.0, &time));
    assert_int_equal(time, 0);
    static const unsigned char one_and_a_half[] = {0x3f, 0xf8, 0, 0, 0, 0, 0, 0};
    assert_true(tt_logical_time_decode(TUTTI_TIME_FLOAT64, one_and_a_half, 8, &time));
    assert_same_double(tt_logical_time_to_double(TUTTI_TIME_FLOAT64, time), 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_zero_lookahead),
        cmocka_unit_test(test_next_message),
        cmocka_unit_test(test_equal_stamps),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_retraction),
        cmocka_unit_test(test_lookahead_shrinks_with_time),
        cmocka_unit_test(test_late_regulation),
        cmocka_unit_test(test_late_constraint),
        cmocka_unit_test(test_order_of_reception),
        cmocka_unit_test(test_exceptions),
        cmocka_unit_test(test_stall),
        cmocka_unit_test(test_nothing_regulates),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
