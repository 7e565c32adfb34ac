/* SPDX-License-Identifier: MIT */
/* graph_dot.h - what graph_dot.c (units, legend) and graph_arrows.c (connections) share. */
#ifndef TUTTI_TELL_GRAPH_DOT_H
#define TUTTI_TELL_GRAPH_DOT_H

#include "tell/graph.h"

#define LINE_COLOUR "#5b6770"
#define FAINT_COLOUR "#7a858e"

/* A connected variable of a component, drawn as a port. */
struct tutti_graph_port {
    uint32_t component, variable;
    bool output;
    bool loose; /* a connection of it is drawn by itself */
};

struct tutti_graph_picture {
    FILE *out;
    const struct tutti_graph *graph;
    const struct tutti_system *system;
    struct tutti_graph_port *ports; /* sorted by component, inputs first */
    size_t port_count;
    const struct tutti_connection **sorted; /* by pairs of units */
    bool with_ports;
    bool dotted, dashed, bundled, needs_shown; /* what the legend has to explain */
};

/* Lists ports, sorts connections by pairs of units and says which ports have an arrow of their own. False: out of memory;
 * tutti_graph_arrows_fini follows in any case. */
bool tutti_graph_arrows_init(struct tutti_graph_picture *picture);
void tutti_graph_arrows_fini(struct tutti_graph_picture *picture);
void tutti_graph_print_arrows(struct tutti_graph_picture *picture);

/* Of a loop, from 1. */
const char *tutti_graph_strong_colour(uint32_t loop);
const char *tutti_graph_light_colour(uint32_t loop);

#endif
