/* SPDX-License-Identifier: MIT */
#include "sim/component.h"

#include <math.h>
#include <string.h>

#include "base/wall_clock.h"
#include "base/number.h"
#include "sim/rank.h"
#include "sim/ticks.h"

/* The size of the step to `goal`. FMUs that know one size only get that very number, unless they came off the grid. */
static double component_step_size(const struct tt_rank *rank, const struct tt_member *member, double goal)
{
    if (member->unit->uniform && tt_time_same(member->now.t + member->now.grid.step, goal, rank->span))
        return member->now.grid.step;
    return tt_time_step(member->now.t, goal);
}

/* Returns the time up to which the unit's inputs are known: coupled ones to the end of the step. */
static double input_horizon(const struct tt_rank *rank, const struct tt_member *member, double goal)
{
    double until = member->wires->moving_blocks || member->wires->held_blocks ? goal : rank->times.stop;
    if (rank->ticks)
        until = fmin(until, fmax(goal, tt_ticks_next(rank, member)));
    return member->inputs ? fmin(until, fmin(member->inputs->now.kink, member->inputs->now.event)) : until;
}

/* Steps towards `target`; the first do-step may have been `made`, with this result. FMI 3.0 FMUs that discard a step stand
 * where they stood: try half of it, and half again. Where steps can be taken back, all units are, and try a shorter one. */
static enum tutti_err do_steps_towards(struct tt_rank *rank, const struct tt_step_rules *rules,
                                       struct tt_member *member, double target, const struct tt_fmi_step *made,
                                       struct tt_fmi_step *step, struct tt_step_result *result)
{
    struct tt_unit *unit = member->unit;
    double goal = target;
    for (;; made = NULL) {
        if (__builtin_expect(made != NULL, 0)) {
            *step = *made;
        } else {
            if (__builtin_expect(unit->notes_last, 0)) {
                member->begun = member->now;
                if (member->inputs)
                    member->inputs_begun = member->inputs->now;
            }
            unit->step_size = component_step_size(rank, member, goal);
            if (member->inputs)
                TRY(tt_inputs_apply(member->inputs, unit, member->inputs->now.time, goal));
            unit->horizon = input_horizon(rank, member, goal);
            enum tutti_err err = unit->kind->step(unit, member->now.t, unit->step_size, step);
            if (__builtin_expect(err != TUTTI_OK, 0))
                return tt_fail_about(err, unit->name, NULL, member->now.t);
        }
        if (__builtin_expect(!step->discarded, 1))
            return TUTTI_OK;
        if (step->terminate)
            return TUTTI_OK; /* the way that FMI 2.0 has to say that this is the end */
        if (rules->goes_back) {
            tt_step_result_set_refused(result, member->component, step->reached);
            return TUTTI_OK;
        }
        rank->own_rejected++;
        if (!step->can_retry) /* FMI 1.0 and 2.0: a discarded step cannot be repeated without a saved state */
            return tt_fail(
                TUTTI_ERR_FMU, "%s (%s): the FMU discarded the step from t = %s to %s; it came as far as %s. %s",
                unit->name, unit->fmu->path, TIME(member->now.t), TIME(goal), TIME(step->reached),
                unit->uniform ? "It cannot vary its step: use another --step from the start" : "Use a smaller --step");
        double half = member->now.t + (goal - member->now.t) / 2;
        if (unit->uniform || goal - member->now.t < 1e-9 * rank->times.step || half <= member->now.t || half >= goal)
            return tt_fail(TUTTI_ERR_FMU,
                           "%s (%s): the FMU discards every step from t = %s on, down to %.3g; check its "
                           "inputs and parameters there",
                           unit->name, unit->fmu->path, TIME(member->now.t), goal - member->now.t);
        goal = half;
    }
}

