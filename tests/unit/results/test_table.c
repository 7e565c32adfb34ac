/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/number.h"
#include "results/recorder.h"
#include "results/csv_table.h"
#include "scratch.h"

static struct tt_csv_table *parse(const char *text)
{
    struct tt_csv_table *table = NULL;
    if (tt_csv_table_parse(&table, "in.csv", text, strlen(text)) != TUTTI_OK)
        fail_msg("%s", tutti_err_message());
    return table;
}

static void test_plain(void **state)
{
    (void)state;
    struct tt_csv_table *table = parse("time,u,v\n0,1,two\n0.5,,\n0.5,3,\n");
    assert_int_equal(tt_csv_table_rows(table), 3);
    assert_int_equal(tt_csv_table_columns(table), 2);
    assert_string_equal(tt_csv_table_name(table, 0), "u");
    assert_string_equal(tt_csv_table_name(table, 1), "v");
    const double *times = tt_csv_table_times(table);
    assert_true(times[0] == 0 && times[1] == 0.5 && times[2] == 0.5);
    assert_string_equal(tt_csv_table_cell(table, 0, 0), "1");
    assert_string_equal(tt_csv_table_cell(table, 0, 1), "two");
    assert_string_equal(tt_csv_table_cell(table, 1, 0), "");
    assert_string_equal(tt_csv_table_cell(table, 1, 1), "");
    assert_string_equal(tt_csv_table_cell(table, 2, 0), "3");
    assert_int_equal(tt_csv_table_line(table, 0), 2);
    assert_int_equal(tt_csv_table_line(table, 2), 4);
    tt_csv_table_free(table);
    tt_csv_table_free(NULL);
}

/* Files that mean the same. */
static void test_forms(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "time,u\n0,a\n1,b\n",           "time,u\n0,a\n1,b",
        "time,u\r\n0,a\r\n1,b\r\n",     "time,u\r\n0,a\r\n1,b\r",
        "\xef\xbb\xbftime,u\n0,a\n1,b", "Time,u\n0,a\n1,b\n\n\n",
        "\n\nTIME,u\n\n0,a\n\n1,b\n",   "\"time\",\"u\"\n\"0\",\"a\"\n1,\"b\"",
        "time, u \n 0 ,a\n+1.0,b\n",    "time,u\r0,a\r1,b\r",
        "time,u\n0e0,a\n1e0,b\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tt_csv_table *table = parse(forms[i]);
        if (tt_csv_table_rows(table) != 2 || tt_csv_table_columns(table) != 1 ||
            strcmp(tt_csv_table_name(table, 0), "u") != 0 || tt_csv_table_times(table)[1] != 1 ||
            strcmp(tt_csv_table_cell(table, 0, 0), "a") != 0 || strcmp(tt_csv_table_cell(table, 1, 0), "b") != 0)
            fail_msg("form %zu", i);
        tt_csv_table_free(table);
    }
    struct tt_csv_table *table = parse("time\n0\n1\n"); /* nothing but time */
    assert_int_equal(tt_csv_table_columns(table), 0);
    assert_int_equal(tt_csv_table_rows(table), 2);
    tt_csv_table_free(table);
    table = parse("time,time\n0,1\n"); /* a variable of that name */
    assert_string_equal(tt_csv_table_name(table, 0), "time");
    tt_csv_table_free(table);
    table = parse("time,u"); /* no rows */
    assert_int_equal(tt_csv_table_rows(table), 0);
    tt_csv_table_free(table);
}

