/* SPDX-License-Identifier: MIT */
/* Laying out the signals, in two passes over the nodes: one that counts, so that each array is made in one piece, and one
 * that places. */
#include "sim/signals/wires.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The role of a node in its unit. Sources come first: they share `signals`. */
enum signal_group {
    OUTPUT,
    SAMPLED, /* outputs that belong to clocks, and output clocks: read where they tick (sim/ticks.h) */
    MOVING,
    HELD,
    TICKED, /* inputs that are set where clocks tick, and input clocks */
    START,
    GROUP_COUNT
};

/* Per unit and group: references and values by type. */
struct layout_tally {
    uint32_t references[GROUP_COUNT][TUTTI_TYPE_COUNT];
    uint32_t values[GROUP_COUNT][TUTTI_TYPE_COUNT];
};

struct wire_layout {
    struct tt_wires *wires;
    const struct tt_system *system;
    const struct tt_structure *structure;
    struct tt_unit *const *units;
    /* From unit to unit, sorted as the system's; per node: the first one that ends there, and how many do. */
    const struct tt_connection **connections;
    uint32_t *connection_first, *connection_count;
    uint8_t *groups; /* per node */
    bool *plain;     /* per node: a MOVING node whose connections only copy */
    uint32_t *fed;   /* per node: 1 + its place in system->fed; 0: the master does not feed it */
    size_t reference_count, block_count, staged_size, owned_count;
    size_t value_count; /* of all nodes */
    uint32_t constants; /* doubles after the signals, for elements that are not connected */
    /* Where the second pass is. */
    uint32_t *references;
    struct tt_block *blocks;
    char *staged;
    struct tt_owned *owned;
    size_t signal_at, first_constant;
    uint32_t gather_at, constant_at, wire_at;
};

static const struct tt_var *layout_var_of(const struct wire_layout *layout, uint32_t node)
{
    const struct tt_structure_node *n = &layout->structure->nodes[node];
    return &layout->system->components[n->component].fmu->desc->vars[n->variable];
}

/* Of connected variables. Places among the signals are 32-bit numbers, counted in doubles: a Binary takes two, an element
 * that is not connected one more. */
static const uint32_t MOST_VALUES = UINT32_MAX / 4;

