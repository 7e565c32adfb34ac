/* SPDX-License-Identifier: MIT */
/* graph_dot.h - what graph_dot.c (units, legend) and graph_dot.c (connections) share. */
#ifndef TT_APPS_DESCRIBE_GRAPH_DOT_H
#define TT_APPS_DESCRIBE_GRAPH_DOT_H

#include "apps/describe/system_graph.h"

#define LINE_COLOUR "#5b6770"
#define FAINT_COLOUR "#7a858e"

/* A connected variable of a component, drawn as a port. */
struct tt_graph_port {
    uint32_t component, variable;
    bool output;
    bool loose; /* one of its connections is drawn separately */
};

struct tt_graph_picture {
    FILE *out;
    const struct tt_system_graph *graph;
    const struct tt_system *system;
    struct tt_graph_port *ports; /* sorted by component, inputs first */
    size_t port_count;
    const struct tt_connection **sorted; /* by pairs of units */
    bool with_ports;
    bool dotted, dashed, bundled, needs_shown; /* entries of the legend */
};

/* Lists ports, sorts connections by pairs of units and determines which ports have an arrow. False: out of memory;
 * tt_graph_dot_arrows_fini follows in any case. */
bool tt_graph_dot_arrows_init(struct tt_graph_picture *picture);
void tt_graph_dot_arrows_fini(struct tt_graph_picture *picture);
void tt_graph_dot_print_arrows(struct tt_graph_picture *picture);

/* Of a loop, from 1. */
const char *tt_graph_dot_strong_colour(uint32_t loop);
const char *tt_graph_dot_light_colour(uint32_t loop);

#endif
