/* SPDX-License-Identifier: MIT */
#include "base/float_mode.h"

#include "test.h"

/* The modes that are set now differ from the usual ones: that is seen, by the probe, too, if they change results, and they can be
 * set again. Leaves the usual ones. */
static void look(bool changes_results)
{
    struct tt_float_mode other = tt_float_mode_get();
    unsigned probe = tt_float_mode_probe();
    fesetenv(FE_DFL_ENV);
    struct tt_float_mode usual = tt_float_mode_get();
    bool seen = !tt_float_mode_is_same(&other, &usual), shows = tt_float_mode_probe() != probe;
    tt_float_mode_set(&other);
    struct tt_float_mode again = tt_float_mode_get();
    bool set = tt_float_mode_is_same(&other, &again);
    tt_float_mode_set(&usual);
    assert_true(seen);
    assert_true(set);
    assert_int_equal(shows, changes_results);
    assert_true(strlen(tt_float_mode_difference(&other, &usual)) > 5);
}

static void test_rounding(void **state)
{
    (void)state;
    static const int directions[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++) {
        fesetround(directions[i]);
        look(true);
    }
}

static void test_traps(void **state)
{
    (void)state;
    feraiseexcept(FE_DIVBYZERO); /* which must not trap when modes are set */
    bool has_traps = feenableexcept(FE_INVALID) >= 0;
#ifdef __SSE2__
    assert_true(has_traps);
#endif
    if (has_traps) /* there are processors without */
        look(false);
}

/* Flags are not modes. */
static void test_flags(void **state)
{
    (void)state;
    fesetenv(FE_DFL_ENV);
    struct tt_float_mode before = tt_float_mode_get();
    feraiseexcept(FE_ALL_EXCEPT);
    struct tt_float_mode after = tt_float_mode_get();
    assert_true(tt_float_mode_is_same(&before, &after));
}

#ifdef __SSE2__
static void test_flush_to_zero(void **state)
{
    (void)state;
    static const unsigned bits[] = {0x8000, 0x0040, 0x8040}; /* results, operands, both: as -Ofast does */
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | bits[i]);
        look(true);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_traps),
        cmocka_unit_test(test_flags),
#ifdef __SSE2__
        cmocka_unit_test(test_flush_to_zero),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
