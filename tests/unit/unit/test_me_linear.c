/* SPDX-License-Identifier: MIT */
/* A Model Exchange unit linearised where it stands: x' = A x + B u, y = C x + D u. */
#include "test.h"

#include "exchange.h"
#include "unit/me_linear.h"

enum { ALL = TUTTI_WANT_A | TUTTI_WANT_B | TUTTI_WANT_C | TUTTI_WANT_D };

static const struct tt_linear *linearize(struct life *life, unsigned want)
{
    struct tt_linear *linear = NULL;
    assert_ok(life->kind->linearize(life->unit, want, &linear));
    assert_non_null(linear);
    return linear;
}

static double entry(const struct tt_linear *linear, int matrix, int row, int column)
{
    const struct tt_pattern *pattern = &linear->patterns[matrix];
    assert_true(row < pattern->row_count && column < pattern->column_count);
    for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++)
        if (pattern->rows[k] == row)
            return linear->values[matrix][k];
    return 0;
}

static void assert_matrix(const struct tt_linear *linear, int matrix, int rows, int columns, const double *expected,
                          double tolerance)
{
    assert_int_equal(linear->patterns[matrix].row_count, rows);
    assert_int_equal(linear->patterns[matrix].column_count, columns);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            assert_near(entry(linear, matrix, r, c), expected[r * columns + c], tolerance);
}

/* By directional derivatives, or by differences of second order. */
static double tolerance_of(const struct tt_linear *linear)
{
    return linear->exact ? 1e-13 : 1e-8;
}

/* Wave is not linear: x' = u - x; outputs x, x^2 + u^2, x sin(t) + u t. Steps before and after are as without it. */
static void check_wave(const char *model, const char *version, bool exact)
{
    struct life life, other;
    start(&life, model, version, integration_of("radau5", 1e-6));
    start(&other, model, version, integration_of("radau5", 1e-6));
    for (int i = 0; i < 5; i++) {
        set_real(&life, "u", 2 + i);
        set_slope(&life, "u", 1, -1);
        go(&life, (i + 1) * 0.3);
        double x = get_real(&life, "x"), swing = get_real(&life, "swing"), u = 2 + i - 0.3, t = life.t;
        const struct tt_linear *linear = linearize(&life, ALL);
        double tolerance = tolerance_of(linear);
        assert_true(linear->exact == exact);
        assert_matrix(linear, TUTTI_LINEAR_A, 1, 1, (double[]){-1}, tolerance);
        assert_matrix(linear, TUTTI_LINEAR_B, 1, 1, (double[]){1}, tolerance);
        assert_matrix(linear, TUTTI_LINEAR_C, 3, 1, (double[]){1, 2 * x, sin(t)}, tolerance);
        assert_matrix(linear, TUTTI_LINEAR_D, 3, 1, (double[]){0, 2 * u, t}, 10 * tolerance);
        assert_int_equal(linear->state_count, 1);
        assert_string_equal(linear->state_names[0], "x");
        assert_string_equal(linear->input_names[0], "u");
        assert_string_equal(linear->output_names[0], "x");
        assert_string_equal(linear->output_names[2], "swing");
        assert_same_double(get_real(&life, "x"), x);
        assert_same_double(get_real(&life, "swing"), swing);
        set_real(&other, "u", 2 + i);
        set_slope(&other, "u", 1, -1);
        go(&other, (i + 1) * 0.3);
        assert_same_double(get_real(&other, "x"), x);
    }
    unload(&life);
    unload(&other);
}

static void a_model_that_is_not_linear(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        check_wave(OWN "Wave", versions[v], v > 0);
        check_wave(OWN "PlainWave", versions[v], false);
    }
}

