/* SPDX-License-Identifier: MIT */
/* bdf.h - what bdf.c (steps), bdf_newton.c (the implicit equation) and bdf_resume.c (another right-hand side) share. */
#ifndef TUTTI_SOLVE_BDF_H
#define TUTTI_SOLVE_BDF_H

#include "solve/jacobian.h"
#include "solve/linear.h"
#include "solve/nordsieck.h"
#include "solve/solver.h"

/* All that the method remembers from step to step, but for vectors and matrices. Plain bytes: saved as they are. */
struct tutti_bdf_memory {
    double before, t; /* as in struct tutti_solver; for save and restore */

    bool fresh;                      /* no step was made since the restart */
    enum tutti_predictor correction; /* to be made before the next step; PROCEED: none */
    int order;                       /* of the array */
    double h, steps[TUTTI_NORDSIECK_ROWS];

    int next_order;
    double next_h;  /* wanted, without a look at where the caller wants to stop */
    double stretch; /* the next step may be as many times longer without harm */
    int wait;       /* steps until another order is thought of */
    double growth;  /* bound of the next change of h */
    double e_scale; /* scale of the step that e_before is of; 0: there is no e_before */
    /* The norm of the last step's e, and the step's size; 0: there was none that tells of the array as it is. */
    double move, move_h;

    double gamma;       /* h / l_1 of the factorisation */
    double order_gamma; /* that of the matrix by which the order of its rows was found */
    double rate;        /* of convergence of Newton's method, as seen last */
    bool has_jacobian, has_lu;
    unsigned jacobian_age, lu_age; /* in steps */
};

struct tutti_bdf {
    struct tutti_solver solver;
    struct tutti_bdf_memory m;
    struct tutti_nordsieck array;
    struct tutti_jacobian jacobian;
    struct tutti_lu *lu;
    bool lu_lost; /* by restore: to be made again of the same numbers */

    double *block;     /* holds all vectors: */
    double *predicted; /* rows, as array.z */
    double *e_before;  /* e of the step before; of the same order and right-hand side */
    /* Of the attempt at hand: x = predicted + e, f there, a correction of e; error weights are taken about scale_point. */
    double *e, *x, *dx, *delta, *scale_point;
    double *jump, *drift, *beyond; /* of bdf_resume.c */
};

enum tutti_bdf_outcome { TUTTI_BDF_CONVERGED, TUTTI_BDF_DIVERGED, TUTTI_BDF_FAILED };
enum tutti_bdf_trust { TUTTI_BDF_TRUST, TUTTI_BDF_REFACTOR, TUTTI_BDF_REEVALUATE };

/* The step that is made of the wanted one, knowing where the way ends. It may be `stretch` times longer. */
double tutti_bdf_fit(const struct tutti_bdf *bdf, double limit, double wanted, double stretch);

/* bdf_newton.c. Solves for the step from the prediction to time t: leaves x, and e = x - predicted. `trust`: how far the
 * matrices at hand are to be trusted. *eval and *worst say what was wrong. */
enum tutti_err tutti_bdf_solve(struct tutti_bdf *bdf, double t, const struct tutti_nordsieck_step *step,
                               enum tutti_bdf_trust trust, enum tutti_bdf_outcome *outcome, enum tutti_eval *eval,
                               size_t *worst);
/* Factorises I / gamma - J; `evaluate`: after an evaluation of J at (t, x), dx being f there. FAILED: no such matrix. */
enum tutti_err tutti_bdf_set_up(struct tutti_bdf *bdf, double t, double gamma, bool evaluate,
                                enum tutti_bdf_outcome *outcome, enum tutti_eval *eval);
/* Makes the factorisation that was lost by restore(), if it was: to the bit what it was. */
enum tutti_err tutti_bdf_recover(struct tutti_bdf *bdf);

/* bdf_resume.c. resume() of the vtable; and its second half, at the beginning of the next step, when it is known how far
 * f may be evaluated. May restart. */
enum tutti_err tutti_bdf_resume(struct tutti_solver *solver, double t);
enum tutti_err tutti_bdf_correct(struct tutti_bdf *bdf, double limit);

#endif
