/* SPDX-License-Identifier: MIT */
/* Where the values of each place come from, however many wires lie between. */
#include <stdio.h>
#include <stdlib.h>

#include "base/binary_search.h"
#include "model/system/flat.h"

enum { UNSEEN, OPEN, DONE };

/* ---- edges by destination, one source for each ---- */

static int wiring_compare_ends(const struct tt_flat_edge_end *a, const struct tt_flat_edge_end *b)
{
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->index_count != b->index_count)
        return a->index_count < b->index_count ? -1 : 1;
    for (uint32_t i = 0; i < a->index_count; i++)
        if (a->indices[i] != b->indices[i])
            return a->indices[i] < b->indices[i] ? -1 : 1;
    return 0;
}

static int compare_edges(const void *a, const void *b)
{
    const struct tt_flat_edge *x = a, *y = b;
    int order = wiring_compare_ends(&x->to, &y->to);
    return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

void tt_wiring_report_duplicate(struct tt_flat *flat, const struct tt_flat_edge *first, struct tt_flat_edge *second)
{
    char where[512] = "the command line";
    if (first->file)
        snprintf(where, sizeof where, "%s:%u", first->file, first->line);
    tt_edges_fail(flat, second, "'%s' has two sources, '%s' and, from %s, '%s'; remove one of the connections",
                  tt_flat_end_name(flat, &second->to), tt_flat_end_name(flat, &second->from), where,
                  tt_flat_end_name(flat, &first->from));
}

/* Variables of FMUs are looked at where values arrive: two connectors may name the same one. */
static void check_wire(struct tt_flat *flat, const struct tt_flat_node *node)
{
    if (node->component != TUTTI_NONE)
        return;
    const struct tt_flat_edge *first = tt_flat_edge(flat, node->first_edge);
    for (uint32_t i = 1; i < node->edge_count; i++) {
        struct tt_flat_edge *edge = tt_flat_edge(flat, node->first_edge + i);
        bool same = first->to.index_count == 0 || wiring_compare_ends(&first->to, &edge->to) == 0;
        if (same && !(first->adds && edge->adds))
            tt_wiring_report_duplicate(flat, first, edge);
        else
            first = edge;
    }
}

static enum tutti_err sort_edges(struct tt_flat *flat)
{
    if (flat->edges.count > TUTTI_NONE / 2 || flat->nodes.count > TUTTI_NONE / 2)
        return tt_fail(TUTTI_ERR_LIMIT, "%s: too many connections", flat->system->path);
    for (uint32_t i = 0; i < flat->edges.count; i++)
        tt_flat_edge(flat, i)->order = i;
    if (flat->edges.count > 1)
        qsort(flat->edges.items, flat->edges.count, sizeof(struct tt_flat_edge), compare_edges);
    for (uint32_t i = 0; i < flat->edges.count; i++) {
        struct tt_flat_node *node = tt_flat_node(flat, tt_flat_edge(flat, i)->to.node);
        if (node->edge_count++ == 0)
            node->first_edge = i;
    }
    for (uint32_t i = 0; i < flat->nodes.count; i++)
        if (tt_flat_node(flat, i)->edge_count > 1)
            check_wire(flat, tt_flat_node(flat, i));
    return flat->err;
}

/* ---- feeds ---- */

/* An input of the whole system: of the root, and nothing leads to it; or a column of a table. */
static bool wiring_is_port(const struct tt_flat_node *node)
{
    bool root = node->item == 0 && (node->kind == TUTTI_SSP_INPUT || node->kind == TUTTI_SSP_UNSPECIFIED);
    return node->component == TUTTI_NONE && node->edge_count == 0 && !node->entry &&
           (root || node->column != TUTTI_NONE);
}

static enum tutti_err wiring_copy_indices(struct tt_flat *flat, const struct tt_flat_edge_end *end,
                                          const struct tt_indices **out)
{
    struct tt_indices *copy = tt_arena_alloc(&flat->arena, sizeof *copy);
    *out = copy;
    if (!copy)
        return tt_fail_memory();
    copy->count = end->index_count;
    for (uint32_t i = 0; i < end->index_count; i++)
        copy->index[i] = end->indices[i];
    return TUTTI_OK;
}

static int compare_indices(const struct tt_indices *a, const struct tt_flat_edge_end *b)
{
    if (a->count != b->index_count)
        return a->count < b->index_count ? -1 : 1;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->index[i] != b->indices[i])
            return a->index[i] < b->indices[i] ? -1 : 1;
    return 0;
}

