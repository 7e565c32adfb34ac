/* SPDX-License-Identifier: MIT */
/* Where the values of each place come from, however many wires lie between. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
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
        /* Of an array that was connected as a whole; otherwise a single element was connected. */
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

    /* Values that come from an FMU have precedence over the start value of a connector. */
    bool output = node->kind != TUTTI_SSP_INPUT && node->kind != TUTTI_SSP_PARAMETER &&
                  node->kind != TUTTI_SSP_STRUCTURAL_PARAMETER;
    if (given && output && node->feed_count > 0)
        tt_start_values_report(flat, given, TUTTI_FINDING_WARNING,
                               "'%s' has its values from inside; the one given is not used",
                               tt_flat_path(flat, node->item, node->name));
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

/* The flat connections: what arrives at variables of FMUs and at outputs of the system. */

struct arrival {
    uint32_t component, variable; /* TUTTI_NONE, and the node, for an output of the system */
    const struct tt_flat_feed *feed;
};

static int compare_arrivals(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    if (x->variable != y->variable)
        return x->variable < y->variable ? -1 : 1;
    int order = tt_setting_compare_indices(x->feed->to, y->feed->to);
    return order ? order : x->feed->edge < y->feed->edge ? -1 : x->feed->edge > y->feed->edge;
}

static enum tutti_err collect_arrivals(struct tt_flat *flat, struct tt_vector *arrivals)
{
    for (uint32_t i = 0; i < flat->nodes.count; i++) {
        const struct tt_flat_node *node = tt_flat_node(flat, i);
        /* Values of the root's own outputs; inside the root they are destinations. */
        bool output = node->component == TUTTI_NONE && node->item == 0 && !node->entry && node->edge_count > 0;
        if (node->component == TUTTI_NONE && !output)
            continue;
        for (size_t f = 0; f < node->feed_count; f++) {
            struct arrival *arrival = tt_vector_push(arrivals, sizeof *arrival);
            if (!arrival)
                return tt_fail_memory();
            *arrival = (struct arrival){node->component, output ? i : node->variable,
                                        (const struct tt_flat_feed *)flat->feeds.items + node->first_feed + f};
        }
    }
    if (arrivals->count > 1)
        qsort(arrivals->items, arrivals->count, sizeof(struct arrival), compare_arrivals);
    return TUTTI_OK;
}

/* A second source for a variable, or an element of it, is reported and left out. */
static void drop_duplicate_arrivals(struct tt_flat *flat, struct tt_vector *arrivals)
{
    struct arrival *items = arrivals->items;
    size_t kept = 0;
    for (size_t i = 0; i < arrivals->count; i++) {
        const struct arrival *last = kept ? &items[kept - 1] : NULL;
        bool same = last && last->component == items[i].component && last->variable == items[i].variable;
        if (same && last->feed->edge != items[i].feed->edge &&
            (!last->feed->to || tt_setting_compare_indices(last->feed->to, items[i].feed->to) == 0))
            tt_wiring_report_duplicate(flat, tt_flat_edge(flat, last->feed->edge),
                                       tt_flat_edge(flat, items[i].feed->edge));
        else
            items[kept++] = items[i];
    }
    arrivals->count = kept;
}

/* ---- checks of both ends ---- */

static const struct tt_var *wiring_variable_of(const struct tt_flat *flat, const struct tt_flat_node *node)
{
    return &tt_flat_component(flat, node->component)->fmu->desc->vars[node->variable];
}

/* Connectors without a kind would permit any connection. */
static bool check_kinds(struct tt_flat *flat, const struct tt_flat_node *from, const struct tt_flat_node *to,
                        struct tt_flat_edge *edge)
{
    bool from_system = from->component == TUTTI_NONE, to_system = to->component == TUTTI_NONE;
    enum tt_ssp_kind kind = from_system ? TUTTI_SSP_INPUT : (enum tt_ssp_kind)from->kind;
    if (tt_edges_is_allowed(from_system, kind, to_system, to->kind) || tt_flat_clock_triggers(flat, from, to))
        return true;
    tt_edges_fail(flat, edge, "'%s' (%s) leads to '%s' (%s), which cannot take it",
                  tt_flat_node_name(flat, (uint32_t)(from - tt_flat_node(flat, 0))), tt_ssd_kind_name(kind),
                  tt_flat_node_name(flat, (uint32_t)(to - tt_flat_node(flat, 0))), tt_ssd_kind_name(to->kind));
    return false;
}

