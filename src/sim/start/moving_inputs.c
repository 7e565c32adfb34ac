/* SPDX-License-Identifier: MIT */
#include "sim/start/moving_inputs.h"

struct moving_inputs {
    const struct tt_rank *rank;
    const struct tt_member *member;
    uint32_t *nodes; /* the connected ones */
    size_t from_file, count, doubles;
    uint32_t
        references[]; /* those from the file first, which are Float64, then connected ones, Float64 before Float32 */
};

/* For struct tt_unit_options.moving_extents. */
static void moving_inputs_extents(void *context, size_t *doubles, size_t *floats)
{
    const struct moving_inputs *moving = context;
    *doubles = moving->from_file;
    *floats = 0;
    for (size_t i = moving->from_file; i < moving->count; i++)
        *(i < moving->doubles ? doubles : floats) +=
            moving->rank->wires.slots[moving->nodes[i - moving->from_file]].count;
}

/* For struct tt_unit_options.moving_sample. */
static void moving_inputs_sample(void *context, double t, double *values)
{
    const struct moving_inputs *moving = context;
    const struct tt_wires *wires = &moving->rank->wires;
    if (moving->from_file > 0)
        tt_inputs_sample_moving(moving->member->inputs, t, values);
    values += moving->from_file;
    for (size_t i = 0; i < moving->count - moving->from_file; i++) {
        const struct tt_slot *slot = &wires->slots[moving->nodes[i]];
        size_t place = (size_t)((const double *)slot->values - wires->gathered);
        for (size_t e = 0; e < slot->count; e++)
            *values++ = tt_wires_extrapolate(wires, place + e, t - moving->member->now.staged_at);
    }
}

/* Connected inputs of one type that can move. Held inputs need not be asked for. */
static void moving_inputs_add(struct moving_inputs *moving, uint32_t component, enum tt_type type)
{
    const struct tt_structure *structure = &moving->rank->job->structure;
    const struct tt_description *desc = moving->rank->job->system->components[component].fmu->desc;
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++) {
        const struct tt_var *var = &desc->vars[structure->nodes[n].variable];
        if (structure->nodes[n].output || var->type != type || !tt_description_var_moves(var))
            continue;
        moving->nodes[moving->count - moving->from_file] = n;
        moving->references[moving->count++] = var->reference;
    }
}

enum tutti_err tt_open_list_moving_inputs(struct tt_rank *rank, uint32_t component, struct tt_unit_options *options,
                                          bool *connected)
{
    const struct tt_structure *structure = &rank->job->structure;
    const struct tt_member *member = &rank->members[component];
    uint32_t first = structure->component_first[component], end = structure->component_first[component + 1];
    size_t from_file = member->inputs ? member->inputs->slope_count : 0;
    struct moving_inputs *moving =
        tt_arena_alloc(&rank->arena, sizeof *moving + (from_file + end - first) * sizeof *moving->references);
    uint32_t *nodes = tt_arena_array(&rank->arena, end - first, sizeof *nodes);
    if (!moving || !nodes)
        return tt_fail_memory();
    *moving = (struct moving_inputs){
        .rank = rank, .member = member, .nodes = nodes, .from_file = from_file, .count = from_file};
    for (size_t i = 0; i < from_file; i++)
        moving->references[i] = member->inputs->slope_references[i];
    if (rank->moves_inputs)
        moving_inputs_add(moving, component, TUTTI_TYPE_FLOAT64);
    moving->doubles = moving->count;
    if (rank->moves_inputs)
        moving_inputs_add(moving, component, TUTTI_TYPE_FLOAT32);
    *connected = moving->count > from_file;
    options->moving = moving->references;
    options->moving_count = moving->count;
    options->moving_doubles = moving->doubles;
    options->moving_extents = moving_inputs_extents;
    options->moving_sample = moving_inputs_sample;
    options->moving_context = moving;
    return TUTTI_OK;
}
