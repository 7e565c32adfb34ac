/* SPDX-License-Identifier: MIT */
/* Runs when the file is read: resolves names and references to indices. Unresolved ones are reported and dropped. */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "fmu/description/builder.h"

/* 3.0: value references in order, with the variables that they belong to. */
struct resolver_entry {
    uint32_t reference, index;
};
struct resolver_table {
    struct resolver_entry *entries;
    uint32_t count;
};

static void resolver_report(struct tt_builder *build, const char *what, const char *name, unsigned line)
{
    build->what = what;
    build->name = name;
    build->line = line;
}

static int resolver_compare_entries(const void *a, const void *b)
{
    const struct resolver_entry *x = a, *y = b;
    if (x->reference != y->reference)
        return x->reference < y->reference ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static enum tutti_err resolver_make_table(struct tt_builder *build, struct resolver_table *table)
{
    const struct tt_var *vars = build->whole->vars.items;
    uint32_t n = build->whole->vars.count;
    bool sorted = true;
    table->entries = malloc((n + 1) * sizeof *table->entries);
    if (!table->entries)
        return tt_fail_memory();
    for (uint32_t i = 0; i < n; i++) {
        table->entries[i] = (struct resolver_entry){vars[i].reference, i};
        sorted &= i == 0 || vars[i - 1].reference <= vars[i].reference;
    }
    if (!sorted)
        qsort(table->entries, n, sizeof *table->entries, resolver_compare_entries);
    table->count = n;
    return TUTTI_OK;
}

/* The first variable with this reference, or TUTTI_NONE. */
static uint32_t find_by_reference(const struct resolver_table *table, uint32_t reference)
{
    size_t at;
    /* References mostly count up without gaps: then the place is known. */
    if (table->count && reference >= table->entries[0].reference) {
        uint32_t guess = reference - table->entries[0].reference;
        if (guess < table->count && table->entries[guess].reference == reference &&
            (guess == 0 || table->entries[guess - 1].reference != reference))
            return table->entries[guess].index;
    }
    TUTTI_SEARCH(at, table->count, table->entries[at].reference < reference);
    return at < table->count && table->entries[at].reference == reference ? table->entries[at].index : TUTTI_NONE;
}

/* A reference as the file has it (2.0: an index from 1 on, 3.0: a value reference) -> index, or TUTTI_NONE. */
static uint32_t resolver_index_of(const struct tt_builder *build, const struct resolver_table *table, uint32_t raw)
{
    if (build->desc->fmi == 3)
        return find_by_reference(table, raw);
    return raw >= 1 && raw <= build->whole->vars.count ? raw - 1 : TUTTI_NONE;
}

static const char *reference_word(const struct tt_builder *build)
{
    return build->desc->fmi == 3 ? "value reference" : "index";
}

static void resolve_pending_type(struct tt_builder *build, const struct tt_builder_pending *pending)
{
    struct tt_var *var = (struct tt_var *)build->whole->vars.items + pending->owner;
    int64_t found = tt_map_find(&build->type_names, pending->name);
    resolver_report(build, "variable", var->name, pending->line);
    if (found == TUTTI_MAP_NONE) {
        tt_builder_report_error(build, "declaredType is \"%.200s\", expected the name of a type in TypeDefinitions",
                                pending->name);
        return;
    }
    var->type_def = (uint32_t)found;
    tt_elements_inherit_type(var, (struct tt_type_def *)build->whole->types.items + found);
}

static void resolve_pending_display(struct tt_builder *build, const struct tt_builder_pending *pending)
{
    struct tt_var *vars = build->whole->vars.items;
    struct tt_type_def *types = build->whole->types.items;
    struct tt_alias *aliases = build->whole->aliases.items;
    const struct tt_unit_def *units = build->whole->units.items;
    uint32_t unit, *display;
    if (pending->kind == PENDING_TYPE_DISPLAY) {
        resolver_report(build, "type", types[pending->owner].name, pending->line);
        unit = types[pending->owner].unit;
        display = &types[pending->owner].display_unit;
    } else if (pending->kind == PENDING_VAR_DISPLAY) {
        resolver_report(build, "variable", vars[pending->owner].name, pending->line);
        unit = vars[pending->owner].unit;
        display = &vars[pending->owner].display_unit;
    } else {
        resolver_report(build, "alias", aliases[pending->owner].name, aliases[pending->owner].line);
        unit = vars[aliases[pending->owner].variable].unit;
        display = &aliases[pending->owner].display_unit;
    }
    *display = tt_elements_find_display(build, unit, pending->name);
    if (*display != TUTTI_NONE)
        return;
    if (unit == TUTTI_NONE)
        tt_builder_report_error(build, "displayUnit is \"%.200s\", but there is no unit that it could belong to",
                                pending->name);
    else if (build->desc->fmi == 3)
        tt_builder_report_error(build, "displayUnit is \"%.200s\", expected a display unit of the unit \"%.200s\"",
                                pending->name, units[unit].name);
    else if (strcmp(pending->name, units[unit].name) != 0)
        tt_builder_report_warning(build, "displayUnit \"%.200s\" is not defined for the unit \"%.200s\" and is ignored",
                                  pending->name, units[unit].name);
}

static void resolve_pending(struct tt_builder *build)
{
    const struct tt_builder_pending *pending = build->pending.items;
    for (int kind = PENDING_VAR_TYPE; kind <= PENDING_ALIAS_DISPLAY; kind++)
        for (uint32_t i = 0; i < build->pending.count; i++) {
            if (pending[i].kind != (enum tt_builder_pending_kind)kind)
                continue;
            if (kind == PENDING_VAR_TYPE)
                resolve_pending_type(build, &pending[i]);
            else
                resolve_pending_display(build, &pending[i]);
        }
}

/* The value of a whole-number variable's start, or 1 with a finding. */
static uint64_t resolver_extent_of(struct tt_builder *build, const struct tt_var *var)
{
    if (var->start) {
        switch (var->type) {
        case TUTTI_TYPE_UINT64: return *(const uint64_t *)var->start;
        case TUTTI_TYPE_UINT32: return *(const uint32_t *)var->start;
        case TUTTI_TYPE_UINT16: return *(const uint16_t *)var->start;
        case TUTTI_TYPE_UINT8: return *(const uint8_t *)var->start;
        case TUTTI_TYPE_INT64: return *(const int64_t *)var->start > 0 ? (uint64_t) * (const int64_t *)var->start : 0;
        case TUTTI_TYPE_INT32: return *(const int32_t *)var->start > 0 ? (uint64_t) * (const int32_t *)var->start : 0;
        default: break;
        }
    }
    tt_builder_report_error(build, "its size is that of \"%.200s\", expected a UInt64 with a start value; 1 is used",
                            var->name);
    return 1;
}

static void resolve_dimensions(struct tt_builder *build, const struct resolver_table *table, struct tt_var *var)
{
    const struct tt_var *vars = build->whole->vars.items;
    struct tt_dimension *dimensions = (struct tt_dimension *)var->dimensions; /* ours, in the arena */
    for (unsigned i = 0; i < var->dimension_count; i++) {
        uint32_t raw = dimensions[i].variable;
        if (raw == TUTTI_NONE)
            continue;
        dimensions[i].variable = find_by_reference(table, raw);
        if (dimensions[i].variable == TUTTI_NONE)
            tt_builder_report_error(build, "a Dimension has the value reference %u, which no variable has", raw);
        else
            dimensions[i].start = resolver_extent_of(build, &vars[dimensions[i].variable]);
    }
}

static void resolve_clocks(struct tt_builder *build, const struct resolver_table *table, struct tt_var *var)
{
    uint32_t *clocks = (uint32_t *)var->more->clocks, kept = 0; /* ours, in the arena */
    for (uint32_t i = 0; i < var->clock_count; i++) {
        uint32_t index = find_by_reference(table, clocks[i]);
        if (index == TUTTI_NONE)
            tt_builder_report_error(build, "clocks has the value reference %u, which no variable has", clocks[i]);
        else
            clocks[kept++] = index;
    }
    var->clock_count = kept;
}

static void resolve_vars(struct tt_builder *build, const struct resolver_table *table)
{
    struct tt_var *vars = build->whole->vars.items;
    for (uint32_t i = 0; i < build->whole->vars.count; i++) {
        struct tt_var *var = &vars[i];
        uint32_t raw = var->derivative_of;
        resolver_report(build, "variable", var->name, var->line);
        if (raw != TUTTI_NONE) {
            var->derivative_of = resolver_index_of(build, table, raw);
            if (var->derivative_of == TUTTI_NONE)
                tt_builder_report_error(build, "derivative is %u, expected the %s of a variable", raw,
                                        reference_word(build));
        }
        raw = var->previous;
        if (raw != TUTTI_NONE) {
            var->previous = resolver_index_of(build, table, raw);
            if (var->previous == TUTTI_NONE)
                tt_builder_report_error(build, "previous is %u, expected the value reference of a variable", raw);
        }
        if (var->dimension_count)
            resolve_dimensions(build, table, var);
        if (var->clock_count)
            resolve_clocks(build, table, var);
    }
}

static void resolve_dependencies(struct tt_builder *build, const struct resolver_table *table,
                                 struct tt_unknown *unknown)
{
    uint32_t *dependencies = (uint32_t *)unknown->dependencies, kept = 0; /* ours, in the arena */
    uint8_t *kinds = (uint8_t *)unknown->kinds;
    for (uint32_t i = 0; i < unknown->dependency_count; i++) {
        uint32_t index = resolver_index_of(build, table, dependencies[i]);
        if (index == TUTTI_NONE) {
            tt_builder_report_error(build, "dependency %u leads nowhere, expected the %s of a variable",
                                    dependencies[i], reference_word(build));
            continue;
        }
        if (kinds)
            kinds[kept] = kinds[i];
        dependencies[kept++] = index;
    }
    unknown->dependency_count = kept;
}

static void resolve_unknowns(struct tt_builder *build, const struct resolver_table *table, struct tt_builder_list *list)
{
    static const char *const names[] = {"output", "derivative", "initial unknown", "clocked state", "event indicator"};
    const char *what = names[list - build->whole->unknowns];
    const struct tt_var *vars = build->whole->vars.items;
    struct tt_unknown *unknowns = list->items;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t index = resolver_index_of(build, table, unknowns[i].variable);
        resolver_report(build, what, NULL, unknowns[i].line);
        if (index == TUTTI_NONE) {
            tt_builder_report_error(build, "found the %s %u, which no variable has; the entry is ignored",
                                    reference_word(build), unknowns[i].variable);
            continue;
        }
        build->name = vars[index].name;
        unknowns[i].variable = index;
        resolve_dependencies(build, table, &unknowns[i]);
        unknowns[kept++] = unknowns[i];
    }
    list->count = kept;
}

