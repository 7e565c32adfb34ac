/* SPDX-License-Identifier: MIT */
/* The life of a simulation that a program steps (include/tutti/simulation.h): its steps are those of a run, and calls that
 * make no sense are refused. Values are in test_simulation_values.c, ways back in test_simulation_points.c. */
#include "sim/stats.h"
#include "stepped.h"

#include "count_allocations.h"
#include "scratch.h"

static const char *const ball = TUTTI_FMUS "/BouncingBall_fmi2.fmu", *const ramp = TUTTI_FMUS "/VanDerPol_fmi2.fmu";

/* ---- the same as a run ---- */

static void assert_same_stats(const char *name, const struct tutti_run_stats *a, const struct tutti_run_stats *b)
{
    if (a->steps != b->steps || a->rejected != b->rejected || a->iterations != b->iterations || a->rows != b->rows ||
        a->events_located != b->events_located || a->unit_count != b->unit_count || a->stop != b->stop)
        fail_msg("%s: %lu and %lu steps, %lu and %lu rejected, %lu and %lu rows", name, a->steps, b->steps, a->rejected,
                 b->rejected, a->rows, b->rows);
    assert_string_equal(a->coupling, b->coupling);
    assert_string_equal(a->control, b->control);
    for (size_t u = 0; u < a->unit_count; u++)
        assert_int_equal(a->units[u].do_steps, b->units[u].do_steps);
}

/* Do steps end between rows? So they do without --step, --control and --rtol, too: a step that FMUs propose is the distance of rows then. */
static bool ends_between_rows(const struct tutti_run_options *options)
{
    return options->has_output_step || !(options->has_step || options->control || options->has_rtol);
}

/* Step by step; what get says between steps is what was recorded. */
static void step_through(const struct sort *sort, struct rows *rows, struct tutti_run_stats *stats)
{
    struct tutti_watcher watcher = WATCHER(rows);
    struct tutti_run_options options = sort->options;
    options.watcher = &watcher;
    struct tutti_simulation *simulation = start_simulation(&options);
    size_t compared = 0;
    for (unsigned long n = 0; !tutti_simulation_is_over(simulation); n++) {
        char *name = rows->names;
        assert_ok(tutti_simulation_step(simulation));
        const double *last = row_of(rows, rows->count - 1);
        if (n % 7 != 0 || (ends_between_rows(&options) && tutti_simulation_time(simulation) != last[0]))
            continue;
        compared++;
        assert_same_double(tutti_simulation_time(simulation), last[0]);
        for (size_t c = 1; c < rows->columns; c++) {
            char *blank = strchr(name, ' ');
            assert_non_null(blank);
            *blank = '\0';
            if (!options.correct && !isnan(last[c])) /* which shows what others make of it; texts */
                assert_same_double(value_of(simulation, name), last[c]);
            *blank = ' ';
            name = blank + 1;
        }
    }
    assert_true(compared > 0);
    assert_ok(tutti_simulation_step(simulation)); /* does nothing */
    assert_ok(tutti_simulation_finish(simulation, stats));
    tutti_simulation_free(simulation);
}

static void test_steps_are_those_of_a_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(sorts); i++) {
        struct rows whole = {0}, stepped = {0};
        struct tutti_watcher watcher = WATCHER(&whole);
        struct tutti_run_options options = sorts[i].options;
        struct tutti_run_stats whole_stats, stepped_stats;
        options.watcher = &watcher;
        if (tutti_run(&options, &whole_stats))
            fail_msg("%s: %s", sorts[i].name, tutti_err_message());
        step_through(&sorts[i], &stepped, &stepped_stats);
        assert_int_equal(whole.count, stepped.count);
        assert_true(whole.count > 5);
        assert_same_rows(sorts[i].name, &whole, 0, &stepped, 0, whole.count);
        assert_same_stats(sorts[i].name, &whole_stats, &stepped_stats);
        tt_stats_fini(&whole_stats);
        tt_stats_fini(&stepped_stats);
        rows_fini(&whole);
        rows_fini(&stepped);
    }
}

/* ---- advance ---- */