static size_t round_up_size(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* Those of one node are neighbours: connections are sorted by destination. The system's own ports are left out: they may
 * lie between the elements of an array. */
static void layout_find_connections(struct wire_layout *layout)
{
    const struct tt_system *system = layout->system;
    uint32_t count = 0;
    for (uint32_t c = 0; c < system->connection_count; c++) {
        const struct tt_connection *connection = &system->connections[c];
        if (connection->from.component == TUTTI_NONE || connection->to.component == TUTTI_NONE)
            continue;
        uint32_t node = tt_structure_find(layout->structure, connection->to.component, connection->to.variable, false);
        if (layout->connection_count[node]++ == 0)
            layout->connection_first[node] = count;
        layout->connections[count++] = connection;
    }
}

static const struct tt_connection *layout_connection(const struct wire_layout *layout, uint32_t node, uint32_t k)
{
    return layout->connections[layout->connection_first[node] + k];
}

static enum signal_group signal_group_of(const struct wire_layout *layout, uint32_t node)
{
    const struct tt_var *var = layout_var_of(layout, node);
    bool has_clock = var->clock_count > 0 || var->type == TUTTI_TYPE_CLOCK;
    const struct tt_unit_kind *kind = layout->units[layout->structure->nodes[node].component]->kind;
    bool scheduled = kind && kind->interface == TUTTI_SE;
    if (layout->structure->nodes[node].output)
        return has_clock ? SAMPLED : OUTPUT;
    if (layout->fed[node])
        return MOVING;
    if (layout_connection(layout, node, 0)->at_start_only)
        return START;
    if (has_clock || (scheduled && var->causality == TUTTI_INPUT))
        return TICKED;
    return tt_type_is_float(var->type) && var->variability == TUTTI_CONTINUOUS ? MOVING : HELD;
}

/* FMI 1.0: a negated alias is minus what its reference holds. */
static bool is_negated_alias(const struct wire_layout *layout, const struct tt_end *end)
{
    return layout->system->components[end->component].fmu->desc->vars[end->variable].negated;
}

/* W5. */
static enum tt_type staged_type(enum signal_group group, enum tt_type type)
{
    return type == TUTTI_TYPE_FLOAT32 && (group == OUTPUT || group == MOVING) ? TUTTI_TYPE_FLOAT64 : type;
}

static size_t staged_size(enum signal_group group, enum tt_type type)
{
    return tt_type_size(staged_type(group, type));
}

static bool is_identity(const struct tt_conversion *conversion)
{
    bool floats = tt_type_is_float(conversion->from) && tt_type_is_float(conversion->to);
    return tt_conversion_is_identity(conversion) || (floats && !conversion->linear && conversion->map_count == 0);
}

/* Returns true if both are doubles. */
static bool copies_doubles(const struct wire_layout *layout, const struct tt_connection *connection)
{
    const struct tt_end *from = &connection->from;
    uint32_t source = tt_structure_find(layout->structure, from->component, from->variable, true);
    return staged_type(signal_group_of(layout, source), (enum tt_type)layout_var_of(layout, source)->type) ==
               TUTTI_TYPE_FLOAT64 &&
           !connection->adds && (!connection->conversion || is_identity(connection->conversion)) &&
           is_negated_alias(layout, from) == is_negated_alias(layout, &connection->to);
}

static bool layout_is_plain(const struct wire_layout *layout, uint32_t node)
{
    if (layout->groups[node] != MOVING)
        return false;
    for (uint32_t k = 0; k < layout->connection_count[node]; k++)
        if (!copies_doubles(layout, layout_connection(layout, node, k)))
            return false;
    return true;
}

/* Returns true if a type of it is one call. Others are set and read one by one. */
static bool group_is_block(enum signal_group group)
{
    return group == OUTPUT || group == MOVING || group == HELD;
}

/* Counts one node; remembers its extent in its slot. */
static enum tutti_err layout_count_node(struct wire_layout *layout, uint32_t node, struct layout_tally *tally)
{
    const struct tt_structure_node *n = &layout->structure->nodes[node];
    const struct tt_var *var = layout_var_of(layout, node);
    size_t extent;
    TRY(tt_unit_extent(layout->units[n->component], n->variable, &extent));
    layout->value_count += extent;
    if (layout->value_count > MOST_VALUES)
        return tt_fail(TUTTI_ERR_LIMIT, "the connected variables of this system have more than %u values", MOST_VALUES);
    layout->wires->slots[node].count = (uint32_t)extent;
    enum signal_group group = signal_group_of(layout, node);
    layout->groups[node] = (uint8_t)group;
    layout->plain[node] = layout_is_plain(layout, node);
    if (tally->references[group][var->type] == 0 && group_is_block(group))
        layout->block_count++;
    tally->references[group][var->type]++;
    tally->values[group][var->type] += (uint32_t)extent;
    layout->reference_count++;
    if (tt_type_is_text(var->type))
        layout->owned_count += extent;
    if (var->dimension_count > 0 && group == MOVING)
        layout->constants += (uint32_t)extent;
    return TUTTI_OK;
}

static enum tutti_err layout_count_nodes(struct wire_layout *layout)
{
    const struct tt_structure *structure = layout->structure;
    struct tt_wires *wires = layout->wires;
    for (uint32_t c = 0; c < layout->system->component_count; c++) {
        struct layout_tally tally = {0};
        for (uint32_t n = structure->component_first[c]; n < structure->component_first[c + 1]; n++)
            TRY(layout_count_node(layout, n, &tally));
        for (int t = 0; t < TUTTI_TYPE_COUNT; t++) {
            size_t size = tt_type_size((enum tt_type)t);
            wires->signal_size += round_up_size(tally.values[OUTPUT][t] * staged_size(OUTPUT, (enum tt_type)t)) +
                                  round_up_size(tally.values[SAMPLED][t] * size);
            wires->gather_count += tally.values[MOVING][t]; /* floats, all of them */
            layout->staged_size += round_up_size(tally.values[HELD][t] * size) +
                                   round_up_size(tally.values[START][t] * size) +
                                   round_up_size(tally.values[TICKED][t] * size);
        }
    }
    return TUTTI_OK;
}

static enum tutti_err layout_allocate(struct wire_layout *layout)
{
    struct tt_wires *wires = layout->wires;
    struct tt_arena *arena = &wires->arena;
    layout->first_constant = wires->signal_size / sizeof(double);
    wires->signal_size += ((size_t)layout->constants + 1) * sizeof(double); /* the value of the first is not used */
    layout->constant_at = (uint32_t)layout->first_constant + 1;
    wires->unit_size = wires->signal_size;
    wires->signal_size += layout->system->fed_count * sizeof(double);
    wires->signals = tt_arena_alloc(arena, wires->signal_size);
    wires->gathered = tt_arena_array(arena, wires->gather_count, sizeof *wires->gathered);
    wires->gather = tt_arena_array(arena, wires->gather_count, sizeof *wires->gather);
    wires->wires = tt_arena_array(arena, layout->system->connection_count, sizeof *wires->wires);
    wires->units = tt_arena_array(arena, layout->system->component_count, sizeof *wires->units);
    layout->references = tt_arena_array(arena, layout->reference_count, sizeof *layout->references);
    layout->blocks = tt_arena_array(arena, layout->block_count, sizeof *layout->blocks);
    layout->staged = wires->staged = tt_arena_alloc(arena, layout->staged_size);
    wires->staged_size = layout->staged_size;
    wires->parts = tt_arena_alloc(arena, sizeof *wires->parts);
    wires->part_count = wires->gather_count > 0;
    wires->fed = tt_arena_array(arena, layout->system->fed_count, sizeof *wires->fed);
    layout->owned = tt_signals_owned_array(arena, layout->owned_count);
    bool all = wires->fed && wires->signals && wires->gathered && wires->gather && wires->wires && wires->units &&
               layout->references && layout->blocks && layout->staged && layout->owned && wires->parts;
    if (!all)
        return tt_fail_memory();
    *wires->parts = (struct tt_gather_part){0, wires->gather_count};
    for (uint32_t i = 0; i < layout->system->fed_count; i++)
        wires->fed[i] = (uint32_t)(wires->unit_size / sizeof(double)) + i;
    return TUTTI_OK;
}

/* Room for `bytes` of one type's values of a group. */
static void *layout_reserve_values(struct wire_layout *layout, enum signal_group group, size_t bytes)
{
    void *place;
    if (group == OUTPUT || group == SAMPLED) {
        place = layout->wires->signals + layout->signal_at;
        layout->signal_at += round_up_size(bytes);
    } else if (group == MOVING) {
        place = layout->wires->gathered + layout->gather_at;
        layout->gather_at += (uint32_t)(bytes / sizeof(double));
    } else {
        place = layout->staged;
        layout->staged += round_up_size(bytes);
    }
    return place;
}

/* One type of one group of a unit: its slots, and, unless they are set one by one at the start, a block of them. */
static void layout_place_type(struct wire_layout *layout, uint32_t component, enum signal_group group,
                              enum tt_type type, struct tt_block **block)
{
    const struct tt_structure *structure = layout->structure;
    struct tt_block made = {.type = staged_type(group, type), .references = layout->references};
    size_t size = staged_size(group, type);
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++)
        if (layout->groups[n] == group && layout_var_of(layout, n)->type == type) {
            made.count++;
            made.value_count += layout->wires->slots[n].count;
        }
    if (made.count == 0)
        return;
    made.values = layout_reserve_values(layout, group, made.value_count * size);
    made.owned = tt_type_is_text(type) ? layout->owned : NULL;
    size_t at = 0;
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++) {
        struct tt_slot *slot = &layout->wires->slots[n];
        if (layout->groups[n] != group || layout_var_of(layout, n)->type != type)
            continue;
        *layout->references++ = slot->reference = layout_var_of(layout, n)->reference;
        slot->type = (uint8_t)made.type;
        slot->narrow = made.type != type;
        slot->fed = layout->fed[n] > 0;
        slot->values = (char *)made.values + at * size;
        slot->owned = made.owned ? tt_signals_owned_at(made.owned, at) : NULL;
        at += slot->count;
    }
    for (size_t i = 0; type == TUTTI_TYPE_STRING && i < made.value_count; i++)
        ((const char **)made.values)[i] = "";
    if (made.owned)
        layout->owned = tt_signals_owned_at(layout->owned, made.value_count);
    if (group_is_block(group))
        *(*block)++ = made;
}

