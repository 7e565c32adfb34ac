/* SPDX-License-Identifier: MIT */
/* Model Exchange in FMI 1.0, 2.0 and 3.0: a small solver finds the events where they belong, with the same code for
 * each version. What only one version has is tested below. */
#include "exchange.h"

/* ---- the same in all versions ---- */

static const char *const balls[] = {LIB_BouncingBall_fmi1me, LIB_BouncingBall_fmi2, LIB_BouncingBall_fmi3};
static const char *const stairs[] = {LIB_Stair_fmi1me, LIB_Stair_fmi2, LIB_Stair_fmi3};
static const char *const scaled[] = {LIB_Scaled_fmi1me, LIB_Scaled_fmi2, LIB_Scaled_fmi3};
enum { X = 1, DER_X = 2, U = 3, Y = 4 }; /* of Scaled */
static const char *const heaters[] = {LIB_Heater_fmi1me, LIB_Heater_fmi2, LIB_Heater_fmi3};

/* RK4 is exact on parabolas: all that is left is rounding. */
static void the_ball_bounces_on_time(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        open_model(version, balls[version - 1], "BouncingBall", 2, 1);
        simulate(3, 0.03);
        assert_int_equal(seen.count, 11);
        double t = sqrt(2 / 9.81), v = sqrt(2 * 9.81);
        for (int i = 0; i < seen.count; i++) {
            assert_near(seen.time[i], t, 1e-12);
            assert_true(seen.states_changed[i]);
            v *= 0.7;
            t += 2 * v / 9.81;
        }
        assert_int_equal(get_integer(8), 11);
        assert_true(seen.x[1] == 0 && get(1) == seen.x[0]); /* at the equilibrium */
        close_model();
    }
}

static void the_stair_counts_on_time(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        open_model(version, stairs[version - 1], "Stair", 0, 0);
        simulate(12, 0.3);
        assert_int_equal(seen.count, 10);
        for (int i = 0; i < seen.count; i++)
            assert_true(seen.time[i] == i + 1 && !seen.states_changed[i]);
        assert_true(seen.end == 10);
        assert_int_equal(get_integer(1), 10);
        close_model();
    }
}

/* Heating T -> 313.15 K and cooling T -> 273.15 K with R C = 2000 s, between 293.65 and 294.65 K. */
static void the_heater_switches_on_time(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        open_model(version, heaters[version - 1], "Heater", 1, 1);
        simulate(3600, 7);
        assert_true(seen.count > 10);
        double t = 0, from = 293.15;
        for (int i = 0; i < seen.count; i++) {
            double end = i % 2 == 0 ? 313.15 : 273.15, to = i % 2 == 0 ? 294.65 : 293.65;
            t += 2000 * log((from - end) / (to - end));
            from = to;
            assert_near(seen.time[i], t, 1e-8);
            assert_false(seen.states_changed[i]);
        }
        double nominal;
        get_nominals(&nominal);
        assert_near(nominal, 300, 0);
        close_model();
    }
}

/* x = exp(t) passes 10 and 100 between two steps; the first completed step after that asks for the event. */
static void a_step_event_changes_the_nominal_value(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        double nominal;
        open_model(version, scaled[version - 1], "Scaled", 1, 0);
        simulate(5, 0.01);
        assert_int_equal(seen.count, 2);
        for (int i = 0; i < seen.count; i++) {
            assert_near(seen.time[i], (i + 1) * log(10) + 0.005, 0.005);
            assert_true(seen.by_step[i] && !seen.states_changed[i]);
            assert_true(version == 1 || seen.nominals_changed[i]); /* FMI 1.0 does not report it */
        }
        assert_near(seen.x[0], exp(5), 1e-6);
        assert_int_equal(get_integer(5), 2);
        get_nominals(&nominal);
        assert_near(nominal, 1000, 0);
        close_model();
    }
}

