/* SPDX-License-Identifier: MIT */
/* Ways back in a simulation that a program steps: what follows a point is the same every time. */
#include "sim/stats.h"
#include "stepped.h"

#include "scratch.h"

/* ---- the same to the bit ---- */

/* So many steps, or to the end; rows are those of these steps. */
static size_t step_on(struct tutti_simulation *simulation, struct rows *rows, int steps)
{
    size_t first = rows->count;
    for (int n = 0; n < steps && !tutti_simulation_is_over(simulation); n++)
        assert_ok(tutti_simulation_step(simulation));
    return first;
}

/* From every second point on, there and back again twice, while the simulation continues unaffected. */
static void go_back_and_forth(const struct sort *sort)
{
    struct rows rows = {0}, whole = {0};
    struct tutti_watcher watcher = WATCHER(&rows), other = WATCHER(&whole);
    struct tutti_run_options options = sort->options;
    struct tutti_point *point = NULL;
    options.watcher = &other;
    assert_ok(tutti_run(&options, NULL));
    options.watcher = &watcher;
    struct tutti_simulation *simulation = start_simulation(&options);
    size_t passed = rows.count; /* of the whole run */
    for (int n = 0; n < 40 && !tutti_simulation_is_over(simulation); n++) {
        if (tutti_simulation_save(simulation, &point))
            fail_msg("%s: %s", sort->name, tutti_err_message());
        double t = tutti_simulation_time(simulation);
        size_t first = step_on(simulation, &rows, 5), count = rows.count - first;
        assert_ok(tutti_simulation_restore(simulation, point));
        assert_same_double(tutti_simulation_time(simulation), t);
        size_t second = step_on(simulation, &rows, 5);
        if (sort->back == EXACT) {
            assert_int_equal(rows.count - second, count);
            assert_same_rows(sort->name, &rows, first, &rows, second, count);
            assert_same_rows(sort->name, &rows, first, &whole, passed, count);
        }
        assert_ok(tutti_simulation_restore(simulation, point));
        size_t third = step_on(simulation, &rows, 5);
        assert_int_equal(rows.count - third, third - second);
        assert_same_rows(sort->name, &rows, second, &rows, third, third - second);
        assert_ok(tutti_simulation_restore(simulation, point));
        second = step_on(simulation, &rows, 2);
        passed += rows.count - second;
    }
    finish_and_free(simulation);
    rows_fini(&rows);
    rows_fini(&whole);
}

static void test_same_to_the_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(sorts); i++)
        if (sorts[i].back != NO_WAY)
            go_back_and_forth(&sorts[i]);
}

/* Ramps, kinks and jumps of an input file on the way. */
static void test_same_with_an_input_file(void **state)
{
    (void)state;
    static const char table[] = "time,u\n0,0\n0.33,1\n0.5,1\n0.5,-2\n0.77,0.5\n2,1\n";
    struct scratch scratch;
    scratch_init(&scratch);
    const char *input = scratch_write(&scratch, "in.csv", table, sizeof table - 1);
    const struct sort driven[] = {
        {"driven cs 2",
         {ONE(TUTTI_FMUS "/Tracker_fmi2.fmu"), TIMES(0.1, 1), .inputs = &input, .input_count = 1},
         EXACT},
        {"driven cs 3",
         {ONE(TUTTI_FMUS "/Tracker_fmi3.fmu"), TIMES(0.1, 1), .inputs = &input, .input_count = 1},
         EXACT},
        {"driven events",
         {ONE(TEST_FMUS "/EarlySwitches_fmi3.fmu"), TIMES(0.1, 1), .inputs = &input, .input_count = 1},
         EXACT},
        {"driven rk4",
         {ONE(TUTTI_FMUS "/Tracker_fmi2.fmu"), TIMES(0.1, 1), .inputs = &input, .input_count = 1, .solver = "rk4"},
         EXACT},
        {"driven bdf",
         {ONE(TUTTI_FMUS "/Tracker_fmi3.fmu"), TIMES(0.1, 1), .inputs = &input, .input_count = 1, .solver = "bdf"},
         EXACT},
        {"driven cvode",
         {ONE(TUTTI_FMUS "/Tracker_fmi3.fmu"), TIMES(0.1, 1), .inputs = &input, .input_count = 1, .solver = "cvode"},
         ANEW},
    };
    for (size_t i = 0; i < LENGTH(driven); i++)
        go_back_and_forth(&driven[i]);
    scratch_fini(&scratch);
}

