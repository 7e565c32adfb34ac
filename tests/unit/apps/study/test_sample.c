/* SPDX-License-Identifier: MIT */
/* Points of samples: what makes them Latin, Sobol's first ones, and the same numbers for the same seed. */
#include "test.h"

#include <string.h>

#include "apps/study/design.h"

enum { POINTS = 64, DIMENSIONS = 21 };
static double points[POINTS * DIMENSIONS], again[POINTS * DIMENSIONS];

/* In each dimension one point in each of POINTS equal parts. */
static void check_parts(void)
{
    for (int k = 0; k < DIMENSIONS; k++) {
        bool seen[POINTS] = {false};
        for (int i = 0; i < POINTS; i++) {
            double value = points[i * DIMENSIONS + k];
            assert_true(value >= 0 && value < 1);
            int part = (int)(value * POINTS);
            assert_false(seen[part]);
            seen[part] = true;
        }
    }
}

static void test_latin(void **state)
{
    (void)state;
    assert_ok(tt_design_sample_latin(points, POINTS, DIMENSIONS, 1));
    check_parts();
    assert_ok(tt_design_sample_latin(again, POINTS, DIMENSIONS, 1));
    assert_memory_equal(points, again, sizeof points);
    assert_ok(tt_design_sample_latin(again, POINTS, DIMENSIONS, 2));
    assert_memory_not_equal(points, again, sizeof points);
}

/* Powers of two of its points fill all parts; the first ones in two dimensions are known. */
static void test_sobol(void **state)
{
    (void)state;
    static const double first[][2] = {{0, 0}, {0.5, 0.5}, {0.75, 0.25}, {0.25, 0.75}, {0.375, 0.375}};
    assert_ok(tt_design_sample_sobol(points, POINTS, DIMENSIONS));
    check_parts();
    assert_ok(tt_design_sample_sobol(points, 5, 2));
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++)
            assert_near(points[2 * i + k], first[i][k], 0);
    assert_int_not_equal(tt_design_sample_sobol(points, 2, TUTTI_SOBOL_DIMENSIONS + 1), TUTTI_OK);
}

/* splitmix64's first numbers from 1234567, as published with it. */
static void test_random(void **state)
{
    (void)state;
    static const uint64_t known[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u};
    struct tt_random random = {1234567};
    for (int i = 0; i < 3; i++)
        assert_true(tt_design_random_next(&random) == known[i]);
    tt_design_sample_random(points, POINTS, DIMENSIONS, 5);
    tt_design_sample_random(again, POINTS, DIMENSIONS, 5);
    assert_memory_equal(points, again, sizeof points);
    for (int i = 0; i < POINTS * DIMENSIONS; i++)
        assert_true(points[i] >= 0 && points[i] < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_latin), cmocka_unit_test(test_sobol),
                                       cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
