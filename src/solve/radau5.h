/* SPDX-License-Identifier: MIT */
#ifndef TT_SOLVE_RADAU5_H
#define TT_SOLVE_RADAU5_H

#include "solve/jacobian.h"
#include "solve/lu.h"

/* The numbers of Radau IIA of order 5: Hairer, Wanner, Solving ODEs II (2nd ed. 1996), IV.5, IV.8. */

enum { TUTTI_RADAU5_STAGES = 3 };

struct tt_radau5_method {
    double c[TUTTI_RADAU5_STAGES];                      /* the nodes: zeros of s^3 - 9/5 s^2 + 9/10 s - 1/10 */
    double a[TUTTI_RADAU5_STAGES][TUTTI_RADAU5_STAGES]; /* table IV.5.6; its last row are the weights */
    /* Eigenvalues of A^-1, zeros of s^3 - 9 s^2 + 36 s - 60: gamma, and alpha +- i beta. */
    double gamma, alpha, beta;
    /* T^-1 A^-1 T = (gamma 0 0; 0 alpha -beta; 0 beta alpha), "The Linear System" */
    double t[TUTTI_RADAU5_STAGES][TUTTI_RADAU5_STAGES], t_inverse[TUTTI_RADAU5_STAGES][TUTTI_RADAU5_STAGES];
    double e[TUTTI_RADAU5_STAGES]; /* of the error estimate, times gamma: "Step Size Selection" */
};

extern const struct tt_radau5_method tt_radau5_method;

/* The polynomial of degree 3 that is 0 at 0 and z_i at c_i has the value sum_i weights_i z_i at s. */
void tt_radau5_weights(double s, double weights[TUTTI_RADAU5_STAGES]);

/* The implicit equations of a step of radau5, and its error estimate. */

enum { TUTTI_RADAU5_ITERATIONS = 7 }; /* maximum; IV.8 recommends 7 to 10 */

/* A step to be tried: from (t, x), where f is dx, to `end`. Borrowed. */
struct tt_radau5_attempt {
    double t, h, end;
    const double *x, *dx;
};

enum tt_radau5_result {
    TUTTI_RADAU5_CONVERGED,
    TUTTI_RADAU5_DIVERGED, /* or too slow; or the matrix is singular */
    TUTTI_RADAU5_NO_VALUE,
    TUTTI_RADAU5_ERROR, /* permanent failure: `err` */
};

/* Embedded in the solver; all vectors are stage after stage. */
struct tt_radau5_newton {
    struct tt_solver *solver; /* borrowed */
    struct tt_jacobian jacobian;
    struct tt_lu *real, *complex;
    double h_factorised; /* the step that the factors are for, or will be; 0: none */
    bool factorised;     /* they are there; if not, the next solution makes them */
    double eta;          /* theta / (1 - theta) of the last iteration; kept from step to step */

    double *z;         /* unknowns: differences of the stages from x. In: a first guess; out: the solution */
    double *w;         /* the transformed unknowns: w = T^-1 z */
    double *slopes;    /* f at the stages */
    double *delta;     /* of w */
    double *increment; /* of z */
    double *point;     /* scratch, count */

    /* Of the last solution: */
    int iterations;
    double theta; /* rate of convergence; 0 after a single iteration */
    size_t worst; /* the state that changed most in the last iteration, or that is to blame for a missing value */
    enum tutti_err err;
};

TUTTI_CHECKED enum tutti_err tt_radau5_newton_init(struct tt_radau5_newton *newton, struct tt_solver *solver);
void tt_radau5_newton_fini(struct tt_radau5_newton *newton);

/* A new Jacobian for this step. */
enum tt_radau5_result tt_radau5_newton_renew(struct tt_radau5_newton *newton, const struct tt_radau5_attempt *attempt);
/* Solves for z, until errors of Newton's method are at most `tolerance` in the norm. */
enum tt_radau5_result tt_radau5_newton_solve(struct tt_radau5_newton *newton, const struct tt_radau5_attempt *attempt,
                                             double tolerance);
/* After a solution, the estimate error = (gamma / h I - J)^-1 (dx + (e_1 z_1 + e_2 z_2 + e_3 z_3) / h). dx is f at the
 * beginning of the step; or, for the second estimate, f nearby. */
void tt_radau5_newton_error(struct tt_radau5_newton *newton, double h, const double *dx, double *error);

#endif
