/* SPDX-License-Identifier: MIT */
/* Connections and which way they go: SSP 2.0, 5.3.2 (Allowed Connections). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/system/flat.h"

void tt_edges_fail(struct tt_flat *flat, struct tt_flat_edge *edge, const char *format, ...)
{
    char text[1024];
    if (edge->reported)
        return;
    edge->reported = true;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (edge->file)
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, edge->file, edge->line, "%s", text);
    else if (!flat->err)
        flat->err = tt_fail(TUTTI_ERR_ARGUMENT, "--connect %s: %s", edge->text, text);
}

void tt_edges_report_unknown_units(struct tt_flat *flat, struct tt_flat_edge *edge)
{
    if (edge->file && !edge->warned)
        tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, edge->file, edge->line,
                        "'%s' to '%s': it is unknown how their units relate, because not both are defined; values "
                        "are not converted",
                        tt_flat_end_name(flat, &edge->from), tt_flat_end_name(flat, &edge->to));
    else if (!edge->warned)
        tt_log(flat->source->log, TUTTI_LOG_WARNING, flat->system->name,
               "--connect %s: it is unknown how the units relate, because not both are defined; values are "
               "not converted",
               edge->text);
    edge->warned = true;
}

enum role { SOURCE, DESTINATION, EITHER };

/* Inside of a system its inputs are where values come from; outside they are where values go. */
static enum role edges_role_of(const struct tt_flat_edge_end *end)
{
    switch ((enum tt_ssp_kind)end->kind) {
    case TUTTI_SSP_INPUT:
    case TUTTI_SSP_PARAMETER:
    case TUTTI_SSP_STRUCTURAL_PARAMETER: return end->inner ? SOURCE : DESTINATION;
    case TUTTI_SSP_OUTPUT:
    case TUTTI_SSP_CALCULATED_PARAMETER:
    case TUTTI_SSP_CONSTANT:
    case TUTTI_SSP_LOCAL: return end->inner ? DESTINATION : SOURCE;
    case TUTTI_SSP_INOUT:
    case TUTTI_SSP_UNSPECIFIED: break;
    }
    return EITHER;
}

/* How constant a source is: 3 from before the initialisation on, 2 from its end on, 1 not at all. */
static int edges_constancy_of(bool inner, enum tt_ssp_kind kind)
{
    switch (kind) {
    case TUTTI_SSP_CONSTANT: return inner ? 0 : 3;
    case TUTTI_SSP_CALCULATED_PARAMETER: return inner ? 0 : 2;
    case TUTTI_SSP_OUTPUT:
    case TUTTI_SSP_LOCAL: return inner ? 0 : 1;
    case TUTTI_SSP_STRUCTURAL_PARAMETER: return inner ? 3 : 0;
    case TUTTI_SSP_PARAMETER: return inner ? 2 : 0;
    case TUTTI_SSP_INPUT: return inner ? 1 : 0;
    case TUTTI_SSP_INOUT: return 1;
    case TUTTI_SSP_UNSPECIFIED: break;
    }
    return 3;
}

/* How constant a destination needs its source to be; 4: it is none. */
static int edges_need_of(bool inner, enum tt_ssp_kind kind)
{
    switch (kind) {
    case TUTTI_SSP_STRUCTURAL_PARAMETER: return inner ? 4 : 3;
    case TUTTI_SSP_PARAMETER: return inner ? 4 : 2;
    case TUTTI_SSP_INPUT: return inner ? 4 : 1;
    case TUTTI_SSP_CONSTANT: return inner ? 3 : 4;
    case TUTTI_SSP_CALCULATED_PARAMETER: return inner ? 2 : 4;
    case TUTTI_SSP_OUTPUT:
    case TUTTI_SSP_LOCAL: return inner ? 1 : 4;
    case TUTTI_SSP_INOUT: return 1;
    case TUTTI_SSP_UNSPECIFIED: break;
    }
    return 0;
}

bool tt_edges_is_allowed(bool from_inner, enum tt_ssp_kind from, bool to_inner, enum tt_ssp_kind to)
{
    int constancy = edges_constancy_of(from_inner, from);
    /* A system's structural parameter is not a constant. */
    bool excluded = to_inner && to == TUTTI_SSP_CONSTANT && from_inner && from == TUTTI_SSP_STRUCTURAL_PARAMETER;
    return constancy > 0 && constancy >= edges_need_of(to_inner, to) && !excluded;
}

