/* SPDX-License-Identifier: MIT */
/* base/time.h - points of simulated time: compared here and nowhere else, made by multiplication, never by adding up. */
#ifndef TT_BASE_TIME_H
#define TT_BASE_TIME_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Do a and b mean the same point? They do if they differ by rounding errors of a few operations on times of their own
 * size or of `span`, the length of the whole run: t0 + n h has such errors even where it is near 0. */
static inline bool tt_time_same(double a, double b, double span)
{
    double distance = fabs(a - b), scale = fabs(span);
    scale = fabs(a) > scale ? fabs(a) : scale; /* fmax would be a call */
    scale = fabs(b) > scale ? fabs(b) : scale;
    return a == b || (distance <= 8 * 2.220446049250313e-16 * scale && distance < INFINITY);
}

/* Has time come to `event`, up to rounding? */
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

/* The points start + n * step, n = 0, 1, ..., up to `stop`, which is always the last one, exactly. `next` is the first
 * point after the ones passed; `stop` when all are. */
struct tt_time_grid {
    double start, step, stop;
    int64_t last;       /* index of the point `stop` */
    int64_t next_index; /* of the first point that is not passed */
    double next;        /* that point */
};

/* step > 0, stop > start, both finite. A last interval shorter than rounding is no interval. */
void tt_time_grid_init(struct tt_time_grid *grid, double start, double step, double stop);

/* Point n of the grid. */
static inline double tt_time_grid_point(const struct tt_time_grid *grid, int64_t n)
{
    return n >= grid->last ? grid->stop : grid->start + (double)n * grid->step;
}

/* Passes every point at or before t (a point that is the same as t counts as passed). */
void tt_time_grid_pass_to(struct tt_time_grid *grid, double t);
static inline void tt_time_grid_pass(struct tt_time_grid *grid, double t)
{
    if (__builtin_expect(t == grid->next && t < grid->stop, 1)) /* the usual step: from point to point */
        grid->next = tt_time_grid_point(grid, ++grid->next_index);
    else
        tt_time_grid_pass_to(grid, t);
}

/* Is `stop - start` a whole number of steps, up to rounding? */
bool tt_time_grid_fits(double start, double step, double stop);

#endif
