/* SPDX-License-Identifier: MIT */
#include "sim/start/input_rows.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "sim/rank.h"

static double row_spacing(const struct tt_rank *rank, const struct tt_member *member, bool kinks, double *smallest)
{
    return tt_trajectory_spacing(member->inputs->trajectory, rank->times.start, rank->times.stop, kinks, smallest);
}

/* Returns the step that meets all rows of a member: for a unit with variable steps, only if its rows are equidistant
 * and closer than the steps would be; other rows end steps individually. 0: any step. */
static double row_step_of(const struct tt_rank *rank, const struct tt_member *member)
{
    double smallest, step;
    if (!member->inputs || member->setup.own_step > 0 || member->unit->kind->interface != TUTTI_CS)
        return 0;
    if (member->unit->uniform)
        return row_spacing(rank, member, member->inputs->continuous > 0, &smallest);
    step = row_spacing(rank, member, true, &smallest);
    return smallest < rank->times.step && step > (1 - TUTTI_TRAJECTORY_SPLINTER) * smallest ? step : 0;
}

enum tutti_err tt_input_rows_fit_step(struct tt_rank *rank)
{
    if (!tt_job_drives_inputs(rank->job) || rank->job->options.has_step || rank->times.step_proposed)
        return TUTTI_OK;
    double *steps = tt_arena_array(&rank->arena, rank->member_count, sizeof *steps);
    if (!steps)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->own_count; m++)
        steps[rank->own[m]->component] = row_step_of(rank, rank->own[m]);
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, steps, rank->member_count));
    for (uint32_t m = 0; m < rank->member_count; m++) {
        double parts = ceil(steps[m] / rank->times.step * (1 - 1e-9));
        double internal = rank->units[m]->fmu->desc->interfaces[TUTTI_CS].fixed_step;
        if (steps[m] > 0 && (internal <= 0 || tt_time_grid_fits(0, internal, steps[m] / parts)))
            rank->times.step = steps[m] / parts;
    }
    return TUTTI_OK;
}

/* A line that the unit sees at one time of a step: with its mean states are right to the order 2. Outputs that follow it at
 * once have to see its end, too: a step in two halves, with the first and the last value, has that mean. */
static void hold_mean_values(const struct tt_member *member)
{
    struct tt_inputs *inputs = member->inputs;
    if (inputs->choice.at != TUTTI_INPUT_AUTO || !tt_inputs_are_held(inputs, member->unit->can))
        return;
    inputs->at = TUTTI_INPUT_MIDDLE;
    inputs->halves = !member->wires->slopes && tt_inputs_feed_through(inputs, member->unit);
    member->wires->halves = member->wires->halves || inputs->halves;
}

void tt_input_rows_start(struct tt_rank *rank, bool varies, bool by_means)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tt_member *member = rank->own[m];
        struct tt_inputs *inputs = member->inputs;
        if (!inputs)
            continue;
        double step = member->now.grid.step, smallest;
        bool free = !rank->job->options.has_step && member->setup.own_step == 0;
        inputs->slack = member->unit->uniform ? TUTTI_TRAJECTORY_SPLINTER * step : 0;
        (void)row_spacing(rank, member, true, &smallest);
        inputs->splinter = TUTTI_TRAJECTORY_SPLINTER * fmin(step, smallest);
        inputs->ends_at_rows = inputs->continuous > 0 && member->unit->kind->interface == TUTTI_CS &&
                               !member->unit->uniform && (free || varies);
        if (by_means)
            hold_mean_values(member);
    }
}

/* "; use --step 0.001", or what else helps. */
static const char *row_step_advice(const struct tt_rank *rank, const struct tt_member *member, bool kinks, char *text,
                                   size_t room)
{
    double smallest, step = row_spacing(rank, member, kinks, &smallest);
    if (step > 0)
        snprintf(text, room, "use --step %s, which meets them all", NUMBER(step));
    else
        snprintf(text, room, "rows are up to %s near to each other; use a step of that size", NUMBER(smallest));
    return text;
}

static void warn_missed_rows(const struct tt_rank *rank, const struct tt_member *member)
{
    const struct tt_inputs *inputs = member->inputs;
    char text[128];
    if (inputs->now.late + inputs->now.unseen > 0)
        tt_log(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
               "%s: the FMU cannot vary its step %s, and inputs that jump change between its steps: %lu "
               "changes came late, %lu it never saw; %s",
               tt_trajectory_file(inputs->trajectory, 0), NUMBER(member->now.grid.step), inputs->now.late,
               inputs->now.unseen, row_step_advice(rank, member, false, text, sizeof text));
    if (inputs->now.bent > 0)
        tt_log(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
               "%s: %lu rows lie inside of steps, and the FMU saw nothing of them; %s",
               tt_trajectory_file(inputs->trajectory, 0), inputs->now.bent,
               row_step_advice(rank, member, true, text, sizeof text));
}

void tt_input_rows_warn(const struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (rank->own[m]->inputs)
            warn_missed_rows(rank, rank->own[m]);
}
