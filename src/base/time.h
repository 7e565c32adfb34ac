/* SPDX-License-Identifier: MIT */
/* base/time.h - points of simulated time: compared here and nowhere else, made by multiplication, never by adding up. */
#ifndef TT_BASE_TIME_H
#define TT_BASE_TIME_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns true if a and b are one point in time: they differ by the rounding errors of a few operations on times of
 * their size or of `span`, the length of the run. (t0 + n h has such errors even near 0.) */
static inline bool tt_time_same(double a, double b, double span)
{
    double distance = fabs(a - b), scale = fabs(span);
    scale = fabs(a) > scale ? fabs(a) : scale; /* fmax would be a call */
    scale = fabs(b) > scale ? fabs(b) : scale;
    return a == b || (distance <= 8 * 2.220446049250313e-16 * scale && distance < INFINITY);
}

/* Returns true if t has reached `event`, up to rounding. */
static inline bool tt_time_reached(double t, double event, double span)
{
    return t >= event || (event < INFINITY && tt_time_same(t, event, span));
}

/* The step from t that ends at `end` to the bit wherever a double allows it: t + h == end. */
static inline double tt_time_step(double t, double end)
{
    double h = end - t;
    h += end - (t + h); /* the rounding error of the sum, which h has room for */
    return h;
}

/* The points start + n * step, n = 0, 1, ..., up to `stop`, which is always the last point, exactly. `next` is the
 * first point not yet passed; `stop` when all are. */
struct tt_time_grid {
    double start, step, stop;
    int64_t last;       /* index of the point `stop` */
    int64_t next_index; /* of the first point that is not passed */
    double next;        /* that point */
};

/* Initialises a grid; step > 0, stop > start, both finite. A last interval shorter than rounding errors is dropped. */
void tt_time_grid_init(struct tt_time_grid *grid, double start, double step, double stop);

/* Point n of the grid. */
static inline double tt_time_grid_point(const struct tt_time_grid *grid, int64_t n)
{
    return n >= grid->last ? grid->stop : grid->start + (double)n * grid->step;
}

/* Passes every point at or before t, up to rounding. */
void tt_time_grid_pass_to(struct tt_time_grid *grid, double t);
static inline void tt_time_grid_pass(struct tt_time_grid *grid, double t)
{
    if (__builtin_expect(t == grid->next && t < grid->stop, 1)) /* the usual step: from point to point */
        grid->next = tt_time_grid_point(grid, ++grid->next_index);
    else
        tt_time_grid_pass_to(grid, t);
}

/* Returns true if `stop - start` is a whole number of steps, up to rounding. */
bool tt_time_grid_fits(double start, double step, double stop);

/* Points of simulated time at which clocks tick, without rounding errors that add up.
 *
 * An instant is base + counter / resolution, in seconds: counters and resolutions are whole numbers, as clocks of FMI 3.0 have them, and only
 * what is made of them for a step is a double, rounded once. */

struct tt_fraction {
    uint64_t counter, resolution; /* resolution > 0 */
};

/* Plain data. */
struct tt_instant {
    double base; /* finite; for clocks the start of the run, unless fractions do not go together any more */
    struct tt_fraction after;
};

/* Finds the first convergent of the continued fraction whose nearest double is `value`: 0.1 is 1/10, 0.3333333333333333
 * is 1/3. False if it is negative, not finite, or not representable by 64-bit numbers. */
bool tt_time_fraction_of(double value, struct tt_fraction *out);
double tt_time_fraction_value(struct tt_fraction fraction);

/* As tt_time_of_instant and _move, for the cases that these do not handle. */
double tt_time_instant_round(const struct tt_instant *instant);
void tt_time_instant_move_far(struct tt_instant *instant, struct tt_fraction by);

/* Returns the nearest double. A quotient of numbers that doubles hold is rounded once by a division of doubles, and to
 * the same double by way of the 113 bits of tt_time_instant_round: those are more than 2 x 53 + 1, so that rounding
 * twice makes no difference (Figueroa 1995, When is double rounding innocuous?). */
static inline double tt_time_of_instant(const struct tt_instant *instant)
{
    const uint64_t most = (uint64_t)1 << 53;
    if (instant->base == 0 && instant->after.counter <= most && instant->after.resolution <= most)
        return (double)(int64_t)instant->after.counter / (double)(int64_t)instant->after.resolution;
    return tt_time_instant_round(instant);
}

/* Moves the instant on by a fraction: exactly, unless the common resolution, or the counter, has more than 64 bits; then it is rounded to a
 * double first, which becomes the base. */
static inline void tt_time_instant_move(struct tt_instant *instant, struct tt_fraction by)
{
    uint64_t sum;
    if (instant->after.resolution == by.resolution && !__builtin_add_overflow(instant->after.counter, by.counter, &sum))
        instant->after.counter = sum;
    else
        tt_time_instant_move_far(instant, by);
}

#endif
