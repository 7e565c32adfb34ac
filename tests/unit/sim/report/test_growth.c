/* SPDX-License-Identifier: MIT */
/* What counts as a signal that explodes, and what does not. */
#include "sim/report/watch.h"

#include "test.h"

static double random_part(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* The step at which the signal f counts as exploded, of `steps` steps; 0: never. */
static int explodes(double (*f)(int k), int steps)
{
    struct tt_oscillation swings = {0};
    tt_watch_begin_oscillation(&swings, 0, f(0));
    for (int k = 1; k <= steps; k++)
        if (tt_watch_update_oscillation(&swings, k, f(k), 1))
            return k;
    return 0;
}

static double alternating(int k)
{
    return 2.5 + 0.01 * pow(-1.3, k);
}

static double alternating_slowly(int k)
{
    return pow(-1.05, k);
}

static double every_second(int k)
{
    return pow(1.5, k) * cos(k * M_PI / 2);
}

static double between(int k) /* seven steps a period */
{
    return 1 + 0.001 * pow(1.2, k) * sin(k * 2 * M_PI / 7);
}

static double doubling(int k)
{
    return pow(2, k);
}

static double held(int k) /* a unit that steps at every fifth */
{
    return pow(-2, floor(k / 5.0));
}

static void unstable_couplings(void **state)
{
    (void)state;
    const struct {
        double (*f)(int k);
        int within;
    } cases[] = {{alternating, 60}, {alternating_slowly, 600}, {every_second, 60}, {between, 400}, {doubling, 40},
                 {held, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_in_range(explodes(cases[i].f, cases[i].within), 1, cases[i].within);
}

static double exponential(int k)
{
    return exp(0.1 * k);
}

static double resolved(int k) /* an oscillation that grows, of a period of 40 steps */
{
    return exp(0.05 * k) * sin(k * 2 * M_PI / 40);
}

static double resonance(int k) /* three steps a period */
{
    return 1e4 * k * sin(k * 2 * M_PI / 3);
}

static double square(int k)
{
    return 1e4 * k * k * (k % 2 ? 1 : -1);
}

static double power(int k)
{
    return pow(k, 5);
}

static double noise(int k)
{
    uint64_t seed = 7 + (uint64_t)k;
    random_part(&seed);
    return 1e6 * random_part(&seed);
}

static double noise_from_rest(int k)
{
    return k < 50 ? 0 : k < 100 ? 1e-16 * noise(k) : noise(k);
}

static double rounding(int k) /* that does no harm */
{
    return k < 30 ? 1e-16 * pow(-2, k) : 1;
}

static double beats(int k)
{
    return (1.001 + sin(0.02 * k)) * (k % 2 ? 1 : -1);
}

static double stable(int k)
{
    return pow(-0.9, k);
}

static void what_models_do(void **state)
{
    (void)state;
    double (*const cases[])(int) = {exponential, resolved,        resonance, square, power,
                                    noise,       noise_from_rest, rounding,  beats,  stable};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (explodes(cases[i], 2000))
            fail_msg("case %zu explodes at step %d", i, explodes(cases[i], 2000));
}

static void says_since_when(void **state)
{
    (void)state;
    struct tt_oscillation swings = {0};
    const struct tt_trend *trend = NULL;
    tt_watch_begin_oscillation(&swings, 0, 1);
    int k = 1;
    for (; k <= 200 && !trend; k++)
        trend = tt_watch_update_oscillation(&swings, k, k <= 100 ? sin(0.01 * k) : 2 * pow(-1.5, k - 100), 1);
    assert_non_null(trend);
    assert_in_range((int)trend->since, 99, 103);
    assert_in_range(k, 105, 140);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unstable_couplings),
        cmocka_unit_test(what_models_do),
        cmocka_unit_test(says_since_when),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
