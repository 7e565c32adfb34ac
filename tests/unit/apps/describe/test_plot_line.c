/* SPDX-License-Identifier: MIT */
/* What of a curve is kept for a picture of it. */
#include "apps/plot/line.h"

#include <stdlib.h>

#include "test.h"

enum { MANY = 100000 };

static void release(struct tt_plot_curve_data *data)
{
    tt_plot_line_fini(&data->line);
    tt_plot_line_fini(&data->jumps);
}

static struct tt_plot_curve_data thin(const struct tt_plot_values *values, double from, double to, size_t columns)
{
    struct tt_plot_curve_data data = {0};
    tt_plot_line_thin(&data, values, from, to, columns);
    assert_false(tt_plot_line_curve_failed(&data));
    return data;
}

static void assert_point(const struct tt_plot_line *line, size_t i, double x, double y)
{
    assert_true(i < line->count);
    assert_same_double(line->x[i], x);
    assert_same_double(line->y[i], y);
}

static void few_rows_are_all_kept(void **state)
{
    (void)state;
    const double t[] = {0, 1, 2, 2, 3, 4, 5}, v[] = {1.5, 2, 3, 7, 7, NAN, 8};
    struct tt_plot_curve_data data = thin(&(struct tt_plot_values){.t = t, .v = v, .count = 7}, 0, 5, 100);
    assert_int_equal(data.line.count, 8);
    assert_point(&data.line, 2, 2, 3);
    assert_true(isnan(data.line.x[3])); /* the jump */
    assert_point(&data.line, 4, 2, 7);
    assert_true(isnan(data.line.x[6])); /* the gap */
    assert_point(&data.line, 7, 5, 8);
    assert_int_equal(data.jumps.count, 3);
    assert_point(&data.jumps, 0, 2, 3);
    assert_point(&data.jumps, 1, 2, 7);
    release(&data);
}

static void assert_window(const struct tt_plot_values *values, double from, double to, double low, double high)
{
    struct tt_plot_curve_data data = thin(values, from, to, 10);
    assert_same_double(data.line.x[0], from);
    assert_same_double(data.line.x[data.line.count - 1], to);
    double least = INFINITY, greatest = -INFINITY;
    tt_plot_line_curve_extent(&data, from, to, &least, &greatest);
    assert_same_double(least, low);
    assert_same_double(greatest, high);
    release(&data);
}

/* A line between two rows that are both outside is there, too. */
static void window_cuts_lines(void **state)
{
    (void)state;
    const double t[] = {0, 1, 2, 3, 4, 5}, v[] = {0, 1.5, 2, 3, 4, 5};
    struct tt_plot_values values = {.t = t, .v = v, .count = 6}, held = {.t = t, .v = v, .count = 6, .held = true};
    assert_window(&values, 1.5, 3, 1.75, 3);
    assert_window(&values, 0, 3.5, 0, 3.5);
    assert_window(&values, 4.25, 4.5, 4.25, 4.5);
    assert_window(&held, 1.5, 3, 1.5, 3);
    assert_window(&held, 4.25, 4.5, 4, 4);
}

/* What ends before the window, or has a gap at its edge, is not drawn out to it. */
static void window_invents_nothing(void **state)
{
    (void)state;
    const double t[] = {0, 1, 2, 3}, v[] = {0, 1, NAN, 3};
    struct tt_plot_values values = {.t = t, .v = v, .count = 4};
    struct tt_plot_curve_data data = thin(&values, 1.5, 2.5, 10);
    for (size_t i = 0; i < data.line.count; i++)
        assert_false(data.line.x[i] >= 1.5 && data.line.x[i] <= 2.5);
    release(&data);
    data = thin(&values, 5, 6, 10);
    assert_int_equal(data.line.count, 1);
    release(&data);
}

