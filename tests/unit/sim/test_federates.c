/* SPDX-License-Identifier: MIT */
/* Units as federates: grants in the order of times, messages to those who read, and what is said of a federation that stands. */
#include "test.h"

#include <math.h>

#include "sim/coupling/federated.h"

enum { A, B, C, COUNT };

/* B and C hear A, A hears C. */
static const bool reads[COUNT * COUNT] = {false, false, true, true, false, false, true, false, false};
static const char *const names[] = {"a", "b", "c"};

static struct tt_federates *make(double start)
{
    struct tt_federates *federates;
    assert_ok(tt_federated_new_federates(&federates, COUNT, names, reads, start, start));
    return federates;
}

static void ask_all(struct tt_federates *federates, enum tt_time_advance how, double a, double b, double c)
{
    assert_ok(tt_federated_request_advance(federates, A, how, a));
    assert_ok(tt_federated_request_advance(federates, B, how, b));
    assert_ok(tt_federated_request_advance(federates, C, how, c));
}

/* These units are granted t, and no others; those with a bit in `news` have heard something. */
static void assert_grants(struct tt_federates *federates, double t, unsigned units, unsigned news)
{
    struct tt_federate_grant grants[COUNT];
    uint32_t count;
    unsigned granted = 0, heard = 0;
    assert_ok(tt_federated_get_grants(federates, grants, &count));
    for (uint32_t i = 0; i < count; i++) {
        assert_same_double(grants[i].t, t);
        granted |= 1u << grants[i].unit;
        heard |= grants[i].news ? 1u << grants[i].unit : 0;
    }
    assert_int_equal(granted, units);
    assert_int_equal(heard, news);
}

/* The first one is granted its time; all others wait until it continues. Times before 0 are ordinary times. */
static void times_rise(void **state)
{
    (void)state;
    struct tt_federates *federates = make(-3);
    ask_all(federates, TUTTI_ADVANCE_TARA, -2.5, -2, -2.5);
    assert_grants(federates, -2.5, 1 << A | 1 << C, 0);
    assert_grants(federates, -2.5, 0, 0);
    assert_ok(tt_federated_request_advance(federates, A, TUTTI_ADVANCE_TAR, -2.5));
    assert_grants(federates, -2.5, 0, 0); /* c may still send a message */
    assert_ok(tt_federated_send_update(federates, C, -2.5));
    assert_ok(tt_federated_request_advance(federates, C, TUTTI_ADVANCE_TAR, -2.5));
    assert_grants(federates, -2.5, 1 << A | 1 << C, 1 << A);
    assert_ok(tt_federated_request_advance(federates, A, TUTTI_ADVANCE_TARA, -1));
    assert_ok(tt_federated_request_advance(federates, C, TUTTI_ADVANCE_TARA, 0.5));
    assert_grants(federates, -2, 1 << B, 0);
    tt_federated_free_federates(federates);
}

/* A message ends the wait of those who read it, at its time; with NMRA they may answer there. */
static void messages_wake(void **state)
{
    (void)state;
    struct tt_federates *federates = make(0);
    ask_all(federates, TUTTI_ADVANCE_NMRA, 1, 2, 3);
    assert_grants(federates, 1, 1 << A, 0);
    assert_ok(tt_federated_send_update(federates, A, 1));
    assert_ok(tt_federated_request_advance(federates, A, TUTTI_ADVANCE_NMRA, 5));
    assert_grants(federates, 1, 1 << B | 1 << C, 1 << B | 1 << C);
    assert_ok(tt_federated_send_update(federates, C, 1));
    assert_ok(tt_federated_request_advance(federates, B, TUTTI_ADVANCE_NMRA, 2));
    assert_ok(tt_federated_request_advance(federates, C, TUTTI_ADVANCE_NMRA, 3));
    assert_grants(federates, 1, 1 << A, 1 << A);
    assert_ok(tt_federated_request_advance(federates, A, TUTTI_ADVANCE_NMRA, 5));
    assert_grants(federates, 2, 1 << B, 0);
    tt_federated_free_federates(federates);
}

static void a_federation_that_stands(void **state)
{
    (void)state;
    struct tt_federates *federates = make(0);
    assert_ok(tt_federated_request_advance(federates, A, TUTTI_ADVANCE_TAR, 1));
    assert_grants(federates, 1, 0, 0);
    assert_fails(tt_federated_fail_deadlock(federates), TUTTI_ERR_STATE, "no unit may go on: ");
    assert_fails(tt_federated_request_advance(federates, A, TUTTI_ADVANCE_TAR, 2), TUTTI_ERR_STATE,
                 "InTimeAdvancingState");
    tt_federated_free_federates(federates);
    tt_federated_free_federates(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_rise),
        cmocka_unit_test(messages_wake),
        cmocka_unit_test(a_federation_that_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