static void layout_place_unit(struct wire_layout *layout, uint32_t component)
{
    struct tt_unit_wires *unit = &layout->wires->units[component];
    unit->gather_first = layout->gather_at;
    struct tt_block *block = layout->blocks;
    struct tt_block **const firsts[GROUP_COUNT] = {
        [OUTPUT] = &unit->outputs, [MOVING] = &unit->moving, [HELD] = &unit->held};
    uint8_t *const counts[GROUP_COUNT] = {
        [OUTPUT] = &unit->output_blocks, [MOVING] = &unit->moving_blocks, [HELD] = &unit->held_blocks};
    for (int g = OUTPUT; g < GROUP_COUNT; g++) {
        struct tt_block *first = block;
        for (int t = 0; t < TUTTI_TYPE_COUNT; t++)
            layout_place_type(layout, component, (enum signal_group)g, (enum tt_type)t, &block);
        if (firsts[g]) {
            *firsts[g] = first;
            *counts[g] = (uint8_t)(block - first);
        }
    }
    layout->blocks = block;
    unit->gather_count = layout->gather_at - unit->gather_first;
}

static enum tutti_err sizes_differ(const struct wire_layout *layout, const struct tt_connection *connection,
                                   size_t from_count, size_t to_count)
{
    char from[256], to[256];
    tt_system_name(layout->system, &connection->from, from, sizeof from);
    tt_system_name(layout->system, &connection->to, to, sizeof to);
    const char *file = connection->file ? connection->file : "--connect";
    char line[32] = "";
    if (connection->file)
        snprintf(line, sizeof line, ":%u", connection->line);
    return tt_fail(connection->file ? TUTTI_ERR_FORMAT : TUTTI_ERR_ARGUMENT,
                   "%s%s: '%s' has %zu value%s and '%s' %zu: connect arrays of the same size, or elements", file, line,
                   from, from_count, from_count == 1 ? "" : "s", to, to_count);
}