/* Points of a simulation in any order, many at once. */
static void test_many_points(void **state)
{
    (void)state;
    enum { POINTS = 30 };
    struct tutti_run_options options = {ONE(EXAMPLE("quarter_car")), .coupling = "jacobi", .control = "richardson",
                                        .extrapolate = "2",          .has_rtol = true,     .rtol = 1e-5};
    struct tutti_simulation *simulation = start_simulation(&options);
    struct tutti_point *points[POINTS] = {0};
    double times[POINTS + 1], values[POINTS + 1];
    size_t x = number_of(simulation, "chassis.x");
    for (int n = 0; n <= POINTS; n++) {
        if (n < POINTS)
            assert_ok(tutti_simulation_save(simulation, &points[n]));
        times[n] = tutti_simulation_time(simulation);
        assert_ok(tutti_simulation_get(simulation, x, &values[n], 1));
        assert_ok(tutti_simulation_step(simulation));
    }
    for (int k = 0; k < 3 * POINTS; k++) {
        int n = (k * 17 + 5) % POINTS;
        double value;
        assert_ok(tutti_simulation_restore(simulation, points[n]));
        assert_same_double(tutti_simulation_time(simulation), times[n]);
        assert_ok(tutti_simulation_get(simulation, x, &value, 1));
        assert_same_double(value, values[n]);
        assert_ok(tutti_simulation_step(simulation));
        assert_same_double(tutti_simulation_time(simulation), times[n + 1]);
        assert_ok(tutti_simulation_get(simulation, x, &value, 1));
        assert_same_double(value, values[n + 1]);
    }
    for (int n = 0; n < POINTS; n += 2)
        tutti_point_free(simulation, points[n]);
    tutti_point_free(simulation, NULL);
    assert_ok(tutti_simulation_restore(simulation, points[7]));
    finish_and_free(simulation); /* with those that are left */
}

static void test_point_is_used_again(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/VanDerPol_fmi2.fmu"), TIMES(0.1, 2)};
    struct tutti_simulation *simulation = start_simulation(&options);
    struct tutti_point *point = NULL, *same;
    assert_ok(tutti_simulation_save(simulation, &point));
    same = point;
    assert_ok(tutti_simulation_advance(simulation, 1));
    assert_ok(tutti_simulation_save(simulation, &point));
    assert_ptr_equal(point, same);
    assert_ok(tutti_simulation_advance(simulation, 2));
    assert_true(tutti_simulation_is_over(simulation));
    assert_ok(tutti_simulation_restore(simulation, point));
    assert_same_double(tutti_simulation_time(simulation), 1);
    assert_false(tutti_simulation_is_over(simulation));
    tutti_simulation_free(simulation);
}

/* Also between two communication points. */
static void test_point_off_the_grid(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(sorts); i++) {
        struct rows rows = {0};
        struct tutti_watcher watcher = WATCHER(&rows);
        struct tutti_run_options options = sorts[i].options;
        struct tutti_point *point = NULL;
        options.watcher = &watcher;
        if (sorts[i].back == NO_WAY)
            continue;
        struct tutti_simulation *simulation = start_simulation(&options);
        assert_ok(tutti_simulation_step(simulation));
        double t = tutti_simulation_time(simulation) * 3.14;
        assert_ok(tutti_simulation_advance(simulation, t));
        assert_ok(tutti_simulation_save(simulation, &point));
        assert_ok(tutti_simulation_restore(simulation, point));
        size_t first = step_on(simulation, &rows, 6), count = rows.count - first;
        assert_ok(tutti_simulation_restore(simulation, point));
        size_t second = step_on(simulation, &rows, 6);
        assert_int_equal(rows.count - second, count);
        assert_same_rows(sorts[i].name, &rows, first, &rows, second, count);
        finish_and_free(simulation);
        rows_fini(&rows);
    }
}

