/* SPDX-License-Identifier: MIT */
/* What every FMI binding must do in Model Exchange, run on the kit's FMUs of one version. TEST_FMUS is the folder of the
 * kit's own tests' FMUs. */
#include "test.h"

#include <float.h>

#include "binding_me.h"

static void test_life(void **state)
{
    (void)state;
    struct live live;
    double x[1], nominal[1];
    size_t states, indicators;
    me_load(&live, "Dahlquist");
    assert_int_equal(live.fmu->desc->fmi, fmi);
    assert_true(tt_instance_uses_events(live.in));
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_INSTANTIATED);
    assert_ok(tt_instance_count_states(live.in, &states, &indicators));
    assert_int_equal(states, 1);
    assert_int_equal(indicators, 0);
    me_initialise(&live, 0, 1);
    struct tt_discrete_update discrete = iterate(&live);
    assert_false(discrete.terminate || discrete.has_next_event);
    assert_ok(tt_instance_get_states(live.in, x, 1));
    assert_same_double(x[0], 1);
    assert_ok(tt_instance_get_nominals(live.in, nominal, 1));
    assert_same_double(nominal[0], 1);
    for (int n = 0; n < 1000; n++)
        step(&live, n * 1e-3, 1e-3, x, 1);
    assert_near(get_real(&live, "x"), exp(-1), 1e-10);
    assert_int_equal(tt_instance_warnings(live.in), 0);
    assert_ok(tt_instance_terminate(live.in));
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_TERMINATED);
    assert_near(get_real(&live, "x"), exp(-1), 1e-10);
    assert_int_equal(live.messages.count, 0);
    live_end(&live);
}

/* Calls that belong to continuous-time mode are refused elsewhere. */
static void check_no_continuous_calls(struct live *live, const char *where)
{
    double x[1] = {0};
    bool discarded = false, event, terminate;
    assert_fails(tt_instance_set_time(live->in, 0.5, &discarded), TUTTI_ERR_STATE, where);
    assert_fails(tt_instance_set_states(live->in, x, 1, &discarded), TUTTI_ERR_STATE, where);
    assert_fails(tt_instance_completed_step(live->in, true, &event, &terminate), TUTTI_ERR_STATE, where);
    assert_false(discarded);
}

/* Forbidden calls never reach the FMU: the instance continues unaffected. */
static void test_forbidden_calls(void **state)
{
    (void)state;
    struct live live;
    struct tt_discrete_update discrete;
    struct tt_fmi_step made;
    double x[1];
    bool discarded = false;
    size_t states, indicators;
    me_load(&live, "Tracker");
    check_no_continuous_calls(&live, "in the state \"instantiated\"");
    assert_fails(tt_instance_get_states(live.in, x, 1), TUTTI_ERR_STATE, "get the continuous states");
    assert_fails(tt_instance_get_derivatives(live.in, x, 1, &discarded), TUTTI_ERR_STATE, "get derivatives");
    assert_fails(tt_instance_update_discrete(live.in, &discrete), TUTTI_ERR_STATE, "update discrete states");
    assert_fails(tt_instance_enter_continuous(live.in), TUTTI_ERR_STATE, "enter continuous-time mode");
    assert_fails(tt_instance_enter_event(live.in), TUTTI_ERR_STATE, "enter event mode");
    assert_fails(tt_instance_terminate(live.in), TUTTI_ERR_STATE, "terminate");
    me_initialise(&live, 0, 10);
    check_no_continuous_calls(&live, "in the state \"event mode\"");
    assert_fails(tt_instance_do_step(live.in, 0, 0.1, true, &made, NULL), TUTTI_ERR_STATE, "do a step");
    assert_fails(tt_instance_enter_step(live.in), TUTTI_ERR_STATE, "enter step mode");
    iterate(&live);
    assert_fails(tt_instance_update_discrete(live.in, &discrete), TUTTI_ERR_STATE, "\"continuous-time mode\"");
    assert_fails(tt_instance_enter_continuous(live.in), TUTTI_ERR_STATE, "\"continuous-time mode\"");
    assert_fails(tt_instance_count_states(live.in, &states, &indicators), TUTTI_ERR_STATE, "count");
    assert_fails(tt_instance_do_step(live.in, 0, 0.1, true, &made, NULL), TUTTI_ERR_STATE, "do a step");
    struct tt_experiment_setup setup = {0};
    assert_fails(tt_instance_enter_initialization(live.in, &setup), TUTTI_ERR_STATE, "");
    assert_ok(tt_instance_get_states(live.in, x, 1));
    step(&live, 0, 0.1, x, 1);
    assert_ok(tt_instance_terminate(live.in));
    check_no_continuous_calls(&live, "in the state \"terminated\"");
    assert_int_equal(live.messages.count, 0); /* the kit complains about every forbidden call that it sees */
    live_end(&live);
}

