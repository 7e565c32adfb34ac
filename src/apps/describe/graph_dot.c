/* SPDX-License-Identifier: MIT */
/* Names come from files. They appear only in HTML-like labels, where five characters mean something and are written as
 * entities, and a backslash is written twice; identifiers are numbers of our own. */
#include "apps/describe/graph_dot.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Beyond these sizes a picture with every port is a tangle: then units are small, and springs place them, since the layers
 * of dot would be an endless strip. */
enum { MOST_PORT_UNITS = 60, MOST_PORT_CONNECTIONS = 1000 };
/* Curved arrows around 300 units take half a minute. */
enum { MOST_CURVED = 120 };
enum { MOST_SHOWN = 40, MOST_NEEDS = 28, MOST_LISTED = 6, MOST_ROWS = 16 };

/* Colours that stay apart for colour-blind readers (Okabe and Ito), and a light tint of each. */
static const struct {
    const char *strong, *light;
} colours[] = {{"#d55e00", "#fbe3d3"}, {"#0072b2", "#d3e7f3"}, {"#009e73", "#d0efe5"}, {"#b0508b", "#f3dcea"}};
enum { COLOURS = sizeof colours / sizeof *colours };

const char *tt_graph_dot_strong_colour(uint32_t loop)
{
    return colours[(loop - 1) % COLOURS].strong;
}

const char *tt_graph_dot_light_colour(uint32_t loop)
{
    return colours[(loop - 1) % COLOURS].light;
}

/* Foreign text for an HTML-like label, cut to `most` characters. */
static void graph_dot_print_text(FILE *out, const char *text, size_t most)
{
    size_t total = 0;
    for (const char *at = text; *at; total++) {
        size_t length = tt_text_utf8_length(at);
        at += length ? length : 1;
    }
    for (size_t shown = 0; *text; shown++) {
        if (total > most && shown == most - 1) {
            fputs("\xe2\x80\xa6", out);
            return;
        }
        size_t length = tt_text_utf8_length(text);
        if (length == 0 || strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0)
            fputc('?', out); /* no text, or none that XML allows */
        else if (length > 1)
            fwrite(text, 1, length, out);
        else if (strchr("&<>\"'", *text))
            fprintf(out, "&#%d;", *text);
        else if (*text == '\\')
            fputs("\\\\", out);
        else
            fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
        text += length ? length : 1;
    }
}

static const struct tt_description *graph_dot_desc(const struct tt_graph_picture *picture, uint32_t component)
{
    return picture->system->components[component].fmu->desc;
}

static void print_variable(const struct tt_graph_picture *picture, uint32_t component, uint32_t variable)
{
    graph_dot_print_text(picture->out, graph_dot_desc(picture, component)->vars[variable].name, MOST_SHOWN);
}

/* The inputs that an output needs, faint, after its name: "y (u1, u2)"; their number if the names are long. */
static void print_dependencies(struct tt_graph_picture *picture, const struct tt_graph_port *port)
{
    const struct tt_structure *structure = &picture->graph->structure;
    uint32_t node = tt_structure_find(structure, port->component, port->variable, true);
    if (node == TUTTI_NONE || structure->graph.first[node] == structure->graph.first[node + 1])
        return;
    const uint32_t *needs = structure->graph.needs + structure->graph.first[node];
    uint32_t count = structure->graph.first[node + 1] - structure->graph.first[node];
    const struct tt_var *vars = picture->system->components[port->component].fmu->desc->vars;
    size_t length = 0;
    for (uint32_t i = 0; i < count && length <= MOST_NEEDS; i++)
        length += strlen(vars[structure->nodes[needs[i]].variable].name) + 2;
    fputs("<FONT POINT-SIZE=\"9\" COLOR=\"" FAINT_COLOUR "\">&#160;&#160;(", picture->out);
    if (length > MOST_NEEDS && count > 1)
        fprintf(picture->out, "%u inputs", count);
    else
        for (uint32_t i = 0; i < count; i++) {
            fputs(i ? ", " : "", picture->out);
            print_variable(picture, port->component, structure->nodes[needs[i]].variable);
        }
    fputs(")</FONT>", picture->out);
    picture->needs_shown = true;
}

