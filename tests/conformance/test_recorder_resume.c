/* SPDX-License-Identifier: MIT */
/* What recorder.h promises of every format about runs that are interrupted: mark(), reopen(), sync(). FORMAT, the extension without
 * its dot, is the argument. */
#include "recorder.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "results/result.h"

static char whole_path[128], mark_path[128];

static int set_up_paths(void **state)
{
    assert_int_equal(set_up(state), 0);
    snprintf(whole_path, sizeof whole_path, "%s/whole.%s", scratch.path, FORMAT);
    snprintf(mark_path, sizeof mark_path, "%s/mark", scratch.path);
    return 0;
}

/* --- columns of every sort, with values that follow from the row */

static double x, fixed_number;
static float small;
static int32_t whole_number;
static bool boolean;
static const char *text;
static uint8_t bytes[3];
static struct tt_bytes binary = {sizeof bytes, bytes};

static const struct tt_column columns[] = {
    {.name = "x", .unit = "m", .description = "a place", .type = TUTTI_TYPE_FLOAT64, .source = 0, .value = &x},
    {.name = "minus x", .type = TUTTI_TYPE_FLOAT64, .negated = true, .source = 0, .value = &x},
    {.name = "k", .type = TUTTI_TYPE_FLOAT64, .fixed = true, .source = 2, .value = &fixed_number},
    {.name = "n", .type = TUTTI_TYPE_INT32, .source = 3, .value = &whole_number},
    {.name = "b", .type = TUTTI_TYPE_BOOLEAN, .source = 4, .value = &boolean},
    {.name = "s", .type = TUTTI_TYPE_STRING, .source = 5, .value = &text},
    {.name = "bin", .type = TUTTI_TYPE_BINARY, .source = 6, .value = &binary},
    {.name = "f", .type = TUTTI_TYPE_FLOAT32, .source = 7, .value = &small},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void set_values(size_t row)
{
    static const char *const texts[] = {"plain", "of two\nlines, \"quoted\"", "", "1,2"};
    x = row % 5 == 4 ? NAN : sin((double)row);
    fixed_number = 9.81;
    small = (float)row / 3;
    whole_number = (int32_t)row - 3;
    boolean = row % 3 == 0;
    text = texts[row % 4];
    memset(bytes, (int)row, sizeof bytes);
}

/* Times come in pairs. */
static enum tutti_err put_row(struct tt_recorder *recorder, size_t row)
{
    set_values(row);
    return format->row(recorder, floor((double)row / 2) * 0.1);
}

static void put_rows(struct tt_recorder *recorder, size_t first, size_t end)
{
    for (size_t row = first; row < end; row++)
        assert_ok(put_row(recorder, row));
}

/* A file that was never interrupted. */
static void write_whole(size_t rows)
{
    struct tt_recorder *recorder = NULL;
    assert_ok(format->open(&recorder, whole_path, columns, COLUMNS));
    put_rows(recorder, 0, rows);
    assert_ok(format->close(recorder));
}

/* --- a run that is interrupted */

enum ending { KILLED, FLUSHED, EMERGENCY, CLOSED, ENDINGS };

static void save_mark(struct tt_recorder *recorder)
{
    struct tt_byte_writer mark = {0};
    int fd = open(mark_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || format->mark(recorder, &mark) != TUTTI_OK || write(fd, mark.bytes, mark.size) != (ssize_t)mark.size)
        _exit(1);
    close(fd);
    tt_bytes_fini(&mark);
}

/* Opens the file, or reopens that of the mark at row `first`; marks it at row `at` and continues to `rows`. */
static _Noreturn void record_and_end(size_t first, size_t at, size_t rows, enum ending ending)
{
    struct tt_recorder *recorder = NULL;
    enum tutti_err err;
    if (first == SIZE_MAX) {
        err = format->open(&recorder, path, columns, COLUMNS);
        first = 0;
    } else {
        size_t size;
        char *bytes_of_mark = slurp_file(mark_path, &size);
        struct tt_byte_reader mark = {.at = bytes_of_mark, .end = bytes_of_mark + size};
        err = format->reopen(&recorder, path, columns, COLUMNS, &mark);
    }
    if (err)
        _exit(2);
    for (size_t row = first; row <= rows; row++) {
        if (row == at)
            save_mark(recorder);
        if (row < rows && put_row(recorder, row) != TUTTI_OK)
            _exit(3);
    }
    if (ending == FLUSHED && format->flush(recorder) != TUTTI_OK)
        _exit(4);
    if (ending == EMERGENCY)
        format->emergency(recorder);
    if (ending == CLOSED && format->close(recorder) != TUTTI_OK)
        _exit(5);
    _exit(0);
}

static void interrupt(size_t first, size_t at, size_t rows, enum ending ending)
{
    pid_t child = fork();
    if (child == 0)
        record_and_end(first, at, rows, ending);
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void add_rubbish(void)
{
    static const char rubbish[] = "0.5,half a row\"\n,\0\1\2\377";
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, rubbish, sizeof rubbish), sizeof rubbish);
    close(fd);
}