/* In continuous-time mode what was set counts at once. */
static void test_set_then_get(void **state)
{
    (void)state;
    struct live live;
    double x[] = {0.25}, dx[1];
    me_start(&live, "Tracker");
    assert_ok(set_real(&live, "u", 1));
    slope(&live, 0.5, x, dx, 1);
    assert_near(dx[0], (1 - 0.25) / 0.5, 1e-15);
    assert_near(get_real(&live, "error"), 0.75, 1e-15);
    assert_ok(set_real(&live, "u", 2));
    assert_near(get_real(&live, "error"), 1.75, 1e-15);
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_CONTINUOUS);
    live_end(&live);
}

/* Time events from a start time that is not 0, and a model that ends itself. It has no states at all. */
static void test_time_events(void **state)
{
    (void)state;
    struct live live;
    size_t states = 1, indicators = 1;
    bool discarded = false;
    me_load(&live, "Stair");
    assert_ok(tt_instance_count_states(live.in, &states, &indicators));
    assert_int_equal(states, 0);
    assert_int_equal(indicators, 0);
    me_initialise(&live, 2.5, 100);
    struct tt_discrete_update discrete = iterate(&live);
    assert_ok(tt_instance_get_states(live.in, NULL, 0));
    assert_ok(tt_instance_get_nominals(live.in, NULL, 0));
    for (int count = 1; count <= 10; count++) {
        assert_true(discrete.has_next_event && !discrete.terminate && !discrete.states_changed);
        assert_same_double(discrete.next_event, count + 2);
        place(&live, discrete.next_event, NULL, 0);
        assert_ok(tt_instance_get_derivatives(live.in, NULL, 0, &discarded));
        assert_ok(tt_instance_get_indicators(live.in, NULL, 0, &discarded));
        assert_ok(tt_instance_enter_event(live.in));
        discrete = iterate(&live);
        uint32_t counter = reference_of(&live, "counter");
        int32_t value = -1;
        assert_ok(tt_instance_get(live.in, TUTTI_TYPE_INT32, &counter, 1, &value, 1));
        assert_int_equal(value, count);
    }
    assert_true(discrete.terminate);
    assert_false(discarded);
    assert_ok(tt_instance_terminate(live.in));
    assert_int_equal(live.messages.count, 0);
    live_end(&live);
}

