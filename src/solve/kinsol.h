/* SPDX-License-Identifier: MIT */
/* kinsol.h - a system of nonlinear equations x = g(x), by Newton's method with line search: KINSOL (SUNDIALS).
 *
 * For algebraic loops: x are the outputs in the loop, g is what the models make of them, the Jacobian of the residual
 * x - g(x) is I - DL (Andersson 2016 eq. 5.8). */
#ifndef TT_SOLVE_KINSOL_H
#define TT_SOLVE_KINSOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "solve/pattern.h"

struct tt_fixed_point {
    size_t n;
    void *context;
    /* Computes g(x). An error ends the solution and is returned by tt_kinsol. *outside: g cannot be computed at x,
     * which is outside a model's domain or yields NaN; the solver tries a nearer point. */
    enum tutti_err (*evaluate)(void *context, const double *x, double *g, bool *outside);
    /* dg/dx at x, column-major, n * n, or, with a pattern, its entries; zeroed before the call; NULL: by differences. x was
     * evaluated last. Called once per iteration. */
    enum tutti_err (*jacobian)(void *context, const double *x, double *jacobian);
    const double *scale; /* typical sizes, > 0; NULL: all 1 */
    /* Where dg/dx is not zero, if that is worth it: the linear systems are solved by KLU. NULL: they are dense. Needs `jacobian`. */
    const struct tt_pattern *pattern;
    /* The linear systems are solved by GMRES with differences of g along directions; no `jacobian`, no `pattern`. */
    bool krylov;
    double distance; /* of differences, relative; 0: the root of the machine precision */
};

struct tt_kinsol_options {
    double tolerance;    /* of each residual, relative to the larger of scale and |x|; 0: 1e-10 */
    unsigned iterations; /* 0: 100 */
};

struct tt_newton_counts {
    unsigned long iterations, evaluations, jacobians;
    double residual; /* scaled, largest component, at the end */
    double
        distance; /* after a failure: of the last Jacobian from a singular one, relative, at least rounding; 0: not known */
};

/* Solves from the guess in `x`; the solution in `x` was evaluated last. SOLVER if no solution is found: then `x` holds
 * the last iterate, `residuals` (n, may be NULL) its x - g(x) (NaN if g has no value at the guess), and the message
 * gives the reason (singular Jacobian, no convergence, local minimum). `counts` may be NULL. A linear problem takes one
 * iteration, two if derivatives are differences; a guess that is a solution takes none. */
TUTTI_CHECKED enum tutti_err tt_kinsol(const struct tt_fixed_point *problem, const struct tt_kinsol_options *options,
                                       double *x, double *residuals, struct tt_newton_counts *counts);

/* A solver for repeated use on one problem, which allocates memory only on failures or with a pattern. Results do not
 * depend on earlier solutions. `problem`, `scale` and `pattern` are borrowed; `scale` may change between solutions. */
struct tt_kinsol;
TUTTI_CHECKED enum tutti_err tt_kinsol_new(struct tt_kinsol **out, const struct tt_fixed_point *problem);
void tt_kinsol_free(struct tt_kinsol *newton); /* NULL is fine */
TUTTI_CHECKED enum tutti_err tt_kinsol_solve(struct tt_kinsol *newton, const struct tt_kinsol_options *options,
                                             double *x, double *residuals, struct tt_newton_counts *counts);

#endif