/* The feed of one element among those of a wire, which are sorted by element; NULL: it has none. */
static const struct tt_flat_feed *feed_of_element(const struct tt_flat_feed *feeds, size_t count,
                                                  const struct tt_flat_edge_end *element)
{
    size_t at;
    if (count > 0 && !feeds[0].to)
        return &feeds[0];
    TUTTI_SEARCH(at, count, compare_indices(feeds[at].to, element) < 0);
    return at < count && compare_indices(feeds[at].to, element) == 0 ? &feeds[at] : NULL;
}

/* A flow through an edge; *passed is false, and that is reported, if it cannot be. */
static enum tutti_err wiring_pass_edge(struct tt_flat *flat, struct tt_flow *flow, struct tt_flat_edge *edge,
                                       bool *passed)
{
    const struct tt_signal_spec *target = &tt_flat_node(flat, edge->to.node)->look;
    const struct tt_signal_spec *view = edge->to.look ? edge->to.look : target;
    bool unknown = false;
    enum tutti_err err = tt_flow_apply(flow, edge->from.look, view, target, edge->suppress, edge->transformation,
                                       &flat->system->arena, &unknown);
    *passed = err == TUTTI_OK;
    if (err == TUTTI_ERR_MEMORY)
        return err;
    if (err)
        tt_edges_fail(flat, edge, "'%s' to '%s': %s", tt_flat_end_name(flat, &edge->from),
                      tt_flat_end_name(flat, &edge->to), tutti_err_message());
    else if (unknown)
        tt_edges_report_unknown_units(flat, edge);
    return flat->err;
}

static enum tutti_err add_feed(struct tt_flat *flat, const struct tt_flat_feed *source, uint32_t index)
{
    struct tt_flat_edge *edge = tt_flat_edge(flat, index);
    struct tt_flat_feed feed = *source;
    bool passed;
    feed.edge = index;
    if (edge->from.index_count > 0) {
        /* Of an array that came as a whole; or the element came by itself. */
        if (!feed.to && !feed.from)
            TRY(wiring_copy_indices(flat, &edge->from, &feed.from));
        feed.to = NULL;
    }
    if (edge->to.index_count > 0) {
        if (feed.to) {
            tt_edges_fail(flat, edge, "'%s' is an array, but '%s' is one element; add startIndices or endIndices",
                          tt_flat_end_name(flat, &edge->from), tt_flat_end_name(flat, &edge->to));
            return flat->err;
        }
        TRY(wiring_copy_indices(flat, &edge->to, &feed.to));
    }
    TRY(wiring_pass_edge(flat, &feed.flow, edge, &passed));
    if (!passed)
        return TUTTI_OK;
    struct tt_flat_feed *place = tt_vector_push(&flat->feeds, sizeof *place);
    if (!place)
        return tt_fail_memory();
    *place = feed;
    return tt_flat_check_size(flat);
}

static enum tutti_err wiring_feed_through(struct tt_flat *flat, uint32_t index)
{
    const struct tt_flat_edge *edge = tt_flat_edge(flat, index);
    const struct tt_flat_node *from = tt_flat_node(flat, edge->from.node);
    if (from->component != TUTTI_NONE || wiring_is_port(from)) {
        struct tt_flat_feed feed = {.node = edge->from.node,
                                    .flow = {.look = from->look, .wired = true, .lossy = flat->convert}};
        return add_feed(flat, &feed, index);
    }
    /* The list of feeds grows and moves. */
    for (size_t i = 0; i < from->feed_count; i++) {
        const struct tt_flat_feed *feeds = (const struct tt_flat_feed *)flat->feeds.items + from->first_feed;
        const struct tt_flat_feed *feed = &feeds[i];
        if (edge->from.index_count > 0)
            feed = feed_of_element(feeds, from->feed_count, &edge->from);
        if (feed) {
            struct tt_flat_feed copy = *feed;
            TRY(add_feed(flat, &copy, index));
        }
        if (edge->from.index_count > 0)
            break;
    }
    return TUTTI_OK;
}

/* ---- values ---- */