/* Extents that structural parameters may change are looked at when they are known. */
static bool wiring_extents_fit(const struct tt_var *from, const struct tt_var *to)
{
    if (from->dimension_count != to->dimension_count)
        return false;
    for (unsigned i = 0; i < from->dimension_count; i++) {
        const struct tt_dimension *a = &from->dimensions[i], *b = &to->dimensions[i];
        if (a->variable == TUTTI_NONE && b->variable == TUTTI_NONE && a->start != b->start)
            return false;
    }
    return true;
}

static bool check_extents(struct tt_flat *flat, const struct tt_flat_node *from, const struct tt_flat_node *to,
                          const struct tt_flat_feed *feed)
{
    static const struct tt_var scalar;
    if (from->component == TUTTI_NONE || to->component == TUTTI_NONE)
        return true;
    const struct tt_var *source = feed->from ? &scalar : wiring_variable_of(flat, from);
    const struct tt_var *target = feed->to ? &scalar : wiring_variable_of(flat, to);
    if (wiring_extents_fit(source, target))
        return true;
    tt_edges_fail(flat, tt_flat_edge(flat, feed->edge),
                  "'%s' (%u dimension%s, %llu value%s) does not fit '%s' (%u dimension%s, %llu value%s)",
                  tt_flat_node_name(flat, feed->node), source->dimension_count, source->dimension_count == 1 ? "" : "s",
                  (unsigned long long)tt_description_var_size(source), tt_description_var_size(source) == 1 ? "" : "s",
                  tt_flat_node_name(flat, (uint32_t)(to - tt_flat_node(flat, 0))), target->dimension_count,
                  target->dimension_count == 1 ? "" : "s", (unsigned long long)tt_description_var_size(target),
                  tt_description_var_size(target) == 1 ? "" : "s");
    return false;
}

/* ---- connections ---- */

/* Computes the row-major index of an element at the start sizes; false if the element does not exist. */
static bool wiring_place_of(const struct tt_var *var, const struct tt_indices *element, uint64_t *place)
{
    *place = 0;
    for (unsigned i = 0; i < element->count; i++) {
        if (element->index[i] < 1 || element->index[i] > var->dimensions[i].start)
            return false;
        *place = *place * var->dimensions[i].start + element->index[i] - 1;
    }
    return *place < var->start_count;
}

/* A constant is known now: what it is connected to gets a start value. */
static enum tutti_err pass_constant(struct tt_flat *flat, const struct arrival *arrival)
{
    const struct tt_flat_feed *feed = arrival->feed;
    const struct tt_flat_node *from = tt_flat_node(flat, feed->node);
    const struct tt_var *source = wiring_variable_of(flat, from);
    const struct tt_var *target = &tt_flat_component(flat, arrival->component)->fmu->desc->vars[arrival->variable];
    const struct tt_flat_edge *edge = tt_flat_edge(flat, feed->edge);
    const struct tt_conversion *conversion;
    uint64_t place = 0;
    if (feed->from && !wiring_place_of(source, feed->from, &place))
        return TUTTI_OK;
    struct tt_flat_value value = {.rank = TUTTI_RANK_CONSTANT,
                                  .passed = true,
                                  .origin = tt_flat_node_name(flat, feed->node),
                                  .file = edge->file,
                                  .line = edge->line,
                                  .look = {.typed = true, .type = target->type},
                                  .count = feed->from ? 1 : source->start_count};
    const char *data = (const char *)source->start + place * tt_type_size(source->type);
    void *converted = tt_arena_array(&flat->arena, value.count, tt_type_size(target->type));
    value.data = converted;
    if (!converted)
        return tt_fail_memory();
    TRY(tt_flow_make_conversion(&feed->flow, source->type, target->type, &flat->arena, &conversion));
    if (!conversion)
        value.data = data;
    else if (tt_conversion_apply(conversion, data, converted, value.count) != TUTTI_OK) {
        tt_edges_fail(flat, tt_flat_edge(flat, feed->edge), "'%s': %s", value.origin, tutti_err_message());
        return flat->err;
    }
    struct tt_indices element = feed->to ? *feed->to : (struct tt_indices){0};
    return tt_start_values_add_candidate(flat, &value, arrival->component, arrival->variable, &element);
}