static void test_advance_hits_every_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(sorts); i++) {
        struct tutti_run_stats stats;
        if (tutti_run(&sorts[i].options, &stats))
            fail_msg("%s: %s", sorts[i].name, tutti_err_message());
        double start = stats.start, stop = stats.stop;
        tt_stats_fini(&stats);
        struct tutti_simulation *simulation = start_simulation(&sorts[i].options);
        for (int n = 1; n <= 10; n++) {
            double t = n < 10 ? start + (stop - start) * n / 10.3 : stop;
            assert_ok(tutti_simulation_advance(simulation, t));
            assert_same_double(tutti_simulation_time(simulation), t);
            assert_ok(tutti_simulation_advance(simulation, t)); /* it is there */
            assert_same_double(tutti_simulation_time(simulation), t);
        }
        assert_true(tutti_simulation_is_over(simulation));
        finish_and_free(simulation);
    }
}

/* Times that a program computes, wrong in the last digit: not one step more than the grid has, none to a time that is
 * there already. */
static void test_advance_by_rounded_times(void **state)
{
    (void)state;
    static const char *const solvers[] = {NULL, "cvode", "bdf", "rk4"};
    for (size_t s = 0; s < LENGTH(solvers); s++) {
        struct tutti_run_options options = {ONE(TUTTI_FMUS "/Stair_fmi3.fmu"), TIMES(0.1, 9.3), .solver = solvers[s]};
        struct tutti_simulation *simulation = start_simulation(&options);
        struct tutti_run_stats stats;
        for (int n = 1; n <= 93; n++) {
            double t = 0.1 * n; /* 0.30000000000000004, ..., 9.3000000000000007 */
            assert_ok(tutti_simulation_advance(simulation, t));
            assert_near(tutti_simulation_time(simulation), t, 1e-14);
            assert_ok(tutti_simulation_advance(simulation, t - 1e-15));
            assert_ok(tutti_simulation_advance(simulation, t + 1e-15));
        }
        assert_true(tutti_simulation_is_over(simulation));
        assert_same_double(tutti_simulation_time(simulation), 9.3);
        assert_ok(tutti_simulation_finish(simulation, &stats));
        assert_int_equal(stats.steps, 93);
        tt_stats_fini(&stats);
        tutti_simulation_free(simulation);
    }
}

static void test_advance_refuses(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(ramp), TIMES(0.1, 1)};
    struct tutti_simulation *simulation = start_simulation(&options);
    assert_ok(tutti_simulation_advance(simulation, 0.55));
    assert_fails(tutti_simulation_advance(simulation, 0.5), TUTTI_ERR_ARGUMENT, "0.55");
    assert_fails(tutti_simulation_advance(simulation, 1.1), TUTTI_ERR_ARGUMENT, "goes to 1");
    assert_fails(tutti_simulation_advance(simulation, NAN), TUTTI_ERR_ARGUMENT, "not ahead");
    assert_ok(tutti_simulation_advance(simulation, 0.6)); /* a refusal has spoilt nothing */
    assert_same_double(tutti_simulation_time(simulation), 0.6);
    finish_and_free(simulation);

    struct tutti_run_options uniform = {ONE(TUTTI_FMUS "/Once_fmi2.fmu"), TIMES(0.1, 1)};
    simulation = start_simulation(&uniform);
    assert_ok(tutti_simulation_advance(simulation, 0.3));
    assert_fails(tutti_simulation_advance(simulation, 0.45), TUTTI_ERR_ARGUMENT, "cannot vary its step of 0.1");
    assert_ok(tutti_simulation_advance(simulation, 1));
    finish_and_free(simulation);
}

static void note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)level;
    (void)origin;
    snprintf(context, 256, "%s", text);
}

/* An FMU that ends the run before t: reported at the end, as by a run. */
static void test_advance_ends_early(void **state)
{
    (void)state;
    char said[256] = "";
    struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = note, .context = said};
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/Stair_fmi3.fmu"), TIMES(0.3, 20), .log = &log};
    struct tutti_simulation *simulation = start_simulation(&options);
    struct tutti_run_stats stats;
    assert_ok(tutti_simulation_advance(simulation, 15));
    assert_true(tutti_simulation_is_over(simulation));
    assert_near(tutti_simulation_time(simulation), 10, 1e-9);
    assert_ok(tutti_simulation_step(simulation));
    assert_ok(tutti_simulation_advance(simulation, 15));
    assert_same_double(value_of(simulation, "counter"), 10);
    assert_ok(tutti_simulation_finish(simulation, &stats));
    assert_true(stats.terminated_by_fmu);
    assert_contains(said, "the FMU ended the simulation at t = 10");
    tt_stats_fini(&stats);
    tutti_simulation_free(simulation);
}

