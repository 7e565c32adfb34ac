/* SPDX-License-Identifier: MIT */
/* The consistent approach (Andersson 2016 Alg. 4): outputs at the end of a step fit together, also where they follow inputs in
 * another way than along a line. */
#include "mixers.h"

#define CUBE_A 2e-7
#define CUBE_B (-1.5e-7)

static const char *const cubes[] = {"a.cube=2e-7", "b.cube=-1.5e-7"};

static void prepare_solve(struct experiment *e, const char *fmu, const char *interface, const char *order, double step)
{
    prepare(e, fmu, interface, order, step, cubes, LENGTH(cubes));
    e->options.correct_how = "solve";
}

/* By how much the outputs of a row that are connected are not what the units make of them, relative to their size. */
static double misfit(const struct tt_csv_table *table, size_t row)
{
    static const int looked_at[] = {0, 1, 2, 4, 5};
    struct reference r = {.scale = 1};
    double x[UNITS], y[OUTPUTS] = {0}, u[INPUTS], made[OUTPUTS], worst = 0;
    char name[16];
    for (int k = 0; k < UNITS; k++) {
        snprintf(name, sizeof name, "%c.x", 'a' + k);
        x[k] = cell(table, name, row);
        for (int i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "%c.y%d", 'a' + k, i + 1);
            y[3 * k + i] = cell(table, name, row);
        }
    }
    through_links(y, true, u);
    outputs_of(&r, x, 273.15, u, made);
    made[0] += CUBE_A * u[0] * u[0] * u[0];
    made[3] += CUBE_B * u[2] * u[2] * u[2];
    for (size_t i = 0; i < LENGTH(looked_at); i++)
        worst = fmax(worst, fabs(made[looked_at[i]] - y[looked_at[i]]) / (1 + fabs(y[looked_at[i]])));
    return worst;
}

static double worst_misfit(const struct tutti_run_options *options)
{
    struct outcome outcome;
    double worst = 0;
    simulate(&outcome, options);
    assert_in_range(tt_csv_table_rows(outcome.table), 11, 1000);
    for (size_t row = 1; row < tt_csv_table_rows(outcome.table); row++)
        worst = fmax(worst, misfit(outcome.table, row));
    tt_csv_table_free(outcome.table);
    return worst;
}

static const struct {
    const char *fmu, *interface;
} sorts[] = {{"Mixer_fmi2", "me"},
             {"Mixer_fmi3", "me"},
             {"PlainMixer_fmi2", "me"},
             {"Mixer_fmi3", "cs"},
             {"PlainMixer_fmi3", "cs"}};
static const char *const orders[] = {"0", "1", "2"};

/* One step of Newton's method leaves up to 4e-4 of them here, and less with better guesses; solved, they fit. */
static void outputs_fit_together(void **state)
{
    (void)state;
    for (size_t s = 0; s < LENGTH(sorts); s++)
        for (size_t order = 0; order < LENGTH(orders); order++) {
            struct experiment e;
            prepare_solve(&e, sorts[s].fmu, sorts[s].interface, orders[order], 0.1);
            double solved = worst_misfit(&e.options);
            e.options.correct_how = "linear";
            double linear = worst_misfit(&e.options);
            if (solved > 1e-9 || linear < 1e-7)
                fail_msg("%s %s, order %zu: %g solved, %g linear", sorts[s].fmu, sorts[s].interface, order, solved,
                         linear);
        }
}

/* The error of the states at the end falls as the step does to the power of the order. */
static void errors_fall_with_the_step(void **state)
{
    (void)state;
    double reference[UNITS];
    struct experiment e;
    struct outcome outcome;
    prepare_solve(&e, "Mixer_fmi2", "me", "2", 0.0005);
    simulate(&outcome, &e.options);
    size_t last = tt_csv_table_rows(outcome.table) - 1;
    const char *const names[] = {"a.x", "b.x", "c.x"};
    for (int k = 0; k < UNITS; k++)
        reference[k] = cell(outcome.table, names[k], last);
    tt_csv_table_free(outcome.table);
    for (size_t order = 0; order < 2; order++) {
        double errors[2];
        for (int n = 0; n < 2; n++) {
            prepare_solve(&e, "Mixer_fmi2", "me", orders[order], n ? 0.01 : 0.02);
            simulate(&outcome, &e.options);
            errors[n] = error_of(outcome.table, reference);
            tt_csv_table_free(outcome.table);
        }
        double found = log2(errors[0] / errors[1]);
        assert_true(found > (double)order + 0.8 && found < (double)order + 1.4);
    }
}

