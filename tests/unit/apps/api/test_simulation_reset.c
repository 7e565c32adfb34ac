/* SPDX-License-Identifier: MIT */
/* tutti_simulation_reset: what follows has the same bits as a new simulation, with whatever values are set, also if FMUs do not reset
 * well; nothing is loaded twice. */
#include "stepped.h"

#include <pthread.h>

#include "base/text.h"
#include "own_scratch.h"

static void set_all(struct tutti_simulation *simulation, const char *const *sets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_ok(tutti_simulation_set(simulation, sets[i]));
}

/* From where it is to its end. */
static void run_through(const char *name, struct tutti_simulation *simulation)
{
    if (tutti_simulation_start(simulation))
        fail_msg("%s: %s", name, tutti_err_message());
    while (!tutti_simulation_is_over(simulation))
        assert_ok(tutti_simulation_step(simulation));
}

/* All rows of a new simulation. */
static void run_new(const char *name, struct tutti_run_options options, const char *const *sets, size_t count,
                    struct rows *rows)
{
    struct tutti_watcher watcher = WATCHER(rows);
    options.watcher = &watcher;
    struct tutti_simulation *simulation = open_simulation(&options);
    set_all(simulation, sets, count);
    run_through(name, simulation);
    finish_and_free(simulation);
}

/* One after a run that was left in the middle, one after a whole one, one after a finished one; the rows identify each. */
static void compare(const char *name, struct tutti_run_options options, const char *const *sets, size_t count)
{
    struct rows plain = {0}, changed = {0}, rows = {0};
    struct tutti_watcher watcher = WATCHER(&rows);
    run_new(name, options, NULL, 0, &plain);
    run_new(name, options, sets, count, &changed);
    options.watcher = &watcher;
    struct tutti_simulation *simulation = start_simulation(&options);
    for (int i = 0; i < 3; i++)
        assert_ok(tutti_simulation_step(simulation));
    for (int run = 0; run < 3; run++) {
        const struct rows *expected = run % 2 ? &changed : &plain;
        if (run == 2)
            assert_ok(tutti_simulation_finish(simulation, NULL));
        assert_ok(tutti_simulation_reset(simulation));
        rows.count = 0;
        if (run % 2)
            set_all(simulation, sets, count);
        run_through(name, simulation);
        assert_int_equal(rows.count, expected->count);
        assert_same_rows(name, expected, 0, &rows, 0, rows.count);
    }
    finish_and_free(simulation);
    rows_fini(&plain);
    rows_fini(&changed);
    rows_fini(&rows);
}

static void test_same_bits_for_all_sorts(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(sorts); i++)
        compare(sorts[i].name, sorts[i].options, NULL, 0);
}

static void test_same_bits_with_other_values(void **state)
{
    (void)state;
    const struct {
        const char *name;
        struct tutti_run_options options;
        const char *set;
    } all[] = {
        {"fmi1 cs", {ONE(TUTTI_FMUS "/VanDerPol_fmi1cs.fmu"), TIMES(0.05, 2)}, "mu=2"},
        {"fmi1 me", {ONE(TUTTI_FMUS "/VanDerPol_fmi1me.fmu"), TIMES(0.05, 2), .solver = "cvode"}, "mu=2"},
        {"fmi2 cs", {ONE(TUTTI_FMUS "/BouncingBall_fmi2.fmu"), TIMES(0.07, 2)}, "e=0.5"},
        {"fmi2 me", {ONE(TUTTI_FMUS "/BouncingBall_fmi2.fmu"), TIMES(0.07, 2), .solver = "cvode"}, "e=0.5"},
        {"fmi3 cs", {ONE(TUTTI_FMUS "/BouncingBall_fmi3.fmu"), TIMES(0.07, 2)}, "h=2"},
        {"fmi3 me", {ONE(TUTTI_FMUS "/BouncingBall_fmi3.fmu"), TIMES(0.07, 2), .solver = "bdf"}, "h=2"},
        {"sizes", {ONE(TUTTI_FMUS "/StateSpace_fmi3.fmu"), TIMES(0.1, 1)}, "r=1"},
        {"system", {CAR, TIMES(0.01, 1), OUTER("jacobi")}, "chassis.m=300"},
        {"controlled", {CAR, CONTROLLED("richardson")}, "chassis.m=300"},
    };
    for (size_t i = 0; i < LENGTH(all); i++)
        compare(all[i].name, all[i].options, &all[i].set, 1);
}