static void print_port(struct tt_graph_picture *picture, const struct tt_graph_port *port)
{
    struct tt_end end = {.component = port->component, .variable = port->variable};
    uint32_t loop = tt_system_graph_find_loop(picture->graph, &end, port->output);
    fprintf(picture->out, "<TD PORT=\"%c%u\" ALIGN=\"%s\"", port->output ? 'o' : 'i', port->variable,
            port->output ? "RIGHT" : "LEFT");
    if (loop)
        fprintf(picture->out, " BGCOLOR=\"%s\"", tt_graph_dot_light_colour(loop));
    fputs(">", picture->out);
    print_variable(picture, port->component, port->variable);
    if (port->output)
        print_dependencies(picture, port);
    fputs("</TD>", picture->out);
}

static void print_title(const struct tt_graph_picture *picture, uint32_t component)
{
    const struct tt_description *desc = graph_dot_desc(picture, component);
    fputs("<B>", picture->out);
    graph_dot_print_text(picture->out, picture->system->components[component].name, MOST_SHOWN);
    fprintf(picture->out, "%s</B>", tt_structure_is_assumed(&picture->graph->structure, component) ? "&#160;*" : "");
    fputs("<BR/><FONT POINT-SIZE=\"9\" COLOR=\"" FAINT_COLOUR "\">", picture->out);
    graph_dot_print_text(picture->out, desc->model_name ? desc->model_name : "?", MOST_SHOWN);
    fprintf(picture->out, ", FMI %d.0</FONT>", desc->fmi);
}

/* The names of its terminals, a row below the title. */
static void print_terminals(const struct tt_graph_picture *picture, uint32_t component)
{
    const struct tt_terminals *terminals = picture->system->components[component].fmu->terminals;
    uint32_t shown = 0;
    if (!terminals || terminals->count == 0)
        return;
    fputs("    <TR><TD COLSPAN=\"2\" BGCOLOR=\"#f3f5f7\"><FONT POINT-SIZE=\"9\">", picture->out);
    for (uint32_t i = 0; i < terminals->count && shown < MOST_LISTED; i++)
        if (terminals->items[i].parent == TUTTI_NONE) {
            fputs(shown++ ? ", " : "&#9671; ", picture->out);
            graph_dot_print_text(picture->out, terminals->items[i].path, MOST_SHOWN);
        }
    uint32_t more = terminals->count - shown;
    if (more > 0)
        fprintf(picture->out, " and %u more", more);
    fputs("</FONT></TD></TR>\n", picture->out);
}

/* The ports of one side of a unit. Of many ports without an arrow only the first are shown. */
struct graph_side {
    const struct tt_graph_port **shown;
    size_t count, hidden;
};

static bool choose_ports(struct graph_side *side, const struct tt_graph_port *ports, size_t count)
{
    size_t bundled = 0;
    *side = (struct graph_side){.shown = malloc((count + 1) * sizeof *side->shown)};
    for (size_t i = 0; i < count && side->shown; i++) {
        if (count <= MOST_ROWS || ports[i].loose || bundled++ < MOST_ROWS / 2)
            side->shown[side->count++] = &ports[i];
        else
            side->hidden++;
    }
    return side->shown;
}

static void print_cell(struct tt_graph_picture *picture, const struct graph_side *side, size_t row, bool output)
{
    if (row < side->count)
        print_port(picture, side->shown[row]);
    else if (row == side->count && side->hidden > 0)
        fprintf(picture->out,
                "<TD ALIGN=\"%s\"><FONT POINT-SIZE=\"9\" COLOR=\"" FAINT_COLOUR "\">and %zu more</FONT></TD>",
                output ? "RIGHT" : "LEFT", side->hidden);
    else
        fputs("<TD></TD>", picture->out);
}

/* A table: the name above; below it inputs on the left, outputs on the right. Ports are `count` from `ports` on. */
static bool print_unit(struct tt_graph_picture *picture, uint32_t component, const struct tt_graph_port *ports,
                       size_t count)
{
    size_t inputs = 0;
    while (inputs < count && !ports[inputs].output)
        inputs++;
    struct graph_side left = {0}, right = {0};
    bool good = choose_ports(&left, ports, inputs) && choose_ports(&right, ports + inputs, count - inputs);
    fprintf(picture->out,
            "  u%u [label=<<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"4\" "
            "COLOR=\"" LINE_COLOUR "\" BGCOLOR=\"#ffffff\">\n    <TR><TD COLSPAN=\"2\" BGCOLOR=\"#e6ebef\">",
            component);
    print_title(picture, component);
    fputs("</TD></TR>\n", picture->out);
    print_terminals(picture, component);
    size_t left_rows = left.count + (left.hidden > 0), right_rows = right.count + (right.hidden > 0);
    for (size_t row = 0; row < left_rows || row < right_rows; row++) {
        fputs("    <TR>", picture->out);
        print_cell(picture, &left, row, false);
        print_cell(picture, &right, row, true);
        fputs("</TR>\n", picture->out);
    }
    fputs("  </TABLE>>];\n", picture->out);
    free(left.shown);
    free(right.shown);
    return good;
}

