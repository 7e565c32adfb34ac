/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/expr/expression.h"

static const char *const names[] = {"time", "x", "y", "body.z", "x[1,2]", "der(h)", "a name, \"odd\""};
enum { NAMES = sizeof names / sizeof *names };
static const double values[NAMES] = {0.5, 2, -3, 7, 11, 13, 17};

static enum tutti_err find(void *context, const char *name, size_t *place)
{
    (void)context;
    for (*place = 0; *place < NAMES; ++*place)
        if (strcmp(names[*place], name) == 0)
            return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT, "no '%s' here", name);
}
static const struct tt_expression_names known = {.find = find};
static const char *const reductions[] = {"final", "max", "min", "integral", NULL};

static double value_of(const char *text)
{
    struct tt_expression *expression = NULL;
    double value = 0;
    assert_ok(tt_expression_new(&expression, text, &known, NULL));
    assert_ok(tt_expression_check(expression, values, &value));
    assert_same_double(value, tt_expression_value(expression, values));
    tt_expression_free(expression);
    return value;
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"1", 1},
                 {"1.5e2", 150},
                 {".5", 0.5},
                 {"2 + 3 * 4", 14},
                 {"(2 + 3) * 4", 20},
                 {"2 - 3 - 4", -5},
                 {"16 / 4 / 2", 2},
                 {"2 ^ 3 ^ 2", 512},
                 {"-2 ^ 2", -4},
                 {"2 ^ -1", 0.5},
                 {"--3", 3},
                 {"+x", 2},
                 {"x * y", -6},
                 {"1 < 2", 1},
                 {"2 <= 2", 1},
                 {"1 > 2", 0},
                 {"2 >= 3", 0},
                 {"1 == 1", 1},
                 {"1 != 1", 0},
                 {"!0", 1},
                 {"!x", 0},
                 {"1 && 2", 1},
                 {"1 && 0", 0},
                 {"0 || 5", 1},
                 {"0 || 0", 0},
                 {"1 || 0 && 0", 1},
                 {"0 && 1 / 0 > 1", 0},
                 {"1 || 1 / 0 > 1", 1},
                 {"x > 0 ? 10 : 1 / 0", 10},
                 {"x < 0 ? log(-1) : 20", 20},
                 {"0 ? 1 : 0 ? 2 : 3", 3},
                 {"(1 ? 2 : 3) + 4 * (0 ? 5 : 6)", 26},
                 {"body.z", 7},
                 {"x[1,2] + 1", 12},
                 {"der(h) * 2", 26},
                 {"\"a name, \\\"odd\\\"\"", 17},
                 {"\"x\"", 2},
                 {"time", 0.5},
                 {"pi", 3.14159265358979323846},
                 {"abs(y)", 3},
                 {"sign(y)", -1},
                 {"floor(-1.5)", -2},
                 {"ceil(-1.5)", -1},
                 {"round(2.5)", 3},
                 {"min(3, 1, 2)", 1},
                 {"max(3, 1, 5, 2)", 5},
                 {"mod(-1, 3)", 2},
                 {"pow(2, 10)", 1024},
                 {"atan2(1, 1) * 4", 3.14159265358979323846},
                 {"sqrt(16)", 4},
                 {"log10(1000)", 3},
                 {"exp(0)", 1},
                 {"tanh(0)", 0},
                 {" 1\t+\n2 ", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_near(value_of(cases[i].text), cases[i].value, 1e-15);
}

