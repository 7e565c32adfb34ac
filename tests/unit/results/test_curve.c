/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdbool.h>
#include <stdlib.h>

#include "results/compare.h"

enum { MOST = 64 };

/* A curve of pairs t, value. */
struct made {
    double times[MOST], values[MOST];
    struct tt_curve curve;
};

static const struct tt_curve *make(struct made *made, bool held, const double *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        made->times[i] = pairs[2 * i];
        made->values[i] = pairs[2 * i + 1];
    }
    made->curve = (struct tt_curve){made->times, made->values, count, held};
    return &made->curve;
}
#define CURVE(held, ...)                                                                                               \
    make(&(struct made){0}, held, (double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double) / 2)

/* Between the times, with these tolerances. */
static struct tt_distance between(const struct tt_curve *result, const struct tt_curve *reference, double begin,
                                  double end, double allowed, double tau)
{
    struct tt_distance worst;
    assert_ok(tt_compare_curves(&worst, result, reference, begin, end,
                                &(struct tt_tolerance){.allowed = allowed, .time = tau}));
    return worst;
}

/* All of the reference, in both directions: what agrees must not depend on who is the reference. */
static double share(const struct tt_curve *a, const struct tt_curve *b, double atol, double tau)
{
    double begin = fmax(a->times[0], b->times[0]);
    double end = fmin(a->times[a->rows - 1], b->times[b->rows - 1]);
    double there = between(a, b, begin, end, atol, tau).share, back = between(b, a, begin, end, atol, tau).share;
    assert_int_equal(there <= 1, back <= 1);
    return there;
}

static void test_same(void **state)
{
    (void)state;
    const struct tt_curve *a = CURVE(false, 0, 0.1, 0.1, 0.3, 0.7, -1e300, 0.7, 5, 1, 1.7e308, 2, -1.7e308);
    for (int turn = 0; turn < 3; turn++) {
        struct tt_distance worst = between(a, a, 0, 2, 0, turn == 0 ? 0 : turn == 1 ? 1e-6 : 0.5);
        assert_true(worst.error == 0 && worst.share == 0 && worst.result == worst.reference);
    }
    /* An additional row on the line is not a difference. */
    assert_true(share(CURVE(false, 0, 1, 1, 3), CURVE(false, 0, 1, 0.25, 1.5, 1, 3), 0, 0) == 0);
}

static void test_numbers(void **state)
{
    (void)state;
    const struct tt_curve *reference = CURVE(false, 0, 1, 1, 2, 2, 4), *result = CURVE(false, 0, 1, 1, 2.5, 2, 4);
    struct tt_distance worst = between(result, reference, 0, 2, 0.5, 0);
    assert_true(worst.time == 1 && worst.result == 2.5 && worst.reference == 2);
    assert_near(worst.error, 0.5, 0);
    assert_near(worst.allowed, 0.5, 1e-15);
    assert_near(worst.share, 1, 1e-15);
    /* Seen from a time of the reference that the result lacks. */
    worst = between(CURVE(false, 0, 1, 2, 4), reference, 0, 2, 1, 0);
    assert_true(worst.time == 1 && worst.result == 2.5 && worst.reference == 2 && worst.error == 0.5);
    /* Rows outside are ignored; the range may begin and end between rows. */
    assert_true(between(result, reference, 0, 0.5, 1, 0).error == 0.25);
    assert_true(between(result, reference, 2, 2, 1, 0).error == 0);
    worst = between(result, reference, 0.5, 0.5, 1, 0);
    assert_true(worst.error == 0.25 && worst.time == 0.5 && worst.result == 1.75 && worst.reference == 1.5);
    /* Nothing is allowed: whatever differs is infinitely too much. */
    assert_true(isinf(between(result, reference, 0, 2, 0, 0).share));
}

/* A straight line against a parabola: the error of interpolation is h^2 / 4 x'' / 2. */
static void test_interpolation(void **state)
{
    (void)state;
    enum { FINE = 41 };
    double fine[2 * FINE], coarse[2 * FINE], errors[2];
    for (size_t i = 0; i < FINE; i++) {
        fine[2 * i] = (double)i / (FINE - 1);
        fine[2 * i + 1] = fine[2 * i] * fine[2 * i];
    }
    for (size_t k = 0; k < 2; k++) {
        size_t every = k ? 4 : 8, n = 0;
        for (size_t i = 0; i < FINE; i += every, n++)
            memcpy(&coarse[2 * n], &fine[2 * i], 2 * sizeof *fine);
        struct made a, b;
        errors[k] = between(make(&a, false, coarse, n), make(&b, false, fine, FINE), 0, 1, 1, 0).error;
        double h = (double)every / (FINE - 1);
        assert_near(errors[k], h * h / 4, 1e-15);
    }
    assert_near(errors[0] / errors[1], 4, 1e-12);
}

