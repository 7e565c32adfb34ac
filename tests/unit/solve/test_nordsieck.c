/* SPDX-License-Identifier: MIT */
/* The backward differentiation formulas as such: each at its own fixed order, on x' = f with known solutions. */
#include "solve/nordsieck.h"

#include "test.h"

enum { Q = TUTTI_NORDSIECK_ORDER };

/* x = (exp(-t), cos(2 t)): x' = -x, and x' = -2 sin(2 t), which needs no x. */
static void exact(double t, double *x)
{
    x[0] = exp(-t);
    x[1] = cos(2 * t);
}

/* Rows from Taylor's series at t. */
static void begin(struct tt_nordsieck *array, int order, double h, double t)
{
    array->order = order;
    array->h = h;
    double scale = 1;
    for (int k = 0; k <= order; k++) {
        tt_nordsieck_row(array, k)[0] = scale * (k % 2 ? -1 : 1) * exp(-t);
        tt_nordsieck_row(array, k)[1] = scale * pow(2, k) * cos(2 * t + k * acos(-1) / 2);
        scale *= h / (k + 1);
    }
    for (int i = 0; i < TUTTI_NORDSIECK_ROWS; i++)
        array->steps[i] = h;
}

/* One step to t, the equation solved by hand. */
static void step(struct tt_nordsieck *array, double t, double *e, struct tt_nordsieck_step *coefficients)
{
    double predicted[(Q + 1) * 2];
    double h = array->h;
    memcpy(predicted, array->z, sizeof predicted);
    tt_nordsieck_shift(array, predicted, 1);
    tt_nordsieck_prepare(array, coefficients);
    double l_1 = coefficients->l[1];
    e[0] = (-h * predicted[0] - predicted[2]) / (l_1 + h);
    e[1] = (-h * 2 * sin(2 * t) - predicted[3]) / l_1;
    tt_nordsieck_accept(array, predicted, e, coefficients);
}

/* Error at t = 1 in n steps whose sizes go up and down by `wobble`. */
static double error_of(int order, int n, double wobble)
{
    double z[(Q + 1) * 2] = {0}, e[2], x[2], t = 0;
    struct tt_nordsieck array = {.count = 2, .z = z};
    struct tt_nordsieck_step coefficients;
    begin(&array, order, 1.0 / n, 0);
    for (int i = 0; i < n; i++) {
        double h = (1 + (i % 2 ? -wobble : wobble)) / n;
        t += h;
        tt_nordsieck_rescale(&array, h);
        step(&array, t, e, &coefficients);
    }
    exact(t, x);
    return fmax(fabs(z[0] - x[0]), fabs(z[1] - x[1]));
}

static void test_order(void **state)
{
    (void)state;
    for (int order = 1; order <= Q; order++)
        for (int uneven = 0; uneven < 2; uneven++) {
            double wobble = uneven ? 0.2 : 0;
            int n = order < 4 ? 400 : 100;
            double slope = log2(error_of(order, n, wobble) / error_of(order, 2 * n, wobble));
            if (!(slope > order - 0.25 && slope < order + 0.6))
                fail_msg("order %d with steps of 1 +- %g: observed %g", order, wobble, slope);
        }
}

/* The estimates of local errors, for even steps, against the known error constants of the formulas:
 * h^(q+1) x^(q+1) / ((q + 1) l_1), e being h^(q+1) x^(q+1). */
static void test_error_constants(void **state)
{
    (void)state;
    double h = 0.01;
    for (int order = 1; order <= Q; order++) {
        double z[(Q + 1) * 2] = {0}, e[2] = {0}, e_before = 0, t = 0.3, l_1 = 0, l_down = 0;
        struct tt_nordsieck array = {.count = 2, .z = z};
        struct tt_nordsieck_step c;
        begin(&array, order, h, t);
        for (int i = 0; i < 60; i++) {
            t += h;
            e_before = e[0];
            step(&array, t, e, &c);
        }
        for (int j = 1; j <= order; j++) {
            l_down = l_1;
            l_1 += 1.0 / j;
        }
        double derivative = pow(-h, order + 1) * exp(-t);
        assert_near(e[0] / derivative, 1, 0.06);
        assert_near(c.error, 1 / ((order + 1) * l_1), 1e-12);
        if (order > 1) /* of order q - 1, from h^q / q! x^(q) */
            assert_near(c.error_down * tt_nordsieck_row(&array, order)[0] / (pow(-h, order) * exp(-t)),
                        1 / (order * l_down), 0.05 / (order * l_down));
        double up = c.error_up * (e[0] - e_before) / (derivative * -h);
        assert_near(up, 1 / ((order + 2) * (l_1 + 1.0 / (order + 1))), 0.15 * up);
    }
}

