/* SPDX-License-Identifier: MIT */
/* structure.h - which input and output of a system needs which (Andersson 2016 chapter 5): the graph for initialisation,
 * `tutti graph` and `tutti analyze`.
 *
 * A node is a connected variable of a component: an input (or parameter) that is a destination, or an output (local,
 * calculated parameter) that is a source; or one that the master itself feeds or reads (model/system/joint.h), which it does without an
 * edge: what it feeds comes from the past. An input needs the sources of its connections (Andersson 2016 eq. 5.5), an output
 * the inputs of its component that it depends on (Andersson 2016 eq. 5.4), as the model structure says; where that says
 * nothing, all of them. In initialisation mode the dependencies of InitialUnknowns hold instead of those of Outputs; what a
 * component gives that begins in a saved state needs nothing.
 *
 * A connection from or to a port of the system itself makes no node: what comes in is known before anything is computed,
 * and no unit waits for what goes out. */
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
    bool output; /* a source; else a destination */
};

struct tt_structure {
    const struct tt_system *system;  /* borrowed */
    struct tt_structure_node *nodes; /* sorted by component; its inputs first, then its outputs */
    uint32_t node_count;
    uint32_t *component_first; /* per component, count + 1: its nodes */
    struct tt_digraph graph;
    struct tt_components scc;
    uint32_t *assumed; /* components whose dependencies are not all told: all-to-all is assumed there */
    uint32_t assumed_count;
};

enum tt_structure_phase { TUTTI_PHASE_INITIAL, TUTTI_PHASE_RUN };

/* `system` is borrowed. Connections at_start_only count in the initial phase only. */
TUTTI_CHECKED enum tutti_err tt_structure_init(struct tt_structure *structure, const struct tt_system *system,
                                               enum tt_structure_phase phase);
void tt_structure_fini(struct tt_structure *structure);
/* Is all-to-all assumed for a component? */
bool tt_structure_is_assumed(const struct tt_structure *structure, uint32_t component);
/* Has the component a node in an algebraic loop? */
bool tt_structure_is_in_loop(const struct tt_structure *structure, uint32_t component);
/* The node of a variable, or TUTTI_NONE. */
uint32_t tt_structure_find(const struct tt_structure *structure, uint32_t component, uint32_t variable, bool output);

#endif