/* ---- the end is not the end ---- */

static void test_back_from_where_an_fmu_ended(void **state)
{
    (void)state;
    static const char *const solvers[] = {NULL, "rk4"};
    for (size_t s = 0; s < LENGTH(solvers); s++) {
        struct tutti_run_options options = {ONE(TUTTI_FMUS "/Stair_fmi3.fmu"), TIMES(0.3, 20), .solver = solvers[s]};
        struct tutti_simulation *simulation = start_simulation(&options);
        struct tutti_run_stats stats;
        struct tutti_point *point = NULL;
        assert_ok(tutti_simulation_advance(simulation, 7.5));
        assert_ok(tutti_simulation_save(simulation, &point));
        for (int again = 0; again < 3; again++) {
            assert_ok(tutti_simulation_advance(simulation, 20));
            assert_true(tutti_simulation_is_over(simulation));
            assert_near(tutti_simulation_time(simulation), 10, 1e-6);
            assert_ok(tutti_simulation_restore(simulation, point));
            assert_false(tutti_simulation_is_over(simulation));
            assert_same_double(value_of(simulation, "counter"), 7);
        }
        assert_ok(tutti_simulation_advance(simulation, 8.5));
        assert_same_double(value_of(simulation, "counter"), 8);
        assert_ok(tutti_simulation_finish(simulation, &stats));
        assert_false(stats.terminated_by_fmu);
        assert_true(stats.events_located >= 7 + 3 * 3 + 1); /* what was done stays counted */
        tt_stats_fini(&stats);
        tutti_simulation_free(simulation);
    }
}

/* ---- what was put ---- */

static void test_put_and_points(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/Feedthrough_fmi3.fmu"), TIMES(0.1, 2)};
    struct tutti_simulation *simulation = start_simulation(&options);
    struct tutti_point *before = NULL, *pending = NULL;
    const char *text;
    assert_ok(tutti_simulation_save(simulation, &before));
    assert_ok(put_value(simulation, "float64_in", 1));
    assert_ok(tutti_simulation_set(simulation, "string_in=one"));
    assert_ok(tutti_simulation_save(simulation, &pending)); /* and no step has taken it yet */
    assert_ok(put_value(simulation, "float64_in", 2));
    assert_ok(tutti_simulation_set(simulation, "string_in=two"));
    for (int again = 0; again < 2; again++) {
        assert_ok(tutti_simulation_restore(simulation, before));
        assert_ok(put_value(simulation, "int8_in", 5));
        assert_ok(tutti_simulation_step(simulation));
        assert_same_double(value_of(simulation, "float64_out"), 0);
        assert_same_double(value_of(simulation, "int8_out"), 5);
        assert_ok(tutti_simulation_restore(simulation, pending));
        assert_ok(tutti_simulation_step(simulation));
        assert_same_double(value_of(simulation, "float64_out"), 1);
        assert_same_double(value_of(simulation, "int8_out"), 0);
        assert_ok(tutti_simulation_get_text(simulation, number_of(simulation, "string_out"), &text));
        assert_string_equal(text, "one");
    }
    assert_ok(tutti_simulation_save(simulation, &pending)); /* nothing is pending now */
    assert_ok(put_value(simulation, "float64_in", 3));
    assert_ok(tutti_simulation_restore(simulation, pending));
    assert_ok(tutti_simulation_step(simulation));
    assert_same_double(value_of(simulation, "float64_out"), 1);
    finish_and_free(simulation);
}

/* A value set at a resumed point: derivatives that a unit provides after its first step only, and the row already shown
 * there, are independent of whether the simulation reaches the point or is restored to it. */