/* Derivatives against central differences along time, with all names moving. */
static void test_slopes(void **state)
{
    (void)state;
    static const char *const texts[] = {"100 * sin(30 * time)",
                                        "cos(x * y)",
                                        "tan(time)",
                                        "asin(time)",
                                        "acos(time)",
                                        "atan(y)",
                                        "sinh(time)",
                                        "cosh(x)",
                                        "tanh(x)",
                                        "exp(-x)",
                                        "log(x)",
                                        "log10(x)",
                                        "sqrt(x)",
                                        "abs(y)",
                                        "sign(y)",
                                        "floor(x + 0.3)",
                                        "ceil(x + 0.3)",
                                        "round(x + 0.3)",
                                        "atan2(y, x)",
                                        "x ^ y",
                                        "x ^ 3",
                                        "2 ^ x",
                                        "mod(x, 0.7)",
                                        "min(x, y)",
                                        "max(x, y, time)",
                                        "x / y",
                                        "x - y * time",
                                        "-x",
                                        "x > y ? x * x : y",
                                        "time < 1 && x > 0",
                                        "!x",
                                        "y ^ 2"};
    const double slopes[NAMES] = {1, 0.7, -1.3, 0, 0, 0, 0}, h = 1e-6;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tt_expression *expression = NULL;
        assert_ok(tt_expression_new(&expression, texts[i], &known, NULL));
        double after[NAMES], before[NAMES], slope = NAN;
        for (size_t k = 0; k < NAMES; k++) {
            after[k] = values[k] + h * slopes[k];
            before[k] = values[k] - h * slopes[k];
        }
        assert_same_double(tt_expression_slope(expression, values, slopes, &slope),
                           tt_expression_value(expression, values));
        double wanted = (tt_expression_value(expression, after) - tt_expression_value(expression, before)) / (2 * h);
        if (!(fabs(slope - wanted) <= 1e-5 * (1 + fabs(wanted))))
            fail_msg("d/dtime %s = %.17g, but differences say %.17g", texts[i], slope, wanted);
        tt_expression_free(expression);
    }
}

/* Where a function has an infinite derivative, a constant has derivative 0. */
static void test_slopes_at_rest(void **state)
{
    (void)state;
    struct tt_expression *expression = NULL;
    const double at[NAMES] = {0}, slopes[NAMES] = {1};
    double slope;
    assert_ok(tt_expression_new(&expression, "sqrt(x) * time + time ^ 2 + 0 ^ x", &known, NULL));
    assert_near(tt_expression_slope(expression, at, slopes, &slope), 1, 0);
    assert_near(slope, 0, 0);
    tt_expression_free(expression);
}

static void assert_refused(const char *text, const char *const *wanted_reductions, const char *words)
{
    struct tt_expression *expression = NULL;
    if (tt_expression_new(&expression, text, &known, wanted_reductions) == TUTTI_OK)
        fail_msg("'%s' was taken", text);
    assert_null(expression);
    if (!strstr(tutti_err_message(), words))
        fail_msg("'%s': '%s', without '%s'", text, tutti_err_message(), words);
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("", NULL, "character 1: the expression ends");
    assert_refused("1 +", NULL, "character 4: the expression ends");
    assert_refused("1 + * 2", NULL, "character 5: a number, a name or '(' is wanted here, not '*'");
    assert_refused("(1 + 2", NULL, "character 7: ')' is missing here: '(' is character 1");
    assert_refused("1 + 2)", NULL, "character 6: ')' without '('");
    assert_refused("1 2", NULL, "character 3: an operator is wanted here");
    assert_refused("1.2.3", NULL, "character 1: '1.2.3' is not a number");
    assert_refused("sin(1, 2)", NULL, "character 6: sin takes 1 argument");
    assert_refused("2 * pow(1)", NULL, "character 5: pow takes 2 arguments");
    assert_refused("pow(1, 2, 3)", NULL, "character 9: pow takes 2 arguments");
    assert_refused("max(1)", NULL, "character 1: max takes 2 arguments or more");
    assert_refused("sinn(1)", NULL, "character 1: there is no function 'sinn'; did you mean 'sin'?");
    assert_refused("1 + z", NULL, "character 5: no 'z' here");
    assert_refused("a[1", NULL, "character 2: '[' has no ']'");
    assert_refused("der(h", NULL, "character 4: '(' has no ')'");
    assert_refused("\"abc", NULL, "character 1: the name that begins here");
    assert_refused("1 < 2 < 3", NULL, "character 7: comparisons do not chain");
    assert_refused("1 ? 2", NULL, "character 6: ':' is missing here: '?' is character 3");
    assert_refused("x", reductions, "character 1: 'x' has many values in a run");
    assert_refused("final(max(x))", reductions, "character 7: 'max' stands inside of another");
    assert_refused("1 + finale(x)", reductions, "did you mean 'final'?");
}

