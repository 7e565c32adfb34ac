/* SPDX-License-Identifier: MIT */
/* Axes whose numbers people can read. */
#include <float.h>

#include "apps/plot/plot.h"
#include "test.h"

static const struct tt_plot_options plain = {.unicode = false}, unicode = {.unicode = true};

static void assert_label(struct tt_plot_axis axis, const char *name, const char *unit, const char *expected)
{
    struct tt_plot plot = {.options = &plain};
    assert_string_equal(tt_plot_axis_label(&plot, &axis, name, unit), expected);
    tt_arena_fini(&plot.arena);
}

static struct tt_plot_axis fit(double low, double high)
{
    struct tt_plot_axis axis = {0};
    tt_plot_axis_fit(&axis, low, high);
    assert_true(axis.low < axis.high && isfinite(axis.low) && isfinite(axis.high));
    assert_true(isfinite(tt_plot_axis_shown(&axis, axis.low)) && isfinite(tt_plot_axis_shown(&axis, axis.high)));
    return axis;
}

static void usual_numbers_stay(void **state)
{
    (void)state;
    assert_label(fit(0, 1), "x", "m", "x in m");
    assert_label(fit(-50000, 99999), "x", NULL, "x");
    assert_label(fit(0, 0.02), NULL, "m", "in m");
    assert_label(fit(293, 294), "T", "K", "T in K");
    assert_label(fit(INFINITY, -INFINITY), NULL, NULL, "");
}

static void powers_come_in_threes(void **state)
{
    (void)state;
    assert_label(fit(0, 150000), "x", "Pa", "x in 1e3 Pa");
    assert_label(fit(-2.5e6, 0), "x", NULL, "x in 1e6");
    assert_label(fit(-0.011, 0), "z", "m", "z in 1e-3 m");
    assert_label(fit(0, 0.003), "t", "s", "t in 1e-3 s");
    assert_label(fit(0, 6e-4), "t", "s", "t in 1e-3 s");
    assert_label(fit(0, 6e-6), "t", "s", "t in 1e-6 s");
    struct tt_plot plot = {.options = &unicode};
    struct tt_plot_axis axis = fit(0, 2e-12);
    assert_string_equal(tt_plot_axis_label(&plot, &axis, "t", "s"), "t in 10⁻¹² s");
    tt_arena_fini(&plot.arena);
}

static void what_all_values_have_is_taken_off(void **state)
{
    (void)state;
    struct tt_plot_axis axis = fit(101325.001, 101325.009);
    assert_label(axis, "p", "Pa", "p - 101325 in 1e-3 Pa");
    assert_near(tt_plot_axis_shown(&axis, 101325.004), 4, 1e-6);
    assert_label(fit(-1000.3, -1000.1), "x", NULL, "x + 1000");
    assert_label(fit(1e9, 1e9 + 5), "time", "s", "time - 1000000000 in s");
}

/* Rounding errors are not drawn as a curve. */
static void constants_have_room_around(void **state)
{
    (void)state;
    struct tt_plot_axis axis = fit(293.15, 293.15 + 1e-13);
    assert_near(axis.low, 0.9 * 293.15, 1e-9);
    assert_near(axis.high, 1.1 * 293.15, 1e-9);
    axis = fit(0, 0);
    assert_true(axis.low == -1 && axis.high == 1);
}

static void extremes(void **state)
{
    (void)state;
    const double values[] = {-DBL_MAX, -1e300, -1, -1e-300, -5e-324, 0, 5e-324, 1e-300, 1, 1e300, DBL_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t k = i; k < sizeof values / sizeof *values; k++)
            (void)fit(values[i], values[k]);
}

static void decades(void **state)
{
    (void)state;
    struct tt_plot_axis axis = {.log = true};
    tt_plot_axis_fit(&axis, 3e-4, 0.2);
    assert_near(axis.low, 1e-4, 1e-18);
    assert_near(axis.high, 1, 1e-15);
    tt_plot_axis_fit(&axis, 0.01, 0.01);
    assert_near(axis.high / axis.low, 10, 1e-9);
    tt_plot_axis_fit(&axis, 1e300, DBL_MAX);
    assert_true(axis.low < axis.high && isfinite(axis.high));
    tt_plot_axis_fit(&axis, 5e-324, 5e-324);
    assert_true(axis.low > 0 && axis.low < axis.high);
    tt_plot_axis_fit(&axis, DBL_MAX, DBL_MAX);
    assert_true(axis.low < axis.high && isfinite(axis.high));
}

static void a_day_has_hours(void **state)
{
    (void)state;
    struct tt_plot_axis axis = {.scale = TUTTI_PLOT_HOUR};
    tt_plot_axis_fit(&axis, 0, 86400);
    assert_near(tt_plot_axis_shown(&axis, 43200), 12, 1e-12);
    assert_near(tt_plot_axis_tick_step(&axis, 24, 8.5), 3, 1e-12);
    assert_near(tt_plot_axis_tick_step(&axis, 24, 5), 6, 1e-12);
    assert_label(axis, "time", "h", "time in h");
    tt_plot_axis_fit(&axis, 3.6e9, 3.6e9 + 14400); /* late */
    assert_label(axis, "time", "h", "time - 1000000 in h");
    assert_near(tt_plot_axis_shown(&axis, 3.6e9 + 7200), 2, 1e-6);
}

static void ticks_are_at_round_numbers(void **state)
{
    (void)state;
    struct tt_plot_axis axis = {0};
    tt_plot_axis_fit(&axis, 0, 1);
    assert_near(tt_plot_axis_tick_step(&axis, 1, 8), 0.2, 1e-12);
    assert_near(tt_plot_axis_tick_step(&axis, 1, 4), 0.25, 1e-12);
    assert_near(tt_plot_axis_tick_step(&axis, 30, 10), 5, 1e-12);
    axis.whole = true;
    assert_near(tt_plot_axis_tick_step(&axis, 1, 8), 1, 1e-12);
    assert_near(tt_plot_axis_tick_step(&axis, 8, 3.5), 5, 1e-12);
}

static void units_are_typeset(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"m", "m"},
                                           {"m/s2", "m/s²"},
                                           {"m/s^2", "m/s²"},
                                           {"degC", "°C"},
                                           {"deg/s", "°/s"},
                                           {"W/(m2.K)", "W/(m²·K)"},
                                           {"kg.m2", "kg·m²"},
                                           {"rad.s-1", "rad·s⁻¹"},
                                           {"mm3", "mm³"},
                                           {"kOhm", "kΩ"},
                                           {"um", "µm"},
                                           {"1/min", "1/min"},
                                           {"mmH2O", "mmH2O"},
                                           {"kgCO2/s", "kgCO2/s"},
                                           {"m2.5", "m2.5"},
                                           {"m1234", "m1234"},
                                           {"% of 2", "% of 2"},
                                           {"°C", "°C"},
                                           {"", ""}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct tt_plot plot = {.options = &unicode};
        assert_string_equal(tt_plot_axis_typeset_unit(&plot, pairs[i][0]), pairs[i][1]);
        tt_arena_fini(&plot.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_numbers_stay),
        cmocka_unit_test(powers_come_in_threes),
        cmocka_unit_test(what_all_values_have_is_taken_off),
        cmocka_unit_test(constants_have_room_around),
        cmocka_unit_test(extremes),
        cmocka_unit_test(decades),
        cmocka_unit_test(a_day_has_hours),
        cmocka_unit_test(ticks_are_at_round_numbers),
        cmocka_unit_test(units_are_typeset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
