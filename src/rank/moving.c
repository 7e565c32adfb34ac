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
    for (size_t i = 0; i < moving->count - moving->from_file; i++) {
        const double *staged = wires->slots[moving->nodes[i]].values;
        values[moving->from_file + i] =
            tutti_wires_moved(wires, (size_t)(staged - wires->gathered), t - moving->member->now.staged_at);
    }
}

/* Is it connected, and can it move? Held inputs need not be asked for. */
static bool can_move(const struct tutti_rank *rank, uint32_t node)
{
    const struct tutti_structure_node *n = &rank->job->structure.nodes[node];
    const struct tutti_var *var = &rank->job->system->components[n->component].fmu->desc->vars[n->variable];
    return !n->output && var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS &&
           var->causality == TUTTI_INPUT && var->dimension_count == 0 && var->intermediate;
}

enum tutti_err tutti_moving_list(struct tutti_rank *rank, uint32_t component, struct tutti_unit_options *options,
                                 bool *connected)
{
    const struct tutti_structure *structure = &rank->job->structure;
    const struct tutti_member *member = &rank->members[component];
    uint32_t first = structure->component_first[component], end = structure->component_first[component + 1];
    size_t from_file = member->inputs ? member->inputs->slope_count : 0;
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
            const struct tutti_structure_node *node = &structure->nodes[n];
            nodes[moving->count - from_file] = n;
            moving->references[moving->count++] =
                rank->job->system->components[component].fmu->desc->vars[node->variable].reference;
        }
    *connected = moving->count > from_file;
    options->moving = moving->references;
    options->moving_count = moving->count;
    options->moving_sample = sample;
    options->moving_context = moving;
    return TUTTI_OK;
}