static void test_limits(void **state)
{
    (void)state;
    static char text[TUTTI_EXPRESSION_MAX_TEXT + 2];
    memset(text, '(', sizeof text - 1);
    assert_refused(text, NULL, "at most");
    text[TUTTI_EXPRESSION_MAX_TEXT - 1] = '\0';
    assert_refused(text, NULL, "nested more than 64 deep");
    memset(text, '-', TUTTI_EXPRESSION_MAX_TEXT - 1);
    assert_refused(text, NULL, "nested more than 64 deep");
    for (size_t i = 0; i + 2 < TUTTI_EXPRESSION_MAX_TEXT; i += 2)
        memcpy(text + i, "1^", 3);
    assert_refused(text, NULL, "nested more than 64 deep");
    for (size_t i = 0; i + 2 < TUTTI_EXPRESSION_MAX_TEXT; i += 2)
        memcpy(text + i, "1+", 3);
    text[TUTTI_EXPRESSION_MAX_TEXT - 3] = '\0';
    assert_refused(text, NULL, "more than 8192 parts");
}

static void assert_not_finite(const char *text, const char *words)
{
    struct tt_expression *expression = NULL;
    double value;
    assert_ok(tt_expression_new(&expression, text, &known, NULL));
    assert_int_equal(tt_expression_check(expression, values, &value), TUTTI_ERR_ARGUMENT);
    if (!strstr(tutti_err_message(), words))
        fail_msg("'%s': '%s', without '%s'", text, tutti_err_message(), words);
    tt_expression_free(expression);
}

static void test_not_finite(void **state)
{
    (void)state;
    assert_not_finite("1 + 3 / (x - 2)", "character 7: division by zero: 3 / 0");
    assert_not_finite("log(y)", "character 1: log(-3) is nan, not a finite number");
    assert_not_finite("1e308 * 10", "character 7: * of 1e+308 and 10 is inf");
}

static void test_reductions(void **state)
{
    (void)state;
    struct tt_expression *expression = NULL;
    assert_ok(tt_expression_new(&expression, "max(abs(x - y)) / final(body.z) + max(min(x), 2)", &known, reductions));
    assert_int_equal(tt_expression_reductions(expression), 3);
    static const struct {
        size_t kind;
        double value;
    } wanted[] = {{1, 5}, {0, 7}, {2, 2}};
    for (size_t i = 0; i < 3; i++) {
        size_t kind;
        const struct tt_expression *argument = tt_expression_reduction(expression, i, &kind);
        assert_int_equal(kind, wanted[i].kind);
        assert_near(tt_expression_value(argument, values), wanted[i].value, 0);
    }
    assert_near(tt_expression_value(expression, (double[]){10, 4, 1}), 4.5, 0);
    tt_expression_free(expression);
}

static void test_smooth(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool smooth;
    } cases[] = {{"100 * sin(30 * time) / x ^ 2", true},
                 {"-time", true},
                 {"abs(x)", false},
                 {"x > 1", false},
                 {"x ? 1 : 2", false},
                 {"!x", false},
                 {"max(x, 1)", false},
                 {"x || y", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tt_expression *expression = NULL;
        assert_ok(tt_expression_new(&expression, cases[i].text, &known, NULL));
        assert_int_equal(tt_expression_is_smooth(expression), cases[i].smooth);
        assert_string_equal(tt_expression_text(expression), cases[i].text);
        tt_expression_free(expression);
    }
    assert_non_null(strstr(tt_expression_functions(), "atan2(x, y)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_slopes), cmocka_unit_test(test_slopes_at_rest),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_limits), cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_reductions), cmocka_unit_test(test_smooth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