static void held_values_are_stairs(void **state)
{
    (void)state;
    const double t[] = {0, 1, 2, 3, 3, 4}, v[] = {0, 0, 1, 1, 2, 2};
    struct tt_plot_curve_data data = thin(&(struct tt_plot_values){.t = t, .v = v, .count = 6, .held = true}, 0, 4, 10);
    const double x[] = {0, 2, 2, 3, 3, 4}, y[] = {0, 0, 1, 1, 2, 2};
    assert_int_equal(data.line.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_point(&data.line, i, x[i], y[i]);
    assert_int_equal(data.jumps.count, 0);
    release(&data);
}

static bool has_value(const struct tt_plot_line *line, double value)
{
    for (size_t i = 0; i < line->count; i++)
        if (line->y[i] == value)
            return true;
    return false;
}

/* Extremes, jumps and gaps survive, with at most four points per column. */
static void many_rows_are_thinned_out(void **state)
{
    (void)state;
    enum { COLUMNS = 300 };
    double *t = malloc(MANY * sizeof *t), *v = malloc(MANY * sizeof *v);
    for (size_t i = 0; i < MANY; i++) {
        t[i] = (double)i / MANY;
        v[i] = sin(0.05 * (double)i);
    }
    v[61234] = 9;
    v[61300] = -8;
    for (size_t i = 70000; i < MANY; i++)
        v[i] += 20;
    t[70000] = t[69999]; /* a jump */
    for (size_t i = 30000; i < 35000; i++)
        v[i] = NAN;
    struct tt_plot_values values = {.t = t, .v = v, .count = MANY};
    struct tt_plot_curve_data data = thin(&values, 0, 1, COLUMNS);
    assert_true(data.line.count <= 4 * COLUMNS + 20 && data.line.count > 2 * COLUMNS);
    assert_true(has_value(&data.line, 9) && has_value(&data.line, -8));
    assert_int_equal(data.jumps.count, 3);
    assert_point(&data.jumps, 0, t[69999], v[69999]);
    assert_point(&data.jumps, 1, t[70000], v[70000]);
    size_t gaps = 0;
    for (size_t i = 0; i < data.line.count; i++) {
        gaps += isnan(data.line.x[i]) ? 1 : 0;
        assert_true(i == 0 || isnan(data.line.x[i]) || isnan(data.line.x[i - 1]) ||
                    data.line.x[i] >= data.line.x[i - 1]);
    }
    assert_int_equal(gaps, 2);
    assert_point(&data.line, 0, t[0], v[0]);
    assert_point(&data.line, data.line.count - 1, t[MANY - 1], v[MANY - 1]);
    release(&data);
    free(t);
    free(v);
}

/* More jumps than columns: they make one line. */
static void many_jumps(void **state)
{
    (void)state;
    double *t = malloc(MANY * sizeof *t), *v = malloc(MANY * sizeof *v);
    for (size_t i = 0; i < MANY; i++) {
        t[i] = floor((double)i / 2);
        v[i] = (double)(i % 2) + 0.5;
    }
    struct tt_plot_values values = {.t = t, .v = v, .count = MANY};
    struct tt_plot_curve_data data = thin(&values, 0, MANY / 2.0, 200);
    assert_true(data.line.count < 1000 && data.jumps.count < 10);
    assert_true(has_value(&data.line, 0.5) && has_value(&data.line, 1.5));
    release(&data);
    free(t);
    free(v);
}

static void straight_lines_need_two_points(void **state)
{
    (void)state;
    enum { COUNT = 1001 };
    struct tt_plot_line line = {0};
    for (int i = 0; i < COUNT; i++)
        tt_plot_line_add(&line, i, i < 500 ? 2 * i : 1500 - i);
    tt_plot_line_interrupt(&line);
    tt_plot_line_add(&line, COUNT, 3);
    bool left_out[COUNT + 2] = {false};
    tt_plot_line_straighten(&line, false, 1e-3, 0.1, left_out);
    for (int i = 0; i < COUNT + 2; i++)
        assert_int_equal(left_out[i], i != 0 && i != 500 && i < COUNT - 1);
    tt_plot_line_fini(&line);
}

/* Wherever points are left out, the line is not farther from them than it may be. */
static void straightened_line_is_near(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static bool left_out[COUNT];
    struct tt_plot_line line = {0};
    for (int i = 0; i < COUNT; i++)
        tt_plot_line_add(&line, i, 50 * sin(i / 150.0) + (i % 1000 == 777 ? 30 : 0));
    tt_plot_line_straighten(&line, false, 1e-3, 0.05, left_out);
    size_t kept = 0, before = 0;
    for (size_t i = 0; i < COUNT; i++) {
        kept += !left_out[i];
        if (left_out[i])
            continue;
        for (size_t k = before + 1; k < i; k++) {
            double part = (line.x[k] - line.x[before]) / (line.x[i] - line.x[before]);
            assert_near(line.y[before] + part * (line.y[i] - line.y[before]), line.y[k], 0.0501);
        }
        before = i;
    }
    assert_int_equal(before, COUNT - 1);
    assert_true(kept < COUNT / 5 && kept > 50);
    tt_plot_line_fini(&line);
}

/* A curve that goes round a thousand times is as large as one that does so a few times, and closed. */
static void rounds_are_drawn_once(void **state)
{
    (void)state;
    enum { ROUNDS = 200, STEPS = 500, COUNT = ROUNDS * STEPS };
    double *t = malloc(COUNT * sizeof *t), *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    for (int i = 0; i < COUNT; i++) {
        t[i] = i;
        x[i] = cos(2 * 3.14159265358979 * i / STEPS);
        y[i] = sin(2 * 3.14159265358979 * i / STEPS);
    }
    struct tt_plot_curve_data data = {0};
    tt_plot_line_thin_phase(&data, t, x, y, COUNT);
    assert_false(tt_plot_line_curve_failed(&data));
    assert_true(data.line.count > STEPS * 9 / 10 && data.line.count < 2 * STEPS);
    for (size_t i = 1; i < STEPS * 8 / 10; i++) /* the first round is of one piece */
        assert_true(isfinite(data.line.x[i]));
    release(&data);

    t[1] = t[0]; /* few rows are all kept, and a jump is one */
    tt_plot_line_thin_phase(&data, t, x, y, 1000);
    assert_int_equal(data.line.count, 1001);
    assert_int_equal(data.jumps.count, 3);
    release(&data);
    free(t);
    free(x);
    free(y);
}

static void difference_of_lines(void **state)
{
    (void)state;
    const double ta[] = {0, 2, 2, 4}, va[] = {0, 2, 5, 5}, tb[] = {-1, 1, 3, 5}, vb[] = {0, 1, 1, 0};
    double *t, *v;
    size_t count;
    assert_true(tt_plot_line_difference(&(struct tt_plot_values){.t = ta, .v = va, .count = 4},
                                        &(struct tt_plot_values){.t = tb, .v = vb, .count = 4}, &t, &v, &count));
    const double times[] = {-1, 0, 1, 2, 2, 3, 4, 5}, values[] = {NAN, -0.5, 0, 1, 4, 4, 4.5, NAN};
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(v[i]))
            continue;
        while (isnan(values[found]))
            found++;
        assert_same_double(t[i], times[found]);
        assert_near(v[i], values[found], 1e-15);
        found++;
    }
    assert_int_equal(found, 7);
    free(t);
    free(v);
}

