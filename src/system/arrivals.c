/* SPDX-License-Identifier: MIT */
/* The flat connections: what arrives at variables of FMUs and at outputs of the system. */
#include <stdlib.h>
#include <string.h>

#include "system/flat.h"

struct arrival {
    uint32_t component, variable; /* TUTTI_NONE, and the node, for an output of the system */
    const struct feed *feed;
};

static int compare_arrivals(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    if (x->variable != y->variable)
        return x->variable < y->variable ? -1 : 1;
    int order = tutti_indices_compare(x->feed->to, y->feed->to);
    return order ? order : x->feed->edge < y->feed->edge ? -1 : x->feed->edge > y->feed->edge;
}

/* Values of the root's own outputs; inside of it they are destinations. */
static bool is_output(const struct node *node)
{
    return node->component == TUTTI_NONE && node->item == 0 && !node->entry && node->edge_count > 0;
}

static enum tutti_err collect(struct flat *flat, struct tutti_vector *arrivals)
{
    for (uint32_t i = 0; i < flat->nodes.count; i++) {
        const struct node *node = tutti_flat_node(flat, i);
        bool output = is_output(node);
        if (node->component == TUTTI_NONE && !output)
            continue;
        for (size_t f = 0; f < node->feed_count; f++) {
            struct arrival *arrival = tutti_vector_push(arrivals, sizeof *arrival);
            if (!arrival)
                return tutti_fail_memory();
            *arrival = (struct arrival){node->component, output ? i : node->variable,
                                        (const struct feed *)flat->feeds.items + node->first_feed + f};
        }
    }
    if (arrivals->count > 1)
        qsort(arrivals->items, arrivals->count, sizeof(struct arrival), compare_arrivals);
    return TUTTI_OK;
}

/* A second source for a variable, or an element of it, is reported and left out. */
static void drop_doubles(struct flat *flat, struct tutti_vector *arrivals)
{
    struct arrival *items = arrivals->items;
    size_t kept = 0;
    for (size_t i = 0; i < arrivals->count; i++) {
        const struct arrival *last = kept ? &items[kept - 1] : NULL;
        bool same = last && last->component == items[i].component && last->variable == items[i].variable;
        if (same && last->feed->edge != items[i].feed->edge &&
            (!last->feed->to || tutti_indices_compare(last->feed->to, items[i].feed->to) == 0))
            tutti_wiring_report_double(flat, tutti_flat_edge(flat, last->feed->edge),
                                       tutti_flat_edge(flat, items[i].feed->edge));
        else
            items[kept++] = items[i];
    }
    arrivals->count = kept;
}

/* ---- checks of both ends ---- */

static const struct tutti_var *variable_of(const struct flat *flat, const struct node *node)
{
    return &tutti_flat_component(flat, node->component)->fmu->desc->vars[node->variable];
}

/* Through connectors of no particular kind anything could be led anywhere. */
static bool check_kinds(struct flat *flat, const struct node *from, const struct node *to, struct edge *edge)
{
    bool from_system = from->component == TUTTI_NONE, to_system = to->component == TUTTI_NONE;
    enum tutti_ssp_kind kind = from_system ? TUTTI_SSP_INPUT : (enum tutti_ssp_kind)from->kind;
    if (tutti_edge_allowed(from_system, kind, to_system, to->kind) || tutti_flat_clock_leads(flat, from, to))
        return true;
    tutti_edge_error(flat, edge, "'%s' (%s) leads to '%s' (%s), which cannot take it",
                     tutti_flat_node_name(flat, (uint32_t)(from - tutti_flat_node(flat, 0))), tutti_ssp_kind_name(kind),
                     tutti_flat_node_name(flat, (uint32_t)(to - tutti_flat_node(flat, 0))),
                     tutti_ssp_kind_name(to->kind));
    return false;
}

/* Extents that structural parameters may change are looked at when they are known. */
static bool fit(const struct tutti_var *from, const struct tutti_var *to)
{
    if (from->dimension_count != to->dimension_count)
        return false;
    for (unsigned i = 0; i < from->dimension_count; i++) {
        const struct tutti_dimension *a = &from->dimensions[i], *b = &to->dimensions[i];
        if (a->variable == TUTTI_NONE && b->variable == TUTTI_NONE && a->start != b->start)
            return false;
    }
    return true;
}

static bool check_extents(struct flat *flat, const struct node *from, const struct node *to, const struct feed *feed)
{
    static const struct tutti_var scalar;
    if (from->component == TUTTI_NONE || to->component == TUTTI_NONE)
        return true;
    const struct tutti_var *source = feed->from ? &scalar : variable_of(flat, from);
    const struct tutti_var *target = feed->to ? &scalar : variable_of(flat, to);
    if (fit(source, target))
        return true;
    tutti_edge_error(flat, tutti_flat_edge(flat, feed->edge),
                     "'%s' (%u dimension%s, %llu value%s) does not fit '%s' (%u dimension%s, %llu value%s)",
                     tutti_flat_node_name(flat, feed->node), source->dimension_count,
                     source->dimension_count == 1 ? "" : "s", (unsigned long long)tutti_var_size(source),
                     tutti_var_size(source) == 1 ? "" : "s",
                     tutti_flat_node_name(flat, (uint32_t)(to - tutti_flat_node(flat, 0))), target->dimension_count,
                     target->dimension_count == 1 ? "" : "s", (unsigned long long)tutti_var_size(target),
                     tutti_var_size(target) == 1 ? "" : "s");
    return false;
}

