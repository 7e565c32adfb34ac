/* SPDX-License-Identifier: MIT */
/* A watcher that looks at every row of a run (<tutti/run.h>): whatever the units run on, a file holds what is shown. */
#include "base/options/options.h"
#include "sim/stats.h"
#include "stepped.h"

#include <pthread.h>

#include "results/csv_table.h"
#include "scratch.h"

/* Where units run. */
static const struct place {
    const char *name;
    unsigned threads, processes;
} places[] = {{"here", 0, 0}, {"threads", 2, 0}, {"processes", 0, 2}};

static const char *const files[] = {EXAMPLE("quarter_car")}, *const records[] = {"*"};

static struct tutti_run_options options_of(const struct place *place, const struct tutti_watcher *watcher,
                                           const char *output)
{
    return (struct tutti_run_options){.files = files,
                                      .file_count = 1,
                                      TIMES(0.05, 1),
                                      .coupling = "jacobi",
                                      .threads = place->threads,
                                      .processes = place->processes,
                                      .records = records,
                                      .record_count = 1,
                                      .watcher = watcher,
                                      .output = output};
}

static void compare_with_file(const char *name, const struct rows *rows, const char *path)
{
    struct tt_csv_table *table;
    assert_ok(tt_csv_table_read(&table, path));
    assert_int_equal(tt_csv_table_columns(table) + 1, rows->columns);
    assert_int_equal(tt_csv_table_rows(table), rows->count);
    char names[sizeof rows->names] = "";
    for (size_t c = 0; c + 1 < rows->columns; c++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s ", tt_csv_table_name(table, c));
        for (size_t r = 0; r < rows->count; r++) {
            double cell = strtod(tt_csv_table_cell(table, r, c), NULL), shown = row_of(rows, r)[c + 1];
            if (cell != shown || tt_csv_table_times(table)[r] != row_of(rows, r)[0])
                fail_msg("%s: row %zu, %s: %.17g in the file, %.17g shown", name, r, tt_csv_table_name(table, c), cell,
                         shown);
        }
    }
    assert_string_equal(names, rows->names);
    tt_csv_table_free(table);
}

static void test_rows_are_those_of_the_file(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    const char *output = scratch_path(&scratch, "result.csv");
    for (size_t p = 0; p < LENGTH(places); p++) {
        struct rows with = {0}, without = {0};
        struct tutti_watcher watcher = WATCHER(&with), alone = WATCHER(&without);
        struct tutti_run_options options = options_of(&places[p], &watcher, output);
        struct tutti_run_stats stats;
        assert_ok(tutti_run(&options, &stats));
        assert_int_equal(stats.rows, with.count);
        tt_stats_fini(&stats);
        assert_int_equal(with.told, 1);
        assert_true(with.columns > 8 && with.count == 21);
        compare_with_file(places[p].name, &with, output);
        options = options_of(&places[p], &alone, NULL);
        assert_ok(tutti_run(&options, NULL));
        assert_int_equal(without.told, 1);
        assert_int_equal(without.count, with.count);
        assert_same_rows(places[p].name, &with, 0, &without, 0, with.count);
        rows_fini(&with);
        rows_fini(&without);
    }
    scratch_fini(&scratch);
}

static void test_row_ends_the_run(void **state)
{
    (void)state;
    for (size_t p = 0; p < LENGTH(places); p++)
        for (size_t fail_at = 1; fail_at < 8; fail_at += 3) {
            struct rows rows = {.fail_at = fail_at};
            struct tutti_watcher watcher = WATCHER(&rows);
            struct tutti_run_options options = options_of(&places[p], &watcher, NULL);
            assert_fails(tutti_run(&options, NULL), TUTTI_ERR_LIMIT, "seen enough at t = ");
            assert_int_equal(rows.count, fail_at - 1);
            rows_fini(&rows);
        }
}

/* The file holds what came before. */
static void test_row_ends_the_run_with_a_file(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    const char *output = scratch_path(&scratch, "result.csv");
    for (size_t p = 0; p < LENGTH(places); p++) {
        struct rows rows = {.fail_at = 5};
        struct tutti_watcher watcher = WATCHER(&rows);
        struct tt_csv_table *table;
        struct tutti_run_options options = options_of(&places[p], &watcher, output);
        assert_fails(tutti_run(&options, NULL), TUTTI_ERR_LIMIT, "seen enough at t = ");
        assert_ok(tt_csv_table_read(&table, output));
        assert_true(tt_csv_table_rows(table) >= 4);
        tt_csv_table_free(table);
        rows_fini(&rows);
    }
    scratch_fini(&scratch);
}

static enum tutti_err refuse_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    (void)context;
    return tutti_extra_fail(TUTTI_ERR_ARGUMENT, "%zu columns, and %s is not wanted", count, shown[0].name);
}

static void test_columns_end_the_run(void **state)
{
    (void)state;
    for (size_t p = 0; p < LENGTH(places); p++) {
        struct rows rows = {0};
        struct tutti_watcher watcher = {.context = &rows, .columns = refuse_columns, .row = take_row};
        struct tutti_run_options options = options_of(&places[p], &watcher, NULL);
        assert_fails(tutti_run(&options, NULL), TUTTI_ERR_ARGUMENT, "is not wanted");
        assert_int_equal(rows.count, 0);
    }
}

/* In a simulation it is an error of a step. */
static enum tutti_err silent_row(void *context, double t, const double *values)
{
    (void)context, (void)t, (void)values;
    return TUTTI_ERR_LIMIT;
}