/* 1.0: the outputs are in the order of the variables, and so are the names, as they stood in the file. */
static enum tutti_err resolve_names(struct tt_builder *build)
{
    struct tt_description *desc = build->desc;
    const struct tt_builder_named_dependency *names = build->names.items;
    struct tt_unknown *outputs = build->whole->unknowns[LIST_OUTPUTS].items;
    uint32_t n = build->names.count, next = 0;
    uint32_t *indices = tt_arena_array(&desc->arena, n + 1, sizeof *indices);
    if (!indices)
        return tt_fail_memory();
    for (uint32_t i = 0; i < build->whole->unknowns[LIST_OUTPUTS].count; i++) {
        struct tt_unknown *output = &outputs[i];
        while (next < n && names[next].output < output->variable)
            next++; /* of a variable that is not an output */
        output->dependencies = indices;
        for (; next < n && names[next].output == output->variable; next++) {
            uint32_t index = tt_description_find(desc, names[next].name);
            resolver_report(build, "variable", desc->vars[output->variable].name, names[next].line);
            if (index == TUTTI_NONE)
                tt_builder_report_error(build, "DirectDependency names \"%.200s\", expected the name of an input",
                                        names[next].name);
            else
                indices[output->dependency_count++] = index;
        }
        indices += output->dependency_count;
    }
    return TUTTI_OK;
}

