/* SPDX-License-Identifier: MIT */
/* HDF5, written by the recorder and read back by result.h. How h5py sees these files is in tests/system/test_hdf5.py. */
#include "test.h"

#include <pthread.h>
#include <sys/wait.h>

#include "results/recorder.h"
#include "results/result.h"
#include "own_scratch.h"

static const struct tt_record_format *const hdf5 = &tt_hdf5_format;

static struct tt_recorder *open_hdf5(const char *path, const struct tt_column *columns, size_t n)
{
    struct tt_recorder *recorder = NULL;
    assert_ok(hdf5->open(&recorder, path, columns, n));
    return recorder;
}

static struct tutti_result *read_back(const char *path)
{
    struct tutti_result *result = NULL;
    assert_ok(tutti_result_open(&result, path, NULL));
    assert_ptr_equal(result->format, &tt_hdf5_result_format);
    return result;
}

/* Column `which` of a result; the caller's. */
static double *column_of(struct tutti_result *result, size_t which)
{
    double *values = malloc((result->rows + 1) * sizeof *values);
    assert_non_null(values);
    assert_ok(tutti_result_read(result, &which, 1, &values));
    return values;
}

/* --- numbers made by rule: value(row, column), in files of any size */

static double value(size_t row, size_t column)
{
    return column % 3 == 0 ? sin(0.01 * (double)row + (double)column) : column % 3 == 1 ? 7 : floor((double)row / 100);
}

struct rule {
    double *values;
    struct tt_column *columns;
    char (*names)[32];
    size_t n;
};

static struct rule make_rule(size_t n)
{
    struct rule rule = {calloc(n, sizeof(double)), calloc(n, sizeof *rule.columns), calloc(n, sizeof *rule.names), n};
    assert_true(rule.values && rule.columns && rule.names);
    for (size_t i = 0; i < n; i++) {
        snprintf(rule.names[i], sizeof rule.names[i], "unit.x[%zu]", i);
        rule.columns[i] = (struct tt_column){
            .name = rule.names[i], .type = TUTTI_TYPE_FLOAT64, .source = i, .value = &rule.values[i]};
    }
    return rule;
}

static void free_rule(struct rule *rule)
{
    free(rule->values);
    free(rule->columns);
    free(rule->names);
}

static void put_rule(struct tt_recorder *recorder, struct rule *rule, size_t first, size_t end)
{
    for (size_t row = first; row < end; row++) {
        for (size_t i = 0; i < rule->n; i++)
            rule->values[i] = value(row, i);
        assert_ok(hdf5->row(recorder, (double)row));
    }
}

/* Writes rows of a rule and flushes before those that flush_at() likes. */
static void write_rule(const char *path, struct rule *rule, size_t rows, bool (*flush_at)(size_t row))
{
    struct tt_recorder *recorder = open_hdf5(path, rule->columns, rule->n);
    for (size_t row = 0; row < rows; row++) {
        if (flush_at && flush_at(row))
            assert_ok(hdf5->flush(recorder));
        put_rule(recorder, rule, row, row + 1);
    }
    assert_ok(hdf5->close(recorder));
}

static void check_rule(const char *path, const struct rule *rule, size_t rows)
{
    struct tutti_result *result = read_back(path);
    assert_int_equal(result->rows, rows);
    assert_int_equal(result->count, rule->n);
    for (size_t row = 0; row < rows; row++)
        assert_same_double(result->times[row], (double)row);
    for (size_t i = 0; i < rule->n; i++) {
        double *values = column_of(result, i);
        for (size_t row = 0; row < rows; row++)
            assert_same_double(values[row], value(row, i));
        free(values);
    }
    tutti_result_free(result);
}

static size_t size_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

/* --- tests */

