/* SPDX-License-Identifier: MIT */
/* One unit of a run from one point to another, over whatever lies between. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "master/detect.h"
#include "master/loop.h"

static enum tutti_err stands_still(const struct tutti_member *member, const char *how)
{
    return tutti_fail(TUTTI_ERR_FMU,
                      "%s (%s): time stands still at t = %s: the FMU %s; check its inputs there, or use another of its "
                      "interfaces (--interface)",
                      member->unit->name, member->unit->fmu->path, TIME(member->t), how);
}

enum tutti_err tutti_member_settle(struct run *run, struct tutti_member *member)
{
    struct tutti_unit *unit = member->unit;
    struct tutti_unit_event event;
    double announced = member->next_event;
    TRY(unit->kind->settle(unit, &event));
    for (int round = 0; tutti_time_reached(member->t, event.next_event, run->span) && !event.terminate; round++) {
        if (event.next_event > member->t && event.next_event == announced)
            break; /* a rounding error too early for it: it gets the time that it insists on */
        if (round == TUTTI_MOST_STANDSTILLS)
            return stands_still(member, "announces one event after another for it");
        TRY(unit->kind->enter_event(unit));
        TRY(unit->kind->settle(unit, &event));
    }
    member->next_event = event.next_event;
    if (event.terminate)
        run->ended = member;
    return TUTTI_OK;
}

/* Where steps can be taken back, all units are, and try a shorter one. */
static enum tutti_err refuse(struct run *run, const struct tutti_member *member, const struct tutti_step *step)
{
    run->master.refused = member;
    run->master.refused_at = step->reached;
    return TUTTI_ERR_DISCARD; /* caught below */
}

/* FMI 1.0 and 2.0: a discarded step cannot be repeated without a saved state. */
static enum tutti_err discarded_for_good(const struct tutti_member *member, double target,
                                         const struct tutti_step *step)
{
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): the FMU discarded the step from t = %s to %s; it came as far as %s. %s",
                      member->unit->name, member->unit->fmu->path, TIME(member->t), TIME(target), TIME(step->reached),
                      member->unit->uniform ? "It cannot vary its step: use another --step from the start"
                                            : "Use a smaller --step");
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
        if (run->master.goes_back)
            return refuse(run, member, step);
        run->own_rejected++;
        if (!step->can_retry)
            return discarded_for_good(member, goal, step);
        double half = member->t + (goal - member->t) / 2;
        if (unit->uniform || goal - member->t < 1e-9 * run->times.step || half <= member->t || half >= goal)
            return tutti_fail(TUTTI_ERR_FMU,
                              "%s (%s): the FMU discards every step from t = %s on, down to %.3g; check its "
                              "inputs and parameters there",
                              unit->name, unit->fmu->path, TIME(member->t), goal - member->t);
        goal = half;
    }
}

