/* SPDX-License-Identifier: MIT */
/* The radii that stability depends on, against closed forms and against sequences of numbers. */
#include "test.h"

#include <math.h>

#include "sim/start/stability.h"

enum { MOST = 6 };

static const struct tt_follower plain[MOST] = {{.takes = true}, {.takes = true}, {.takes = true},
                                               {.takes = true}, {.takes = true}, {.takes = true}};

static struct tt_radii radii_of(size_t n, const double *by_columns, const struct tt_follower *followers)
{
    struct tt_radii radii;
    assert_ok(tt_stability_of_matrix(by_columns, n, followers, TUTTI_THOROUGH, &radii));
    return radii;
}

/* abs(l +- sqrt(l^2 - l)) for a real l: eq. 6.41. */
static double linear_of(double l)
{
    double root = l * l - l;
    return root < 0 ? sqrt(l) : fmax(fabs(l + sqrt(root)), fabs(l - sqrt(root)));
}

/* ... and for one that is purely imaginary: (a i)^2 - a i = r e^(i phi). */
static double linear_of_imaginary(double a)
{
    double size = sqrt(hypot(a * a, a)), phi = atan2(-a, -a * a) / 2;
    return fmax(hypot(size * cos(phi), a + size * sin(phi)), hypot(-size * cos(phi), a - size * sin(phi)));
}

static void two_systems_one_unknown_each(void **state)
{
    (void)state;
    static const double pairs[][2] = {{0.5, 0.5}, {0.5, -0.5}, {2, -1}, {-2, -1}, {0.1, 0.3}, {1, 1}, {30, 20}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double product = pairs[i][0] * pairs[i][1], rho = sqrt(fabs(product));
        struct tt_radii radii = radii_of(2, (double[]){0, pairs[i][1], pairs[i][0], 0}, plain);
        assert_near(radii.rho, rho, 1e-12 * rho);
        double linear = product > 0 ? fmax(linear_of(rho), linear_of(-rho))
                                    : fmax(linear_of_imaginary(rho), linear_of_imaginary(-rho));
        assert_near(radii.linear, linear, 1e-7 * linear); /* at l = 1 both roots meet: half of the digits */
        assert_near(radii.jacobi[0], rho, 1e-12 * rho);
        assert_near(radii.jacobi[1], linear, 1e-7 * linear);
        assert_near(radii.jacobi[2], radii.quadratic, 1e-5 * radii.quadratic); /* three roots meet */
    }
}

/* z^3 = l (3 z^2 - 3 z + 1): l = 1/2 has the roots 1/2 and (1 +- i sqrt 3) / 2, l = -1/7 has -1: both are limits of
 * stability. l = 0 and l = 1 are themselves. */
static void quadratic_extrapolation(void **state)
{
    (void)state;
    assert_near(radii_of(1, (double[]){0.5}, plain).quadratic, 1, 1e-14);
    assert_near(radii_of(1, (double[]){-1.0 / 7}, plain).quadratic, 1, 1e-14);
    assert_near(radii_of(1, (double[]){-1.0 / 3}, plain).linear, 1, 1e-14);
    assert_near(radii_of(1, (double[]){0}, plain).quadratic, 0, 0);
    assert_near(radii_of(1, (double[]){1}, plain).quadratic, 1, 0);
    for (int i = -30; i < 30; i++) {
        double l = i / 10.0;
        double z = radii_of(1, (double[]){l}, plain).quadratic;
        if (l < 0) /* the largest root is real and negative */
            assert_near(-z * z * z, l * (3 * z * z + 3 * z + 1), 1e-12 * fmax(1, z * z * z));
    }
}

static void numbers_of_any_size(void **state)
{
    (void)state;
    static const double sizes[] = {1e-300, 1e-100, 1e-16, 1e7, 1e9, 1e100, 1e300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct tt_radii radii = radii_of(1, (double[]){-sizes[i]}, plain);
        assert_near(radii.rho, sizes[i], 1e-14 * sizes[i]);
        assert_near(radii.linear, linear_of(-sizes[i]), 1e-6 * linear_of(-sizes[i]));
        assert_true(radii.quadratic > radii.linear && isfinite(radii.quadratic));
    }
}

/* Gauss-Seidel on a ring: what goes round once is the product of all. In another order two trips are one step, or so. */
static void in_sequence(void **state)
{
    (void)state;
    /* y1 = a y3, y2 = b y1, y3 = c y2 */
    const double ring[] = {0, 0.9, 0, 0, 0, -0.8, 1.3, 0, 0};
    double product = 0.9 * 0.8 * 1.3;
    struct tt_follower followers[] = {{0, true, 1, 0}, {1, true, 1, 0}, {2, true, 1, 0}};
    struct tt_radii radii = radii_of(3, ring, followers);
    assert_near(radii.rho, cbrt(product), 1e-12);
    assert_near(radii.seidel[0], product, 1e-12);
    assert_near(radii.seidel[1], linear_of(-product), 1e-9);
    for (uint32_t i = 0; i < 3; i++)
        followers[i].place = 2 - i;
    assert_near(radii_of(3, ring, followers).seidel[0], sqrt(product), 1e-12);
    for (uint32_t i = 0; i < 3; i++)
        followers[i].place = 7;
    assert_near(radii_of(3, ring, followers).seidel[0], cbrt(product), 1e-12); /* all at once: Jacobi */
    assert_near(radii_of(3, ring, followers).seidel[2], radii_of(3, ring, followers).jacobi[2], 1e-9);
}

