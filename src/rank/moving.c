/* SPDX-License-Identifier: MIT */
#include "rank/moving.h"

struct moving {
    const struct tutti_rank *rank;
    const struct tutti_member *member;
    uint32_t *nodes; /* the connected ones */
    size_t from_file, count;
    uint32_t references[]; /* those from the file first */
};

/* For struct tutti_unit_options.moving_sample. */
static void sample(void *context, double t, double *values)
{
    const struct moving *moving = context;
    const struct tutti_wires *wires = &moving->rank->wires;
    if (moving->from_file > 0)
        tutti_inputs_sample_moving(moving->member->inputs, t, values);
    values += moving->from_file;
    for (size_t i = 0; i < moving->count - moving->from_file; i++) {
        const struct tutti_slot *slot = &wires->slots[moving->nodes[i]];
        size_t place = (size_t)((const double *)slot->values - wires->gathered);
        for (size_t e = 0; e < slot->count; e++)
            *values++ = tutti_wires_moved(wires, place + e, t - moving->member->now.staged_at);
    }
}

/* Is it connected, and can it move? Held inputs need not be asked for. */
static bool can_move(const struct tutti_rank *rank, uint32_t node)
{
    const struct tutti_structure_node *n = &rank->job->structure.nodes[node];
    const struct tutti_var *var = &rank->job->system->components[n->component].fmu->desc->vars[n->variable];
    return !n->output && tutti_var_moves(var);
}

enum tutti_err tutti_moving_list(struct tutti_rank *rank, uint32_t component, struct tutti_unit_options *options,
                                 bool *connected)
{
    const struct tutti_structure *structure = &rank->job->structure;
    const struct tutti_member *member = &rank->members[component];
    uint32_t first = structure->component_first[component], end = structure->component_first[component + 1];
    size_t from_file = member->inputs ? member->inputs->slope_count : 0, values = from_file;
    struct moving *moving =
        tutti_arena_alloc(&rank->arena, sizeof *moving + (from_file + end - first) * sizeof *moving->references);
    uint32_t *nodes = tutti_arena_array(&rank->arena, end - first, sizeof *nodes);
    if (!moving || !nodes)
        return tutti_fail_memory();
    *moving =
        (struct moving){.rank = rank, .member = member, .nodes = nodes, .from_file = from_file, .count = from_file};
    for (size_t i = 0; i < from_file; i++)
        moving->references[i] = member->inputs->slope_references[i];
    for (uint32_t n = first; n < end && rank->moves_inputs; n++)
        if (can_move(rank, n)) {
            const struct tutti_var *var =
                &rank->job->system->components[component].fmu->desc->vars[structure->nodes[n].variable];
            nodes[moving->count - from_file] = n;
            moving->references[moving->count++] = var->reference;
            values += (size_t)tutti_var_size(var);
        }
    *connected = moving->count > from_file;
    options->moving = moving->references;
    options->moving_count = moving->count;
    options->moving_values = values;
    options->moving_sample = sample;
    options->moving_context = moving;
    return TUTTI_OK;
}
