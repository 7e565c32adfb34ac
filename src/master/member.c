/* SPDX-License-Identifier: MIT */
#include "master/member.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "rank/settle.h"
#include "rank/ticks.h"

/* FMI 1.0 and 2.0: a discarded step cannot be repeated without a saved state. */
static enum tutti_err discarded_for_good(const struct tutti_member *member, double target,
                                         const struct tutti_step *step)
{
    return tutti_fail(
        TUTTI_ERR_FMU, "%s (%s): the FMU discarded the step from t = %s to %s; it came as far as %s. %s",
        member->unit->name, member->unit->fmu->path, TIME(member->now.t), TIME(target), TIME(step->reached),
        member->unit->uniform ? "It cannot vary its step: use another --step from the start" : "Use a smaller --step");
}

/* The size of the step to `goal`. FMUs that know one size only get that very number, unless they came off the grid. */
static double step_to(const struct tutti_rank *rank, const struct tutti_member *member, double goal)
{
    if (member->unit->uniform && tutti_time_same(member->now.t + member->now.grid.step, goal, rank->span))
        return member->now.grid.step;
    return tutti_time_step(member->now.t, goal);
}

/* How far ahead the unit knows its inputs: coupled ones to the end of the step. */
static double horizon(const struct tutti_rank *rank, const struct tutti_member *member, double goal)
{
    double until = member->wires->moving_blocks || member->wires->held_blocks ? goal : rank->times.stop;
    if (rank->ticks)
        until = fmin(until, fmax(goal, tutti_ticks_next(rank, member)));
    return member->inputs ? fmin(until, fmin(member->inputs->now.kink, member->inputs->now.event)) : until;
}

static enum tutti_err do_step(struct tutti_rank *rank, struct tutti_member *member, double goal,
                              struct tutti_step *step)
{
    struct tutti_unit *unit = member->unit;
    if (__builtin_expect(unit->notes_last, 0)) {
        member->begun = member->now;
        if (member->inputs)
            member->inputs_begun = member->inputs->now;
    }
    unit->step_size = step_to(rank, member, goal);
    if (member->inputs)
        TRY(tutti_inputs_apply(member->inputs, unit, member->inputs->now.time, goal));
    unit->horizon = horizon(rank, member, goal);
    enum tutti_err err = unit->kind->step(unit, member->now.t, unit->step_size, step);
    return __builtin_expect(err != TUTTI_OK, 0) ? tutti_fail_about(err, unit->name, NULL, member->now.t) : TUTTI_OK;
}

/* Steps towards `target`; the first do-step may have been `made`, with this result. FMI 3.0 FMUs that discard a step stand
 * where they stood: try half of it, and half again. Where steps can be taken back, all units are, and try a shorter one. */
static enum tutti_err advance(struct tutti_rank *rank, const struct tutti_step_rules *rules,
                              struct tutti_member *member, double target, const struct tutti_step *made,
                              struct tutti_step *step, struct tutti_outcome *outcome)
{
    struct tutti_unit *unit = member->unit;
    double goal = target;
    for (;; made = NULL) {
        if (__builtin_expect(made != NULL, 0))
            *step = *made;
        else
            TRY(do_step(rank, member, goal, step));
        if (__builtin_expect(!step->discarded, 1))
            return TUTTI_OK;
        if (step->terminate)
            return TUTTI_OK; /* the way that FMI 2.0 has to say that this is the end */
        if (rules->goes_back) {
            tutti_outcome_refused(outcome, member->component, step->reached);
            return TUTTI_OK;
        }
        rank->own_rejected++;
        if (!step->can_retry)
            return discarded_for_good(member, goal, step);
        double half = member->now.t + (goal - member->now.t) / 2;
        if (unit->uniform || goal - member->now.t < 1e-9 * rank->times.step || half <= member->now.t || half >= goal)
            return tutti_fail(TUTTI_ERR_FMU,
                              "%s (%s): the FMU discards every step from t = %s on, down to %.3g; check its "
                              "inputs and parameters there",
                              unit->name, unit->fmu->path, TIME(member->now.t), goal - member->now.t);
        goal = half;
    }
}

/* An event in the middle of a step: no other unit is there, so nothing is recorded. */
static enum tutti_err cross_alone(struct tutti_rank *rank, struct tutti_member *member, struct tutti_outcome *outcome)
{
    bool ended = false;
    member->now.event = false;
    TRY(member->unit->kind->enter_event(member->unit));
    if (member->inputs)
        TRY(tutti_inputs_cross(member->inputs, member->unit));
    rank->own_events++;
    TRY(tutti_member_settle(rank, member, &ended));
    if (ended)
        tutti_outcome_ended(outcome, member->component, member->now.t);
    return TUTTI_OK;
}