static void what_is_read_is_what_was_written(void **state)
{
    (void)state;
    static const double strange[] = {NAN, INFINITY, -INFINITY, -0.0, 5e-324, 1.7976931348623157e308, 0.1};
    enum { ROWS = sizeof strange / sizeof *strange };
    double x = 0;
    float f = 0;
    int64_t i = 0;
    bool b = false;
    const char *text = "left out";
    const struct tt_column columns[] = {
        {.name = "a.x", .unit = "m", .description = "a place", .type = TUTTI_TYPE_FLOAT64, .value = &x},
        {.name = "a.text", .type = TUTTI_TYPE_STRING, .source = 1, .value = &text},
        {.name = "a.minus", .type = TUTTI_TYPE_FLOAT64, .negated = true, .value = &x},
        {.name = "\xc3\xa4.f", .unit = "\xc2\xb0", .type = TUTTI_TYPE_FLOAT32, .source = 3, .value = &f},
        {.name = "a.i", .type = TUTTI_TYPE_INT64, .source = 4, .value = &i},
        {.name = "a.b", .type = TUTTI_TYPE_BOOLEAN, .source = 5, .value = &b},
    };
    const char *path = scratch_path(&scratch, "result.h5");
    struct tt_recorder *recorder = open_hdf5(path, columns, sizeof columns / sizeof *columns);
    for (int row = 0; row < ROWS; row++) {
        x = strange[row], f = (float)row / 3, i = row * 1000000007LL, b = row % 2;
        assert_ok(hdf5->row(recorder, floor((double)row / 2))); /* every time twice */
    }
    assert_ok(hdf5->close(recorder));

    struct tutti_result *result = read_back(path);
    assert_int_equal(result->count, 5);
    assert_int_equal(result->rows, ROWS);
    assert_string_equal(result->time_unit, "s");
    assert_string_equal(result->variables[0].name, "a.x");
    assert_string_equal(result->variables[0].unit, "m");
    assert_string_equal(result->variables[0].description, "a place");
    assert_null(result->variables[1].unit);
    assert_null(result->variables[1].description);
    assert_int_equal(tutti_result_find(result, "\xc3\xa4.f"), 2);
    assert_string_equal(result->variables[2].unit, "\xc2\xb0");
    double *all[5];
    for (size_t c = 0; c < 5; c++)
        all[c] = malloc(ROWS * sizeof **all);
    assert_ok(tutti_result_read(result, (const size_t[]){0, 1, 2, 3, 4}, 5, all));
    for (int row = 0; row < ROWS; row++) {
        assert_same_double(result->times[row], floor((double)row / 2));
        assert_same_double(all[0][row], strange[row]);
        if (row > 0)
            assert_same_double(all[1][row], 0 - strange[row]);
        assert_same_double(all[2][row], (double)((float)row / 3));
        assert_same_double(all[3][row], row * 1000000007.0);
        assert_same_double(all[4][row], row % 2);
    }
    const bool held[] = {false, false, false, true, true};
    for (size_t c = 0; c < 5; c++) {
        assert_int_equal(result->variables[c].held, held[c]);
        free(all[c]);
    }
    tutti_result_free(result);
}

static bool rarely(size_t row)
{
    return row % 1009 == 1008;
}

static bool often(size_t row)
{
    return row % 3 == 1 || row % 512 == 0 || row % 512 == 511;
}

/* Around the ends of blocks (4096 rows of few columns, 256 of 300), flushed or not. */
static void rows_lie_where_they_belong(void **state)
{
    (void)state;
    static const struct {
        size_t columns, rows;
    } sizes[] = {{1, 4095},  {1, 4096},  {1, 4097},  {2, 12288}, {33, 5000},
                 {300, 255}, {300, 256}, {300, 700}, {9001, 30}};
    static bool (*const flushes[])(size_t row) = {NULL, rarely, often};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct rule rule = make_rule(sizes[s].columns);
        for (int f = 0; f < 3; f++) {
            const char *path = scratch_path(&scratch, "result.h5");
            write_rule(path, &rule, sizes[s].rows, flushes[f]);
            check_rule(path, &rule, sizes[s].rows);
        }
        free_rule(&rule);
    }
}

static bool always(size_t row)
{
    (void)row;
    return true;
}

/* A block that is in the file and grows is written where it is: all is there once, not deflated. */
static void flushes_do_not_let_the_file_grow(void **state)
{
    (void)state;
    enum { ROWS = 3 * 4096 };
    struct rule rule = make_rule(3);
    const char *path = scratch_path(&scratch, "flushed.h5");
    write_rule(path, &rule, ROWS, always);
    size_t numbers = (size_t)ROWS * (rule.n + 1) * sizeof(double), size = size_of(path);
    assert_in_range(size, numbers, numbers + 16384);
    check_rule(path, &rule, ROWS);
    write_rule(path, &rule, ROWS, NULL); /* two of three columns rest */
    assert_in_range(size_of(path), 1000, numbers / 2);
    check_rule(path, &rule, ROWS);
    free_rule(&rule);
}

/* A second process, which writes rows on request and reports when they are flushed. HDF5 does not permit one process to
 * read what it is writing. */
static void write_on_demand(const char *path, int orders, int answers)
{
    struct rule rule = make_rule(5);
    struct tt_recorder *recorder = open_hdf5(path, rule.columns, rule.n);
    size_t row = 0;
    for (size_t until = 0; write(answers, "", 1) == 1 && read(orders, &until, sizeof until) == sizeof until;) {
        for (; row < until; row++) {
            for (size_t i = 0; i < rule.n; i++)
                rule.values[i] = value(row, i);
            assert_ok(hdf5->row(recorder, (double)row));
        }
        assert_ok(hdf5->flush(recorder));
    }
    _exit(0); /* without closing the file */
}

