/* SPDX-License-Identifier: MIT */
#include "start/undeclared.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The steps that are tried, as parts of a usual one. What an input does by a state is less in the second one by their ratio. */
static const double SHORT = 1.0 / 1024, SHORTER = 1.0 / 4096;
/* ... and what it does at once is the same, as nearly as this. */
static const double SAME = 0.75;
/* An input moves by this part of its size. */
static const double MOVED_BY = 1e-3;
/* Less than this part of an output's size is rounding. */
static const double ROUNDING = 1e3 * DBL_EPSILON;

/* Driven inputs, and the outputs that follow none of them by the model structure; room for values. */
struct question {
    struct tutti_unit *unit;
    const struct tutti_unit_saved *saved;
    double t;
    uint32_t *inputs, *outputs;
    double *values; /* of inputs, as they are */
    uint32_t input_count, output_count;
    struct tutti_signals to_set, to_get;
    double *base, *moved; /* outputs */
};

/* Where a driven input has its value that is held in a step though it moves; NULL: it is not such a one. */
static const double *held_value(struct tutti_rank *rank, const struct tutti_member *member, uint32_t variable)
{
    const struct tutti_unit *unit = member->unit;
    const struct tutti_var *var = &unit->fmu->desc->vars[variable];
    bool moves = (unit->can & TUTTI_CAN_INPUT_DERIVATIVES) || unit->asks_for_inputs;
    if (var->causality != TUTTI_INPUT || var->type != TUTTI_TYPE_FLOAT64 || var->variability != TUTTI_CONTINUOUS)
        return NULL;
    if (member->inputs && tutti_inputs_slot(member->inputs, variable, 0))
        return tutti_inputs_are_held(member->inputs, unit->can) ? tutti_inputs_slot(member->inputs, variable, 0) : NULL;
    uint32_t node = tutti_structure_find(rank->wires.structure, member->component, variable, false);
    bool fed = node != TUTTI_NONE && rank->wires.slots[node].count == 1 && !rank->wires.slots[node].narrow;
    return fed && !moves && tutti_wires_bring_numbers(&rank->wires, node) ? rank->wires.slots[node].values : NULL;
}

static bool is_among(const uint32_t *items, uint32_t count, uint32_t item)
{
    uint32_t i = 0;
    while (i < count && items[i] != item)
        i++;
    return i < count;
}

static bool is_state(const struct tutti_desc *desc, uint32_t variable)
{
    for (uint32_t i = 0; i < desc->derivatives.count; i++)
        if (desc->vars[desc->derivatives.items[i].variable].derivative_of == variable)
            return true;
    return false;
}

/* Does the model structure say that this output follows none of the inputs? */
static bool denies(const struct question *q, const struct tutti_unknown *output)
{
    const struct tutti_desc *desc = q->unit->fmu->desc;
    const struct tutti_var *var = &desc->vars[output->variable];
    for (uint32_t d = 0; d < output->dependency_count; d++)
        if (is_among(q->inputs, q->input_count, output->dependencies[d]))
            return false;
    return output->has_dependencies && var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS &&
           !is_state(desc, output->variable);
}

static enum tutti_err lay_out(struct question *q, struct tutti_rank *rank, const struct tutti_member *member)
{
    const struct tutti_desc *desc = q->unit->fmu->desc;
    q->inputs = calloc((size_t)desc->var_count + 1, sizeof *q->inputs);
    q->values = calloc((size_t)desc->var_count + 1, sizeof *q->values);
    q->outputs = calloc((size_t)desc->outputs.count + 1, sizeof *q->outputs);
    if (!q->inputs || !q->values || !q->outputs)
        return tutti_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++) {
        const double *value = held_value(rank, member, v);
        if (!value)
            continue;
        q->values[q->input_count] = *value;
        q->inputs[q->input_count++] = v;
    }
    for (uint32_t i = 0; i < desc->outputs.count && q->input_count > 0; i++)
        if (denies(q, &desc->outputs.items[i]))
            q->outputs[q->output_count++] = desc->outputs.items[i].variable;
    if (q->output_count == 0)
        return TUTTI_OK;
    TRY(tutti_unit_signals(q->unit, q->inputs, q->input_count, &q->to_set));
    TRY(tutti_unit_signals(q->unit, q->outputs, q->output_count, &q->to_get));
    for (uint32_t i = 0; i < q->input_count; i++)
        if (q->to_set.extents[i] != 1) /* arrays are not tried */
            q->output_count = 0;
    q->base = calloc(2 * (size_t)q->output_count, sizeof *q->base);
    q->moved = q->base + q->output_count;
    return q->base ? TUTTI_OK : tutti_fail_memory();
}

