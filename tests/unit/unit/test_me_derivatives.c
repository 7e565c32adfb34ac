/* SPDX-License-Identifier: MIT */
/* Derivatives of the outputs of a Model Exchange unit, by time and by inputs. */
#include "test.h"

#include "exchange.h"

/* The exact derivatives of Wave's outputs along the solution: x' = u - x, u a polynomial. */
struct exact {
    double square[3], swing[3], x[3];
};

static struct exact exact_of(double t, double x, const double u[3])
{
    double x1 = u[0] - x, x2 = u[1] - x1;
    return (struct exact){
        .x = {x, x1, x2},
        .square = {x * x + u[0] * u[0], 2 * x * x1 + 2 * u[0] * u[1],
                   2 * (x1 * x1 + x * x2 + u[1] * u[1] + u[0] * u[2])},
        .swing = {x * sin(t) + u[0] * t, x1 * sin(t) + x * cos(t) + u[1] * t + u[0],
                  x2 * sin(t) + 2 * x1 * cos(t) - x * sin(t) + u[2] * t + 2 * u[1]},
    };
}

/* Where the unit is, against the exact values for the state that it has there. The FMU is left as it was. */
static void check_slopes(struct life *life, const double u[3], double first_tolerance, double second_tolerance)
{
    double x = get_real(life, "x"), swing = get_real(life, "swing");
    struct exact exact = exact_of(life->t, x, u);
    assert_near(swing, exact.swing[0], 1e-12);
    assert_near(get_slope(life, "x", 1), exact.x[1], first_tolerance);
    assert_near(get_slope(life, "square", 1), exact.square[1], first_tolerance * fmax(1, fabs(exact.square[1])));
    assert_near(get_slope(life, "swing", 1), exact.swing[1], first_tolerance);
    assert_near(get_slope(life, "x", 2), exact.x[2], second_tolerance);
    assert_near(get_slope(life, "square", 2), exact.square[2], second_tolerance);
    assert_near(get_slope(life, "swing", 2), exact.swing[2], second_tolerance);
    assert_same_double(get_real(life, "x"), x);
    assert_same_double(get_real(life, "swing"), swing);
    assert_same_double(get_real(life, "u"), u[0]);
}

static void check_along_the_way(const char *model, const char *version, double stop)
{
    struct life life;
    load(&life, model, version, integration_of(NULL, 1e-6));
    begin(&life, 0, stop);
    double u[3] = {2, -1, 3};
    set_real(&life, "u", u[0]);
    check_slopes(&life, (double[]){2, 0, 0}, 1e-6, 1e-4); /* before any step */
    set_slope(&life, "u", 1, u[1]);
    set_slope(&life, "u", 2, u[2]);
    check_slopes(&life, u, 1e-6, 1e-4);
    for (int i = 1; i <= 8; i++) {
        double t = go(&life, i * 0.25).reached;
        u[0] = 2 + t * (-1 + t * 1.5);
        u[1] = -1 + 3 * t;
        u[0] = get_real(&life, "u"); /* the same but for rounding */
        check_slopes(&life, u, 1e-6, 1e-4);
    }
    unload(&life);
}

static void outputs_have_derivatives(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        check_along_the_way(OWN "Wave", versions[v], 100);
        check_along_the_way(OWN "PlainWave", versions[v], 100);
    }
}

/* No FMU need answer for times after the stop time. */
static void outputs_have_derivatives_up_to_the_end(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        check_along_the_way(OWN "Wave", versions[v], 2);
        check_along_the_way(OWN "PlainWave", versions[v], 2);
    }
}

/* ... nor for times before the last event. */
static void outputs_have_derivatives_behind_an_event(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Ramp", versions[v], integration_of(NULL, 1e-6));
        parameter(&life, "at=0.5");
        parameter(&life, "what=1");
        begin(&life, 0, 1);
        set_real(&life, "u", 1);
        set_slope(&life, "u", 1, -2);
        assert_true(go(&life, 1).event);
        handle_event(&life);
        double t = life.t; /* x' = 1 + u, u = 1 - 2 t, y = x + 10 u */
        assert_near(get_slope(&life, "y", 1), 2 - 2 * t - 20, 1e-5);
        assert_near(get_slope(&life, "y", 2), -2, 1e-3);
        assert_int_equal(go_through(&life, 1), 0);
        assert_near(get_slope(&life, "y", 1), -20, 1e-5);
        assert_near(get_slope(&life, "y", 2), -2, 1e-3);
        handle_event(&life); /* at the stop time: time has nowhere to go */
        assert_near(get_slope(&life, "x", 1), 0, 1e-6);
        unload(&life);
    }
}

