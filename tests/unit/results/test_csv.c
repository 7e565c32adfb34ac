/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <pthread.h>

#include "own_scratch.h"
#include "results/dying.h"
#include "results/full_disk.h"
#include "results/result.h"

static const struct tt_record_format *const csv = &tt_csv_format;

static struct tt_recorder *open_csv(const char *path, const struct tt_column *columns, size_t n)
{
    struct tt_recorder *recorder = NULL;
    if (csv->open(&recorder, path, columns, n) != TUTTI_OK)
        fail_msg("%s", tutti_err_message());
    return recorder;
}

static void assert_file(const char *name, const char *expected)
{
    char *text = slurp_file(scratch_path(&scratch, name), NULL);
    assert_string_equal(text, expected);
    free(text);
}

static void test_formats(void **state)
{
    (void)state;
    const struct tt_record_format *format = NULL;
    static const char *const good[] = {"a.csv", "dir.x/a.CSV", "-", "a.b.csv", "/dev/null", "/dev/full"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        format = NULL;
        assert_int_equal(tt_recorder_find_format(&format, good[i]), TUTTI_OK);
        assert_ptr_equal(format, csv);
    }
    static const char *const bad[] = {"a.xyz", "a", "dir.csv/a", ".csv", "", "a.csv.", "/tmp"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tt_recorder_find_format(&format, bad[i]), TUTTI_ERR_ARGUMENT);
        assert_contains(tutti_err_message(), ".csv");
        assert_contains(tutti_err_message(), bad[i]);
    }
    assert_int_equal(tt_recorder_find_format(&format, "a.Units.csv"), TUTTI_OK);
    assert_ptr_equal(format, &tt_csv_units_format);
    assert_int_equal(tt_recorder_find_format(&format, "dir/.units.csv"), TUTTI_OK); /* nothing is before it */
    assert_ptr_equal(format, csv);
}

