/* SPDX-License-Identifier: MIT */
/* JSON lines, written and read. */
#include "test.h"

#include <stdlib.h>

#include "own_scratch.h"
#include "results/recorder.h"
#include "results/result.h"

static const struct tt_record_format *const jsonl = &tt_jsonl_format;

/* The last warning; "": none. */
static char warning[500];

static void keep_warning(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    (void)level;
    (void)origin;
    copy_text(warning, sizeof warning, text);
}

static const struct tutti_log sink = {.level = TUTTI_LOG_WARNING, .write = keep_warning};

/* ---- written ---- */

#define COLUMN(type_, name_, value_)                                                                                   \
    {                                                                                                                  \
        .name = name_, .type = TUTTI_TYPE_##type_, .value = value_                                                     \
    }

static void values_of_all_types(void **state)
{
    (void)state;
    double f64 = 0.1;
    float f32 = 0.1f;
    int8_t i8 = INT8_MIN;
    uint64_t u64 = UINT64_MAX;
    int64_t enumeration = 3;
    bool boolean = true, clock = false;
    const char *string = "plain";
    struct tt_bytes binary = {3, (const uint8_t *)"\x00\xab\xff"};
    struct tt_column columns[] = {
        COLUMN(FLOAT64, "f64", &f64),   COLUMN(FLOAT32, "f32", &f32),           COLUMN(INT8, "i8", &i8),
        COLUMN(UINT64, "u64", &u64),    COLUMN(BOOLEAN, "a \"b\"\\", &boolean), COLUMN(STRING, "s", &string),
        COLUMN(BINARY, "bin", &binary), COLUMN(ENUMERATION, "e", &enumeration), COLUMN(CLOCK, "c", &clock),
    };
    struct tt_recorder *recorder = NULL;
    columns[2].negated = true;
    assert_ok(jsonl->open(&recorder, scratch_path(&scratch, "a.jsonl"), columns, sizeof columns / sizeof *columns));
    assert_ok(jsonl->row(recorder, 0));
    f64 = NAN;
    f32 = -INFINITY;
    boolean = false;
    string = NULL;
    binary = (struct tt_bytes){0};
    assert_ok(jsonl->row(recorder, 0.5));
    f64 = INFINITY;
    string = "\"\\\n\x1f \xc3\xa9 \xff \xe2\x82";
    assert_ok(jsonl->row(recorder, 1e300));
    assert_ok(jsonl->close(recorder));
    char *text = slurp_file(scratch_path(&scratch, "a.jsonl"), NULL);
    assert_string_equal(
        text,
        "{\"time\":0,\"f64\":0.1,\"f32\":0.1,\"i8\":128,\"u64\":18446744073709551615,\"a \\\"b\\\"\\\\\":true,"
        "\"s\":\"plain\",\"bin\":\"00abff\",\"e\":3,\"c\":false}\n"
        "{\"time\":0.5,\"f64\":null,\"f32\":-1e999,\"i8\":128,\"u64\":18446744073709551615,\"a \\\"b\\\"\\\\\":false,"
        "\"s\":\"\",\"bin\":\"\",\"e\":3,\"c\":false}\n"
        "{\"time\":1e+300,\"f64\":1e999,\"f32\":-1e999,\"i8\":128,\"u64\":18446744073709551615,"
        "\"a \\\"b\\\"\\\\\":false,\"s\":\"\\\"\\\\\\u000a\\u001f \xc3\xa9 \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\","
        "\"bin\":\"\",\"e\":3,\"c\":false}\n");
    free(text);
}

/* Readers would take one of both. */
static void a_variable_that_is_named_time(void **state)
{
    (void)state;
    double x = 1;
    const struct tt_column column = COLUMN(FLOAT64, "time", &x);
    struct tt_recorder *recorder = NULL;
    scratch_write(&scratch, "old.jsonl", "old", 3);
    assert_fails(jsonl->open(&recorder, scratch_path(&scratch, "old.jsonl"), &column, 1), TUTTI_ERR_ARGUMENT,
                 "a variable is named 'time'");
    char *text = slurp_file(scratch_path(&scratch, "old.jsonl"), NULL);
    assert_string_equal(text, "old");
    free(text);
}

/* ---- read ---- */

static struct tutti_result *open_text(const char *text)
{
    struct tutti_result *result = NULL;
    warning[0] = '\0';
    assert_ok(tutti_result_open(&result, scratch_write(&scratch, "r.jsonl", text, strlen(text)), &sink));
    assert_ptr_equal(result->format, &tt_jsonl_result_format);
    return result;
}

static void assert_values(struct tutti_result *result, const char *name, const double *expected)
{
    size_t which = tutti_result_find(result, name);
    double *values = calloc(result->rows + 1, sizeof *values);
    assert_non_null(values);
    if (which == result->count)
        fail_msg("there is no variable %s", name);
    assert_ok(tutti_result_read(result, &which, 1, &values));
    for (size_t i = 0; i < result->rows; i++)
        if (!(isnan(expected[i]) && isnan(values[i])))
            assert_same_double(values[i], expected[i]);
    free(values);
}
#define VALUES(...)                                                                                                    \
    (const double[])                                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static void rows_of_other_tools(void **state)
{
    (void)state;
    struct tutti_result *result =
        open_text("\xef\xbb\xbf{ \"h\" : 1 , \"Time\":0,\"a\\u00e9\\ud83d\\ude00\\n\":\"x, y}\"}\r\n"
                  "\n"
                  "{\"Time\":1e0,\"a\\u00e9\\ud83d\\ude00\\n\":\"\",\"h\":1e999}\n"
                  "{\"h\":true,\"Time\":1}\n"
                  "  {\"Time\":2,\"h\":null}");
    assert_int_equal(result->rows, 4);
    assert_int_equal(result->count, 2);
    assert_string_equal(result->variables[1].name, "a\xc3\xa9\xf0\x9f\x98\x80\n");
    assert_values(result, "h", VALUES(1, INFINITY, 1, NAN));
    assert_values(result, "a\xc3\xa9\xf0\x9f\x98\x80\n", VALUES(NAN, NAN, NAN, NAN));
    assert_true(result->variables[0].numeric);
    assert_false(result->variables[1].numeric);
    assert_same_double(result->times[3], 2);
    assert_string_equal(warning, "");
    tutti_result_free(result);
}

