/* SPDX-License-Identifier: MIT */
/* Model Exchange as a unit: steps, inputs that move, a solver that is ahead. */
#include "test.h"

#include "exchange.h"

enum { ORDERS = 4 };

/* x(s) of x' = (u - x) / T, x(0) = x0, u = sum of derivatives[k] s^k / k!: a polynomial p with p' = (u - p) / T, and what
 * is left of the difference at the beginning. */
static double lag(double x0, const double derivatives[ORDERS], double T, double s)
{
    static const double factorials[ORDERS] = {1, 1, 2, 6};
    double p[ORDERS + 1] = {0}, value = 0;
    for (int k = ORDERS - 1; k >= 0; k--)
        p[k] = derivatives[k] / factorials[k] - T * (k + 1) * p[k + 1];
    for (int k = ORDERS - 1; k >= 0; k--)
        value = value * s + p[k];
    return value + (x0 - p[0]) * exp(-s / T);
}

static double polynomial(const double derivatives[ORDERS], double s)
{
    return derivatives[0] + s * (derivatives[1] + s * (derivatives[2] / 2 + s * derivatives[3] / 6));
}

static void inputs_follow_polynomials(void **state)
{
    (void)state;
    static const double inputs[][ORDERS] = {{3}, {1, -2}, {-1, 0.5, 4}, {2, -1, 3, -12}, {0, 0, 0, 6}, {1}};
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++) {
            struct life life;
            start(&life, KIT "Tracker", versions[v], integration_of(solvers[s], 1e-9));
            double x = 0;
            for (int i = 0; i < 6; i++) {
                set_real(&life, "u", inputs[i][0]);
                for (int k = 1; k < ORDERS; k++)
                    if (inputs[i][k] != 0)
                        set_slope(&life, "u", k, inputs[i][k]);
                struct tt_fmi_step step = go(&life, life.t + 0.5);
                assert_false(step.event || step.terminate || step.early || step.discarded);
                x = lag(x, inputs[i], 0.5, 0.5);
                assert_near(get_real(&life, "y"), x, 1e-7);
                assert_near(get_real(&life, "error"), polynomial(inputs[i], 0.5) - x, 1e-7); /* u stands there, too */
            }
            unload(&life);
        }
}

static void slopes_are_kept_until_the_input_is_set(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        static const double falling[ORDERS] = {2, -1, 1}, still[ORDERS] = {5};
        start(&life, KIT "Tracker", versions[v], integration_of(NULL, 1e-9));
        set_real(&life, "u", 2);
        set_slope(&life, "u", 1, -1);
        set_slope(&life, "u", 2, 1);
        for (int i = 1; i <= 4; i++) {
            go(&life, i * 0.3);
            assert_near(get_real(&life, "y"), lag(0, falling, 0.5, life.t), 1e-7);
            assert_near(get_real(&life, "u"), polynomial(falling, life.t), 1e-14);
        }
        double x = get_real(&life, "y"), since = life.t;
        set_real(&life, "u", 5);
        for (int i = 5; i <= 7; i++) {
            go(&life, i * 0.3);
            assert_near(get_real(&life, "y"), lag(x, still, 0.5, life.t - since), 1e-7);
            assert_same_double(get_real(&life, "u"), 5);
        }
        unload(&life);
    }
}

/* Only the slope is new: the value continues from the end of the old one. */
static void a_slope_may_change_alone(void **state)
{
    (void)state;
    struct life life;
    static const double first[ORDERS] = {1, 2};
    start(&life, KIT "Tracker", "2", integration_of(NULL, 1e-9));
    set_real(&life, "u", 1);
    set_slope(&life, "u", 1, 2);
    go(&life, 0.75);
    double x = lag(0, first, 0.5, 0.75), second[ORDERS] = {2.5, -3};
    set_slope(&life, "u", 1, -3);
    assert_near(get_real(&life, "u"), 2.5, 1e-15);
    go(&life, 1.5);
    x = lag(x, second, 0.5, 0.75);
    assert_near(get_real(&life, "y"), x, 1e-7);
    double third[ORDERS] = {polynomial(second, 0.75)};
    set_slope(&life, "u", 1, 0);
    go(&life, 2);
    go(&life, 2.5);
    assert_near(get_real(&life, "u"), third[0], 1e-14);
    assert_near(get_real(&life, "y"), lag(x, third, 0.5, 1), 1e-7);
    unload(&life);
}

static struct tt_solver_counts hundred_steps(const char *solver, bool set)
{
    struct life life;
    start(&life, KIT "Tracker", "2", integration_of(solver, 1e-6));
    life.unit->horizon = 100;
    set_real(&life, "u", 1);
    for (int i = 1; i <= 100; i++) {
        go(&life, i * 0.02);
        if (set)
            set_real(&life, "u", 1);
    }
    struct tt_solver_counts counts = life.unit->counts.solver;
    unload(&life);
    return counts;
}

