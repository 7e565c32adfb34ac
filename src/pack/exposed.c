/* SPDX-License-Identifier: MIT */
#include "pack/exposed.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vector.h"

struct chooser {
    struct tutti_exposed_list *list;
    const struct tutti_job *job;
    unsigned fmi;
    const char *const *patterns;
    size_t pattern_count;
    size_t *hits; /* per pattern */
};

const struct tutti_var *tutti_exposed_var(const struct tutti_job *job, const struct tutti_exposed *exposed)
{
    return &job->system->components[exposed->component].fmu->desc->vars[exposed->variable];
}

/* Can a variable of an FMU of this version have this type? */
static bool fits(unsigned fmi, enum tutti_type type)
{
    if (type == TUTTI_TYPE_BINARY || type == TUTTI_TYPE_CLOCK)
        return false;
    return fmi == 3 || type == TUTTI_TYPE_FLOAT64 || type == TUTTI_TYPE_INT32 || type == TUTTI_TYPE_BOOLEAN ||
           type == TUTTI_TYPE_STRING || type == TUTTI_TYPE_ENUMERATION;
}

static enum tutti_err add(struct chooser *chooser, const struct tutti_exposed *exposed)
{
    struct tutti_exposed_list *list = chooser->list;
    const struct tutti_var *var = tutti_exposed_var(chooser->job, exposed);
    if (!fits(chooser->fmi, exposed->row.type))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "'%s' is of type %s, which a packed system of FMI %u.0 cannot have%s",
                          exposed->row.name, tutti_type_name(exposed->row.type), chooser->fmi,
                          fits(3, exposed->row.type) ? "; use --fmi 3" : "");
    if (var->dimension_count > 0)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "'%s' is an array, which a packed system cannot have as a variable",
                          exposed->row.name);
    if (!tutti_vector_reserve(&list->items, &list->room, list->count + 1, sizeof *list->items))
        return tutti_fail_memory();
    list->items[list->count++] = *exposed;
    return TUTTI_OK;
}

/* ---- the system's own connectors ---- */

static enum tutti_err add_port(struct chooser *chooser, uint32_t port, bool output)
{
    const struct tutti_system *system = chooser->job->system;
    const struct tutti_port *own = output ? &system->outputs[port] : &system->inputs[port];
    if (own->table != TUTTI_NONE)
        return TUTTI_OK; /* a table is inside of the FMU */
    for (uint32_t i = 0; i < system->connection_count; i++) {
        const struct tutti_connection *connection = &system->connections[i];
        const struct tutti_end *here = output ? &connection->to : &connection->from;
        const struct tutti_end *there = output ? &connection->from : &connection->to;
        if (here->component != TUTTI_NONE || here->variable != port || there->component == TUTTI_NONE)
            continue;
        const struct tutti_var *var = &system->components[there->component].fmu->desc->vars[there->variable];
        return add(chooser, &(struct tutti_exposed){.row = {.name = own->name,
                                                            .type = own->type,
                                                            .role = output ? TUTTI_PACKED_OUTPUT : TUTTI_PACKED_INPUT,
                                                            .moves = tutti_type_is_float(own->type) &&
                                                                     var->variability == TUTTI_CONTINUOUS},
                                                    .component = there->component,
                                                    .variable = there->variable,
                                                    .port = port,
                                                    .conversion = connection->conversion,
                                                    .unit = own->unit});
    }
    return TUTTI_OK;
}

/* ---- variables of units ---- */

static bool is_driven(const struct chooser *chooser, uint32_t component, uint32_t variable)
{
    uint32_t count;
    (void)tutti_system_connections_to(chooser->job->system, component, variable, &count);
    for (uint32_t i = 0; i < chooser->job->system->fed_count; i++)
        if (chooser->job->system->fed[i].component == component && chooser->job->system->fed[i].variable == variable)
            return true;
    return count > 0;
}