/* The conversion of a wire, with the signs of negated aliases in it: the source's acts before it, the destination's
 * after it. */
static enum tutti_err wire_conversion(struct wire_layout *layout, const struct tt_connection *connection,
                                      const struct tt_slot *from, const struct tt_slot *to,
                                      const struct tt_conversion **out)
{
    *out = connection->conversion;
    bool before = is_negated_alias(layout, &connection->from), behind = is_negated_alias(layout, &connection->to);
    if (*out && !before && !behind && (*out)->from == from->type && (*out)->to == to->type)
        return TUTTI_OK;
    struct tt_conversion *own = tt_arena_alloc(&layout->wires->arena, sizeof *own);
    if (!own)
        return tt_fail_memory();
    *own = *out ? **out
                : (struct tt_conversion){.from = (enum tt_type)from->type, .to = (enum tt_type)to->type, .factor = 1};
    own->from = (enum tt_type)from->type;
    own->to = (enum tt_type)to->type;
    *out = own;
    bool plain = before == behind && !own->linear && own->map_count == 0; /* both signs, and nothing between them */
    if ((before || behind) && !plain && (!tt_type_is_float(own->to) || own->map_count > 0)) {
        char name[256];
        tt_system_name(layout->system, &connection->to, name, sizeof name);
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "the connection to '%s' has an integer negatedAlias at one end; connect the variable that "
                       "it is an alias of",
                       name);
    }
    if ((before || behind) && !plain) {
        double factor = own->linear ? own->factor : 1, offset = own->linear ? own->offset : 0;
        own->factor = before == behind ? factor : -factor;
        own->offset = behind ? -offset : offset;
        own->linear = true;
    }
    return TUTTI_OK;
}

