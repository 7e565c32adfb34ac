/* SPDX-License-Identifier: MIT */
/* step_derivative.h - dY/du of a step of one Model Exchange unit by derivatives of its equations, which takes no step: the variational
 * equations
 *
 *     X' = A X + B s(t), X(t0) = 0,    dY/du = C X(t0 + h) + D,    s = 1 (held) or (t - t0) / h (on a line),
 *
 * with C and D of the end of the step, and A and B as their means over both ends: exact for linear units, and for others of order 2 in
 * the step. */
#ifndef TT_SIM_COUPLING_STEP_DERIVATIVE_H
#define TT_SIM_COUPLING_STEP_DERIVATIVE_H

#include "sim/snapshot.h"

/* A column moves an input of the unit by so much. */
struct tt_step_part {
    uint32_t column, variable; /* of the unit's description: a scalar */
    double factor;
};

/* What columns and rows are (step_jacobian.h), for those who want derivatives. Borrowed. */
struct tt_step_mapping {
    const struct tt_step_part *parts; /* by column */
    const size_t *part_first;         /* per column, and one more */
    const uint32_t *row_variables;    /* per row: an output, a scalar; TUTTI_NONE: something else */
    bool line;                        /* inputs go to the value that is moved on a line; else they are held there */
    /* Brings an own unit from the start of the step to where that is repeated from; NULL: that is the start. */
    enum tutti_err (*begin)(const struct tt_rank *rank, struct tt_member *member);
};

/* Columns `first` ... of an own unit into `entries`, column by column, `rows` are those of the unit from `row_first` on. The unit is at
 * the end of the step to `target`, or at `start`; it is at `start` afterwards, or where meaning->begin leads. *done is false where there is no such way: then it was
 * not touched, or is at `start`. */
TUTTI_CHECKED enum tutti_err tt_step_jacobian_by_derivatives(const struct tt_step_mapping *meaning,
                                                             struct tt_rank *rank, struct tt_member *member,
                                                             const struct tt_snapshot *start, double target,
                                                             uint32_t first, uint32_t count, uint32_t row_first,
                                                             uint32_t rows, double *entries, bool *done);

#endif