static void release(struct question *q)
{
    tutti_signals_fini(&q->to_set);
    tutti_signals_fini(&q->to_get);
    free(q->inputs);
    free(q->values);
    free(q->outputs);
    free(q->base);
}

/* What an input is moved by: not beyond its bounds. */
static double distance(const struct question *q, uint32_t i)
{
    const struct tutti_bounds *bounds = q->unit->fmu->desc->vars[q->inputs[i]].bounds;
    double nominal = bounds && bounds->has_nominal ? fabs(bounds->nominal) : 1;
    double size = MOVED_BY * fmax(fabs(q->values[i]), nominal);
    return bounds && q->values[i] + size > bounds->max ? -size : size;
}

/* A step, the outputs at its end, and back. *done: nothing came between. */
static enum tutti_err step(struct question *q, double h, bool moves, double *outputs, bool *done)
{
    struct tutti_unit *unit = q->unit;
    struct tutti_step made = {.reached = q->t};
    for (uint32_t i = 0; i < q->input_count; i++)
        *(double *)q->to_set.slots[i] = q->values[i] + (moves ? distance(q, i) : 0);
    TRY(tutti_unit_set(unit, &q->to_set));
    TRY(unit->kind->step(unit, q->t, h, &made));
    *done = !made.discarded && !made.event && !made.terminate && made.reached >= q->t + h;
    if (*done)
        TRY(tutti_unit_get(unit, &q->to_get));
    for (uint32_t i = 0; i < q->output_count && *done; i++)
        outputs[i] = *(const double *)q->to_get.slots[i];
    return unit->kind->restore(unit, q->saved);
}

/* How far each output comes by the move of the inputs, into q->moved; 0 for what is rounding. */
static enum tutti_err try_step(struct question *q, double h, bool *done)
{
    TRY(step(q, h, false, q->base, done));
    if (*done)
        TRY(step(q, h, true, q->moved, done));
    for (uint32_t i = 0; i < q->output_count && *done; i++) {
        double size = fmax(fabs(q->base[i]), fabs(q->moved[i])), difference = fabs(q->moved[i] - q->base[i]);
        q->moved[i] = difference > ROUNDING * size ? difference : 0;
    }
    return TUTTI_OK;
}

static bool any(const struct question *q)
{
    for (uint32_t i = 0; i < q->output_count; i++)
        if (q->moved[i] > 0)
            return true;
    return false;
}

static enum tutti_err try_both(struct question *q, double h, uint32_t *output)
{
    bool done;
    TRY(try_step(q, SHORT * h, &done));
    if (!done || !any(q))
        return TUTTI_OK;
    double *first = calloc(q->output_count, sizeof *first);
    if (!first)
        return tutti_fail_memory();
    memcpy(first, q->moved, q->output_count * sizeof *first);
    enum tutti_err err = try_step(q, SHORTER * h, &done);
    for (uint32_t i = 0; i < q->output_count && !err && done && *output == TUTTI_NONE; i++)
        if (first[i] > 0 && isfinite(first[i]) && q->moved[i] >= SAME * first[i])
            *output = q->outputs[i];
    free(first);
    return err;
}

enum tutti_err tutti_undeclared_find(struct tutti_rank *rank, const struct tutti_member *member,
                                     const struct tutti_unit_saved *saved, double h, uint32_t *output)
{
    struct question q = {.unit = member->unit, .saved = saved, .t = member->now.t};
    *output = TUTTI_NONE;
    enum tutti_err err = lay_out(&q, rank, member);
    if (!err && q.output_count > 0)
        err = try_both(&q, h, output);
    release(&q);
    return err;
}
