/* SPDX-License-Identifier: MIT */
#include "master/outputs.h"

#include <math.h>
#include <stdlib.h>

/* Outputs that follow inputs directly, by what the model structure tells, err as inputs and states do, which are judged
 * elsewhere, and often are differences of large numbers. */
bool tutti_outputs_follow_inputs(const struct tutti_desc *desc, const struct tutti_unknown *output)
{
    for (uint32_t d = 0; d < output->dependency_count; d++)
        if (desc->vars[output->dependencies[d]].causality == TUTTI_INPUT)
            return true;
    return false;
}

static bool is_unread(const struct tutti_rank *rank, uint32_t component, uint32_t variable)
{
    const struct tutti_var *var = &rank->job->system->components[component].fmu->desc->vars[variable];
    return var->causality == TUTTI_OUTPUT && var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS &&
           !var->alias && tutti_structure_find(&rank->job->structure, component, variable, true) == TUTTI_NONE;
}

/* Of one FMU by itself nothing is judged elsewhere: all of them. */
static uint32_t list(const struct tutti_rank *rank, uint32_t component, uint32_t *variables)
{
    const struct tutti_desc *desc = rank->job->system->components[component].fmu->desc;
    bool all = !tutti_system_is_coupled(rank->job->system);
    uint32_t count = 0;
    for (uint32_t i = 0; i < desc->outputs.count; i++)
        if (is_unread(rank, component, desc->outputs.items[i].variable) &&
            (all || !tutti_outputs_follow_inputs(desc, &desc->outputs.items[i])))
            variables[count++] = desc->outputs.items[i].variable;
    return count;
}

/* The unit's variables with their values; counted before they are placed. */
static enum tutti_err lay_out(struct tutti_outputs *outputs, uint32_t component, uint32_t *variables, uint32_t *count)
{
    struct tutti_rank *rank = outputs->rank;
    struct tutti_signals *signals = &outputs->signals[component];
    uint32_t found = list(rank, component, variables);
    if (found == 0)
        return TUTTI_OK;
    TRY(tutti_unit_signals(rank->units[component], variables, found, signals));
    for (size_t i = 0; i < signals->count; i++)
        *count += (uint32_t)signals->extents[i];
    return TUTTI_OK;
}

static void place(struct tutti_outputs *outputs, uint32_t component, uint32_t *variables, struct tutti_unread *next)
{
    struct tutti_rank *rank = outputs->rank;
    const struct tutti_signals *signals = &outputs->signals[component];
    const struct tutti_desc *desc = rank->job->system->components[component].fmu->desc;
    list(rank, component, variables);
    for (size_t i = 0; i < signals->count; i++)
        for (size_t e = 0; e < signals->extents[i]; e++)
            *next++ = (struct tutti_unread){.component = component,
                                            .variable = variables[i],
                                            .value = (const double *)signals->slots[i] + e,
                                            .nominal = tutti_wires_nominal(&desc->vars[variables[i]])};
}

static enum tutti_err open_unread(struct tutti_outputs *outputs, uint32_t *variables)
{
    struct tutti_rank *rank = outputs->rank;
    uint32_t components = rank->job->system->component_count, count = 0;
    outputs->signals = tutti_arena_array(&rank->arena, components, sizeof *outputs->signals);
    outputs->unread_first = tutti_arena_array(&rank->arena, (size_t)components + 1, sizeof *outputs->unread_first);
    if (!outputs->signals || !outputs->unread_first)
        return tutti_fail_memory();
    for (uint32_t c = 0; c < components; c++) {
        TRY(lay_out(outputs, c, variables, &count));
        outputs->unread_first[c + 1] = count;
    }
    outputs->unread = tutti_arena_array(&rank->arena, count, sizeof *outputs->unread);
    if (!outputs->unread)
        return tutti_fail_memory();
    for (uint32_t c = 0; c < components; c++)
        place(outputs, c, variables, outputs->unread + outputs->unread_first[c]);
    outputs->count += count;
    return TUTTI_OK;
}

enum tutti_err tutti_outputs_open(struct tutti_outputs *outputs, struct tutti_rank *rank, bool unread)
{
    size_t most = 0;
    *outputs = (struct tutti_outputs){.rank = rank, .count = rank->wires.real_count};
    if (!unread)
        return TUTTI_OK;
    for (uint32_t c = 0; c < rank->job->system->component_count; c++)
        if (rank->job->system->components[c].fmu->desc->var_count > most)
            most = rank->job->system->components[c].fmu->desc->var_count;
    uint32_t *variables = calloc(most + 1, sizeof *variables);
    enum tutti_err err = variables ? open_unread(outputs, variables) : tutti_fail_memory();
    free(variables);
    return err;
}

void tutti_outputs_close(struct tutti_outputs *outputs)
{
    struct tutti_rank *rank = outputs->rank;
    for (uint32_t c = 0; outputs->signals && c < rank->job->system->component_count; c++)
        tutti_signals_fini(&outputs->signals[c]);
    *outputs = (struct tutti_outputs){0};
}

void tutti_outputs_forget(struct tutti_outputs *outputs)
{
    outputs->fresh = false;
}

enum tutti_err tutti_outputs_take(struct tutti_outputs *outputs, double *values)
{
    struct tutti_rank *rank = outputs->rank;
    uint32_t first = rank->wires.real_count;
    for (uint32_t c = 0; outputs->count > first && !outputs->fresh && c < rank->job->system->component_count; c++)
        if (outputs->signals[c].count > 0 && tutti_rank_owns(rank, c))
            TRY(tutti_unit_get(rank->units[c], &outputs->signals[c]));
    outputs->fresh = true;
    tutti_wires_take_reals(&rank->wires, rank->wires.signals, values);
    for (uint32_t i = first; i < outputs->count; i++)
        values[i] = *outputs->unread[i - first].value;
    return TUTTI_OK;
}

enum tutti_err tutti_outputs_remember(const struct tutti_outputs *outputs, struct tutti_remembered *remembered,
                                      double *values)
{
    const struct tutti_wires *wires = &outputs->rank->wires;
    const uint32_t *unread = outputs->unread_first;
    TRY(tutti_wires_remember(wires, remembered, values));
    for (uint32_t c = 0; unread && c < outputs->rank->member_count; c++)
        TRY(tutti_remember_of(remembered, c, values + wires->real_count + unread[c],
                              (unread[c + 1] - unread[c]) * sizeof *values));
    return TUTTI_OK;
}

struct tutti_end tutti_outputs_end(const struct tutti_outputs *outputs, uint32_t output)
{
    const struct tutti_rank *rank = outputs->rank;
    if (output >= rank->wires.real_count) {
        const struct tutti_unread *unread = &outputs->unread[output - rank->wires.real_count];
        return (struct tutti_end){.component = unread->component, .variable = unread->variable};
    }
    const struct tutti_structure_node *node = &rank->job->structure.nodes[rank->wires.reals[output].node];
    return (struct tutti_end){.component = node->component, .variable = node->variable};
}
