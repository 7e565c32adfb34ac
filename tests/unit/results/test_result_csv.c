/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdbool.h>

#include "results/recorder.h"
#include "results/csv_parser.h"
#include "results/result.h"
#include "scratch.h"

/* Keeps the last warning, and counts. */
struct warnings {
    int count;
    char last[500];
};

static void keep_warning(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)origin;
    struct warnings *warnings = context;
    assert_int_equal(level, TUTTI_LOG_WARNING);
    warnings->count++;
    copy_text(warnings->last, sizeof warnings->last, text);
}

static struct scratch scratch;
static struct warnings warnings;
static const struct tutti_log sink = {.level = TUTTI_LOG_WARNING, .write = keep_warning, .context = &warnings};

static int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    warnings.count = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

static struct tutti_result *open_text(const char *text)
{
    struct tutti_result *result = NULL;
    assert_ok(tutti_result_open(&result, scratch_write(&scratch, "r.csv", text, strlen(text)), &sink));
    return result;
}

/* One variable's values; the caller's. */
static double *read_one(struct tutti_result *result, const char *name)
{
    size_t which = tutti_result_find(result, name);
    assert_true(which < result->count);
    double *values = malloc((result->rows + 1) * sizeof *values);
    assert_non_null(values);
    assert_ok(tutti_result_read(result, &which, 1, &values));
    return values;
}

static void assert_values(struct tutti_result *result, const char *name, const double *expected, size_t count)
{
    assert_int_equal(result->rows, count);
    double *values = read_one(result, name);
    for (size_t i = 0; i < count; i++)
        if (!(isnan(expected[i]) ? isnan(values[i]) : values[i] == expected[i]))
            fail_msg("%s, row %zu: %.17g, expected %.17g", name, i, values[i], expected[i]);
    free(values);
}

static void test_plain(void **state)
{
    (void)state;
    struct tutti_result *result = open_text("time,a.x,a.y,b.z\n0,1,2.5,-1e3\n0.5,2,0.25,inf\n0.5,3,0,-inf\n");
    assert_string_equal(result->format->name, "csv");
    assert_int_equal(result->count, 3);
    assert_string_equal(result->variables[1].name, "a.y");
    assert_null(result->variables[1].unit);
    assert_null(result->time_unit);
    assert_true(result->times[0] == 0 && result->times[1] == 0.5 && result->times[2] == 0.5);
    assert_values(result, "a.x", (double[]){1, 2, 3}, 3);
    assert_values(result, "b.z", (double[]){-1e3, INFINITY, -INFINITY}, 3);
    assert_values(result, "a.y", (double[]){2.5, 0.25, 0}, 3);
    assert_int_equal(tutti_result_find(result, "a"), 3);
    /* Several at once, of which one is left out. */
    double first[3], last[3];
    assert_ok(tutti_result_read(result, (size_t[]){0, 2}, 2, (double *const[]){first, last}));
    assert_true(first[2] == 3 && last[0] == -1e3);
    tutti_result_free(result);
    tutti_result_free(NULL);
    assert_int_equal(warnings.count, 0);
}

/* Files that mean the same, as different tools write them. */
static void test_forms(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "time,x,\"y[1,2]\"\n0,1.5,2\n1,-3,4\n",
        "Time,x,\"y[1,2]\"\r\n0,1.5,2\r\n1,-3,4\r\n",
        "\xef\xbb\xbftime;x;y[1,2]\n0;1.5;2\n1;-3;4",
        "t\tx\ty[1,2]\n0\t1.5\t2\n1\t-3\t4\n\n\n",
        "\"time\",\"x\",\"y[1,2]\"\n\"0\",\"1.5\",\"2\"\n\"1\",\"-3\",\"4\"\n",
        "time;x;y[1,2]\n0;1,5;2,0\n1;-3,0;4\n",
        "\n\nTIME ; x ; y[1,2] \r0; 1.5 ;2\r+1;-3.0e0; 4 \r",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tutti_result *result = open_text(forms[i]);
        assert_int_equal(result->count, 2);
        assert_values(result, "x", (double[]){1.5, -3}, 2);
        assert_values(result, "y[1,2]", (double[]){2, 4}, 2);
        assert_true(result->times[1] == 1);
        tutti_result_free(result);
    }
    assert_int_equal(warnings.count, 0);
}

