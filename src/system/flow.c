/* SPDX-License-Identifier: MIT */
/* What happens to values on their way through connections and mappings. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "description/wide.h"
#include "system/flat.h"

static bool is_whole(enum tutti_type type)
{
    return tutti_type_is_integer(type) || type == TUTTI_TYPE_ENUMERATION;
}

/* ---- types ---- */

/* A Real of SSP takes any Float of FMI 3.0, an Integer any integer, and hands on what came in. */
static bool stays_as_it_is(const struct look *now, const struct look *target)
{
    return target->loose && ((tutti_type_is_float(now->type) && tutti_type_is_float(target->type)) ||
                             (tutti_type_is_integer(now->type) && tutti_type_is_integer(target->type)));
}

static bool can_pass(const struct flow *flow, enum tutti_type to)
{
    enum tutti_type from = (enum tutti_type)flow->look.type;
    /* What was rounded stays what it is: the whole way is one conversion from its source. */
    if (flow->rounded)
        return from == to || (tutti_type_is_integer(from) && tutti_type_is_integer(to));
    return tutti_conversion_possible(from, to) || (flow->lossy && tutti_conversion_rounds(from, to));
}

static enum tutti_err fail_type(const struct flow *flow, enum tutti_type to)
{
    enum tutti_type from = (enum tutti_type)flow->look.type;
    bool rounds = flow->wired && !flow->rounded && tutti_conversion_rounds(from, to);
    return tutti_fail(TUTTI_ERR_ARGUMENT, "%s cannot be handed to %s%s%s", tutti_type_name(from), tutti_type_name(to),
                      rounds ? ", unless it is rounded: --convert" : "",
                      flow->rounded ? " after it was rounded on its way" : "");
}

static enum tutti_err pass_type(struct flow *flow, const struct look *target)
{
    struct look *now = &flow->look;
    if (!target->typed)
        return TUTTI_OK;
    if (now->typed && !can_pass(flow, target->type))
        return fail_type(flow, target->type);
    flow->rounded = flow->rounded || (now->typed && !tutti_conversion_possible(now->type, target->type));
    if (!now->typed || !stays_as_it_is(now, target))
        now->type = target->type;
    now->typed = true;
    return TUTTI_OK;
}

/* ---- units ---- */

static void add_linear(struct flow *flow, double factor, double offset)
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

static enum tutti_err pass_unit(struct flow *flow, const struct look *target, bool suppress, bool *unknown)
{
    bool floats = flow->look.typed && tutti_type_is_float(flow->look.type);
    if (!floats || !target->unit)
        return TUTTI_OK;
    if (!suppress && flow->look.unit) {
        double factor, offset;
        bool known;
        TRY(tutti_conversion_units(flow->look.unit, target->unit, &factor, &offset, &known));
        *unknown |= !known;
        add_linear(flow, factor, flow->look.relative ? 0 : offset);
    }
    flow->look.unit = target->unit;
    return TUTTI_OK;
}

/* ---- transformations ---- */

