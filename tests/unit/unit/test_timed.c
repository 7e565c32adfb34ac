/* SPDX-License-Identifier: MIT */
/* How long do-steps take, from a few that are measured. */
#include "test.h"

#include "unit/unit.h"

/* Makes do-steps that take `seconds` each; returns how many were measured. */
static unsigned long make_steps(struct tt_unit *unit, unsigned long count, bool all, double seconds)
{
    unsigned long measured = 0;
    for (unsigned long i = 0; i < count; i++)
        if (++unit->counts.do_steps >= unit->times.next) {
            tt_unit_record_time(unit, all, seconds);
            measured++;
        }
    return measured;
}

static void test_all_are_measured_if_asked_for(void **state)
{
    (void)state;
    struct tt_unit unit = {0};
    assert_near(tt_unit_seconds(&unit), 0, 0);
    assert_int_equal(make_steps(&unit, 1000, true, 1e-7), 1000);
    assert_int_equal(make_steps(&unit, 10, true, 1), 10);
    assert_near(tt_unit_seconds(&unit), 10 + 1e-4, 1e-9);
}

static void test_long_steps_are_all_measured(void **state)
{
    (void)state;
    struct tt_unit unit = {0};
    assert_int_equal(make_steps(&unit, 100, false, 1e-4), 100);
    assert_near(tt_unit_seconds(&unit), 1e-2, 1e-9);
}

static void test_short_steps_are_measured_seldom(void **state)
{
    (void)state;
    struct tt_unit unit = {0};
    unsigned long measured = make_steps(&unit, 1000000, false, 1e-7);
    assert_in_range(measured, 1000, 6000); /* one in 200 */
    assert_near(tt_unit_seconds(&unit), 0.1, 1e-9);
    measured = make_steps(&unit, 1000000, false, 0); /* faster than the clock's resolution */
    assert_in_range(measured, 900, 6000);
    assert_near(tt_unit_seconds(&unit), 0.1, 1e-3);
}

/* The machine was busy meanwhile: that must not be extrapolated to all steps. */
static void test_a_hiccup_stands_for_itself(void **state)
{
    (void)state;
    struct tt_unit unit = {0};
    make_steps(&unit, 100000, false, 1e-7);
    while (unit.counts.do_steps + 1 < unit.times.next)
        unit.counts.do_steps++;
    assert_int_equal(make_steps(&unit, 1, false, 1e-3), 1);
    make_steps(&unit, 100000, false, 1e-7);
    assert_near(tt_unit_seconds(&unit), 0.02 + 1e-3, 1e-4);
}

/* Of steps that come in pairs, a long and a short one, both sorts are measured. */
static void test_pairs(void **state)
{
    (void)state;
    struct tt_unit unit = {0};
    for (int i = 0; i < 100000; i++) {
        make_steps(&unit, 1, false, 1e-6);
        make_steps(&unit, 1, false, 1e-7);
    }
    assert_near(tt_unit_seconds(&unit), 0.11, 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_measured_if_asked_for),
        cmocka_unit_test(test_long_steps_are_all_measured),
        cmocka_unit_test(test_short_steps_are_measured_seldom),
        cmocka_unit_test(test_a_hiccup_stands_for_itself),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
