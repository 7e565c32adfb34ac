/* SPDX-License-Identifier: MIT */
/* What a step came to, where several units have something to say. */
#include "test.h"

#include "sim/outcome.h"

static void assert_outcome(const struct tt_outcome *outcome, enum tt_reach why, uint32_t who, double at)
{
    assert_int_equal(outcome->why, why);
    assert_int_equal(outcome->who, who);
    assert_same_double(outcome->at, at);
}

static void a_step_begins_as_good(void **state)
{
    (void)state;
    struct tt_outcome outcome = tt_outcome_begin();
    assert_int_equal(outcome.why, TUTTI_REACHED);
    assert_true(outcome.converged);
    assert_int_equal(outcome.iterations, 0);
    assert_false(tt_outcome_is_end_of(&outcome, 0));
}

static void the_earliest_to_come_back_counts(void **state)
{
    (void)state;
    struct tt_outcome outcome = tt_outcome_begin();
    tt_outcome_set_early(&outcome, 3, 0.5);
    assert_outcome(&outcome, TUTTI_EARLY, 3, 0.5);
    tt_outcome_set_early(&outcome, 1, 0.7);
    assert_outcome(&outcome, TUTTI_EARLY, 3, 0.5);
    tt_outcome_set_early(&outcome, 2, 0.5); /* as early, but after it */
    assert_outcome(&outcome, TUTTI_EARLY, 3, 0.5);
    tt_outcome_set_early(&outcome, 1, 0.25);
    assert_outcome(&outcome, TUTTI_EARLY, 1, 0.25);
}

static void the_last_to_end_counts(void **state)
{
    (void)state;
    struct tt_outcome outcome = tt_outcome_begin();
    tt_outcome_set_early(&outcome, 0, 0.1);
    tt_outcome_set_ended(&outcome, 1, 0.5);
    assert_outcome(&outcome, TUTTI_ENDED, 1, 0.5);
    tt_outcome_set_early(&outcome, 0, 0.1); /* an event of a run that is over */
    assert_outcome(&outcome, TUTTI_ENDED, 1, 0.5);
    tt_outcome_set_ended(&outcome, 2, 0.3);
    assert_outcome(&outcome, TUTTI_ENDED, 2, 0.3);
    assert_true(tt_outcome_is_end_of(&outcome, 2));
    assert_false(tt_outcome_is_end_of(&outcome, 1));
}

static void the_first_to_refuse_counts(void **state)
{
    (void)state;
    struct tt_outcome outcome = tt_outcome_begin();
    tt_outcome_set_ended(&outcome, 0, 0.2);
    tt_outcome_set_rejected(&outcome, 1, 0.5);
    assert_outcome(&outcome, TUTTI_REFUSED, 1, 0.5);
    tt_outcome_set_rejected(&outcome, 2, 0.1);
    tt_outcome_set_ended(&outcome, 3, 0.1); /* a step that is taken back ends nothing */
    tt_outcome_set_early(&outcome, 3, 0.1);
    assert_outcome(&outcome, TUTTI_REFUSED, 1, 0.5);
    assert_false(tt_outcome_is_end_of(&outcome, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_begins_as_good),
        cmocka_unit_test(the_earliest_to_come_back_counts),
        cmocka_unit_test(the_last_to_end_counts),
        cmocka_unit_test(the_first_to_refuse_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
