/* SPDX-License-Identifier: MIT */
/* finite_step.h - which couplings are stable with steps of a given size: units are linearised at the start, and the spectral radius
 * of a macro step is computed for each coupling (sim/start/step_operator.h). */
#ifndef TT_APPS_ANALYZE_FINITE_STEP_H
#define TT_APPS_ANALYZE_FINITE_STEP_H

#include "sim/start/stability.h"
#include "sim/start/step_operator.h"

/* A coupling with extrapolation of some order. */
struct tt_step_cell {
    bool known; /* else it was too large, or has no radius */
    bool stable;
    double radius;
    /* Steps from a hundredth of the given one to a hundred times it: */
    bool searched;  /* they were looked at; else there are too many states and outputs */
    bool any_step;  /* all are stable */
    double largest; /* else up to this one; NAN: not even the shortest is */
};

enum tt_step_row {
    TUTTI_ROW_JACOBI,
    TUTTI_ROW_SMOOTH,
    TUTTI_ROW_CORRECT,
    TUTTI_ROW_SEIDEL,
    TUTTI_ROW_IMPLICIT,
    TUTTI_ROW_KINEMATIC, /* of systems with constraints, which no other coupling keeps */
    TUTTI_STEP_ROWS
};

struct tt_step_analysis {
    bool asked; /* with a step; else all is zero */
    bool known; /* units could be linearised; else `why_not` */
    char why_not[512];
    double h;
    bool constrained; /* there are constraints: the last row is the only one */
    double exact;     /* what the coupled equations themselves do in this time; NAN with constraints */
    bool by_twins;    /* units for Co-Simulation were linearised by their Model Exchange interface */
    struct tt_step_cell cells[TUTTI_STEP_ROWS][TUTTI_ORDERS]; /* IMPLICIT: the first for all orders */
    double sweeps[2];   /* what is left of an error after a sweep of relax: seidel, jacobi; NAN: not known */
    double least, most; /* steps that were looked at for the largest one */
};

static inline bool tt_analyze_step_row_applies(const struct tt_step_analysis *analysis, enum tt_step_row row)
{
    return analysis->constrained == (row == TUTTI_ROW_KINEMATIC);
}

/* With units that have left their initialisation. Units are read, and stay as they are. Only MEMORY comes back as an error, the others
 * as `why_not`. */
TUTTI_CHECKED enum tutti_err tt_analyze_finite_step(struct tt_rank *rank, const struct tt_structure *running,
                                                    const struct tt_step_sequence *sequence, double h,
                                                    struct tt_step_analysis *analysis);

#endif
