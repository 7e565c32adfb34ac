/* SPDX-License-Identifier: MIT */
/* Linear correction and smoothing against the same methods with matrices. */
#include "mixers.h"

static const struct sort sorts[] = {
    {"Mixer_fmi2", "cs", false, false, false, true, 1e-11},
    {"MixerRates_fmi2", "cs", true, false, false, true, 1e-11},
    {"Mixer_fmi3", "cs", false, false, false, false, 1e-11},
    {"PlainMixer_fmi2", "cs", false, false, true, true, 1e-7},
    {"PlainMixer_fmi3", "cs", false, false, true, false, 1e-7},
    {"Mixer_fmi2", "me", true, true, false, true, 1e-9},
    {"Mixer_fmi3", "me", true, true, false, true, 1e-9},
    {"PlainMixer_fmi2", "me", true, true, false, true, 1e-8},
};

static void run_and_compare(const struct sort *sort, const char *order, bool smooth, struct outcome *outcome)
{
    const double step = 0.01;
    struct experiment e;
    struct reference r;
    prepare(&e, sort->fmu, sort->interface, order, step, NULL, 0);
    e.options.smooth = smooth;
    if (sort->tries) /* how often depends on what counts */
        e.options.rtol = 1e-4;
    simulate(outcome, &e.options);
    size_t rows = tt_csv_table_rows(outcome->table);
    assert_int_equal(rows, 101);
    begin(&r, sort->has_rates_at_start);
    enum slopes slopes = order[0] == '0' ? HELD : sort->has_rates ? FROM_RATES : FROM_POINTS;
    for (size_t row = 0; row < rows; row++) {
        compare(outcome->table, row, &r, sort->tolerance);
        advance(&r, step, slopes, smooth);
    }
    assert_int_equal(outcome->accepted, UNITS * 100);
    assert_int_equal(outcome->rejected, 0);
    struct outcome of_states;
    e.options.record_count = STATES_ONLY;
    simulate(&of_states, &e.options);
    assert_int_equal(of_states.auxiliary > 0, sort->tries);
    tt_csv_table_free(of_states.table);
}

/* Eq. 6.17 with inputs held (Alg. 5), and with slopes (Alg. 6), whatever way D comes. */
static void outputs_are_consistent(void **state)
{
    (void)state;
    for (size_t s = 0; s < LENGTH(sorts); s++)
        for (int order = 0; order <= sorts[s].takes_slopes; order++) {
            struct outcome outcome;
            run_and_compare(&sorts[s], order ? "1" : "0", false, &outcome);
            tt_csv_table_free(outcome.table);
        }
}

/* Alg. 7. */
static void inputs_go_on_where_they_are(void **state)
{
    (void)state;
    for (size_t s = 0; s < LENGTH(sorts); s++)
        if (sorts[s].takes_slopes) {
            struct outcome outcome;
            run_and_compare(&sorts[s], "1", true, &outcome);
            tt_csv_table_free(outcome.table);
        }
}

/* The states at a row, and the outputs there that belong to them. */
static void compare_with_states(const struct tt_csv_table *table, size_t row, double tolerance)
{
    struct reference r = {.scale = 1};
    for (int k = 0; k < UNITS; k++)
        r.x[k] = cell(table, (const char *const[]){"a.x", "b.x", "c.x"}[k], row);
    consistent(&r, r.x, 273.15, true, r.y);
    compare(table, row, &r, tolerance);
}

/* However inputs move inside the steps (some of PlainMixer_fmi3 by intermediate update, others not), however long these are,
 * and however often they are taken back: where they end, outputs belong to the states there. */
static void outputs_belong_to_states(void **state)
{
    (void)state;
    static const char *const controls[] = {"fixed", "richardson", "embedded"}, *const orders[] = {"0", "1", "2"};
    for (size_t s = 0; s < LENGTH(sorts); s++)
        for (size_t i = 0; i < LENGTH(controls) * 4; i++) {
            struct experiment e;
            struct outcome outcome;
            prepare(&e, sorts[s].fmu, sorts[s].interface, orders[i % 4 % 3], 0.05, NULL, 0);
            e.options.control = controls[i / 4];
            e.options.smooth = i % 4 == 2;
            e.options.error_per = i % 4 % 3 == 0 ? "step" : NULL; /* with order 1, steps per time are very many */
            e.options.rtol = 1e-4;
            e.options.atol = 1e-6;
            simulate(&outcome, &e.options);
            for (size_t row = 0; row < tt_csv_table_rows(outcome.table); row++)
                compare_with_states(outcome.table, row, 1e-6);
            tt_csv_table_free(outcome.table);
        }
}