static void print_small_unit(const struct tt_graph_picture *picture, uint32_t component)
{
    const struct tt_structure *structure = &picture->graph->structure;
    uint32_t loop = 0, end = structure->component_first[component + 1]; /* the first loop that it takes part in */
    for (uint32_t node = structure->component_first[component]; node < end && !loop; node++)
        loop = picture->graph->loop_of[structure->scc.of[node]];
    fprintf(picture->out, "  u%u [shape=box style=\"filled,rounded\" color=\"%s\" fillcolor=\"%s\" label=<", component,
            loop ? tt_graph_dot_strong_colour(loop) : LINE_COLOUR, loop ? tt_graph_dot_light_colour(loop) : "#f3f5f7");
    graph_dot_print_text(picture->out, picture->system->components[component].name, MOST_SHOWN);
    fprintf(picture->out, "%s>];\n", tt_structure_is_assumed(structure, component) ? " *" : "");
}

static bool print_units(struct tt_graph_picture *picture)
{
    bool good = true;
    size_t first = 0, end;
    for (uint32_t c = 0; c < picture->system->component_count && good; c++, first = end) {
        for (end = first; end < picture->port_count && picture->ports[end].component == c; end++)
            ;
        if (picture->with_ports)
            good = print_unit(picture, c, picture->ports + first, end - first);
        else
            print_small_unit(picture, c);
    }
    return good;
}

static void print_system_ports(const struct tt_graph_picture *picture)
{
    const struct tt_system *system = picture->system;
    for (int output = 0; output < 2; output++)
        for (uint32_t i = 0; i < (output ? system->output_count : system->input_count); i++) {
            fprintf(picture->out,
                    "  %c%u [shape=cds style=filled fillcolor=\"#fff7d6\" color=\"" LINE_COLOUR "\" label=<",
                    output ? 'q' : 'p', i);
            graph_dot_print_text(picture->out, output ? system->outputs[i].name : system->inputs[i].name, MOST_SHOWN);
            fputs(">];\n", picture->out);
        }
}

static void print_loops(const struct tt_graph_picture *picture)
{
    const struct tt_system_graph *graph = picture->graph;
    const struct tt_components *scc = &graph->structure.scc;
    FILE *out = picture->out;
    if (graph->order.loop_count == 0)
        fputs("No algebraic loops<BR ALIGN=\"LEFT\"/>", out);
    for (uint32_t block = 0; block < scc->count; block++) {
        uint32_t loop = graph->loop_of[block], count = scc->first[block + 1] - scc->first[block];
        if (!loop)
            continue;
        if (loop > MOST_LISTED) {
            fprintf(out, "and %u more algebraic loops<BR ALIGN=\"LEFT\"/>", graph->order.loop_count - MOST_LISTED);
            break;
        }
        fprintf(out, "<FONT COLOR=\"%s\"><B>Algebraic loop %u:&#160;&#160;</B>", tt_graph_dot_strong_colour(loop),
                loop);
        for (uint32_t i = 0; i < count && i < MOST_LISTED; i++) {
            fputs(i ? ", " : "", out);
            const struct tt_structure_node *node = &graph->structure.nodes[scc->nodes[scc->first[block] + i]];
            if (!picture->system->single) {
                graph_dot_print_text(out, picture->system->components[node->component].name, MOST_SHOWN);
                fputc('.', out);
            }
            print_variable(picture, node->component, node->variable);
        }
        if (count > MOST_LISTED)
            fprintf(out, " and %u more variables", count - MOST_LISTED);
        fputs("</FONT><BR ALIGN=\"LEFT\"/>", out);
    }
}

