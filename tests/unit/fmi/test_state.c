/* SPDX-License-Identifier: MIT */
/* The invariants of fmi/state.h, one test each, against the table. */
#include "test.h"

#include "fmi/state.h"

#define ALLOWED(fmi, call, state) tutti_state_allows(fmi, TUTTI_CALL_##call, TUTTI_STATE_##state)

static void test_nothing_without_an_instance(void **state)
{
    (void)state;
    for (int fmi = 1; fmi <= 3; fmi++)
        for (int call = 0; call < TUTTI_CALL_COUNT; call++) {
            bool only = call == TUTTI_CALL_INSTANTIATE;
            assert_int_equal(tutti_state_allows(fmi, (enum tutti_call)call, TUTTI_STATE_NONE), only); /* I1 */
            assert_false(tutti_state_allows(fmi, (enum tutti_call)call, TUTTI_STATE_FATAL));          /* I2 */
        }
}

static void test_after_error(void **state)
{
    (void)state;
    for (int fmi = 1; fmi <= 3; fmi++) { /* I3 */
        assert_false(ALLOWED(fmi, DO_STEP, ERROR));
        assert_false(ALLOWED(fmi, SET, ERROR));
        assert_false(ALLOWED(fmi, TERMINATE, ERROR));
        assert_true(ALLOWED(fmi, FREE, ERROR));
        assert_true(ALLOWED(fmi, RESET, ERROR));
        assert_true(ALLOWED(fmi, GET, ERROR));
    }
}

static void test_initialisation(void **state)
{
    (void)state;
    for (int fmi = 1; fmi <= 3; fmi++) { /* I5 */
        assert_true(ALLOWED(fmi, ENTER_INITIALIZATION, INSTANTIATED));
        assert_false(ALLOWED(fmi, ENTER_INITIALIZATION, STEP));
        assert_true(ALLOWED(fmi, SET, INITIALIZATION));
        assert_int_equal(ALLOWED(fmi, GET, INITIALIZATION), fmi > 1);
        assert_false(ALLOWED(fmi, DO_STEP, INITIALIZATION));
        assert_false(ALLOWED(fmi, DO_STEP, INSTANTIATED));
    }
    assert_int_equal(tutti_state_after(TUTTI_CALL_EXIT_INITIALIZATION, TUTTI_STATE_INITIALIZATION, true),
                     TUTTI_STATE_EVENT);
    assert_int_equal(tutti_state_after(TUTTI_CALL_EXIT_INITIALIZATION, TUTTI_STATE_INITIALIZATION, false),
                     TUTTI_STATE_STEP);
}

static void test_no_read_after_set(void **state)
{
    (void)state;
    for (int fmi = 1; fmi <= 3; fmi++) { /* I7 */
        assert_true(ALLOWED(fmi, GET, STEP));
        assert_false(ALLOWED(fmi, GET, STEP_SET));
        assert_true(ALLOWED(fmi, DO_STEP, STEP_SET));
        assert_true(ALLOWED(fmi, SET, STEP_SET));
    }
    assert_int_equal(tutti_state_after(TUTTI_CALL_SET, TUTTI_STATE_STEP, false), TUTTI_STATE_STEP_SET);
    assert_int_equal(tutti_state_after(TUTTI_CALL_DO_STEP, TUTTI_STATE_STEP_SET, false), TUTTI_STATE_STEP);
    assert_int_equal(tutti_state_after(TUTTI_CALL_SET, TUTTI_STATE_INITIALIZATION, false), TUTTI_STATE_INITIALIZATION);
}

static void test_event_mode(void **state)
{
    (void)state;
    for (int fmi = 1; fmi <= 2; fmi++) /* I8: before 3.0 there is none */
        for (int s = 0; s < TUTTI_STATE_COUNT; s++)
            assert_false(tutti_state_allows(fmi, TUTTI_CALL_ENTER_EVENT, (enum tutti_state)s));
    assert_true(ALLOWED(3, ENTER_EVENT, STEP));
    assert_false(ALLOWED(3, DO_STEP, EVENT));
    assert_true(ALLOWED(3, UPDATE_DISCRETE, EVENT));
    assert_false(ALLOWED(3, UPDATE_DISCRETE, STEP));
    assert_true(ALLOWED(3, SET, EVENT));
    assert_true(ALLOWED(3, GET, EVENT));
}

static void test_configuration(void **state)
{
    (void)state;
    assert_true(ALLOWED(3, ENTER_CONFIGURATION, INSTANTIATED)); /* I4 */
    assert_false(ALLOWED(3, ENTER_CONFIGURATION, INITIALIZATION));
    assert_true(ALLOWED(3, SET, CONFIGURATION));
    assert_false(ALLOWED(3, GET, CONFIGURATION));
    assert_false(ALLOWED(3, DO_STEP, RECONFIGURATION));
    assert_int_equal(tutti_state_after(TUTTI_CALL_ENTER_CONFIGURATION, TUTTI_STATE_STEP, false),
                     TUTTI_STATE_RECONFIGURATION);
    assert_int_equal(tutti_state_after(TUTTI_CALL_EXIT_CONFIGURATION, TUTTI_STATE_RECONFIGURATION, false),
                     TUTTI_STATE_STEP);
    assert_int_equal(tutti_state_after(TUTTI_CALL_EXIT_CONFIGURATION, TUTTI_STATE_CONFIGURATION, false),
                     TUTTI_STATE_INSTANTIATED);
}

static void test_after_discard_and_terminate(void **state)
{
    (void)state;
    assert_false(ALLOWED(2, DO_STEP, DISCARDED)); /* I10 */
    assert_true(ALLOWED(2, SET_STATE, DISCARDED));
    assert_false(ALLOWED(1, DO_STEP, DISCARDED));
    for (int fmi = 1; fmi <= 3; fmi++) { /* I12 */
        assert_false(ALLOWED(fmi, DO_STEP, TERMINATED));
        assert_false(ALLOWED(fmi, SET, TERMINATED));
        assert_true(ALLOWED(fmi, GET, TERMINATED));
        assert_true(ALLOWED(fmi, FREE, TERMINATED));
        assert_false(ALLOWED(fmi, TERMINATE, TERMINATED));
    }
}

static void test_intermediate_update(void **state)
{
    (void)state;
    for (int call = 0; call < TUTTI_CALL_COUNT; call++) { /* I9 */
        bool allowed = call == TUTTI_CALL_GET || call == TUTTI_CALL_SET || call == TUTTI_CALL_GET_OUTPUT_DERIVATIVES;
        assert_int_equal(tutti_state_allows(3, (enum tutti_call)call, TUTTI_STATE_INTERMEDIATE), allowed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_without_an_instance),
        cmocka_unit_test(test_after_error),
        cmocka_unit_test(test_initialisation),
        cmocka_unit_test(test_no_read_after_set),
        cmocka_unit_test(test_event_mode),
        cmocka_unit_test(test_configuration),
        cmocka_unit_test(test_after_discard_and_terminate),
        cmocka_unit_test(test_intermediate_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