static enum tutti_err reopen_with(struct tt_recorder **recorder, const struct tt_column *with, size_t n)
{
    size_t size;
    char *mark_bytes = slurp_file(mark_path, &size);
    struct tt_byte_reader mark = {.at = mark_bytes, .end = mark_bytes + size};
    *recorder = NULL;
    enum tutti_err err = format->reopen(recorder, path, with, n, &mark);
    free(mark_bytes);
    return err;
}

/* Goes on from the mark at row `at`. */
static void go_on(size_t at, size_t rows)
{
    struct tt_recorder *recorder;
    assert_ok(reopen_with(&recorder, columns, COLUMNS));
    put_rows(recorder, at, rows);
    assert_ok(format->close(recorder));
}

/* --- comparing */

static void compare_content(void)
{
    struct tutti_result *results[2] = {NULL, NULL};
    assert_ok(tutti_result_open(&results[0], path, NULL));
    assert_ok(tutti_result_open(&results[1], whole_path, NULL));
    assert_int_equal(results[0]->rows, results[1]->rows);
    assert_int_equal(results[0]->count, results[1]->count);
    assert_memory_equal(results[0]->times, results[1]->times, results[0]->rows * sizeof(double));
    for (size_t i = 0; i < results[0]->count && results[0]->rows > 0; i++) {
        double *values[2];
        assert_string_equal(results[0]->variables[i].name, results[1]->variables[i].name);
        for (int k = 0; k < 2; k++) {
            values[k] = malloc(results[k]->rows * sizeof(double));
            assert_ok(tutti_result_read(results[k], &i, 1, &values[k]));
        }
        assert_memory_equal(values[0], values[1], results[0]->rows * sizeof(double));
        free(values[0]);
        free(values[1]);
    }
    tutti_result_free(results[0]);
    tutti_result_free(results[1]);
}

/* The bytes of an HDF5 file depend on when it was flushed; what is in it does not. */
static void compare(void)
{
    size_t size, whole_size;
    char *data = slurp_file(path, &size), *whole = slurp_file(whole_path, &whole_size);
    if (strcmp(FORMAT, "h5") != 0) {
        assert_int_equal(size, whole_size);
        assert_memory_equal(data, whole, size);
    }
    free(data);
    free(whole);
    compare_content();
}

/* --- tests */

static void it_goes_on_from_every_row(void **state)
{
    (void)state;
    enum { ROWS = 12 };
    write_whole(ROWS);
    for (size_t at = 0; at <= ROWS; at++)
        for (enum ending ending = KILLED; ending < ENDINGS; ending++) {
            interrupt(SIZE_MAX, at, at + ending < ROWS ? at + ending : ROWS, ending);
            if (at % 2)
                add_rubbish();
            go_on(at, ROWS);
            compare();
        }
}