static void test_units(void **state)
{
    (void)state;
    struct tutti_result *result =
        open_text("\"time [s]\",\"car.v [m/s]\",x[1],  u  [ m ] ,\"a [b] c\",[V],w []\n0,1,2,3,4,5,6\n");
    assert_string_equal(result->time_unit, "s");
    static const char *const names[] = {"car.v", "x[1]", "u", "a [b] c", "[V]", "w"};
    static const char *const units[] = {"m/s", NULL, "m", NULL, NULL, NULL};
    assert_int_equal(result->count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(result->variables[i].name, names[i]);
        if (units[i])
            assert_string_equal(result->variables[i].unit, units[i]);
        else
            assert_null(result->variables[i].unit);
    }
    tutti_result_free(result);
    result = open_text("\"time [a;b]\",x\n0,1\n"); /* what is quoted separates nothing */
    assert_string_equal(result->time_unit, "a;b");
    assert_values(result, "x", (double[]){1}, 1);
    tutti_result_free(result);
}

static void test_cells(void **state)
{
    (void)state;
    struct tutti_result *result =
        open_text("time,x,s\n0,nan,a\n1,NaN,\"b\"\"c\"\n2,,1\n3,true,\n4,False,x\n5,1.#INF,x\n"
                  "6,-1.#IND,x\n7,Infinity,x\n8,-INF,x\n9,-nan(ind),x\n10,\"7\",x\n");
    assert_values(result, "x", (double[]){NAN, NAN, NAN, 1, 0, INFINITY, NAN, INFINITY, -INFINITY, NAN, 7}, 11);
    assert_true(result->variables[0].numeric);
    assert_values(result, "s", (double[]){NAN, NAN, 1, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, 11);
    assert_false(result->variables[1].numeric);
    tutti_result_free(result);
    /* A decimal comma is not accepted where the comma separates columns. */
    result = open_text("time,x\n0,\"1,5\"\n");
    free(read_one(result, "x"));
    assert_false(result->variables[0].numeric);
    tutti_result_free(result);
}

/* Whole numbers that rest are held; a ramp that happens to be whole is not. */
static void test_held(void **state)
{
    (void)state;
    struct tutti_result *result = open_text("time,mode,ramp,real,jump,gone\n"
                                            "0,1,0,0,0,\n1,1,1,0.5,1,\n2,2,2,0.5,2,\n2,3,3,1,2,\n");
    static const char *const names[] = {"mode", "ramp", "real", "jump", "gone"};
    static const bool held[] = {true, false, false, false, false};
    for (size_t i = 0; i < 5; i++) {
        free(read_one(result, names[i]));
        assert_int_equal(result->variables[i].held, held[i]);
    }
    tutti_result_free(result);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "r.csv: the file is empty"},
        {"\xef\xbb\xbf\r\n", "r.csv: the file is empty"},
        {"x,time\n0,1\n", "r.csv:1: the first column must be 'time', and is 'x'"},
        {"time,u,v,u\n", "r.csv: variables 1 and 3 (time not counted) have the same name 'u'"},
        {"time,u [m],u\n", "variables 1 and 2"},
        {"time,u\n0\n1,1\n", "r.csv:2: 1 cells, and the header has 2"},
        {"time,u\n0,1,2\n1,1\n", "r.csv:2: 3 cells, and the header has 2"},
        {"time,u\n0,\"a\n1,2\n", "r.csv:2: a quote is opened here and never closed"},
        {"time,u\n0,\"a\"b\n", "r.csv:2: 'b' after a closing quote, where a comma"},
        {"time;u\n0;\"a\",\n", "r.csv:2: ',' after a closing quote, where a semicolon"},
        {"time,u\nx,1\n", "r.csv:2: the time 'x' is not a number"},
        {"time,u\n,1\n", "r.csv:2: the time '' is not a number"},
        {"time,u\n0,1\ninf,1\n", "r.csv:3: the time 'inf' is not a number"},
        {"time,u\n1,\"a\nb\"\n0.25,2\n", "r.csv:4: time runs backwards, from 1 to 0.25"},
        {"\xff\xfet", "UTF-16"},
        {"\xfe\xff", "UTF-16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tutti_result *result = NULL;
        const char *path = scratch_write(&scratch, "r.csv", cases[i].text, strlen(cases[i].text));
        assert_fails(tutti_result_open(&result, path, &sink), TUTTI_ERR_FORMAT, cases[i].words);
        assert_null(result);
    }
    struct tutti_result *result = NULL;
    const char *path = scratch_write(&scratch, "r.csv", "time,u\n0,\0001\n", 12);
    assert_fails(tutti_result_open(&result, path, NULL), TUTTI_ERR_FORMAT, "not a result in a format that is known");
    char late[2000] = "time,u\n";
    for (size_t n = 7; n < 1900; n += 4)
        memcpy(late + n, "1,2\n", 5);
    late[1000] = '\0';
    path = scratch_write(&scratch, "r.csv", late, 1907);
    assert_fails(tutti_result_open(&result, path, NULL), TUTTI_ERR_FORMAT, "r.csv:250: not a text file");
    assert_fails(tutti_result_open(&result, scratch.path, NULL), TUTTI_ERR_IO, "directory");
    assert_fails(tutti_result_open(&result, scratch_path(&scratch, "none.csv"), NULL), TUTTI_ERR_IO, "none.csv");
    assert_fails(tutti_result_open(&result, "/dev/zero", NULL), TUTTI_ERR_FORMAT, "not a text file");
    assert_int_equal(warnings.count, 0);
}