static void test_put_where_it_goes_on(void **state)
{
    (void)state;
    const struct {
        struct tutti_run_options options;
        const char *name;
    } cases[] = {
        {{.files = LIST("a=" TEST_FMUS "/MixerRates_fmi2.fmu", "b=" TEST_FMUS "/MixerRates_fmi2.fmu"),
          .file_count = 2,
          .connects = LIST("a.y1=b.u1"),
          .connect_count = 1,
          .sets = LIST("a.b2=0.5", "b.b1=-0.2"),
          .set_count = 2,
          TIMES(0.05, 1),
          .coupling = "jacobi",
          .control = "fixed",
          .events = "none",
          .extrapolate = "1"},
         "a.u2"},
        {{ONE(TEST_FMUS "/Gate_fmi3.fmu"), TIMES(0.1, 1)}, "u"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct rows rows = {0};
        struct tutti_watcher watcher = WATCHER(&rows);
        struct tutti_run_options options = cases[i].options;
        struct tutti_point *point = NULL;
        options.watcher = &watcher;
        struct tutti_simulation *simulation = start_simulation(&options);
        for (int n = 0; n < 4; n++) {
            assert_ok(tutti_simulation_save(simulation, &point));
            assert_ok(put_value(simulation, cases[i].name, n + 0.3));
            size_t first = step_on(simulation, &rows, 3), count = rows.count - first;
            assert_ok(tutti_simulation_restore(simulation, point));
            assert_ok(put_value(simulation, cases[i].name, n + 0.3));
            size_t second = step_on(simulation, &rows, 3);
            assert_int_equal(rows.count - second, count);
            assert_same_rows(cases[i].name, &rows, first, &rows, second, count);
            assert_ok(tutti_simulation_restore(simulation, point));
            assert_ok(tutti_simulation_step(simulation));
        }
        finish_and_free(simulation);
        rows_fini(&rows);
    }
}

/* Trials from one point: a parameter each, x' = 1 + u. */
static void test_trials(void **state)
{
    (void)state;
    static const char *const solvers[] = {NULL, "rk4", "bdf", "cvode"};
    for (size_t s = 0; s < LENGTH(solvers); s++) {
        struct tutti_run_options options = {ONE(TEST_FMUS "/Switches_fmi3.fmu"), TIMES(0.1, 1), .solver = solvers[s]};
        struct tutti_simulation *simulation = start_simulation(&options);
        struct tutti_point *point = NULL;
        assert_ok(tutti_simulation_advance(simulation, 0.25));
        assert_ok(tutti_simulation_save(simulation, &point));
        for (int u = -3; u < 4; u++) {
            assert_ok(tutti_simulation_restore(simulation, point));
            assert_ok(put_value(simulation, "u", u));
            assert_ok(tutti_simulation_advance(simulation, 1));
            assert_near(value_of(simulation, "x"), 0.25 + 0.75 * (1 + u), 1e-6);
        }
        finish_and_free(simulation);
    }
}

/* ---- refused ---- */

static void test_refused(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    struct tutti_run_options with_file = {ONE(TUTTI_FMUS "/VanDerPol_fmi2.fmu"), TIMES(0.1, 1),
                                          .output = scratch_path(&scratch, "result.csv")},
                             plain = {ONE(TUTTI_FMUS "/VanDerPol_fmi2.fmu"), TIMES(0.1, 1)};
    struct tutti_simulation *simulation = start_simulation(&with_file), *other = start_simulation(&plain);
    struct tutti_point *point = NULL, *foreign = NULL;
    assert_ok(tutti_simulation_save(simulation, &point));
    assert_fails(tutti_simulation_restore(simulation, point), TUTTI_ERR_UNSUPPORTED, "result file would run backwards");
    assert_ok(tutti_simulation_step(simulation)); /* it can continue */
    assert_ok(tutti_simulation_save(other, &foreign));
    assert_fails(tutti_simulation_save(simulation, &foreign), TUTTI_ERR_ARGUMENT,
                 "the point does not belong to this simulation");
    assert_fails(tutti_simulation_restore(other, point), TUTTI_ERR_ARGUMENT,
                 "the point does not belong to this simulation");
    assert_fails(tutti_simulation_restore(other, NULL), TUTTI_ERR_ARGUMENT,
                 "the point does not belong to this simulation");
    tutti_point_free(other, point); /* not its own: stays */
    assert_ok(tutti_simulation_save(simulation, &point));
    finish_and_free(simulation);
    finish_and_free(other);

    struct tutti_run_options logged = {ONE(EXAMPLE("quarter_car")), .step_log = scratch_path(&scratch, "steps.csv")};
    simulation = start_simulation(&logged);
    point = NULL;
    assert_ok(tutti_simulation_save(simulation, &point));
    assert_fails(tutti_simulation_restore(simulation, point), TUTTI_ERR_UNSUPPORTED, "step log");
    finish_and_free(simulation);
    scratch_fini(&scratch);
}

/* FMUs that cannot be saved: named, and nothing is lost. */
static void test_unit_that_cannot(void **state)
{
    (void)state;
    struct tutti_run_options one = {ONE(TUTTI_FMUS "/VanDerPol_fmi1cs.fmu"), TIMES(0.1, 1)},
                             two = {.files = LIST("good=" TUTTI_FMUS "/VanDerPol_fmi3.fmu",
                                                  "bad=" TUTTI_FMUS "/VanDerPol_fmi1cs.fmu"),
                                    .file_count = 2,
                                    TIMES(0.1, 1)};
    const struct {
        const struct tutti_run_options *options;
        const char *name;
    } cases[] = {{&one, "VanDerPol_fmi1cs"}, {&two, "bad"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tutti_simulation *simulation = start_simulation(cases[i].options);
        struct tutti_point *point = NULL;
        for (int again = 0; again < 3; again++) {
            assert_fails(tutti_simulation_save(simulation, &point), TUTTI_ERR_UNSUPPORTED, cases[i].name);
            assert_null(point);
            assert_ok(tutti_simulation_step(simulation));
        }
        finish_and_free(simulation);
    }
}

/* An FMU that cannot be brought back: the simulation has failed, and can be ended. */
static void test_restore_fails(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/Faulty_fmi2.fmu"), TIMES(0.1, 1)};
    struct tutti_point *point = NULL;
    assert_int_equal(setenv("KIT_FAULT", "error SetFMUstate", 1), 0);
    struct tutti_simulation *simulation = start_simulation(&options);
    unsetenv("KIT_FAULT");
    assert_ok(tutti_simulation_save(simulation, &point));
    assert_ok(tutti_simulation_step(simulation));
    assert_fails(tutti_simulation_restore(simulation, point), TUTTI_ERR_FMU, "Faulty");
    assert_fails(tutti_simulation_step(simulation), TUTTI_ERR_STATE, "has failed");
    tutti_point_free(simulation, point);
    assert_ok(tutti_simulation_finish(simulation, NULL));
    tutti_simulation_free(simulation);
}

/* Model Exchange without saved states: its continuous states can be brought back, what an event did cannot. */
static void test_back_over_an_event(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/BouncingBall_fmi1me.fmu"), TIMES(0.1, 1)};
    struct tutti_simulation *simulation = start_simulation(&options);
    struct tutti_point *point = NULL;
    assert_ok(tutti_simulation_save(simulation, &point));
    assert_ok(tutti_simulation_advance(simulation, 0.3));
    assert_ok(tutti_simulation_restore(simulation, point));
    assert_ok(tutti_simulation_advance(simulation, 0.5)); /* over a bounce */
    assert_fails(tutti_simulation_restore(simulation, point), TUTTI_ERR_UNSUPPORTED, "there was an event at t = 0.45");
    assert_fails(tutti_simulation_step(simulation), TUTTI_ERR_STATE, "has failed");
    assert_ok(tutti_simulation_finish(simulation, NULL));
    tutti_simulation_free(simulation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_to_the_bit),
        cmocka_unit_test(test_same_with_an_input_file),
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_point_is_used_again),
        cmocka_unit_test(test_point_off_the_grid),
        cmocka_unit_test(test_back_from_where_an_fmu_ended),
        cmocka_unit_test(test_put_and_points),
        cmocka_unit_test(test_put_where_it_goes_on),
        cmocka_unit_test(test_trials),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_unit_that_cannot),
        cmocka_unit_test(test_restore_fails),
        cmocka_unit_test(test_back_over_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