static void test_quotes(void **state)
{
    (void)state;
    struct tt_csv_table *table = parse("time,\"x[1,2]\",\" s \"\"t\"\"\"\n"
                                       "0,\"\",\"a\nb\r\nc\"\n"
                                       "1,\"\"\"\",\"\"\"\"\"\"\n"
                                       "2,a\"b,\"x,y\"\n");
    assert_string_equal(tt_csv_table_name(table, 0), "x[1,2]");
    assert_string_equal(tt_csv_table_name(table, 1), " s \"t\""); /* what is quoted is kept to the letter */
    assert_string_equal(tt_csv_table_cell(table, 0, 0), "");
    assert_string_equal(tt_csv_table_cell(table, 0, 1), "a\nb\r\nc");
    assert_string_equal(tt_csv_table_cell(table, 1, 0), "\"");
    assert_string_equal(tt_csv_table_cell(table, 1, 1), "\"\"");
    assert_string_equal(tt_csv_table_cell(table, 2, 0), "a\"b");
    assert_string_equal(tt_csv_table_cell(table, 2, 1), "x,y");
    assert_int_equal(tt_csv_table_line(table, 0), 2);
    assert_int_equal(tt_csv_table_line(table, 1), 5);
    assert_int_equal(tt_csv_table_line(table, 2), 6);
    tt_csv_table_free(table);
}

/* Separators, decimal commas and units of time, as spreadsheets and other tools write them. */
static void test_other_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double time;
        bool commas;
    } cases[] = {
        {"t,u\n1.5,2.5\n", 1.5, false},
        {"time;u\n1,5;2,5\n", 1.5, true},
        {"time\tu\n1.5\t2.5\n", 1.5, true},
        {"Time [h],u\n1.5,2.5\n", 5400, false},
        {"time[s],u\n1.5,2.5\n", 1.5, false},
        {"t [min];u\n0,5;2,5\n", 30, true},
        {"\"time [ms]\",u\n1500,2.5\n", 1.5, false},
        {"TIME [d]\tu\n-,5\t2,5\n", -43200, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tt_csv_table *table = NULL;
        assert_ok(tt_csv_table_parse(&table, "in.csv", cases[i].text, strlen(cases[i].text)));
        assert_same_double(tt_csv_table_times(table)[0], cases[i].time);
        assert_int_equal(tt_csv_table_has_decimal_commas(table), cases[i].commas);
        assert_string_equal(tt_csv_table_name(table, 0), "u");
        tt_csv_table_free(table);
    }
    char text[] = "1,5 -2,25e-3\t,5 3, 1,2,3 a,b 7 ,";
    tt_csv_table_decimal_point(text);
    assert_string_equal(text, "1.5 -2.25e-3\t.5 3. 1,2,3 a,b 7 ,");
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "in.csv: the file is empty"},
        {"\n\r\n", "in.csv: the file is empty"},
        {"\xef\xbb\xbf", "in.csv: the file is empty"},
        {"tt,u\n0,1\n", "in.csv:1: the first column must be 'time', and is 'tt'"},
        {"time in h,u\n0,1\n", "in.csv:1: the first column must be 'time', and is 'time in h'"},
        {"time [parsec],u\n0,1\n", "in.csv:1: the unit of time in 'time [parsec]' is not known"},
        {"time [,u\n0,1\n", "is not known"},
        {"time [s,u\n0,1\n", "is not known"},
        {"time [h],u\n1e308,1\n", "in.csv:2: the time '1e308' is too large"},
        {"time;u\n0,1,2;1\n", "in.csv:2: the time '0,1,2' is not a number"},
        {"\n\nx\n", "in.csv:3: the first column must be 'time', and is 'x'"},
        {",u\n", "in.csv:1: the first column must be 'time', and is ''"},
        {"time,u,\n0,1,\n", "in.csv:1: column 3 has no name"},
        {"time,u,v,u\n", "in.csv:1: columns 2 and 4 have the same name 'u'"},
        {"time,Time,u,Time\n", "in.csv:1: columns 2 and 4 have the same name 'Time'"},
        {"time,u\n0\n", "in.csv:2: 1 cells, and the header has 2"},
        {"time,u\n0,1\n1,2,3\n", "in.csv:3: 3 cells, and the header has 2"},
        {"time,u\n0,1,\n", "in.csv:2: 3 cells"},
        {"time,u\n0,\"a\n", "in.csv:2: a quote is opened here and never closed"},
        {"time,u\n0,\"a\n\n\nb", "in.csv:2: a quote is opened here and never closed"},
        {"time,\"u\n0,1\n", "in.csv:1: a quote is opened"},
        {"time,u\n0,\"a\"b\n", "in.csv:2: 'b' after a closing quote"},
        {"time,u\n0,\"a\nb\" ,c\n", "in.csv:3: ' ' after a closing quote"},
        {"time,u\nx,1\n", "in.csv:2: the time 'x' is not a number"},
        {"time,u\n,1\n", "in.csv:2: the time '' is not a number"},
        {"time,u\nnan,1\n", "in.csv:2: the time 'nan' is not a number"},
        {"time,u\ninf,1\n", "in.csv:2: the time 'inf' is not a number"},
        {"time,u\n1e999,1\n", "in.csv:2: the time '1e999' is not a number"},
        {"time,u\n0 0,1\n", "in.csv:2: the time '0 0' is not a number"},
        {"time,u\n1,\"a\nb\"\n0.25,2\n", "in.csv:4: time runs backwards, from 1 to 0.25"},
        {"\xff\xfet\0i\0", "UTF-16"},
        {"PK\x03\x04", "the first column must be 'time'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tt_csv_table *table = NULL;
        assert_int_equal(tt_csv_table_parse(&table, "in.csv", cases[i].text, strlen(cases[i].text)), TUTTI_ERR_FORMAT);
        assert_null(table);
        assert_contains(tutti_err_message(), cases[i].words);
    }
    struct tt_csv_table *table = NULL;
    assert_int_equal(tt_csv_table_parse(&table, "in.csv", "time,u\n0,\0001\n", 12), TUTTI_ERR_FORMAT);
    assert_contains(tutti_err_message(), "not a text file");
    assert_int_equal(tt_csv_table_parse(&table, "in.csv", NULL, 0), TUTTI_ERR_FORMAT);
    assert_int_equal(tt_csv_table_parse(&table, "in.csv", "", (size_t)3 << 30), TUTTI_ERR_LIMIT);
}

