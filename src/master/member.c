/* SPDX-License-Identifier: MIT */
/* One unit of a run from one point to another, over whatever lies between. */
#include <math.h>

#include "base/number.h"
#include "master/loop.h"

/* How often an FMU may come back without moving in time before it is called stuck. */
enum { MOST_STANDSTILLS = 1000 };

static enum tutti_err stands_still(const struct run *run, const struct tutti_member *member, const char *how)
{
    (void)run;
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): time stands still at t = %s: the FMU %s", member->unit->name,
                      member->unit->fmu->path, NUMBER(member->t), how);
}

enum tutti_err tutti_member_settle(struct run *run, struct tutti_member *member)
{
    struct tutti_unit *unit = member->unit;
    struct tutti_unit_event event;
    TRY(unit->kind->settle(unit, &event));
    for (int round = 0; tutti_time_reached(member->t, event.next_event, run->span) && !event.terminate; round++) {
        if (round == MOST_STANDSTILLS)
            return stands_still(run, member, "announces one event after another for it");
        TRY(unit->kind->enter_event(unit));
        TRY(unit->kind->settle(unit, &event));
    }
    member->next_event = event.next_event;
    if (event.terminate)
        run->ended = member;
    return TUTTI_OK;
}

/* FMI 1.0 and 2.0: a discarded step cannot be repeated without a saved state. */
static enum tutti_err discarded_for_good(const struct tutti_member *member, double target,
                                         const struct tutti_step *step)
{
    return tutti_fail(
        TUTTI_ERR_FMU, "%s (%s): the FMU discarded the step from t = %s to %s; it came as far as %s. %s",
        member->unit->name, member->unit->fmu->path, NUMBER(member->t), NUMBER(target), NUMBER(step->reached),
        member->unit->uniform ? "It cannot vary its step: use another --step from the start" : "Use a smaller --step");
}

/* The size of the step to `goal`. FMUs that know one size only get that very number, unless they came off the grid. */
static double step_to(const struct run *run, const struct tutti_member *member, double goal)
{
    if (member->unit->uniform && tutti_time_same(member->t + member->grid.step, goal, run->span))
        return member->grid.step;
    return tutti_time_step(member->t, goal);
}

/* How far ahead the unit knows its inputs: coupled ones to the end of the step. */
static double horizon(const struct run *run, const struct tutti_member *member, double goal)
{
    double until = member->wires->moving_blocks || member->wires->held_blocks ? goal : run->times.stop;
    return member->inputs ? fmin(until, fmin(member->inputs->kink, member->inputs->event)) : until;
}

/* Steps towards `target`. FMI 3.0 FMUs that discard a step stand where they stood: try half of it, and half again. */
static enum tutti_err advance(struct run *run, struct tutti_member *member, double target, struct tutti_step *step)
{
    struct tutti_unit *unit = member->unit;
    double goal = target;
    for (;;) {
        if (member->inputs)
            TRY(tutti_inputs_apply(member->inputs, unit, member->inputs->time, goal));
        unit->horizon = horizon(run, member, goal);
        TRY(unit->kind->step(unit, member->t, step_to(run, member, goal), step));
        if (__builtin_expect(!step->discarded, 1))
            return TUTTI_OK;
        if (step->terminate)
            return TUTTI_OK; /* the way that FMI 2.0 has to say that this is the end */
        run->stats->rejected++;
        if (!step->can_retry)
            return discarded_for_good(member, goal, step);
        double half = member->t + (goal - member->t) / 2;
        if (unit->uniform || goal - member->t < 1e-9 * run->times.step || half <= member->t || half >= goal)
            return tutti_fail(TUTTI_ERR_FMU,
                              "%s (%s): the FMU discards every step from t = %s on, down to %.3g; check its "
                              "inputs and parameters there",
                              unit->name, unit->fmu->path, NUMBER(member->t), goal - member->t);
        goal = half;
    }
}

