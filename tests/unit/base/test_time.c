/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/time.h"

static void test_same(void **state)
{
    (void)state;
    assert_true(tt_time_same(0.1 + 0.2, 0.3, 1));
    assert_true(tt_time_same(3 * 0.1, 0.3, 10));
    assert_false(tt_time_same(0.3, 0.3 + 1e-9, 1));
    assert_true(tt_time_same(0, 1e-16, 1)); /* near 0 the run's length counts */
    assert_false(tt_time_same(0, 1e-12, 1));
    assert_true(tt_time_same(1e9, 1e9 + 1e-7, 1));
}

/* A step ends where it must, to the bit. */
static void test_step_is_exact(void **state)
{
    (void)state;
    static const double steps[] = {0.1, 1e-3, 1.0 / 3, 0.7, 1e-6, 3.3};
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (int n = 0; n < 100000; n += 7) {
            double t = n * steps[s], end = (n + 1) * steps[s], h = tt_time_step(t, end);
            assert_same_double(t + h, end);
        }
}

/* The points are start + n * step and stop, whatever rounding would make of a sum. */
static void walk(double start, double step, double stop, int64_t points)
{
    struct tt_time_grid grid;
    tt_time_grid_init(&grid, start, step, stop);
    assert_int_equal(grid.last, points);
    double t = start;
    for (int64_t n = 1; n <= points; n++) {
        double next = grid.next;
        assert_true(next > t);
        assert_same_double(next, n == points ? stop : start + (double)n * step);
        t = next;
        tt_time_grid_pass(&grid, t);
    }
    assert_same_double(t, stop);
    assert_same_double(grid.next, stop);
}

static void test_grid(void **state)
{
    (void)state;
    walk(0, 0.1, 1, 10);
    walk(0, 0.1, 0.3, 3); /* 0.3 / 0.1 is a bit less than 3 */
    walk(0, 1e-3, 1, 1000);
    walk(0, 0.3, 1, 4); /* the last one is shorter */
    walk(0, 1, 1.0000001, 2);
    walk(-1, 0.25, 1, 8);
    walk(1e6, 0.01, 1e6 + 1, 100);
    walk(0, 1e-6, 1, 1000000);
    walk(0, 5, 1, 1);
    walk(0, 1.0 / 3, 1, 3);
    walk(0, 3.0 / 500, 3, 500);
}

static void test_grid_jumps(void **state)
{
    (void)state;
    struct tt_time_grid grid;
    tt_time_grid_init(&grid, 0, 0.1, 10);
    tt_time_grid_pass(&grid, 0.05); /* nothing is passed */
    assert_int_equal(grid.next_index, 1);
    tt_time_grid_pass(&grid, 5.0000000000000009); /* rounding beyond point 50 */
    assert_int_equal(grid.next_index, 51);
    tt_time_grid_pass(&grid, 9.99999999999999);
    assert_int_equal(grid.next_index, 100);
    tt_time_grid_pass(&grid, 10);
    assert_same_double(grid.next, 10);
}

static void test_fits(void **state)
{
    (void)state;
    assert_true(tt_time_grid_fits(0, 0.1, 0.3));
    assert_true(tt_time_grid_fits(0, 0.1, 100));
    assert_false(tt_time_grid_fits(0, 0.2, 0.3));
    assert_false(tt_time_grid_fits(0, 1, 1.001));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),       cmocka_unit_test(test_step_is_exact), cmocka_unit_test(test_grid),
        cmocka_unit_test(test_grid_jumps), cmocka_unit_test(test_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
