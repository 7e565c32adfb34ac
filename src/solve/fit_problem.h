/* SPDX-License-Identifier: MIT */
/* solve/fit_problem.h - a sum of squares to be made small, within bounds: min 1/2 |r(x)|^2, low <= x <= high. No knowledge of where r comes from. */
#ifndef TT_SOLVE_FIT_PROBLEM_H
#define TT_SOLVE_FIT_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

struct tt_fit_problem {
    size_t unknowns, residuals;
    const double *low, *high; /* -INFINITY, INFINITY: none */
    double difference;        /* how far unknowns, which are of the size of 1, are moved for differences */
    size_t most;              /* evaluations of r at most, in all */
    void *context;
    /* *good: r has values there, all finite; false is no error: x is taken for a bad place. Errors end the search. */
    enum tutti_err (*evaluate)(void *context, const double *x, double *r, bool *good);
    /* The Jacobian of r at x, column by column, where it can be had for less than differences; r is r(x), *evaluations counts what it takes. NULL: it cannot. */
    enum tutti_err (*jacobian)(void *context, const double *x, const double *r, double *jacobian, size_t *evaluations,
                               bool *good);
};

/* How a search ended. */
enum tt_fit_end {
    TUTTI_FIT_CONVERGED, /* no better place is near */
    TUTTI_FIT_FLAT,      /* nothing that moves changes anything */
    TUTTI_FIT_GAVE_UP,   /* `most` evaluations were made */
};

struct tt_fit_result {
    enum tt_fit_end end;
    double cost; /* |r|^2 at x */
    size_t evaluations, iterations;
};

/* The Jacobian of r at x, column by column, by central differences of `size`, on one side where a bound is near; `r` is r(x). *good as of evaluate. */
TUTTI_CHECKED enum tutti_err tt_fit_differences(const struct tt_fit_problem *problem, const double *x, const double *r,
                                                double size, double *jacobian, size_t *evaluations, bool *good);
/* The best that there is: the problem's own, or by differences of the problem's size. */
TUTTI_CHECKED enum tutti_err tt_fit_jacobian(const struct tt_fit_problem *problem, const double *x, const double *r,
                                             double *jacobian, size_t *evaluations, bool *good);

#endif
