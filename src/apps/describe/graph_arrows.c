/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "apps/describe/graph_dot.h"

/* Beyond so many connections, many between the same units are one arrow. */
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

/* Are the connections of a pair of units one arrow? */
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

/* The loop that a connection closes, or 0. */
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

/* How an arrow is drawn whose connections are all for the start, or all of clocks. */
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
