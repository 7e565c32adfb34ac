/* SPDX-License-Identifier: MIT */
#include "model/system/flat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum tutti_err tt_flat_check_size(const struct tt_flat *flat)
{
    size_t bytes = flat->arena.total + flat->system->arena.total + flat->items.count * sizeof(struct tt_flat_item) +
                   flat->nodes.count * sizeof(struct tt_flat_node) + flat->edges.count * sizeof(struct tt_flat_edge) +
                   flat->feeds.count * sizeof(struct tt_flat_feed) +
                   flat->candidates.count * sizeof(struct tt_flat_candidate);
    if (bytes <= TUTTI_MOST_BYTES)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_LIMIT, "%s: the system would take more than %zu MiB; split it, or use shorter names",
                   flat->system->path, TUTTI_MOST_BYTES >> 20);
}

/* ---- names for messages ---- */

static const char *no_memory_for_name = "(a name)";

const char *tt_flat_path(struct tt_flat *flat, uint32_t item, const char *name)
{
    const char *owner = tt_flat_item(flat, item)->name;
    if (!owner[0] || flat->system->single)
        return name;
    char *path = tt_arena_alloc(&flat->arena, strlen(owner) + strlen(name) + 2);
    if (!path)
        return no_memory_for_name;
    stpcpy(stpcpy(stpcpy(path, owner), "."), name);
    return path;
}

const char *tt_flat_node_name(struct tt_flat *flat, uint32_t node)
{
    return tt_flat_path(flat, tt_flat_node(flat, node)->item, tt_flat_node(flat, node)->name);
}

const char *tt_flat_end_name(struct tt_flat *flat, const struct tt_flat_edge_end *end)
{
    const char *name = tt_flat_node_name(flat, end->node);
    if (end->index_count == 0)
        return name;
    struct tt_text text = {0};
    tt_text_append(&text, name);
    for (uint32_t i = 0; i < end->index_count; i++)
        tt_text_printf(&text, "%c%llu", i ? ',' : '[', (unsigned long long)end->indices[i]);
    tt_text_append(&text, "]");
    name = text.failed ? NULL : tt_arena_copy_text(&flat->arena, text.text, text.length);
    tt_text_fini(&text);
    return name ? name : no_memory_for_name;
}

/* ---- variables of FMUs ---- */

enum tt_ssp_kind tt_flat_variable_kind(const struct tt_var *var)
{
    if (var->variability == TUTTI_CONSTANT)
        return TUTTI_SSP_CONSTANT;
    switch ((enum tt_causality)var->causality) {
    case TUTTI_INPUT: return TUTTI_SSP_INPUT;
    case TUTTI_OUTPUT:
        /* FMI 1.0: an output that is a parameter is calculated in the initialisation. */
        return var->variability == TUTTI_FIXED ? TUTTI_SSP_CALCULATED_PARAMETER : TUTTI_SSP_OUTPUT;
    case TUTTI_PARAMETER: return TUTTI_SSP_PARAMETER;
    case TUTTI_CALCULATED_PARAMETER: return TUTTI_SSP_CALCULATED_PARAMETER;
    case TUTTI_STRUCTURAL_PARAMETER: return TUTTI_SSP_STRUCTURAL_PARAMETER;
    case TUTTI_LOCAL:
    case TUTTI_INDEPENDENT: break;
    }
    return TUTTI_SSP_LOCAL;
}

struct tt_signal_spec tt_flat_variable_spec(const struct tt_description *desc, const struct tt_var *var)
{
    struct tt_signal_spec look = {.typed = true, .type = var->type, .dimensions = var->dimension_count};
    if (tt_type_is_float(var->type) && var->unit != TUTTI_NONE)
        look.unit = &desc->units[var->unit];
    look.relative = tt_type_is_float(var->type) && var->bounds && var->bounds->relative;
    if (var->type == TUTTI_TYPE_ENUMERATION && var->type_def != TUTTI_NONE) {
        look.items = desc->types[var->type_def].items;
        look.item_count = desc->types[var->type_def].item_count;
    }
    return look;
}

uint32_t tt_flat_add_variable(struct tt_flat *flat, uint32_t item, uint32_t variable)
{
    struct tt_flat_node *node = tt_vector_push(&flat->nodes, sizeof *node);
    if (!node)
        return TUTTI_NONE;
    const struct tt_flat_item *owner = tt_flat_item(flat, item);
    const struct tt_description *desc = tt_flat_component(flat, owner->component)->fmu->desc;
    const struct tt_var *var = &desc->vars[variable];
    *node = (struct tt_flat_node){
        .name = var->name,
        .item = item,
        .component = owner->component,
        .variable = variable,
        .column = TUTTI_NONE,
        .kind = (uint8_t)tt_flat_variable_kind(var),
        .look = tt_flat_variable_spec(desc, var),
    };
    return (uint32_t)flat->nodes.count - 1;
}

