/* SPDX-License-Identifier: MIT */
/* Conversions of values on their way through connections and mappings. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "fmu/description/type.h"
#include "model/system/flat.h"

static bool flow_is_whole(enum tt_type type)
{
    return tt_type_is_integer(type) || type == TUTTI_TYPE_ENUMERATION;
}

/* ---- types ---- */

static bool flow_can_pass(const struct tt_flow *flow, enum tt_type to)
{
    enum tt_type from = (enum tt_type)flow->look.type;
    /* A rounding conversion stays one: the whole path is one conversion from its source. */
    if (flow->rounded)
        return from == to || (tt_type_is_integer(from) && tt_type_is_integer(to));
    return tt_conversion_is_possible(from, to) || (flow->lossy && tt_conversion_rounds(from, to));
}

static enum tutti_err flow_fail_type(const struct tt_flow *flow, enum tt_type to)
{
    enum tt_type from = (enum tt_type)flow->look.type;
    bool rounds = flow->wired && !flow->rounded && tt_conversion_rounds(from, to);
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s cannot be handed to %s%s%s", tt_type_name(from), tt_type_name(to),
                   rounds ? ", unless it is rounded: --convert" : "",
                   flow->rounded ? " after it was rounded on its way" : "");
}

static enum tutti_err flow_pass_type(struct tt_flow *flow, const struct tt_signal_spec *target)
{
    struct tt_signal_spec *now = &flow->look;
    if (!target->typed)
        return TUTTI_OK;
    if (now->typed && !flow_can_pass(flow, target->type))
        return flow_fail_type(flow, target->type);
    flow->rounded = flow->rounded || (now->typed && !tt_conversion_is_possible(now->type, target->type));

    /* A Real of SSP accepts any Float of FMI 3.0, an Integer any integer; both pass on the type that they receive. */
    bool keeps = target->loose && ((tt_type_is_float(now->type) && tt_type_is_float(target->type)) ||
                                   (tt_type_is_integer(now->type) && tt_type_is_integer(target->type)));
    if (!now->typed || !keeps)
        now->type = target->type;
    now->typed = true;
    return TUTTI_OK;
}

/* ---- units ---- */

static void flow_add_linear(struct tt_flow *flow, double factor, double offset)
{
    if (factor == 1 && offset == 0)
        return;
    if (!flow->linear) {
        flow->factor = 1;
        flow->offset = 0;
    }
    flow->linear = true;
    flow->factor *= factor;
    flow->offset = factor * flow->offset + offset;
}

static enum tutti_err flow_pass_unit(struct tt_flow *flow, const struct tt_signal_spec *target, bool suppress,
                                     bool *unknown)
{
    bool floats = flow->look.typed && tt_type_is_float(flow->look.type);
    if (!floats || !target->unit)
        return TUTTI_OK;
    if (!suppress && flow->look.unit) {
        double factor, offset;
        bool known;
        TRY(tt_conversion_units(flow->look.unit, target->unit, &factor, &offset, &known));
        *unknown |= !known;
        flow_add_linear(flow, factor, flow->look.relative ? 0 : offset);
    }
    flow->look.unit = target->unit;
    return TUTTI_OK;
}

/* ---- transformations ---- */

static int flow_compare_entries(const void *a, const void *b)
{
    const tt_wide *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

static enum tutti_err flow_add_map(struct tt_flow *flow, tt_wide (*pairs)[2], size_t count, struct tt_arena *arena)
{
    if (count > 1)
        qsort(pairs, count, sizeof *pairs, flow_compare_entries);
    for (size_t i = 1; i < count; i++)
        if (pairs[i][0] == pairs[i - 1][0])
            return tt_fail(TUTTI_ERR_ARGUMENT, "its mapping has two entries for the source %lld",
                           (long long)pairs[i][0]);
    struct tt_flow_map *link = tt_arena_alloc(arena, sizeof *link);
    tt_wide *from = tt_arena_array(arena, count, sizeof *from), *to = tt_arena_array(arena, count, sizeof *to);
    if (!link || !from || !to)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++) {
        from[i] = pairs[i][0];
        to[i] = pairs[i][1];
    }
    *link = (struct tt_flow_map){{from, to, count}, flow->maps};
    flow->maps = link;
    return TUTTI_OK;
}

static enum tutti_err flow_find_entry(const struct tt_flow_items *items, const char *name, const char *end,
                                      tt_wide *value)
{
    int64_t found;
    if (tt_flow_find_item(items, name, &found)) {
        *value = found;
        return TUTTI_OK;
    }
    if (items->look->item_count == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "its mapping needs the items of the enumeration at the %s; name it at the connector", end);
    return tt_fail(TUTTI_ERR_ARGUMENT, "its mapping names '%s', which is no item of the enumeration at the %s", name,
                   end);
}