/* From rest at h = 1 the ball hits the floor at sqrt(2 / g) and loses 0.3 of its speed. */
static void test_state_event(void **state)
{
    (void)state;
    struct live live;
    double z[1], x[2], dx[2], t = sqrt(2 / 9.81), floor[] = {0, -9.81 * t};
    size_t states, indicators;
    bool discarded = false, event, terminate;
    me_load(&live, "BouncingBall");
    assert_ok(tt_instance_count_states(live.in, &states, &indicators));
    assert_int_equal(states, 2);
    assert_int_equal(indicators, 1);
    me_initialise(&live, 0, 3);
    assert_false(iterate(&live).states_changed);
    assert_ok(tt_instance_get_indicators(live.in, z, 1, &discarded));
    assert_true(z[0] > 0);
    slope(&live, t, floor, dx, 2);
    assert_same_double(dx[0], floor[1]);
    assert_near(dx[1], -9.81, 1e-15);
    assert_ok(tt_instance_get_indicators(live.in, z, 1, &discarded));
    assert_true(z[0] <= 0);
    assert_ok(tt_instance_completed_step(live.in, true, &event, &terminate));
    assert_ok(tt_instance_enter_event(live.in));
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_EVENT);
    struct tt_discrete_update discrete = iterate(&live);
    assert_true(discrete.states_changed && !discrete.has_next_event && !discrete.terminate);
    assert_ok(tt_instance_get_states(live.in, x, 2));
    assert_near(x[0], 0, DBL_EPSILON);
    assert_near(x[1], 0.7 * 9.81 * t, 1e-14);
    assert_ok(tt_instance_get_indicators(live.in, z, 1, &discarded));
    assert_true(z[0] > 0);
    assert_false(discarded);
    live_end(&live);
}

/* A step event, which takes two rounds, and brings another nominal value (FMI 1.0 cannot say so). */
static void test_step_event(void **state)
{
    (void)state;
    struct live live;
    double nominal[1], x[] = {20};
    bool event = false, terminate = true;
    live_load_for(&live, TUTTI_ME, TEST_FMUS, "Scaled", VERSION);
    assert_ok(live_instantiate(&live));
    me_initialise(&live, 0, 100);
    iterate(&live);
    assert_ok(tt_instance_get_nominals(live.in, nominal, 1));
    assert_same_double(nominal[0], 10);
    place(&live, 3, x, 1);
    assert_ok(tt_instance_completed_step(live.in, true, &event, &terminate));
    assert_true(event && !terminate);
    assert_ok(tt_instance_enter_event(live.in));
    struct tt_discrete_update discrete;
    assert_ok(tt_instance_update_discrete(live.in, &discrete));
    assert_int_equal(discrete.again, fmi > 1);
    assert_int_equal(discrete.nominals_changed, fmi > 1);
    assert_false(iterate(&live).nominals_changed);
    assert_ok(tt_instance_get_nominals(live.in, nominal, 1));
    assert_same_double(nominal[0], 100);
    assert_ok(tt_instance_completed_step(live.in, true, &event, &terminate));
    assert_false(event || terminate);
    live_end(&live);
}

/* A discrete input belongs to event mode. */
static void test_discrete_input(void **state)
{
    (void)state;
    struct live live;
    me_load(&live, "Heater");
    uint32_t mode = reference_of(&live, "mode"), heating = reference_of(&live, "heating");
    me_initialise(&live, 0, 100);
    for (int64_t set = 3; set >= 1; set -= 2) { /* on, then off */
        bool on = set == 1;
        assert_ok(tt_instance_set(live.in, TUTTI_TYPE_ENUMERATION, &mode, 1, &set, 1));
        iterate(&live);
        assert_ok(tt_instance_get(live.in, TUTTI_TYPE_BOOLEAN, &heating, 1, &on, 1));
        assert_int_equal(on, set == 3);
        assert_ok(tt_instance_enter_event(live.in));
    }
    live_end(&live);
}

/* Results of the initialisation of FMI 1.0 are returned at once or not at all, and not after a later set. */
static void test_first_update(void **state)
{
    (void)state;
    enum { TAKEN, OUTDATED, SKIPPED, WAYS };
    if (fmi > 1)
        skip(); /* only there the initialisation itself gives event information */
    setenv("KIT_FAULT", "error EventUpdate", 1);
    for (int way = 0; way < WAYS; way++) {
        struct live live;
        struct tt_discrete_update discrete;
        me_load(&live, "Faulty");
        me_initialise(&live, 0, 100);
        if (way == TAKEN)
            assert_ok(tt_instance_update_discrete(live.in, &discrete));
        if (way == OUTDATED)
            assert_ok(set_real(&live, "u", 2));
        if (way != OUTDATED) {
            assert_ok(tt_instance_enter_continuous(live.in));
            assert_ok(tt_instance_enter_event(live.in));
        }
        assert_fails(tt_instance_update_discrete(live.in, &discrete), TUTTI_ERR_FMU, "fmiEventUpdate returned Error");
        live_end(&live);
    }
}

