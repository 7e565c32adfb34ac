/* SPDX-License-Identifier: MIT */
#include "sim/coupled_inputs.h"

#include <math.h>
#include <string.h>

enum tutti_err tt_coupled_inputs_open(struct tt_coupled_inputs *staging, struct tt_rank *rank)
{
    staging->rank = rank;
    staging->begin = tt_arena_alloc(&rank->arena, rank->wires.signal_size);
    if (staging->cubic)
        staging->ends = tt_arena_array(&rank->arena, rank->wires.real_count, sizeof *staging->ends);
    return staging->begin && (staging->ends || !staging->cubic) ? TUTTI_OK : tt_fail_memory();
}

/* The end of this input counts. */
static void hold_input_at_end(struct tt_coupled_inputs *staging, uint32_t component, uint32_t variable)
{
    struct tt_rank *rank = staging->rank;
    const double *first = rank->wires.gathered;
    uint32_t node = tt_structure_find(&rank->job->structure, component, variable, false);
    if (node == TUTTI_NONE)
        return;
    const struct tt_slot *slot = &rank->wires.slots[node];
    const double *values = slot->values;
    if (slot->type != TUTTI_TYPE_FLOAT64 || values < first || values >= first + rank->wires.gather_count)
        return;
    for (uint32_t e = 0; e < slot->count; e++)
        staging->where[values - first + e] = 1;
}

/* Inputs of one unit that a connected output follows. */
static void coupled_inputs_hold_unit(struct tt_coupled_inputs *staging, uint32_t component)
{
    const struct tt_structure *running = staging->running;
    for (uint32_t n = running->component_first[component]; n < running->component_first[component + 1]; n++)
        for (uint32_t k = running->graph.first[n]; running->nodes[n].output && k < running->graph.first[n + 1]; k++)
            hold_input_at_end(staging, component, running->nodes[running->graph.needs[k]].variable);
}

/* Holds the inputs of all outputs of a unit, which shall be as accurate as all others. An output without declared
 * dependencies may depend on any input. */
static void hold_unit_all_outputs(struct tt_coupled_inputs *staging, uint32_t component)
{
    struct tt_rank *rank = staging->rank;
    const struct tt_description *desc = rank->job->system->components[component].fmu->desc;
    struct tt_unit_wires *unit = &rank->wires.units[component];
    uint32_t end = unit->gather_first + unit->gather_count;
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        const struct tt_unknown *output = &desc->outputs.items[i];
        bool any = !output->has_dependencies || rank->units[component]->undeclared;
        for (uint32_t g = unit->gather_first; any && g < end; g++)
            staging->where[g] = 1;
        for (uint32_t d = 0; d < output->dependency_count; d++)
            hold_input_at_end(staging, component, output->dependencies[d]);
    }
    for (uint32_t g = unit->gather_first; g < end; g++)
        unit->halves = unit->halves || staging->where[g] == 1;
    staging->holds = staging->holds || unit->gather_count > 0;
}

/* Holds inputs that act on states at their mean, inputs that act on outputs at their end. Uses declared dependencies. */
enum tutti_err tt_coupled_inputs_choose_holds(struct tt_coupled_inputs *staging)
{
    struct tt_rank *rank = staging->rank;
    double *where = tt_arena_array(&rank->arena, rank->wires.gather_count, sizeof *where);
    double *second = tt_arena_array(&rank->arena, rank->wires.gather_count, sizeof *second);
    if (!where || !second)
        return tt_fail_memory();
    staging->where = where;
    staging->second = second;
    for (uint32_t i = 0; i < rank->wires.gather_count; i++)
        where[i] = 0.5;
    for (uint32_t c = 0; c < rank->job->system->component_count; c++)
        if (!rank->wires.units[c].slopes && staging->by_means)
            hold_unit_all_outputs(staging, c);
        else if (!rank->wires.units[c].slopes && !tt_structure_is_assumed(staging->running, c))
            coupled_inputs_hold_unit(staging, c);
    return TUTTI_OK;
}

/* The mean of a moving input from `a` to `b` of the step. */
static double moving_input_mean(const struct tt_wires *wires, uint32_t place, double a, double b)
{
    double value = wires->gathered[place] + wires->gathered_slopes[0][place] * (a + b) / 2;
    if (wires->order >= 2)
        value += wires->gathered_slopes[1][place] * (a * a + a * b + b * b) / 6;
    if (wires->order >= 3)
        value += wires->gathered_slopes[2][place] * (a + b) * (a * a + b * b) / 24;
    return value;
}

/* With the right mean in every step, and the right end where outputs follow: both halves together have that mean. */
static void coupled_inputs_hold_means(struct tt_coupled_inputs *staging, const struct tt_unit_wires *unit, double h)
{
    struct tt_rank *rank = staging->rank;
    struct tt_wires *wires = &rank->wires;
    for (uint32_t i = unit->gather_first; i < unit->gather_first + unit->gather_count; i++) {
        double whole = moving_input_mean(wires, i, 0, h), first = moving_input_mean(wires, i, 0, h / 2),
               second = moving_input_mean(wires, i, h / 2, h);
        if (staging->where[i] == 1) {
            second = tt_wires_extrapolate(wires, i, h);
            first = 2 * whole - second;
        }
        staging->second[i] = second;
        wires->gathered[i] = unit->halves ? first : whole;
    }
}