/* ---- connections ---- */

/* Row-major place of an element at the start sizes; false: there is no such element. */
static bool place_of(const struct tutti_var *var, const struct tutti_indices *element, uint64_t *place)
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
static enum tutti_err hand_over_constant(struct flat *flat, const struct arrival *arrival)
{
    const struct feed *feed = arrival->feed;
    const struct node *from = tutti_flat_node(flat, feed->node);
    const struct tutti_var *source = variable_of(flat, from);
    const struct tutti_var *target =
        &tutti_flat_component(flat, arrival->component)->fmu->desc->vars[arrival->variable];
    const struct edge *edge = tutti_flat_edge(flat, feed->edge);
    const struct tutti_conversion *conversion;
    uint64_t place = 0;
    if (feed->from && !place_of(source, feed->from, &place))
        return TUTTI_OK;
    struct value value = {.rank = TUTTI_RANK_CONSTANT,
                          .passed = true,
                          .origin = tutti_flat_node_name(flat, feed->node),
                          .file = edge->file,
                          .line = edge->line,
                          .look = {.typed = true, .type = target->type},
                          .count = feed->from ? 1 : source->start_count};
    const char *data = (const char *)source->start + place * tutti_type_size(source->type);
    void *converted = tutti_arena_array(&flat->arena, value.count, tutti_type_size(target->type));
    value.data = converted;
    if (!converted)
        return tutti_fail_memory();
    TRY(tutti_flow_conversion(&feed->flow, source->type, target->type, &flat->arena, &conversion));
    if (!conversion)
        value.data = data;
    else if (tutti_convert(conversion, data, converted, value.count) != TUTTI_OK) {
        tutti_edge_error(flat, tutti_flat_edge(flat, feed->edge), "'%s': %s", value.origin, tutti_err_message());
        return flat->err;
    }
    struct tutti_indices element = feed->to ? *feed->to : (struct tutti_indices){0};
    return tutti_value_arrive(flat, &value, arrival->component, arrival->variable, &element);
}

static bool same_end(const struct tutti_end *a, const struct tutti_end *b)
{
    return a->component == b->component && a->variable == b->variable &&
           tutti_indices_compare(&a->element, &b->element) == 0;
}

