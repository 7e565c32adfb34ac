/* SPDX-License-Identifier: MIT */
#include "base/floating.h"

#include "test.h"

/* The modes that are set now differ from the usual ones: that is seen, by the probe, too, if they change results, and they can be
 * set again. Leaves the usual ones. */
static void look(bool changes_results)
{
    struct tutti_floating other = tutti_floating_now();
    unsigned probe = tutti_floating_probe();
    fesetenv(FE_DFL_ENV);
    struct tutti_floating usual = tutti_floating_now();
    bool seen = !tutti_floating_same(&other, &usual), shows = tutti_floating_probe() != probe;
    tutti_floating_set(&other);
    struct tutti_floating again = tutti_floating_now();
    bool set = tutti_floating_same(&other, &again);
    tutti_floating_set(&usual);
    assert_true(seen);
    assert_true(set);
    assert_int_equal(shows, changes_results);
    assert_true(strlen(tutti_floating_difference(&other, &usual)) > 5);
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

/* Flags are no modes. */
static void test_flags(void **state)
{
    (void)state;
    fesetenv(FE_DFL_ENV);
    struct tutti_floating before = tutti_floating_now();
    feraiseexcept(FE_ALL_EXCEPT);
    struct tutti_floating after = tutti_floating_now();
    assert_true(tutti_floating_same(&before, &after));
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