/* A file may be gone, and code that instantiates fail: neither is needed any more. */
static void test_nothing_is_loaded_or_made_again(void **state)
{
    (void)state;
    static const char *const files[] = {TUTTI_FMUS "/Faulty_fmi1cs.fmu", TUTTI_FMUS "/Faulty_fmi2.fmu",
                                        TUTTI_FMUS "/Faulty_fmi3.fmu"};
    for (size_t i = 0; i < 2 * LENGTH(files); i++) {
        size_t size;
        char *bytes = slurp_file(files[i / 2], &size);
        char *copy = tt_text_copy(scratch_write(&scratch, "copy.fmu", bytes, size));
        free(bytes);
        assert_non_null(copy);
        const char *const file[] = {copy};
        bool exchange = i % 2 && i / 2 > 0; /* FMI 1.0 Model Exchange has no reset */
        struct tutti_run_options options = {
            .files = file, .file_count = 1, TIMES(0.1, 1), .solver = exchange ? "rk4" : NULL};
        struct tutti_simulation *simulation = open_simulation(&options);
        run_through(copy, simulation);
        double y = value_of(simulation, "y");
        assert_int_equal(remove(copy), 0);
        for (int run = 0; run < 3; run++) {
            assert_ok(tutti_simulation_reset(simulation));
            if (run > 0)
                setenv("KIT_FAULT", "null Instantiate", 1);
            assert_ok(tutti_simulation_set(simulation, run % 2 ? "u=2" : "u=1"));
            run_through(copy, simulation);
            assert_same_double(value_of(simulation, "y"), run % 2 ? 2 * y : y);
        }
        unsetenv("KIT_FAULT");
        finish_and_free(simulation);
        free(copy);
    }
}

/* ---- FMUs that do not reset well ---- */

static char logged[4096];

static void take_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    (void)level;
    size_t used = strlen(logged);
    snprintf(logged + used, sizeof logged - used, "%s: %s\n", origin ? origin : "", text);
}

static void test_an_fmu_that_keeps_values(void **state)
{
    (void)state;
    static const char *const files[] = {TUTTI_FMUS "/Faulty_fmi1cs.fmu", TUTTI_FMUS "/Faulty_fmi2.fmu",
                                        TUTTI_FMUS "/Faulty_fmi3.fmu"};
    static const char *const faults[] = {"keep Reset", "error Reset|ResetSlave"};
    static const char *const sets[] = {"u=2"};
    struct tutti_log log = {TUTTI_LOG_WARNING, take_log, NULL};
    for (size_t i = 0; i < LENGTH(files) * LENGTH(faults); i++) {
        setenv("KIT_FAULT", faults[i % 2], 1);
        logged[0] = '\0';
        struct tutti_run_options options = {ONE(files[i / 2]), TIMES(0.1, 1), .log = &log};
        compare(files[i / 2], options, sets, 1);
        if (i % 2 == 0) {
            char *said = strstr(logged, "after a reset the FMU is not as new (x)");
            assert_non_null(said);
            assert_null(strstr(said + 1, "after a reset")); /* once */
        }
    }
    unsetenv("KIT_FAULT");
}

/* A run that fails does not spoil the next. */
static void test_after_a_failure(void **state)
{
    (void)state;
    static const char *const faults[] = {"error DoStep 0.55", "error EnterInitializationMode"};
    struct rows expected = {0}, rows = {0};
    struct tutti_watcher watcher = WATCHER(&rows);
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/Faulty_fmi2.fmu"), TIMES(0.1, 1)};
    run_new("whole", options, NULL, 0, &expected);
    options.watcher = &watcher;
    for (size_t i = 0; i < LENGTH(faults); i++) {
        setenv("KIT_FAULT", faults[i], 1);
        struct tutti_simulation *simulation = open_simulation(&options);
        enum tutti_err err = tutti_simulation_start(simulation);
        if (!err)
            err = tutti_simulation_advance(simulation, 1);
        assert_int_equal(err, TUTTI_ERR_FMU);
        assert_int_equal(tutti_simulation_step(simulation), TUTTI_ERR_STATE);
        unsetenv("KIT_FAULT");
        for (int run = 0; run < 3; run++) {
            assert_ok(tutti_simulation_reset(simulation));
            rows.count = 0;
            run_through(faults[i], simulation);
            assert_same_rows(faults[i], &expected, 0, &rows, 0, expected.count);
        }
        finish_and_free(simulation);
    }
    rows_fini(&expected);
    rows_fini(&rows);
}