uint32_t tt_flat_variable_node(struct tt_flat *flat, uint32_t item, uint32_t variable)
{
    const struct tt_description *desc = tt_flat_component(flat, tt_flat_item(flat, item)->component)->fmu->desc;
    uint32_t connector = tt_flat_find_connector(flat, item, desc->vars[variable].name);
    uint32_t node = connector == TUTTI_NONE ? TUTTI_NONE : tt_flat_item(flat, item)->nodes[connector];
    return node == TUTTI_NONE ? tt_flat_add_variable(flat, item, variable) : node;
}

/* Returns the interval kind of an FMU's input clock; for other variables TUTTI_INTERVAL_UNKNOWN. */
static enum tt_interval flat_interval_of(const struct tt_flat *flat, const struct tt_flat_node *node)
{
    if (node->component == TUTTI_NONE)
        return TUTTI_INTERVAL_UNKNOWN;
    const struct tt_var *var = &tt_flat_component(flat, node->component)->fmu->desc->vars[node->variable];
    return var->type == TUTTI_TYPE_CLOCK && var->causality == TUTTI_INPUT ? var->more->clock->interval_variability
                                                                          : TUTTI_INTERVAL_UNKNOWN;
}

bool tt_flat_clock_triggers(const struct tt_flat *flat, const struct tt_flat_node *from, const struct tt_flat_node *to)
{
    return flat_interval_of(flat, from) < TUTTI_INTERVAL_TRIGGERED &&
           flat_interval_of(flat, to) == TUTTI_INTERVAL_TRIGGERED;
}

bool tt_flat_has_element(const struct tt_flat *flat, const struct tt_flat_node *node, const uint64_t *indices,
                         size_t count)
{
    if (count == 0)
        return true;
    if (count > TUTTI_MOST_INDICES)
        return false;
    if (node->component == TUTTI_NONE)
        return node->look.dimensions == 0 || node->look.dimensions == count;
    const struct tt_var *var = &tt_flat_component(flat, node->component)->fmu->desc->vars[node->variable];
    if (count != var->dimension_count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (var->dimensions[i].variable == TUTTI_NONE && indices[i] > var->dimensions[i].start)
            return false;
    return true;
}

/* ---- names to items, connectors and variables ---- */

enum { FEW = 8 }; /* up to this number of names comparing is faster than a lookup */

uint32_t tt_flat_find_child(struct tt_flat *flat, uint32_t owner, const char *name)
{
    struct tt_flat_item *item = tt_flat_item(flat, owner);
    if (item->child_count > FEW && item->children.count == 0) {
        enum tutti_err err = tt_map_reserve(&item->children, item->child_count);
        for (uint32_t i = 0; i < item->child_count && !err; i++)
            err = tt_map_add(&item->children, tt_flat_item(flat, item->first_child + i)->own_name, i, NULL);
        if (err)
            tt_map_fini(&item->children);
    }
    if (item->children.count > 0) {
        int64_t found = tt_map_find(&item->children, name);
        return found == TUTTI_MAP_NONE ? TUTTI_NONE : item->first_child + (uint32_t)found;
    }
    for (uint32_t i = 0; i < item->child_count; i++)
        if (strcmp(tt_flat_item(flat, item->first_child + i)->own_name, name) == 0)
            return item->first_child + i;
    return TUTTI_NONE;
}

uint32_t tt_flat_find_connector(struct tt_flat *flat, uint32_t owner, const char *name)
{
    struct tt_flat_item *item = tt_flat_item(flat, owner);
    if (item->connector_count > FEW && item->connectors_by_name.count == 0) {
        enum tutti_err err = tt_map_reserve(&item->connectors_by_name, item->connector_count);
        for (uint32_t i = 0; i < item->connector_count && !err; i++)
            err = tt_map_add(&item->connectors_by_name, item->connectors[i].name, i, NULL);
        if (err)
            tt_map_fini(&item->connectors_by_name);
    }
    if (item->connectors_by_name.count > 0) {
        int64_t found = tt_map_find(&item->connectors_by_name, name);
        return found == TUTTI_MAP_NONE ? TUTTI_NONE : (uint32_t)found;
    }
    for (uint32_t i = 0; i < item->connector_count; i++)
        if (strcmp(item->connectors[i].name, name) == 0)
            return i;
    return TUTTI_NONE;
}

static enum tutti_err add_match(struct tt_vector *matches, const struct tt_flat_match *match)
{
    struct tt_flat_match *place = tt_vector_push(matches, sizeof *place);
    if (!place)
        return tt_fail_memory();
    *place = *match;
    return TUTTI_OK;
}

static enum tutti_err match_variable(struct tt_flat *flat, uint32_t index, const char *name, struct tt_vector *matches)
{
    struct tt_flat_match match = {.item = index, .connector = TUTTI_NONE, .variable = TUTTI_NONE};
    const struct tt_description *desc = tt_flat_component(flat, tt_flat_item(flat, index)->component)->fmu->desc;
    bool found = tt_setting_look_up(desc, name, &match.variable, &match.element);
    return found ? add_match(matches, &match) : TUTTI_OK;
}

enum tutti_err tt_flat_count_lookup(struct tt_flat *flat, size_t bytes)
{
    flat->lookups += 1 + bytes / 64; /* a long name takes as long as some short ones */
    if (flat->lookups <= TUTTI_MOST_LOOKUPS)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_LIMIT, "%s: more than %d names of parameters to look up; split the files with values",
                   flat->system->path, TUTTI_MOST_LOOKUPS);
}

