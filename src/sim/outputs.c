/* SPDX-License-Identifier: MIT */
#include "sim/outputs.h"

#include <math.h>
#include <stdlib.h>

/* Outputs with feed-through, according to the model structure, have the errors of inputs and states, which are judged
 * separately, and often are differences of large numbers. */
bool tt_outputs_follow_inputs(const struct tt_description *desc, const struct tt_unknown *output)
{
    for (uint32_t d = 0; d < output->dependency_count; d++)
        if (desc->vars[output->dependencies[d]].causality == TUTTI_INPUT)
            return true;
    return false;
}

/* For a single FMU, nothing is judged separately: all outputs. */
static uint32_t outputs_list_variables(const struct tt_rank *rank, uint32_t component, uint32_t *variables)
{
    const struct tt_description *desc = rank->job->system->components[component].fmu->desc;
    bool all = !tt_system_is_coupled(rank->job->system);
    uint32_t count = 0;
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        uint32_t variable = desc->outputs.items[i].variable;
        const struct tt_var *var = &desc->vars[variable];
        bool continuous = var->causality == TUTTI_OUTPUT && var->type == TUTTI_TYPE_FLOAT64 &&
                          var->variability == TUTTI_CONTINUOUS && !var->alias;
        if (continuous && tt_structure_find(&rank->job->structure, component, variable, true) == TUTTI_NONE &&
            (all || !tt_outputs_follow_inputs(desc, &desc->outputs.items[i])))
            variables[count++] = variable;
    }
    return count;
}

/* The unit's variables with their values; counted before they are placed. */
static enum tutti_err outputs_add_unit(struct tt_outputs *outputs, uint32_t component, uint32_t *variables,
                                       uint32_t *count)
{
    struct tt_rank *rank = outputs->rank;
    struct tt_signals *signals = &outputs->signals[component];
    uint32_t found = outputs_list_variables(rank, component, variables);
    if (found == 0)
        return TUTTI_OK;
    TRY(tt_unit_signals(rank->units[component], variables, found, signals));
    for (size_t i = 0; i < signals->count; i++)
        *count += (uint32_t)signals->extents[i];
    return TUTTI_OK;
}

static void outputs_assign_places(struct tt_outputs *outputs, uint32_t component, uint32_t *variables,
                                  struct tt_unread_outputs *next)
{
    struct tt_rank *rank = outputs->rank;
    const struct tt_signals *signals = &outputs->signals[component];
    const struct tt_description *desc = rank->job->system->components[component].fmu->desc;
    outputs_list_variables(rank, component, variables);
    for (size_t i = 0; i < signals->count; i++)
        for (size_t e = 0; e < signals->extents[i]; e++)
            *next++ = (struct tt_unread_outputs){.component = component,
                                                 .variable = variables[i],
                                                 .value = (const double *)signals->slots[i] + e,
                                                 .nominal = tt_wire_layout_nominal(&desc->vars[variables[i]])};
}

static enum tutti_err open_unread_outputs(struct tt_outputs *outputs, uint32_t *variables)
{
    struct tt_rank *rank = outputs->rank;
    uint32_t components = rank->job->system->component_count, count = 0;
    outputs->signals = tt_arena_array(&rank->arena, components, sizeof *outputs->signals);
    outputs->unread_first = tt_arena_array(&rank->arena, (size_t)components + 1, sizeof *outputs->unread_first);
    if (!outputs->signals || !outputs->unread_first)
        return tt_fail_memory();
    for (uint32_t c = 0; c < components; c++) {
        TRY(outputs_add_unit(outputs, c, variables, &count));
        outputs->unread_first[c + 1] = count;
    }
    outputs->unread = tt_arena_array(&rank->arena, count, sizeof *outputs->unread);
    if (!outputs->unread)
        return tt_fail_memory();
    for (uint32_t c = 0; c < components; c++)
        outputs_assign_places(outputs, c, variables, outputs->unread + outputs->unread_first[c]);
    outputs->count += count;
    return TUTTI_OK;
}

enum tutti_err tt_outputs_open(struct tt_outputs *outputs, struct tt_rank *rank, bool unread)
{
    size_t most = 0;
    *outputs = (struct tt_outputs){.rank = rank, .count = rank->wires.real_count};
    if (!unread)
        return TUTTI_OK;
    for (uint32_t c = 0; c < rank->job->system->component_count; c++)
        if (rank->job->system->components[c].fmu->desc->var_count > most)
            most = rank->job->system->components[c].fmu->desc->var_count;
    uint32_t *variables = calloc(most + 1, sizeof *variables);
    enum tutti_err err = variables ? open_unread_outputs(outputs, variables) : tt_fail_memory();
    free(variables);
    return err;
}

void tt_outputs_close(struct tt_outputs *outputs)
{
    struct tt_rank *rank = outputs->rank;
    for (uint32_t c = 0; outputs->signals && c < rank->job->system->component_count; c++)
        tt_signals_fini(&outputs->signals[c]);
    *outputs = (struct tt_outputs){0};
}

void tt_outputs_invalidate(struct tt_outputs *outputs)
{
    outputs->fresh = false;
}

enum tutti_err tt_outputs_read(struct tt_outputs *outputs, double *values)
{
    struct tt_rank *rank = outputs->rank;
    uint32_t first = rank->wires.real_count;
    for (uint32_t c = 0; outputs->count > first && !outputs->fresh && c < rank->job->system->component_count; c++)
        if (outputs->signals[c].count > 0 && tt_rank_owns(rank, c))
            TRY(tt_unit_get(rank->units[c], &outputs->signals[c]));
    outputs->fresh = true;
    tt_wires_get_reals(&rank->wires, rank->wires.signals, values);
    for (uint32_t i = first; i < outputs->count; i++)
        values[i] = *outputs->unread[i - first].value;
    return TUTTI_OK;
}

enum tutti_err tt_outputs_register(const struct tt_outputs *outputs, struct tt_rollback_list *remembered,
                                   double *values)
{
    const struct tt_wires *wires = &outputs->rank->wires;
    const uint32_t *unread = outputs->unread_first;
    TRY(tt_wires_register_reals(wires, remembered, values));
    for (uint32_t c = 0; unread && c < outputs->rank->member_count; c++)
        TRY(tt_rollback_list_add_of(remembered, c, values + wires->real_count + unread[c],
                                    (unread[c + 1] - unread[c]) * sizeof *values));
    return TUTTI_OK;
}

struct tt_end tt_outputs_owner(const struct tt_outputs *outputs, uint32_t output)
{
    const struct tt_rank *rank = outputs->rank;
    if (output >= rank->wires.real_count) {
        const struct tt_unread_outputs *unread = &outputs->unread[output - rank->wires.real_count];
        return (struct tt_end){.component = unread->component, .variable = unread->variable};
    }
    const struct tt_structure_node *node = &rank->job->structure.nodes[rank->wires.reals[output].node];
    return (struct tt_end){.component = node->component, .variable = node->variable};
}