/* Elements of arrays: two state spaces, y = C x + D u, each with the other's outputs. */
static void arrays_are_corrected_too(void **state)
{
    (void)state;
    static const char *const files[] = {"a=" TUTTI_FMUS "/StateSpace_fmi3.fmu", "b=" TUTTI_FMUS "/StateSpace_fmi3.fmu"};
    static const char *const joined[] = {"a.y=b.u", "b.y=a.u"};
    static const char *const set[] = {"a.D[1,1]=0",  "a.D[1,2]=2",   "a.D[2,1]=0.5", "a.D[2,2]=0.3",
                                      "b.D[1,1]=-1", "b.D[1,2]=0.4", "b.D[2,1]=1.5", "b.D[2,2]=0"};
    static const double D[2][2][2] = {{{0, 2}, {0.5, 0.3}}, {{-1, 0.4}, {1.5, 0}}};
    static const char *const all[] = {"*.x*", "*.y*"}, *const interfaces[] = {"cs", "me"};
    char output[512];
    snprintf(output, sizeof output, "%s/result.csv", scratch.path);
    for (size_t i = 0; i < LENGTH(interfaces); i++) {
        struct tutti_run_options options = {.files = files,
                                            .file_count = 2,
                                            .connects = joined,
                                            .connect_count = 2,
                                            .sets = set,
                                            .set_count = 8,
                                            .records = all,
                                            .record_count = 2,
                                            .output = output,
                                            .interface = interfaces[i],
                                            .coupling = "jacobi",
                                            .correct = true,
                                            .extrapolate = "1",
                                            .has_step = true,
                                            .step = 0.01,
                                            .has_stop = true,
                                            .stop = 1,
                                            .events = "none"};
        struct outcome outcome;
        simulate(&outcome, &options);
        assert_int_equal(tt_csv_table_rows(outcome.table), 101);
        for (size_t row = 0; row < 101; row++) {
            double x[2][3], y[2][2];
            char name[16];
            for (int k = 0; k < 2; k++)
                for (int e = 0; e < 3; e++) {
                    snprintf(name, sizeof name, "%c.x[%d]", 'a' + k, e + 1);
                    x[k][e] = cell(outcome.table, name, row);
                    snprintf(name, sizeof name, "%c.y[%d]", 'a' + k, e + 1);
                    if (e < 2)
                        y[k][e] = cell(outcome.table, name, row);
                }
            for (int k = 0; k < 2; k++) {
                assert_near(y[k][0], x[k][0] + D[k][0][0] * y[!k][0] + D[k][0][1] * y[!k][1], 1e-6);
                assert_near(y[k][1], x[k][1] + x[k][2] + D[k][1][0] * y[!k][0] + D[k][1][1] * y[!k][1], 1e-6);
            }
        }
        tt_csv_table_free(outcome.table);
    }
}

static void uncorrected_outputs_grow(void **state)
{
    (void)state;
    struct experiment e;
    struct outcome outcome;
    prepare(&e, "Mixer_fmi2", "cs", "0", 0.01, NULL, 0);
    e.options.correct = false;
    simulate(&outcome, &e.options);
    assert_true(fabs(cell(outcome.table, "a.y1", tt_csv_table_rows(outcome.table) - 1)) > 1e20);
    tt_csv_table_free(outcome.table);
}

/* With a D that changes with the state, the three ways to it lead to the same. */
static void all_ways_lead_to_the_same(void **state)
{
    (void)state;
    static const char *const bend[] = {"a.bend=0.02", "b.bend=-0.01"};
    static const char *const ways[][2] = {{"Mixer_fmi2", "cs"}, {"PlainMixer_fmi2", "cs"}, {"PlainMixer_fmi2", "me"}};
    struct outcome first, outcome;
    struct experiment e;
    prepare(&e, ways[0][0], ways[0][1], "0", 0.01, bend, LENGTH(bend));
    simulate(&first, &e.options);
    for (size_t w = 1; w < LENGTH(ways); w++) {
        prepare(&e, ways[w][0], ways[w][1], "0", 0.01, bend, LENGTH(bend));
        simulate(&outcome, &e.options);
        for (size_t row = 0; row < 100; row++) /* the last point has no room for a short step after it */
            for (int k = 0; k < 2; k++) {
                const char *const names[] = {"a.y1", "b.y3"};
                double exact = cell(first.table, names[k], row);
                assert_near(cell(outcome.table, names[k], row), exact, 1e-5 * (1 + fabs(exact)));
            }
        tt_csv_table_free(outcome.table);
    }
    tt_csv_table_free(first.table);
}

/* The order is that of the extrapolation, plus one. Units that take no slopes hold the middle, which is as good. */
static void errors_fall_with_the_order(void **state)
{
    (void)state;
    static const struct {
        const char *fmu, *interface, *order;
        bool smooth;
        double rate;
    } cases[] = {{"Mixer_fmi2", "cs", "0", false, 1},      {"PlainMixer_fmi2", "cs", "0", false, 1},
                 {"Mixer_fmi2", "cs", "1", false, 2},      {"Mixer_fmi2", "cs", "1", true, 2},
                 {"MixerRates_fmi2", "cs", "1", false, 2}, {"MixerRates_fmi2", "cs", "1", true, 2},
                 {"Mixer_fmi3", "cs", "1", false, 2},      {"Mixer_fmi2", "me", "1", false, 2},
                 {"Mixer_fmi2", "me", "1", true, 2},       {"Mixer_fmi2", "me", "2", false, 3}};
    double exact[UNITS] = {1, 1, 1};
    solve_exactly(exact, 1);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double errors[2];
        for (int k = 0; k < 2; k++) {
            struct experiment e;
            struct outcome outcome;
            prepare(&e, cases[i].fmu, cases[i].interface, cases[i].order, k ? 0.0125 : 0.025, NULL, 0);
            e.options.smooth = cases[i].smooth;
            simulate(&outcome, &e.options);
            errors[k] = error_of(outcome.table, exact);
            tt_csv_table_free(outcome.table);
        }
        double rate = log2(errors[0] / errors[1]);
        if (!(fabs(rate - cases[i].rate) < 0.25))
            fail_msg("%s %s, order %s%s: errors %g and %g, rate %g", cases[i].fmu, cases[i].interface, cases[i].order,
                     cases[i].smooth ? ", smooth" : "", errors[0], errors[1], rate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(outputs_are_consistent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inputs_go_on_where_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outputs_belong_to_states, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arrays_are_corrected_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uncorrected_outputs_grow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_ways_lead_to_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_fall_with_the_order, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