static void test_shifted_event(void **state)
{
    (void)state;
    const struct tt_curve *at_one = CURVE(false, 0, 0, 1, 0, 1, 5, 2, 5);
    const struct tt_curve *later = CURVE(false, 0, 0, 1.01, 0, 1.01, 5, 2, 5);
    assert_true(share(later, at_one, 0.1, 0.011) == 0);
    assert_true(share(later, at_one, 0.1, 0.009) == 50);
    struct tt_distance worst = between(later, at_one, 0, 2, 0.1, 0.001);
    assert_true(worst.time >= 1 && worst.time <= 1.01 && worst.result == 0 && worst.reference == 5);
    /* Held, of whatever grid. */
    assert_true(share(CURVE(true, 0, 0, 1, 5, 2, 5), CURVE(true, 0, 0, 0.5, 0, 1.01, 5, 1.5, 5, 2, 5), 0.1, 0.011) ==
                0);
    assert_true(share(CURVE(true, 0, 0, 1, 5, 2, 5), CURVE(true, 0, 0, 0.5, 0, 1.01, 5, 2, 5), 0.1, 0.009) == 50);
    /* The jump leads elsewhere. */
    assert_near(share(CURVE(false, 0, 0, 1, 0, 1, 6, 2, 6), at_one, 0.5, 0.01), 2, 1e-12);
    /* A slope is not a jump. */
    assert_true(share(CURVE(false, 0, 0, 1, 0, 1.5, 5, 2, 5), at_one, 0.1, 0.01) > 1);
}

static void test_pulses(void **state)
{
    (void)state;
    const struct tt_curve *flat = CURVE(false, 0, 0, 2, 0);
    const struct tt_curve *pulse = CURVE(false, 0, 0, 1, 0, 1, 1, 1.2, 1, 1.2, 0, 2, 0);
    assert_true(share(flat, pulse, 0.1, 0.01) == 10);
    assert_true(share(flat, pulse, 0.1, 1e-12) == 10);
    const struct tt_curve *needle = CURVE(false, 0, 0, 1, 0, 1.001, 3, 1.002, 0, 2, 0);
    assert_true(share(flat, needle, 0.1, 0.01) == 30);
    assert_true(share(CURVE(true, 0, 0, 2, 0), CURVE(true, 0, 0, 1, 1, 1.2, 0, 2, 0), 0.1, 0.01) == 10);
    /* Both jump at the same times, to opposite sides. */
    const struct tt_curve *up = CURVE(false, 0, 0, 1, 0, 1, 1, 2, 1, 2, 0, 3, 0);
    const struct tt_curve *down = CURVE(false, 0, 0, 1, 0, 1, -1, 2, -1, 2, 0, 3, 0);
    const struct tt_curve *first = CURVE(false, 0, 0, 1, 0, 1, 1, 2, 1, 2, 0);
    const struct tt_curve *second = CURVE(false, 0, 1, 1, 1, 1, 0, 2, 0, 2, 1);
    assert_true(share(up, down, 0.5, 0.001) == 4);
    assert_true(between(first, second, 0, 2, 0.5, 0.001).share == 2);
    assert_true(between(first, second, 1, 2, 0.5, 0.001).share == 2);
    assert_true(between(first, second, 1, 2, 0.5, 0).share == 2);
    /* They cross between jumps that hide both ends. */
    const struct tt_curve *rising = CURVE(false, 0, 0, 1, 0, 1, -1, 2, 1, 2, 0, 3, 0);
    const struct tt_curve *falling = CURVE(false, 0, 0, 1, 0, 1, 1, 2, -1, 2, 0, 3, 0);
    assert_true(share(rising, falling, 0.5, 1e-6) > 3.9);
}

static void test_held(void **state)
{
    (void)state;
    /* The same rows mean something else if they are held. */
    const double rows[] = {0, 0, 1, 0, 2, 4}, sparse[] = {0, 0, 2, 4};
    struct made a, b;
    assert_true(share(make(&a, true, sparse, 2), make(&b, true, rows, 3), 1, 0) == 0);
    assert_true(share(make(&a, false, sparse, 2), make(&b, false, rows, 3), 1, 0) == 2);
    /* Late by a row. */
    assert_true(share(CURVE(true, 0, 0, 1, 0, 2, 4, 3, 4), CURVE(true, 0, 0, 1, 4, 2, 4, 3, 4), 1, 0.001) == 4);
    /* Its last row is another one. */
    assert_true(share(CURVE(true, 0, 0, 1, 0), CURVE(true, 0, 0, 1, 1), 0.5, 0) == 2);
}