static void test_types(void **state)
{
    (void)state;
    double f64 = 0.1;
    float f32 = 0.1f;
    int8_t i8 = INT8_MIN;
    uint8_t u8 = UINT8_MAX;
    int16_t i16 = INT16_MIN;
    uint16_t u16 = UINT16_MAX;
    int32_t i32 = INT32_MIN;
    uint32_t u32 = UINT32_MAX;
    int64_t i64 = INT64_MIN, enumeration = 3;
    uint64_t u64 = UINT64_MAX;
    bool boolean = true, clock = false;
    const char *string = "plain";
    struct tt_bytes binary = {3, (const uint8_t *)"\x00\xab\xff"};
#define COLUMN(type_, name_, value_)                                                                                   \
    {                                                                                                                  \
        .name = name_, .type = TUTTI_TYPE_##type_, .value = value_                                                     \
    }
    struct tt_column columns[] = {
        COLUMN(FLOAT64, "f64", &f64),   COLUMN(FLOAT32, "f32", &f32),
        COLUMN(INT8, "i8", &i8),        COLUMN(UINT8, "u8", &u8),
        COLUMN(INT16, "i16", &i16),     COLUMN(UINT16, "u16", &u16),
        COLUMN(INT32, "i32", &i32),     COLUMN(UINT32, "u32", &u32),
        COLUMN(INT64, "i64", &i64),     COLUMN(UINT64, "u64", &u64),
        COLUMN(BOOLEAN, "b", &boolean), COLUMN(STRING, "s", &string),
        COLUMN(BINARY, "bin", &binary), COLUMN(ENUMERATION, "e", &enumeration),
        COLUMN(CLOCK, "c", &clock),
    };
    const size_t n = sizeof columns / sizeof *columns;
    assert_int_equal(n, TUTTI_TYPE_COUNT);
    struct tt_recorder *recorder = open_csv(scratch_path(&scratch, "a.csv"), columns, n);
    assert_int_equal(csv->row(recorder, 0), TUTTI_OK);
    /* The values are read for every row. */
    f64 = NAN;
    f32 = -INFINITY;
    i8 = 1;
    boolean = false;
    clock = true;
    string = NULL;
    binary = (struct tt_bytes){0};
    assert_int_equal(csv->row(recorder, 0.5), TUTTI_OK);
    f64 = INFINITY;
    string = "a,\"b\"\nc\rd";
    assert_int_equal(csv->row(recorder, 1e300), TUTTI_OK);
    assert_int_equal(csv->close(recorder), TUTTI_OK);
    assert_file("a.csv",
                "time,f64,f32,i8,u8,i16,u16,i32,u32,i64,u64,b,s,bin,e,c\n"
                "0,0.1,0.1,-128,255,-32768,65535,-2147483648,4294967295,-9223372036854775808,18446744073709551615,1,"
                "plain,00abff,3,0\n"
                "0.5,nan,-inf,1,255,-32768,65535,-2147483648,4294967295,-9223372036854775808,18446744073709551615,0,,,"
                "3,1\n"
                "1e+300,inf,-inf,1,255,-32768,65535,-2147483648,4294967295,-9223372036854775808,18446744073709551615,0,"
                "\"a,\"\"b\"\"\nc\rd\",,3,1\n");

    f64 = 0;
    f32 = 2.5f;
    i8 = INT8_MIN;
    string = "text";
    for (size_t i = 0; i < n; i++)
        columns[i].negated = true;
    recorder = open_csv(scratch_path(&scratch, "b.csv"), columns, n);
    assert_int_equal(csv->row(recorder, 0), TUTTI_OK);
    f64 = NAN;
    i8 = 0;
    u8 = 0;
    i64 = INT64_MAX;
    assert_int_equal(csv->row(recorder, 1), TUTTI_OK);
    assert_int_equal(csv->close(recorder), TUTTI_OK);
    assert_file("b.csv", "time,f64,f32,i8,u8,i16,u16,i32,u32,i64,u64,b,s,bin,e,c\n"
                         "0,0,-2.5,128,-255,32768,-65535,2147483648,-4294967295,9223372036854775808,"
                         "-18446744073709551615,0,text,,-3,1\n"
                         "1,nan,-2.5,0,0,32768,-65535,2147483648,-4294967295,-9223372036854775807,"
                         "-18446744073709551615,0,text,,-3,1\n");
}

static void test_header(void **state)
{
    (void)state;
    double x = 1;
    const struct tt_column columns[] = {COLUMN(FLOAT64, "u.x[1,2]", &x), COLUMN(FLOAT64, "say \"x\"", &x),
                                        COLUMN(FLOAT64, "der(x)", &x), COLUMN(FLOAT64, "two\nlines", &x)};
    assert_int_equal(csv->close(open_csv(scratch_path(&scratch, "a.csv"), columns, 4)), TUTTI_OK);
    assert_file("a.csv", "time,\"u.x[1,2]\",\"say \"\"x\"\"\",der(x),\"two\nlines\"\n");
    struct tt_recorder *recorder = open_csv(scratch_path(&scratch, "a.csv"), NULL, 0); /* shorter than before */
    assert_int_equal(csv->row(recorder, 3), TUTTI_OK);
    assert_int_equal(csv->close(recorder), TUTTI_OK);
    assert_file("a.csv", "time\n3\n");
}

