/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/time.h"

static void test_fractions(void **state)
{
    (void)state;
    static const struct {
        double value;
        uint64_t counter, resolution;
    } known[] = {
        {0, 0, 1},         {1, 1, 1},
        {0.1, 1, 10},      {0.005, 1, 200},
        {1.0 / 3, 1, 3},   {1e-9, 1, 1000000000},
        {2.5, 5, 2},       {1.0 / 30, 1, 30},
        {0.7, 7, 10},      {1e15, 1000000000000000u, 1},
        {22.0 / 7, 22, 7}, {0.123456, 1929, 15625},
        {3600, 3600, 1},   {0x1p-60, 1, UINT64_C(1) << 60},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct tt_fraction fraction;
        assert_true(tt_time_fraction_of(known[i].value, &fraction));
        assert_int_equal(fraction.counter, known[i].counter);
        assert_int_equal(fraction.resolution, known[i].resolution);
        assert_same_double(tt_time_fraction_value(fraction), known[i].value);
    }
    static const double none[] = {-0.1, INFINITY, NAN, 1e-25, 1e300, 0x1p-1074};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct tt_fraction fraction;
        assert_false(tt_time_fraction_of(none[i], &fraction));
    }
}

enum { PERIODS = 10000000 };

/* Quotients of whole numbers below 2^53 are rounded once by the processor: that is what a tick must be, after ten million of them. */
static void walk(uint64_t counter, uint64_t shift, uint64_t resolution)
{
    struct tt_instant instant = {0, {shift, resolution}};
    for (uint64_t n = 0; n <= PERIODS; n++) {
        double expected = (double)(shift + n * counter) / (double)resolution;
        if (tt_time_of_instant(&instant) != expected)
            fail_msg("tick %llu of %llu/%llu: %.17g, not %.17g", (unsigned long long)n, (unsigned long long)counter,
                     (unsigned long long)resolution, tt_time_of_instant(&instant), expected);
        tt_time_instant_move(&instant, (struct tt_fraction){counter, resolution});
    }
}

static void test_periodic(void **state)
{
    (void)state;
    walk(2, 1, 200);
}

/* Intervals that change, of several resolutions: 1/10, 2/7, 3/11 and again, which is 661/770 for three. */
static void test_changing(void **state)
{
    (void)state;
    static const struct tt_fraction intervals[] = {{1, 10}, {2, 7}, {3, 11}};
    static const uint64_t partial[] = {0, 77, 297};
    struct tt_instant instant = {0, {0, 1}};
    for (uint64_t n = 0; n <= PERIODS; n++) {
        double expected = (double)(n / 3 * 507 + partial[n % 3]) / 770;
        if (tt_time_of_instant(&instant) != expected)
            fail_msg("tick %llu: %.17g, not %.17g", (unsigned long long)n, tt_time_of_instant(&instant), expected);
        tt_time_instant_move(&instant, intervals[n % 3]);
    }
}

static void test_base(void **state)
{
    (void)state;
    struct tt_instant instant = {0.1, {1, 5}};
    assert_same_double(tt_time_of_instant(&instant), 0.1 + 0.2 - 0x1p-54); /* the nearest double, not the sum of two */
    /* Resolutions that do not go together: rounded once, and on from there. */
    instant = (struct tt_instant){0, {1, (UINT64_C(1) << 63) - 25}};
    tt_time_instant_move(&instant, (struct tt_fraction){1, UINT64_C(1000000007)});
    assert_int_equal(instant.after.resolution, UINT64_C(1000000007));
    assert_true(tt_time_of_instant(&instant) > 0.999e-9);
}

/* The short way and the long one round to the same double: quotients of all sizes, with those that lie close to the middle of two. */
static void test_rounding(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int n = 0; n < 2000000; n++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t counter = random >> (11 + n % 40);
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t resolution = (random >> (11 + n % 37)) + 1;
        struct tt_instant instant = {0, {n % 3 ? counter : (UINT64_C(1) << 53) - 1 - counter % 1000, resolution}};
        assert_same_double(tt_time_of_instant(&instant), tt_time_instant_round(&instant));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fractions), cmocka_unit_test(test_periodic), cmocka_unit_test(test_changing),
        cmocka_unit_test(test_base),      cmocka_unit_test(test_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
