/* SPDX-License-Identifier: MIT */
/* collection.h - all units of a rank, linearised where they stand, and what connects them: what whole.h makes one linear system of. */
#ifndef TUTTI_ANALYSIS_COLLECTION_H
#define TUTTI_ANALYSIS_COLLECTION_H

#include "analysis/cs_linear.h"
#include "analysis/whole.h"
#include "rank/rank.h"

struct tutti_collection {
    struct tutti_rank *rank; /* borrowed; all else is zero before it is made */
    uint32_t count;          /* of its units */
    struct tutti_whole_part *parts;
    struct tutti_cs_linear *own;                      /* per unit; of those for Co-Simulation */
    size_t *first_state, *first_input, *first_output; /* per unit, and one more: counted through all */
    struct tutti_whole_link *links;
    size_t link_count, link_room;
    bool out_of_memory;
};

/* fini follows in any case. UNSUPPORTED, naming the unit, for one that cannot be linearised. */
TUTTI_CHECKED enum tutti_err tutti_collection_make(struct tutti_collection *collection);
/* The units need not be there any more. */
void tutti_collection_fini(struct tutti_collection *collection);

/* The place of a variable's first value among all inputs, or outputs; it must be a continuous Float64 of that causality. */
size_t tutti_collection_place(const struct tutti_collection *collection, uint32_t component, uint32_t variable,
                              bool output);

#endif