static void what_is_set_counts_at_once(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        double dx, x;
        open_model(version, scaled[version - 1], "Scaled", 1, 0);
        assert_true(initialise(0) == INFINITY);
        for (int i = 1; i <= 3; i++) {
            x = i;
            set_time(i * 0.1);
            set_states(&x);
            get_derivatives(&dx);
            assert_near(dx, x + get(U), 0);
            set(U, 10 * i);
            get_derivatives(&dx);
            assert_near(dx, x + 10 * i, 0);
            assert_near(get(Y), x - 10 * i, 0);
        }
        set_time(0); /* back, as no event was between */
        close_model();
    }
}

/* ---- rules of one version ---- */

static void time_does_not_pass_events_and_the_end(void **state)
{
    (void)state;
    struct fmi2 *f2 = &me.f2;
    open_model(2, LIB_Scaled_fmi2, "Scaled", 1, 0);
    initialise(1);
    set_time(2);
    handle();
    set_time(2.5);
    set_time(2);
    assert_refused(f2->fmi2SetTime(me.c, 1.5), "last event");
    assert_int_equal(f2->fmi2Reset(me.c), fmi2OK);
    initialise(1);
    assert_refused(f2->fmi2SetTime(me.c, 0.5), "last event");
    assert_int_equal(f2->fmi2Reset(me.c), fmi2OK);
    assert_int_equal(f2->fmi2SetupExperiment(me.c, fmi2False, 0, 0, fmi2True, 3), fmi2OK);
    assert_int_equal(f2->fmi2EnterInitializationMode(me.c), fmi2OK);
    assert_int_equal(f2->fmi2ExitInitializationMode(me.c), fmi2OK);
    iterate();
    set_time(3);
    assert_refused(f2->fmi2SetTime(me.c, 3.001), "stop time");
    close_model();
}

/* States are variables too: FMI 2.0 sets them in continuous-time mode, FMI 3.0 also in event mode. */
static void states_can_be_set_one_by_one(void **state)
{
    (void)state;
    const unsigned x = X;
    double value = 5;
    for (int version = 2; version <= 3; version++) {
        open_model(version, scaled[version - 1], "Scaled", 1, 0);
        initialise(0);
        set(X, 3);
        get_states(&value);
        assert_near(value, 3, 0);
        CALL(fmiTerminate(me.c), fmi2EnterEventMode(me.c), fmi3EnterEventMode(me.c));
        if (version == 2)
            assert_refused(me.f2.fmi2SetReal(me.c, &x, 1, &value), "must not be set");
        else
            set(X, 4);
        close_model();
    }
    open_model(3, LIB_BouncingBall_fmi3, "BouncingBall", 2, 1); /* its states have reinit */
    initialise(0);
    set(X, 3);
    assert_int_equal(me.f3.fmi3EnterEventMode(me.c), fmi3OK);
    assert_refused(me.f3.fmi3SetFloat64(me.c, &x, 1, &value, 1), "must not be set");
    close_model();
}

static void check_directional(void)
{
    const unsigned unknowns[] = {DER_X, Y}, knowns[] = {X, U};
    double sensitivity[2];
    CALL(fmiTerminate(me.c), fmi2GetDirectionalDerivative(me.c, unknowns, 2, knowns, 2, (double[]){2, 5}, sensitivity),
         fmi3GetDirectionalDerivative(me.c, unknowns, 2, knowns, 2, (double[]){2, 5}, 2, sensitivity, 2));
    assert_true(sensitivity[0] == 7 && sensitivity[1] == -3);
}

static void directional_derivatives_exist_in_all_modes(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        open_model(version, scaled[version - 1], "Scaled", 1, 0);
        if (version == 2)
            assert_int_equal(me.f2.fmi2SetupExperiment(me.c, fmi2False, 0, 0, fmi2False, 0), fmi2OK);
        CALL(fmiTerminate(me.c), fmi2EnterInitializationMode(me.c),
             fmi3EnterInitializationMode(me.c, false, 0, 0, false, 0));
        check_directional();
        CALL(fmiTerminate(me.c), fmi2ExitInitializationMode(me.c), fmi3ExitInitializationMode(me.c));
        check_directional();
        iterate();
        check_directional();
        CALL(fmiTerminate(me.c), fmi2Terminate(me.c), fmi3Terminate(me.c));
        check_directional();
        close_model();
    }
}

