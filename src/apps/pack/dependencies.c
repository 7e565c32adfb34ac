/* SPDX-License-Identifier: MIT */
#include "apps/pack/dependencies.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* Unknowns of units that are still to be looked at, each once. */
struct dependency_walk {
    const struct tt_exposed_list *list;
    const struct tt_system *system;
    struct tt_dependencies *depends;
    struct tt_end *ends;
    size_t count, room;
};

static enum tutti_err dependencies_visit(struct dependency_walk *walk, uint32_t component, uint32_t variable)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->ends[i].component == component && walk->ends[i].variable == variable)
            return TUTTI_OK;
    if (!tt_vector_reserve(&walk->ends, &walk->room, walk->count + 1, sizeof *walk->ends))
        return tt_fail_memory();
    walk->ends[walk->count++] = (struct tt_end){.component = component, .variable = variable};
    return TUTTI_OK;
}

/* An input of a unit: it is one of the FMU's, or gets its value from outputs of units. */
static enum tutti_err dependencies_follow_input(struct dependency_walk *walk, uint32_t component, uint32_t variable)
{
    uint32_t count;
    const struct tt_connection *first = tt_system_connections_to(walk->system, component, variable, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (first[i].from.component != TUTTI_NONE) {
            TRY(dependencies_visit(walk, first[i].from.component, first[i].from.variable));
            continue;
        }
        for (size_t e = 0; e < walk->list->count; e++)
            if (walk->list->items[e].port == first[i].from.variable &&
                walk->list->items[e].row.role == TUTTI_PACKED_INPUT)
                walk->depends->items[e] = true;
    }
    for (size_t e = 0; e < walk->list->count; e++) {
        const struct tt_exposed *item = &walk->list->items[e];
        if (item->port == TUTTI_NONE && item->row.role == TUTTI_PACKED_INPUT && item->component == component &&
            item->variable == variable)
            walk->depends->items[e] = true;
    }
    return TUTTI_OK;
}

/* A state of a unit, by itself (TUTTI_NONE: all of the unit's). */
static void dependencies_follow_states(struct dependency_walk *walk, uint32_t component, uint32_t variable)
{
    for (size_t k = 0; k < walk->list->derivative_count; k++) {
        size_t state = walk->list->items[walk->list->derivatives[k]].derivative_of;
        const struct tt_exposed *item = &walk->list->items[state];
        if (item->component == component && (variable == TUTTI_NONE || item->variable == variable))
            walk->depends->items[state] = true;
    }
}

/* Something that an unknown of a unit follows. */
static enum tutti_err dependencies_follow(struct dependency_walk *walk, uint32_t component, uint32_t variable)
{
    const struct tt_var *var = &walk->system->components[component].fmu->desc->vars[variable];
    if (var->causality == TUTTI_INPUT)
        return dependencies_follow_input(walk, component, variable);
    if (var->causality == TUTTI_INDEPENDENT)
        walk->depends->time = true;
    dependencies_follow_states(walk, component, variable);
    return TUTTI_OK;
}

static const struct tt_unknown *dependencies_find_unknown(const struct tt_unknowns *among, uint32_t variable)
{
    for (uint32_t i = 0; i < among->count; i++)
        if (among->items[i].variable == variable)
            return &among->items[i];
    return NULL;
}

static enum tutti_err dependencies_follow_all(struct dependency_walk *walk, uint32_t component)
{
    const struct tt_description *desc = walk->system->components[component].fmu->desc;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality == TUTTI_INPUT)
            TRY(dependencies_follow_input(walk, component, v));
    dependencies_follow_states(walk, component, TUTTI_NONE);
    walk->depends->time = true;
    return TUTTI_OK;
}

/* What the model structure says that an unknown follows; everything, where it says nothing. A state follows itself. */
static enum tutti_err dependencies_expand(struct dependency_walk *walk, const struct tt_end *end)
{
    const struct tt_description *desc = walk->system->components[end->component].fmu->desc;
    const struct tt_unknown *unknown =
        end->variable == TUTTI_NONE ? NULL : dependencies_find_unknown(&desc->outputs, end->variable);
    if (!unknown && end->variable != TUTTI_NONE)
        unknown = dependencies_find_unknown(&desc->derivatives, end->variable);
    if (!unknown || !unknown->has_dependencies)
        return dependencies_follow_all(walk, end->component);
    for (uint32_t i = 0; i < unknown->dependency_count; i++)
        TRY(dependencies_follow(walk, end->component, unknown->dependencies[i]));
    return TUTTI_OK;
}

enum tutti_err tt_pack_description_dependencies(const struct tt_exposed_list *list, const struct tt_job *job,
                                                const struct tt_exposed *unknown, struct tt_dependencies *depends)
{
    struct dependency_walk walk = {.list = list, .system = job->system, .depends = depends};
    bool indicators = unknown->row.role == TUTTI_PACKED_INDICATOR; /* of which nothing is told */
    memset(depends->items, 0, list->count * sizeof *depends->items);
    depends->time = false;
    enum tutti_err err = dependencies_visit(&walk, unknown->component, indicators ? TUTTI_NONE : unknown->variable);
    for (size_t i = 0; i < walk.count && !err; i++) {
        struct tt_end end = walk.ends[i];
        err = dependencies_expand(&walk, &end);
    }
    free(walk.ends);
    return err;
}