static enum tutti_err layout_find_element(const struct wire_layout *layout, const struct tt_connection *connection,
                                          const struct tt_end *end, size_t *at)
{
    if (end->element.count == 0)
        return TUTTI_OK;
    enum tutti_err err = tt_unit_element(layout->units[end->component], end->variable, &end->element, at);
    if (err != TUTTI_ERR_ARGUMENT)
        return err;
    return connection->file ? tt_fail_context(TUTTI_ERR_FORMAT, "%s:%u", connection->file, connection->line)
                            : tt_fail_context(err, "--connect");
}

static enum tutti_err place_wire(struct wire_layout *layout, uint32_t node, uint32_t k)
{
    const struct tt_connection *connection = layout_connection(layout, node, k);
    const struct tt_end *from_end = &connection->from, *to_end = &connection->to;
    uint32_t source = tt_structure_find(layout->structure, from_end->component, from_end->variable, true);
    const struct tt_slot *from = &layout->wires->slots[source], *to = &layout->wires->slots[node];
    size_t from_at = 0, to_at = 0;
    char name[256];
    TRY(layout_find_element(layout, connection, from_end, &from_at));
    TRY(layout_find_element(layout, connection, to_end, &to_at));
    size_t from_count = from_end->element.count ? 1 : from->count, to_count = to_end->element.count ? 1 : to->count;
    if (from_count != to_count)
        return sizes_differ(layout, connection, from_count, to_count);
    size_t from_size = tt_type_size((enum tt_type)from->type), to_size = tt_type_size((enum tt_type)to->type);
    struct tt_wire *wire = &layout->wires->wires[layout->wire_at++];
    wire->from = (size_t)((const char *)from->values - layout->wires->signals) + from_at * from_size;
    wire->to = (char *)to->values + to_at * to_size;
    wire->owned = to->owned ? tt_signals_owned_at(to->owned, to_at) : NULL;
    wire->connection = connection;
    wire->count = (uint32_t)to_count;
    wire->adds = connection->adds;
    if (wire->adds && layout->groups[node] != MOVING)
        return tt_fail(
            TUTTI_ERR_UNSUPPORTED, /* discrete inputs are set when they change: compared source by source */
            "'%s' is a sum of several outputs, and the FMU calls it discrete: sums are for continuous inputs",
            tt_system_name(layout->system, to_end, name, sizeof name));
    return wire_conversion(layout, connection, from, to, &wire->conversion);
}

/* The wires of all nodes of a unit that are in a group, plain ones or others. */
static enum tutti_err place_wires(struct wire_layout *layout, uint32_t component, enum signal_group group, bool plain)
{
    const struct tt_structure *structure = layout->structure;
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++) {
        if (layout->groups[n] != group || layout->plain[n] != plain)
            continue;
        layout->wires->slots[n].wire_first = layout->wire_at;
        for (uint32_t k = 0; k < layout->connection_count[n]; k++)
            TRY(place_wire(layout, n, k));
        layout->wires->slots[n].wire_count = layout->wire_at - layout->wires->slots[n].wire_first;
    }
    return TUTTI_OK;
}

