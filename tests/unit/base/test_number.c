/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>

#include "base/number.h"
#include "scratch.h"

static const char *text_of(double value)
{
    static char text[TUTTI_NUMBER_MAX + 1];
    memset(text, '#', sizeof text);
    size_t n = tt_number_write_double(text, value);
    assert_true(n <= TUTTI_NUMBER_MAX);
    text[n] = '\0';
    return text;
}

static bool same_bits(double a, double b)
{
    uint64_t bits_of_a, bits_of_b;
    memcpy(&bits_of_a, &a, sizeof a);
    memcpy(&bits_of_b, &b, sizeof b);
    return bits_of_a == bits_of_b;
}

static void test_write(void **state)
{
    (void)state;
    assert_string_equal(text_of(0), "0");
    assert_string_equal(text_of(-0.0), "-0");
    assert_string_equal(text_of(0.1), "0.1");
    assert_string_equal(text_of(-1.5), "-1.5");
    assert_string_equal(text_of(3), "3");
    assert_string_equal(text_of(1e300), "1e+300");
    assert_string_equal(text_of(0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(text_of(NAN), "nan");
    assert_string_equal(text_of(-NAN), "nan");
    assert_string_equal(text_of(INFINITY), "inf");
    assert_string_equal(text_of(-INFINITY), "-inf");
    char text[TUTTI_NUMBER_MAX + 1] = "";
    text[tt_number_write_float(text, 0.1f)] = '\0';
    assert_string_equal(text, "0.1");
    text[tt_number_write_float(text, -NAN)] = '\0';
    assert_string_equal(text, "nan");
    text[tt_number_write_int(text, INT64_MIN)] = '\0';
    assert_string_equal(text, "-9223372036854775808");
    text[tt_number_write_uint(text, UINT64_MAX)] = '\0';
    assert_string_equal(text, "18446744073709551615");
}

/* Every kind of bit pattern comes back as it was. */
static void test_round_trip(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    double edges[] = {DBL_MAX,     -DBL_MAX, DBL_MIN, DBL_TRUE_MIN,      -DBL_TRUE_MIN,
                      DBL_EPSILON, 0.0,      -0.0,    9007199254740993.0};
    for (size_t i = 0; i < 200000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double value, back = 1;
        memcpy(&value, &random, sizeof value);
        if (i < sizeof edges / sizeof *edges)
            value = edges[i];
        else if (i % 4 == 0)
            value = (double)(int32_t)random * 1e-3;
        if (isnan(value))
            continue;
        const char *text = text_of(value);
        if (!tt_number_read_double(text, strlen(text), &back) || !same_bits(back, value))
            fail_msg("%a was written as %s", value, text);
    }
    for (uint32_t bits = 0; bits < 0x7f800000; bits += 9973) { /* floats, by way of a double */
        float value;
        memcpy(&value, &bits, sizeof value);
        char text[TUTTI_NUMBER_MAX];
        double back = -1;
        size_t n = tt_number_write_float(text, value);
        assert_true(tt_number_read_double(text, n, &back));
        assert_true((float)back == value);
    }
}

static bool reads(const char *text, double *value)
{
    *value = 77;
    return tt_number_read_double(text, strlen(text), value);
}

static void test_read_double(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"1", 1},           {"-1.5e3", -1500},
        {"+2", 2},          {" \t\r\n7 \n", 7},
        {".5", .5},         {"5.", 5},
        {"1E2", 100},       {"1e+2", 100},
        {"INF", INFINITY},  {"-INF", -INFINITY},
        {"inf", INFINITY},  {"Infinity", INFINITY},
        {"+inf", INFINITY}, {"4e-324", DBL_TRUE_MIN},
        {"-0", -0.0},       {"1.7976931348623157e308", DBL_MAX},
        {"0e999999999", 0}, {"00012", 12},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value;
        if (!reads(good[i].text, &value) || !same_bits(value, good[i].value))
            fail_msg("'%s' gave %g", good[i].text, value);
    }
    double value;
    assert_true(reads("NaN", &value) && isnan(value));
    assert_true(reads("nan", &value) && isnan(value));
    static const char *const bad[] = {"",    " ",     "+",   "-",   ".",    "e5",  "1e",   "1e+",     "1 2",
                                      "1,5", "0x10",  "1f",  "--1", "+-1",  "-+1", "++1",  "1e400",   "1e-5000",
                                      "tru", "1.5.2", "1_0", "+ 1", "nanx", "in",  "1e5x", "\xc2\xa0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (reads(bad[i], &value) || value != 77)
            fail_msg("'%s' gave %g", bad[i], value);
    assert_true(tt_number_read_double("123456", 3, &value));
    assert_true(value == 123);
    assert_false(tt_number_read_double("1\0", 2, &value));
}

static void test_read_integers(void **state)
{
    (void)state;
    int64_t i = 7;
    uint64_t u = 7;
#define INT(text) tt_number_read_int(text, strlen(text), &i)
#define UINT(text) tt_number_read_uint(text, strlen(text), &u)
    assert_true(INT(" -9223372036854775808 ") && i == INT64_MIN);
    assert_true(INT("+9223372036854775807") && i == INT64_MAX);
    assert_true(INT("007") && i == 7);
    assert_true(UINT("18446744073709551615") && u == UINT64_MAX);
    i = 42;
    u = 42;
    assert_false(INT("9223372036854775808"));
    assert_false(INT("-9223372036854775809"));
    assert_false(INT("1.0"));
    assert_false(INT("1e3"));
    assert_false(INT("0x10"));
    assert_false(INT(""));
    assert_false(INT("5a"));
    assert_false(INT("true"));
    assert_false(UINT("18446744073709551616"));
    assert_false(UINT("-1"));
    assert_false(UINT("+-1"));
    assert_int_equal(i, 42); /* a failure leaves the value alone */
    assert_int_equal(u, 42);
}

/* A locale made here, because a machine may have none with a comma. False: localedef is missing. */
static bool make_comma_locale(struct scratch *scratch)
{
    static const char source[] =
        "LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n";
    char command[1024];
    scratch_write(scratch, "comma.src", source, strlen(source));
    snprintf(command, sizeof command, "cd '%s' && localedef -c -i comma.src ./comma >/dev/null 2>&1", scratch->path);
    (void)!system(command); /* with warnings about all that the locale lacks: whether it is there counts */
    setenv("LOCPATH", scratch->path, 1);
    return setlocale(LC_NUMERIC, "comma") != NULL;
}

/* A locale with a comma changes nothing. */
static void test_locale(void **state)
{
    (void)state;
    struct scratch scratch;
    double value;
    scratch_init(&scratch);
    bool found = make_comma_locale(&scratch);
    bool comma = strcmp(localeconv()->decimal_point, ",") == 0;
    bool writes = strcmp(text_of(1.5), "1.5") == 0, reads_point = reads("1.5", &value) && value == 1.5;
    bool reads_comma = reads("1,5", &value);
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    scratch_fini(&scratch);
    assert_true(found); /* the package `locales` has localedef and what it needs */
    assert_true(comma);
    assert_true(writes);
    assert_true(reads_point);
    assert_false(reads_comma);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write),         cmocka_unit_test(test_round_trip), cmocka_unit_test(test_read_double),
        cmocka_unit_test(test_read_integers), cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests_name("base/number", tests, NULL, NULL);
}