/* x1' = x2, x2' = mu (1 - x1^2) x2 - x1. */
static void van_der_pol(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, KIT "VanDerPol", versions[v], integration_of(NULL, 1e-6));
        parameter(&life, "mu=3");
        begin(&life, 0, 10);
        go(&life, 1.5);
        const struct tt_linear *linear = linearize(&life, ALL);
        double x = get_real(&life, "x0"), y = get_real(&life, "x1"), tolerance = 10 * tolerance_of(linear);
        assert_matrix(linear, TUTTI_LINEAR_A, 2, 2, (double[]){0, 1, -6 * x * y - 1, 3 * (1 - x * x)}, tolerance);
        assert_matrix(linear, TUTTI_LINEAR_C, 2, 2, (double[]){1, 0, 0, 1}, tolerance);
        assert_int_equal(linear->input_count, 0);
        assert_int_equal(linear->patterns[TUTTI_LINEAR_B].column_count, 0);
        assert_int_equal(linear->patterns[TUTTI_LINEAR_D].row_count, 2);
        unload(&life);
    }
}

/* Feed-through, and an output of FMI 1.0 that says which inputs it depends on (and nothing about states). */
static void tracker(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        start(&life, KIT "Tracker", versions[v], integration_of(NULL, 1e-6));
        set_real(&life, "u", 1);
        go(&life, 1);
        const struct tt_linear *linear = linearize(&life, ALL);
        double tolerance = tolerance_of(linear);
        assert_matrix(linear, TUTTI_LINEAR_A, 1, 1, (double[]){-2}, tolerance);
        assert_matrix(linear, TUTTI_LINEAR_B, 1, 1, (double[]){2}, tolerance);
        assert_matrix(linear, TUTTI_LINEAR_C, 2, 1, (double[]){1, -1}, tolerance);
        assert_matrix(linear, TUTTI_LINEAR_D, 2, 1, (double[]){0, 1}, tolerance);
        unload(&life);
    }
}

static void arrays_are_taken_apart(void **state)
{
    (void)state;
    struct life life;
    start(&life, KIT "StateSpace", "3", integration_of(NULL, 1e-6));
    go(&life, 0.5);
    const struct tt_linear *linear = linearize(&life, ALL);
    assert_true(linear->exact && linear->by_model);
    assert_matrix(linear, TUTTI_LINEAR_A, 3, 3, (double[]){-1, 1, 0, 0, -2, 1, 0, 0, -3}, 1e-13);
    assert_matrix(linear, TUTTI_LINEAR_B, 3, 2, (double[]){1, 0, 0, 1, 1, 1}, 1e-13);
    assert_matrix(linear, TUTTI_LINEAR_C, 2, 3, (double[]){1, 0, 0, 0, 1, 1}, 1e-13);
    assert_matrix(linear, TUTTI_LINEAR_D, 2, 2, (double[]){0, 0, 0.5, 0}, 1e-13);
    assert_string_equal(linear->state_names[0], "x[1]");
    assert_string_equal(linear->state_names[2], "x[3]");
    assert_string_equal(linear->input_names[1], "u[2]");
    assert_string_equal(linear->output_names[1], "y[2]");
    unload(&life);
}

/* By differences of arrays, with a Float32 input and one that moves beside them. */
static void arrays_by_differences(void **state)
{
    (void)state;
    struct life life;
    start(&life, OWN "Mixed", "3", integration_of(NULL, 1e-6));
    set_real(&life, "u", 1);
    set_slope(&life, "u", 1, 2);
    go(&life, 0.5);
    const struct tt_linear *linear = linearize(&life, ALL);
    assert_false(linear->exact);
    assert_matrix(linear, TUTTI_LINEAR_A, 1, 1, (double[]){0}, 1e-8);
    assert_matrix(linear, TUTTI_LINEAR_B, 1, 3, (double[]){1, 2, 1}, 1e-8);
    assert_string_equal(linear->input_names[0], "w[1]");
    assert_string_equal(linear->input_names[2], "u");
    assert_same_double(get_real(&life, "u"), 2);
    unload(&life);
}