/* A message of an earlier failure is not taken for that of the watcher. */
static void test_silent_row(void **state)
{
    (void)state;
    for (size_t p = 0; p < LENGTH(places); p++) {
        struct tutti_watcher watcher = {.row = silent_row};
        struct tutti_run_options options = options_of(&places[p], &watcher, NULL);
        (void)tt_fail(TUTTI_ERR_IO, "long ago");
        assert_fails(tutti_run(&options, NULL), TUTTI_ERR_LIMIT, "the watcher ended the run, and did not say why");
        assert_null(strstr(tutti_err_message(), "long ago"));
    }
}

static void test_row_fails_a_step(void **state)
{
    (void)state;
    struct rows rows = {.fail_at = 4};
    struct tutti_watcher watcher = WATCHER(&rows);
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/VanDerPol_fmi2.fmu"), TIMES(0.1, 1), .watcher = &watcher};
    struct tutti_simulation *simulation = start_simulation(&options);
    assert_fails(tutti_simulation_advance(simulation, 1), TUTTI_ERR_LIMIT, "seen enough at t = 0.3");
    assert_ok(tutti_simulation_finish(simulation, NULL));
    tutti_simulation_free(simulation);
    rows_fini(&rows);
}

/* Simulations in several threads, each with a separate watcher. */
static void *step_in_a_thread(void *context)
{
    struct rows *rows = context;
    struct tutti_watcher watcher = WATCHER(rows);
    struct tutti_run_options options = {ONE(EXAMPLE("quarter_car")), TIMES(0.02, 1), .watcher = &watcher};
    struct tutti_simulation *simulation = start_simulation(&options);
    size_t number;
    while (!tutti_simulation_is_over(simulation)) {
        char name[32];
        snprintf(name, sizeof name, "chassis.x%zu", rows->count);
        assert_ok(tutti_simulation_step(simulation));
        assert_fails(tutti_simulation_find(simulation, name, &number), TUTTI_ERR_ARGUMENT, name); /* its own message */
    }
    finish_and_free(simulation);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    struct rows rows[THREADS] = {{0}};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, step_in_a_thread, &rows[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(rows[i].count, 51);
        assert_same_rows("threads", &rows[0], 0, &rows[i], 0, 51);
    }
    for (int i = 0; i < THREADS; i++)
        rows_fini(&rows[i]);
}

static pthread_t caller;

/* A watcher that wants no columns has a row function only; one of a run that records nothing is shown nothing. */
static enum tutti_err count_row(void *context, double t, const double *values)
{
    (void)t;
    (void)values;
    assert_true(pthread_equal(pthread_self(), caller)); /* wherever the units are */
    ++*(unsigned *)context;
    return TUTTI_OK;
}

static void test_rows_only(void **state)
{
    (void)state;
    caller = pthread_self();
    for (size_t p = 0; p < LENGTH(places); p++) {
        unsigned rows = 0;
        struct tutti_watcher watcher = {.context = &rows, .row = count_row};
        struct tutti_run_options options = options_of(&places[p], &watcher, NULL);
        assert_ok(tutti_run(&options, NULL));
        assert_int_equal(rows, 21);
        options.records = LIST("none");
        assert_ok(tutti_run(&options, NULL));
        assert_int_equal(rows, 21);
    }
}

/* Numbers of all types as doubles, texts as NaN, units and descriptions. */
static enum tutti_err look_at_units(void *context, const struct tutti_recorded *shown, size_t count)
{
    assert_int_equal(count, 2);
    assert_string_equal(shown[0].name, "h");
    assert_string_equal(shown[0].unit, "m");
    assert_true(strlen(shown[0].description) > 3);
    assert_string_equal(shown[1].name, "bounces");
    assert_null(shown[1].unit);
    *(unsigned *)context = 1;
    return TUTTI_OK;
}

static void test_what_is_shown(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct tutti_watcher watcher = WATCHER(&rows), about = {.columns = look_at_units, .row = count_row};
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/Feedthrough_fmi3.fmu"),
                                        TIMES(1, 1),
                                        .sets = LIST("uint64_in=18446744073709551615", "boolean_in=true"),
                                        .set_count = 2,
                                        .records = LIST("uint64_out", "boolean_out", "string_out", "color_out"),
                                        .record_count = 4,
                                        .watcher = &watcher};
    assert_ok(tutti_run(&options, NULL));
    assert_string_equal(rows.names, "uint64_out boolean_out string_out color_out ");
    const double *row = row_of(&rows, 1);
    assert_same_double(row[1], 0x1p64);
    assert_same_double(row[2], 1);
    assert_true(isnan(row[3]));
    assert_same_double(row[4], 1);
    rows_fini(&rows);
    unsigned seen = 0;
    caller = pthread_self();
    about.context = &seen;
    struct tutti_run_options ball = {ONE(TUTTI_FMUS "/BouncingBall_fmi3.fmu"), .records = LIST("h", "bounces"),
                                     .record_count = 2, .watcher = &about};
    assert_ok(tutti_run(&ball, NULL));
    assert_true(seen > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_those_of_the_file),
        cmocka_unit_test(test_row_ends_the_run),
        cmocka_unit_test(test_row_ends_the_run_with_a_file),
        cmocka_unit_test(test_columns_end_the_run),
        cmocka_unit_test(test_silent_row),
        cmocka_unit_test(test_row_fails_a_step),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_rows_only),
        cmocka_unit_test(test_what_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
