/* SPDX-License-Identifier: MIT */
/* step_operator.h - what one macro step of a given size makes of the states and outputs of linear units that are solved exactly, with
 * any coupling and for any mixture of units (Awais 2015 eq. 4.7; Andersson 2016 eq. 6.14, 6.21, 6.38, 6.44, 6.49). An error is
 * multiplied by this matrix in each step: with a spectral radius of more than 1 it grows. For small steps only feed-through is
 * left of it: stability.h. */
#ifndef TT_SIM_START_STEP_OPERATOR_H
#define TT_SIM_START_STEP_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

/* x' = A x + B u, y = C x + D u, dense and column-major; inputs and outputs that are connected. */
struct tt_linear_unit {
    size_t states, inputs, outputs;
    const double *a, *b, *c, *d;
    uint32_t place;   /* its turn, where units step sequentially; those with one place step at once */
    bool takes;       /* its inputs move; otherwise they are held */
    const double *at; /* each at its value at this part of the step: 1 is its end */
    /* the number of derivatives of its outputs that it provides; the others come from earlier points */
    int gives;
};

/* Rows that are to be 0, sums of outputs, and forces that keep them so, each held over a step (sim/coupling/kinematic.c). */
struct tt_linear_constraints {
    size_t rows;
    const double *velocities;  /* G: rows times outputs, column-major */
    const double *positions;   /* ratios of positions; none in a row about velocities alone */
    const double *forces;      /* G^T: inputs times rows, column-major */
    const double *compliances; /* per row */
    const bool *holonomic;     /* it constrains positions */
    double relax_time;         /* tau, in steps */
};

struct tt_linear_system {
    const struct tt_linear_unit *units;
    size_t unit_count;
    size_t states, inputs, outputs;           /* of all units, in sequence */
    const double *links;                      /* L: inputs times outputs, column-major */
    struct tt_linear_constraints constraints; /* of TUTTI_STEP_KINEMATIC */
};

enum tt_step_method {
    TUTTI_STEP_JACOBI,
    TUTTI_STEP_SMOOTH,  /* jacobi: inputs are continuous */
    TUTTI_STEP_CORRECT, /* jacobi: outputs are solved for at the end */
    TUTTI_STEP_SEIDEL,
    TUTTI_STEP_IMPLICIT,  /* inputs are lines to the end values of outputs: relax, once it has converged; newton */
    TUTTI_STEP_KINEMATIC, /* jacobi, and forces that keep constraints (Lacoursiere 2017 eq. 14) */
};

/* Computes the spectral radius for extrapolation of order 0, 1 or 2 and step `h`. SOLVER if it does not exist: outputs
 * do not determine each other, or numbers overflow. LIMIT for large systems. */
TUTTI_CHECKED enum tutti_err tt_step_operator_step_radius(const struct tt_linear_system *system,
                                                          enum tt_step_method method, unsigned order, double h,
                                                          double *radius);
/* Determines whether errors grow no more than by the equations themselves, which no method matches exactly: a tenth of
 * that growth is permitted in addition. With constraints, the growth of the equations is ignored: errors must not grow. */
TUTTI_CHECKED enum tutti_err tt_step_operator_is_stable(const struct tt_linear_system *system,
                                                        enum tt_step_method method, unsigned order, double h,
                                                        double *radius, bool *stable);
/* Returns the convergence factor of a sweep of TUTTI_STEP_IMPLICIT: `in_places`: sequential; otherwise all at once. */
TUTTI_CHECKED enum tutti_err tt_step_operator_sweep_radius(const struct tt_linear_system *system, bool in_places,
                                                           double h, double *radius);
/* The coupled equations themselves: x' = (A + B L (I - D L)^-1 C) x, over the time h. */
TUTTI_CHECKED enum tutti_err tt_step_operator_exact_radius(const struct tt_linear_system *system, double h,
                                                           double *radius);

#endif