static enum tutti_err wire_unit(struct wire_layout *layout, uint32_t component)
{
    struct tt_unit_wires *unit = &layout->wires->units[component];
    TRY(place_wires(layout, component, MOVING, true));
    unit->wire_first = layout->wire_at;
    TRY(place_wires(layout, component, MOVING, false));
    unit->wire_count = layout->wire_at - unit->wire_first;
    layout->wires->plain = layout->wires->plain && unit->wire_count == 0;
    unit->held_first = layout->wire_at;
    TRY(place_wires(layout, component, HELD, false));
    unit->held_count = layout->wire_at - unit->held_first;
    TRY(place_wires(layout, component, TICKED, false));
    return place_wires(layout, component, START, false);
}

/* Elements that no connection reaches stay as the FMU has them: only 3.0 has arrays, and lets us read now. */
static enum tutti_err fill_unconnected_elements(struct wire_layout *layout, uint32_t node)
{
    const struct tt_structure_node *of = &layout->structure->nodes[node];
    const struct tt_component *component = &layout->system->components[of->component];
    struct tt_slot *slot = &layout->wires->slots[node];
    enum tt_type type = (enum tt_type)layout_var_of(layout, node)->type;
    struct tt_block block = {type, 1, slot->count, &slot->reference, slot->values, slot->owned};
    TRY(tt_unit_get_start(layout->units[of->component], of->variable, component->settings, component->setting_count,
                          &block));
    for (uint32_t e = slot->count; slot->narrow && e-- > 0;) { /* W5: floats become doubles, where they are */
        float narrow;
        memcpy(&narrow, (const char *)slot->values + e * sizeof narrow, sizeof narrow);
        ((double *)slot->values)[e] = narrow;
    }
    return TUTTI_OK;
}

static void fill_gather_index(struct wire_layout *layout, uint32_t node)
{
    struct tt_wires *wires = layout->wires;
    const struct tt_slot *slot = &wires->slots[node];
    uint32_t first = (uint32_t)((const double *)slot->values - wires->gathered);
    bool array = layout_var_of(layout, node)->dimension_count > 0;
    if (layout->fed[node]) {
        wires->gather[first] = wires->fed[layout->fed[node] - 1]; /* a scalar; what wires bring is added */
        return;
    }
    for (uint32_t e = 0; e < slot->count; e++) {
        wires->gather[first + e] = array ? layout->constant_at++ : (uint32_t)layout->first_constant;
        ((double *)(void *)wires->signals)[wires->gather[first + e]] = array ? ((const double *)slot->values)[e] : 0;
    }
    for (uint32_t w = slot->wire_first; layout->plain[node] && w < slot->wire_first + slot->wire_count; w++) {
        const struct tt_wire *wire = &wires->wires[w];
        uint32_t to = (uint32_t)((const double *)wire->to - wires->gathered);
        for (uint32_t e = 0; e < wire->count; e++)
            wires->gather[to + e] = (uint32_t)(wire->from / sizeof(double)) + e;
    }
}

double tt_wire_layout_nominal(const struct tt_var *var)
{
    double nominal = var->bounds && var->bounds->has_nominal ? fabs(var->bounds->nominal) : 1;
    return nominal > 0 && isfinite(nominal) ? nominal : 1;
}

static void list_node_reals(struct wire_layout *layout, uint32_t node)
{
    struct tt_wires *wires = layout->wires;
    const struct tt_slot *slot = &wires->slots[node];
    const struct tt_var *var = layout_var_of(layout, node);
    for (uint32_t e = 0; e < slot->count && slot->type == TUTTI_TYPE_FLOAT64; e++)
        wires->reals[wires->real_count++] = (struct tt_real_signal){
            .place = (uint32_t)((const double *)slot->values - (const double *)(void *)wires->signals) + e,
            .node = node,
            .component = layout->structure->nodes[node].component,
            .smooth = var->variability == TUTTI_CONTINUOUS,
            .narrow = slot->narrow,
            .nominal = tt_wire_layout_nominal(var),
        };
}