/* Below the picture: what it is, and what its marks mean. */
static void print_legend(const struct tt_graph_picture *picture)
{
    const struct tt_system_graph *graph = picture->graph;
    FILE *out = picture->out;
    fputs("  label=<<B>", out);
    graph_dot_print_text(out, picture->system->name ? picture->system->name : "system", MOST_SHOWN);
    fprintf(out, "</B>: %u units, %u connections, %s<BR ALIGN=\"LEFT\"/>", picture->system->component_count,
            picture->system->connection_count, graph->phase == TUTTI_PHASE_INITIAL ? "at the start" : "in the run");
    print_loops(picture);
    if (graph->structure.assumed_count > 0)
        fputs("* does not tell its dependencies: each output is taken to need all inputs<BR ALIGN=\"LEFT\"/>", out);
    if (picture->needs_shown)
        fputs("y (u): output y depends directly on input u<BR ALIGN=\"LEFT\"/>", out);
    if (picture->dotted)
        fputs("dotted: handed over at the start only<BR ALIGN=\"LEFT\"/>", out);
    if (picture->dashed)
        fputs("dashed: a clock makes another tick<BR ALIGN=\"LEFT\"/>", out);
    if (picture->bundled)
        fputs("a number at an arrow: so many connections<BR ALIGN=\"LEFT\"/>", out);
    fputs(">;\n", out);
}

static void print_head(const struct tt_graph_picture *picture)
{
    fputs("digraph system {\n", picture->out);
    if (picture->with_ports)
        fputs("  graph [rankdir=LR nodesep=0.3 ranksep=0.8", picture->out);
    else
        fprintf(picture->out, "  graph [layout=sfdp overlap=prism sep=\"+12\" K=0.7 splines=%s",
                picture->system->component_count <= MOST_CURVED ? "true" : "line");
    fputs(" bgcolor=\"#ffffff\" pad=0.2 labelloc=b labeljust=l fontname=\"Helvetica\" fontsize=11 "
          "fontcolor=\"#333333\"];\n",
          picture->out);
    fprintf(picture->out, "  node [shape=%s fontname=\"Helvetica\" fontsize=11];\n",
            picture->with_ports ? "plain" : "box");
    fputs("  edge [color=\"" LINE_COLOUR "\" arrowsize=0.6 fontname=\"Helvetica\" fontsize=9 "
          "fontcolor=\"" FAINT_COLOUR "\"];\n",
          picture->out);
}

bool tt_graph_dot_write(FILE *out, const struct tt_system_graph *graph)
{
    const struct tt_system *system = graph->system;
    struct tt_graph_picture picture = {.out = out,
                                       .graph = graph,
                                       .system = system,
                                       .with_ports = system->component_count <= MOST_PORT_UNITS &&
                                                     system->connection_count <= MOST_PORT_CONNECTIONS};
    bool good = tt_graph_dot_arrows_init(&picture);
    if (good) {
        print_head(&picture);
        print_system_ports(&picture);
        good = print_units(&picture);
        tt_graph_dot_print_arrows(&picture);
        print_legend(&picture);
        fputs("}\n", out);
    }
    tt_graph_dot_arrows_fini(&picture);
    return good;
}

/* Above this number of connections, parallel connections between two units become one arrow. */
enum { MOST_LOOSE = 30, MANY_PARALLEL = 5 };
static int compare_ports(const void *a, const void *b)
{
    const struct tt_graph_port *left = a, *right = b;
    if (left->component != right->component)
        return left->component < right->component ? -1 : 1;
    if (left->output != right->output)
        return left->output ? 1 : -1;
    return (left->variable > right->variable) - (left->variable < right->variable);
}

static bool list_ports(struct tt_graph_picture *picture)
{
    const struct tt_system *system = picture->system;
    size_t count = 0, kept = 0;
    picture->ports = malloc((2 * (size_t)system->connection_count + 1) * sizeof *picture->ports);
    if (!picture->ports)
        return false;
    for (uint32_t i = 0; i < system->connection_count; i++) {
        const struct tt_connection *connection = &system->connections[i];
        if (connection->from.component != TUTTI_NONE)
            picture->ports[count++] =
                (struct tt_graph_port){connection->from.component, connection->from.variable, true, false};
        if (connection->to.component != TUTTI_NONE)
            picture->ports[count++] =
                (struct tt_graph_port){connection->to.component, connection->to.variable, false, false};
    }
    qsort(picture->ports, count, sizeof *picture->ports, compare_ports);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_ports(&picture->ports[kept - 1], &picture->ports[i]) != 0)
            picture->ports[kept++] = picture->ports[i];
    picture->port_count = kept;
    return true;
}

