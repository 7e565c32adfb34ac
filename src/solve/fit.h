/* SPDX-License-Identifier: MIT */
/* solve/fit.h - Levenberg and Marquardt's method, in bounds.
 *
 * Marquardt, J. SIAM 11 (1963) 431: (J'J + mu D) d = -J'r, here with D = diag(J'J) (More, Lecture Notes in Mathematics 630 (1978) 105) and Nielsen's rule for
 * mu (IMM-REP-1999-05). Unknowns that are at a bound and would leave it are held in this iteration; steps are cut at bounds (Kanzow, Yamashita, Fukushima,
 * J. Comput. Appl. Math. 172 (2004) 375). */
#ifndef TT_SOLVE_FIT_H
#define TT_SOLVE_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* A sum of squares to be made small, within bounds: min 1/2 |r(x)|^2, low <= x <= high. No knowledge of where r comes from. */

struct tt_fit_problem {
    size_t unknowns, residuals;
    const double *low, *high; /* -INFINITY, INFINITY: none */
    double difference;        /* how far unknowns, which are of the size of 1, are moved for differences */
    size_t most;              /* evaluations of r at most, in all */
    void *context;
    /* Evaluates r at x. *good: r has finite values; false is not an error: x is a bad point. Errors end the search. */
    enum tutti_err (*evaluate)(void *context, const double *x, double *r, bool *good);
    /* The Jacobian of r at x, column by column, if it is cheaper than differences; r is r(x), *evaluations counts its
     * cost. NULL: unavailable. */
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

/* From x, which must be a good place: ARGUMENT if not; to x. */
TUTTI_CHECKED enum tutti_err tt_fit_least_squares(const struct tt_fit_problem *problem, double *x,
                                                  struct tt_fit_result *result);

/* Searches without derivatives, by NLopt. */

/* BOBYQA: Powell, DAMTP 2009/NA06. NELDER_MEAD: Computer Journal 7 (1965) 308. SUBPLEX: Rowan 1990. DIRECT: Gablonsky, Kelley, J. Global Optimization 21
 * (2001) 27, in finite bounds; it does not look at x. */
enum tt_minimiser { TUTTI_MINIMISE_BOBYQA, TUTTI_MINIMISE_NELDER_MEAD, TUTTI_MINIMISE_SUBPLEX, TUTTI_MINIMISE_DIRECT };

/* From x to x. ARGUMENT if the method takes no such problem; SOLVER with NLopt's reason; errors of evaluate. */
TUTTI_CHECKED enum tutti_err tt_fit_minimise(const struct tt_fit_problem *problem, enum tt_minimiser method, double *x,
                                             struct tt_fit_result *result);

/* Student's distribution, for confidence intervals. */

/* Returns the number of standard errors, on both sides, that cover the share `confidence` (0.95), with `freedom`
 * degrees of freedom (> 0). */
double tt_fit_student_interval(double confidence, double freedom);

#endif