static enum tutti_err push_unknown(struct tt_builder *build, enum tt_builder_unknown_list list, uint32_t variable)
{
    enum tutti_err err;
    struct tt_unknown *unknown = tt_builder_push(build, &build->whole->unknowns[list], "unknowns", &err);
    if (!unknown)
        return err;
    unknown->variable = variable;
    unknown->line = build->desc->vars[variable].line;
    return TUTTI_OK;
}

static uint32_t count_scalars(const struct tt_description *desc, const struct tt_unknowns *unknowns)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < unknowns->count; i++)
        if (__builtin_add_overflow(sum, tt_description_var_size(&desc->vars[unknowns->items[i].variable]), &sum))
            return UINT32_MAX;
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

/* Gives back what a list has too much; the items may move. */
static const void *shrink_list(struct tt_builder_list *list)
{
    if (list->count == 0)
        return NULL;
    void *smaller = realloc(list->items, list->count * list->size);
    if (smaller) {
        list->items = smaller;
        list->capacity = list->count;
    }
    return list->items;
}

static void shrink_lists(struct tt_builder_description *whole)
{
    struct tt_description *desc = &whole->desc;
    desc->units = shrink_list(&whole->units);
    desc->unit_count = whole->units.count;
    desc->displays = shrink_list(&whole->displays);
    desc->display_count = whole->displays.count;
    desc->types = shrink_list(&whole->types);
    desc->type_count = whole->types.count;
    desc->log_categories = shrink_list(&whole->categories);
    desc->log_category_count = whole->categories.count;
    desc->annotations = shrink_list(&whole->annotations);
    desc->annotation_count = whole->annotations.count;
    desc->vars = shrink_list(&whole->vars);
    desc->var_count = whole->vars.count;
    desc->aliases = shrink_list(&whole->aliases);
    desc->alias_count = whole->aliases.count;
}