/* ---- order of calls ---- */

/* A program cannot be ended for a call that does not come back. */
static void test_no_timeout_of_its_own(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(ball), TIMES(0.1, 1), .has_timeout = true, .timeout = 1};
    assert_fails(tutti_run(&options, NULL), TUTTI_ERR_ARGUMENT, "has no effect here");
}

static void test_calls_before_start(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(ball), TIMES(0.1, 1), .has_start = true, .start = 0.5};
    struct tutti_simulation *simulation = open_simulation(&options);
    struct tutti_point *point = NULL;
    const char *text;
    double value = 1;
    assert_same_double(tutti_simulation_time(simulation), 0.5);
    assert_false(tutti_simulation_is_over(simulation));
    assert_fails(tutti_simulation_step(simulation), TUTTI_ERR_STATE, "is not started");
    assert_fails(tutti_simulation_advance(simulation, 1), TUTTI_ERR_STATE, "is not started");
    assert_fails(tutti_simulation_get(simulation, 0, &value, 1), TUTTI_ERR_STATE, "is not started");
    assert_fails(tutti_simulation_get_text(simulation, 0, &text), TUTTI_ERR_STATE, "is not started");
    assert_fails(tutti_simulation_put(simulation, 0, &value, 1), TUTTI_ERR_STATE, "is not started");
    assert_fails(tutti_simulation_save(simulation, &point), TUTTI_ERR_STATE, "is not started");
    assert_fails(tutti_simulation_restore(simulation, point), TUTTI_ERR_STATE, "is not started");
    assert_fails(tutti_simulation_finish(simulation, NULL), TUTTI_ERR_STATE, "is not started");
    assert_null(point);
    assert_ok(tutti_simulation_start(simulation));
    assert_fails(tutti_simulation_start(simulation), TUTTI_ERR_STATE, "is started");
    tutti_simulation_free(simulation);
}

static void test_calls_after_finish(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(ball), TIMES(0.1, 1)};
    struct tutti_simulation *simulation = start_simulation(&options);
    struct tutti_run_stats stats;
    struct tutti_point *point = NULL;
    struct tutti_variable about;
    const char *text;
    size_t number = number_of(simulation, "h");
    double value = 1;
    assert_ok(tutti_simulation_save(simulation, &point));
    assert_ok(tutti_simulation_advance(simulation, 0.5));
    assert_ok(tutti_simulation_finish(simulation, NULL));
    assert_true(tutti_simulation_is_over(simulation));
    assert_same_double(tutti_simulation_time(simulation), 0.5);
    assert_fails(tutti_simulation_finish(simulation, &stats), TUTTI_ERR_STATE, "is finished");
    tt_stats_fini(&stats); /* is empty */
    assert_fails(tutti_simulation_start(simulation), TUTTI_ERR_STATE, "is finished");
    assert_fails(tutti_simulation_step(simulation), TUTTI_ERR_STATE, "is finished");
    assert_fails(tutti_simulation_advance(simulation, 0.6), TUTTI_ERR_STATE, "is finished");
    assert_fails(tutti_simulation_find(simulation, "h", &number), TUTTI_ERR_STATE, "is finished");
    assert_fails(tutti_simulation_describe(simulation, number, &about), TUTTI_ERR_STATE, "is finished");
    assert_fails(tutti_simulation_set(simulation, "h=1"), TUTTI_ERR_STATE, "is finished");
    assert_fails(tutti_simulation_get(simulation, number, &value, 1), TUTTI_ERR_STATE, "is finished");
    assert_fails(tutti_simulation_get_text(simulation, number, &text), TUTTI_ERR_STATE, "is finished");
    assert_fails(tutti_simulation_put(simulation, number, &value, 1), TUTTI_ERR_STATE, "is finished");
    assert_fails(tutti_simulation_restore(simulation, point), TUTTI_ERR_STATE, "is finished");
    tutti_point_free(simulation, point); /* went with the simulation */
    tutti_simulation_free(simulation);
}

