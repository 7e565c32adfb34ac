/* SPDX-License-Identifier: MIT */
/* jacobian.h - df/dx of a problem, with as few evaluations as its pattern allows.
 *
 * Columns that share no row are evaluated together (Curtis, Powell, Reid 1974; Andersson 2016 section 9.1.1): in one directional
 * derivative, or in one difference of right-hand sides. */
#ifndef TT_SOLVE_JACOBIAN_H
#define TT_SOLVE_JACOBIAN_H

#include "solve/pattern.h"
#include "solve/solver.h"

struct tt_jacobian {
    struct tt_ode *ode; /* borrowed */
    struct tt_colouring colouring;
    struct tt_pattern full; /* if sparse, though the problem has no pattern */
    /* values are pattern entries; otherwise all count x count entries, column by column */
    bool sparse;
    bool plain;                     /* mode PLAIN: the pattern is not used */
    double *values;                 /* after an update */
    double *seed, *product, *point; /* scratch, count each; seed is zero between uses */
    double *entries;                /* output of ode->jacobian for dense values; otherwise NULL */
};

/* Initialises a Jacobian. `mode` AUTO decides by the pattern (tt_pattern_is_worth_sparse). SPARSE without a pattern
 * uses a full one. PLAIN is dense and evaluates column by column. A problem's `jacobian` function is used in any mode. */
TUTTI_CHECKED enum tutti_err tt_jacobian_init(struct tt_jacobian *jacobian, struct tt_ode *ode,
                                              enum tt_jacobian_mode mode);
void tt_jacobian_fini(struct tt_jacobian *jacobian);

/* Evaluates at (t, x) into `values`; `dx` is f there, `h` the size of the current step (scale of differences; may be
 * 0). Counts go to `counts`. After NO_VALUE or FAILED, `values` are undefined. */
enum tt_eval tt_jacobian_update(struct tt_jacobian *jacobian, double t, const double *x, const double *dx, double h,
                                struct tt_solver_counts *counts);
/* As tt_jacobian_update, into memory of the caller, laid out as `sparse` says. */
enum tt_eval tt_jacobian_evaluate(struct tt_jacobian *jacobian, double t, const double *x, const double *dx, double h,
                                  double *values, struct tt_solver_counts *counts);
/* Its pattern if sparse: the problem's, or a full one. NULL if dense. */
const struct tt_pattern *tt_jacobian_pattern(const struct tt_jacobian *jacobian);

#endif