/* `name` is cut at its dots for a moment. The depth of the calls is that of the nesting. */
static enum tutti_err match_inside(struct tt_flat *flat, uint32_t index, char *name, struct tt_vector *matches)
{
    const struct tt_flat_item *item = tt_flat_item(flat, index);
    struct tt_flat_match match = {.item = index, .connector = TUTTI_NONE, .variable = TUTTI_NONE};
    if (item->component != TUTTI_NONE)
        return match_variable(flat, index, name, matches);
    match.connector = tt_flat_find_connector(flat, index, name);
    if (match.connector != TUTTI_NONE && item->nodes[match.connector] != TUTTI_NONE)
        TRY(add_match(matches, &match));
    for (char *dot = strchr(name, '.'); dot && dot <= name + item->longest_child; dot = strchr(dot + 1, '.')) {
        TRY(tt_flat_count_lookup(flat, (size_t)(dot - name)));
        *dot = '\0';
        uint32_t child = tt_flat_find_child(flat, index, name);
        *dot = '.';
        if (child != TUTTI_NONE)
            TRY(match_inside(flat, child, dot + 1, matches));
    }
    return TUTTI_OK;
}

enum tutti_err tt_flat_find_matches(struct tt_flat *flat, uint32_t item, const char *name, struct tt_vector *matches)
{
    TRY(tt_flat_count_lookup(flat, 0));
    if (tt_flat_item(flat, item)->component != TUTTI_NONE)
        return match_variable(flat, item, name, matches);
    char *copy = tt_text_copy(name);
    if (!copy)
        return tt_fail_memory();
    enum tutti_err err = match_inside(flat, item, copy, matches);
    free(copy);
    return err;
}

/* ---- a name that means nothing ---- */

bool tt_flat_may_suggest(struct tt_flat *flat)
{
    return flat->guesses < 50 && ++flat->guesses;
}

/* Goes down as long as the name's beginning is known; there, the nearest of what is. */
const char *tt_flat_nearest(struct tt_flat *flat, uint32_t index, const char *name)
{
    const struct tt_flat_item *item = tt_flat_item(flat, index);
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        char *begin = tt_arena_copy_text(&flat->arena, name, (size_t)(dot - name));
        uint32_t child = begin ? tt_flat_find_child(flat, index, begin) : TUTTI_NONE;
        if (child != TUTTI_NONE)
            return tt_flat_nearest(flat, child, dot + 1);
    }
    struct tt_text_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < item->connector_count; i++)
        tt_text_nearest_offer(&nearest, item->connectors[i].name);
    if (item->component != TUTTI_NONE) {
        const char *best = tt_description_nearest(tt_flat_component(flat, item->component)->fmu->desc, name);
        return best ? tt_flat_path(flat, index, best) : NULL;
    }
    if (!nearest.best) {
        /* "ca.x" for "car.x": a child's name with what follows it. */
        const char *dot = strchr(name, '.');
        char *begin = dot ? tt_arena_copy_text(&flat->arena, name, (size_t)(dot - name)) : NULL;
        nearest.wanted = begin ? begin : name;
        for (uint32_t i = 0; i < item->child_count; i++)
            tt_text_nearest_offer(&nearest, tt_flat_item(flat, item->first_child + i)->own_name);
        if (nearest.best && begin) {
            struct tt_text text = {0};
            tt_text_printf(&text, "%s%s", nearest.best, dot);
            nearest.best = text.failed ? NULL : tt_arena_copy_text(&flat->arena, text.text, text.length);
            tt_text_fini(&text);
        }
    }
    return nearest.best ? tt_flat_path(flat, index, nearest.best) : NULL;
}