static void the_same_value_is_no_news(void **state)
{
    (void)state;
    for (int s = 0; s < SOLVER_COUNT; s++) {
        struct tt_solver_counts left = hundred_steps(solvers[s], false), set = hundred_steps(solvers[s], true);
        assert_memory_equal(&left, &set, sizeof left);
        assert_true(left.steps > 0 && left.rhs > 0 && left.restarts == 0);
    }
}

static void what_has_no_slope_is_refused(void **state)
{
    (void)state;
    struct life life;
    start(&life, KIT "Tracker", "3", integration_of(NULL, 1e-6));
    uint32_t input = reference(&life, "u"), output = reference(&life, "y");
    double value = 1;
    assert_fails(life.kind->set_input_derivatives(life.unit, &input, NULL, 1, &(int32_t){4}, &value),
                 TUTTI_ERR_ARGUMENT, "up to order 3, not 4");
    assert_fails(life.kind->set_input_derivatives(life.unit, &input, NULL, 1, &(int32_t){0}, &value),
                 TUTTI_ERR_ARGUMENT, "not 0");
    assert_fails(life.kind->set_input_derivatives(life.unit, &output, NULL, 1, &(int32_t){1}, &value),
                 TUTTI_ERR_ARGUMENT, "no continuous Real input");
    unload(&life);
}

static void steps_begin_where_the_unit_is(void **state)
{
    (void)state;
    struct life life;
    struct tt_fmi_step step;
    start(&life, KIT "Dahlquist", "2", integration_of(NULL, 1e-6));
    go(&life, 1);
    assert_fails(life.kind->step(life.unit, 0.5, 1, &step), TUTTI_ERR_STATE,
                 "a step from t = 0.5, but the unit is at 1");
    unload(&life);
}

/* Steps of one unit in the last place, between others: nothing is lost, nothing goes back. */
static void steps_may_be_as_short_as_time_allows(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++) {
            struct life life;
            start(&life, KIT "Tracker", versions[v], integration_of(solvers[s], 1e-6));
            set_real(&life, "u", 1);
            for (int i = 1; i <= 20; i++) {
                assert_near(go(&life, i * 0.05).reached, i * 0.05, 0);
                for (int k = 0; k < 3; k++) {
                    double end = nextafter(life.t, INFINITY);
                    assert_same_double(go(&life, end).reached, end);
                }
                assert_near(get_real(&life, "y"), 1 - exp(-life.t / 0.5), 1e-4);
            }
            unload(&life);
        }
}

static void a_step_goes_forwards(void **state)
{
    (void)state;
    struct life life;
    struct tt_fmi_step step;
    start(&life, KIT "Dahlquist", "2", integration_of(NULL, 1e-6));
    go(&life, 1);
    assert_fails(life.kind->step(life.unit, 1, 0, &step), TUTTI_ERR_ARGUMENT, "a step of 0 from t = 1");
    assert_fails(life.kind->step(life.unit, 1, -0.5, &step), TUTTI_ERR_ARGUMENT, "a step of -0.5");
    assert_fails(life.kind->step(life.unit, 1, (double)NAN, &step), TUTTI_ERR_ARGUMENT, "a step of nan");
    assert_fails(life.kind->step(life.unit, 1, (double)INFINITY, &step), TUTTI_ERR_ARGUMENT, "a step of inf");
    go(&life, 2);
    unload(&life);
}

/* Ten thousand short steps: with a horizon the solver makes its own, and the unit follows in its dense output. */
static unsigned long steps_with_horizon(const char *solver, double horizon, double worst_allowed)
{
    struct life life;
    static const double input[ORDERS] = {1, 0.5};
    double worst = 0;
    start(&life, KIT "Tracker", "3", integration_of(solver, 1e-6));
    life.unit->horizon = horizon;
    set_real(&life, "u", 1);
    set_slope(&life, "u", 1, 0.5);
    for (int i = 1; i <= 10000; i++) {
        double end = i * 0.001;
        assert_same_double(go(&life, end).reached, end);
        worst = fmax(worst, fabs(get_real(&life, "y") - lag(0, input, 0.5, end)));
        worst = fmax(worst, fabs(get_real(&life, "error") - (polynomial(input, end) - lag(0, input, 0.5, end))));
    }
    assert_true(worst <= worst_allowed);
    unsigned long steps = life.unit->counts.solver.steps;
    unload(&life);
    return steps;
}