/* The last row of an aborted run is left out, and said so. */
static void test_aborted(void **state)
{
    (void)state;
    static const char *const ends[] = {"2",     "2,",      "2,3,",  "2,3,4,5",   "2,3,\"ab", "2,3,-",
                                       "x,3,4", "0.5,3,4", "2\r\n", "2,3\n\n\n", "2,3,1.5e-"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[100];
        snprintf(text, sizeof text, "time,u,v\n0,1,2\n1,3,4\n%s", ends[i]);
        struct tutti_result *result = open_text(text);
        bool whole = strcmp(ends[i], "2,3,") == 0; /* an empty cell is a cell */
        assert_int_equal(result->rows, whole ? 3 : 2);
        if (!whole)
            assert_contains(warnings.last, "r.csv:4: ");
        assert_values(result, "v", (double[]){2, 4, NAN}, result->rows);
        tutti_result_free(result);
        assert_int_equal(warnings.count, !whole);
        warnings.count = 0;
    }
    /* What ended with a line end was meant. */
    struct tutti_result *result = NULL;
    const char *path = scratch_write(&scratch, "r.csv", "time,u\n0,1\nx,1\n", 15);
    assert_fails(tutti_result_open(&result, path, &sink), TUTTI_ERR_FORMAT, "the time 'x'");
}

/* Data written after a file was opened is not read: it might be endless. */
static void test_growing(void **state)
{
    (void)state;
    struct tt_csv_parser rows;
    const char *path = scratch_write(&scratch, "r.csv", "time,u\n0,1\n1,2", 14);
    assert_ok(tt_csv_parser_open(&rows, path));
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs("5\n2,3\n", file);
    fclose(file);
    for (int i = 0; i < 3; i++) {
        assert_ok(tt_csv_parser_next(&rows));
        assert_int_equal(rows.count, 2);
        assert_int_equal(rows.ended, i < 2);
    }
    assert_true(rows.grows); /* whatever stands in the last row, it is not whole */
    assert_int_equal(rows.cells[1].n, 1);
    assert_ok(tt_csv_parser_next(&rows));
    assert_int_equal(rows.count, 0);
    tt_csv_parser_fini(&rows);
}

static void test_empty(void **state)
{
    (void)state;
    struct tutti_result *result = open_text("time,u");
    assert_int_equal(result->rows, 0);
    assert_values(result, "u", NULL, 0);
    tutti_result_free(result);
    result = open_text("time\n0\n1\n");
    assert_int_equal(result->count, 0);
    assert_int_equal(result->rows, 2);
    tutti_result_free(result);
    assert_int_equal(warnings.count, 0);
    result = open_text("time,u,\n0,1,\n");
    assert_int_equal(result->count, 1);
    assert_contains(warnings.last, "r.csv:1: column 3 has no name");
    tutti_result_free(result);
}