/* What it would be in the FMU; false: it cannot be there. */
static bool find_role(const struct chooser *chooser, uint32_t component, uint32_t variable,
                      enum tutti_packed_role *role)
{
    const struct tutti_var *var = &chooser->job->system->components[component].fmu->desc->vars[variable];
    switch ((enum tutti_causality)var->causality) {
    case TUTTI_INPUT: *role = TUTTI_PACKED_INPUT; return !is_driven(chooser, component, variable);
    case TUTTI_PARAMETER:
        *role = var->variability == TUTTI_TUNABLE ? TUTTI_PACKED_TUNABLE : TUTTI_PACKED_PARAMETER;
        return !is_driven(chooser, component, variable);
    case TUTTI_OUTPUT:
    case TUTTI_LOCAL:
    case TUTTI_CALCULATED_PARAMETER: *role = TUTTI_PACKED_OUTPUT; return true;
    case TUTTI_STRUCTURAL_PARAMETER:
    case TUTTI_INDEPENDENT: break;
    }
    return false;
}

static enum tutti_err add_variable(struct chooser *chooser, uint32_t c, uint32_t v, enum tutti_packed_role role,
                                   const char *target)
{
    const struct tutti_component *component = &chooser->job->system->components[c];
    const struct tutti_desc *desc = component->fmu->desc;
    const struct tutti_var *var = &desc->vars[v];
    const char *copy = tutti_arena_text(&chooser->list->arena, target, strlen(target));
    if (!copy)
        return tutti_fail_memory();
    return add(chooser, &(struct tutti_exposed){.row = {.name = chooser->job->system->single ? var->name : copy,
                                                        .target = copy,
                                                        .type = (enum tutti_type)var->type,
                                                        .role = role,
                                                        .moves = role == TUTTI_PACKED_INPUT &&
                                                                 tutti_type_is_float((enum tutti_type)var->type) &&
                                                                 var->variability == TUTTI_CONTINUOUS},
                                                .component = c,
                                                .variable = v,
                                                .port = TUTTI_NONE,
                                                .unit = var->unit == TUTTI_NONE ? NULL : &desc->units[var->unit]});
}

/* Without a word of the user. */
static bool is_default(const struct chooser *chooser, const struct tutti_var *var, enum tutti_packed_role role,
                       bool has_ports)
{
    bool possible = fits(chooser->fmi, (enum tutti_type)var->type) && var->dimension_count == 0;
    if (chooser->job->system->single)
        return possible && var->causality != TUTTI_LOCAL && !var->alias;
    return possible && !has_ports && (role == TUTTI_PACKED_INPUT || var->causality == TUTTI_OUTPUT) && !var->alias;
}

static bool is_asked_for(struct chooser *chooser, const char *name)
{
    bool is = false;
    for (size_t p = 0; p < chooser->pattern_count; p++)
        if (tutti_str_glob(chooser->patterns[p], name)) {
            chooser->hits[p]++;
            is = true;
        }
    return is;
}

static enum tutti_err look_at(struct chooser *chooser, uint32_t c, uint32_t v, bool has_ports)
{
    const struct tutti_system *system = chooser->job->system;
    const struct tutti_var *var = &system->components[c].fmu->desc->vars[v];
    struct tutti_text target = {0};
    enum tutti_packed_role role;
    enum tutti_err err = TUTTI_OK;
    if (!find_role(chooser, c, v, &role))
        return TUTTI_OK;
    tutti_text_printf(&target, "%s.%s", system->components[c].name, var->name);
    if (target.failed)
        err = tutti_fail_memory();
    else if (is_asked_for(chooser, system->single ? var->name : target.text) ||
             is_default(chooser, var, role, has_ports))
        err = add_variable(chooser, c, v, role, target.text);
    tutti_text_fini(&target);
    return err;
}