/* A text that ends anywhere is read or refused; under the address sanitizer this shows every step too far. */
static void test_every_prefix(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbftime,\"u\"\r\n0,\"a\"\"b\"\r\n1,\r\n\r\n2,\"\r\n\"\r\n";
    for (size_t n = 0; n < sizeof text; n++) {
        char *copy = malloc(n + 1);
        assert_non_null(copy);
        memcpy(copy, text, n);
        struct tt_csv_table *table = NULL;
        enum tutti_err err = tt_csv_table_parse(&table, "in.csv", copy, n);
        assert_true(err == TUTTI_OK || err == TUTTI_ERR_FORMAT);
        assert_true((err == TUTTI_OK) == (table != NULL));
        tt_csv_table_free(table);
        free(copy);
    }
}

static void test_many_columns(void **state)
{
    (void)state;
    enum { MOST = 1000000 };
    char *text = malloc(MOST * 10), *at = text;
    assert_non_null(text);
    at += sprintf(at, "time");
    for (int i = 1; i < MOST; i++)
        at += sprintf(at, ",%d", i);
    struct tt_csv_table *table = NULL;
    assert_int_equal(tt_csv_table_parse(&table, "in.csv", text, (size_t)(at - text)), TUTTI_OK);
    assert_int_equal(tt_csv_table_columns(table), MOST - 1);
    assert_string_equal(tt_csv_table_name(table, MOST - 2), "999999");
    tt_csv_table_free(table);
    at += sprintf(at, ",x\n");
    assert_int_equal(tt_csv_table_parse(&table, "in.csv", text, (size_t)(at - text)), TUTTI_ERR_LIMIT);
    assert_contains(tutti_err_message(), "in.csv:1");
    free(text);
}