/* Longer than any buffer: whatever stands where one ends is read all the same, and a very long row, too. */
static void test_long(void **state)
{
    (void)state;
    enum { ROWS = 60000, LONG = 3000000 };
    char *text = malloc(ROWS * 64 + LONG), *at = text;
    assert_non_null(text);
    at += sprintf(at, "time,\"x\",s,y\r\n");
    for (int i = 0; i < ROWS; i++) {
        at += sprintf(at, "%d,\"%d\",\"q\"\"%.*s\r\n\n,\",%d.5%s", i, 3 * i, i % 17, "................", i,
                      i % 3 ? "\r\n" : "\r");
        if (i == ROWS / 2) {
            at += sprintf(at, "%d,1,\"", i);
            memset(at, 'x', LONG - 100);
            at += LONG - 100;
            at += sprintf(at, "\",%d.5\n", i);
        }
    }
    struct tutti_result *result = NULL;
    assert_ok(tutti_result_open(&result, scratch_write(&scratch, "long.csv", text, (size_t)(at - text)), &sink));
    free(text);
    assert_int_equal(result->rows, ROWS + 1);
    double *y = read_one(result, "y"), *x = read_one(result, "x");
    for (int i = 0; i < ROWS; i++) {
        int row = i + (i > ROWS / 2);
        if (y[row] != i + 0.5 || x[row] != 3 * i || result->times[row] != i)
            fail_msg("row %d: %g %g %g", row, result->times[row], x[row], y[row]);
    }
    free(x);
    free(y);
    tutti_result_free(result);
    assert_int_equal(warnings.count, 0);
}

/* Every place of two rows is once where the first buffer ends. */
static void test_every_boundary(void **state)
{
    (void)state;
    enum { BUFFER = 1 << 20 };
    static const char head[] = "time,s,x\n", rows[] = "0,\"a\"\"b\r\n\",1.5\r\n\r\n1,\"\",2.5\r2,c,3.5\n";
    char *text = malloc(BUFFER + sizeof rows);
    assert_non_null(text);
    memset(text, '\n', BUFFER);
    memcpy(text, head, sizeof head - 1);
    for (size_t before = 0; before < sizeof rows; before++) {
        size_t n = BUFFER - before + sizeof rows - 1;
        memcpy(text + BUFFER - before, rows, sizeof rows - 1);
        struct tutti_result *result = NULL;
        assert_ok(tutti_result_open(&result, scratch_write(&scratch, "b.csv", text, n), &sink));
        assert_values(result, "x", (double[]){1.5, 2.5, 3.5}, 3);
        tutti_result_free(result);
    }
    /* Lines are counted all the same. */
    memset(text + sizeof head - 1, '\n', BUFFER);
    memcpy(text + BUFFER - 1, "\r\nx,1,2\n", 8);
    struct tutti_result *result = NULL;
    char place[40];
    snprintf(place, sizeof place, "b.csv:%d: the time 'x'", BUFFER - 7);
    assert_fails(tutti_result_open(&result, scratch_write(&scratch, "b.csv", text, BUFFER + 7), &sink),
                 TUTTI_ERR_FORMAT, place);
    free(text);
    assert_int_equal(warnings.count, 0);
}

static void test_pipe(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    if (fork() == 0) {
        close(ends[0]);
        (void)!write(ends[1], "time,u\n", 7);
        char row[40];
        for (int i = 0; i < 200000; i++)
            (void)!write(ends[1], row, (size_t)sprintf(row, "%d,%d\n", i, 2 * i));
        _exit(0);
    }
    close(ends[1]);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    struct tutti_result *result = NULL;
    assert_ok(tutti_result_open(&result, path, &sink));
    close(ends[0]);
    assert_int_equal(result->rows, 200000);
    for (int turn = 0; turn < 2; turn++) {
        double *u = read_one(result, "u");
        assert_true(u[0] == 0 && u[199999] == 399998);
        free(u);
    }
    tutti_result_free(result);
}

/* A new run overwrites the file between open and read. */
static void test_changed(void **state)
{
    (void)state;
    struct tutti_result *result = open_text("time,u\n0,1\n1,2\n");
    scratch_write(&scratch, "r.csv", "time,u\n0,1\n", 11);
    double values[2], *value = values;
    size_t which = 0;
    assert_fails(tutti_result_read(result, &which, 1, &value), TUTTI_ERR_IO, "r.csv: the file changed");
    tutti_result_free(result);
}