void tt_coupled_inputs_hold(struct tt_coupled_inputs *staging, const struct tt_member *member, double target)
{
    struct tt_rank *rank = staging->rank;
    const struct tt_unit_wires *wires = member->wires;
    double h = (member->has_grid ? member->now.grid.next : target) - rank->t;
    bool lost = wires->slopes && wires->slopes->count > 0 && !(member->unit->can & TUTTI_CAN_INPUT_DERIVATIVES);
    if (rank->wires.order == 0 || (wires->slopes && !lost))
        return;
    if (staging->by_means) {
        coupled_inputs_hold_means(staging, wires, h);
        return;
    }
    for (uint32_t i = wires->gather_first; i < wires->gather_first + wires->gather_count; i++)
        rank->wires.gathered[i] = tt_wires_extrapolate(&rank->wires, i, staging->where[i] * h);
}

enum tutti_err tt_coupled_inputs_gather(struct tt_coupled_inputs *staging, const char *source, struct tt_member *member,
                                        double target)
{
    struct tt_rank *rank = staging->rank;
    TRY(tt_wires_gather(&rank->wires, source, member->wires));
    tt_coupled_inputs_hold(staging, member, target);
    return member->unit->has_events || member->wires->held_count == 0
               ? TUTTI_OK
               : tt_wires_gather_held(&rank->wires, rank->wires.signals, member->wires);
}

/* With derivatives of both ends the cubic of Hermite, with that of the end only the parabola: FMUs of FMI 2.0 know none before their
 * first step. */
void tt_coupled_inputs_set_hermite(struct tt_coupled_inputs *staging, uint32_t real, double from, double to,
                                   double rate, double h)
{
    const struct tt_wires *wires = &staging->rank->wires;
    double line = (to - from) / h, begin = tt_extrapolation_rate(staging->extrapolation, real);
    double slopes[TUTTI_MOST_ORDER] = {line};
    if (isfinite(rate) && isfinite(begin)) {
        slopes[0] = begin;
        slopes[1] = (6 * line - 4 * begin - 2 * rate) / h;
        slopes[2] = 6 * (begin + rate - 2 * line) / (h * h);
    } else if (isfinite(rate)) {
        slopes[0] = 2 * line - rate;
        slopes[1] = 2 * (rate - line) / h;
    }
    for (unsigned o = 0; o < wires->order; o++)
        wires->slopes[o][wires->reals[real].place] = slopes[o];
}

enum tutti_err tt_coupled_inputs_get_rates(struct tt_coupled_inputs *staging, uint32_t component)
{
    return staging->cubic ? tt_extrapolation_get_rates(staging->extrapolation, component, staging->ends) : TUTTI_OK;
}

enum tutti_err tt_coupled_inputs_exchange_rates(struct tt_coupled_inputs *staging)
{
    return staging->cubic ? tt_channels_exchange_rates(&staging->rank->channels, staging->ends) : TUTTI_OK;
}

/* A line between both ends; where a slope at the beginning is known to order 2, the parabola with that slope. */
void tt_coupled_inputs_interpolate(struct tt_coupled_inputs *staging, uint32_t component, double h)
{
    struct tt_rank *rank = staging->rank;
    const struct tt_wires *wires = &rank->wires;
    const double *now = (const void *)wires->signals;
    double *begin = (void *)staging->begin;
    for (unsigned b = 0; b < wires->units[component].output_blocks; b++) { /* what cannot move has moved */
        const struct tt_block *block = &wires->units[component].outputs[b];
        if (block->type != TUTTI_TYPE_FLOAT64 && !block->owned)
            memcpy(staging->begin + ((const char *)block->values - wires->signals), block->values,
                   block->value_count * tt_type_size(block->type));
    }
    bool parabola = wires->order == 2 && tt_extrapolation_order(staging->extrapolation) == 2;
    for (uint32_t i = wires->real_first[component]; i < wires->real_first[component + 1]; i++) {
        const struct tt_real_signal *real = &wires->reals[i];
        double *slope = &wires->slopes[0][real->place], move = now[real->place] - begin[real->place];
        if (!real->smooth) {
            begin[real->place] = now[real->place];
            continue;
        }
        if (staging->cubic) {
            tt_coupled_inputs_set_hermite(staging, i, begin[real->place], now[real->place], staging->ends[i], h);
            continue;
        }
        if (parabola)
            wires->slopes[1][real->place] = 2 * (move - h * *slope) / (h * h);
        else
            *slope = move / h;
        if (!parabola && wires->order == 2)
            wires->slopes[1][real->place] = 0;
    }
}

void tt_coupled_inputs_reset_start(struct tt_coupled_inputs *staging, uint32_t component)
{
    const struct tt_wires *wires = &staging->rank->wires;
    for (unsigned b = 0; b < wires->units[component].output_blocks; b++) {
        const struct tt_block *block = &wires->units[component].outputs[b];
        if (!block->owned)
            memcpy(staging->begin + ((const char *)block->values - wires->signals), block->values,
                   block->value_count * tt_type_size(block->type));
    }
}
