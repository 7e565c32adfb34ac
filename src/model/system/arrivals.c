/* SPDX-License-Identifier: MIT */
/* The flat connections: what arrives at variables of FMUs and at outputs of the system. */
#include <stdlib.h>
#include <string.h>

#include "model/system/flat.h"

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

/* Values of the root's own outputs; inside of it they are destinations. */
static bool wiring_is_output(const struct tt_flat_node *node)
{
    return node->component == TUTTI_NONE && node->item == 0 && !node->entry && node->edge_count > 0;
}

static enum tutti_err collect_arrivals(struct tt_flat *flat, struct tt_vector *arrivals)
{
    for (uint32_t i = 0; i < flat->nodes.count; i++) {
        const struct tt_flat_node *node = tt_flat_node(flat, i);
        bool output = wiring_is_output(node);
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

/* Through connectors of no particular kind anything could be led anywhere. */
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

/* Row-major place of an element at the start sizes; false: there is no such element. */
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

static bool wiring_same_end(const struct tt_end *a, const struct tt_end *b)
{
    return a->component == b->component && a->variable == b->variable &&
           tt_setting_compare_indices(&a->element, &b->element) == 0;
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
    connection->adds = before && wiring_same_end(&before->to, &connection->to);
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

static enum tutti_err wiring_make_port(struct tt_flat *flat, struct tt_flat_node *node, struct tt_port *port)
{
    const char *name = tt_flat_path(flat, node->item, node->name);
    *port = (struct tt_port){.type = node->look.type,
                             .table = tt_flat_item(flat, node->item)->table,
                             .column = node->column,
                             .file = node->file,
                             .line = node->line};
    port->name = tt_arena_copy_text(&flat->system->arena, name, strlen(name));
    return port->name ? tt_wiring_copy_unit(flat, node->look.unit, &port->unit) : tt_fail_memory();
}

/* May the node be one of the root's connectors, or a column of a table? */
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
        TRY(wiring_make_port(flat, node, &(*ports)[(*port_count)++]));
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

static enum tutti_err copy_connections(struct tt_system *system, const struct tt_vector *connections)
{
    struct tt_connection *copy = tt_arena_array(&system->arena, connections->count, sizeof *copy);
    if (!copy)
        return tt_fail_memory();
    if (connections->count > 0)
        memcpy(copy, connections->items, connections->count * sizeof *copy);
    system->connections = copy;
    system->connection_count = (uint32_t)connections->count;
    return TUTTI_OK;
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
    if (!err)
        err = copy_connections(system, &connections);
    if (!err)
        err = wiring_make_all_ports(flat);
    tt_vector_fini(&arrivals);
    tt_vector_fini(&connections);
    return err;
}