static bool edges_same_place(const struct tt_flat_edge_end *a, const struct tt_flat_edge_end *b)
{
    if (a->node != b->node || (a->index_count && b->index_count && a->index_count != b->index_count))
        return false;
    return a->index_count == 0 || b->index_count == 0 ||
           memcmp(a->indices, b->indices, a->index_count * sizeof *a->indices) == 0;
}

static void report_direction(struct tt_flat *flat, struct tt_flat_edge *edge, enum role role)
{
    const char *words = role == SOURCE ? "values come out of both, so that none goes anywhere; connect an output to an "
                                         "input"
                                       : "values go into both, so that none comes from anywhere; connect an output to "
                                         "an input";
    tt_edges_fail(flat, edge, "'%s' (%s%s) and '%s' (%s%s) cannot be connected: %s",
                  tt_flat_end_name(flat, &edge->from), edge->from.inner ? "the system's " : "",
                  tt_ssd_kind_name(edge->from.kind), tt_flat_end_name(flat, &edge->to),
                  edge->to.inner ? "the system's " : "", tt_ssd_kind_name(edge->to.kind), words);
}

static void report_kinds(struct tt_flat *flat, struct tt_flat_edge *edge)
{
    static const char *const takes[] = {"", "values that change",
                                        "parameters, constants and calculated parameters only",
                                        "constants and structural parameters of the system only"};
    int need = edges_need_of(edge->to.inner, edge->to.kind);
    tt_edges_fail(flat, edge, "'%s' (%s%s) cannot be connected to '%s' (%s%s), which takes %s",
                  tt_flat_end_name(flat, &edge->from), edge->from.inner ? "the system's " : "",
                  tt_ssd_kind_name(edge->from.kind), tt_flat_end_name(flat, &edge->to),
                  edge->to.inner ? "the system's " : "", tt_ssd_kind_name(edge->to.kind), takes[need < 4 ? need : 0]);
}

/* Only references to signal dictionaries have connectors that go both ways, and only for what does not. */
static bool check_inout(struct tt_flat *flat, struct tt_flat_edge *edge)
{
    const struct tt_flat_edge_end *first = &edge->from, *second = &edge->to;
    const struct tt_flat_edge_end *own = first->inner && first->kind == TUTTI_SSP_INOUT     ? first
                                         : second->inner && second->kind == TUTTI_SSP_INOUT ? second
                                                                                            : NULL;
    if (own)
        tt_edges_fail(flat, edge,
                      "'%s' cannot be connected to '%s': '%s' is a connector of the system itself of kind inout, which "
                      "is for references to signal dictionaries; make it an input or an output",
                      tt_flat_end_name(flat, first), tt_flat_end_name(flat, second), tt_flat_end_name(flat, own));
    else if (first->kind == TUTTI_SSP_INOUT && second->kind == TUTTI_SSP_INOUT)
        tt_edges_fail(flat, edge,
                      "'%s' and '%s' are both of kind inout, which does not say which way values go; make one of "
                      "them an output and the other one an input",
                      tt_flat_end_name(flat, first), tt_flat_end_name(flat, second));
    return !edge->reported;
}

/* with a time-based clock, which leads to triggered ones */
static enum role role_of_clock(const struct tt_flat *flat, const struct tt_flat_edge_end *end,
                               const struct tt_flat_edge_end *other)
{
    return tt_flat_clock_triggers(flat, tt_flat_node(flat, end->node), tt_flat_node(flat, other->node))
               ? SOURCE
               : edges_role_of(end);
}

