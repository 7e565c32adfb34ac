/* SPDX-License-Identifier: MIT */
/* sundials.h - the common part of the solvers of SUNDIALS (cvode.c, arkode.c, ida.c).
 *
 * Invariants:
 * 1. `x` are the states at base.t, `begin` those at base.before; during a step `begin` holds those at base.t, while
 *    SUNDIALS uses `x` as it likes.
 * 2. `fresh`: SUNDIALS has not been reinitialised since the last restart; step() does so first.
 * 3. SUNDIALS prints nothing: every memory block gets tt_sundials_ignore_message for its error handler before anything else. */
#ifndef TT_SOLVE_SUNDIALS_H
#define TT_SOLVE_SUNDIALS_H

#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

#include "solve/jacobian.h"
#include "solve/solver.h"

/* Counters of SUNDIALS; they restart when it is reinitialised. */
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
    double stop; /* the stop time set in SUNDIALS; NaN: none */
    struct tt_sundials_counters seen;

    /* by the last evaluation of the problem in this step; after FAILED the problem is not evaluated again */
    enum tt_eval met;
    bool lost;           /* in this step SUNDIALS has requested a time that is not a number */
    size_t blamed;       /* the state in the way, when that was last NO_VALUE */
    unsigned long since; /* accepted steps since then */

    /* Of implicit methods: */
    struct tt_jacobian jacobian;
    SUNMatrix matrix;                  /* I - gamma J */
    struct tt_shifted_pattern shifted; /* pattern of the matrix; empty if dense */
    SUNLinearSolver linear;
};

/* The common part of start(); tt_sundials_finish also after a failed one. */
TUTTI_CHECKED enum tutti_err tt_sundials_start(struct tt_sundials *sundials);
void tt_sundials_finish(struct tt_sundials *sundials);
/* Creates the Jacobian of `ode`, the matrix and the linear solver: SUNDIALS' dense one, or KLU; for vectors like
 * `vector`. With options.linear KRYLOV it creates only GMRES (SUNLinSol_SPGMR; Saad, Schultz, SIAM J. Sci. Stat.
 * Comput. 7, 1986), without a preconditioner. */
TUTTI_CHECKED enum tutti_err tt_sundials_start_linear(struct tt_sundials *sundials, struct tt_ode *ode, N_Vector like);
/* The error of a start(): TUTTI_OK, or SUNDIALS' flag (or NULL) as an error. Only memory can be the reason. */
TUTTI_CHECKED enum tutti_err tt_sundials_check(const struct tt_sundials *sundials, int flag);

/* The common part of restart(): copies x, makes the absolute tolerances. */
void tt_sundials_restart(struct tt_sundials *sundials, const double *x);

/* Callbacks of SUNDIALS; `data` is a struct tt_sundials. */
int tt_sundials_rhs(realtype t, N_Vector x, N_Vector dx, void *data);
void tt_sundials_ignore_message(int code, const char *module, const char *function, char *message, void *data);
/* Computes the matrix I - gamma J at (t, x), where f is dx. With `current` J is reused, which may belong to an earlier
 * point. *renewed: J was evaluated. Returns the code that SUNDIALS expects. */
int tt_sundials_system(struct tt_sundials *sundials, realtype t, N_Vector x, N_Vector dx, booleantype current,
                       booleantype *renewed, realtype gamma);

/* Computes product = J vector at (t, x), for GMRES: by a directional derivative of the problem, otherwise by a
 * difference. Returns the code that SUNDIALS expects. */
int tt_sundials_product(struct tt_sundials *sundials, realtype t, N_Vector x, N_Vector vector, N_Vector product,
                        N_Vector scratch);

/* Adds the increase of the counters to those of the solver; true if there was a step. */
bool tt_sundials_count(struct tt_sundials *sundials, const struct tt_sundials_counters *now);

/* Returns true if the interval to the limit is too short for SUNDIALS to resolve. */
bool tt_sundials_is_too_close(const struct tt_sundials *sundials, double limit);
/* Makes such a step by Euler's method. The method restarts after it. */
TUTTI_CHECKED enum tutti_err tt_sundials_euler_step(struct tt_sundials *sundials, double limit, double *x);

/* Completes an accepted step: sets base.before, base.t and x. Fails if the time has not advanced. */
TUTTI_CHECKED enum tutti_err tt_sundials_finish_step(struct tt_sundials *sundials, double t, double h, double *x);
/* Interpolation where no method is needed: at base.t, and in a hop. False elsewhere. */
bool tt_sundials_interpolate(const struct tt_sundials *sundials, double t, double *x);

/* For callbacks: records that there is no value at `point`, where derivatives are `slope`. */
void tt_sundials_blame(struct tt_sundials *sundials, const double *point, const double *slope);

/* SUNDIALS gave up with `flag` (CVODE, ARKODE and IDA have the same numbers) after trying h; `errors` are the local errors, or
 * the corrections, of the last attempt. */
enum tutti_err tt_sundials_fail(struct tt_sundials *sundials, int flag, double h, N_Vector errors);

#endif