/* Buffers and chunks are full in between. */
static void it_goes_on_in_large_files(void **state)
{
    (void)state;
    static const struct {
        size_t rows, at, reached;
    } cases[] = {
        {9000, 0, 9000},    {9000, 1, 5000},    {9000, 4095, 4096}, {9000, 4096, 4096}, {9000, 4096, 8192},
        {9000, 4097, 9000}, {9000, 5000, 8500}, {9000, 8192, 8192}, {9000, 8999, 9000}, {9000, 9000, 9000},
        {4096, 100, 4096},  {8192, 4096, 6000}, {100, 50, 9000},    {5000, 4000, 9000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_whole(cases[i].rows);
        interrupt(SIZE_MAX, cases[i].at, cases[i].reached, (enum ending)(i % ENDINGS));
        go_on(cases[i].at, cases[i].rows);
        compare();
    }
}

/* Also at once after it was reopened; from the same mark, or from one that was made on the way. */
static void it_is_interrupted_again_and_again(void **state)
{
    (void)state;
    enum { ROWS = 6000 };
    write_whole(ROWS);
    interrupt(SIZE_MAX, 10, 5000, FLUSHED);
    interrupt(10, SIZE_MAX, 10, KILLED);
    interrupt(10, SIZE_MAX, 12, KILLED);
    interrupt(10, 10, 300, EMERGENCY);
    interrupt(10, 299, 4500, FLUSHED);
    interrupt(299, 4400, 4400, KILLED);
    interrupt(4400, 4401, 4500, KILLED);
    go_on(4401, ROWS);
    compare();
}

/* Killed while it is reopened, or soon after it. */
static void it_is_killed_at_any_moment(void **state)
{
    (void)state;
    enum { ROWS = 9000, AT = 4500 };
    write_whole(ROWS);
    interrupt(SIZE_MAX, AT, 8500, FLUSHED);
    for (unsigned i = 0; i < 60; i++) {
        pid_t child = fork();
        if (child == 0)
            record_and_end(AT, SIZE_MAX, i % 2 ? ROWS : SIZE_MAX - 1, FLUSHED);
        usleep(i * i * 10);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
    }
    go_on(AT, ROWS);
    compare();
}

static size_t rows_now(void)
{
    struct tutti_result *result = NULL;
    assert_ok(tutti_result_open(&result, path, NULL));
    size_t rows = result->rows;
    tutti_result_free(result);
    return rows;
}

/* The file of a resumed run that dies. */
static void its_rows_survive_as_those_of_any_run(void **state)
{
    (void)state;
    interrupt(SIZE_MAX, 7, 20, FLUSHED);
    interrupt(7, SIZE_MAX, 2000, EMERGENCY);
    assert_int_equal(rows_now(), 2000);
    interrupt(7, SIZE_MAX, 7, KILLED);
    assert_int_equal(rows_now(), 7);
    interrupt(7, SIZE_MAX, 1500, FLUSHED);
    assert_int_equal(rows_now(), 1500);
}

static void assert_untouched(enum tutti_err expected, const char *words, const struct tt_column *with, size_t n)
{
    struct tt_recorder *recorder = NULL;
    size_t before, after;
    char *was = slurp_file(path, &before);
    assert_fails(reopen_with(&recorder, with, n), expected, words);
    assert_null(recorder);
    char *is = slurp_file(path, &after);
    assert_int_equal(before, after);
    assert_memory_equal(was, is, before);
    free(was);
    free(is);
}

static void other_columns_are_refused(void **state)
{
    (void)state;
    struct tt_column others[COLUMNS];
    interrupt(SIZE_MAX, 5, 9, FLUSHED);
    assert_untouched(TUTTI_ERR_FORMAT, "8 columns, not 7", columns, COLUMNS - 1);
    memcpy(others, columns, sizeof others);
    others[3].name = "m";
    assert_untouched(TUTTI_ERR_FORMAT, "other variables", others, COLUMNS);
    memcpy(others, columns, sizeof others);
    others[0].unit = NULL;
    assert_untouched(TUTTI_ERR_FORMAT, "other variables", others, COLUMNS);
    memcpy(others, columns, sizeof others);
    others[2].fixed = false;
    assert_untouched(TUTTI_ERR_FORMAT, "other variables", others, COLUMNS);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    struct tt_recorder *recorder = NULL;
    interrupt(SIZE_MAX, 500, 900, FLUSHED);
    assert_int_equal(truncate(path, 0), 0);
    assert_untouched(TUTTI_ERR_FORMAT, "cannot go on with", columns, COLUMNS);
    assert_int_equal(unlink(path), 0);
    assert_fails(reopen_with(&recorder, columns, COLUMNS), TUTTI_ERR_IO, "start the run anew");
    assert_false(exists(path));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_not_equal(reopen_with(&recorder, columns, COLUMNS), TUTTI_OK);
    assert_contains(tutti_err_message(), path);
    assert_int_equal(rmdir(path), 0);

    /* A result of other rows, long enough. */
    assert_ok(format->open(&recorder, path, columns, COLUMNS));
    put_rows(recorder, 7, 1500);
    assert_ok(format->close(recorder));
    assert_untouched(TUTTI_ERR_FORMAT, "it is not the file", columns, COLUMNS);
}

static void it_is_not_taken_from_another_run(void **state)
{
    (void)state;
    struct tt_recorder *recorder = NULL, *second = NULL;
    interrupt(SIZE_MAX, 5, 9, FLUSHED);
    assert_ok(reopen_with(&recorder, columns, COLUMNS));
    assert_fails(reopen_with(&second, columns, COLUMNS), TUTTI_ERR_IO, "another run is writing it");
    assert_null(second);
    put_rows(recorder, 5, 12);
    assert_ok(format->close(recorder));
    write_whole(12);
    compare();
}

/* Of whatever bytes: a mark comes from a file. */
static void a_broken_mark_is_refused(void **state)
{
    (void)state;
    size_t size;
    interrupt(SIZE_MAX, 5, 9, FLUSHED);
    char *good = slurp_file(mark_path, &size), *bad = malloc(size + 1);
    unsigned long random = 1;
    for (size_t i = 0; i < 3 * size; i++) {
        size_t n = i < size ? i : size;
        memcpy(bad, good, n);
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (i >= size)
            bad[i % size] = (char)(bad[i % size] ^ (char)(1 + (random >> 33) % 255));
        struct tt_byte_reader mark = {.at = bad, .end = bad + n};
        struct tt_recorder *recorder = NULL;
        if (format->reopen(&recorder, path, columns, COLUMNS, &mark) == TUTTI_OK)
            fail_msg("a mark of %zu bytes with another byte %zu is taken", n, i % size);
        assert_contains(tutti_err_message(), path);
    }
    free(good);
    free(bad);
    go_on(5, 9);
    write_whole(9);
    compare();
}

static void another_formats_mark_is_refused(void **state)
{
    (void)state;
    const struct tt_record_format *other = strcmp(FORMAT, "mat") == 0 ? &tt_jsonl_format : &tt_mat_format;
    struct tt_recorder *recorder = NULL;
    struct tt_byte_writer mark = {0};
    interrupt(SIZE_MAX, 5, 9, FLUSHED);
    assert_ok(other->open(&recorder, scratch_path(&scratch, "other"), columns, COLUMNS));
    assert_ok(other->mark(recorder, &mark));
    assert_ok(other->close(recorder));
    assert_non_null(scratch_write(&scratch, "mark", mark.bytes, mark.size));
    tt_bytes_fini(&mark);
    assert_untouched(TUTTI_ERR_FORMAT, other->extension, columns, COLUMNS);
}

static void nothing_to_record_goes_on_too(void **state)
{
    (void)state;
    struct tt_recorder *recorder = NULL;
    struct tt_byte_writer mark = {0};
    assert_ok(format->open(&recorder, path, NULL, 0));
    assert_ok(format->row(recorder, 0));
    assert_ok(format->mark(recorder, &mark));
    assert_ok(format->row(recorder, 1));
    assert_ok(format->close(recorder));
    struct tt_byte_reader in = {.at = mark.bytes, .end = mark.bytes + mark.size};
    assert_ok(format->reopen(&recorder, path, NULL, 0, &in));
    assert_ok(format->row(recorder, 2));
    assert_ok(format->close(recorder));
    tt_bytes_fini(&mark);
    struct tutti_result *result = NULL;
    assert_ok(tutti_result_open(&result, path, NULL));
    assert_int_equal(result->rows, 2);
    assert_same_double(result->times[1], 2);
    tutti_result_free(result);
}

struct syncing {
    struct tt_recorder *recorder;
    atomic_bool over;
    enum tutti_err err;
};

static void *keep_syncing(void *context)
{
    struct syncing *syncing = context;
    do
        syncing->err = format->sync(syncing->recorder);
    while (!syncing->err && !syncing->over);
    return NULL;
}

/* By another thread, while rows come and the file is marked. */
static void it_is_synced_all_the_while(void **state)
{
    (void)state;
    enum { ROWS = 9000 };
    struct syncing syncing = {0};
    pthread_t thread;
    assert_ok(format->open(&syncing.recorder, path, columns, COLUMNS));
    assert_int_equal(pthread_create(&thread, NULL, keep_syncing, &syncing), 0);
    for (size_t row = 0; row < ROWS; row += 1000) {
        struct tt_byte_writer mark = {0};
        put_rows(syncing.recorder, row, row + 1000);
        assert_ok(format->mark(syncing.recorder, &mark));
        tt_bytes_fini(&mark);
    }
    syncing.over = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(syncing.err, TUTTI_OK);
    assert_ok(format->close(syncing.recorder));
    write_whole(ROWS);
    compare();
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 1, "EXTENSION");
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up_paths, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(it_goes_on_from_every_row),
        TEST(it_goes_on_in_large_files),
        TEST(it_is_interrupted_again_and_again),
        TEST(it_is_killed_at_any_moment),
        TEST(its_rows_survive_as_those_of_any_run),
        TEST(other_columns_are_refused),
        TEST(other_files_are_refused),
        TEST(it_is_not_taken_from_another_run),
        TEST(a_broken_mark_is_refused),
        TEST(another_formats_mark_is_refused),
        TEST(nothing_to_record_goes_on_too),
        TEST(it_is_synced_all_the_while),
    };
    return cmocka_run_group_tests(tests, find_format, NULL);
}
