/* SPDX-License-Identifier: MIT */
#include "start/rows.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "rank/agree.h"

static double spacing(const struct tutti_rank *rank, const struct tutti_member *member, bool kinks, double *smallest)
{
    return tutti_trajectory_spacing(member->inputs->trajectory, rank->times.start, rank->times.stop, kinks, smallest);
}

/* The step that meets all rows of a member: of a unit that can vary its step, only if its rows are nearer to each other than the
 * steps would be, and at equal distances; other rows end a step by themselves. 0: whatever it is. */
static double wanted_step(const struct tutti_rank *rank, const struct tutti_member *member)
{
    double smallest, step;
    if (!member->inputs || member->setup.own_step > 0 || member->unit->kind->interface != TUTTI_CS)
        return 0;
    if (member->unit->uniform)
        return spacing(rank, member, member->inputs->continuous > 0, &smallest);
    step = spacing(rank, member, true, &smallest);
    return smallest < rank->times.step && step > (1 - TUTTI_TRAJECTORY_SPLINTER) * smallest ? step : 0;
}

/* Does the FMU have an internal step that `step` is no multiple of? */
static bool breaks(const struct tutti_member *member, double step)
{
    double fixed = member->unit->fmu->desc->interfaces[TUTTI_CS].fixed_step;
    return fixed > 0 && !tutti_grid_fits(0, fixed, step);
}

enum tutti_err tutti_rows_fit_step(struct tutti_rank *rank)
{
    if (!tutti_job_drives_inputs(rank->job) || rank->job->options.has_step || rank->times.step_proposed)
        return TUTTI_OK;
    double *steps = tutti_arena_array(&rank->arena, rank->member_count, sizeof *steps);
    if (!steps)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < rank->own_count; m++)
        steps[rank->own[m]->component] = wanted_step(rank, rank->own[m]);
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MAX, steps, rank->member_count));
    for (uint32_t m = 0; m < rank->member_count; m++) {
        double parts = ceil(steps[m] / rank->times.step * (1 - 1e-9));
        if (steps[m] > 0 && !breaks(&rank->members[m], steps[m] / parts))
            rank->times.step = steps[m] / parts;
    }
    return TUTTI_OK;
}

/* A line that the unit sees at one time of a step: with its mean states are right to the order 2. Outputs that follow it at
 * once have to see its end, too: a step in two halves, with the first and the last value, has that mean. */
static void hold_means(const struct tutti_member *member)
{
    struct tutti_inputs *inputs = member->inputs;
    if (inputs->choice.at != TUTTI_INPUT_AUTO || !tutti_inputs_are_held(inputs, member->unit->can))
        return;
    inputs->at = TUTTI_INPUT_MIDDLE;
    inputs->halves = !member->wires->slopes && tutti_inputs_show_at_once(inputs, member->unit);
    member->wires->halves = member->wires->halves || inputs->halves;
}

void tutti_rows_begin(struct tutti_rank *rank, bool varies, bool by_means)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tutti_member *member = rank->own[m];
        struct tutti_inputs *inputs = member->inputs;
        if (!inputs)
            continue;
        double step = member->now.grid.step, smallest;
        bool free = !rank->job->options.has_step && member->setup.own_step == 0;
        inputs->slack = member->unit->uniform ? TUTTI_TRAJECTORY_SPLINTER * step : 0;
        (void)spacing(rank, member, true, &smallest);
        inputs->splinter = TUTTI_TRAJECTORY_SPLINTER * fmin(step, smallest);
        inputs->ends_at_rows = inputs->continuous > 0 && member->unit->kind->interface == TUTTI_CS &&
                               !member->unit->uniform && (free || varies);
        if (by_means)
            hold_means(member);
    }
}

/* "; use --step 0.001", or what else helps. */
static const char *advice(const struct tutti_rank *rank, const struct tutti_member *member, bool kinks, char *text,
                          size_t room)
{
    double smallest, step = spacing(rank, member, kinks, &smallest);
    if (step > 0)
        snprintf(text, room, "use --step %s, which meets them all", NUMBER(step));
    else
        snprintf(text, room, "rows are up to %s near to each other; use a step of that size", NUMBER(smallest));
    return text;
}

static void tell_member(const struct tutti_rank *rank, const struct tutti_member *member)
{
    const struct tutti_inputs *inputs = member->inputs;
    char text[128];
    if (inputs->now.late + inputs->now.unseen > 0)
        tutti_log_printf(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
                         "%s: the FMU cannot vary its step %s, and inputs that jump change between its steps: %lu "
                         "changes came late, %lu it never saw; %s",
                         tutti_trajectory_file(inputs->trajectory, 0), NUMBER(member->now.grid.step), inputs->now.late,
                         inputs->now.unseen, advice(rank, member, false, text, sizeof text));
    if (inputs->now.bent > 0)
        tutti_log_printf(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
                         "%s: %lu rows lie inside of steps, and the FMU saw nothing of them; %s",
                         tutti_trajectory_file(inputs->trajectory, 0), inputs->now.bent,
                         advice(rank, member, true, text, sizeof text));
}

void tutti_rows_tell(const struct tutti_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (rank->own[m]->inputs)
            tell_member(rank, rank->own[m]);
}