/* Sorted by place: nodes are by component, and within one by type and their place among the signals of it. */
static enum tutti_err layout_list_reals(struct wire_layout *layout)
{
    struct tt_wires *wires = layout->wires;
    const struct tt_structure *structure = layout->structure;
    wires->reals = tt_arena_array(&wires->arena, layout->value_count, sizeof *wires->reals);
    wires->real_first =
        tt_arena_array(&wires->arena, (size_t)layout->system->component_count + 1, sizeof *wires->real_first);
    if (!wires->reals || !wires->real_first)
        return tt_fail_memory();
    for (uint32_t c = 0; c < layout->system->component_count; c++) {
        for (int t = 0; t < TUTTI_TYPE_COUNT; t++)
            for (uint32_t n = structure->component_first[c]; n < structure->component_first[c + 1]; n++)
                if (layout->groups[n] == OUTPUT && layout_var_of(layout, n)->type == t)
                    list_node_reals(layout, n);
        wires->real_first[c + 1] = wires->real_count;
    }
    return TUTTI_OK;
}

static enum tutti_err layout_prepare_node(struct wire_layout *layout, uint32_t node)
{
    if (layout->groups[node] == OUTPUT || layout->groups[node] == SAMPLED)
        return TUTTI_OK;
    if (layout_var_of(layout, node)->dimension_count > 0)
        TRY(fill_unconnected_elements(layout, node));
    if (layout->groups[node] == MOVING)
        fill_gather_index(layout, node);
    return TUTTI_OK;
}

static enum tutti_err layout_build(struct wire_layout *layout, struct tt_arena *scratch)
{
    uint32_t nodes = layout->structure->node_count;
    layout->connections =
        tt_arena_array(scratch, layout->system->connection_count, sizeof(const struct tt_connection *));
    layout->connection_first = tt_arena_array(scratch, nodes, sizeof *layout->connection_first);
    layout->connection_count = tt_arena_array(scratch, nodes, sizeof *layout->connection_count);
    layout->groups = tt_arena_array(scratch, nodes, sizeof *layout->groups);
    layout->plain = tt_arena_array(scratch, nodes, sizeof *layout->plain);
    layout->fed = tt_arena_array(scratch, nodes, sizeof *layout->fed);
    layout->wires->slots = tt_arena_array(&layout->wires->arena, nodes, sizeof *layout->wires->slots);
    if (!layout->connections || !layout->connection_first || !layout->connection_count || !layout->groups ||
        !layout->plain || !layout->fed || !layout->wires->slots)
        return tt_fail_memory();
    layout_find_connections(layout);
    for (uint32_t i = 0; i < layout->system->fed_count; i++) {
        const struct tt_end *end = &layout->system->fed[i];
        layout->fed[tt_structure_find(layout->structure, end->component, end->variable, false)] = i + 1;
    }
    TRY(layout_count_nodes(layout));
    TRY(layout_allocate(layout));
    for (uint32_t c = 0; c < layout->system->component_count; c++)
        layout_place_unit(layout, c);
    for (uint32_t c = 0; c < layout->system->component_count; c++)
        TRY(wire_unit(layout, c));
    layout->wires->wire_count = layout->wire_at;
    for (uint32_t n = 0; n < nodes; n++)
        TRY(layout_prepare_node(layout, n));
    return layout_list_reals(layout);
}

enum tutti_err tt_wire_layout_init(struct tt_wires *wires, const struct tt_structure *structure,
                                   struct tt_unit *const *units)
{
    *wires = (struct tt_wires){.structure = structure, .plain = true};
    struct wire_layout layout = {.wires = wires, .system = structure->system, .structure = structure, .units = units};
    struct tt_arena scratch = {0};
    enum tutti_err err = layout_build(&layout, &scratch);
    tt_arena_fini(&scratch);
    return err;
}