static void test_not_numbers(void **state)
{
    (void)state;
    const struct tt_curve *gap = CURVE(false, 0, 1, 1, NAN, 2, 1, 3, 1), *plain = CURVE(false, 0, 1, 1, 1, 2, 1, 3, 1);
    assert_true(share(gap, gap, 0, 0) == 0);
    assert_true(share(gap, gap, 0, 0.1) == 0);
    struct tt_distance worst = between(gap, plain, 0, 3, 100, 0);
    assert_true(isinf(worst.share) && isnan(worst.error) && isnan(worst.result) && worst.reference == 1);
    worst = between(plain, gap, 0, 3, 100, 0);
    assert_true(isinf(worst.share) && isnan(worst.error) && isnan(worst.reference) && worst.result == 1);
    assert_true(isinf(share(CURVE(false, 0, 1, 1, 1, 2, NAN, 3, 1), gap, 100, 0)));
    assert_true(share(plain, gap, 100, 0) > 1);
    assert_true(between(plain, gap, 2, 3, 0, 0).share == 0); /* after it */
    /* All of it. */
    assert_true(share(CURVE(false, 0, NAN, 1, NAN), CURVE(false, 0, NAN, 0.5, NAN, 1, NAN), 0, 0) == 0);
    assert_true(isinf(share(CURVE(false, 0, NAN, 1, NAN), CURVE(false, 0, 0, 1, 0), 1, 0)));
}

static void test_infinite(void **state)
{
    (void)state;
    const struct tt_curve *high = CURVE(false, 0, 1, 1, INFINITY, 2, 1);
    assert_true(share(high, high, 0, 0) == 0);
    assert_true(share(high, high, 1, 0.1) == 0);
    assert_true(isinf(share(CURVE(false, 0, 1, 1, -INFINITY, 2, 1), high, 1, 0)));
    assert_true(isinf(share(CURVE(false, 0, 1, 1, 1e308, 2, 1), high, 1, 0)));
    struct tt_distance worst = between(CURVE(true, 0, 1, 1, 1), CURVE(true, 0, INFINITY, 1, INFINITY), 0, 1, 0.1, 0);
    assert_true(isinf(worst.error) && isinf(worst.share) && worst.allowed == 0.1);
    assert_true(
        share(CURVE(false, 0, INFINITY, 2, INFINITY), CURVE(false, 0, INFINITY, 1, INFINITY, 2, INFINITY), 0, 0) == 0);
}

/* Where the range begins and ends one file may have both sides of an event, and the other one. */
static void test_ends(void **state)
{
    (void)state;
    const struct tt_curve *one = CURVE(false, 0, 5, 1, 5), *both = CURVE(false, 0, 0, 0, 5, 1, 5, 1, 9);
    assert_true(share(both, one, 0.1, 1e-6) == 0);
    assert_true(share(both, CURVE(false, 0, 0, 0, 5, 1, 5, 1, 8), 0.1, 1e-6) > 1);
    assert_true(share(both, CURVE(false, 0, 0, 1, 5), 0.1, 1e-6) > 1);
}

/* --- against the definition, row by row */

static double uniform(void)
{
    return rand() / (RAND_MAX + 1.0);
}

static const struct tt_curve *make_random(struct made *made, bool held)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0};
    size_t n = 1 + (size_t)(rand() % (MOST - 1));
    double t = 0;
    for (size_t i = 0; i < n; i++) {
        bool jump = i > 0 && rand() % 5 == 0 && (i < 2 || made->times[i - 2] < t);
        t += i == 0 || jump ? 0 : rand() % 3 ? 0.25 * (1 + rand() % 3) : uniform();
        made->times[i] = t;
        made->values[i] = rand() % 12 == 0 ? odd[rand() % 4] : rand() % 4 + (rand() % 2 ? uniform() : 0);
    }
    made->curve = (struct tt_curve){made->times, made->values, n, held};
    return &made->curve;
}

/* Left of t, right of t, and all rows there. */
static void add_at(const struct tt_curve *c, double t, double *values, size_t *count)
{
    for (size_t i = 0; i < c->rows; i++) {
        if (c->times[i] == t)
            values[(*count)++] = c->values[i];
        if (i + 1 < c->rows && c->times[i] < c->times[i + 1] && c->times[i] <= t && t <= c->times[i + 1]) {
            double x = (t - c->times[i]) / (c->times[i + 1] - c->times[i]);
            if (c->held)
                values[(*count)++] = c->values[i];
            else if (t > c->times[i] && t < c->times[i + 1])
                values[(*count)++] = isnan(c->values[i]) || isnan(c->values[i + 1]) ? NAN
                                     : isinf(c->values[i + 1])                      ? c->values[i + 1]
                                     : isinf(c->values[i])                          ? c->values[i]
                                                           : c->values[i] + (c->values[i + 1] - c->values[i]) * x;
        }
    }
}