/* Units that take no derivatives hold their inputs, at the beginning or at the end; derivatives that all units give make
 * rho(DL) of every order (eq. 6.45). */
static void mixtures(void **state)
{
    (void)state;
    const double loop[] = {0, 0.7, -0.9, 0};
    struct tt_follower followers[2] = {{0}};
    struct tt_radii radii = radii_of(2, loop, followers);
    for (int o = 0; o < TUTTI_ORDERS; o++)
        assert_near(radii.jacobi[o], radii.rho, 1e-12);
    followers[0].at = followers[1].at = 1;
    radii = radii_of(2, loop, followers);
    assert_near(radii.jacobi[1], radii.linear, 1e-9);
    assert_near(radii.jacobi[2], radii.quadratic, 1e-9);
    for (int i = 0; i < 2; i++)
        followers[i] = (struct tt_follower){.takes = true, .gives = 2};
    radii = radii_of(2, loop, followers);
    for (int o = 0; o < TUTTI_ORDERS; o++)
        assert_near(radii.jacobi[o], radii.rho, 1e-4); /* three times the same eigenvalue: a third of the digits */
    assert_near(radii.smooth[1], radii.linear, 1e-6);  /* slopes of smoothed inputs come from their ends */
    followers[0].gives = followers[1].gives = 0;
    radii = radii_of(2, loop, followers);
    assert_near(radii.smooth[1], radii.linear, 1e-9);
    assert_near(radii.smooth[2], radii.quadratic, 1e-9);
}

/* One unit extrapolates through two points, the other holds the middle: the recursion itself. */
static void a_mixture_as_numbers(void **state)
{
    (void)state;
    const double a = 0.8, b = -0.9; /* y1 = a y2, y2 = b y1 */
    struct tt_follower followers[] = {{.takes = true}, {.at = 0.5, .place = 1}};
    for (int sequence = 0; sequence < 2; sequence++) {
        struct tt_radii radii = radii_of(2, (double[]){0, b, a, 0}, followers);
        double y1 = 1, y2 = 1, before1 = 1, before2 = 1, grown = 0;
        for (int n = 0; n < 4000; n++) {
            double next1 = a * (2 * y2 - before2);
            double next2 = b * (sequence ? (y1 + next1) / 2 : 1.5 * y1 - 0.5 * before1);
            double size = fabs(next1) + fabs(next2) + fabs(y1) + fabs(y2);
            before1 = y1 / size;
            before2 = y2 / size;
            y1 = next1 / size;
            y2 = next2 / size;
            grown += n < 2000 ? 0 : log(size);
        }
        assert_near(exp(grown / 2000), sequence ? radii.seidel[1] : radii.jacobi[1], 1e-3);
    }
}

static void joined(void **state)
{
    (void)state;
    struct tt_radii all = {.known = true, .exact = true}, one = {.loops = 1, .known = true, .exact = true, .rho = 0.5};
    tt_stability_join(&all, &one);
    one.rho = 0.25;
    one.linear = NAN;
    tt_stability_join(&all, &one);
    assert_near(all.rho, 0.5, 0);
    assert_true(isnan(all.linear) && all.known && all.exact && all.loops == 2);
    one = (struct tt_radii){.loops = 1, .why_not = "arrays"};
    tt_stability_join(&all, &one);
    assert_true(!all.known && !all.exact);
    assert_string_equal(all.why_not, "arrays");
}

static void not_finite(void **state)
{
    (void)state;
    struct tt_radii radii;
    assert_int_equal(tt_stability_of_matrix((double[]){INFINITY}, 1, plain, TUTTI_QUICK, &radii), TUTTI_ERR_ARGUMENT);
    assert_ok(tt_stability_of_matrix((double[]){-0.5}, 1, plain, TUTTI_QUICK, &radii));
    assert_near(radii.rho, 0.5, 0);
    assert_true(isnan(radii.jacobi[1])); /* quick */
    assert_true(tt_stability_is_stable_radius(1 + 1e-8) && !tt_stability_is_stable_radius(1.001) &&
                !tt_stability_is_stable_radius(NAN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_systems_one_unknown_each),
        cmocka_unit_test(quadratic_extrapolation),
        cmocka_unit_test(numbers_of_any_size),
        cmocka_unit_test(in_sequence),
        cmocka_unit_test(mixtures),
        cmocka_unit_test(a_mixture_as_numbers),
        cmocka_unit_test(joined),
        cmocka_unit_test(not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
