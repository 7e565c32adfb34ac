/* SPDX-License-Identifier: MIT */
/* What recorder.h promises of every format. FORMAT, the extension without its dot, is the argument. */
#include "recorder.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "results/result.h"

static void refuse_warning(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    (void)level;
    (void)origin;
    fail_msg("%s", text);
}

/* How many rows a file holds that was left as it is, with nothing that has to be left out. */
static size_t rows_of(const char *file)
{
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = refuse_warning};
    struct tutti_result *result = NULL;
    assert_ok(tutti_result_open(&result, file, &log));
    assert_string_equal(result->format->name, format->name);
    size_t rows = result->rows;
    tutti_result_free(result);
    return rows;
}

static void it_is_found_by_its_extension(void **state)
{
    (void)state;
    assert_string_equal(format->extension, conformance_join(".", FORMAT));
    assert_non_null(format->name);
    const struct tt_record_format *again = NULL;
    assert_ok(tt_recorder_find_format(&again, conformance_join("Folder.x/A.B.", FORMAT)));
    assert_ptr_equal(again, format);
}

static void every_type_can_be_recorded(void **state)
{
    (void)state;
    static const uint64_t zeros[4];
    static const char *const text = "a \"text\",\nof two lines";
    struct tt_column columns[TUTTI_TYPE_COUNT];
    char names[TUTTI_TYPE_COUNT][32];
    for (int i = 0; i < TUTTI_TYPE_COUNT; i++) {
        snprintf(names[i], sizeof names[i], "unit.v[%d,\"x\"]", i);
        columns[i] = (struct tt_column){.name = names[i],
                                        .type = (enum tt_type)i,
                                        .source = (size_t)i,
                                        .value = i == TUTTI_TYPE_STRING ? (const void *)&text : zeros};
    }
    struct tt_recorder *recorder = NULL;
    assert_ok(format->open(&recorder, path, columns, TUTTI_TYPE_COUNT));
    assert_ok(format->row(recorder, -1));
    assert_ok(format->row(recorder, 0));
    assert_ok(format->row(recorder, 0)); /* both sides of an event */
    assert_ok(format->row(recorder, 1e300));
    assert_ok(format->close(recorder));
    assert_int_equal(rows_of(path), 4);
}

static void nothing_to_record_is_a_file_too(void **state)
{
    (void)state;
    struct tt_recorder *recorder = NULL;
    assert_ok(format->open(&recorder, path, NULL, 0));
    assert_ok(format->close(recorder));
    assert_int_equal(rows_of(path), 0);
}

/* The longer file that was there before is gone. */
static void an_older_file_is_replaced(void **state)
{
    (void)state;
    double x = 1;
    const struct tt_column column = {.name = "x", .type = TUTTI_TYPE_FLOAT64, .value = &x};
    for (int rows = 1000; rows >= 10; rows /= 10) {
        struct tt_recorder *recorder = NULL;
        assert_ok(format->open(&recorder, path, &column, 1));
        for (int i = 0; i < rows; i++)
            assert_ok(format->row(recorder, i));
        assert_ok(format->close(recorder));
        assert_int_equal(rows_of(path), rows);
    }
}

/* Two runs that write one file would leave neither. */
static void a_file_is_written_by_one_run(void **state)
{
    (void)state;
    double x = 1;
    const struct tt_column column = {.name = "x", .type = TUTTI_TYPE_FLOAT64, .value = &x};
    struct tt_recorder *first = NULL, *second = NULL;
    assert_ok(format->open(&first, path, &column, 1));
    assert_ok(format->row(first, 1));
    assert_ok(format->flush(first));
    assert_fails(format->open(&second, path, &column, 1), TUTTI_ERR_IO, "another run is writing it");
    assert_null(second);
    assert_ok(format->row(first, 2));
    assert_ok(format->close(first));
    assert_int_equal(rows_of(path), 2);
    assert_ok(format->open(&second, path, &column, 1));
    assert_ok(format->close(second));
    assert_int_equal(rows_of(path), 0);
}