/* The value that comes along an edge: a wire keeps the best, a variable gets one more candidate. */
static enum tutti_err wiring_value_through(struct tt_flat *flat, struct tt_flat_edge *edge, struct tt_flat_node *to)
{
    const struct tt_flat_value *value = tt_flat_node(flat, edge->from.node)->value;
    if (!value)
        return TUTTI_OK;
    TRY(tt_start_values_pass(flat, value, edge, &value));
    if (!value)
        return flat->err;
    if (to->component != TUTTI_NONE) {
        struct tt_indices element = {.count = edge->to.index_count};
        for (uint32_t i = 0; i < element.count; i++)
            element.index[i] = edge->to.indices[i];
        return tt_start_values_add_candidate(flat, value, to->component, to->variable, &element);
    }
    if (edge->to.index_count > 0)
        tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, edge->file, edge->line,
                        "the value of '%s' ends at '%s': values of single elements do not pass connectors of "
                        "systems; set the variable of the FMU",
                        tt_flat_end_name(flat, &edge->from), tt_flat_end_name(flat, &edge->to));
    else if (!to->value || value->rank > to->value->rank)
        to->value = value;
    return TUTTI_OK;
}

/* What a connector is given, and what comes to it from an FMU: the latter counts. */
static void warn_unused(struct tt_flat *flat, const struct tt_flat_node *node, const struct tt_flat_value *given)
{
    bool output = node->kind != TUTTI_SSP_INPUT && node->kind != TUTTI_SSP_PARAMETER &&
                  node->kind != TUTTI_SSP_STRUCTURAL_PARAMETER;
    if (given && output && node->feed_count > 0)
        tt_start_values_report(flat, given, TUTTI_FINDING_WARNING,
                               "'%s' has its values from inside; the one given is not used",
                               tt_flat_path(flat, node->item, node->name));
}

static enum tutti_err wiring_finish_node(struct tt_flat *flat, struct tt_flat_node *node)
{
    const struct tt_flat_value *given = node->value;
    node->first_feed = flat->feeds.count;
    for (uint32_t i = 0; i < node->edge_count; i++) {
        struct tt_flat_edge *edge = tt_flat_edge(flat, node->first_edge + i);
        if (edge->reported)
            continue;
        TRY(wiring_feed_through(flat, node->first_edge + i));
        if (!edge->reported)
            TRY(wiring_value_through(flat, edge, node));
    }
    node->feed_count = flat->feeds.count - node->first_feed;
    node->state = DONE;
    warn_unused(flat, node, given);
    return flat->err;
}

/* ---- the order: what lies upstream comes first ---- */

static void wiring_report_cycle(struct tt_flat *flat, const struct tt_vector *stack, struct tt_flat_edge *closing)
{
    const uint32_t *path = stack->items;
    char chain[600] = "";
    size_t begin = stack->count, used = 0;
    while (begin > 0 && path[begin - 1] != closing->from.node)
        begin--;
    /* The stack goes upstream; people read downstream. */
    for (size_t i = stack->count; i + 1 > begin && i > 0 && used < sizeof chain - 120; i--)
        used += (size_t)snprintf(chain + used, sizeof chain - used, "%s'%.100s'", used ? " to " : "",
                                 tt_flat_node_name(flat, path[i - 1]));
    tt_edges_fail(flat, closing, "connectors of systems are connected in a circle, and no FMU gives a value: %s",
                  chain);
}

static enum tutti_err wiring_visit_node(struct tt_flat *flat, struct tt_vector *stack, uint32_t start)
{
    uint32_t *top = tt_vector_push(stack, sizeof *top);
    if (!top)
        return tt_fail_memory();
    *top = start;
    tt_flat_node(flat, start)->state = OPEN;
    while (stack->count > 0) {
        struct tt_flat_node *node = tt_flat_node(flat, ((uint32_t *)stack->items)[stack->count - 1]);
        if (node->cursor == node->edge_count) {
            TRY(wiring_finish_node(flat, node));
            stack->count--;
            continue;
        }
        struct tt_flat_edge *edge = tt_flat_edge(flat, node->first_edge + node->cursor++);
        struct tt_flat_node *from = tt_flat_node(flat, edge->from.node);
        if (edge->reported || from->component != TUTTI_NONE || from->state == DONE)
            continue;
        if (from->state == OPEN) {
            wiring_report_cycle(flat, stack, edge);
            continue;
        }
        from->state = OPEN;
        top = tt_vector_push(stack, sizeof *top);
        if (!top)
            return tt_fail_memory();
        *top = edge->from.node;
    }
    return flat->err;
}

enum tutti_err tt_wiring_build_feeds(struct tt_flat *flat)
{
    struct tt_vector stack = {0};
    enum tutti_err err = sort_edges(flat);
    for (uint32_t i = 0; i < flat->nodes.count && !err; i++)
        if (tt_flat_node(flat, i)->state == UNSEEN && tt_flat_node(flat, i)->edge_count > 0)
            err = wiring_visit_node(flat, &stack, i);
    tt_vector_fini(&stack);
    return err;
}