static int graph_arrows_compare_ends(const struct tt_end *a, const struct tt_end *b)
{
    if (a->component != b->component)
        return a->component < b->component ? -1 : 1;
    if (a->component != TUTTI_NONE)
        return 0;
    return (a->variable > b->variable) - (a->variable < b->variable); /* ports of the system have their own places */
}

static int compare_pairs(const struct tt_connection *a, const struct tt_connection *b)
{
    int order = graph_arrows_compare_ends(&a->from, &b->from);
    return order ? order : graph_arrows_compare_ends(&a->to, &b->to);
}

/* By the pair of units, then as they lie in the system. */
static int compare_connections(const void *a, const void *b)
{
    const struct tt_connection *left = *(const struct tt_connection *const *)a;
    const struct tt_connection *right = *(const struct tt_connection *const *)b;
    int order = compare_pairs(left, right);
    return order ? order : (left > right) - (left < right);
}

static bool sort_connections(struct tt_graph_picture *picture)
{
    size_t total = picture->system->connection_count;
    picture->sorted = malloc((total + 1) * sizeof *picture->sorted);
    if (!picture->sorted)
        return false;
    for (size_t i = 0; i < total; i++)
        picture->sorted[i] = &picture->system->connections[i];
    qsort(picture->sorted, total, sizeof *picture->sorted, compare_connections);
    return true;
}

/* Where the connections of the same pair of units as the one at `first` end. */
static size_t find_end_of_pair(const struct tt_graph_picture *picture, size_t first)
{
    size_t end = first + 1, total = picture->system->connection_count;
    while (end < total && compare_pairs(picture->sorted[first], picture->sorted[end]) == 0)
        end++;
    return end;
}

/* Returns true if the connections of a pair of units are one arrow. */
static bool is_bundle(const struct tt_graph_picture *picture, size_t count)
{
    return !picture->with_ports || (count >= MANY_PARALLEL && picture->system->connection_count > MOST_LOOSE);
}

static void mark_unconnected(struct tt_graph_picture *picture, const struct tt_end *end, bool output)
{
    struct tt_graph_port wanted = {end->component, end->variable, output, true};
    struct tt_graph_port *port =
        bsearch(&wanted, picture->ports, picture->port_count, sizeof *picture->ports, compare_ports);
    if (port)
        port->loose = true;
}

static void mark_ports(struct tt_graph_picture *picture)
{
    size_t total = picture->system->connection_count, end;
    for (size_t first = 0; first < total; first = end) {
        end = find_end_of_pair(picture, first);
        for (size_t i = first; i < end && !is_bundle(picture, end - first); i++) {
            mark_unconnected(picture, &picture->sorted[i]->from, true);
            mark_unconnected(picture, &picture->sorted[i]->to, false);
        }
    }
}

bool tt_graph_dot_arrows_init(struct tt_graph_picture *picture)
{
    if (!list_ports(picture) || !sort_connections(picture))
        return false;
    mark_ports(picture);
    return true;
}

void tt_graph_dot_arrows_fini(struct tt_graph_picture *picture)
{
    free(picture->sorted);
    free(picture->ports);
}

static void print_end(const struct tt_graph_picture *picture, const struct tt_end *end, bool source, bool at_port)
{
    if (end->component == TUTTI_NONE)
        fprintf(picture->out, "%c%u", source ? 'p' : 'q', end->variable);
    else if (at_port)
        fprintf(picture->out, "u%u:%c%u:%c", end->component, source ? 'o' : 'i', end->variable, source ? 'e' : 'w');
    else
        fprintf(picture->out, "u%u", end->component);
}

static void print_element(FILE *out, const struct tt_indices *element)
{
    for (unsigned i = 0; i < element->count; i++)
        fprintf(out, "%s%llu", i ? "," : "[", (unsigned long long)element->index[i]);
    fputs(element->count ? "]" : "", out);
}

static void print_number(FILE *out, double value)
{
    fprintf(out, "%.6g", value);
}

