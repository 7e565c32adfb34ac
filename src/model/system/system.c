/* SPDX-License-Identifier: MIT */
/* A loaded system: its names, from text to variables and back, and its end. */
#include "model/system/system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "model/ssp/package.h"

static const struct tt_description *system_desc(const struct tt_system *system, int64_t component)
{
    return system->components[component].fmu->desc;
}

/* No component of the name has such a variable: suggests the nearest name. */
static enum tutti_err system_fail_unknown(const struct tt_system *system, const char *name, const char *option,
                                          int64_t component, const char *variable)
{
    struct tt_text_nearest nearest = {.wanted = name};
    if (component == TUTTI_MAP_NONE && system->single) {
        component = 0;
        variable = name;
    }
    if (component != TUTTI_MAP_NONE) {
        const char *owner = system->components[component].name;
        const char *best = tt_description_nearest(system_desc(system, component), variable);
        if (best && system->single)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable named '%s'; did you mean '%s'?", option, name,
                           best);
        if (best)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable named '%s'; did you mean '%s.%s'?", option,
                           name, owner, best);
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable named '%s'; `tutti info --variables` lists all",
                       option, name);
    }
    for (uint32_t i = 0; i < system->component_count; i++)
        tt_text_nearest_offer(&nearest, system->components[i].name);
    if (!nearest.best && strrchr(name, '.')) {
        char *owner = strndup(name, (size_t)(strrchr(name, '.') - name));
        nearest.wanted = owner;
        for (uint32_t i = 0; owner && i < system->component_count; i++)
            tt_text_nearest_offer(&nearest, system->components[i].name);
        free(owner);
    }
    if (nearest.best)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is no variable of any component; did you mean one of '%s'?",
                       option, name, nearest.best);
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is no variable of any component, written COMPONENT.VARIABLE", option,
                   name);
}

enum tutti_err tt_system_find(const struct tt_system *system, const char *name, const char *option, uint32_t *component,
                              uint32_t *variable, struct tt_indices *element)
{
    char *copy = tt_text_copy(name);
    if (!copy)
        return tt_fail_memory();
    int64_t longest = TUTTI_MAP_NONE, found = TUTTI_MAP_NONE;
    const char *rest = NULL;
    if (system->single && tt_setting_look_up(system_desc(system, 0), name, variable, element))
        found = 0;
    for (size_t i = strlen(copy); i > 0 && found == TUTTI_MAP_NONE; i--) {
        if (copy[i - 1] != '.')
            continue;
        copy[i - 1] = '\0';
        int64_t owner = tt_map_find(&system->names, copy);
        copy[i - 1] = '.';
        if (owner == TUTTI_MAP_NONE)
            continue;
        if (tt_setting_look_up(system_desc(system, owner), name + i, variable, element))
            found = owner;
        else if (longest == TUTTI_MAP_NONE) {
            longest = owner;
            rest = name + i;
        }
    }
    free(copy);
    if (found == TUTTI_MAP_NONE)
        return tt_fail_about(system_fail_unknown(system, name, option, longest, rest), NULL, name, NAN);
    *component = (uint32_t)found;
    return TUTTI_OK;
}

/* Connections are sorted by it. */
static uint64_t connection_key(const struct tt_end *to)
{
    return (uint64_t)to->component << 32 | to->variable;
}

/* The first connection to this variable or to one after it. */
static uint32_t first_connection_to(const struct tt_system *system, uint64_t key)
{
    size_t at;
    TUTTI_SEARCH(at, system->connection_count, connection_key(&system->connections[at].to) < key);
    return (uint32_t)at;
}

const struct tt_connection *tt_system_connections_to(const struct tt_system *system, uint32_t component,
                                                     uint32_t variable, uint32_t *count)
{
    uint64_t key = connection_key(&(struct tt_end){.component = component, .variable = variable});
    uint32_t first = first_connection_to(system, key);
    *count = first_connection_to(system, key + 1) - first;
    return system->connections + first;
}

/* Returns true for the destination of a connection, which is an output of the system, not an input. */
static bool system_is_destination(const struct tt_system *system, const struct tt_end *end)
{
    for (uint32_t i = system->connection_count; i > 0; i--) {
        const struct tt_connection *connection = &system->connections[i - 1];
        if (connection->to.component != TUTTI_NONE)
            return false; /* outputs of the system come last */
        if (&connection->to == end)
            return true;
    }
    return false;
}

bool tt_system_is_coupled(const struct tt_system *system)
{
    bool coupled = system->component_count > 1 || system->fed_count > 0;
    for (uint32_t i = 0; i < system->connection_count && !coupled; i++) {
        const struct tt_connection *connection = &system->connections[i];
        coupled = connection->from.component != TUTTI_NONE && connection->to.component != TUTTI_NONE &&
                  !connection->at_start_only;
    }
    return coupled;
}

bool tt_system_is_alone(const struct tt_system *system)
{
    return system->single && !tt_system_is_coupled(system);
}

const char *tt_system_name(const struct tt_system *system, const struct tt_end *end, char *out, size_t size)
{
    const char *owner = "", *dot = "", *name;
    if (end->component == TUTTI_NONE) {
        name = system_is_destination(system, end) ? system->outputs[end->variable].name
                                                  : system->inputs[end->variable].name;
    } else {
        name = system_desc(system, end->component)->vars[end->variable].name;
        if (!system->single) {
            owner = system->components[end->component].name;
            dot = ".";
        }
    }
    int n = snprintf(out, size, "%s%s%s", owner, dot, name);
    for (unsigned i = 0; i < end->element.count && n >= 0 && (size_t)n < size; i++)
        n += snprintf(out + n, size - (size_t)n, "%c%llu%s", i ? ',' : '[', (unsigned long long)end->element.index[i],
                      i + 1 == end->element.count ? "]" : "");
    return out;
}

void tt_system_free(struct tt_system *system)
{
    if (!system)
        return;
    for (uint32_t i = 0; i < system->fmu_count; i++)
        tt_fmu_free(system->fmus[i]);
    for (uint32_t i = 0; i < system->package_count; i++)
        tt_package_free(system->packages[i]);
    for (uint32_t i = 0; i < system->table_count; i++)
        tt_csv_table_free(system->tables[i].table);
    free(system->tables);
    free(system->fmus);
    free(system->packages);
    tt_map_fini(&system->names);
    tt_arena_fini(&system->arena);
    free(system);
}