/* Impossible values are reported when they are set, or at the start, and the next reset forgets them. */
static void test_after_a_wrong_value(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/StateSpace_fmi3.fmu"), TIMES(0.1, 1)};
    struct tutti_simulation *simulation = start_simulation(&options);
    for (int run = 0; run < 2; run++) {
        assert_ok(tutti_simulation_reset(simulation));
        assert_int_equal(tutti_simulation_set(simulation, "nothing=1"), TUTTI_ERR_ARGUMENT);
        assert_ok(tutti_simulation_set(simulation, "A=1 2 3")); /* nine are due, as the FMU will say */
        assert_int_equal(tutti_simulation_start(simulation), TUTTI_ERR_ARGUMENT);
        assert_int_equal(tutti_simulation_step(simulation), TUTTI_ERR_STATE);
        assert_ok(tutti_simulation_reset(simulation));
        assert_ok(tutti_simulation_start(simulation));
        assert_same_double(value_of(simulation, "A[3,3]"), -3);
    }
    finish_and_free(simulation);
}

static void test_stages(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/BouncingBall_fmi2.fmu"), TIMES(0.1, 1)};
    struct tutti_simulation *simulation = open_simulation(&options);
    size_t h = number_of(simulation, "h");
    double value;
    struct tutti_point *point = NULL;
    assert_ok(tutti_simulation_set(simulation, "h=3"));
    assert_ok(tutti_simulation_reset(simulation)); /* forgets that */
    for (int run = 0; run < 3; run++) {
        assert_int_equal(tutti_simulation_get(simulation, h, &value, 1), TUTTI_ERR_STATE);
        assert_ok(tutti_simulation_start(simulation));
        assert_ok(tutti_simulation_get(simulation, h, &value, 1));
        assert_same_double(value, 1);
        point = NULL;
        assert_ok(tutti_simulation_save(simulation, &point));
        assert_ok(tutti_simulation_advance(simulation, 0.3));
        assert_ok(tutti_simulation_reset(simulation));
        assert_int_equal(tutti_simulation_restore(simulation, point), TUTTI_ERR_STATE);
        assert_same_double(tutti_simulation_time(simulation), 0);
    }
    tutti_simulation_free(simulation); /* right after a reset */
}

/* ---- side by side ---- */

struct worker {
    double mu, last;
    enum tutti_err err;
};

static const struct tutti_run_options side = {ONE(TUTTI_FMUS "/VanDerPol_fmi2.fmu"), TIMES(0.05, 2)};

/* No assertions: cmocka's are for its own thread. */
static void *work(void *context)
{
    struct worker *worker = context;
    struct tutti_simulation *simulation = NULL;
    size_t x = 0;
    char text[64];
    snprintf(text, sizeof text, "mu=%g", worker->mu);
    worker->err = tutti_simulation_open(&simulation, &side);
    if (!worker->err)
        worker->err = tutti_simulation_find(simulation, "x0", &x);
    for (int run = 0; run < 20 && !worker->err; run++) {
        worker->err = tutti_simulation_set(simulation, text);
        if (!worker->err)
            worker->err = tutti_simulation_start(simulation);
        if (!worker->err)
            worker->err = tutti_simulation_advance(simulation, 2);
        if (!worker->err)
            worker->err = tutti_simulation_get(simulation, x, &worker->last, 1);
        if (!worker->err)
            worker->err = tutti_simulation_reset(simulation);
    }
    tutti_simulation_free(simulation);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct worker alone[4], together[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        alone[i] = together[i] = (struct worker){.mu = 1 + i};
    for (int i = 0; i < 4; i++)
        work(&alone[i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &together[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(alone[i].err, TUTTI_OK);
        assert_int_equal(together[i].err, TUTTI_OK);
        assert_same_double(together[i].last, alone[i].last);
        assert_true(i == 0 || alone[i].last != alone[0].last);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_for_all_sorts),
        cmocka_unit_test(test_same_bits_with_other_values),
        cmocka_unit_test_setup_teardown(test_nothing_is_loaded_or_made_again, set_up, tear_down),
        cmocka_unit_test(test_an_fmu_that_keeps_values),
        cmocka_unit_test(test_after_a_failure),
        cmocka_unit_test(test_after_a_wrong_value),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