/* Brackets that belong to a name are distinguished from those of a unit. */
static void test_header_with_units(void **state)
{
    (void)state;
    double x = 1;
    struct tt_column columns[] = {COLUMN(FLOAT64, "u.x[1,2]", &x), COLUMN(FLOAT64, "v", &x),
                                  COLUMN(FLOAT64, "odd [name]", &x), COLUMN(FLOAT64, "n", &x)};
    columns[0].unit = "m/s2";
    columns[1].unit = "a,\"b\"";
    struct tt_recorder *recorder = NULL;
    const char *path = scratch_path(&scratch, "a.units.csv");
    assert_int_equal(tt_csv_units_format.open(&recorder, path, columns, 4), TUTTI_OK);
    assert_int_equal(tt_csv_units_format.row(recorder, 0.5), TUTTI_OK);
    assert_int_equal(tt_csv_units_format.close(recorder), TUTTI_OK);
    assert_file("a.units.csv", "time [s],\"u.x[1,2] [m/s2]\",\"v [a,\"\"b\"\"]\",odd [name] [],n\n0.5,1,1,1,1\n");
    struct tutti_result *result = NULL;
    assert_int_equal(tutti_result_open(&result, path, NULL), TUTTI_OK);
    static const char *const names[] = {"u.x[1,2]", "v", "odd [name]", "n"}, *units[] = {"m/s2", "a,\"b\"", NULL, NULL};
    assert_string_equal(result->time_unit, "s");
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(result->variables[i].name, names[i]);
        assert_string_equal(result->variables[i].unit ? result->variables[i].unit : "", units[i] ? units[i] : "");
    }
    tutti_result_free(result);
}

/* Many rows and long texts: past the buffer's end, past its size, and the file still as it must be. */
static void test_much(void **state)
{
    (void)state;
    enum { LONG = 300000, ROWS = 40000 };
    double x = 0;
    char *text = malloc(LONG + 1);
    assert_non_null(text);
    const char *string = text;
    struct tt_bytes binary = {0, (const uint8_t *)text};
    const struct tt_column columns[] = {COLUMN(FLOAT64, "x", &x), COLUMN(STRING, "s", &string),
                                        COLUMN(BINARY, "b", &binary)};
    memset(text, '"', LONG); /* the worst: every character doubles */
    text[LONG] = '\0';
    struct tt_recorder *recorder = open_csv(scratch_path(&scratch, "a.csv"), columns, 3);
    for (int i = 0; i < ROWS; i++) {
        x = i * 0.1;
        string = text + (i % 10000 == 9999 ? 0 : LONG - i % 3);
        binary.size = i % 10000 == 5000 ? LONG : 1;
        assert_int_equal(csv->row(recorder, i), TUTTI_OK);
    }
    assert_int_equal(csv->close(recorder), TUTTI_OK);
    char *file = slurp_file(scratch_path(&scratch, "a.csv"), NULL), *at = file + strlen("time,x,s,b\n");
    for (int i = 0; i < ROWS; i++) {
        char *end;
        assert_true(strtod(at, &end) == i && *end == ',');
        assert_true(strtod(end + 1, &end) == i * 0.1 && *end == ',');
        size_t quotes = strspn(end + 1, "\""), expected = i % 10000 == 9999 ? LONG : (size_t)(i % 3);
        assert_int_equal(quotes, expected ? 2 * expected + 2 : 0);
        end += 1 + quotes;
        size_t hex = strspn(end + 1, "02");
        assert_int_equal(hex, i % 10000 == 5000 ? 2 * LONG : 2);
        at = end + 1 + hex;
        assert_int_equal(*at++, '\n');
    }
    assert_int_equal(*at, '\0');
    free(file);
    free(text);
}

static void test_wide(void **state)
{
    (void)state;
    enum { WIDE = 20000 }; /* a row is larger than the usual buffer */
    static double values[WIDE];
    static char names[WIDE][32];
    static struct tt_column columns[WIDE];
    for (int i = 0; i < WIDE; i++) {
        values[i] = -1.0 / 3;
        snprintf(names[i], sizeof names[i], "x[%d,%d]", i / 100, i % 100);
        columns[i] = (struct tt_column)COLUMN(FLOAT64, names[i], &values[i]);
    }
    struct tt_recorder *recorder = open_csv(scratch_path(&scratch, "a.csv"), columns, WIDE);
    for (int i = 0; i < 10; i++)
        assert_int_equal(csv->row(recorder, i), TUTTI_OK);
    assert_int_equal(csv->close(recorder), TUTTI_OK);
    char *file = slurp_file(scratch_path(&scratch, "a.csv"), NULL);
    const char third[] = ",-0.3333333333333333";
    size_t lines = 0, thirds = 0;
    for (const char *c = file; *c; c++) {
        lines += *c == '\n';
        thirds += strncmp(c, third, strlen(third)) == 0;
    }
    assert_int_equal(lines, 11);
    assert_int_equal(thirds, 10 * WIDE);
    free(file);
}