static void test_state_references(void **state)
{
    (void)state;
    struct live live;
    uint32_t references[2];
    me_start(&live, "VanDerPol");
    if (fmi == 1) {
        assert_ok(tt_instance_get_state_references(live.in, references, 2));
        assert_int_equal(references[0], reference_of(&live, "x0"));
        assert_int_equal(references[1], reference_of(&live, "x1"));
    } else {
        assert_fails(tt_instance_get_state_references(live.in, references, 2), TUTTI_ERR_STATE, "value references");
    }
    live_end(&live);
}

/* Back to a saved point, and on from there to the same bits; mode and time come back, too. */
static void test_saved_states(void **state)
{
    (void)state;
    struct live live;
    struct tt_saved_state saved = {0}, at_event = {0};
    double x[2], first[2], again[2];
    me_start(&live, "VanDerPol");
    if (fmi == 1 && !conformance_forked) {
        assert_fails(tt_saved_state_save(live.in, &saved), TUTTI_ERR_UNSUPPORTED, "saved states");
        live_end(&live);
        return;
    }
    assert_ok(tt_instance_get_states(live.in, x, 2));
    step(&live, 0, 0.5, x, 2);
    assert_ok(tt_saved_state_save(live.in, &saved));
    memcpy(first, x, sizeof x);
    step(&live, 0.5, 0.5, first, 2);
    assert_ok(tt_instance_enter_event(live.in));
    assert_ok(tt_saved_state_save(live.in, &at_event));
    assert_ok(tt_saved_state_restore(live.in, &saved));
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_CONTINUOUS);
    assert_same_double(tt_instance_time(live.in), 0.5);
    assert_ok(tt_instance_get_states(live.in, again, 2));
    assert_memory_equal(again, x, sizeof x);
    step(&live, 0.5, 0.5, again, 2);
    assert_memory_equal(again, first, sizeof first);
    assert_ok(tt_saved_state_restore(live.in, &saved));
    assert_ok(tt_saved_state_restore(live.in, &at_event));
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_EVENT);
    assert_same_double(tt_instance_time(live.in), 1);
    iterate(&live);
    assert_ok(tt_instance_get_states(live.in, again, 2));
    assert_memory_equal(again, first, sizeof first);
    tt_saved_state_discard(live.in, &saved);
    tt_saved_state_discard(live.in, &at_event);
    assert_int_equal(live.messages.count, 0);
    live_end(&live);
}

/* As bytes into another instance, but not into one for Co-Simulation. */
static void test_serialised_states(void **state)
{
    (void)state;
    struct live live;
    struct tt_saved_state saved = {0};
    double x[2], again[2];
    unsigned char *bytes;
    size_t size;
    if (fmi == 1 || conformance_forked)
        skip(); /* has no saved states; a process cannot be serialised */
    me_start(&live, "VanDerPol");
    assert_ok(tt_instance_get_states(live.in, x, 2));
    step(&live, 0, 0.5, x, 2);
    assert_ok(tt_saved_state_save(live.in, &saved));
    assert_ok(tt_saved_state_serialize(live.in, &saved, &bytes, &size));
    tt_saved_state_discard(live.in, &saved);
    tt_instance_free(live.in);
    assert_ok(live_instantiate(&live));
    assert_ok(tt_saved_state_deserialize(live.in, bytes, size, &saved));
    assert_ok(tt_saved_state_restore(live.in, &saved));
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_CONTINUOUS);
    assert_same_double(tt_instance_time(live.in), 0.5);
    assert_ok(tt_instance_get_states(live.in, again, 2));
    assert_memory_equal(again, x, sizeof x);
    tt_saved_state_discard(live.in, &saved);
    tt_instance_free(live.in);
    live.kind = TUTTI_CS;
    assert_ok(tt_fmu_load(live.fmu, TUTTI_CS, &live.log));
    assert_ok(live_instantiate(&live));
    assert_fails(tt_saved_state_deserialize(live.in, bytes, size, &saved), TUTTI_ERR_FORMAT, "for Co-Simulation");
    free(bytes);
    live_end(&live);
}