enum tutti_err tt_resolver_run(struct tt_builder *build)
{
    struct tt_description *desc = build->desc;
    struct tt_builder_description *whole = build->whole;
    struct resolver_table table = {0};
    resolver_report(build, NULL, NULL, desc->line);
    if (desc->fmi > 1 && !build->has_variables)
        tt_builder_report_error(build, "found no <ModelVariables>, expected one");
    if (desc->fmi > 1 && !build->has_structure)
        tt_builder_report_error(build, "found no <ModelStructure>, expected one; outputs are taken from the variables");

    resolve_pending(build);
    if (desc->fmi == 3)
        TRY(resolver_make_table(build, &table));
    if (desc->fmi > 1) {
        resolve_vars(build, &table);
        for (int i = 0; i < 5; i++)
            resolve_unknowns(build, &table, &whole->unknowns[i]);
    }
    free(table.entries);
    shrink_lists(whole);

    TRY(tt_map_reserve(&desc->names, (size_t)desc->var_count + desc->alias_count));
    for (uint32_t i = 0; i < desc->var_count; i++)
        TRY(tt_map_add(&desc->names, desc->vars[i].name, i, NULL));
    for (uint32_t i = 0; i < desc->alias_count; i++)
        TRY(tt_map_add(&desc->names, desc->aliases[i].name, desc->aliases[i].variable, NULL));
    if (desc->fmi == 1)
        TRY(resolve_names(build));

    /* FMI 2.0 and 3.0: lists that the file does not have are made from the variables. */
    for (uint32_t i = 0; desc->fmi > 1 && i < desc->var_count; i++) {
        if (!desc->outputs.given && desc->vars[i].causality == TUTTI_OUTPUT)
            TRY(push_unknown(build, LIST_OUTPUTS, i));
        if (!build->has_structure && desc->vars[i].derivative_of != TUTTI_NONE)
            TRY(push_unknown(build, LIST_DERIVATIVES, i));
    }

    for (int i = 0; i < 5; i++) {
        struct tt_unknowns *unknowns = tt_elements_list_of(desc, (enum tt_builder_unknown_list)i);
        unknowns->items = shrink_list(&whole->unknowns[i]);
        unknowns->count = whole->unknowns[i].count;
    }
    if (desc->fmi > 1)
        desc->state_count = count_scalars(desc, &desc->derivatives);
    if (desc->fmi == 3)
        desc->event_indicator_count = count_scalars(desc, &desc->event_indicators);
    return TUTTI_OK;
}