/* Half characters, too few digits: U+FFFD, and what comes after it counts. */
static void escapes_that_make_no_sense(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"\\ud83d", "\xef\xbf\xbd"},
        {"\\ud83dx\\u0041y", "\xef\xbf\xbdxAy"},
        {"\\ud83d\\u0041", "\xef\xbf\xbd"
                           "A"},
        {"\\ud83d\\n2345", "\xef\xbf\xbd\n2345"},
        {"\\udc00z", "\xef\xbf\xbdz"},
        {"\\u0000", "\xef\xbf\xbd"},
        {"\\u12", "\xef\xbf\xbd"
                  "12"},
        {"\\u00gg", "\xef\xbf\xbd"
                    "00gg"},
        {"\\b\\f\\r\\t\\/\\q", "\b\f\r\t/q"},
        {"\\u20ac", "\xe2\x82\xac"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[100];
        snprintf(text, sizeof text, "{\"t\":0,\"%s\":1}\n", names[i][0]);
        struct tutti_result *result = open_text(text);
        assert_int_equal(result->count, 1);
        assert_string_equal(result->variables[0].name, names[i][1]);
        tutti_result_free(result);
    }
}

static void what_is_left_out_is_told(void **state)
{
    (void)state;
    struct tutti_result *result = open_text("{\"t\":0,\"h\":1}\n{\"t\":1,\"h\":2,\"new\":3}\n");
    assert_contains(warning, "r.jsonl:2: the row has members that the first one does not have");
    assert_values(result, "h", VALUES(1, 2));
    tutti_result_free(result);
    result = open_text("{\"t\":0,\"h\":1}\n{\"t\":1,\"h\":2.");
    assert_contains(warning, "r.jsonl:2: the object does not end; it is the last row");
    assert_int_equal(result->rows, 1);
    tutti_result_free(result);
    result = open_text("{\"t\":0,\"\":1}\n");
    assert_contains(warning, "r.jsonl:1: member 2 has no name and is left out");
    assert_int_equal(result->count, 0);
    tutti_result_free(result);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{\"h\":1}\n", "r.jsonl:1: the object has no member \"time\""},
        {"{\"time\":0}\n{\"time\":null}\n", "r.jsonl:2: the row has no \"time\" that is a number"},
        {"{\"time\":1}\n{\"time\":0}\n", "r.jsonl:2: time runs backwards, from 1 to 0"},
        {"{\"time\":0,\"a\":[1]}\n", "a value is an object or an array"},
        {"{\"time\":0,\"a\":one}\n", "a value is neither a number nor"},
        {"{\"time\":0,\"a\":0x10}\n", "a value is neither a number nor"},
        {"{\"time\":0,\"a\" 1}\n", "there is no ':'"},
        {"{\"time\":0 \"a\":1}\n", "the object does not end"},
        {"{\"time\":0,a:1}\n", "a member has no name"},
        {"{\"time\":0} {}\n", "there is something after the object"},
        {"{\"time\":0,\"a\":\"x}\n", "a text that does not end"},
        {"{\"time\":0,\"a\":1,\"a\":2}\n", "have the same name 'a'"},
        {"{\"time\":0}\n[1]\n", "r.jsonl:2: a row must be an object"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tutti_result *result = NULL;
        const char *path = scratch_write(&scratch, "r.jsonl", wrong[i][0], strlen(wrong[i][0]));
        assert_fails(tutti_result_open(&result, path, &sink), TUTTI_ERR_FORMAT, wrong[i][1]);
        assert_null(result);
    }
}

/* Longer than what is read at once, and a row that is longer still. */
static void much(void **state)
{
    (void)state;
    enum { ROWS = 30000, LONG = 3000000 };
    double x;
    char *text = malloc(LONG + 1);
    assert_non_null(text);
    memset(text, '"', LONG);
    text[LONG] = '\0';
    const char *string = "";
    const struct tt_column columns[] = {COLUMN(FLOAT64, "a quite long name of a variable", &x),
                                        COLUMN(STRING, "s", &string)};
    struct tt_recorder *recorder = NULL;
    struct tutti_result *result = NULL;
    const char *path = scratch_path(&scratch, "much.jsonl");
    assert_ok(jsonl->open(&recorder, path, columns, 2));
    for (int i = 0; i < ROWS; i++) {
        x = i * 0.1;
        string = i == 7 ? text : "";
        assert_ok(jsonl->row(recorder, i * 0.01));
    }
    assert_ok(jsonl->close(recorder));
    assert_ok(tutti_result_open(&result, path, &sink));
    assert_int_equal(result->rows, ROWS);
    double *values = calloc(ROWS, sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < ROWS; i++) {
        values[i] = i * 0.1;
        assert_same_double(result->times[i], i * 0.01);
    }
    assert_values(result, columns[0].name, values);
    free(values);
    free(text);
    tutti_result_free(result);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(values_of_all_types),
        TEST(a_variable_that_is_named_time),
        TEST(rows_of_other_tools),
        TEST(escapes_that_make_no_sense),
        TEST(what_is_left_out_is_told),
        TEST(what_is_wrong_is_named),
        TEST(much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