static enum tutti_err wiring_emit_connection(struct tt_flat *flat, const struct arrival *arrival,
                                             struct tt_vector *connections)
{
    const struct tt_flat_feed *feed = arrival->feed;
    struct tt_flat_node *from = tt_flat_node(flat, feed->node);
    struct tt_flat_edge *edge = tt_flat_edge(flat, feed->edge);
    bool output = arrival->component == TUTTI_NONE;
    struct tt_flat_node *to = tt_flat_node(flat, output ? arrival->variable : edge->to.node);
    if (!check_kinds(flat, from, to, edge) || !check_extents(flat, from, to, feed))
        return flat->err;
    bool constant = from->component != TUTTI_NONE && from->kind == TUTTI_SSP_CONSTANT;
    if (constant && !output && wiring_variable_of(flat, from)->start)
        return pass_constant(flat, arrival);
    /* Ports without a type have that of what they are connected to. */
    if (!from->look.typed)
        from->look =
            (struct tt_signal_spec){.typed = true, .type = to->look.typed ? to->look.type : TUTTI_TYPE_FLOAT64};
    if (!to->look.typed) {
        const struct tt_unit_def *unit = to->look.unit;
        to->look = feed->flow.look;
        to->look.typed = true;
        to->look.unit = unit ? unit : feed->flow.look.unit;
        if (!feed->flow.look.typed)
            to->look.type = from->look.type;
    }
    if (!tt_conversion_is_possible(from->look.type, to->look.type) &&
        !(feed->flow.lossy && tt_conversion_rounds(from->look.type, to->look.type))) {
        tt_edges_fail(flat, edge, "'%s' is %s, which cannot be handed to '%s', %s", tt_flat_node_name(flat, feed->node),
                      tt_type_name(from->look.type), tt_flat_end_name(flat, &edge->to), tt_type_name(to->look.type));
        return flat->err;
    }
    bool linear = edge->transformation && edge->transformation->kind == TUTTI_SSP_LINEAR;
    struct tt_connection *connection = tt_vector_push(connections, sizeof *connection);
    if (!connection)
        return tt_fail_memory();
    const struct tt_connection *before = connections->count > 1 ? connection - 1 : NULL;
    *connection = (struct tt_connection){
        .from = {from->component, from->component == TUTTI_NONE ? feed->node : from->variable, {0}},
        .to = {arrival->component, arrival->variable, {0}},
        .factor = linear ? edge->transformation->factor : 1,
        .offset = linear ? edge->transformation->offset : 0,
        .unconverted = edge->suppress,
        .at_start_only = constant || from->kind == TUTTI_SSP_CALCULATED_PARAMETER,
        .file = edge->file,
        .line = edge->line,
    };
    if (feed->from)
        connection->from.element = *feed->from;
    if (feed->to)
        connection->to.element = *feed->to;
    connection->adds = before && before->to.component == connection->to.component &&
                       before->to.variable == connection->to.variable &&
                       tt_setting_compare_indices(&before->to.element, &connection->to.element) == 0;
    if (connection->adds && (from->look.type != TUTTI_TYPE_FLOAT64 || to->look.type != TUTTI_TYPE_FLOAT64)) {
        tt_edges_fail(flat, edge, "'%s' is a sum, and one of its terms or it itself is no Float64",
                      tt_flat_end_name(flat, &edge->to));
        return flat->err;
    }
    return tt_flow_make_conversion(&feed->flow, from->look.type, to->look.type, &flat->system->arena,
                                   &connection->conversion);
}

/* ---- ports ---- */

enum tutti_err tt_wiring_copy_unit(struct tt_flat *flat, const struct tt_unit_def *unit, const struct tt_unit_def **out)
{
    *out = NULL;
    if (!unit)
        return TUTTI_OK;
    struct tt_unit_def *copy = tt_arena_alloc(&flat->system->arena, sizeof *copy);
    if (!copy)
        return tt_fail_memory();
    *copy = *unit;
    copy->name = tt_arena_copy_text(&flat->system->arena, unit->name, strlen(unit->name));
    copy->first_display = copy->displays = 0;
    *out = copy;
    return copy->name ? TUTTI_OK : tt_fail_memory();
}