/* Before the first row, after every flush, and when the writer is gone: a new reader sees what was flushed. */
static void a_file_that_grows_can_be_read(void **state)
{
    (void)state;
    int orders[2], answers[2], status = 1;
    char path[128], answer;
    snprintf(path, sizeof path, "%s/growing.h5", scratch.path);
    assert_int_equal(pipe(orders) | pipe(answers), 0);
    pid_t child = fork();
    if (child == 0) {
        close(orders[1]);
        write_on_demand(path, orders[0], answers[1]);
    }
    struct rule rule = make_rule(5);
    assert_int_equal(read(answers[0], &answer, 1), 1);
    check_rule(path, &rule, 0);
    size_t until = 1;
    for (; until < 20000; until = 3 * until + 1) {
        assert_int_equal(write(orders[1], &until, sizeof until), sizeof until);
        assert_int_equal(read(answers[0], &answer, 1), 1);
        check_rule(path, &rule, until);
    }
    for (int i = 0; i < 2; i++) {
        close(orders[i]);
        close(answers[1 - i]);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    check_rule(path, &rule, (until - 1) / 3);
    free_rule(&rule);
}

static void *write_one(void *context)
{
    struct rule rule = make_rule(40);
    write_rule(context, &rule, 6000, rarely);
    free_rule(&rule);
    return NULL;
}

/* HDF5 may know nothing of threads. */
static void several_at_once(void **state)
{
    (void)state;
    pthread_t threads[3];
    char paths[3][128];
    struct rule rule = make_rule(40);
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d.h5", scratch.path, i);
        assert_int_equal(pthread_create(&threads[i], NULL, write_one, paths[i]), 0);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++)
        check_rule(paths[i], &rule, 6000);
    free_rule(&rule);
}

/* --- files that are not as they should be */

static void files_that_end_too_early_are_refused(void **state)
{
    (void)state;
    struct rule rule = make_rule(4);
    const char *path = scratch_path(&scratch, "whole.h5");
    write_rule(path, &rule, 5000, NULL);
    size_t size;
    char *bytes = slurp_file(path, &size);
    for (size_t n = 0; n < size; n += n < 100 ? 7 : 997) {
        struct tutti_result *result = NULL;
        path = scratch_write(&scratch, "cut.h5", bytes, n);
        enum tutti_err err = tutti_result_open(&result, path, NULL);
        if (err == TUTTI_OK)
            fail_msg("%zu bytes of %zu are a result", n, size);
        assert_contains(tutti_err_message(), "cut.h5");
    }
    free(bytes);
    free_rule(&rule);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    struct tutti_result *result = NULL;
    const char *path = scratch_write(&scratch, "text.h5", "time,x\n0,1\n", 11);
    assert_fails(tutti_result_open(&result, path, NULL), TUTTI_ERR_FORMAT,
                 "text.h5: HDF5 says 'file signature not found'");
    path = scratch_write(&scratch, "empty.hdf5", "", 0);
    assert_fails(tutti_result_open(&result, path, NULL), TUTTI_ERR_FORMAT, "empty.hdf5");
}

/* Files of many chunks, which a run resumes at `at` after it had reached `reached`; and once more. */
static void go_on(size_t n, size_t at, size_t reached, size_t rows)
{
    struct rule rule = make_rule(n);
    const char *path = scratch_path(&scratch, "again.h5");
    struct tt_byte_writer mark = {0};
    struct tt_recorder *recorder = open_hdf5(path, rule.columns, n);
    put_rule(recorder, &rule, 0, at);
    assert_ok(hdf5->mark(recorder, &mark));
    put_rule(recorder, &rule, at, reached);
    assert_ok(hdf5->close(recorder));
    check_rule(path, &rule, reached);
    for (int i = 0; i < 2; i++) {
        struct tt_byte_reader in = {.at = mark.bytes, .end = mark.bytes + mark.size};
        assert_ok(hdf5->reopen(&recorder, path, rule.columns, n, &in));
        check_rule(path, &rule, at); /* others may look at it all the while */
        put_rule(recorder, &rule, at, rows);
        assert_ok(hdf5->flush(recorder));
        check_rule(path, &rule, rows);
        assert_ok(hdf5->close(recorder));
        check_rule(path, &rule, rows);
    }
    tt_bytes_fini(&mark);
    free_rule(&rule);
}

static void interrupted_runs_go_on(void **state)
{
    (void)state;
    go_on(1, 20000, 60000, 40000);
    go_on(1, 0, 10000, 5000);
    go_on(1000, 300, 900, 800);
    go_on(1000, 128, 129, 128);
    go_on(50, 4095, 9000, 4097);
}

/* Who wants to know what there is does not read a number of it. */
static void names_without_times(void **state)
{
    (void)state;
    struct rule rule = make_rule(3);
    struct tt_recorder *recorder = open_hdf5(scratch_path(&scratch, "names.h5"), rule.columns, rule.n);
    struct tutti_result *result = NULL;
    put_rule(recorder, &rule, 0, 5000);
    assert_ok(hdf5->close(recorder));
    assert_ok(tt_result_open_names(&result, scratch_path(&scratch, "names.h5")));
    assert_int_equal(tutti_result_count(result), 3);
    assert_string_equal(result->variables[2].name, "unit.x[2]");
    assert_int_equal(tutti_result_rows(result), 0);
    assert_null(result->times);
    tutti_result_free(result);
    free_rule(&rule);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_is_read_is_what_was_written),
        TEST(rows_lie_where_they_belong),
        TEST(flushes_do_not_let_the_file_grow),
        TEST(a_file_that_grows_can_be_read),
        TEST(several_at_once),
        TEST(names_without_times),
        TEST(files_that_end_too_early_are_refused),
        TEST(other_files_are_refused),
        TEST(interrupted_runs_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
