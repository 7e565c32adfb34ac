/* SPDX-License-Identifier: MIT */
/* digraph.h - directed graphs: strongly connected components in the order of evaluation.
 *
 * Tarjan's algorithm (Andersson 2016 Alg. 1) with an explicit stack: a chain of a million nodes takes no more of the
 * call stack than a chain of three. */
#ifndef TT_MODEL_PLAN_DIGRAPH_H
#define TT_MODEL_PLAN_DIGRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

/* Compressed rows: node v needs the nodes needs[first[v]] ... needs[first[v + 1] - 1]. */
struct tt_digraph {
    uint32_t node_count;
    uint32_t *first; /* node_count + 1 */
    uint32_t *needs;
};

/* Components, each after those that it needs. Component c holds nodes[first[c]] ... nodes[first[c + 1] - 1], ascending. */
struct tt_components {
    uint32_t count;
    uint32_t *first; /* count + 1 */
    uint32_t *nodes;
    uint32_t *of; /* per node: its component */
};

/* From `count` pairs (node, needed); the order of `pairs` is kept within a row, duplicates are dropped. */
TUTTI_CHECKED enum tutti_err tt_digraph_init(struct tt_digraph *graph, uint32_t node_count, const uint32_t (*pairs)[2],
                                             size_t count);
void tt_digraph_fini(struct tt_digraph *graph);
TUTTI_CHECKED enum tutti_err tt_digraph_components_init(struct tt_components *components,
                                                        const struct tt_digraph *graph);
void tt_digraph_components_fini(struct tt_components *components);

#endif
