/* SPDX-License-Identifier: MIT */
/* system_graph.h - a system with its dependencies, loops and order. */
#ifndef TT_APPS_DESCRIBE_SYSTEM_GRAPH_H
#define TT_APPS_DESCRIBE_SYSTEM_GRAPH_H

#include <stdio.h>

#include "model/plan/eval_order.h"

struct tt_system_graph {
    const struct tt_system *system;
    enum tt_structure_phase phase;
    struct tt_structure structure;
    struct tt_eval_order order;
    uint32_t single_evaluations; /* if outputs were not grouped */
    uint32_t *loop_of;           /* per strongly connected component: the number of the loop that it is, from 1, or 0 */
};

/* The loop that a variable is in, from 1; 0: none, or not part of the graph. */
uint32_t tt_system_graph_find_loop(const struct tt_system_graph *graph, const struct tt_end *end, bool output);

/* A text for Graphviz: units with their ports, or without them if they are many. False: out of memory. */
bool tt_graph_dot_write(FILE *out, const struct tt_system_graph *graph);
/* All of it, for programs. False: out of memory. */
bool tt_system_graph_write_json(FILE *out, const struct tt_system_graph *graph);

#endif