/* Parts that are not requested are not computed; a later request gives correct ones. */
static void parts_can_be_had_alone(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        start(&life, OWN "Wave", versions[v], integration_of(NULL, 1e-6));
        set_real(&life, "u", 2);
        go(&life, 1);
        double x = get_real(&life, "x"), tolerance = 1e-8;
        const struct tt_linear *linear = linearize(&life, TUTTI_WANT_A);
        assert_matrix(linear, TUTTI_LINEAR_A, 1, 1, (double[]){-1}, tolerance);
        assert_matrix(linear, TUTTI_LINEAR_C, 3, 1, (double[]){0, 0, 0}, 0);
        linear = linearize(&life, TUTTI_WANT_D);
        assert_matrix(linear, TUTTI_LINEAR_D, 3, 1, (double[]){0, 4, 1}, tolerance);
        linear = linearize(&life, TUTTI_WANT_C);
        assert_matrix(linear, TUTTI_LINEAR_C, 3, 1, (double[]){1, 2 * x, sin(1)}, tolerance);
        linear = linearize(&life, TUTTI_WANT_B);
        assert_matrix(linear, TUTTI_LINEAR_B, 1, 1, (double[]){1}, tolerance);
        assert_same_double(get_real(&life, "x"), x);
        assert_same_double(get_real(&life, "u"), 2);
        unload(&life);
    }
}

static void a_model_without_states(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Clockwork", versions[v], integration_of(NULL, 1e-6));
        begin(&life, 0.25, 1);
        go(&life, 0.5);
        const struct tt_linear *linear = linearize(&life, ALL);
        assert_int_equal(linear->state_count, 0);
        assert_int_equal(linear->output_count, 1);
        assert_matrix(linear, TUTTI_LINEAR_D, 1, 1, (double[]){1}, 1e-8);
        assert_int_equal(linear->patterns[TUTTI_LINEAR_A].column_count, 0);
        unload(&life);
    }
}

/* An FMU of FMI 1.0 that does not say which variables its states are, with an Error even, works like any other. */
static void states_without_names(void **state)
{
    (void)state;
    struct life life;
    start(&life, KIT "Lacking", "1me", integration_of(NULL, 1e-8));
    go(&life, 1);
    assert_near(get_real(&life, "x"), 1 - exp(-1), 1e-6);
    const struct tt_linear *linear = linearize(&life, ALL);
    assert_string_equal(linear->state_names[0], "state 1");
    assert_matrix(linear, TUTTI_LINEAR_A, 1, 1, (double[]){-1}, 1e-8);
    assert_matrix(linear, TUTTI_LINEAR_C, 1, 1, (double[]){1}, 1e-8);
    unload(&life);
}

/* At the ends of the run, and right after an event: time is not moved. */
static void at_the_ends(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Ramp", versions[v], integration_of(NULL, 1e-6));
        parameter(&life, "at=0.5");
        begin(&life, 0, 1);
        assert_matrix(linearize(&life, ALL), TUTTI_LINEAR_B, 1, 1, (double[]){1}, 1e-8);
        assert_int_equal(go_through(&life, 1), 1);
        const struct tt_linear *linear = linearize(&life, ALL);
        assert_matrix(linear, TUTTI_LINEAR_A, 1, 1, (double[]){0}, 1e-8);
        assert_matrix(linear, TUTTI_LINEAR_D, 2, 1, (double[]){0, 10}, 1e-7);
        unload(&life);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_that_is_not_linear),
        cmocka_unit_test(van_der_pol),
        cmocka_unit_test(tracker),
        cmocka_unit_test(arrays_are_taken_apart),
        cmocka_unit_test(arrays_by_differences),
        cmocka_unit_test(parts_can_be_had_alone),
        cmocka_unit_test(a_model_without_states),
        cmocka_unit_test(states_without_names),
        cmocka_unit_test(at_the_ends),
    };
    return cmocka_run_group_tests_name("unit: me, linearised", tests, NULL, NULL);
}