/* Checks that the destination can have a number that a mapping names. */
static enum tutti_err flow_check_target(const struct tt_signal_spec *target, const struct tt_flow_items *items,
                                        tt_wide value)
{
    bool found = target->item_count == 0 ||
                 (tt_conversion_fits(TUTTI_TYPE_INT64, value) && tt_flow_has_item(items, (int64_t)value));
    bool whole = target->typed && (flow_is_whole(target->type) || target->type == TUTTI_TYPE_BOOLEAN);
    if (found && (!whole || tt_conversion_fits(target->type, value)))
        return TUTTI_OK;
    char text[TUTTI_NUMBER_MAX + 1] = {0};
    if (value < 0)
        tt_number_write_int(text, (int64_t)value);
    else
        tt_number_write_uint(text, (uint64_t)value);
    return tt_fail(TUTTI_ERR_ARGUMENT, "its mapping has the target %s, which %s %s", text,
                   found ? "does not fit into" : "is the value of no item of the enumeration at the destination;",
                   found ? tt_type_name(target->type) : "name one that is");
}

static enum tutti_err flow_number_entries(const struct tt_signal_spec *source, const struct tt_signal_spec *target,
                                          const struct tt_ssp_transformation *transformation, tt_wide (*pairs)[2])
{
    bool by_name = transformation->kind == TUTTI_SSP_ENUMERATION_MAP;
    struct tt_flow_items from = {.look = source}, to;
    enum tutti_err err = tt_flow_init_items(&to, target);
    if (!err && by_name)
        err = tt_flow_init_items(&from, source);
    for (size_t i = 0; i < transformation->entry_count && !err; i++) {
        const struct tt_ssp_map_entry *entry = &transformation->entries[i];
        pairs[i][0] = entry->source;
        pairs[i][1] = entry->target;
        if (by_name)
            err = flow_find_entry(&from, entry->source_name, "source", &pairs[i][0]);
        if (by_name && !err)
            err = flow_find_entry(&to, entry->target_name, "destination", &pairs[i][1]);
        if (!by_name)
            err = flow_check_target(target, &to, pairs[i][1]);
    }
    tt_flow_fini_items(&from);
    tt_flow_fini_items(&to);
    return err;
}

static enum tutti_err flow_transform_map(struct tt_flow *flow, const struct tt_signal_spec *target,
                                         const struct tt_ssp_transformation *transformation, struct tt_arena *arena)
{
    size_t count = transformation->entry_count;
    tt_wide(*pairs)[2] = calloc(count + 1, sizeof *pairs);
    if (!pairs)
        return tt_fail_memory();
    enum tutti_err err = flow_number_entries(&flow->look, target, transformation, pairs);
    if (!err)
        err = flow_add_map(flow, pairs, count, arena);
    free(pairs);
    flow->look.items = NULL;
    flow->look.item_count = 0;
    return err;
}

/* The value keeps the source's type until the maps are through: a map of integers may end in a Float. */
static enum tutti_err flow_transform(struct tt_flow *flow, enum tt_type before, const struct tt_signal_spec *target,
                                     const struct tt_ssp_transformation *transformation, struct tt_arena *arena)
{
    static const struct {
        const char *word, *types;
    } words[] = {
        [TUTTI_SSP_IDENTITY] = {"", ""},
        [TUTTI_SSP_LINEAR] = {"LinearTransformation", "Real and Float"},
        [TUTTI_SSP_BOOLEAN_MAP] = {"BooleanMappingTransformation", "Boolean"},
        [TUTTI_SSP_INTEGER_MAP] = {"IntegerMappingTransformation", "integers and enumerations"},
        [TUTTI_SSP_ENUMERATION_MAP] = {"EnumerationMappingTransformation", "enumerations"},
    };
    enum tt_type after = flow->look.type;
    bool fits = true;
    switch (transformation->kind) {
    case TUTTI_SSP_IDENTITY: return TUTTI_OK;
    case TUTTI_SSP_LINEAR: /* SSP scales floats only */
        fits = tt_type_is_float(after) || (flow->lossy && (tt_type_is_integer(after) || after == TUTTI_TYPE_BOOLEAN));
        break;
    case TUTTI_SSP_BOOLEAN_MAP: fits = before == TUTTI_TYPE_BOOLEAN; break;
    case TUTTI_SSP_INTEGER_MAP: fits = flow_is_whole(before); break;
    case TUTTI_SSP_ENUMERATION_MAP: fits = before == TUTTI_TYPE_ENUMERATION && after == TUTTI_TYPE_ENUMERATION; break;
    }
    if (flow->look.typed && !fits)
        return tt_fail(TUTTI_ERR_ARGUMENT, "its %s is for %s, but the values are %s%s",
                       words[transformation->kind].word, words[transformation->kind].types,
                       tt_type_name(transformation->kind == TUTTI_SSP_LINEAR ? after : before),
                       flow->wired && transformation->kind == TUTTI_SSP_LINEAR && tt_type_is_integer(after)
                           ? ", unless they may be rounded: --convert"
                           : "");
    if (transformation->kind != TUTTI_SSP_LINEAR)
        return flow_transform_map(flow, target, transformation, arena);
    flow_add_linear(flow, transformation->factor, transformation->offset);
    return TUTTI_OK;
}