static void test_flush(void **state)
{
    (void)state;
    double x = 1;
    const struct tt_column column = COLUMN(FLOAT64, "x", &x);
    struct tt_recorder *recorder = open_csv(scratch_path(&scratch, "a.csv"), &column, 1);
    assert_file("a.csv", "time,x\n"); /* the header goes out at once */
    assert_int_equal(csv->row(recorder, 0), TUTTI_OK);
    assert_file("a.csv", "time,x\n");
    assert_int_equal(csv->flush(recorder), TUTTI_OK);
    assert_int_equal(csv->flush(recorder), TUTTI_OK);
    assert_file("a.csv", "time,x\n0,1\n");
    assert_int_equal(csv->row(recorder, 1), TUTTI_OK);
    csv->emergency(recorder);
    assert_file("a.csv", "time,x\n0,1\n1,1\n");
    csv->emergency(recorder); /* once is enough */
    assert_int_equal(csv->close(recorder), TUTTI_OK);
    assert_file("a.csv", "time,x\n0,1\n1,1\n");
}

/* --- a dying process: a signal at any moment, and whole rows, each once, in the file */

static void record_until_killed(unsigned microseconds)
{
    double x = 0;
    const char *text = "a \"quoted\"\nline";
    const struct tt_column columns[] = {COLUMN(FLOAT64, "x", &x), COLUMN(STRING, "s", &text)};
    record_until_ended(csv, scratch.joined, columns, 2, &x, microseconds);
}

static void test_emergency_at_any_moment(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 40; round++) {
        scratch_path(&scratch, "a.csv");
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            record_until_killed(2000 + round * 137);
        assert_child_is_well(child);
        char *file = slurp_file(scratch_path(&scratch, "a.csv"), NULL), *at = file, expected[80];
        assert_int_equal(strncmp(at, "time,x,s\n", 9), 0);
        at += 9;
        for (unsigned i = 0; *at; i++) {
            double values[2] = {-1, -1};
            char *end;
            values[0] = strtod(at, &end);
            values[1] = strtod(end + 1, &end);
            snprintf(expected, sizeof expected, ",\"a \"\"quoted\"\"\nline\"\n");
            assert_true(values[0] == i && values[1] == i * 0.1);
            assert_int_equal(strncmp(end, expected, strlen(expected)), 0);
            at = end + strlen(expected);
        }
        free(file);
    }
}

/* --- what can go wrong */

static void assert_open_fails(const char *path, const char *words)
{
    struct tt_recorder *recorder = NULL;
    assert_int_equal(csv->open(&recorder, path, NULL, 0), TUTTI_ERR_IO);
    assert_null(recorder);
    assert_contains(tutti_err_message(), path);
    assert_contains(tutti_err_message(), words);
}

static void test_cannot_open(void **state)
{
    (void)state;
    assert_open_fails(scratch_path(&scratch, "no/such/a.csv"), "there is no folder");
    assert_open_fails(scratch.path, "it is a folder");
    scratch_write(&scratch, "file", "x", 1);
    assert_open_fails(scratch_path(&scratch, "file/a.csv"), "Not a directory");
    assert_open_fails("/proc/version", "");
    assert_open_fails("", "name another file");
    assert_open_fails("/dev/full", "No space left"); /* at once, not after hours */
    assert_contains(tutti_err_message(), "make room");
}

