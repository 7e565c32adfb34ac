/* SPDX-License-Identifier: MIT */
#include "pack/dependencies.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* Unknowns of units that are still to be looked at, each once. */
struct walk {
    const struct tutti_exposed_list *list;
    const struct tutti_system *system;
    struct tutti_dependencies *depends;
    struct tutti_end *ends;
    size_t count, room;
};

static enum tutti_err reach(struct walk *walk, uint32_t component, uint32_t variable)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->ends[i].component == component && walk->ends[i].variable == variable)
            return TUTTI_OK;
    if (!tutti_vector_reserve(&walk->ends, &walk->room, walk->count + 1, sizeof *walk->ends))
        return tutti_fail_memory();
    walk->ends[walk->count++] = (struct tutti_end){.component = component, .variable = variable};
    return TUTTI_OK;
}

/* An input of a unit: it is one of the FMU's, or gets its value from outputs of units. */
static enum tutti_err follow_input(struct walk *walk, uint32_t component, uint32_t variable)
{
    uint32_t count;
    const struct tutti_connection *first = tutti_system_connections_to(walk->system, component, variable, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (first[i].from.component != TUTTI_NONE) {
            TRY(reach(walk, first[i].from.component, first[i].from.variable));
            continue;
        }
        for (size_t e = 0; e < walk->list->count; e++)
            if (walk->list->items[e].port == first[i].from.variable &&
                walk->list->items[e].row.role == TUTTI_PACKED_INPUT)
                walk->depends->items[e] = true;
    }
    for (size_t e = 0; e < walk->list->count; e++) {
        const struct tutti_exposed *item = &walk->list->items[e];
        if (item->port == TUTTI_NONE && item->row.role == TUTTI_PACKED_INPUT && item->component == component &&
            item->variable == variable)
            walk->depends->items[e] = true;
    }
    return TUTTI_OK;
}

/* A state of a unit, by itself (TUTTI_NONE: all of the unit's). */
static void follow_states(struct walk *walk, uint32_t component, uint32_t variable)
{
    for (size_t k = 0; k < walk->list->derivative_count; k++) {
        size_t state = walk->list->items[walk->list->derivatives[k]].derivative_of;
        const struct tutti_exposed *item = &walk->list->items[state];
        if (item->component == component && (variable == TUTTI_NONE || item->variable == variable))
            walk->depends->items[state] = true;
    }
}

/* Something that an unknown of a unit follows. */
static enum tutti_err follow(struct walk *walk, uint32_t component, uint32_t variable)
{
    const struct tutti_var *var = &walk->system->components[component].fmu->desc->vars[variable];
    if (var->causality == TUTTI_INPUT)
        return follow_input(walk, component, variable);
    if (var->causality == TUTTI_INDEPENDENT)
        walk->depends->time = true;
    follow_states(walk, component, variable);
    return TUTTI_OK;
}

static const struct tutti_unknown *find_unknown(const struct tutti_unknowns *among, uint32_t variable)
{
    for (uint32_t i = 0; i < among->count; i++)
        if (among->items[i].variable == variable)
            return &among->items[i];
    return NULL;
}

static enum tutti_err follow_all(struct walk *walk, uint32_t component)
{
    const struct tutti_desc *desc = walk->system->components[component].fmu->desc;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality == TUTTI_INPUT)
            TRY(follow_input(walk, component, v));
    follow_states(walk, component, TUTTI_NONE);
    walk->depends->time = true;
    return TUTTI_OK;
}

/* What the model structure says that an unknown follows; everything, where it says nothing. A state follows itself. */
static enum tutti_err expand(struct walk *walk, const struct tutti_end *end)
{
    const struct tutti_desc *desc = walk->system->components[end->component].fmu->desc;
    const struct tutti_unknown *unknown = end->variable == TUTTI_NONE ? NULL
                                                                      : find_unknown(&desc->outputs, end->variable);
    if (!unknown && end->variable != TUTTI_NONE)
        unknown = find_unknown(&desc->derivatives, end->variable);
    if (!unknown || !unknown->has_dependencies)
        return follow_all(walk, end->component);
    for (uint32_t i = 0; i < unknown->dependency_count; i++)
        TRY(follow(walk, end->component, unknown->dependencies[i]));
    return TUTTI_OK;
}

enum tutti_err tutti_dependencies_find(const struct tutti_exposed_list *list, const struct tutti_job *job,
                                       const struct tutti_exposed *unknown, struct tutti_dependencies *depends)
{
    struct walk walk = {.list = list, .system = job->system, .depends = depends};
    bool indicators = unknown->row.role == TUTTI_PACKED_INDICATOR; /* of which nothing is told */
    memset(depends->items, 0, list->count * sizeof *depends->items);
    depends->time = false;
    enum tutti_err err = reach(&walk, unknown->component, indicators ? TUTTI_NONE : unknown->variable);
    for (size_t i = 0; i < walk.count && !err; i++) {
        struct tutti_end end = walk.ends[i];
        err = expand(&walk, &end);
    }
    free(walk.ends);
    return err;
}