static enum tutti_err try(const struct tutti_run_options *options, unsigned long *iterations)
{
    struct tutti_run_stats stats = {0};
    enum tutti_err err = tutti_run(options, &stats);
    *iterations = stats.solve_iterations;
    tt_stats_fini(&stats);
    return err;
}

/* Linear systems take one iteration per step, with the result of the correction. */
static void linear_loops_take_one_iteration(void **state)
{
    (void)state;
    struct experiment e;
    struct outcome outcome;
    unsigned long iterations;
    struct reference r;
    prepare(&e, "Mixer_fmi2", "me", "0", 0.1, NULL, 0);
    e.options.correct_how = "solve";
    assert_ok(try(&e.options, &iterations));
    assert_int_equal(iterations, 10);
    simulate(&outcome, &e.options);
    begin(&r, true);
    for (size_t row = 0; row < 11; row++) {
        compare(outcome.table, row, &r, 1e-9);
        advance(&r, 0.1, HELD, false);
    }
    tt_csv_table_free(outcome.table);
}

static void units_that_cannot_be_read_again_are_refused(void **state)
{
    (void)state;
    unsigned long unused;
    struct experiment e;
    prepare_solve(&e, "Mixer_fmi2", "cs", "0", 0.1);
    assert_fails(try(&e.options, &unused), TUTTI_ERR_UNSUPPORTED, "reads units in an algebraic loop again");
    assert_non_null(strstr(tutti_err_message(), "'a'"));
    assert_non_null(strstr(tutti_err_message(), "use interface me, correct linear or coupling relax"));
    prepare_solve(&e, "Mixer_fmi3", "cs", "0", 0.1);
    e.options.no_event_mode = true;
    assert_fails(try(&e.options, &unused), TUTTI_ERR_UNSUPPORTED, "has no event mode");
}

/* D changes at t = 0.5, by an event of all units: after it outputs fit together again. */
static void an_event_is_crossed(void **state)
{
    (void)state;
    static const char *const switches[] = {"a.switch_at=0.5", "b.switch_at=0.5", "c.switch_at=0.5"};
    for (size_t s = 0; s < LENGTH(sorts); s++) {
        struct experiment e;
        struct outcome outcome;
        struct reference r;
        prepare(&e, sorts[s].fmu, sorts[s].interface, "0", 0.1, switches, LENGTH(switches));
        e.options.correct_how = "solve";
        simulate(&outcome, &e.options);
        assert_int_equal(tt_csv_table_rows(outcome.table), 12);
        begin(&r, true);
        for (int n = 0; n < 5; n++)
            advance(&r, 0.1, HELD, false);
        compare(outcome.table, 5, &r, 1e-6);
        r.scale = 0.5;
        consistent(&r, r.x, 273.15, true, r.y);
        compare(outcome.table, 6, &r, 1e-6);
        tt_csv_table_free(outcome.table);
    }
}

/* From t = 0.5 on, y2 = x + u2 on both sides. A shorter step does not help. */
static void a_loop_without_a_solution_is_an_error(void **state)
{
    (void)state;
    static const char *const loop[] = {"a.y2=b.u2", "b.y2=a.u2"};
    static const char *const more[] = {"a.d22=2", "b.d22=2", "a.switch_at=0.5", "b.switch_at=0.5"};
    for (int controlled = 0; controlled < 2; controlled++) {
        unsigned long unused;
        struct experiment e;
        prepare(&e, "Mixer_fmi3", "me", "0", 0.01, more, LENGTH(more));
        e.options.correct_how = "solve";
        e.options.control = controlled ? "richardson" : "fixed";
        e.options.rtol = e.options.atol = 1e-2;
        e.options.file_count = 2;
        e.options.set_count -= UNITS * PARAMETERS;
        e.options.sets += UNITS * PARAMETERS;
        e.options.connects = loop;
        e.options.connect_count = LENGTH(loop);
        assert_fails(try(&e.options, &unused), TUTTI_ERR_SOLVER, "no outputs were found that fit together");
        const char *message = tutti_err_message();
        assert_non_null(strstr(message, "a.y2 to b.u2 "));
        assert_non_null(strstr(message, "b.y2 to a.u2 "));
        assert_non_null(strstr(message, "Condition of I - D L"));
        assert_non_null(strstr(message, "Try a shorter step"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(outputs_fit_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_fall_with_the_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(linear_loops_take_one_iteration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(units_that_cannot_be_read_again_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_is_crossed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loop_without_a_solution_is_an_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