/* Recorded values are read back to the bit. */
static void test_round_trip(void **state)
{
    (void)state;
    double x = 0;
    const struct tt_column column = {.name = "u.x[1,2]", .type = TUTTI_TYPE_FLOAT64, .value = &x};
    struct tt_recorder *recorder = NULL;
    assert_ok(tt_csv_format.open(&recorder, scratch_path(&scratch, "a.csv"), &column, 1));
    for (int i = 0; i < 5000; i++) {
        x = sin(i) * pow(10, i % 600 - 300);
        assert_ok(tt_csv_format.row(recorder, i * 0.001));
    }
    assert_ok(tt_csv_format.close(recorder));
    struct tutti_result *result = NULL;
    assert_ok(tutti_result_open(&result, scratch_path(&scratch, "a.csv"), &sink));
    assert_int_equal(result->rows, 5000);
    double *values = read_one(result, "u.x[1,2]");
    for (int i = 0; i < 5000; i++) {
        assert_same_double(values[i], sin(i) * pow(10, i % 600 - 300));
        assert_same_double(result->times[i], i * 0.001);
    }
    free(values);
    tutti_result_free(result);
}

#define SENT "time,federation,federate,kind,name,member,stamp,value,bytes\n"

/* A recording of an RTI: rows are in the order of arrival, not of their times. */
static void test_sent(void **state)
{
    (void)state;
    struct tutti_result *result = open_text(SENT "0.1,road,A,update,car,z,2,1.5,00\n"
                                                 "0.2,road,B,update,\"the \"\"bus\"\"\",v,1,7,00\n"
                                                 "0.3,road,A,update,car,z,1,1.25,00\n"
                                                 "0.4,road,B,interaction,Honk,pitch,2,440,00\n"
                                                 "0.5,road,B,interaction,Honk,pitch,2,880,00\n"
                                                 "0.6,road,A,update,car,name,2,nan,4142\n"
                                                 "0.7,road,A,update,car,z,nan,9,00\n"
                                                 "0.8,road,A,update,car,z,3,1");
    assert_int_equal(result->count, 3);
    assert_int_equal(result->rows, 3);
    assert_true(result->times[0] == 1 && result->times[1] == 2 && result->times[2] == 2);
    assert_values(result, "car.z", (double[]){1.25, 1.5, 1.5}, 3);
    assert_values(result, "the \"bus\".v", (double[]){7, 7, 7}, 3);
    assert_values(result, "Honk.pitch", (double[]){NAN, 440, 880}, 3);
    assert_true(result->variables[0].held);
    assert_int_equal(warnings.count, 2); /* a row that is cut off, a value without a time */
    tutti_result_free(result);

    result = open_text(SENT "0.25,a,A,update,car,z,nan,1,00\n0.5,b,A,update,car,z,nan,2,00\n");
    assert_values(result, "a.car.z", (double[]){1, 1}, 2);
    assert_values(result, "b.car.z", (double[]){NAN, 2}, 2);
    assert_true(result->times[0] == 0.25 && result->times[1] == 0.5);
    tutti_result_free(result);

    result = open_text(SENT);
    assert_int_equal(result->rows + result->count, 0);
    tutti_result_free(result);
}

static void test_sent_errors(void **state)
{
    (void)state;
    static const char *const bad[] = {
        SENT "0,road,A,update,car,z,1,2\n0,road,A,update,car,z,1,2,00\n",
        SENT "x,road,A,update,car,z,1,2,00\n",
        SENT "0,road,A,update,car,z,later,2,00\n",
        SENT "0,road,A,update,car,z,1,two,00\n",
        SENT "0,road,A,update,a,b.c,1,2,00\n0,road,A,update,a.b,c,1,2,00\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tutti_result *result = NULL;
        const char *path = scratch_write(&scratch, "r.csv", bad[i], strlen(bad[i]));
        assert_int_equal(tutti_result_open(&result, path, &sink), TUTTI_ERR_FORMAT);
        assert_non_null(strstr(tutti_err_message(), "r.csv"));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_plain),   TEST(test_forms),      TEST(test_units),          TEST(test_cells),
        TEST(test_held),    TEST(test_errors),     TEST(test_aborted),        TEST(test_growing),
        TEST(test_empty),   TEST(test_long),       TEST(test_every_boundary), TEST(test_pipe),
        TEST(test_changed), TEST(test_round_trip), TEST(test_sent),           TEST(test_sent_errors),
    };
    return cmocka_run_group_tests_name("record/result_csv", tests, NULL, NULL);
}