static void test_free_at_any_stage(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(EXAMPLE("quarter_car")), TIMES(0.1, 1)};
    for (int stage = 0; stage < 4; stage++) {
        struct tutti_simulation *simulation = open_simulation(&options);
        struct tutti_point *point = NULL;
        (void)number_of(simulation, "chassis.x");
        if (stage > 0)
            assert_ok(tutti_simulation_set(simulation, "chassis.x=0.1"));
        if (stage > 1) {
            assert_ok(tutti_simulation_start(simulation));
            (void)value_of(simulation, "chassis.x");
            assert_ok(tutti_simulation_save(simulation, &point));
        }
        if (stage > 2)
            assert_ok(tutti_simulation_step(simulation));
        tutti_simulation_free(simulation);
    }
    tutti_simulation_free(NULL);
}

static void test_open_refuses(void **state)
{
    (void)state;
    struct tutti_simulation *simulation = NULL;
    struct tutti_run_options none = {0}, missing = {ONE("/nowhere/x.fmu")}, threads = {ONE(ball), .threads = 2},
                             processes = {ONE(ball), .processes = 1}, nodes = {ONE(ball), .nodes = "localhost:1"},
                             mpi = {ONE(ball), .mpi = true}, wrong = {ONE(ball), .sets = LIST("hh=1"), .set_count = 1};
    assert_fails(tutti_simulation_open(&simulation, &none), TUTTI_ERR_ARGUMENT, "no file");
    assert_fails(tutti_simulation_open(&simulation, &missing), TUTTI_ERR_IO, "x.fmu");
    assert_fails(tutti_simulation_open(&simulation, &threads), TUTTI_ERR_UNSUPPORTED, "tutti_run");
    assert_fails(tutti_simulation_open(&simulation, &processes), TUTTI_ERR_UNSUPPORTED, "tutti_run");
    assert_fails(tutti_simulation_open(&simulation, &nodes), TUTTI_ERR_UNSUPPORTED, "tutti_run");
    assert_fails(tutti_simulation_open(&simulation, &mpi), TUTTI_ERR_UNSUPPORTED, "tutti_run");
    assert_fails(tutti_simulation_open(&simulation, &wrong), TUTTI_ERR_ARGUMENT, "hh");
    assert_null(simulation);
}

/* ---- failures on the way ---- */

/* Whatever is called after a failure, nothing crashes; statistics are there. */
static void look_at_the_failed(struct tutti_simulation *simulation, size_t number)
{
    struct tutti_run_stats stats;
    struct tutti_point *point = NULL;
    struct tutti_variable about;
    const char *text;
    double value = 1;
    size_t found;
    assert_true(tutti_simulation_is_over(simulation));
    assert_fails(tutti_simulation_step(simulation), TUTTI_ERR_STATE, "has failed");
    assert_fails(tutti_simulation_advance(simulation, 0.9), TUTTI_ERR_STATE, "has failed");
    assert_fails(tutti_simulation_put(simulation, number, &value, 1), TUTTI_ERR_STATE, "has failed");
    assert_fails(tutti_simulation_set(simulation, "u=1"), TUTTI_ERR_STATE, "has failed");
    assert_fails(tutti_simulation_save(simulation, &point), TUTTI_ERR_STATE, "has failed");
    assert_fails(tutti_simulation_restore(simulation, point), TUTTI_ERR_STATE, "has failed");
    assert_fails(tutti_simulation_start(simulation), TUTTI_ERR_STATE, "has failed");
    (void)!tutti_simulation_get(simulation, number, &value, 1);
    (void)!tutti_simulation_get_text(simulation, number, &text);
    (void)!tutti_simulation_find(simulation, "u", &found);
    for (size_t i = 0; i < tutti_simulation_variable_count(simulation); i++)
        (void)!tutti_simulation_describe(simulation, i, &about);
    assert_ok(tutti_simulation_finish(simulation, &stats));
    assert_fails(tutti_simulation_finish(simulation, NULL), TUTTI_ERR_STATE, "is finished");
    tt_stats_fini(&stats);
    tutti_simulation_free(simulation);
}

static void test_fmu_fails_on_the_way(void **state)
{
    (void)state;
    static const char *const faults[] = {"error DoStep 0.4", "fatal DoStep 0.4", "error GetReal 0.4"};
    for (size_t i = 0; i < LENGTH(faults); i++) {
        struct rows rows = {0};
        struct tutti_watcher watcher = WATCHER(&rows);
        struct tutti_run_options options = {ONE(TUTTI_FMUS "/Faulty_fmi2.fmu"), TIMES(0.1, 1), .watcher = &watcher};
        assert_int_equal(setenv("KIT_FAULT", faults[i], 1), 0);
        struct tutti_simulation *simulation = start_simulation(&options);
        size_t y = number_of(simulation, "y");
        assert_int_not_equal(tutti_simulation_advance(simulation, 1), TUTTI_OK);
        assert_true(strstr(tutti_err_message(), "Faulty") != NULL);
        assert_true(rows.count >= 4);
        look_at_the_failed(simulation, y);
        rows_fini(&rows);
        unsetenv("KIT_FAULT");
    }
}