/* An event in the middle of a step: no other unit is there, so nothing is recorded. */
static enum tutti_err handle_event_locally(struct tt_rank *rank, struct tt_member *member,
                                           struct tt_step_result *result)
{
    bool ended = false;
    member->now.event = false;
    TRY(member->unit->kind->enter_event(member->unit));
    if (member->inputs)
        TRY(tt_inputs_apply_jump(member->inputs, member->unit));
    rank->own_events++;
    TRY(tt_rank_finish_event(rank, member, &ended));
    if (ended)
        tt_step_result_set_ended(result, member->component, member->now.t);
    return TUTTI_OK;
}

/* Sets the unit's time after a step: exactly the target unless it reports a different time. */
static void component_arrive(const struct tt_rank *rank, struct tt_member *member, double target,
                             const struct tt_fmi_step *step, struct tt_step_result *result)
{
    bool there = step->reached == target || tt_time_same(step->reached, target, rank->span);
    member->now.t = there ? target : step->reached;
    if (step->event)
        member->now.event = true;
    if (step->terminate)
        tt_step_result_set_ended(result, member->component, member->now.t);
    if (member->has_grid)
        tt_time_grid_pass(&member->now.grid, member->now.t);
}

void tt_component_check_events(const struct tt_rank *rank, struct tt_member *member)
{
    struct tt_inputs *inputs = member->inputs;
    if (inputs)
        tt_inputs_update(inputs, member->unit, member->now.t, rank->span);
    if (!member->unit->has_events)
        return;
    if ((inputs && inputs->now.jumped) || tt_time_reached(member->now.t, member->now.next_event, rank->span))
        member->now.event = true;
}

static double component_cut_at_event(double target, double event, double span)
{
    return event < target && !tt_time_same(event, target, span) ? event : target;
}

/* An announced event is a hard limit, also in the middle of a step. A unit with a fixed step goes from point to point
 * of its grid, and all events wait for the next point. */
static double next_step_goal(const struct tt_rank *rank, const struct tt_member *member, double target)
{
    const struct tt_inputs *inputs = member->inputs;
    if (member->unit->uniform)
        return target;
    if (inputs && isfinite(inputs->now.kink))
        target = component_cut_at_event(target, inputs->now.kink, rank->span);
    if (inputs)
        target = component_cut_at_event(target, fmin(inputs->now.row, inputs->now.event), rank->span);
    return component_cut_at_event(target, member->now.next_event, rank->span);
}

/* Returns true if an event on the way ends the step for all units. */
static bool ends_macro_step(const struct tt_step_rules *rules, const struct tt_member *member,
                            struct tt_step_result *result)
{
    if (rules->stops_at_events)
        tt_step_result_set_event(result, member->component, member->now.t);
    return rules->stops_at_events;
}

/* Returns true if the unit has completed the step. */
static bool component_is_done(const struct tt_member *member, const struct tt_step_result *result)
{
    return result->end == TUTTI_END_REFUSED || tt_step_result_is_end_of(result, member->component);
}

static enum tutti_err step_over_events(struct tt_rank *rank, const struct tt_step_rules *rules,
                                       struct tt_member *member, double target, const struct tt_fmi_step *made,
                                       struct tt_step_result *result)
{
    struct tt_fmi_step step;
    int standstills = 0;
    for (;; made = NULL) {
        double before = member->now.t, goal = next_step_goal(rank, member, target);
        TRY(do_steps_towards(rank, rules, member, goal, made, &step, result));
        if (__builtin_expect(result->end == TUTTI_END_REFUSED, 0))
            return TUTTI_OK;
        component_arrive(rank, member, goal, &step, result);
        if (__builtin_expect(member->now.t == target || rank->single_unit || component_is_done(member, result), 1))
            return TUTTI_OK;
        bool takes = member->now.t == before && member->learned.takes_news;
        if (!takes && ends_macro_step(rules, member, result))
            return TUTTI_OK;
        standstills = member->now.t > before ? 0 : standstills + 1;
        if (standstills == TUTTI_MOST_STANDSTILLS)
            return tt_rank_fail_no_progress(member, "came back 1000 times from there");
        tt_component_check_events(rank, member);
        if (member->now.event)
            TRY(handle_event_locally(rank, member, result));
        if (component_is_done(member, result))
            return TUTTI_OK;
        if (member->inputs)
            tt_inputs_find_next(member->inputs, member->unit);
    }
}