static void test_files(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    struct tt_csv_table *table = NULL;
    assert_int_equal(tt_csv_table_read(&table, scratch_path(&scratch, "absent.csv")), TUTTI_ERR_IO);
    assert_contains(tutti_err_message(), "absent.csv");
    assert_int_equal(tt_csv_table_read(&table, scratch.path), TUTTI_ERR_IO);
    assert_contains(tutti_err_message(), "directory");
    assert_int_equal(tt_csv_table_read(&table, scratch_write(&scratch, "empty.csv", "", 0)), TUTTI_ERR_FORMAT);
    assert_contains(tutti_err_message(), "empty.csv: the file is empty");
    assert_int_equal(tt_csv_table_read(&table, scratch_write(&scratch, "in.csv", "time,u\n1,2", 10)), TUTTI_OK);
    assert_string_equal(tt_csv_table_cell(table, 0, 0), "2");
    tt_csv_table_free(table);
    int fd = open(scratch_path(&scratch, "huge.csv"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(fd, ((off_t)1 << 31) + 1), 0);
    close(fd);
    assert_int_equal(tt_csv_table_read(&table, scratch.joined), TUTTI_ERR_LIMIT);
    assert_contains(tutti_err_message(), "2 GiB");
    scratch_fini(&scratch);
}

/* From a pipe, whose size is not known; larger than the first buffer. */
static void test_pipe(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        (void)!write(ends[1], "time,u\n", 7);
        char row[40];
        for (int i = 0; i < 50000; i++)
            (void)!write(ends[1], row, (size_t)sprintf(row, "%d,%d\n", i, 2 * i));
        _exit(0);
    }
    close(ends[1]);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    struct tt_csv_table *table = NULL;
    assert_int_equal(tt_csv_table_read(&table, path), TUTTI_OK);
    close(ends[0]);
    assert_int_equal(tt_csv_table_rows(table), 50000);
    assert_string_equal(tt_csv_table_cell(table, 49999, 0), "99998");
    assert_int_equal(tt_csv_table_line(table, 49999), 50001);
    tt_csv_table_free(table);
}

/* The table reads what the recorder writes: equal bits, equal texts. */
static void test_round_trip(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    double x = 0;
    const char *s = "";
    const struct tt_column columns[] = {
        {.name = "u.x[1,2]", .type = TUTTI_TYPE_FLOAT64, .value = &x},
        {.name = "\"s\"", .type = TUTTI_TYPE_STRING, .value = &s},
    };
    static const char *const texts[] = {"", "a", " ", ",", "\"", "\"\"", "\n", "\r\n", "a\"b,c", "\xc3\xa4", "\r"};
    enum { TEXTS = sizeof texts / sizeof *texts, ROWS = 5000 };
    struct tt_recorder *recorder = NULL;
    assert_int_equal(tt_csv_format.open(&recorder, scratch_path(&scratch, "a.csv"), columns, 2), TUTTI_OK);
    for (int i = 0; i < ROWS; i++) {
        x = sin(i) * pow(10, i % 600 - 300);
        s = texts[i % TEXTS];
        assert_int_equal(tt_csv_format.row(recorder, i * 0.001), TUTTI_OK);
    }
    assert_int_equal(tt_csv_format.close(recorder), TUTTI_OK);
    struct tt_csv_table *table = NULL;
    assert_int_equal(tt_csv_table_read(&table, scratch_path(&scratch, "a.csv")), TUTTI_OK);
    assert_int_equal(tt_csv_table_rows(table), ROWS);
    assert_string_equal(tt_csv_table_name(table, 0), "u.x[1,2]");
    assert_string_equal(tt_csv_table_name(table, 1), "\"s\"");
    for (int i = 0; i < ROWS; i++) {
        const char *cell = tt_csv_table_cell(table, (size_t)i, 0);
        double expected = sin(i) * pow(10, i % 600 - 300);
        assert_true(tt_number_read_double(cell, strlen(cell), &x));
        assert_true(x == expected && tt_csv_table_times(table)[i] == i * 0.001);
        assert_string_equal(tt_csv_table_cell(table, (size_t)i, 1), texts[i % TEXTS]);
    }
    tt_csv_table_free(table);
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),        cmocka_unit_test(test_forms),  cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_other_forms),  cmocka_unit_test(test_errors), cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_many_columns), cmocka_unit_test(test_files),  cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests_name("record/table", tests, NULL, NULL);
}