/* An event in the middle of a step: nobody else is there, so nothing is recorded. */
static enum tutti_err cross_alone(struct run *run, struct tutti_member *member)
{
    member->event = false;
    TRY(member->unit->kind->enter_event(member->unit));
    if (member->inputs)
        TRY(tutti_inputs_cross(member->inputs, member->unit));
    run->own_events++;
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

void tutti_member_look(const struct run *run, struct tutti_member *member)
{
    struct tutti_inputs *inputs = member->inputs;
    if (inputs)
        tutti_inputs_arrive(inputs, member->unit, member->t, run->span);
    if (!member->unit->has_events)
        return;
    if ((inputs && inputs->jumped) || tutti_time_reached(member->t, member->next_event, run->span))
        member->event = true;
}

static double cut(double target, double event, double span)
{
    return event < target && !tutti_time_same(event, target, span) ? event : target;
}

/* What is announced is a hard end, also in the middle of a step. A unit that cannot vary its step goes from point to
 * point of its grid, and all that waits for the next one. */
static double next_goal(const struct run *run, const struct tutti_member *member, double target)
{
    const struct tutti_inputs *inputs = member->inputs;
    if (member->unit->uniform)
        return target;
    if (inputs && isfinite(inputs->kink))
        target = cut(target, inputs->kink, run->span);
    if (inputs)
        target = cut(target, fmin(inputs->row, inputs->event), run->span);
    return cut(target, member->next_event, run->span);
}

/* At an event on the way: does it end the step for all? */
static bool comes_back(struct run *run, const struct tutti_member *member)
{
    struct tutti_master *master = &run->master;
    if (!master->goes_back || !master->detection->early || master->crosses)
        return false;
    if (member->t < master->early)
        master->early_member = (uint32_t)(member - run->members);
    master->early = fmin(master->early, member->t);
    return true;
}

static enum tutti_err go(struct run *run, struct tutti_member *member, double target)
{
    struct tutti_step step;
    int standstills = 0;
    for (;;) {
        double before = member->t, goal = next_goal(run, member, target);
        TRY(advance(run, member, goal, &step));
        arrive(run, member, goal, &step);
        if (__builtin_expect(member->t == target || run->alone || run->ended == member, 1))
            return TUTTI_OK;
        bool takes = member->t == before && member->unit->takes_news;
        if (!takes && comes_back(run, member))
            return TUTTI_OK;
        standstills = member->t > before ? 0 : standstills + 1;
        if (standstills == TUTTI_MOST_STANDSTILLS)
            return stands_still(member, "came back 1000 times from there");
        tutti_member_look(run, member);
        if (member->event)
            TRY(cross_alone(run, member));
        if (run->ended == member)
            return TUTTI_OK;
        if (member->inputs)
            tutti_inputs_look_ahead(member->inputs, member->unit);
    }
}

/* With inputs of the first half staged, and those of the second one laid out (coupling.h). */
static enum tutti_err go_by_halves(struct run *run, struct tutti_member *member, double target)
{
    const struct tutti_unit_wires *wires = member->wires;
    double middle = run->t + (target - run->t) / 2;
    if (middle <= run->t || middle >= target)
        return go(run, member, target);
    struct tutti_inputs *inputs = member->inputs;
    if (inputs && inputs->halves)
        inputs->at = TUTTI_INPUT_BEGIN;
    TRY(go(run, member, middle));
    if (member->t != middle || run->ended == member || (member->event && comes_back(run, member)))
        return TUTTI_OK;
    if (member->event)
        TRY(cross_alone(run, member));
    if (run->ended == member)
        return TUTTI_OK;
    if (inputs)
        tutti_inputs_arrive(inputs, member->unit, middle, run->span);
    if (inputs && inputs->halves)
        inputs->at = TUTTI_INPUT_END;
    if (wires->gather_count == 0)
        return go(run, member, target);
    memcpy(run->wires.gathered + wires->gather_first, run->master.second + wires->gather_first,
           wires->gather_count * sizeof(double));
    for (unsigned b = 0; b < wires->moving_blocks; b++)
        if (wires->moving[b].type == TUTTI_TYPE_FLOAT64)
            TRY(member->unit->kind->set(member->unit, &wires->moving[b]));
    return go(run, member, target);
}

static enum tutti_err set_inputs(struct run *run, struct tutti_member *member)
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
    if (__builtin_expect(run->wires.order > 0, 0)) {
        member->staged_at = member->t;
        TRY(tutti_wires_set_slopes(&run->wires, wires, unit));
    }
    return TUTTI_OK;
}

/* Where a do-step is measured, what lies around it is, too. */
static void time_exchange(struct tutti_unit_counts *counts, double set, double get)
{
    double others = (double)(counts->do_steps - counts->exchanges_timed);
    counts->set_seconds += others * set;
    counts->get_seconds += others * get;
    counts->exchanges_timed = counts->do_steps;
}

enum tutti_err tutti_member_step(struct run *run, struct tutti_member *member, double target)
{
    struct tutti_unit *unit = member->unit;
    if (__builtin_expect(run->master.refused != NULL, 0))
        return TUTTI_OK; /* one before it did: the step is taken back anyway */
    tutti_run_tell_unit(run, member->component);
    bool timed = unit->counts.do_steps + 1 >= unit->counts.time_next;
    double begin = timed ? tutti_clock_now() : 0;
    TRY(set_inputs(run, member));
    double set = timed ? tutti_clock_now() - begin : 0;
    enum tutti_err err = member->wires->halves ? go_by_halves(run, member, target) : go(run, member, target);
    if (__builtin_expect(err == TUTTI_ERR_DISCARD && run->master.refused == member, 0))
        return TUTTI_OK; /* what becomes of it is decided by all, where the macro step is: macro.c */
    TRY(err);
    if (__builtin_expect(!timed, 1))
        return tutti_wires_get(member->wires, unit);
    begin = tutti_clock_now();
    TRY(tutti_wires_get(member->wires, unit));
    time_exchange(&unit->counts, set, tutti_clock_now() - begin);
    return TUTTI_OK;
}