/* With inputs of the first half staged, and those of the second one laid out (coupled_inputs.h). */
static enum tutti_err step_in_two_halves(struct tt_rank *rank, const struct tt_step_rules *rules,
                                         struct tt_member *member, double target, struct tt_step_result *result)
{
    const struct tt_unit_wires *wires = member->wires;
    double middle = rank->t + (target - rank->t) / 2;
    if (middle <= rank->t || middle >= target)
        return step_over_events(rank, rules, member, target, NULL, result);
    struct tt_inputs *inputs = member->inputs;
    if (inputs && inputs->halves)
        inputs->at = TUTTI_INPUT_BEGIN;
    TRY(step_over_events(rank, rules, member, middle, NULL, result));
    if (member->now.t != middle || component_is_done(member, result) ||
        (member->now.event && ends_macro_step(rules, member, result)))
        return TUTTI_OK;
    if (member->now.event)
        TRY(handle_event_locally(rank, member, result));
    if (component_is_done(member, result))
        return TUTTI_OK;
    if (inputs)
        tt_inputs_update(inputs, member->unit, middle, rank->span);
    if (inputs && inputs->halves)
        inputs->at = TUTTI_INPUT_END;
    if (wires->gather_count == 0)
        return step_over_events(rank, rules, member, target, NULL, result);
    memcpy(rank->wires.gathered + wires->gather_first, rules->second + wires->gather_first,
           wires->gather_count * sizeof(double));
    for (unsigned b = 0; b < wires->moving_blocks; b++)
        if (wires->moving[b].type == TUTTI_TYPE_FLOAT64)
            TRY(member->unit->kind->set(member->unit, &wires->moving[b]));
    return step_over_events(rank, rules, member, target, NULL, result);
}

static enum tutti_err component_set_inputs(struct tt_rank *rank, struct tt_member *member, double target)
{
    struct tt_unit *unit = member->unit;
    struct tt_unit_wires *wires = member->wires;
    for (unsigned b = 0; b < wires->moving_blocks; b++)
        TRY(unit->kind->set(unit, &wires->moving[b]));
    if (__builtin_expect(wires->held_changed, 0)) {
        wires->held_changed = false;
        for (unsigned b = 0; b < wires->held_blocks; b++)
            TRY(unit->kind->set(unit, &wires->held[b]));
    }
    if (__builtin_expect(rank->wires.order > 0, 0)) {
        member->now.staged_at = member->now.t;
        unit->step_size = component_step_size(rank, member, member->has_grid ? member->now.grid.next : target);
        TRY(tt_wires_set_slopes(&rank->wires, wires, unit));
    }
    return TUTTI_OK;
}

static enum tutti_err component_begin_step(struct tt_rank *rank, struct tt_member *member, double target)
{
    struct tt_unit *unit = member->unit;
    bool plain = !member->inputs && !member->wires->halves && !unit->notes_last;
    if (!unit->overlaps || !plain || next_step_goal(rank, member, target) != target)
        return TUTTI_OK;
    tt_rank_publish_unit(rank, member->component);
    TRY(component_set_inputs(rank, member, target));
    member->now.stepped = true;
    unit->horizon = input_horizon(rank, member, target);
    member->made_h = component_step_size(rank, member, target);
    member->begun_early = true;
    enum tutti_err err = unit->kind->begin_step(unit, member->now.t, member->made_h, &member->made, &member->pending);
    return tt_fail_about(err, unit->name, NULL, member->now.t);
}