/* Returns true if the node may be one of the root's connectors, or a column of a table. */
static bool wiring_may_be_port(const struct tt_flat_node *node)
{
    return node->component == TUTTI_NONE && !node->entry && (node->item == 0 || node->column != TUTTI_NONE);
}

/* Numbers the ports among `ends` in the order of their connectors; `ends` still name nodes. */
static enum tutti_err wiring_make_ports(struct tt_flat *flat, struct tt_end **ends, size_t count,
                                        struct tt_port **ports, uint32_t *port_count)
{
    size_t most = 0;
    *port_count = 0;
    for (uint32_t n = 0; n < flat->nodes.count; n++)
        if (wiring_may_be_port(tt_flat_node(flat, n))) {
            tt_flat_node(flat, n)->cursor = TUTTI_NONE;
            most++;
        }
    for (size_t i = 0; i < count; i++)
        tt_flat_node(flat, ends[i]->variable)->cursor = 0;
    *ports = tt_arena_array(&flat->system->arena, most, sizeof **ports);
    if (!*ports)
        return tt_fail_memory();
    for (uint32_t n = 0; n < flat->nodes.count; n++) {
        struct tt_flat_node *node = tt_flat_node(flat, n);
        if (!wiring_may_be_port(node) || node->cursor == TUTTI_NONE)
            continue;
        node->cursor = *port_count;
        struct tt_port *port = &(*ports)[(*port_count)++];
        const char *name = tt_flat_path(flat, node->item, node->name);
        *port = (struct tt_port){.type = node->look.type,
                                 .table = tt_flat_item(flat, node->item)->table,
                                 .column = node->column,
                                 .file = node->file,
                                 .line = node->line};
        port->name = tt_arena_copy_text(&flat->system->arena, name, strlen(name));
        if (!port->name)
            return tt_fail_memory();
        TRY(tt_wiring_copy_unit(flat, node->look.unit, &port->unit));
    }
    for (size_t i = 0; i < count; i++)
        ends[i]->variable = tt_flat_node(flat, ends[i]->variable)->cursor;
    return TUTTI_OK;
}

static enum tutti_err wiring_make_all_ports(struct tt_flat *flat)
{
    struct tt_system *system = flat->system;
    struct tt_end **ends = calloc((size_t)system->connection_count + 1, sizeof *ends);
    if (!ends)
        return tt_fail_memory();
    size_t count = 0;
    for (uint32_t i = 0; i < system->connection_count; i++)
        if (system->connections[i].from.component == TUTTI_NONE)
            ends[count++] = &system->connections[i].from;
    enum tutti_err err = wiring_make_ports(flat, ends, count, &system->inputs, &system->input_count);
    count = 0;
    for (uint32_t i = 0; i < system->connection_count; i++)
        if (system->connections[i].to.component == TUTTI_NONE)
            ends[count++] = &system->connections[i].to;
    if (!err)
        err = wiring_make_ports(flat, ends, count, &system->outputs, &system->output_count);
    free(ends);
    return err;
}

enum tutti_err tt_wiring_build_connections(struct tt_flat *flat)
{
    struct tt_vector arrivals = {0}, connections = {0};
    struct tt_system *system = flat->system;
    enum tutti_err err = collect_arrivals(flat, &arrivals);
    if (!err)
        drop_duplicate_arrivals(flat, &arrivals);
    for (size_t i = 0; i < arrivals.count && !err; i++)
        err = wiring_emit_connection(flat, (const struct arrival *)arrivals.items + i, &connections);
    err = err ? err : flat->err;
    if (!err) {
        struct tt_connection *copy = tt_arena_array(&system->arena, connections.count, sizeof *copy);
        if (copy && connections.count > 0)
            memcpy(copy, connections.items, connections.count * sizeof *copy);
        system->connections = copy;
        system->connection_count = copy ? (uint32_t)connections.count : 0;
        err = copy ? wiring_make_all_ports(flat) : tt_fail_memory();
    }
    tt_vector_fini(&arrivals);
    tt_vector_fini(&connections);
    return err;
}