/* An event in the middle of a step: nobody else is there, so nothing is recorded. */
static enum tutti_err cross_alone(struct run *run, struct tutti_member *member)
{
    struct tutti_inputs *inputs = member->inputs;
    member->event = false;
    TRY(member->unit->kind->enter_event(member->unit));
    if (inputs && inputs->jumped) {
        inputs->jumped = false;
        tutti_inputs_sample(inputs, inputs->time, true);
        TRY(tutti_inputs_set_all(inputs, member->unit));
    }
    run->stats->events_located++;
    return tutti_member_settle(run, member);
}

/* Where the unit is after a step: the target to the bit unless it says something else. */
static void arrive(struct run *run, struct tutti_member *member, double target, const struct tutti_step *step)
{
    bool there = step->reached == target || tutti_time_same(step->reached, target, run->span);
    member->t = there ? target : step->reached;
    if (step->event)
        member->event = true;
    if (step->terminate)
        run->ended = member;
    if (member->has_grid)
        tutti_grid_pass(&member->grid, member->t);
}

/* The earlier of goal and event; goal, to the bit, if both mean the same point. */
static double halt_at(double goal, double event, double span)
{
    return event < goal && !tutti_time_same(event, goal, span) ? event : goal;
}

/* Where the unit has to halt on its way: an announced event is a hard end. So is what its input file brings in the middle
 * of a step of its own; other units' macro steps end there. */
static double next_halt(const struct run *run, const struct tutti_member *member, double target)
{
    const struct tutti_inputs *inputs = member->inputs;
    if (member->unit->uniform)
        return target;
    double goal = halt_at(target, member->next_event, run->span);
    if (!inputs || !member->has_grid)
        return goal;
    goal = halt_at(goal, inputs->event, run->span);
    return isfinite(inputs->kink) ? halt_at(goal, inputs->kink, run->span) : goal;
}

/* The input file, seen from the middle of a step. */
static void look_at_inputs(const struct run *run, struct tutti_member *member)
{
    struct tutti_inputs *inputs = member->inputs;
    inputs->jumped = tutti_time_reached(member->t, inputs->event, run->span);
    inputs->time = inputs->jumped ? fmax(member->t, inputs->event) : member->t;
    inputs->event = tutti_trajectory_next_event(inputs->trajectory, inputs->time);
    inputs->kink = tutti_inputs_horizon(inputs, member->unit, inputs->time);
    if (inputs->jumped && member->unit->has_events)
        member->event = true;
    else if (inputs->jumped)
        tutti_inputs_note_event(inputs);
}

static enum tutti_err go(struct run *run, struct tutti_member *member, double target)
{
    struct tutti_step step;
    int standstills = 0;
    for (;;) {
        double before = member->t;
        double goal = next_halt(run, member, target);
        TRY(advance(run, member, goal, &step));
        arrive(run, member, goal, &step);
        if (__builtin_expect(member->t == target || run->member_count == 1 || run->ended == member, 1))
            return TUTTI_OK;
        standstills = member->t > before ? 0 : standstills + 1;
        if (standstills == MOST_STANDSTILLS)
            return stands_still(run, member, "came back 1000 times from there");
        if (member->inputs)
            look_at_inputs(run, member);
        if (member->event || tutti_time_reached(member->t, member->next_event, run->span))
            TRY(cross_alone(run, member));
        if (run->ended == member)
            return TUTTI_OK;
    }
}

enum tutti_err tutti_member_step(struct run *run, struct tutti_member *member, double target)
{
    struct tutti_unit *unit = member->unit;
    struct tutti_unit_wires *wires = member->wires;
    for (unsigned b = 0; b < wires->moving_blocks; b++)
        TRY(unit->kind->set(unit, &wires->moving[b]));
    if (__builtin_expect(wires->held_changed, 0)) {
        wires->held_changed = false;
        for (unsigned b = 0; b < wires->held_blocks; b++)
            TRY(unit->kind->set(unit, &wires->held[b]));
    }
    TRY(go(run, member, target));
    return tutti_wires_get(wires, unit);
}