static enum tutti_err component_await_step(struct tt_member *member)
{
    struct tt_unit *unit = member->unit;
    if (!member->pending)
        return TUTTI_OK;
    member->pending = false;
    return tt_fail_about(unit->kind->end_step(unit, member->now.t, member->made_h, &member->made), unit->name, NULL,
                         member->now.t);
}

enum tutti_err tt_component_step_overlapped(struct tt_rank *rank, const uint32_t *components, uint32_t count,
                                            double target)
{
    struct tt_failure failure = {.err = TUTTI_OK};
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < count; i++) {
            struct tt_member *member = components ? &rank->members[components[i]] : rank->own[i];
            enum tutti_err err = TUTTI_OK;
            if (!tt_rank_owns(rank, member->component))
                continue;
            if (pass == 1)
                err = component_await_step(member);
            else if (!failure.err && tt_rank_member_is_due(rank, member, target))
                err = component_begin_step(rank, member, target);
            if (err && !failure.err)
                tt_fail_save(&failure, err);
        }
    return tt_fail_restore(&failure);
}

enum tutti_err tt_component_step(struct tt_rank *rank, const struct tt_step_rules *rules, struct tt_member *member,
                                 double target, struct tt_step_result *result)
{
    struct tt_unit *unit = member->unit;
    bool begun = member->begun_early;
    member->begun_early = false;
    if (__builtin_expect(result->end == TUTTI_END_REFUSED, 0))
        return TUTTI_OK; /* one before it did: the step is taken back anyway */
    if (__builtin_expect(begun, 0))
        return tt_component_finish(rank, rules, member, target, &member->made, result);
    tt_rank_publish_unit(rank, member->component);
    bool timed = unit->counts.do_steps + 1 >= unit->times.next;
    double begin = timed ? tt_wall_clock_now() : 0;
    TRY(component_set_inputs(rank, member, target));
    member->now.stepped = true;
    double set = timed ? tt_wall_clock_now() - begin : 0;
    TRY(member->wires->halves ? step_in_two_halves(rank, rules, member, target, result)
                              : step_over_events(rank, rules, member, target, NULL, result));
    if (__builtin_expect(result->end == TUTTI_END_REFUSED, 0))
        return TUTTI_OK; /* what becomes of it is decided by all, where the macro step is: step.c */
    if (__builtin_expect(!timed, 1))
        return tt_wires_get_outputs(member->wires, unit);
    begin = tt_wall_clock_now();
    TRY(tt_wires_get_outputs(member->wires, unit));
    double get = tt_wall_clock_now() - begin;

    /* The measured exchange stands for all since the last measured one. */
    struct tt_unit_times *times = &unit->times;
    double others = (double)(unit->counts.do_steps - times->exchanges_timed);
    times->set_seconds += others * set;
    times->get_seconds += others * get;
    times->exchanges_timed = unit->counts.do_steps;
    return TUTTI_OK;
}

/* A do-step leads over nothing that its inputs do at a point. */
enum tutti_err tt_component_restore_last_step(const struct tt_rank *rank, struct tt_member *member)
{
    double t;
    TRY(member->unit->kind->back_to_last(member->unit, &t));
    member->now = member->begun;
    member->now.t = t;
    if (!member->inputs)
        return TUTTI_OK;
    member->inputs->now = member->inputs_begun;
    if (t > member->begun.t)
        tt_inputs_update(member->inputs, member->unit, t, rank->span);
    return TUTTI_OK;
}

enum tutti_err tt_component_finish(struct tt_rank *rank, const struct tt_step_rules *rules, struct tt_member *member,
                                   double target, const struct tt_fmi_step *made, struct tt_step_result *result)
{
    TRY(step_over_events(rank, rules, member, target, made, result));
    return result->end == TUTTI_END_REFUSED ? TUTTI_OK : tt_wires_get_outputs(member->wires, member->unit);
}
