/* SPDX-License-Identifier: MIT */
/* cycles.h - the values that units of each cycle of connections read from each other: for iterating couplings. */
#ifndef TT_SIM_COUPLING_CYCLES_H
#define TT_SIM_COUPLING_CYCLES_H

#include "sim/coupling/step_jacobian.h"
#include "model/plan/step_order.h"
#include "sim/rank.h"

/* A unit of a cycle reads an unknown of it. */
struct tt_cycle_column {
    uint32_t component, unknown;
};

/* Values that cannot be unknowns of equations, in the signals, for inputs that are set in every step: discrete Reals,
 * and other types. (Values for discrete inputs are not listed.) */
struct tt_cycle_piece {
    size_t offset, size;
};

struct tt_cycle {
    const struct tt_step_stage *stage;
    uint32_t
        *reals; /* its unknowns, in ascending order (wires.reals): continuous Float64 outputs that its own units read */
    uint32_t n;
    struct tt_cycle_column *columns; /* by component */
    uint32_t column_count;
    struct tt_cycle_piece *pieces;
    uint32_t piece_count;
};

struct tt_cycles {
    struct tt_step_stages stages; /* of all units */
    struct tt_cycle *items;       /* in the order of the stages that are cyclic */
    uint32_t count;
    struct tt_arena arena;
};

/* `running` is of the running phase; the rank's wires are laid out. The same on all ranks. */
TUTTI_CHECKED enum tutti_err tt_cycles_init(struct tt_cycles *cycles, const struct tt_rank *rank,
                                            const struct tt_structure *running);
/* Describes the columns, cycle by cycle, and the rows: the unknowns of each unit, from row_first[component] on. For
 * inputs that move on lines. The memory belongs to `cycles`. */
TUTTI_CHECKED enum tutti_err tt_cycles_describe_columns(struct tt_cycles *cycles, const struct tt_rank *rank,
                                                        const uint32_t *row_first, struct tt_step_mapping *out);
void tt_cycles_fini(struct tt_cycles *cycles); /* a zeroed one is fine */

#endif
