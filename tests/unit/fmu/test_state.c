/* SPDX-License-Identifier: MIT */
/* The invariants of fmu/fmi_state.h, one test each, against the table. */
#include "test.h"

#include "fmu/fmi_state.h"

static bool allowed(enum tt_interface_kind kind, int fmi, int call, int state)
{
    return tt_fmi_state_allows(tt_fmi_state_table(kind, fmi), (enum tt_fmi_call)call, (enum tt_fmi_state)state);
}

/* Co-Simulation, Model Exchange. */
#define ALLOWED(fmi, call, state) allowed(TUTTI_CS, fmi, TUTTI_CALL_##call, TUTTI_STATE_##state)
#define ALLOWED_ME(fmi, call, state) allowed(TUTTI_ME, fmi, TUTTI_CALL_##call, TUTTI_STATE_##state)

static void test_nothing_without_an_instance(void **state)
{
    (void)state;
    for (int kind = TUTTI_CS; kind <= TUTTI_ME; kind++)
        for (int fmi = 1; fmi <= 3; fmi++)
            for (int call = 0; call < TUTTI_CALL_COUNT; call++) {
                bool only = call == TUTTI_CALL_INSTANTIATE;
                assert_int_equal(allowed((enum tt_interface_kind)kind, fmi, call, TUTTI_STATE_NONE), only); /* I1 */
                assert_false(allowed((enum tt_interface_kind)kind, fmi, call, TUTTI_STATE_FATAL));          /* I2 */
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
    assert_int_equal(tt_fmi_state_after(TUTTI_CS, TUTTI_CALL_EXIT_INITIALIZATION, TUTTI_STATE_INITIALIZATION, true),
                     TUTTI_STATE_EVENT);
    assert_int_equal(tt_fmi_state_after(TUTTI_CS, TUTTI_CALL_EXIT_INITIALIZATION, TUTTI_STATE_INITIALIZATION, false),
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
    assert_int_equal(tt_fmi_state_after(TUTTI_CS, TUTTI_CALL_SET, TUTTI_STATE_STEP, false), TUTTI_STATE_STEP_SET);
    assert_int_equal(tt_fmi_state_after(TUTTI_CS, TUTTI_CALL_DO_STEP, TUTTI_STATE_STEP_SET, false), TUTTI_STATE_STEP);
    assert_int_equal(tt_fmi_state_after(TUTTI_CS, TUTTI_CALL_SET, TUTTI_STATE_INITIALIZATION, false),
                     TUTTI_STATE_INITIALIZATION);
}

static void test_event_mode(void **state)
{
    (void)state;
    for (int fmi = 1; fmi <= 2; fmi++) /* I8: missing before 3.0 */
        for (int s = 0; s < TUTTI_STATE_COUNT; s++)
            assert_false(allowed(TUTTI_CS, fmi, TUTTI_CALL_ENTER_EVENT, s));
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
    assert_int_equal(tt_fmi_state_after(TUTTI_CS, TUTTI_CALL_ENTER_CONFIGURATION, TUTTI_STATE_STEP, false),
                     TUTTI_STATE_RECONFIGURATION);
    assert_int_equal(tt_fmi_state_after(TUTTI_CS, TUTTI_CALL_EXIT_CONFIGURATION, TUTTI_STATE_RECONFIGURATION, false),
                     TUTTI_STATE_STEP);
    assert_int_equal(tt_fmi_state_after(TUTTI_CS, TUTTI_CALL_EXIT_CONFIGURATION, TUTTI_STATE_CONFIGURATION, false),
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
        bool only = call == TUTTI_CALL_GET || call == TUTTI_CALL_SET || call == TUTTI_CALL_GET_OUTPUT_DERIVATIVES;
        assert_int_equal(allowed(TUTTI_CS, 3, call, TUTTI_STATE_INTERMEDIATE), only);
    }
}

/* No call of one interface is allowed in a state, or leads to one, that only the other has. */
static void test_interfaces_are_apart(void **state)
{
    (void)state;
    static const int only_me[] = {TUTTI_CALL_ENTER_CONTINUOUS, TUTTI_CALL_COUNT_STATES, TUTTI_CALL_SET_TIME,
                                  TUTTI_CALL_SET_STATES,       TUTTI_CALL_GET_STATES,   TUTTI_CALL_GET_DERIVATIVES,
                                  TUTTI_CALL_GET_INDICATORS,   TUTTI_CALL_GET_NOMINALS, TUTTI_CALL_GET_STATE_REFERENCES,
                                  TUTTI_CALL_COMPLETED_STEP};
    static const int only_cs[] = {TUTTI_CALL_DO_STEP, TUTTI_CALL_ENTER_STEP, TUTTI_CALL_SET_INPUT_DERIVATIVES,
                                  TUTTI_CALL_GET_OUTPUT_DERIVATIVES};
    for (int fmi = 1; fmi <= 3; fmi++)
        for (int s = 0; s < TUTTI_STATE_COUNT; s++) {
            for (size_t i = 0; i < sizeof only_me / sizeof *only_me; i++)
                assert_false(allowed(TUTTI_CS, fmi, only_me[i], s));
            for (size_t i = 0; i < sizeof only_cs / sizeof *only_cs; i++)
                assert_false(allowed(TUTTI_ME, fmi, only_cs[i], s));
            for (int call = 0; call < TUTTI_CALL_COUNT && fmi < 3; call++)
                assert_false(allowed(TUTTI_SE, fmi, call, s));
            for (size_t i = 0; i < sizeof only_me / sizeof *only_me; i++)
                assert_false(allowed(TUTTI_SE, fmi, only_me[i], s));
            for (size_t i = 0; i < sizeof only_cs / sizeof *only_cs; i++)
                assert_false(allowed(TUTTI_SE, fmi, only_cs[i], s));
        }
    for (int fmi = 1; fmi <= 3; fmi++)
        for (int call = 0; call < TUTTI_CALL_COUNT; call++)
            for (int s = TUTTI_STATE_NONE; s < TUTTI_STATE_COUNT; s++) {
                enum tt_fmi_state after =
                    tt_fmi_state_after(TUTTI_ME, (enum tt_fmi_call)call, (enum tt_fmi_state)s, true);
                bool changes = allowed(TUTTI_ME, fmi, call, s) && after != (enum tt_fmi_state)s;
                assert_false(changes && (after == TUTTI_STATE_STEP || after == TUTTI_STATE_STEP_SET));
            }
}

static void test_exchange_after_error(void **state)
{
    (void)state;
    for (int fmi = 1; fmi <= 3; fmi++) { /* I3: FMI 1.0 has nothing but free */
        for (int call = 0; call < TUTTI_CALL_COUNT; call++)
            if (fmi == 1 && call != TUTTI_CALL_FREE && call != TUTTI_CALL_SET_DEBUG_LOGGING)
                assert_false(allowed(TUTTI_ME, fmi, call, TUTTI_STATE_ERROR));
        assert_true(ALLOWED_ME(fmi, FREE, ERROR));
        assert_false(ALLOWED_ME(fmi, SET, ERROR));
        assert_false(ALLOWED_ME(fmi, SET_TIME, ERROR));
        assert_false(ALLOWED_ME(fmi, TERMINATE, ERROR));
        assert_int_equal(ALLOWED_ME(fmi, GET, ERROR), fmi > 1);
        assert_int_equal(ALLOWED_ME(fmi, SET_STATE, ERROR), fmi > 1);
        assert_int_equal(ALLOWED_ME(fmi, RESET, ERROR), fmi > 1);
    }
}

/* The mode after a call, in Model Exchange. */
static enum tt_fmi_state mode_after(enum tt_fmi_call call, enum tt_fmi_state state)
{
    return tt_fmi_state_after(TUTTI_ME, call, state, true);
}

static void test_exchange_modes(void **state)
{
    (void)state;
    for (int fmi = 1; fmi <= 3; fmi++) { /* I13 */
        assert_true(ALLOWED_ME(fmi, ENTER_INITIALIZATION, INSTANTIATED));
        assert_false(ALLOWED_ME(fmi, ENTER_INITIALIZATION, EVENT));
        assert_int_equal(ALLOWED_ME(fmi, GET, INITIALIZATION), fmi > 1); /* I5 */
        assert_true(ALLOWED_ME(fmi, UPDATE_DISCRETE, EVENT));
        assert_false(ALLOWED_ME(fmi, UPDATE_DISCRETE, CONTINUOUS));
        assert_true(ALLOWED_ME(fmi, ENTER_CONTINUOUS, EVENT));
        assert_false(ALLOWED_ME(fmi, ENTER_CONTINUOUS, CONTINUOUS));
        assert_true(ALLOWED_ME(fmi, ENTER_EVENT, CONTINUOUS));
        assert_int_equal(ALLOWED_ME(fmi, ENTER_EVENT, EVENT), fmi == 2);
        assert_false(ALLOWED_ME(fmi, ENTER_EVENT, INITIALIZATION));
        assert_true(ALLOWED_ME(fmi, TERMINATE, EVENT));
        assert_true(ALLOWED_ME(fmi, TERMINATE, CONTINUOUS));
        assert_false(ALLOWED_ME(fmi, TERMINATE, INITIALIZATION));
        assert_true(ALLOWED_ME(fmi, GET, TERMINATED)); /* I12 */
        assert_false(ALLOWED_ME(fmi, SET, TERMINATED));
    }
    assert_int_equal(mode_after(TUTTI_CALL_EXIT_INITIALIZATION, TUTTI_STATE_INITIALIZATION), TUTTI_STATE_EVENT);
    assert_int_equal(tt_fmi_state_after(TUTTI_ME, TUTTI_CALL_EXIT_INITIALIZATION, TUTTI_STATE_INITIALIZATION, false),
                     TUTTI_STATE_EVENT);
    assert_int_equal(mode_after(TUTTI_CALL_UPDATE_DISCRETE, TUTTI_STATE_EVENT), TUTTI_STATE_EVENT);
    assert_int_equal(mode_after(TUTTI_CALL_ENTER_CONTINUOUS, TUTTI_STATE_EVENT), TUTTI_STATE_CONTINUOUS);
    assert_int_equal(mode_after(TUTTI_CALL_ENTER_EVENT, TUTTI_STATE_CONTINUOUS), TUTTI_STATE_EVENT);
    assert_int_equal(mode_after(TUTTI_CALL_TERMINATE, TUTTI_STATE_CONTINUOUS), TUTTI_STATE_TERMINATED);
}

static void test_continuous_time(void **state)
{
    (void)state;
    for (int fmi = 1; fmi <= 3; fmi++) { /* I14 */
        for (int s = 0; s < TUTTI_STATE_COUNT; s++) {
            assert_int_equal(allowed(TUTTI_ME, fmi, TUTTI_CALL_SET_TIME, s), s == TUTTI_STATE_CONTINUOUS);
            assert_int_equal(allowed(TUTTI_ME, fmi, TUTTI_CALL_SET_STATES, s), s == TUTTI_STATE_CONTINUOUS);
            assert_int_equal(allowed(TUTTI_ME, fmi, TUTTI_CALL_COMPLETED_STEP, s), s == TUTTI_STATE_CONTINUOUS);
        }
        assert_true(ALLOWED_ME(fmi, SET, CONTINUOUS));
        assert_true(ALLOWED_ME(fmi, GET, CONTINUOUS));
        assert_true(ALLOWED_ME(fmi, GET_DERIVATIVES, CONTINUOUS));
        assert_true(ALLOWED_ME(fmi, GET_INDICATORS, EVENT));
        assert_true(ALLOWED_ME(fmi, GET_STATES, EVENT));
        assert_false(ALLOWED_ME(fmi, GET_STATES, INSTANTIATED));
        assert_int_equal(ALLOWED_ME(fmi, GET_NOMINALS, INSTANTIATED), fmi == 2);
        assert_int_equal(ALLOWED_ME(fmi, GET_DERIVATIVES, INITIALIZATION), fmi > 1);
        assert_int_equal(ALLOWED_ME(fmi, GET_DIRECTIONAL, INITIALIZATION), fmi > 1);
        assert_int_equal(ALLOWED_ME(fmi, GET_DIRECTIONAL, EVENT), fmi > 1);
        assert_int_equal(ALLOWED_ME(fmi, GET_DIRECTIONAL, CONTINUOUS), fmi > 1);
        assert_false(ALLOWED_ME(fmi, GET_DIRECTIONAL, INSTANTIATED));
        assert_int_equal(ALLOWED_ME(fmi, GET_STATE, CONTINUOUS), fmi > 1);
        assert_int_equal(ALLOWED_ME(fmi, SET_STATE, EVENT), fmi > 1);
        assert_int_equal(ALLOWED_ME(fmi, GET_STATE_REFERENCES, EVENT), fmi == 1);
    }
    assert_int_equal(mode_after(TUTTI_CALL_SET, TUTTI_STATE_CONTINUOUS), TUTTI_STATE_CONTINUOUS);
}

static void test_exchange_configuration(void **state)
{
    (void)state;
    for (int s = 0; s < TUTTI_STATE_COUNT; s++) { /* I15 */
        bool can = s == TUTTI_STATE_INSTANTIATED || s == TUTTI_STATE_EVENT;
        assert_int_equal(allowed(TUTTI_ME, 3, TUTTI_CALL_ENTER_CONFIGURATION, s), can);
        for (int fmi = 1; fmi <= 3; fmi++)
            assert_int_equal(allowed(TUTTI_ME, fmi, TUTTI_CALL_COUNT_STATES, s), can);
    }
    assert_int_equal(mode_after(TUTTI_CALL_ENTER_CONFIGURATION, TUTTI_STATE_EVENT), TUTTI_STATE_RECONFIGURATION);
    assert_int_equal(mode_after(TUTTI_CALL_EXIT_CONFIGURATION, TUTTI_STATE_RECONFIGURATION), TUTTI_STATE_EVENT);
    assert_int_equal(mode_after(TUTTI_CALL_EXIT_CONFIGURATION, TUTTI_STATE_CONFIGURATION), TUTTI_STATE_INSTANTIATED);
}

static void test_clocks(void **state)
{
    (void)state;
    for (int kind = TUTTI_CS; kind <= TUTTI_SE; kind++)
        for (int s = 0; s < TUTTI_STATE_COUNT; s++) { /* I16, I18, I19 */
            bool scheduled = kind == TUTTI_SE, event = s == TUTTI_STATE_EVENT && !scheduled;
            bool initial = s == TUTTI_STATE_INITIALIZATION, update = s == TUTTI_STATE_INTERMEDIATE && scheduled;
            bool between = scheduled && (s == TUTTI_STATE_STEP || s == TUTTI_STATE_STEP_SET);
            enum tt_interface_kind of = (enum tt_interface_kind)kind;
            assert_int_equal(allowed(of, 3, TUTTI_CALL_SET_CLOCKS, s), event);
            assert_int_equal(allowed(of, 3, TUTTI_CALL_GET_CLOCKS, s), event || update);
            assert_int_equal(allowed(of, 3, TUTTI_CALL_GET_INTERVAL, s), event || initial || between || update);
            assert_int_equal(allowed(of, 3, TUTTI_CALL_SET_INTERVAL, s), event || initial || between);
            assert_int_equal(allowed(of, 3, TUTTI_CALL_GET_SHIFT, s), initial);
            assert_int_equal(allowed(of, 3, TUTTI_CALL_ACTIVATE, s), between);
            for (int fmi = 1; fmi <= 2; fmi++)
                assert_false(allowed(of, fmi, TUTTI_CALL_SET_CLOCKS, s));
        }
    assert_false(allowed(TUTTI_SE, 3, TUTTI_CALL_GET, TUTTI_STATE_STEP_SET));
    assert_int_equal(tt_fmi_state_after(TUTTI_SE, TUTTI_CALL_ACTIVATE, TUTTI_STATE_STEP_SET, false), TUTTI_STATE_STEP);
    assert_string_equal(tt_fmi_state_name(TUTTI_SE, TUTTI_STATE_STEP), "clock activation mode");
    assert_string_equal(tt_fmi_state_name(TUTTI_SE, TUTTI_STATE_INTERMEDIATE), "clock update mode");
}

static void test_names(void **state)
{
    (void)state;
    for (int s = 0; s < TUTTI_STATE_COUNT; s++)
        assert_true(strlen(tt_fmi_state_name(TUTTI_CS, (enum tt_fmi_state)s)) > 0);
    for (int call = 0; call < TUTTI_CALL_COUNT; call++)
        assert_true(strlen(tt_fmi_state_call_name((enum tt_fmi_call)call)) > 0);
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
        cmocka_unit_test(test_interfaces_are_apart),
        cmocka_unit_test(test_exchange_after_error),
        cmocka_unit_test(test_exchange_modes),
        cmocka_unit_test(test_continuous_time),
        cmocka_unit_test(test_exchange_configuration),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
