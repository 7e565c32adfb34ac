/* SPDX-License-Identifier: MIT */
/* structure.h - which input and output of a system needs which (Andersson 2016 chapter 5): the graph for initialisation,
 * `tutti graph` and `tutti analyze`.
 *
 * A node is a connected variable of a component: an input (or parameter) that is a destination, or an output (local,
 * calculated parameter) that is a source; or one that the master itself feeds or reads (system/joint.h), which it does without an
 * edge: what it feeds comes from the past. An input needs the sources of its connections (Andersson 2016 eq. 5.5), an output
 * the inputs of its component that it depends on (Andersson 2016 eq. 5.4), as the model structure says; where that says
 * nothing, all of them. In initialisation mode the dependencies of InitialUnknowns hold instead of those of Outputs; what a
 * component gives that begins in a saved state needs nothing.
 *
 * A connection from or to a port of the system itself makes no node: what comes in is known before anything is computed,
 * and no unit waits for what goes out. */
#ifndef TUTTI_PLAN_STRUCTURE_H
#define TUTTI_PLAN_STRUCTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/graph.h"
#include "system/system.h"

struct tutti_structure_node {
    uint32_t component, variable;
    bool output; /* a source; else a destination */
};

struct tutti_structure {
    const struct tutti_system *system;  /* borrowed */
    struct tutti_structure_node *nodes; /* sorted by component; its inputs first, then its outputs */
    uint32_t node_count;
    uint32_t *component_first; /* per component, count + 1: its nodes */
    struct tutti_digraph graph;
    struct tutti_components scc;
    uint32_t *assumed; /* components whose dependencies are not all told: all-to-all is assumed there */
    uint32_t assumed_count;
};

enum tutti_phase { TUTTI_PHASE_INITIAL, TUTTI_PHASE_RUN };

/* `system` is borrowed. Connections at_start_only count in the initial phase only. */
TUTTI_CHECKED enum tutti_err tutti_structure_init(struct tutti_structure *structure, const struct tutti_system *system,
                                                  enum tutti_phase phase);
void tutti_structure_fini(struct tutti_structure *structure);
/* Is all-to-all assumed for a component? */
bool tutti_structure_is_assumed(const struct tutti_structure *structure, uint32_t component);
/* Has the component a node in an algebraic loop? */
bool tutti_structure_is_in_loop(const struct tutti_structure *structure, uint32_t component);
/* The node of a variable, or TUTTI_NONE. */
uint32_t tutti_structure_find(const struct tutti_structure *structure, uint32_t component, uint32_t variable,
                              bool output);

#endif