/* How far is the value from all of these? NaN and infinities count as 1e9. */
static double off(double value, const double *values, size_t count)
{
    double low = INFINITY, high = -INFINITY;
    bool nan = false;
    for (size_t k = 0; k < count; k++) {
        nan |= isnan(values[k]);
        low = fmin(low, values[k]);
        high = fmax(high, values[k]);
    }
    if (isnan(value) ? !nan : low > high)
        return 1e9;
    return value > high ? fmin(value - high, 1e9) : value < low ? fmin(low - value, 1e9) : 0;
}

/* The largest distance of rows of `c` from the other's tube. */
static double rows_off(const struct tt_curve *c, const struct tt_curve *other, double end, double tau)
{
    double worst = 0;
    for (size_t i = 0; i < c->rows && c->times[i] <= end; i++) {
        double t = c->times[i], values[4 * MOST];
        double from = fmax(t - tau, 0), to = fmin(t + tau, other->times[other->rows - 1]);
        size_t count = 0;
        add_at(other, from, values, &count);
        add_at(other, to, values, &count);
        for (size_t k = 0; k < other->rows; k++)
            if (other->times[k] >= from && other->times[k] <= to)
                add_at(other, other->times[k], values, &count);
        worst = fmax(worst, off(c->values[i], values, count));
        if (c->held && i > 0 && t > 0)
            worst = fmax(worst, off(c->values[i - 1], values, count));
    }
    return worst;
}

static int compare_doubles(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* As above between the times of both, slightly inside the straight parts. */
static double pieces_off(const struct tt_curve *a, const struct tt_curve *r, double end, double tau)
{
    double times[2 * MOST + 1] = {end}, worst = 0;
    size_t n = 1;
    for (size_t i = 0; i < a->rows; i++)
        times[n++] = a->times[i];
    for (size_t i = 0; i < r->rows; i++)
        times[n++] = r->times[i];
    qsort(times, n, sizeof *times, compare_doubles);
    for (size_t i = 0; i + 1 < n && times[i] < end; i++) {
        double g = times[i], h = times[i + 1], tiny = 1e-9 * (h - g);
        if (!(h - g > 2 * tau))
            continue;
        for (int side = 0; side < 2; side++) {
            double t = side ? h - tau : g + tau, values[8];
            const double places[] = {t - tau, t + tau, t};
            size_t count = 0, first = 0;
            for (size_t k = 0; k < 3; k++) {
                first = count;
                add_at(k < 2 ? r : a, fmin(fmax(places[k], g + tiny), h - tiny), values, &count);
            }
            worst = fmax(worst, off(values[first], values, first));
        }
    }
    return worst;
}

static void test_random(void **state)
{
    (void)state;
    srand(7);
    size_t compared = 0;
    for (int turn = 0; turn < 20000; turn++) {
        struct made a, b;
        bool held = rand() % 3 == 0;
        make_random(&a, held);
        make_random(&b, held);
        double tau = rand() % 3 ? uniform() : 0, end = fmin(a.times[a.curve.rows - 1], b.times[b.curve.rows - 1]);
        bool twice = (a.curve.rows > 1 && a.times[1] == 0) != (b.curve.rows > 1 && b.times[1] == 0);
        if (end == 0 || twice)
            continue;
        end *= 0.9; /* between rows, or nearly always */
        compared++;
        struct tt_distance worst = between(&a.curve, &b.curve, 0, end, 1, tau);
        double expected = fmax(rows_off(&a.curve, &b.curve, end, tau), rows_off(&b.curve, &a.curve, end, tau));
        expected = fmax(expected, pieces_off(&a.curve, &b.curve, end, tau));
        assert_near(isnan(worst.error) ? 1e9 : fmin(worst.error, 1e9), expected, 1e-7);
        /* Whatever is allowed, more is allowed with more time. */
        assert_true(between(&a.curve, &b.curve, 0, end, 1, tau + 0.3).share <= worst.share + 1e-12);
    }
    assert_true(compared > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),          cmocka_unit_test(test_numbers),  cmocka_unit_test(test_interpolation),
        cmocka_unit_test(test_shifted_event), cmocka_unit_test(test_pulses),   cmocka_unit_test(test_held),
        cmocka_unit_test(test_not_numbers),   cmocka_unit_test(test_infinite), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests_name("record/curve", tests, NULL, NULL);
}