static void test_fmu_fails_at_the_start(void **state)
{
    (void)state;
    static const char *const faults[] = {"error Instantiate", "error SetupExperiment", "fatal ExitInitializationMode",
                                         "error GetReal"};
    for (size_t i = 0; i < LENGTH(faults); i++) {
        struct tutti_run_options options = {ONE(TUTTI_FMUS "/Faulty_fmi2.fmu"), TIMES(0.1, 1)};
        assert_int_equal(setenv("KIT_FAULT", faults[i], 1), 0);
        struct tutti_simulation *simulation = open_simulation(&options);
        size_t y = number_of(simulation, "y");
        enum tutti_err err = tutti_simulation_start(simulation);
        if (err || i < 3) { /* a value need not have been asked for */
            assert_int_not_equal(err, TUTTI_OK);
            look_at_the_failed(simulation, y);
        } else {
            double value;
            assert_fails(tutti_simulation_get(simulation, y, &value, 1), TUTTI_ERR_FMU, "GetReal");
            tutti_simulation_free(simulation);
        }
        unsetenv("KIT_FAULT");
    }
}

/* Before any unit is made, and where one unit of two is there. */
static void test_start_fails_early(void **state)
{
    (void)state;
    struct tutti_run_options second = {.files = LIST("a=" TUTTI_FMUS "/Feedthrough_fmi3.fmu",
                                                     "b=" TUTTI_FMUS "/Faulty_fmi3.fmu",
                                                     "c=" TUTTI_FMUS "/Feedthrough_fmi3.fmu"),
                                       .file_count = 3,
                                       TIMES(0.1, 1)};
    assert_int_equal(setenv("KIT_FAULT", "error Instantiate", 1), 0);
    struct tutti_simulation *simulation = open_simulation(&second);
    size_t number = number_of(simulation, "c.matrix_in");
    assert_int_not_equal(tutti_simulation_start(simulation), TUTTI_OK);
    look_at_the_failed(simulation, number);
    unsetenv("KIT_FAULT");

    struct tutti_run_options solver = {ONE(TUTTI_FMUS "/Feedthrough_fmi3.fmu"), .solver = "bdf",
                                       .unit_steps = LIST("a=1"), .unit_step_count = 1};
    simulation = open_simulation(&solver);
    number = number_of(simulation, "matrix_in");
    assert_int_not_equal(tutti_simulation_start(simulation), TUTTI_OK);
    look_at_the_failed(simulation, number);
}

static void test_interrupt_and_go_on(void **state)
{
    (void)state;
    static volatile sig_atomic_t interrupted;
    struct tutti_run_options options = {ONE(ramp), TIMES(0.1, 1), .interrupt = &interrupted};
    struct tutti_simulation *simulation = start_simulation(&options);
    assert_ok(tutti_simulation_step(simulation));
    interrupted = 1;
    assert_fails(tutti_simulation_step(simulation), TUTTI_ERR_INTERRUPTED, "0.1");
    assert_fails(tutti_simulation_advance(simulation, 1), TUTTI_ERR_INTERRUPTED, "0.1");
    interrupted = 0;
    assert_ok(tutti_simulation_advance(simulation, 1));
    finish_and_free(simulation);
}

/* ---- a result file ---- */

static void test_result_file(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    char whole[sizeof scratch.joined], stepped[sizeof scratch.joined];
    copy_text(whole, sizeof whole, scratch_path(&scratch, "whole.csv"));
    copy_text(stepped, sizeof stepped, scratch_path(&scratch, "stepped.csv"));
    struct tutti_run_options options = {ONE(EXAMPLE("quarter_car")), TIMES(0.02, 1), .output = whole};
    assert_ok(tutti_run(&options, NULL));
    options.output = stepped;
    struct tutti_simulation *simulation = open_simulation(&options);
    assert_false(exists(stepped));
    assert_ok(tutti_simulation_start(simulation));
    while (!tutti_simulation_is_over(simulation))
        assert_ok(tutti_simulation_step(simulation));
    finish_and_free(simulation);
    char *a = slurp_file(whole, NULL), *b = slurp_file(stepped, NULL);
    assert_string_equal(a, b);
    free(a);
    free(b);
    simulation = start_simulation(&options); /* and freed half way: with what is in it */
    assert_ok(tutti_simulation_advance(simulation, 0.5));
    tutti_simulation_free(simulation);
    b = slurp_file(stepped, NULL);
    assert_contains(b, "\n0.5,");
    assert_null(strstr(b, "\n0.52,"));
    free(b);
    scratch_fini(&scratch);
}

