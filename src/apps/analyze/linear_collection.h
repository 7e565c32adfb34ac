/* SPDX-License-Identifier: MIT */
/* linear_collection.h - all units of a rank, linearised where they stand, and what connects them: what coupled_linear.h makes one linear system of. */
#ifndef TT_APPS_ANALYZE_LINEAR_COLLECTION_H
#define TT_APPS_ANALYZE_LINEAR_COLLECTION_H

#include "apps/analyze/cs_linear.h"
#include "apps/analyze/coupled_linear.h"
#include "sim/rank.h"

struct tt_linear_collection {
    struct tt_rank *rank; /* borrowed; all else is zero before it is made */
    uint32_t count;       /* of its units */
    struct tt_linear_part *parts;
    struct tt_cs_linear *own;                         /* per unit; of those for Co-Simulation */
    size_t *first_state, *first_input, *first_output; /* per unit, and one more: counted through all */
    struct tt_linear_link *links;
    size_t link_count, link_room;
    bool out_of_memory;
};

/* fini follows in any case. UNSUPPORTED, naming the unit, for one that cannot be linearised. */
TUTTI_CHECKED enum tutti_err tt_coupled_linear_collect(struct tt_linear_collection *collection);
/* The units need not be there any more. */
void tt_coupled_linear_free_collection(struct tt_linear_collection *collection);

/* The place of a variable's first value among all inputs, or outputs; it must be a continuous Float64 of that causality. */
size_t tt_coupled_linear_index(const struct tt_linear_collection *collection, uint32_t component, uint32_t variable,
                               bool output);

#endif