static void saved_states_hold_nominal_and_mode(void **state)
{
    (void)state;
    fmi3FMUState saved = NULL;
    double nominal, x = 50;
    open_model(3, LIB_Scaled_fmi3, "Scaled", 1, 0);
    initialise(0);
    set_states(&x);
    assert_true(completed());
    handle();
    set_time(1);
    assert_int_equal(me.f3.fmi3GetFMUState(me.c, &saved), fmi3OK);
    assert_int_equal(me.f3.fmi3Reset(me.c), fmi3OK);
    initialise(2);
    get_nominals(&nominal);
    assert_near(nominal, 10, 0);
    assert_int_equal(me.f3.fmi3SetFMUState(me.c, saved), fmi3OK);
    get_nominals(&nominal);
    assert_near(nominal, 100, 0);
    set_time(0.5); /* the last event is again the one at t = 0 */
    get_states(&x);
    assert_near(x, 50, 0);
    assert_int_equal(me.f3.fmi3FreeFMUState(me.c, &saved), fmi3OK);
    close_model();
}

/* The instance survives a size for which memory is insufficient: it is in its initial state. */
static void too_large_arrays_are_refused(void **state)
{
    (void)state;
    const unsigned size = 6, extra = 7;
    const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX / 16, UINT64_C(1) << 56};
    double values[2] = {0};
    uint64_t now = 0;
    open_model(3, LIB_Scaled_fmi3, "Scaled", 1, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(me.f3.fmi3EnterConfigurationMode(me.c), fmi3OK);
        assert_int_equal(me.f3.fmi3SetUInt64(me.c, &size, 1, &sizes[i], 1), fmi3OK);
        assert_refused(me.f3.fmi3ExitConfigurationMode(me.c), "no memory for array extra");
        assert_int_equal(me.f3.fmi3GetUInt64(me.c, &size, 1, &now, 1), fmi3OK);
        assert_int_equal(me.f3.fmi3GetFloat64(me.c, &extra, 1, values, 2), fmi3OK);
        assert_true(now == 2 && values[0] == 7 && values[1] == 7);
        assert_int_equal(me.f3.fmi3Reset(me.c), fmi3OK);
    }
    close_model();
}

/* A point that cannot be computed does no harm: the solver tries another one. */
static void a_discarded_point_does_no_harm(void **state)
{
    (void)state;
    double x = -1, dx;
    open_model(2, LIB_Sink_fmi2, "Sink", 1, 1);
    assert_true(initialise(0) == 1);
    set_states(&x);
    assert_int_equal(me.f2.fmi2GetDerivatives(me.c, &dx, 1), fmi2Discard);
    x = 1;
    set_states(&x);
    get_derivatives(&dx);
    assert_near(dx, -1, 0);
    close_model();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ball_bounces_on_time),
        cmocka_unit_test(the_stair_counts_on_time),
        cmocka_unit_test(the_heater_switches_on_time),
        cmocka_unit_test(a_step_event_changes_the_nominal_value),
        cmocka_unit_test(what_is_set_counts_at_once),
        cmocka_unit_test(time_does_not_pass_events_and_the_end),
        cmocka_unit_test(states_can_be_set_one_by_one),
        cmocka_unit_test(directional_derivatives_exist_in_all_modes),
        cmocka_unit_test(saved_states_hold_nominal_and_mode),
        cmocka_unit_test(too_large_arrays_are_refused),
        cmocka_unit_test(a_discarded_point_does_no_harm),
    };
    return cmocka_run_group_tests_name("kit: Model Exchange", tests, NULL, NULL);
}