/* ---- side by side ---- */

static void test_side_by_side(void **state)
{
    (void)state;
    struct tutti_run_options options[2] = {{ONE(EXAMPLE("quarter_car")), TIMES(0.02, 1)},
                                           {ONE(EXAMPLE("quarter_car")), TIMES(0.02, 1)}};
    struct tutti_simulation *simulations[2];
    double alone, together;
    options[1].sets = LIST("chassis.x=0.3");
    options[1].set_count = 1;
    simulations[0] = start_simulation(&options[0]);
    for (int n = 1; n <= 10; n++)
        assert_ok(tutti_simulation_advance(simulations[0], 0.1 * n));
    alone = value_of(simulations[0], "chassis.x");
    finish_and_free(simulations[0]);
    for (int i = 0; i < 2; i++)
        simulations[i] = start_simulation(&options[i]);
    for (int n = 1; n <= 10; n++)
        for (int i = 0; i < 2; i++)
            assert_ok(tutti_simulation_advance(simulations[i], 0.1 * n));
    together = value_of(simulations[0], "chassis.x");
    assert_same_double(together, alone);
    assert_true(fabs(value_of(simulations[1], "chassis.x") - alone) > 1e-3);
    finish_and_free(simulations[1]);
    finish_and_free(simulations[0]);
}

/* ---- memory ---- */

static unsigned long allocations_of(const struct tutti_run_options *options, const char *input, const char *output,
                                    int steps)
{
    struct tutti_simulation *simulation = start_simulation(options);
    struct tutti_point *point = NULL;
    size_t in = number_of(simulation, input), out = number_of(simulation, output);
    unsigned long before = 0;
    for (int n = 0; n < steps; n++) {
        double value = 1e-3 * n;
        if (n == 5) /* everything is made when it is needed first */
            before = allocations;
        assert_ok(tutti_simulation_put(simulation, in, &value, 1));
        assert_ok(tutti_simulation_step(simulation));
        assert_ok(tutti_simulation_get(simulation, out, &value, 1));
        assert_ok(tutti_simulation_save(simulation, &point));
        assert_ok(tutti_simulation_restore(simulation, point));
    }
    unsigned long count = allocations - before;
    finish_and_free(simulation);
    return count;
}

static void test_no_allocation_per_step(void **state)
{
    (void)state;
    const struct tutti_run_options all[] = {
        {ONE(TUTTI_FMUS "/Feedthrough_fmi2.fmu"), TIMES(1e-3, 1)},
        {ONE(TUTTI_FMUS "/Feedthrough_fmi3.fmu"), TIMES(1e-3, 1)},
        {ONE(TUTTI_FMUS "/Feedthrough_fmi3.fmu"), TIMES(1e-3, 1), .solver = "bdf"},
    };
    for (size_t i = 0; i < LENGTH(all); i++)
        assert_int_equal(allocations_of(&all[i], "float64_in", "float64_out", 200), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_are_those_of_a_run),
        cmocka_unit_test(test_advance_hits_every_time),
        cmocka_unit_test(test_advance_by_rounded_times),
        cmocka_unit_test(test_advance_refuses),
        cmocka_unit_test(test_advance_ends_early),
        cmocka_unit_test(test_no_timeout_of_its_own),
        cmocka_unit_test(test_calls_before_start),
        cmocka_unit_test(test_calls_after_finish),
        cmocka_unit_test(test_free_at_any_stage),
        cmocka_unit_test(test_open_refuses),
        cmocka_unit_test(test_fmu_fails_on_the_way),
        cmocka_unit_test(test_fmu_fails_at_the_start),
        cmocka_unit_test(test_start_fails_early),
        cmocka_unit_test(test_interrupt_and_go_on),
        cmocka_unit_test(test_result_file),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_no_allocation_per_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
