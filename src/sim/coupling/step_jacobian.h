/* SPDX-License-Identifier: MIT */
/* step_jacobian.h - dY/du of a macro step: the sensitivity of units' outputs at its end to their inputs during it.
 *
 * By differences with rollback: a unit makes the step again with one input moved a little, alone, and is rolled back to
 * the start of the step. No unit waits for any other: every rank measures the columns of its own units, and one
 * reduction gives all entries to all ranks, with equal bits.
 *
 * The caller defines the columns: an input, several inputs fed by one signal, or a value that the master sets. Rows are
 * any values that it reads from a unit at the end of a step. */
#ifndef TT_SIM_COUPLING_STEP_JACOBIAN_H
#define TT_SIM_COUPLING_STEP_JACOBIAN_H

#include "sim/component.h"
#include "sim/snapshot.h"

/* DY/du of a step of one Model Exchange unit by derivatives of its equations, which takes no step: the variational
 * equations
 *
 *     X' = A X + B s(t), X(t0) = 0,    dY/du = C X(t0 + h) + D,    s = 1 (held) or (t - t0) / h (on a line),
 *
 * with C and D of the end of the step, and A and B as their means over both ends: exact for linear units, and for others of order 2 in
 * the step. */

/* A column moves an input of the unit by so much. */
struct tt_step_part {
    uint32_t column, variable; /* of the unit's description: a scalar */
    double factor;
};

/* The meaning of columns and rows (step_jacobian.h), for computing derivatives. Borrowed. */
struct tt_step_mapping {
    const struct tt_step_part *parts; /* by column */
    const size_t *part_first;         /* per column, and one more */
    const uint32_t *row_variables;    /* per row: an output, a scalar; TUTTI_NONE: a different quantity */
    bool line;                        /* inputs move to the changed value on a line; otherwise they are held there */
    /* Brings an own unit from the start of the step to where that is repeated from; NULL: that is the start. */
    enum tutti_err (*begin)(const struct tt_rank *rank, struct tt_member *member);
};

/* Computes columns `first` ... of an own unit into `entries`, column by column; `rows` are those of the unit from
 * `row_first` on. The unit is at the end of the step to `target`, or at `start`; it is at `start` afterwards, or where
 * meaning->begin leads. *done is false if derivatives are unavailable: then the unit was not changed, or is at `start`. */
TUTTI_CHECKED enum tutti_err tt_step_jacobian_by_derivatives(const struct tt_step_mapping *meaning,
                                                             struct tt_rank *rank, struct tt_member *member,
                                                             const struct tt_snapshot *start, double target,
                                                             uint32_t first, uint32_t count, uint32_t row_first,
                                                             uint32_t rows, double *entries, bool *done);

/* The same list on all ranks. */
struct tt_step_column {
    uint32_t component; /* the unit that is fed */
    double value;       /* where the input is now; only where the unit is */
    double size;        /* of its values where they count: > 0 */
    size_t first;       /* of its entries, one per row of the unit; tt_step_jacobian_init counts them */
};

/* How columns are moved and rows are read, for units of this rank. */
struct tt_step_probe {
    void *context;
    /* Gathers, or sets, the inputs of a step of the unit, with this column moved by `distance`. Called at the start of
     * the step, before tt_component_step, which sets the gathered values. */
    enum tutti_err (*stage)(void *context, struct tt_member *member, uint32_t column, double distance);
    /* The rows of the unit after the step; its signals are read by then. */
    enum tutti_err (*read)(void *context, struct tt_member *member, double *rows);
};

struct tt_step_jacobian {
    struct tt_rank *rank;           /* these two are borrowed */
    struct tt_step_column *columns; /* by component */
    uint32_t column_count;
    uint32_t *row_first; /* per component, and one more: its first row */
    /* Columns of Model Exchange units are computed from derivatives of their equations, if available. NULL: from
     * differences, as those of all other units. The caller's, borrowed; may change between measurements. */
    const struct tt_step_mapping *meaning;
    const double *row_sizes; /* of the rows' values where they count; NULL: 1. The caller's, borrowed */
    size_t entry_count;
    double *entries; /* column by column */
    double *ahead, *again;
    unsigned long tried; /* steps that were made for it, so far, on this rank */
    struct tt_arena arena;
};

/* `row_count` is per component; `columns` are sorted by component. Entries are 0 until they are measured. A zeroed one is
 * fine for fini. */
TUTTI_CHECKED enum tutti_err tt_step_jacobian_init(struct tt_step_jacobian *jacobian, struct tt_rank *rank,
                                                   struct tt_step_column *columns, uint32_t column_count,
                                                   const uint32_t *row_count);
void tt_step_jacobian_fini(struct tt_step_jacobian *jacobian);

/* The entries of the columns `first` ... `first + count - 1` for the step from `start` to `target`. `base` are the rows
 * after the unperturbed step, by row_first (only own units' are used), made by the caller. Units with requested columns
 * are at `start` afterwards, and so are their signals. Steps count as auxiliary. An entry is NaN if the derivative does
 * not exist: the unit refuses the step, ends it early or jumps, to both sides; *complete: no entry is. Collective. */
TUTTI_CHECKED enum tutti_err tt_step_jacobian_measure(
    struct tt_step_jacobian *jacobian, const struct tt_step_probe *probe, const struct tt_step_rules *rules,
    const struct tt_snapshot *start, double target, const double *base, uint32_t first, uint32_t count, bool *complete);

#endif
