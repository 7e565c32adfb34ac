/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <math.h>

#include "base/expr/breaks.h"

static enum tutti_err find(void *context, const char *name, size_t *place)
{
    (void)context;
    *place = 0;
    return strcmp(name, "time") == 0 ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "'%s'", name);
}

static const struct tt_expression_names names = {.find = find};

static const double PI = 3.14159265358979323846;

/* The breaks from 0 to 10 are these; `jumps` of them are jumps. */
static void assert_breaks(const char *text, const double *times, int count, int jumps)
{
    struct tt_expression *expression = NULL;
    struct tt_breaks breaks;
    assert_ok(tt_expression_new(&expression, text, &names, NULL));
    tt_breaks_init(&breaks, expression, 0, 10);
    double t = 0;
    for (int i = 0; i < count; i++) {
        t = tt_breaks_next(&breaks, t, false);
        if (!(fabs(t - times[i]) <= 1e-14 * fabs(times[i])))
            fail_msg("%s: break %d is at %.17g, not at %.17g", text, i, t, times[i]);
    }
    t = tt_breaks_next(&breaks, t, false);
    if (t < 10)
        fail_msg("%s: one more break at %.17g", text, t);
    for (t = tt_breaks_next(&breaks, 0, true); t < 10; t = tt_breaks_next(&breaks, t, true))
        jumps--;
    if (jumps != 0)
        fail_msg("%s: %d jumps are missing", text, jumps);
    tt_breaks_fini(&breaks);
    tt_expression_free(expression);
}

#define TIMES(...) (const double[]){__VA_ARGS__}, (int)(sizeof(double[]){__VA_ARGS__} / sizeof(double))

static void test_where_they_are(void **state)
{
    (void)state;
    assert_breaks("sin(time) + time ^ 2", NULL, 0, 0);
    assert_breaks("(time > 5.03 && time < 5.04) ? 100 : 0", TIMES(5.03, 5.04), 2);
    assert_breaks("time >= 5.03 ? 1 : 0", TIMES(5.03), 1);
    assert_breaks("floor(time / 3)", TIMES(3, 6, 9), 3);
    assert_breaks("ceil(0.4 * time)", TIMES(2.5, 5, 7.5), 3);
    assert_breaks("round(time / 5)", TIMES(2.5, 7.5), 2);
    assert_breaks("abs(sin(time))", TIMES(PI, 2 * PI, 3 * PI), 0);
    assert_breaks("sign(cos(time))", TIMES(PI / 2, 3 * PI / 2, 5 * PI / 2), 3);
    assert_breaks("mod(time, 4)", TIMES(4, 8), 2);
    assert_breaks("mod(time, 4) < 1 ? 1 : 0", TIMES(1, 4, 5, 8, 9), 4 + 1);
    assert_breaks("min(time, 2, 10 - time)", TIMES(2, 8), 0);
    assert_breaks("max(exp(-time), 0.5)", TIMES(log(2)), 0);
    assert_breaks("atan2(sin(time), cos(time))", TIMES(PI, 3 * PI), 2);
    assert_breaks("exp(-((time - 5) * 1e6) ^ 2) > exp(-1) ? 1 : 0", TIMES(5 - 1e-6, 5 + 1e-6), 2);
    assert_breaks("time ^ 3 > 8 || tanh(time) > 2 ? log(1 + time) : 0", TIMES(2), 1);
}

static void test_sides(void **state)
{
    (void)state;
    struct tt_expression *expression = NULL;
    struct tt_breaks breaks;
    assert_ok(tt_expression_new(&expression, "time > 1 ? 1 : 0", &names, NULL));
    tt_breaks_init(&breaks, expression, 0, 10);
    double before = tt_breaks_offset_time(&breaks, 1, false), after = tt_breaks_offset_time(&breaks, 1, true);
    assert_near(tt_expression_value(expression, &before), 0, 0);
    assert_near(tt_expression_value(expression, &after), 1, 0);
    assert_near(after - before, 0, 1e-15);
    assert_near(tt_breaks_offset_time(&breaks, 2, false), 2, 0);
    assert_near(tt_breaks_offset_time(&breaks, 0.5, true), 0.5, 0);
    tt_breaks_fini(&breaks);
    tt_expression_free(expression);
}

/* More than are kept, and back. */
static void test_many(void **state)
{
    (void)state;
    struct tt_expression *expression = NULL;
    struct tt_breaks breaks;
    assert_ok(tt_expression_new(&expression, "floor(1000 * time)", &names, NULL));
    tt_breaks_init(&breaks, expression, 0, 10);
    double t = 0;
    for (int i = 1; i <= 9000; i++) {
        t = tt_breaks_next(&breaks, t, true);
        assert_near(t, i / 1000., 1e-12);
    }
    assert_near(tt_breaks_next(&breaks, 0.5, true), 0.501, 1e-12);
    assert_near(tt_breaks_next(&breaks, 8.9995, true), 9, 1e-12);
    tt_breaks_fini(&breaks);
    tt_expression_free(expression);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_they_are),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
