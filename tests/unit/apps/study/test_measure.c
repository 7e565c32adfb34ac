/* SPDX-License-Identifier: MIT */
/* Measures of trajectories that are known, jumps among them, and those without a value. */
#include "test.h"

#include <math.h>

#include "apps/study/measures.h"

static enum tutti_err find(void *context, const char *name, size_t *place)
{
    (void)context;
    if (name[1] != '\0' || (name[0] != 'x' && name[0] != 'y'))
        return tt_fail(TUTTI_ERR_ARGUMENT, "there is no variable named '%s'", name);
    *place = name[0] == 'y';
    return TUTTI_OK;
}

/* x = t up to 2, then 10 - t from the same time on; y = 3. */
static void run(struct tt_measures *measures)
{
    static const double rows[][2] = {{0, 0}, {1, 1}, {2, 2}, {2, 8}, {4, 6}};
    tt_measures_start(measures);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tt_measures_add_row(measures, rows[i][0], (const double[]){rows[i][1], 3});
}

static double measure(const char *text)
{
    struct tt_measures *measures;
    double result = NAN, second = NAN;
    assert_ok(tt_measures_new(&measures, &text, 1, NULL, find));
    run(measures);
    assert_ok(tt_measures_finish(measures, &result));
    run(measures); /* nothing is left of the first run */
    assert_ok(tt_measures_finish(measures, &second));
    assert_near(second, result, 0);
    tt_measures_free(measures);
    return result;
}

static void test_values(void **state)
{
    (void)state;
    assert_near(measure("final(x)"), 6, 0);
    assert_near(measure("initial(x)"), 0, 0);
    assert_near(measure("max(x) - min(x)"), 8, 0);
    assert_near(measure("integral(x)"), 2 + 14, 1e-15);
    assert_near(measure("mean(x)"), 4, 1e-15);
    assert_near(measure("rms(y)"), 3, 1e-15);
    assert_near(measure("time_of_max(x)"), 2, 0);
    assert_near(measure("time_when(x > 7)"), 2, 0);
    assert_near(measure("time_when(x > 0.5)"), 1, 0);
    assert_near(measure("max(max(x), 2 * final(y))"), 8, 0);
    assert_near(measure("final(time) * max(x + y)"), 44, 1e-15);
}

static void fails_in_a_run(const char *text, const char *says)
{
    struct tt_measures *measures;
    const char *const texts[] = {text, "final(y)"};
    double results[2] = {0, 0};
    assert_ok(tt_measures_new(&measures, texts, 2, NULL, find));
    run(measures);
    enum tutti_err err = tt_measures_finish(measures, results);
    assert_int_not_equal(err, TUTTI_OK);
    assert_non_null(strstr(tutti_err_message(), says));
    assert_true(isnan(results[0]));
    assert_near(results[1], 3, 0); /* the others have theirs */
    tt_measures_free(measures);
}

static void test_without_value(void **state)
{
    (void)state;
    fails_in_a_run("1 / (final(y) - 3)", "division by zero");
    fails_in_a_run("time_when(x > 100)", "never true");
    fails_in_a_run("sqrt(0 - final(x))", "");
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const texts[][2] = {{"max(x", "character 6"},
                                           {"max(z)", "no variable named 'z'"},
                                           {"x", "many values"},
                                           {"maxi(x)", "did you mean 'max'"},
                                           {"", ""},
                                           {"max(max(x))", ""}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tt_measures *measures = NULL;
        assert_int_equal(tt_measures_new(&measures, &texts[i][0], 1, NULL, find), TUTTI_ERR_ARGUMENT);
        assert_non_null(strstr(tutti_err_message(), texts[i][1]));
        assert_null(measures);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_without_value),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
