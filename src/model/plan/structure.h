/* SPDX-License-Identifier: MIT */
/* structure.h - the dependencies between inputs and outputs of a system (Andersson 2016 chapter 5): the graph for
 * initialisation, `tutti graph` and `tutti analyze`.
 *
 * A node is a connected variable of a component: an input (or parameter) that is a destination, or an output (local,
 * calculated parameter) that is a source; or a variable that the master feeds or reads (model/system/joint.h), without
 * an edge: values that it feeds are those of the past. An input needs the sources of its connections (Andersson 2016
 * eq. 5.5), an output the inputs of its component that it depends on (Andersson 2016 eq. 5.4), according to the model
 * structure; without a declaration, all of them. In initialisation mode the dependencies of InitialUnknowns apply
 * instead of those of Outputs; a component that begins in a saved state has no dependencies.
 *
 * A connection from or to a port of the system itself makes no node: incoming values are known before anything is
 * computed, and no unit waits for outgoing values. */
#ifndef TT_MODEL_PLAN_STRUCTURE_H
#define TT_MODEL_PLAN_STRUCTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "model/plan/digraph.h"
#include "model/system/system.h"

struct tt_structure_node {
    uint32_t component, variable;
    bool output; /* a source; false: a destination */
};

struct tt_structure {
    const struct tt_system *system;  /* borrowed */
    struct tt_structure_node *nodes; /* sorted by component; its inputs first, then its outputs */
    uint32_t node_count;
    uint32_t *component_first; /* per component, count + 1: its nodes */
    struct tt_digraph graph;
    struct tt_components scc;
    uint32_t *assumed; /* components without complete declarations, for which all-to-all is assumed */
    uint32_t assumed_count;
};

enum tt_structure_phase { TUTTI_PHASE_INITIAL, TUTTI_PHASE_RUN };

/* `system` is borrowed. Connections at_start_only count in the initial phase only. */
TUTTI_CHECKED enum tutti_err tt_structure_init(struct tt_structure *structure, const struct tt_system *system,
                                               enum tt_structure_phase phase);
void tt_structure_fini(struct tt_structure *structure);
/* Returns true if all-to-all dependencies are assumed for a component. */
bool tt_structure_is_assumed(const struct tt_structure *structure, uint32_t component);
/* Returns true if the component has a node in an algebraic loop. */
bool tt_structure_is_in_loop(const struct tt_structure *structure, uint32_t component);
/* The node of a variable, or TUTTI_NONE. */
uint32_t tt_structure_find(const struct tt_structure *structure, uint32_t component, uint32_t variable, bool output);

#endif