/* Where the unit is after a step: the target to the bit unless it says something else. */
static void arrive(const struct tutti_rank *rank, struct tutti_member *member, double target,
                   const struct tutti_step *step, struct tutti_outcome *outcome)
{
    bool there = step->reached == target || tutti_time_same(step->reached, target, rank->span);
    member->now.t = there ? target : step->reached;
    if (step->event)
        member->now.event = true;
    if (step->terminate)
        tutti_outcome_ended(outcome, member->component, member->now.t);
    if (member->has_grid)
        tutti_grid_pass(&member->now.grid, member->now.t);
}

void tutti_member_look(const struct tutti_rank *rank, struct tutti_member *member)
{
    struct tutti_inputs *inputs = member->inputs;
    if (inputs)
        tutti_inputs_arrive(inputs, member->unit, member->now.t, rank->span);
    if (!member->unit->has_events)
        return;
    if ((inputs && inputs->now.jumped) || tutti_time_reached(member->now.t, member->now.next_event, rank->span))
        member->now.event = true;
}

static double cut(double target, double event, double span)
{
    return event < target && !tutti_time_same(event, target, span) ? event : target;
}

/* What is announced is a hard end, also in the middle of a step. A unit that cannot vary its step goes from point to
 * point of its grid, and all that waits for the next one. */
static double next_goal(const struct tutti_rank *rank, const struct tutti_member *member, double target)
{
    const struct tutti_inputs *inputs = member->inputs;
    if (member->unit->uniform)
        return target;
    if (inputs && isfinite(inputs->now.kink))
        target = cut(target, inputs->now.kink, rank->span);
    if (inputs)
        target = cut(target, fmin(inputs->now.row, inputs->now.event), rank->span);
    return cut(target, member->now.next_event, rank->span);
}

/* At an event on the way: does it end the step for all? */
static bool comes_back(const struct tutti_step_rules *rules, const struct tutti_member *member,
                       struct tutti_outcome *outcome)
{
    if (rules->stops_at_events)
        tutti_outcome_early(outcome, member->component, member->now.t);
    return rules->stops_at_events;
}

/* Is there nothing more to do for this unit in the step? */
static bool is_over(const struct tutti_member *member, const struct tutti_outcome *outcome)
{
    return outcome->why == TUTTI_REFUSED || tutti_outcome_is_end_of(outcome, member->component);
}

static enum tutti_err go(struct tutti_rank *rank, const struct tutti_step_rules *rules, struct tutti_member *member,
                         double target, const struct tutti_step *made, struct tutti_outcome *outcome)
{
    struct tutti_step step;
    int standstills = 0;
    for (;; made = NULL) {
        double before = member->now.t, goal = next_goal(rank, member, target);
        TRY(advance(rank, rules, member, goal, made, &step, outcome));
        if (__builtin_expect(outcome->why == TUTTI_REFUSED, 0))
            return TUTTI_OK;
        arrive(rank, member, goal, &step, outcome);
        if (__builtin_expect(member->now.t == target || rank->single_unit || is_over(member, outcome), 1))
            return TUTTI_OK;
        bool takes = member->now.t == before && member->learned.takes_news;
        if (!takes && comes_back(rules, member, outcome))
            return TUTTI_OK;
        standstills = member->now.t > before ? 0 : standstills + 1;
        if (standstills == TUTTI_MOST_STANDSTILLS)
            return tutti_member_stands_still(member, "came back 1000 times from there");
        tutti_member_look(rank, member);
        if (member->now.event)
            TRY(cross_alone(rank, member, outcome));
        if (is_over(member, outcome))
            return TUTTI_OK;
        if (member->inputs)
            tutti_inputs_look_ahead(member->inputs, member->unit);
    }
}

/* With inputs of the first half staged, and those of the second one laid out (staging.h). */
static enum tutti_err go_by_halves(struct tutti_rank *rank, const struct tutti_step_rules *rules,
                                   struct tutti_member *member, double target, struct tutti_outcome *outcome)
{
    const struct tutti_unit_wires *wires = member->wires;
    double middle = rank->t + (target - rank->t) / 2;
    if (middle <= rank->t || middle >= target)
        return go(rank, rules, member, target, NULL, outcome);
    struct tutti_inputs *inputs = member->inputs;
    if (inputs && inputs->halves)
        inputs->at = TUTTI_INPUT_BEGIN;
    TRY(go(rank, rules, member, middle, NULL, outcome));
    if (member->now.t != middle || is_over(member, outcome) ||
        (member->now.event && comes_back(rules, member, outcome)))
        return TUTTI_OK;
    if (member->now.event)
        TRY(cross_alone(rank, member, outcome));
    if (is_over(member, outcome))
        return TUTTI_OK;
    if (inputs)
        tutti_inputs_arrive(inputs, member->unit, middle, rank->span);
    if (inputs && inputs->halves)
        inputs->at = TUTTI_INPUT_END;
    if (wires->gather_count == 0)
        return go(rank, rules, member, target, NULL, outcome);
    memcpy(rank->wires.gathered + wires->gather_first, rules->second + wires->gather_first,
           wires->gather_count * sizeof(double));
    for (unsigned b = 0; b < wires->moving_blocks; b++)
        if (wires->moving[b].type == TUTTI_TYPE_FLOAT64)
            TRY(member->unit->kind->set(member->unit, &wires->moving[b]));
    return go(rank, rules, member, target, NULL, outcome);
}