static void a_solver_looks_ahead(void **state)
{
    (void)state;
    for (int s = 0; s < SOLVER_COUNT; s++) {
        unsigned long ahead = steps_with_horizon(solvers[s], 100, 1e-4);
        assert_true(steps_with_horizon(solvers[s], 0, 1e-4) >= 10000);
        if (solver_named(solvers[s])->fixed)
            assert_int_equal(ahead, 1000); /* its own step of 0.01 */
        else
            assert_true(ahead < 400);
    }
}

/* The solution after the unit's time was computed with inputs that did not come. */
static void inputs_change_while_the_solver_is_ahead(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++) {
            struct life life;
            double x = 0, input[ORDERS] = {0}, since = 0;
            start(&life, KIT "Tracker", versions[v], integration_of(solvers[s], 1e-7));
            life.unit->horizon = 100;
            for (int i = 1; i <= 400; i++) {
                double before = life.t;
                if (i % 37 == 1) {
                    x = lag(x, input, 0.5, before - since);
                    since = before;
                    input[0] = i % 2 ? i * 0.01 : -1;
                    input[1] = i % 3;
                    set_real(&life, "u", input[0]);
                    set_slope(&life, "u", 1, input[1]);
                }
                go(&life, i * 0.013);
                assert_near(get_real(&life, "y"), lag(x, input, 0.5, life.t - since), 2e-5);
            }
            unload(&life);
        }
}

static void a_model_without_states_steps(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        start(&life, KIT "Feedthrough", versions[v], integration_of(NULL, 1e-6));
        assert_same_double(go(&life, 0.5).reached, 0.5);
        assert_int_equal(life.unit->counts.solver.steps, 0);
        assert_int_equal(life.unit->counts.solver.rhs, 0);
        unload(&life);

        start(&life, OWN "Clockwork", versions[v], integration_of(NULL, 1e-6));
        set_real(&life, "u", 0.25);
        set_slope(&life, "u", 1, 1);
        assert_int_equal(go_through(&life, 0.5), 1); /* sin(t) leaves 0 at the very start */
        assert_near(get_real(&life, "y"), 0.25 + 0.75, 1e-15);
        unload(&life);
    }
}

/* A state that is 0, with a nominal value of 0: its error has a weight all the same. */
static void nominal_values_of_0_do_no_harm(void **state)
{
    (void)state;
    for (int s = 0; s < SOLVER_COUNT; s++) {
        struct life life;
        start(&life, OWN "Mixed", "3", integration_of(solvers[s], 1e-6));
        go(&life, 1);
        assert_near(get_real(&life, "x"), 0, 0);
        set_real(&life, "u", 2);
        go(&life, 2);
        assert_near(get_real(&life, "x"), 2, 1e-5);
        unload(&life);
    }
}

/* u = 0.5 + t, and the scalar is set in one call with an array. */
static void scalars_among_arrays_move(void **state)
{
    (void)state;
    struct life life;
    start(&life, OWN "Mixed", "3", integration_of(NULL, 1e-9));
    uint32_t inputs[] = {variable(&life, "w"), variable(&life, "u")};
    struct tt_signals signals;
    assert_ok(tt_unit_signals(life.unit, inputs, 2, &signals));
    assert_int_equal(signals.block_count, 1);
    ((double *)signals.slots[0])[0] = 1;
    ((double *)signals.slots[0])[1] = 2;
    *(double *)signals.slots[1] = 0.5;
    assert_ok(tt_unit_set(life.unit, &signals));
    set_slope(&life, "u", 1, 1);
    go(&life, 1);
    assert_near(get_real(&life, "u"), 1.5, 1e-15);
    assert_near(get_real(&life, "x"), 5 + 0.5 + 0.5, 1e-8);
    *(double *)signals.slots[1] = -6;
    assert_ok(tt_unit_set(life.unit, &signals));
    go(&life, 2);
    assert_same_double(get_real(&life, "u"), -6);
    assert_near(get_real(&life, "x"), 6 - 1, 1e-8);
    tt_signals_fini(&signals);
    unload(&life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_follow_polynomials),
        cmocka_unit_test(slopes_are_kept_until_the_input_is_set),
        cmocka_unit_test(a_slope_may_change_alone),
        cmocka_unit_test(the_same_value_is_no_news),
        cmocka_unit_test(what_has_no_slope_is_refused),
        cmocka_unit_test(steps_begin_where_the_unit_is),
        cmocka_unit_test(steps_may_be_as_short_as_time_allows),
        cmocka_unit_test(a_step_goes_forwards),
        cmocka_unit_test(a_solver_looks_ahead),
        cmocka_unit_test(inputs_change_while_the_solver_is_ahead),
        cmocka_unit_test(a_model_without_states_steps),
        cmocka_unit_test(nominal_values_of_0_do_no_harm),
        cmocka_unit_test(scalars_among_arrays_move),
    };
    return cmocka_run_group_tests_name("unit: me", tests, NULL, NULL);
}