enum tutti_err tt_flow_apply(struct tt_flow *flow, const struct tt_signal_spec *via, const struct tt_signal_spec *view,
                             const struct tt_signal_spec *target, bool suppress,
                             const struct tt_ssp_transformation *transformation, struct tt_arena *arena,
                             bool *unknown_units)
{
    flow->look.relative |= target->relative;
    if (via)
        TRY(flow_pass_unit(flow, via, false, unknown_units));
    enum tt_type before = flow->look.typed ? (enum tt_type)flow->look.type : (enum tt_type)view->type;
    TRY(flow_pass_type(flow, view));
    TRY(flow_pass_unit(flow, view, suppress, unknown_units));
    if (transformation) {
        TRY(flow_transform(flow, before, view, transformation, arena));
        /* After an explicit scaling the value no longer has the source's unit. */
        if (transformation->kind == TUTTI_SSP_LINEAR && !view->unit)
            flow->look.unit = NULL;
    }
    if (view != target) {
        TRY(flow_pass_type(flow, target));
        TRY(flow_pass_unit(flow, target, false, unknown_units));
    }
    const struct tt_signal_spec *named = target->items ? target : view;
    if (named->items) {
        flow->look.items = named->items;
        flow->look.item_count = named->item_count;
    }
    return TUTTI_OK;
}

enum tutti_err tt_flow_make_conversion(const struct tt_flow *flow, enum tt_type from, enum tt_type to,
                                       struct tt_arena *arena, const struct tt_conversion **out)
{
    size_t count = 0;
    *out = NULL;
    for (const struct tt_flow_map *link = flow->maps; link; link = link->previous)
        count++;
    struct tt_conversion conversion = {
        .from = from,
        .to = to,
        .linear = flow->linear && !(flow->factor == 1 && flow->offset == 0),
        .factor = flow->linear ? flow->factor : 1,
        .offset = flow->linear ? flow->offset : 0,
        .map_count = count,
    };
    if (tt_conversion_is_identity(&conversion))
        return TUTTI_OK;
    struct tt_value_map *maps = tt_arena_array(arena, count, sizeof *maps);
    struct tt_conversion *copy = tt_arena_alloc(arena, sizeof *copy);
    if (!maps || !copy)
        return tt_fail_memory();
    for (const struct tt_flow_map *link = flow->maps; link; link = link->previous)
        maps[--count] = link->map;
    conversion.maps = maps;
    *copy = conversion;
    *out = copy;
    return TUTTI_OK;
}

/* The items of an enumeration, looked up: mappings and arrays may name very many of them. */

static int flow_compare_values(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

enum tutti_err tt_flow_init_items(struct tt_flow_items *items, const struct tt_signal_spec *look)
{
    *items = (struct tt_flow_items){.look = look};
    if (look->item_count == 0)
        return TUTTI_OK;
    items->values = calloc(look->item_count, sizeof *items->values);
    if (!items->values)
        return tt_fail_memory();
    enum tutti_err err = tt_map_reserve(&items->names, look->item_count);
    for (size_t i = 0; i < look->item_count && !err; i++) {
        items->values[i] = look->items[i].value;
        err = tt_map_add(&items->names, look->items[i].name, (int64_t)i, NULL);
    }
    if (err)
        tt_flow_fini_items(items);
    else
        qsort(items->values, look->item_count, sizeof *items->values, flow_compare_values);
    return err;
}

void tt_flow_fini_items(struct tt_flow_items *items)
{
    free(items->values);
    items->values = NULL;
    tt_map_fini(&items->names);
}

bool tt_flow_find_item(const struct tt_flow_items *items, const char *name, int64_t *value)
{
    int64_t found = items->names.count ? tt_map_find(&items->names, name) : TUTTI_MAP_NONE;
    if (found != TUTTI_MAP_NONE)
        *value = items->look->items[found].value;
    return found != TUTTI_MAP_NONE;
}

bool tt_flow_has_item(const struct tt_flow_items *items, int64_t value)
{
    return items->values &&
           bsearch(&value, items->values, items->look->item_count, sizeof value, flow_compare_values) != NULL;
}
