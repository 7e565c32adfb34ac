/* SPDX-License-Identifier: MIT */
/* --filter average: outputs of the averages over a step (Lacoursiere 2017 eq. 1-3). */
#include "test.h"

#include "exchange.h"

static struct tt_integration averaging(const char *solver, double rtol)
{
    struct tt_integration integration = integration_of(solver, rtol);
    integration.average = true;
    return integration;
}

/* x = t from rate 1: the mean of a straight line is its middle, to rounding, wherever the solver's steps end. */
static void a_straight_line(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++)
            for (int ahead = 0; ahead < 2; ahead++) {
                struct life life;
                start(&life, OWN "Ramp", versions[v], averaging(solvers[s], 1e-6));
                life.unit->horizon = ahead ? 100 : 0;
                assert_same_double(get_real(&life, "x"), 0); /* no step yet: the value itself */
                for (int i = 1; i <= 10; i++) {
                    double before = life.t;
                    go(&life, i * 0.3);
                    assert_near(get_real(&life, "x"), (before + life.t) / 2, 1e-11);
                    assert_near(get_real(&life, "y"), (before + life.t) / 2, 1e-11);
                }
                unload(&life);
            }
}

/* x' = (u - x) / T, x(0) = 0, u = 1: the mean of 1 - e^(-t/T) is known. */
static void a_lag(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++) {
            struct life life;
            const double T = 0.5, h = 0.4;
            start(&life, KIT "Tracker", versions[v], averaging(solvers[s], 1e-10));
            set_real(&life, "u", 1);
            for (int i = 1; i <= 5; i++) {
                double before = life.t;
                go(&life, i * h);
                double mean = 1 - T * (exp(-before / T) - exp(-life.t / T)) / h;
                assert_near(get_real(&life, "y"), mean, 1e-7);
                assert_near(get_real(&life, "error"), 1 - mean, 1e-7);
                assert_near(get_real(&life, "y"), mean, 1e-7); /* again: reading changes nothing */
            }
            unload(&life);
        }
}

/* Inputs are averaged, too: u = 1 + 2 t + 3 t^2 + 4 t^3 in each step. */
static void inputs_are_averaged(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Ramp", versions[v], averaging(NULL, 1e-8));
        parameter(&life, "rate=0");
        begin(&life, 0, 10);
        for (int i = 0; i < 3; i++) {
            double x = i * (1 + 1 + 1 + 1);
            set_real(&life, "u", 1);
            set_slope(&life, "u", 1, 2);
            set_slope(&life, "u", 2, 6);
            set_slope(&life, "u", 3, 24);
            go(&life, i + 1);
            double mean_u = 1 + 1 + 1 + 1, mean_x = x + 1.0 / 2 + 1.0 / 3 + 1.0 / 4 + 1.0 / 5;
            assert_near(get_real(&life, "u"), mean_u, 1e-12);
            assert_near(get_real(&life, "x"), mean_x, 1e-6);
            assert_near(get_real(&life, "y"), mean_x + 10 * mean_u, 1e-6);
        }
        unload(&life);
    }
}

/* y = g(<x>), not <g(x)>: x^2 + u^2 of Wave. */
static void outputs_are_those_of_the_averages(void **state)
{
    (void)state;
    struct life life;
    start(&life, OWN "Wave", "2", averaging(NULL, 1e-10));
    set_real(&life, "u", 0);
    go(&life, 1);
    double mean = 1 - exp(-1);
    assert_near(get_real(&life, "x"), mean, 1e-8);
    assert_near(get_real(&life, "square"), mean * mean, 1e-8);
    unload(&life);
}

/* The solution itself is not touched by reading averages. */
static void the_solution_is_the_same(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life plain, averaged;
        start(&plain, KIT "VanDerPol", versions[v], integration_of("radau5", 1e-6));
        start(&averaged, KIT "VanDerPol", versions[v], averaging("radau5", 1e-6));
        for (int i = 1; i <= 20; i++) {
            go(&plain, i * 0.1);
            go(&averaged, i * 0.1);
            get_real(&averaged, "x0");
        }
        handle_event(&plain); /* an event shows the values themselves */
        handle_event(&averaged);
        assert_same_double(get_real(&averaged, "x0"), get_real(&plain, "x0"));
        assert_same_double(get_real(&averaged, "x1"), get_real(&plain, "x1"));
        unload(&plain);
        unload(&averaged);
    }
}

/* An event ends a step: its two parts have their own averages, and the row after it has none. */
static void an_event_divides_a_step(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Ramp", versions[v], averaging(NULL, 1e-8));
        parameter(&life, "at=0.75");
        parameter(&life, "what=1"); /* back to 0 */
        begin(&life, 0, 10);
        go(&life, 0.5);
        assert_near(get_real(&life, "x"), 0.25, 1e-12);
        struct tt_fmi_step step = go(&life, 1);
        assert_true(step.event);
        assert_near(life.t, 0.75, 1e-12);
        assert_near(get_real(&life, "x"), 0.625, 1e-12);
        handle_event(&life);
        assert_same_double(get_real(&life, "x"), 0);
        step = go(&life, 1);
        assert_false(step.event);
        assert_near(get_real(&life, "x"), 0.125, 1e-12);
        unload(&life);
    }
}

/* Going back takes the average with it. */
static void a_step_that_is_repeated(void **state)
{
    (void)state;
    struct life life;
    start(&life, KIT "Tracker", "2", averaging("radau5", 1e-8));
    set_real(&life, "u", 1);
    go(&life, 0.5);
    struct tt_unit_saved *saved = NULL;
    assert_ok(life.kind->save(life.unit, &saved));
    go(&life, 1);
    double mean = get_real(&life, "y");
    assert_ok(life.kind->restore(life.unit, saved));
    life.t = 0.5;
    go(&life, 0.6);
    assert_ok(life.kind->restore(life.unit, saved));
    life.t = 0.5;
    go(&life, 1);
    assert_same_double(get_real(&life, "y"), mean);
    life.kind->discard(life.unit, saved);
    unload(&life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straight_line),          cmocka_unit_test(a_lag),
        cmocka_unit_test(inputs_are_averaged),      cmocka_unit_test(outputs_are_those_of_the_averages),
        cmocka_unit_test(the_solution_is_the_same), cmocka_unit_test(an_event_divides_a_step),
        cmocka_unit_test(a_step_that_is_repeated),
    };
    return cmocka_run_group_tests_name("unit: me, averages", tests, NULL, NULL);
}