static enum tutti_err check_patterns(const struct chooser *chooser)
{
    for (size_t p = 0; p < chooser->pattern_count; p++)
        if (chooser->hits[p] == 0)
            return tutti_fail(
                TUTTI_ERR_ARGUMENT,
                "--expose %s fits no variable of a unit that an FMU can show: outputs, locals, parameters, "
                "inputs that nothing drives (`tutti info --variables` lists them)",
                chooser->patterns[p]);
    return TUTTI_OK;
}

static enum tutti_err choose(struct chooser *chooser)
{
    const struct tutti_system *system = chooser->job->system;
    for (uint32_t i = 0; i < system->input_count; i++)
        TRY(add_port(chooser, i, false));
    for (uint32_t i = 0; i < system->output_count; i++)
        TRY(add_port(chooser, i, true));
    bool has_ports = chooser->list->count > 0;
    for (uint32_t c = 0; c < system->component_count; c++)
        for (uint32_t v = 0; v < system->components[c].fmu->desc->var_count; v++)
            TRY(look_at(chooser, c, v, has_ports));
    return check_patterns(chooser);
}

enum tutti_err tutti_exposed_choose(struct tutti_exposed_list *list, const struct tutti_job *job, unsigned fmi,
                                    const char *const *patterns, size_t pattern_count)
{
    struct chooser chooser = {.list = list,
                              .job = job,
                              .fmi = fmi,
                              .patterns = patterns,
                              .pattern_count = pattern_count,
                              .hits = calloc(pattern_count + 1, sizeof *chooser.hits)};
    enum tutti_err err = chooser.hits ? choose(&chooser) : tutti_fail_memory();
    free(chooser.hits);
    return err;
}

void tutti_exposed_fini(struct tutti_exposed_list *list)
{
    free(list->items);
    tutti_arena_fini(&list->arena);
    *list = (struct tutti_exposed_list){0};
}

/* ---- what follows what ---- */

/* Outputs of units that are still to be looked at, each once. */
struct walk {
    const struct tutti_exposed_list *list;
    const struct tutti_system *system;
    bool *depends;
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
static enum tutti_err follow(struct walk *walk, uint32_t component, uint32_t variable)
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
                walk->depends[e] = true;
    }
    for (size_t e = 0; e < walk->list->count; e++) {
        const struct tutti_exposed *item = &walk->list->items[e];
        if (item->port == TUTTI_NONE && item->row.role == TUTTI_PACKED_INPUT && item->component == component &&
            item->variable == variable)
            walk->depends[e] = true;
    }
    return TUTTI_OK;
}

/* What the model structure says an output follows; all inputs, where it says nothing. */
static enum tutti_err expand(struct walk *walk, const struct tutti_end *end)
{
    const struct tutti_desc *desc = walk->system->components[end->component].fmu->desc;
    const struct tutti_unknown *unknown = NULL;
    uint32_t component = end->component;
    for (uint32_t i = 0; i < desc->outputs.count && !unknown; i++)
        if (desc->outputs.items[i].variable == end->variable)
            unknown = &desc->outputs.items[i];
    if (unknown && unknown->has_dependencies) {
        for (uint32_t i = 0; i < unknown->dependency_count; i++)
            if (desc->vars[unknown->dependencies[i]].causality == TUTTI_INPUT)
                TRY(follow(walk, component, unknown->dependencies[i]));
        return TUTTI_OK;
    }
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality == TUTTI_INPUT)
            TRY(follow(walk, component, v));
    return TUTTI_OK;
}

enum tutti_err tutti_exposed_dependencies(const struct tutti_exposed_list *list, const struct tutti_job *job,
                                          const struct tutti_exposed *output, bool *depends)
{
    struct walk walk = {.list = list, .system = job->system, .depends = depends};
    memset(depends, 0, list->count * sizeof *depends);
    enum tutti_err err = reach(&walk, output->component, output->variable);
    for (size_t i = 0; i < walk.count && !err; i++) {
        struct tutti_end end = walk.ends[i];
        err = expand(&walk, &end);
    }
    free(walk.ends);
    return err;
}