/* d der(x1) = (-2 mu x0 x1 - 1) dx0 + mu (1 - x0^2) dx1, in every mode that has equations. */
static void test_directional_derivatives(void **state)
{
    (void)state;
    struct live live;
    double seed[] = {1, 3}, sensitivity = 0, x[] = {0.5, 2};
    me_load(&live, "VanDerPol");
    uint32_t unknown = reference_of(&live, "der(x1)"),
             knowns[] = {reference_of(&live, "x0"), reference_of(&live, "x1")};
    if (fmi == 1) {
        me_initialise(&live, 0, 100);
        assert_fails(tt_instance_get_directional(live.in, &unknown, 1, knowns, 2, seed, 2, &sensitivity, 1),
                     TUTTI_ERR_UNSUPPORTED, "directional");
        live_end(&live);
        return;
    }
    assert_fails(tt_instance_get_directional(live.in, &unknown, 1, knowns, 2, seed, 2, &sensitivity, 1),
                 TUTTI_ERR_STATE, "instantiated");
    struct tt_experiment_setup setup = {.stop = 100};
    assert_ok(tt_instance_enter_initialization(live.in, &setup));
    assert_ok(tt_instance_get_directional(live.in, &unknown, 1, knowns, 2, seed, 2, &sensitivity, 1));
    assert_near(sensitivity, -1 - 3 * 3, 1e-14); /* x0 = 2, x1 = 0 */
    assert_ok(tt_instance_exit_initialization(live.in));
    sensitivity = 0;
    assert_ok(tt_instance_get_directional(live.in, &unknown, 1, knowns, 2, seed, 2, &sensitivity, 1));
    assert_near(sensitivity, -1 - 3 * 3, 1e-14);
    iterate(&live);
    place(&live, 0.5, x, 2);
    assert_ok(tt_instance_get_directional(live.in, &unknown, 1, knowns, 2, seed, 2, &sensitivity, 1));
    assert_near(sensitivity, -2 * 0.5 * 2 - 1 + 3 * 0.75, 1e-14);
    live_end(&live);
}

static void test_reset(void **state)
{
    (void)state;
    struct live live;
    double x[] = {0.5, 2};
    me_start(&live, "VanDerPol");
    place(&live, 0.5, x, 2);
    if (fmi == 1) { /* has no such function */
        assert_fails(tt_instance_reset(live.in), TUTTI_ERR_STATE, "reset");
    } else {
        assert_ok(tt_instance_reset(live.in));
        assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_INSTANTIATED);
        me_initialise(&live, 0, 100);
        iterate(&live);
        assert_ok(tt_instance_get_states(live.in, x, 2));
        assert_same_double(x[0], 2);
    }
    live_end(&live);
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 1, "VERSION");
    fmi = VERSION[0] - '0';
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_forbidden_calls),
        cmocka_unit_test(test_set_then_get),
        cmocka_unit_test(test_time_events),
        cmocka_unit_test(test_state_event),
        cmocka_unit_test(test_step_event),
        cmocka_unit_test(test_discrete_input),
        cmocka_unit_test_teardown(test_first_update, clear_faults),
        cmocka_unit_test(test_state_references),
        cmocka_unit_test(test_saved_states),
        cmocka_unit_test(test_serialised_states),
        cmocka_unit_test(test_directional_derivatives),
        cmocka_unit_test(test_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