/* Another order, another centre, another unit: what must remain of the polynomial does. */
static void test_changes(void **state)
{
    (void)state;
    double z[(Q + 1) * 2] = {0}, e[2], x[2], y[2], points[4][2], t = 0, at[4] = {0};
    struct tt_nordsieck array = {.count = 2, .z = z};
    struct tt_nordsieck_step coefficients;
    begin(&array, 4, 0.05, 0);
    for (int i = 0; i < 9; i++) {
        double h = i % 3 ? 0.05 : 0.035;
        tt_nordsieck_rescale(&array, h);
        t += h;
        step(&array, t, e, &coefficients);
        memmove(points[1], points[0], sizeof points - sizeof points[0]);
        memmove(at + 1, at, sizeof at - sizeof at[0]);
        memcpy(points[0], z, sizeof points[0]);
        at[0] = t;
    }
    double slope[2], other[2];
    tt_nordsieck_slope(&array, 0, slope);
    for (int order = 4; order <= 5; order++) { /* the newest q values are on it, then one more, then one less */
        for (int i = 0; i < 4; i++) {
            tt_nordsieck_value(&array, (at[i] - t) / array.h, x);
            assert_near(x[0], points[i][0], 1e-14);
            assert_near(x[1], points[i][1], 1e-14);
        }
        if (order == 4)
            tt_nordsieck_raise(&array, e);
        assert_int_equal(array.order, 5);
        tt_nordsieck_slope(&array, 0, other);
        assert_near(slope[1], other[1], 1e-15);
    }
    tt_nordsieck_lower(&array);
    tt_nordsieck_lower(&array);
    assert_int_equal(array.order, 3);
    for (int i = 0; i < 2; i++) {
        tt_nordsieck_value(&array, (at[i] - t) / array.h, x);
        assert_near(x[1], points[i][1], 1e-14);
    }
    tt_nordsieck_value(&array, -0.37, x);
    tt_nordsieck_shift(&array, z, -0.37);
    assert_same_double(z[0], x[0]);
    assert_same_double(z[1], x[1]);
    tt_nordsieck_value(&array, 0.2, x);
    tt_nordsieck_rescale(&array, 3 * array.h);
    tt_nordsieck_value(&array, 0.2 / 3, y);
    assert_near(x[0], y[0], 1e-15);
}

/* A higher order is the same polynomial in whatever unit of time the array is when it is asked for. */
static void test_raise_in_another_unit(void **state)
{
    (void)state;
    for (int order = 1; order < Q; order++) {
        double z[(Q + 1) * 2] = {0}, other_z[(Q + 1) * 2], e[2], x[2], y[2], t = 0;
        struct tt_nordsieck array = {.count = 2, .z = z}, other;
        struct tt_nordsieck_step coefficients;
        begin(&array, order, 0.05, 0);
        for (int i = 0; i < 9; i++) {
            tt_nordsieck_rescale(&array, i % 3 ? 0.05 : 0.035);
            t += array.h;
            step(&array, t, e, &coefficients);
        }
        memcpy(other_z, z, sizeof z);
        other = array;
        other.z = other_z;
        tt_nordsieck_raise(&array, e);
        tt_nordsieck_rescale(&other, 3 * array.h);
        tt_nordsieck_raise(&other, e);
        tt_nordsieck_value(&array, 1.5, x);
        tt_nordsieck_value(&other, 0.5, y);
        assert_near(x[0], y[0], 1e-14);
        assert_near(x[1], y[1], 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_error_constants),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_raise_in_another_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