static enum tutti_err emit(struct flat *flat, const struct arrival *arrival, struct tutti_vector *connections)
{
    const struct feed *feed = arrival->feed;
    struct node *from = tutti_flat_node(flat, feed->node);
    struct edge *edge = tutti_flat_edge(flat, feed->edge);
    bool output = arrival->component == TUTTI_NONE;
    struct node *to = tutti_flat_node(flat, output ? arrival->variable : edge->to.node);
    if (!check_kinds(flat, from, to, edge) || !check_extents(flat, from, to, feed))
        return flat->err;
    bool constant = from->component != TUTTI_NONE && from->kind == TUTTI_SSP_CONSTANT;
    if (constant && !output && variable_of(flat, from)->start)
        return hand_over_constant(flat, arrival);
    /* Ports without a type have that of what they are connected to. */
    if (!from->look.typed)
        from->look = (struct look){.typed = true, .type = to->look.typed ? to->look.type : TUTTI_TYPE_FLOAT64};
    if (!to->look.typed) {
        const struct tutti_unit_def *unit = to->look.unit;
        to->look = feed->flow.look;
        to->look.typed = true;
        to->look.unit = unit ? unit : feed->flow.look.unit;
        if (!feed->flow.look.typed)
            to->look.type = from->look.type;
    }
    if (!tutti_conversion_possible(from->look.type, to->look.type) &&
        !(feed->flow.lossy && tutti_conversion_rounds(from->look.type, to->look.type))) {
        tutti_edge_error(flat, edge, "'%s' is %s, which cannot be handed to '%s', %s",
                         tutti_flat_node_name(flat, feed->node), tutti_type_name(from->look.type),
                         tutti_flat_end_name(flat, &edge->to), tutti_type_name(to->look.type));
        return flat->err;
    }
    bool linear = edge->transformation && edge->transformation->kind == TUTTI_SSP_LINEAR;
    struct tutti_connection *connection = tutti_vector_push(connections, sizeof *connection);
    if (!connection)
        return tutti_fail_memory();
    const struct tutti_connection *before = connections->count > 1 ? connection - 1 : NULL;
    *connection = (struct tutti_connection){
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
    connection->adds = before && same_end(&before->to, &connection->to);
    if (connection->adds && (from->look.type != TUTTI_TYPE_FLOAT64 || to->look.type != TUTTI_TYPE_FLOAT64)) {
        tutti_edge_error(flat, edge, "'%s' is a sum, and one of its terms or it itself is no Float64",
                         tutti_flat_end_name(flat, &edge->to));
        return flat->err;
    }
    return tutti_flow_conversion(&feed->flow, from->look.type, to->look.type, &flat->system->arena,
                                 &connection->conversion);
}

/* ---- ports ---- */

enum tutti_err tutti_arrivals_keep_unit(struct flat *flat, const struct tutti_unit_def *unit,
                                        const struct tutti_unit_def **out)
{
    *out = NULL;
    if (!unit)
        return TUTTI_OK;
    struct tutti_unit_def *copy = tutti_arena_alloc(&flat->system->arena, sizeof *copy);
    if (!copy)
        return tutti_fail_memory();
    *copy = *unit;
    copy->name = tutti_arena_text(&flat->system->arena, unit->name, strlen(unit->name));
    copy->first_display = copy->displays = 0;
    *out = copy;
    return copy->name ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err make_port(struct flat *flat, struct node *node, struct tutti_port *port)
{
    const char *name = tutti_flat_path(flat, node->item, node->name);
    *port = (struct tutti_port){.type = node->look.type,
                                .table = tutti_flat_item(flat, node->item)->table,
                                .column = node->column,
                                .file = node->file,
                                .line = node->line};
    port->name = tutti_arena_text(&flat->system->arena, name, strlen(name));
    return port->name ? tutti_arrivals_keep_unit(flat, node->look.unit, &port->unit) : tutti_fail_memory();
}

/* May the node be one of the root's connectors, or a column of a table? */
static bool may_be_port(const struct node *node)
{
    return node->component == TUTTI_NONE && !node->entry && (node->item == 0 || node->column != TUTTI_NONE);
}

/* Numbers the ports among `ends` in the order of their connectors; `ends` still name nodes. */
static enum tutti_err make_ports(struct flat *flat, struct tutti_end **ends, size_t count, struct tutti_port **ports,
                                 uint32_t *port_count)
{
    size_t most = 0;
    *port_count = 0;
    for (uint32_t n = 0; n < flat->nodes.count; n++)
        if (may_be_port(tutti_flat_node(flat, n))) {
            tutti_flat_node(flat, n)->cursor = TUTTI_NONE;
            most++;
        }
    for (size_t i = 0; i < count; i++)
        tutti_flat_node(flat, ends[i]->variable)->cursor = 0;
    *ports = tutti_arena_array(&flat->system->arena, most, sizeof **ports);
    if (!*ports)
        return tutti_fail_memory();
    for (uint32_t n = 0; n < flat->nodes.count; n++) {
        struct node *node = tutti_flat_node(flat, n);
        if (!may_be_port(node) || node->cursor == TUTTI_NONE)
            continue;
        node->cursor = *port_count;
        TRY(make_port(flat, node, &(*ports)[(*port_count)++]));
    }
    for (size_t i = 0; i < count; i++)
        ends[i]->variable = tutti_flat_node(flat, ends[i]->variable)->cursor;
    return TUTTI_OK;
}

static enum tutti_err make_both_ports(struct flat *flat)
{
    struct tutti_system *system = flat->system;
    struct tutti_end **ends = calloc((size_t)system->connection_count + 1, sizeof *ends);
    if (!ends)
        return tutti_fail_memory();
    size_t count = 0;
    for (uint32_t i = 0; i < system->connection_count; i++)
        if (system->connections[i].from.component == TUTTI_NONE)
            ends[count++] = &system->connections[i].from;
    enum tutti_err err = make_ports(flat, ends, count, &system->inputs, &system->input_count);
    count = 0;
    for (uint32_t i = 0; i < system->connection_count; i++)
        if (system->connections[i].to.component == TUTTI_NONE)
            ends[count++] = &system->connections[i].to;
    if (!err)
        err = make_ports(flat, ends, count, &system->outputs, &system->output_count);
    free(ends);
    return err;
}

static enum tutti_err keep_connections(struct tutti_system *system, const struct tutti_vector *connections)
{
    struct tutti_connection *copy = tutti_arena_array(&system->arena, connections->count, sizeof *copy);
    if (!copy)
        return tutti_fail_memory();
    if (connections->count > 0)
        memcpy(copy, connections->items, connections->count * sizeof *copy);
    system->connections = copy;
    system->connection_count = (uint32_t)connections->count;
    return TUTTI_OK;
}

enum tutti_err tutti_arrivals_make(struct flat *flat)
{
    struct tutti_vector arrivals = {0}, connections = {0};
    struct tutti_system *system = flat->system;
    enum tutti_err err = collect(flat, &arrivals);
    if (!err)
        drop_doubles(flat, &arrivals);
    for (size_t i = 0; i < arrivals.count && !err; i++)
        err = emit(flat, (const struct arrival *)arrivals.items + i, &connections);
    err = err ? err : flat->err;
    if (!err)
        err = keep_connections(system, &connections);
    if (!err)
        err = make_both_ports(flat);
    tutti_vector_fini(&arrivals);
    tutti_vector_fini(&connections);
    return err;
}