static int compare_entries(const void *a, const void *b)
{
    const tutti_wide *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

static enum tutti_err add_map(struct flow *flow, tutti_wide (*pairs)[2], size_t count, struct tutti_arena *arena)
{
    if (count > 1)
        qsort(pairs, count, sizeof *pairs, compare_entries);
    for (size_t i = 1; i < count; i++)
        if (pairs[i][0] == pairs[i - 1][0])
            return tutti_fail(TUTTI_ERR_ARGUMENT, "its mapping has two entries for the source %lld",
                              (long long)pairs[i][0]);
    struct flow_map *link = tutti_arena_alloc(arena, sizeof *link);
    tutti_wide *from = tutti_arena_array(arena, count, sizeof *from), *to = tutti_arena_array(arena, count, sizeof *to);
    if (!link || !from || !to)
        return tutti_fail_memory();
    for (size_t i = 0; i < count; i++) {
        from[i] = pairs[i][0];
        to[i] = pairs[i][1];
    }
    *link = (struct flow_map){{from, to, count}, flow->maps};
    flow->maps = link;
    return TUTTI_OK;
}

static enum tutti_err find_entry(const struct items *items, const char *name, const char *end, tutti_wide *value)
{
    int64_t found;
    if (tutti_items_find(items, name, &found)) {
        *value = found;
        return TUTTI_OK;
    }
    if (items->look->item_count == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "its mapping needs the items of the enumeration at the %s; name it at the connector", end);
    return tutti_fail(TUTTI_ERR_ARGUMENT, "its mapping names '%s', which is no item of the enumeration at the %s", name,
                      end);
}

/* Is a number that a mapping names one that the destination can have? */
static enum tutti_err check_target(const struct look *target, const struct items *items, tutti_wide value)
{
    bool found = target->item_count == 0 ||
                 (tutti_conversion_fits(TUTTI_TYPE_INT64, value) && tutti_items_has(items, (int64_t)value));
    bool whole = target->typed && (is_whole(target->type) || target->type == TUTTI_TYPE_BOOLEAN);
    if (found && (!whole || tutti_conversion_fits(target->type, value)))
        return TUTTI_OK;
    char text[TUTTI_NUMBER_MAX + 1] = {0};
    if (value < 0)
        tutti_number_write_int(text, (int64_t)value);
    else
        tutti_number_write_uint(text, (uint64_t)value);
    return tutti_fail(TUTTI_ERR_ARGUMENT, "its mapping has the target %s, which %s %s", text,
                      found ? "does not fit into" : "is the value of no item of the enumeration at the destination;",
                      found ? tutti_type_name(target->type) : "name one that is");
}

/* The entries of a mapping as numbers. */
static enum tutti_err number_entries(const struct look *source, const struct look *target,
                                     const struct tutti_ssp_transformation *transformation, tutti_wide (*pairs)[2])
{
    bool by_name = transformation->kind == TUTTI_SSP_ENUMERATION_MAP;
    struct items from = {.look = source}, to;
    enum tutti_err err = tutti_items_init(&to, target);
    if (!err && by_name)
        err = tutti_items_init(&from, source);
    for (size_t i = 0; i < transformation->entry_count && !err; i++) {
        const struct tutti_ssp_map_entry *entry = &transformation->entries[i];
        pairs[i][0] = entry->source;
        pairs[i][1] = entry->target;
        if (by_name)
            err = find_entry(&from, entry->source_name, "source", &pairs[i][0]);
        if (by_name && !err)
            err = find_entry(&to, entry->target_name, "destination", &pairs[i][1]);
        if (!by_name)
            err = check_target(target, &to, pairs[i][1]);
    }
    tutti_items_fini(&from);
    tutti_items_fini(&to);
    return err;
}

static enum tutti_err transform_map(struct flow *flow, const struct look *target,
                                    const struct tutti_ssp_transformation *transformation, struct tutti_arena *arena)
{
    size_t count = transformation->entry_count;
    tutti_wide(*pairs)[2] = calloc(count + 1, sizeof *pairs);
    if (!pairs)
        return tutti_fail_memory();
    enum tutti_err err = number_entries(&flow->look, target, transformation, pairs);
    if (!err)
        err = add_map(flow, pairs, count, arena);
    free(pairs);
    flow->look.items = NULL;
    flow->look.item_count = 0;
    return err;
}

/* SSP scales floats only. */
static bool can_scale(const struct flow *flow, enum tutti_type type)
{
    return tutti_type_is_float(type) || (flow->lossy && (tutti_type_is_integer(type) || type == TUTTI_TYPE_BOOLEAN));
}

/* The value keeps the source's type until the maps are through: a map of integers may end in a Float. */
static enum tutti_err transform(struct flow *flow, enum tutti_type before, const struct look *target,
                                const struct tutti_ssp_transformation *transformation, struct tutti_arena *arena)
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
    enum tutti_type after = flow->look.type;
    bool fits = true;
    switch (transformation->kind) {
    case TUTTI_SSP_IDENTITY: return TUTTI_OK;
    case TUTTI_SSP_LINEAR: fits = can_scale(flow, after); break;
    case TUTTI_SSP_BOOLEAN_MAP: fits = before == TUTTI_TYPE_BOOLEAN; break;
    case TUTTI_SSP_INTEGER_MAP: fits = is_whole(before); break;
    case TUTTI_SSP_ENUMERATION_MAP: fits = before == TUTTI_TYPE_ENUMERATION && after == TUTTI_TYPE_ENUMERATION; break;
    }
    if (flow->look.typed && !fits)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "its %s is for %s, but the values are %s%s",
                          words[transformation->kind].word, words[transformation->kind].types,
                          tutti_type_name(transformation->kind == TUTTI_SSP_LINEAR ? after : before),
                          flow->wired && transformation->kind == TUTTI_SSP_LINEAR && tutti_type_is_integer(after)
                              ? ", unless they may be rounded: --convert"
                              : "");
    if (transformation->kind != TUTTI_SSP_LINEAR)
        return transform_map(flow, target, transformation, arena);
    add_linear(flow, transformation->factor, transformation->offset);
    return TUTTI_OK;
}

enum tutti_err tutti_flow_pass(struct flow *flow, const struct look *via, const struct look *view,
                               const struct look *target, bool suppress,
                               const struct tutti_ssp_transformation *transformation, struct tutti_arena *arena,
                               bool *unknown_units)
{
    flow->look.relative |= target->relative;
    if (via)
        TRY(pass_unit(flow, via, false, unknown_units));
    enum tutti_type before = flow->look.typed ? (enum tutti_type)flow->look.type : (enum tutti_type)view->type;
    TRY(pass_type(flow, view));
    TRY(pass_unit(flow, view, suppress, unknown_units));
    if (transformation) {
        TRY(transform(flow, before, view, transformation, arena));
        /* Scaled by hand, it is no longer in the source's unit. */
        if (transformation->kind == TUTTI_SSP_LINEAR && !view->unit)
            flow->look.unit = NULL;
    }
    if (view != target) {
        TRY(pass_type(flow, target));
        TRY(pass_unit(flow, target, false, unknown_units));
    }
    const struct look *named = target->items ? target : view;
    if (named->items) {
        flow->look.items = named->items;
        flow->look.item_count = named->item_count;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_flow_conversion(const struct flow *flow, enum tutti_type from, enum tutti_type to,
                                     struct tutti_arena *arena, const struct tutti_conversion **out)
{
    size_t count = 0;
    *out = NULL;
    for (const struct flow_map *link = flow->maps; link; link = link->previous)
        count++;
    struct tutti_conversion conversion = {
        .from = from,
        .to = to,
        .linear = flow->linear && !(flow->factor == 1 && flow->offset == 0),
        .factor = flow->linear ? flow->factor : 1,
        .offset = flow->linear ? flow->offset : 0,
        .map_count = count,
    };
    if (tutti_conversion_is_identity(&conversion))
        return TUTTI_OK;
    struct tutti_value_map *maps = tutti_arena_array(arena, count, sizeof *maps);
    struct tutti_conversion *copy = tutti_arena_alloc(arena, sizeof *copy);
    if (!maps || !copy)
        return tutti_fail_memory();
    for (const struct flow_map *link = flow->maps; link; link = link->previous)
        maps[--count] = link->map;
    conversion.maps = maps;
    *copy = conversion;
    *out = copy;
    return TUTTI_OK;
}