static void what_cannot_be_opened_is_named(void **state)
{
    (void)state;
    struct tt_recorder *recorder = NULL;
    const char *nowhere = scratch_path(&scratch, conformance_join("nowhere/result.", FORMAT));
    assert_fails(format->open(&recorder, nowhere, NULL, 0), TUTTI_ERR_IO, conformance_join("nowhere/result.", FORMAT));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_fails(format->open(&recorder, path, NULL, 0), TUTTI_ERR_IO, conformance_join("result.", FORMAT));
    assert_int_equal(rmdir(path), 0);
    assert_false(exists(path));
}

/* A process that ends abruptly leaves its flushed rows. */
static void flushed_rows_survive(void (*flush)(struct tt_recorder *recorder))
{
    double x = 0;
    const struct tt_column column = {.name = "x", .type = TUTTI_TYPE_FLOAT64, .value = &x};
    pid_t child = fork();
    if (child == 0) {
        struct tt_recorder *recorder = NULL;
        if (format->open(&recorder, path, &column, 1) != TUTTI_OK)
            _exit(1);
        for (int i = 0; i < 5000; i++) {
            x = i * 0.1;
            if (format->row(recorder, i) != TUTTI_OK)
                _exit(2);
        }
        flush(recorder);
        _exit(0);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(rows_of(path), 5000);
}

static void plain_flush(struct tt_recorder *recorder)
{
    if (format->flush(recorder) != TUTTI_OK)
        _exit(3);
}

static void what_was_flushed_survives_a_kill(void **state)
{
    (void)state;
    flushed_rows_survive(plain_flush);
}

static void emergency_saves_all_rows(void **state)
{
    (void)state;
    flushed_rows_survive(format->emergency);
}

/* Writes until that fails; 0, or where it was not as it should be. */
static int fill(void)
{
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){300000, 300000});
    double x = 1;
    const struct tt_column column = {.name = "x", .type = TUTTI_TYPE_FLOAT64, .value = &x};
    struct tt_recorder *recorder = NULL;
    if (format->open(&recorder, path, &column, 1) != TUTTI_OK)
        return 1;
    enum tutti_err err = TUTTI_OK;
    for (int i = 0; i < 1000000 && err == TUTTI_OK; i++)
        err = format->row(recorder, i);
    if (err != TUTTI_ERR_IO || !strstr(tutti_err_message(), path))
        return 2;
    for (int i = 0; i < 3; i++) {
        (void)tt_fail(TUTTI_ERR_STATE, "another failure");
        err = i == 0 ? format->row(recorder, 1e9) : i == 1 ? format->flush(recorder) : format->close(recorder);
        if (err != TUTTI_ERR_IO || !strstr(tutti_err_message(), path) || !strstr(tutti_err_message(), "too large"))
            return 3 + i;
    }
    return 0;
}

/* Sooner or later writing fails; from then on every call says the same, and what is there is whole. */
static void a_full_disk_is_told(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(fill());
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(rows_of(path) > 1000);
}

/* At once, not after hours: because it is full, or because this format cannot write to a device. A format that has nothing to
 * write before the rows says so with the first one. */
static void a_full_device_is_told(void **state)
{
    (void)state;
    struct tt_recorder *recorder = NULL;
    assert_int_equal(symlink("/dev/full", path), 0);
    if (format->open(&recorder, path, NULL, 0) == TUTTI_OK) {
        assert_fails(format->row(recorder, 0), TUTTI_ERR_IO, conformance_join("result.", FORMAT));
        assert_fails(format->close(recorder), TUTTI_ERR_IO, conformance_join("result.", FORMAT));
    } else {
        assert_null(recorder);
        assert_contains(tutti_err_message(), conformance_join("result.", FORMAT));
    }
    if (!strstr(tutti_err_message(), "a file on a disk"))
        assert_contains(tutti_err_message(), "No space left");
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 1, "EXTENSION");
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(it_is_found_by_its_extension),    TEST(every_type_can_be_recorded),
        TEST(nothing_to_record_is_a_file_too), TEST(an_older_file_is_replaced),
        TEST(what_cannot_be_opened_is_named),  TEST(what_was_flushed_survives_a_kill),
        TEST(emergency_saves_all_rows),        TEST(a_full_disk_is_told),
        TEST(a_full_device_is_told),           TEST(a_file_is_written_by_one_run),
    };
    return cmocka_run_group_tests(tests, find_format, NULL);
}
