/* SPDX-License-Identifier: MIT */
/* ode.h - an initial value problem x' = f(t, x), as a solver sees it.
 *
 * The code that poses the problem (unit/me.c for an FMU, a test for itself) fills in a struct tt_ode, which is all that
 * solvers use. jacobian.h computes Jacobians of it. */
#ifndef TT_SOLVE_ODE_H
#define TT_SOLVE_ODE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

/* How an evaluation ended; the numbers are those that SUNDIALS expects of its callbacks. */
enum tt_eval {
    TUTTI_EVAL_OK = 0,
    /* f cannot be computed at this point (not a number, Discard): a different point may work */
    TUTTI_EVAL_NO_VALUE = 1,
    TUTTI_EVAL_FAILED = -1, /* permanent failure; ode->err has the code, and the thread's error message the reason */
};

/* The entries of a matrix that may be nonzero, column by column: rows rows[starts[c]] ... rows[starts[c + 1] - 1],
 * ascending, of column c. The integers are those of KLU. */
struct tt_pattern {
    int32_t row_count, column_count;
    int32_t *starts; /* column_count + 1 */
    int32_t *rows;   /* starts[column_count] */
};

/* The problem with unknowns that are not eliminated: x' = f(t, x, w), w = g(t, x, w). For solvers of such equations
 * (ida.c); all functions have the context of the problem. */
struct tt_dae {
    size_t count; /* of w */
    enum tt_eval (*evaluate)(void *context, double t, const double *x, const double *w, double *dx, double *image);
    /* w at a point, as the right-hand side has it there: to begin with. */
    enum tt_eval (*find)(void *context, double t, const double *x, double *w);
    const struct tt_pattern *pattern; /* of (f, g) by (x, w); NULL: full. Borrowed, as are the fields below */
    const double *nominals;           /* of w; > 0 */
};

struct tt_ode {
    size_t count; /* states; at least 1 */
    void *context;
    /* Solvers count time from here: where they see t, the functions below get origin + t. A sum of steps far from 0 would round each of
     * them to the digits of t. */
    double origin;

    enum tt_eval (*rhs)(void *context, double t, const double *x, double *dx);
    /* out = df/dx(t, x) * seed. NULL: finite differences take its place. A problem that cannot keep what it promised
     * makes it NULL, and returns NO_VALUE for the last time. */
    enum tt_eval (*directional)(void *context, double t, const double *x, const double *seed, double *out);
    /* All of df/dx at once: its entries in the order of `pattern`, which must be there. For problems that know better
     * than colouring. NULL: made of `directional` or `rhs`. */
    enum tt_eval (*jacobian)(void *context, double t, const double *x, double *values);
    const struct tt_pattern *pattern; /* of df/dx; NULL: anything may depend on anything. Borrowed. */
    const struct tt_dae *dae;         /* the problem as a DAE; NULL if it has only the explicit form. Borrowed. */

    /* Error weights: a local error e is fine if the root mean square of e[i] / (rtol |x[i]| + atol nominals[i]) is at
     * most 1. All are > 0 but rtol, which may be 0. `nominals` is borrowed and may change between a restart and the
     * next. */
    double rtol, atol;
    const double *nominals;

    /* For messages; NULL: "x[i]". */
    const char *(*state_name)(void *context, size_t i);
    enum tutti_err err; /* after TUTTI_EVAL_FAILED */
};

/* The origin for a run from start to stop: only where all times are at most twice it, so that differences to it are exact (Sterbenz 1974,
 * theorem 4.3.1) and lead back to the same times. */
static inline double tt_ode_choose_origin(double start, double stop)
{
    return fabs(start) > stop - start ? start : 0;
}

/* The error that state i may have where it is x. */
static inline double tt_ode_tolerance(const struct tt_ode *ode, size_t i, double x)
{
    return ode->rtol * fabs(x) + ode->atol * ode->nominals[i];
}

/* Returns true if all values are finite. */
static inline bool tt_ode_is_finite(const struct tt_ode *ode, const double *x)
{
    bool finite = true;
    for (size_t i = 0; i < ode->count; i++)
        finite = finite && isfinite(x[i]);
    return finite;
}

/* f at a point, at a solver's time. A point that is none, because numbers of the solver have overflowed, is not shown to the problem. */
static inline enum tt_eval tt_ode_rhs(const struct tt_ode *ode, double t, const double *x, double *dx)
{
    if (__builtin_expect(!isfinite(t) || !tt_ode_is_finite(ode, x), 0))
        return TUTTI_EVAL_NO_VALUE;
    return ode->rhs(ode->context, ode->origin + t, x, dx);
}

#endif