static void difference_of_held_values(void **state)
{
    (void)state;
    const double ta[] = {0, 2, 4}, va[] = {0, 3, 3}, tb[] = {0, 3, 4}, vb[] = {0, 3, 3};
    double *t, *v;
    size_t count;
    assert_true(tt_plot_line_difference(&(struct tt_plot_values){.t = ta, .v = va, .count = 3, .held = true},
                                        &(struct tt_plot_values){.t = tb, .v = vb, .count = 3, .held = true}, &t, &v,
                                        &count));
    const double times[] = {0, 2, 2, 3, 3, 4}, values[] = {0, 0, 3, 3, 0, 0};
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++) {
        assert_same_double(t[i], times[i]);
        assert_same_double(v[i], values[i]);
    }
    free(t);
    free(v);
}

static void marks_do_not_cover_each_other(void **state)
{
    (void)state;
    struct tt_plot_sieve sieve = {0};
    assert_true(tt_plot_line_sieve_keeps(&sieve, 0.5, 0.5));
    assert_false(tt_plot_line_sieve_keeps(&sieve, 0.5001, 0.5001));
    assert_true(tt_plot_line_sieve_keeps(&sieve, 1, 0));
    assert_false(tt_plot_line_sieve_keeps(&sieve, 1.01, 0));
    assert_false(tt_plot_line_sieve_keeps(&sieve, NAN, 0.2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_are_all_kept),          cmocka_unit_test(window_cuts_lines),
        cmocka_unit_test(window_invents_nothing),         cmocka_unit_test(held_values_are_stairs),
        cmocka_unit_test(many_rows_are_thinned_out),      cmocka_unit_test(many_jumps),
        cmocka_unit_test(straight_lines_need_two_points), cmocka_unit_test(straightened_line_is_near),
        cmocka_unit_test(rounds_are_drawn_once),          cmocka_unit_test(difference_of_lines),
        cmocka_unit_test(difference_of_held_values),      cmocka_unit_test(marks_do_not_cover_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