/* Which elements, and what is done to the value. */
static void print_connection_label(struct tt_graph_picture *picture, const struct tt_connection *connection)
{
    const struct tt_conversion *conversion = connection->conversion;
    bool elements = connection->from.element.count || connection->to.element.count;
    bool linear = conversion && conversion->linear, mapped = conversion && conversion->map_count > 0;
    if (!elements && !linear && !mapped)
        return;
    FILE *out = picture->out;
    fputs(" label=\"", out);
    if (elements) {
        print_element(out, &connection->from.element);
        fputs(connection->from.element.count && connection->to.element.count ? " to " : "", out);
        print_element(out, &connection->to.element);
        fputs(" ", out);
    }
    if (linear && conversion->factor != 1) {
        fputs("\xc3\x97 ", out);
        print_number(out, conversion->factor);
    }
    if (linear && conversion->offset != 0) {
        fputs(conversion->offset < 0 ? " \xe2\x88\x92 " : " + ", out);
        print_number(out, conversion->offset < 0 ? -conversion->offset : conversion->offset);
    }
    fputs(mapped ? " mapped\"" : "\"", out);
}

static uint32_t find_loop_of_connection(const struct tt_graph_picture *picture, const struct tt_connection *connection)
{
    uint32_t from = tt_system_graph_find_loop(picture->graph, &connection->from, true);
    return from && from == tt_system_graph_find_loop(picture->graph, &connection->to, false) ? from : 0;
}

static void print_arrow(const struct tt_graph_picture *picture, const struct tt_connection *connection, bool at_ports)
{
    fputs("  ", picture->out);
    print_end(picture, &connection->from, true, at_ports);
    fputs(" -> ", picture->out);
    print_end(picture, &connection->to, false, at_ports);
    fputs(" [", picture->out);
}

static bool graph_arrows_connects_clocks(const struct tt_graph_picture *picture, const struct tt_connection *connection)
{
    const struct tt_end *end = connection->from.component != TUTTI_NONE ? &connection->from : &connection->to;
    return end->component != TUTTI_NONE &&
           picture->system->components[end->component].fmu->desc->vars[end->variable].type == TUTTI_TYPE_CLOCK;
}

/* Selects the style of an arrow whose connections are all for the start, or all of clocks. */
static void print_style(struct tt_graph_picture *picture, bool start_only, bool clocks)
{
    if (start_only || clocks)
        fprintf(picture->out, " style=%s", start_only ? "dotted" : "dashed");
    picture->dotted |= start_only;
    picture->dashed |= clocks && !start_only;
}

static void print_connection(struct tt_graph_picture *picture, const struct tt_connection *connection)
{
    uint32_t loop = find_loop_of_connection(picture, connection);
    print_arrow(picture, connection, true);
    if (loop)
        fprintf(picture->out, "color=\"%s\" penwidth=2", tt_graph_dot_strong_colour(loop));
    print_style(picture, connection->at_start_only, graph_arrows_connects_clocks(picture, connection));
    print_connection_label(picture, connection);
    fputs("];\n", picture->out);
}

/* All connections of a pair of units, as one arrow. */
static void print_bundle(struct tt_graph_picture *picture, const struct tt_connection *const *connections, size_t count)
{
    uint32_t loop = 0;
    bool start_only = true, clocks = true;
    for (size_t i = 0; i < count; i++) {
        loop = loop ? loop : find_loop_of_connection(picture, connections[i]);
        start_only &= connections[i]->at_start_only;
        clocks &= graph_arrows_connects_clocks(picture, connections[i]);
    }
    print_arrow(picture, connections[0], false);
    fprintf(picture->out, "penwidth=%s", loop ? "2.5" : count > 1 ? "1.6" : "1");
    if (loop)
        fprintf(picture->out, " color=\"%s\"", tt_graph_dot_strong_colour(loop));
    print_style(picture, start_only, clocks);
    if (count > 1)
        fprintf(picture->out, " label=\"%zu\"", count);
    fputs("];\n", picture->out);
    picture->bundled |= count > 1;
}

void tt_graph_dot_print_arrows(struct tt_graph_picture *picture)
{
    size_t total = picture->system->connection_count, end;
    for (size_t first = 0; first < total; first = end) {
        end = find_end_of_pair(picture, first);
        if (is_bundle(picture, end - first))
            print_bundle(picture, picture->sorted + first, end - first);
        else
            for (size_t i = first; i < end; i++)
                print_connection(picture, picture->sorted[i]);
    }
}
