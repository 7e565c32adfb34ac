/* SPDX-License-Identifier: MIT */
/* sundials.h - what the solvers of SUNDIALS (cvode.c, arkode.c, ida.c) have in common.
 *
 * Invariants:
 * 1. `x` are the states at base.t, `begin` those at base.before; during a step `begin` holds those at base.t, while
 *    SUNDIALS uses `x` as it likes.
 * 2. `fresh`: SUNDIALS has not been told of the last restart yet; step() does so first.
 * 3. SUNDIALS prints nothing: every memory block gets tt_sundials_ignore_message for its error handler before anything else. */
#ifndef TT_SOLVE_SUNDIALS_H
#define TT_SOLVE_SUNDIALS_H

#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

#include "solve/jacobian.h"
#include "solve/solver.h"

/* Counters of SUNDIALS; they begin anew when it is reinitialised. */
struct tt_sundials_counters {
    long steps, error_failures, solve_failures, iterations;
};

struct tt_sundials {
    struct tt_solver base;
    SUNContext context;
    N_Vector states;  /* on x */
    N_Vector weights; /* absolute tolerances */
    N_Vector scratch, more_scratch;
    double *x, *begin;
    bool fresh;
    bool hopped; /* the last step was tt_sundials_euler_step's */
    double stop; /* the stop time that SUNDIALS knows of; NaN: none */
    struct tt_sundials_counters seen;

    enum tt_eval met;    /* by the last evaluation of the problem in this step; after FAILED there is no other */
    bool lost;           /* in this step: SUNDIALS asks for a time that is no number */
    size_t blamed;       /* the state in the way, when that was last NO_VALUE */
    unsigned long since; /* accepted steps since then */

    /* Of implicit methods: */
    struct tt_jacobian jacobian;
    SUNMatrix matrix;                  /* I - gamma J */
    struct tt_shifted_pattern shifted; /* ... its pattern; empty if dense */
    SUNLinearSolver linear;
};

/* The common part of start(); tt_sundials_finish also after a failed one. */
TUTTI_CHECKED enum tutti_err tt_sundials_start(struct tt_sundials *sundials);
void tt_sundials_finish(struct tt_sundials *sundials);
/* Jacobian of `ode`, matrix and linear solver: SUNDIALS' dense one, or KLU; for vectors like this one. With options.linear KRYLOV neither of the
 * first two, but GMRES (SUNLinSol_SPGMR; Saad, Schultz, SIAM J. Sci. Stat. Comput. 7, 1986), without a preconditioner. */
TUTTI_CHECKED enum tutti_err tt_sundials_start_linear(struct tt_sundials *sundials, struct tt_ode *ode, N_Vector like);
/* The error of a start(): TUTTI_OK, or SUNDIALS' flag (or NULL) as an error. Only memory can be the reason. */
TUTTI_CHECKED enum tutti_err tt_sundials_check(const struct tt_sundials *sundials, int flag);

/* The common part of restart(): copies x, makes the absolute tolerances. */
void tt_sundials_restart(struct tt_sundials *sundials, const double *x);

/* Callbacks of SUNDIALS; `data` is a struct tt_sundials. */
int tt_sundials_rhs(realtype t, N_Vector x, N_Vector dx, void *data);
void tt_sundials_ignore_message(int code, const char *module, const char *function, char *message, void *data);
/* The matrix I - gamma J at (t, x), where f is dx. With `current` (the Jacobian may be an old one) J is kept. Evaluated
 * anew: *renewed. Returns what SUNDIALS expects. */
int tt_sundials_system(struct tt_sundials *sundials, realtype t, N_Vector x, N_Vector dx, booleantype current,
                       booleantype *renewed, realtype gamma);

/* product = J vector at (t, x), for GMRES: by a directional derivative of the problem, else by a difference. Returns what SUNDIALS expects. */
int tt_sundials_product(struct tt_sundials *sundials, realtype t, N_Vector x, N_Vector vector, N_Vector product,
                        N_Vector scratch);

/* Adds what the counters have gained to those of the solver; true if there was a step. */
bool tt_sundials_count(struct tt_sundials *sundials, const struct tt_sundials_counters *now);

/* Is the way to the limit too short for SUNDIALS, which would not tell its ends apart? */
bool tt_sundials_is_too_close(const struct tt_sundials *sundials, double limit);
/* Then this is the step: Euler's. The method begins anew after it. */
TUTTI_CHECKED enum tutti_err tt_sundials_euler_step(struct tt_sundials *sundials, double limit, double *x);

/* The end of an accepted step: sets base.before, base.t and x. Fails if time stands still. */
TUTTI_CHECKED enum tutti_err tt_sundials_finish_step(struct tt_sundials *sundials, double t, double h, double *x);
/* Interpolation where no method is needed: at base.t, and in a hop. False elsewhere. */
bool tt_sundials_interpolate(const struct tt_sundials *sundials, double t, double *x);

/* For callbacks: there is no value at `point`, where derivatives are `slope`. */
void tt_sundials_blame(struct tt_sundials *sundials, const double *point, const double *slope);

/* SUNDIALS gave up with `flag` (CVODE, ARKODE and IDA have the same numbers) after trying h; `errors` are the local errors, or
 * the corrections, of the last attempt. */
enum tutti_err tt_sundials_fail(struct tt_sundials *sundials, int flag, double h, N_Vector errors);

#endif
