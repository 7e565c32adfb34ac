/* SPDX-License-Identifier: MIT */
/* cvode.h - the interface of CVODE's two methods for a solver that combines them (stiff_switch.c). */
#ifndef TT_SOLVE_CVODE_H
#define TT_SOLVE_CVODE_H

#include "solve/solver.h"

/* ARGUMENT if options.predictor is one that CVODE has not. */
TUTTI_CHECKED enum tutti_err tt_cvode_check_predictor(const struct tt_solver *solver);

/* The last step of a solver of kind cvode or adams. */
struct tt_cvode_step {
    int order;
    double h;
    double error; /* the estimate of its local error, in tolerances */
};
struct tt_cvode_step tt_cvode_last_step(struct tt_solver *solver);
/* || h^k x^(k) || there, in tolerances; k is at most the order of the step. */
double tt_cvode_derivative(struct tt_solver *solver, int k);
/* Returns the norm of the latest Jacobian of kind cvode, in the matrix norm induced by the maximum of errors in
 * tolerances; 0 before the first Jacobian. */
double tt_cvode_jacobian_norm(const struct tt_solver *solver);

#endif