enum tutti_err tt_edges_add(struct tt_flat *flat, const struct tt_flat_edge *given)
{
    struct tt_flat_edge edge = *given;
    enum role first = role_of_clock(flat, &edge.from, &edge.to), second = role_of_clock(flat, &edge.to, &edge.from);
    if (edges_same_place(&edge.from, &edge.to)) {
        tt_edges_fail(flat, &edge, "'%s' is connected to itself; remove the connection or name another connector",
                      tt_flat_end_name(flat, &edge.from));
        return flat->err;
    }
    if (!check_inout(flat, &edge))
        return flat->err;
    if (first == second && first != EITHER) {
        report_direction(flat, &edge, first);
        return flat->err;
    }
    edge.ambiguous = first == EITHER && second == EITHER;
    bool backward = first == DESTINATION || second == SOURCE;
    if (!edge.file && edge.transformation && (backward || edge.ambiguous)) {
        tt_edges_fail(flat, &edge, "a factor or an offset belongs to an output, and '%s' is none",
                      tt_flat_end_name(flat, &edge.from));
        return flat->err;
    }
    if (backward) {
        struct tt_flat_edge_end end = edge.from;
        edge.from = edge.to;
        edge.to = end;
    }
    bool clock = tt_flat_clock_triggers(flat, tt_flat_node(flat, edge.from.node), tt_flat_node(flat, edge.to.node));
    if (!edge.ambiguous && !clock &&
        !tt_edges_is_allowed(edge.from.inner, edge.from.kind, edge.to.inner, edge.to.kind)) {
        report_kinds(flat, &edge);
        return flat->err;
    }
    struct tt_flat_edge *place = tt_vector_push(&flat->edges, sizeof *place);
    if (!place)
        return tt_fail_memory();
    *place = edge;
    return tt_flat_check_size(flat);
}

/* ---- connections that go either way ---- */

struct edge_search {
    uint32_t *first, *edges, *queue;
    bool *driven, *queued;
    uint32_t begin, end;
};

static void edge_search_fini(struct edge_search *around)
{
    free(around->first);
    free(around->edges);
    free(around->queue);
    free(around->driven);
    free(around->queued);
}

static bool edge_search_init(struct edge_search *around, const struct tt_flat *flat)
{
    size_t nodes = flat->nodes.count, edges = flat->edges.count;
    *around = (struct edge_search){
        .first = calloc(nodes + 2, sizeof *around->first),
        .edges = calloc(2 * edges + 1, sizeof *around->edges),
        .queue = calloc(nodes + 1, sizeof *around->queue),
        .driven = calloc(nodes + 1, sizeof *around->driven),
        .queued = calloc(nodes + 1, sizeof *around->queued),
    };
    if (!around->first || !around->edges || !around->queue || !around->driven || !around->queued) {
        edge_search_fini(around);
        return false;
    }
    for (uint32_t i = 0; i < edges; i++) {
        const struct tt_flat_edge *edge = tt_flat_edge(flat, i);
        if (edge->ambiguous) {
            around->first[edge->from.node + 2]++;
            around->first[edge->to.node + 2]++;
        }
    }
    for (size_t i = 2; i < nodes + 2; i++)
        around->first[i] += around->first[i - 1];
    for (uint32_t i = 0; i < edges; i++) {
        const struct tt_flat_edge *edge = tt_flat_edge(flat, i);
        if (edge->ambiguous) {
            around->edges[around->first[edge->from.node + 1]++] = i;
            around->edges[around->first[edge->to.node + 1]++] = i;
        }
    }
    return true;
}

static void edges_enqueue(struct edge_search *around, uint32_t node)
{
    if (!around->queued[node])
        around->queue[around->end++] = node;
    around->queued[node] = true;
}

/* The edge leads from `node` from now on. */
static uint32_t direct_edge_from(struct tt_flat_edge *edge, uint32_t node)
{
    if (edge->from.node != node) {
        struct tt_flat_edge_end end = edge->from;
        edge->from = edge->to;
        edge->to = end;
    }
    edge->ambiguous = false;
    return edge->to.node;
}

/* Where values come in they go out by every other way. */
static void edges_propagate_forward(struct edge_search *around, const struct tt_flat *flat)
{
    while (around->begin < around->end) {
        uint32_t node = around->queue[around->begin++];
        for (uint32_t i = around->first[node]; i < around->first[node + 1]; i++) {
            struct tt_flat_edge *edge = tt_flat_edge(flat, around->edges[i]);
            if (!edge->ambiguous)
                continue;
            uint32_t other = direct_edge_from(edge, node);
            around->driven[other] = true;
            edges_enqueue(around, other);
        }
    }
}

/* Where values are taken and none comes in, they come by the first way that is left. */
static void edges_resolve_undriven(struct edge_search *around, const struct tt_flat *flat)
{
    while (around->begin < around->end) {
        uint32_t node = around->queue[around->begin++];
        for (uint32_t i = around->first[node]; i < around->first[node + 1]; i++) {
            struct tt_flat_edge *edge = tt_flat_edge(flat, around->edges[i]);
            if (!edge->ambiguous)
                continue;
            uint32_t other = edge->from.node == node ? edge->to.node : edge->from.node;
            bool comes_in = !around->driven[node];
            direct_edge_from(edge, comes_in ? other : node);
            around->driven[comes_in ? node : other] = true;
            edges_enqueue(around, other);
        }
    }
}

