/* SPDX-License-Identifier: MIT */
#include "base/time.h"

#include <math.h>

/* Returns the number of steps from start to stop if it is whole up to rounding; otherwise 0. */
static double count_whole_steps(double start, double step, double stop)
{
    double whole = nearbyint((stop - start) / step);
    return tt_time_same(start + whole * step, stop, stop - start) ? whole : 0;
}

void tt_time_grid_init(struct tt_time_grid *grid, double start, double step, double stop)
{
    double whole = count_whole_steps(start, step, stop);
    double last = whole > 0 ? whole : ceil((stop - start) / step);
    /* Beyond 2^53 consecutive steps are indistinguishable; such a run would not end in any case. */
    last = fmin(fmax(last, 1), 9007199254740992.0);
    *grid = (struct tt_time_grid){start, step, stop, (int64_t)last, 1, 0};
    grid->next = tt_time_grid_point(grid, 1);
}

void tt_time_grid_pass_to(struct tt_time_grid *grid, double t)
{
    double span = grid->stop - grid->start;
    /* Usually one point is passed; after a long step the index is computed, not counted up. */
    double guess = floor((t - grid->start) / grid->step) - 1;
    if (guess > (double)grid->next_index)
        grid->next_index = guess < (double)grid->last ? (int64_t)guess : grid->last;
    while (grid->next_index < grid->last) {
        double point = tt_time_grid_point(grid, grid->next_index);
        if (point > t && !tt_time_same(point, t, span))
            break;
        grid->next_index++;
    }
    grid->next = tt_time_grid_point(grid, grid->next_index);
}

bool tt_time_grid_fits(double start, double step, double stop)
{
    return count_whole_steps(start, step, stop) > 0;
}

__extension__ typedef unsigned __int128 wide;

/* 113 bits: a sum of two doubles and a quotient of 64-bit numbers is rounded twice in it, far below what a double shows. */
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad; /* has 113 bits on platforms without __float128 */
#endif

static uint64_t time_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

double tt_time_fraction_value(struct tt_fraction fraction)
{
    return (double)((quad)fraction.counter / (quad)fraction.resolution);
}

double tt_time_instant_round(const struct tt_instant *instant)
{
    return (double)((quad)instant->base + (quad)instant->after.counter / (quad)instant->after.resolution);
}

/* value = *n / *d exactly; false: it takes more than 127 bits. */
static bool time_ratio_of_double(double value, wide *n, wide *d)
{
    int exponent;
    double mantissa = frexp(value, &exponent); /* in [0.5, 1) */
    uint64_t whole = (uint64_t)ldexp(mantissa, 53);
    exponent -= 53;
    if (exponent > 10 || exponent < -126)
        return false;
    *n = exponent > 0 ? (wide)whole << exponent : whole;
    *d = exponent < 0 ? (wide)1 << -exponent : 1;
    return true;
}

bool tt_time_fraction_of(double value, struct tt_fraction *out)
{
    *out = (struct tt_fraction){0, 1};
    if (value == 0)
        return true;
    wide n, d;
    if (!(value > 0) || !isfinite(value) || !time_ratio_of_double(value, &n, &d))
        return false;
    wide p = 1, p_before = 0, q = 0, q_before = 1; /* convergents p / q */
    while (d != 0) {
        wide term = n / d, rest = n % d, p_next, q_next;
        if (__builtin_mul_overflow(term, p, &p_next) || __builtin_add_overflow(p_next, p_before, &p_next) ||
            __builtin_mul_overflow(term, q, &q_next) || __builtin_add_overflow(q_next, q_before, &q_next) ||
            p_next > UINT64_MAX || q_next > UINT64_MAX)
            return false;
        p_before = p;
        q_before = q;
        p = p_next;
        q = q_next;
        *out = (struct tt_fraction){(uint64_t)p, (uint64_t)q};
        if (tt_time_fraction_value(*out) == value)
            return true;
        n = d;
        d = rest;
    }
    return false;
}

void tt_time_instant_move_far(struct tt_instant *instant, struct tt_fraction by)
{
    struct tt_fraction *to = &instant->after;
    uint64_t divisor = time_common_divisor(to->resolution, by.resolution), resolution, counter, other;
    /* Both as parts of one resolution, unless that or their sum has more than 64 bits. */
    if (__builtin_mul_overflow(to->resolution, by.resolution / divisor, &resolution) ||
        __builtin_mul_overflow(to->counter, by.resolution / divisor, &counter) ||
        __builtin_mul_overflow(by.counter, to->resolution / divisor, &other) ||
        __builtin_add_overflow(counter, other, &counter)) {
        instant->base = tt_time_of_instant(instant);
        *to = by;
    } else {
        *to = (struct tt_fraction){counter, resolution};
    }
}