/* By directional derivatives where nothing depends on time itself: no rounding of differences. */
static void first_derivatives_are_exact_where_the_fmu_helps(void **state)
{
    (void)state;
    for (int v = 1; v < VERSION_COUNT; v++) {
        struct life life;
        start(&life, KIT "Tracker", versions[v], integration_of(NULL, 1e-6));
        set_real(&life, "u", 3);
        set_slope(&life, "u", 1, 0.5);
        go(&life, 0.7);
        double u = get_real(&life, "u"), x = get_real(&life, "y");
        assert_near(get_slope(&life, "y", 1), (u - x) / 0.5, 1e-14);
        assert_near(get_slope(&life, "error", 1), 0.5 - (u - x) / 0.5, 1e-14);
        unload(&life);

        start(&life, OWN "Wave", versions[v], integration_of(NULL, 1e-6));
        set_real(&life, "u", 3);
        go(&life, 0.7);
        x = get_real(&life, "x");
        assert_near(get_slope(&life, "square", 1), 2 * x * (3 - x), 1e-14); /* though `swing` depends on time */
        unload(&life);
    }
}

/* Several outputs at once, in any order. */
static void outputs_come_together(void **state)
{
    (void)state;
    static const char *const models[] = {OWN "Wave", OWN "PlainWave"};
    for (int m = 0; m < 2; m++)
        for (int order = 1; order <= 2; order++) {
            struct life life;
            start(&life, models[m], "2", integration_of(NULL, 1e-6));
            set_real(&life, "u", 2);
            go(&life, 1);
            uint32_t outputs[] = {reference(&life, "swing"), reference(&life, "x"), reference(&life, "square")};
            double values[3];
            assert_ok(life.kind->get_output_derivatives(life.unit, outputs, 3, order, values));
            assert_near(values[0], get_slope(&life, "swing", order), 1e-7);
            assert_near(values[1], get_slope(&life, "x", order), 1e-7);
            assert_near(values[2], get_slope(&life, "square", order), 1e-7);
            unload(&life);
        }
}

/* A description of FMI 2.0 need not name time at all, and then says nothing about what depends on it. */
static void time_without_a_name_counts(void **state)
{
    (void)state;
    struct life life;
    load(&life, OWN "Wave", "2", integration_of(NULL, 1e-6));
    struct tt_var *time = (struct tt_var *)&life.fmu->desc->vars[variable(&life, "time")];
    assert_int_equal(time->causality, TUTTI_INDEPENDENT);
    time->causality = TUTTI_LOCAL;
    begin(&life, 0, 100);
    go(&life, 1);
    double x = get_real(&life, "x");
    assert_near(get_slope(&life, "swing", 1), -x * sin(1) + x * cos(1), 1e-6);
    unload(&life);
}

/* However short the steps are, differences do not drown in rounding. */
static void short_steps_do_no_harm(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        start(&life, OWN "PlainWave", versions[v], integration_of(NULL, 1e-6));
        double u[3] = {2, 0.5, 0};
        set_real(&life, "u", u[0]);
        set_slope(&life, "u", 1, u[1]);
        go(&life, 1);
        for (int i = 1; i <= 3; i++)
            go(&life, 1 + i * 1e-12);
        u[0] = get_real(&life, "u");
        check_slopes(&life, u, 1e-7, 1e-4);
        unload(&life);
    }
}