/* Opening more files than are allowed fails, and leaves none open. */
static void test_nothing_is_left_open(void **state)
{
    (void)state;
    int before = dup(0);
    close(before);
    for (int i = 0; i < 10; i++)
        assert_open_fails("/dev/full", "No space left");
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

static void test_full_disk(void **state)
{
    (void)state;
    double x = 0;
    const char *text = "two\nlines";
    const struct tt_column columns[] = {COLUMN(FLOAT64, "x", &x), COLUMN(STRING, "s", &text)};
    for (off_t limit = 200000; limit < 200040; limit++) { /* every place in a row */
        fill_up(csv, scratch_path(&scratch, "a.csv"), columns, 2, &x, limit);
        size_t n;
        char *file = slurp_file(scratch_path(&scratch, "a.csv"), &n);
        assert_true(n <= (size_t)limit && n > (size_t)limit - 50); /* all whole rows that fit */
        assert_string_equal(file + n - 12, "\"two\nlines\"\n");
        free(file);
    }
}

static void test_standard_output(void **state)
{
    (void)state;
    fflush(NULL);
    int saved = dup(STDOUT_FILENO), file = open(scratch_path(&scratch, "out"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(file, "before\n", 7), 7);
    dup2(file, STDOUT_FILENO);
    double x = 2;
    const struct tt_column column = COLUMN(FLOAT64, "x", &x);
    struct tt_recorder *recorder = NULL;
    enum tutti_err err = csv->open(&recorder, "-", &column, 1);
    if (err == TUTTI_OK) {
        err = csv->row(recorder, 1);
        err = csv->close(recorder) != TUTTI_OK ? TUTTI_ERR_IO : err;
    }
    ssize_t n = write(STDOUT_FILENO, "after\n", 6); /* still open */
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    assert_int_equal(err, TUTTI_OK);
    assert_int_equal(n, 6);
    assert_file("out", "before\ntime,x\n1,2\nafter\n"); /* in its place, whatever came before */
}

struct pipe_reader {
    int fd;
    size_t bytes, lines;
};

static void *read_slowly(void *context)
{
    struct pipe_reader *reader = context;
    char data[1000];
    for (ssize_t n; (n = read(reader->fd, data, sizeof data)) > 0;) {
        for (ssize_t i = 0; i < n; i++)
            reader->lines += data[i] == '\n';
        reader->bytes += (size_t)n;
    }
    return NULL;
}

/* A pipe that takes a little at a time, and, when non-blocking, now and then nothing. */
static void test_pipe(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        fcntl(ends[1], F_SETPIPE_SZ, 4096);
        struct pipe_reader reader = {.fd = ends[0]};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
        char path[40];
        snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
        struct tt_recorder *recorder = open_csv(path, NULL, 0);
        close(ends[1]);
        if (nonblocking) /* the recorder has the lowest free descriptor above the reader's */
            for (int fd = 3; fd < 20; fd++)
                if (fd != ends[0])
                    fcntl(fd, F_SETFL, O_NONBLOCK);
        for (int i = 0; i < 100000; i++)
            assert_int_equal(csv->row(recorder, i), TUTTI_OK);
        assert_int_equal(csv->close(recorder), TUTTI_OK);
        pthread_join(thread, NULL);
        close(ends[0]);
        assert_int_equal(reader.lines, 100001);
    }
}

static void test_broken_pipe(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    struct tt_recorder *recorder = open_csv(path, NULL, 0);
    close(ends[1]);
    close(ends[0]);
    assert_int_equal(csv->row(recorder, 1), TUTTI_OK);
    assert_int_equal(csv->flush(recorder), TUTTI_ERR_IO);
    assert_contains(tutti_err_message(), "Broken pipe");
    assert_int_equal(csv->close(recorder), TUTTI_ERR_IO);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_formats),     TEST(test_types),
        TEST(test_header),      TEST(test_header_with_units),
        TEST(test_much),        TEST(test_wide),
        TEST(test_flush),       TEST(test_emergency_at_any_moment),
        TEST(test_cannot_open), TEST(test_nothing_is_left_open),
        TEST(test_full_disk),   TEST(test_standard_output),
        TEST(test_pipe),        TEST(test_broken_pipe),
    };
    return cmocka_run_group_tests_name("record/csv", tests, NULL, NULL);
}