static void drop_ambiguous_edges(struct tt_flat *flat)
{
    size_t kept = 0;
    for (uint32_t i = 0; i < flat->edges.count; i++) {
        struct tt_flat_edge *edge = tt_flat_edge(flat, i);
        if (edge->ambiguous)
            tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, edge->file, edge->line,
                            "the connection of '%s' and '%s' goes either way, and nothing near them says which; it "
                            "is left out",
                            tt_flat_end_name(flat, &edge->from), tt_flat_end_name(flat, &edge->to));
        else
            *tt_flat_edge(flat, (uint32_t)kept++) = *edge;
    }
    flat->edges.count = kept;
}

enum tutti_err tt_edges_resolve_directions(struct tt_flat *flat)
{
    struct edge_search around;
    bool any = false;
    for (uint32_t i = 0; i < flat->edges.count && !any; i++)
        any = tt_flat_edge(flat, i)->ambiguous;
    if (!any)
        return TUTTI_OK;
    if (!edge_search_init(&around, flat))
        return tt_fail_memory();
    for (uint32_t i = 0; i < flat->edges.count; i++) {
        const struct tt_flat_edge *edge = tt_flat_edge(flat, i);
        if (!edge->ambiguous) {
            around.driven[edge->to.node] = true;
            edges_enqueue(&around, edge->to.node);
        }
    }
    edges_propagate_forward(&around, flat);
    around.begin = around.end = 0;
    memset(around.queued, 0, flat->nodes.count * sizeof *around.queued);
    for (uint32_t i = 0; i < flat->edges.count; i++)
        if (!tt_flat_edge(flat, i)->ambiguous)
            edges_enqueue(&around, tt_flat_edge(flat, i)->from.node);
    edges_resolve_undriven(&around, flat);
    drop_ambiguous_edges(flat);
    edge_search_fini(&around);
    return TUTTI_OK;
}

/* ---- differences ---- */

/* The first of the wires that a node belongs to; the way there gets shorter on every walk. */
static uint32_t edges_first_of(uint32_t *parents, uint32_t node)
{
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

static bool edges_is_wire(const struct tt_flat *flat, uint32_t node)
{
    return tt_flat_node(flat, node)->component == TUTTI_NONE;
}

static void edges_merge_relative(const struct tt_flat *flat, uint32_t *parents)
{
    for (uint32_t i = 0; i < flat->nodes.count; i++)
        parents[i] = i;
    for (uint32_t i = 0; i < flat->edges.count; i++) {
        const struct tt_flat_edge *edge = tt_flat_edge(flat, i);
        if (edges_is_wire(flat, edge->from.node) && edges_is_wire(flat, edge->to.node))
            parents[edges_first_of(parents, edge->from.node)] = edges_first_of(parents, edge->to.node);
    }
    for (uint32_t i = 0; i < flat->edges.count; i++) {
        const uint32_t ends[] = {tt_flat_edge(flat, i)->from.node, tt_flat_edge(flat, i)->to.node};
        for (int e = 0; e < 2; e++)
            if (tt_flat_node(flat, ends[e])->look.relative && edges_is_wire(flat, ends[1 - e]))
                tt_flat_node(flat, edges_first_of(parents, ends[1 - e]))->look.relative = true;
    }
    for (uint32_t i = 0; i < flat->nodes.count; i++)
        if (edges_is_wire(flat, i))
            tt_flat_node(flat, i)->look.relative = tt_flat_node(flat, edges_first_of(parents, i))->look.relative;
}

enum tutti_err tt_edges_propagate_relative(const struct tt_flat *flat)
{
    bool any = false;
    for (uint32_t i = 0; i < flat->nodes.count && !any; i++)
        any = tt_flat_node(flat, i)->look.relative;
    if (!any)
        return TUTTI_OK;
    uint32_t *parents = calloc(flat->nodes.count, sizeof *parents);
    if (!parents)
        return tt_fail_memory();
    edges_merge_relative(flat, parents);
    free(parents);
    return TUTTI_OK;
}
