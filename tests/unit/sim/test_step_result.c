/* SPDX-License-Identifier: MIT */
/* What a step came to, where several units have something to say. */
#include "test.h"

#include "sim/step_result.h"

static void assert_result(const struct tt_step_result *result, enum tt_step_end why, uint32_t who, double at)
{
    assert_int_equal(result->end, why);
    assert_int_equal(result->component, who);
    assert_same_double(result->at, at);
}

static void a_step_begins_as_good(void **state)
{
    (void)state;
    struct tt_step_result result = tt_step_result_begin(0, 0);
    assert_int_equal(result.end, TUTTI_END_REACHED);
    assert_true(result.converged);
    assert_int_equal(result.iterations, 0);
    assert_false(tt_step_result_is_end_of(&result, 0));
}

static void the_earliest_to_come_back_counts(void **state)
{
    (void)state;
    struct tt_step_result result = tt_step_result_begin(0, 0);
    tt_step_result_set_event(&result, 3, 0.5);
    assert_result(&result, TUTTI_END_EVENT, 3, 0.5);
    tt_step_result_set_event(&result, 1, 0.7);
    assert_result(&result, TUTTI_END_EVENT, 3, 0.5);
    tt_step_result_set_event(&result, 2, 0.5); /* as early, but after it */
    assert_result(&result, TUTTI_END_EVENT, 3, 0.5);
    tt_step_result_set_event(&result, 1, 0.25);
    assert_result(&result, TUTTI_END_EVENT, 1, 0.25);
}

static void the_last_to_end_counts(void **state)
{
    (void)state;
    struct tt_step_result result = tt_step_result_begin(0, 0);
    tt_step_result_set_event(&result, 0, 0.1);
    tt_step_result_set_ended(&result, 1, 0.5);
    assert_result(&result, TUTTI_END_OF_RUN, 1, 0.5);
    tt_step_result_set_event(&result, 0, 0.1); /* an event of a run that is over */
    assert_result(&result, TUTTI_END_OF_RUN, 1, 0.5);
    tt_step_result_set_ended(&result, 2, 0.3);
    assert_result(&result, TUTTI_END_OF_RUN, 2, 0.3);
    assert_true(tt_step_result_is_end_of(&result, 2));
    assert_false(tt_step_result_is_end_of(&result, 1));
}

static void the_first_to_refuse_counts(void **state)
{
    (void)state;
    struct tt_step_result result = tt_step_result_begin(0, 0);
    tt_step_result_set_ended(&result, 0, 0.2);
    tt_step_result_set_refused(&result, 1, 0.5);
    assert_result(&result, TUTTI_END_REFUSED, 1, 0.5);
    tt_step_result_set_refused(&result, 2, 0.1);
    tt_step_result_set_ended(&result, 3, 0.1); /* a step that is taken back ends nothing */
    tt_step_result_set_event(&result, 3, 0.1);
    assert_result(&result, TUTTI_END_REFUSED, 1, 0.5);
    assert_false(tt_step_result_is_end_of(&result, 1));
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