static void other_orders_are_refused(void **state)
{
    (void)state;
    struct life life;
    start(&life, KIT "Tracker", "3", integration_of(NULL, 1e-6));
    uint32_t output = reference(&life, "y");
    double value;
    assert_int_equal(life.unit->output_order, 2);
    assert_fails(life.kind->get_output_derivatives(life.unit, &output, 1, 3, &value), TUTTI_ERR_UNSUPPORTED, "not 3");
    assert_fails(life.kind->get_output_derivatives(life.unit, &output, 1, 0, &value), TUTTI_ERR_UNSUPPORTED, "not 0");
    unload(&life);
}

static void a_model_without_states_has_them_too(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Clockwork", versions[v], integration_of(NULL, 1e-6));
        begin(&life, 0.5, 100);
        set_real(&life, "u", 0.25);
        set_slope(&life, "u", 1, -1);
        set_slope(&life, "u", 2, 3);
        go(&life, 0.75); /* y = t^2 + u */
        assert_near(get_slope(&life, "y", 1), 1.5 - 1 + 0.75, 1e-6);
        assert_near(get_slope(&life, "y", 2), 2 + 3, 1e-4);
        unload(&life);
    }
}

/* d(outputs) for a change of the input, the states being what they are. */
static void outputs_by_inputs(void **state)
{
    (void)state;
    static const char *const models[] = {OWN "Wave", OWN "PlainWave"};
    for (int m = 0; m < 2; m++)
        for (int v = 0; v < VERSION_COUNT; v++) {
            struct life life;
            start(&life, models[m], versions[v], integration_of(NULL, 1e-6));
            set_real(&life, "u", 3);
            set_slope(&life, "u", 1, -1);
            go(&life, 0.5);
            uint32_t outputs[] = {reference(&life, "swing"), reference(&life, "square"), reference(&life, "x")};
            uint32_t input = reference(&life, "u");
            double seed = 2, product[3], x = get_real(&life, "x"), swing = get_real(&life, "swing");
            assert_ok(life.kind->get_directional(life.unit, outputs, 3, &input, 1, &seed, product));
            assert_near(product[0], 2 * 0.5, 1e-8);
            assert_near(product[1], 2 * 2 * 2.5, 1e-8);
            assert_near(product[2], 0, 1e-8);
            seed = 0;
            assert_ok(life.kind->get_directional(life.unit, outputs, 3, &input, 1, &seed, product));
            assert_near(product[1], 0, 0);
            assert_same_double(get_real(&life, "x"), x);
            assert_same_double(get_real(&life, "swing"), swing);
            assert_same_double(get_real(&life, "u"), 2.5);
            double before = get_real(&life, "x"); /* and continues unaffected */
            go(&life, 0.75);
            assert_near(get_real(&life, "x"), exp(-0.25) * (before - 2.5 - 1) + 2.25 + 1, 1e-6);
            unload(&life);
        }
}

/* What was asked for is counted, once. */
static void evaluations_are_counted(void **state)
{
    (void)state;
    struct life life;
    load(&life, OWN "Clockwork", "2", integration_of(NULL, 1e-6));
    begin(&life, 0.25, 1);
    uint32_t output = reference(&life, "y"), input = reference(&life, "u");
    double seed = 1, product;
    for (int i = 1; i <= 5; i++) {
        assert_ok(life.kind->get_directional(life.unit, &output, 1, &input, 1, &seed, &product));
        assert_near(product, 1, 0);
        go(&life, 0.25 + i / 8.0);
        assert_int_equal(life.unit->counts.solver.directional, i);
    }
    unload(&life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_have_derivatives),
        cmocka_unit_test(outputs_have_derivatives_up_to_the_end),
        cmocka_unit_test(outputs_have_derivatives_behind_an_event),
        cmocka_unit_test(first_derivatives_are_exact_where_the_fmu_helps),
        cmocka_unit_test(outputs_come_together),
        cmocka_unit_test(time_without_a_name_counts),
        cmocka_unit_test(short_steps_do_no_harm),
        cmocka_unit_test(other_orders_are_refused),
        cmocka_unit_test(a_model_without_states_has_them_too),
        cmocka_unit_test(outputs_by_inputs),
        cmocka_unit_test(evaluations_are_counted),
    };
    return cmocka_run_group_tests_name("unit: me, derivatives", tests, NULL, NULL);
}