static enum tutti_err set_inputs(struct tutti_rank *rank, struct tutti_member *member, double target)
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
    if (__builtin_expect(rank->wires.order > 0, 0)) {
        member->now.staged_at = member->now.t;
        unit->step_size = step_to(rank, member, member->has_grid ? member->now.grid.next : target);
        TRY(tutti_wires_set_slopes(&rank->wires, wires, unit));
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

static enum tutti_err begin(struct tutti_rank *rank, struct tutti_member *member, double target)
{
    struct tutti_unit *unit = member->unit;
    bool plain = !member->inputs && !member->wires->halves && !unit->notes_last;
    if (!unit->overlaps || !plain || next_goal(rank, member, target) != target)
        return TUTTI_OK;
    tutti_rank_tell_unit(rank, member->component);
    TRY(set_inputs(rank, member, target));
    member->now.stepped = true;
    unit->horizon = horizon(rank, member, target);
    member->made_h = step_to(rank, member, target);
    member->begun_early = true;
    enum tutti_err err = unit->kind->begin_step(unit, member->now.t, member->made_h, &member->made, &member->pending);
    return tutti_fail_about(err, unit->name, NULL, member->now.t);
}

static enum tutti_err await(struct tutti_member *member)
{
    struct tutti_unit *unit = member->unit;
    if (!member->pending)
        return TUTTI_OK;
    member->pending = false;
    return tutti_fail_about(unit->kind->end_step(unit, member->now.t, member->made_h, &member->made), unit->name, NULL,
                            member->now.t);
}

enum tutti_err tutti_member_overlap(struct tutti_rank *rank, const uint32_t *components, uint32_t count, double target)
{
    struct tutti_failure failure = {.err = TUTTI_OK};
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < count; i++) {
            struct tutti_member *member = components ? &rank->members[components[i]] : rank->own[i];
            enum tutti_err err = TUTTI_OK;
            if (!tutti_rank_owns(rank, member->component))
                continue;
            if (pass == 1)
                err = await(member);
            else if (!failure.err && tutti_member_due(rank, member, target))
                err = begin(rank, member, target);
            if (err && !failure.err)
                tutti_failure_keep(&failure, err);
        }
    return tutti_failure_return(&failure);
}

enum tutti_err tutti_member_step(struct tutti_rank *rank, const struct tutti_step_rules *rules,
                                 struct tutti_member *member, double target, struct tutti_outcome *outcome)
{
    struct tutti_unit *unit = member->unit;
    bool begun = member->begun_early;
    member->begun_early = false;
    if (__builtin_expect(outcome->why == TUTTI_REFUSED, 0))
        return TUTTI_OK; /* one before it did: the step is taken back anyway */
    if (__builtin_expect(begun, 0))
        return tutti_member_finish(rank, rules, member, target, &member->made, outcome);
    tutti_rank_tell_unit(rank, member->component);
    bool timed = unit->counts.do_steps + 1 >= unit->counts.time_next;
    double begin = timed ? tutti_clock_now() : 0;
    TRY(set_inputs(rank, member, target));
    member->now.stepped = true;
    double set = timed ? tutti_clock_now() - begin : 0;
    TRY(member->wires->halves ? go_by_halves(rank, rules, member, target, outcome)
                              : go(rank, rules, member, target, NULL, outcome));
    if (__builtin_expect(outcome->why == TUTTI_REFUSED, 0))
        return TUTTI_OK; /* what becomes of it is decided by all, where the macro step is: macro.c */
    if (__builtin_expect(!timed, 1))
        return tutti_wires_get(member->wires, unit);
    begin = tutti_clock_now();
    TRY(tutti_wires_get(member->wires, unit));
    time_exchange(&unit->counts, set, tutti_clock_now() - begin);
    return TUTTI_OK;
}

/* A do-step leads over nothing that its inputs do at a point. */
enum tutti_err tutti_member_back_to_last(const struct tutti_rank *rank, struct tutti_member *member)
{
    double t;
    TRY(member->unit->kind->back_to_last(member->unit, &t));
    member->now = member->begun;
    member->now.t = t;
    if (!member->inputs)
        return TUTTI_OK;
    member->inputs->now = member->inputs_begun;
    if (t > member->begun.t)
        tutti_inputs_arrive(member->inputs, member->unit, t, rank->span);
    return TUTTI_OK;
}

enum tutti_err tutti_member_finish(struct tutti_rank *rank, const struct tutti_step_rules *rules,
                                   struct tutti_member *member, double target, const struct tutti_step *made,
                                   struct tutti_outcome *outcome)
{
    TRY(go(rank, rules, member, target, made, outcome));
    return outcome->why == TUTTI_REFUSED ? TUTTI_OK : tutti_wires_get(member->wires, member->unit);
}
