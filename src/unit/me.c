/* SPDX-License-Identifier: MIT */
#include "unit/me.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/time.h"
#include "unit/me_extra.h"
#include "unit/me_linear.h"

static enum tutti_err start(struct tutti_unit *unit, const struct tutti_unit_options *options)
{
    struct me *me = (struct me *)unit;
    me->options = *options;
    me->next_event = me->event_at = INFINITY;
    unit->has_events = true;
    unit->keeps_slopes = true;
    unit->can |= TUTTI_CAN_INPUT_DERIVATIVES;
    unit->output_order = 2;
    struct tutti_instance_options instance = {
        .name = options->name,
        .log = options->log,
        .logging_on = options->logging_on,
        .event_mode = true,
    };
    return tutti_instance_new(&me->instance, unit->fmu->libraries[TUTTI_ME], &instance);
}

static void finish(struct tutti_unit *unit)
{
    struct me *me = (struct me *)unit;
    if (me->instance)
        tutti_unit_report(unit, me->instance, me->options.log);
    tutti_instance_free(me->instance);
    tutti_me_linear_fini(me);
    tutti_me_ode_fini(me);
    tutti_me_events_fini(me);
    tutti_me_inputs_fini(me);
    free(me->timeless);
}

static enum tutti_err configure(struct tutti_unit *unit, const struct tutti_setting *settings, size_t count)
{
    return tutti_unit_configure(unit, ((struct me *)unit)->instance, settings, count);
}

static enum tutti_err set_up(struct tutti_unit *unit, const struct tutti_experiment_setup *setup)
{
    struct me *me = (struct me *)unit;
    me->setup = *setup;
    me->t = me->front = setup->start;
    return tutti_instance_set_up(me->instance, setup);
}

static enum tutti_err enter_init(struct tutti_unit *unit)
{
    return tutti_instance_enter_initialization(((struct me *)unit)->instance, NULL);
}

static enum tutti_err reset(struct tutti_unit *unit)
{
    return tutti_instance_reset(((struct me *)unit)->instance);
}

static enum tutti_err exit_init(struct tutti_unit *unit)
{
    struct me *me = (struct me *)unit;
    TRY(tutti_instance_exit_initialization(me->instance));
    TRY(tutti_instance_count_states(me->instance, &me->states, &me->indicators));
    TRY(tutti_me_events_init(me));
    return tutti_me_ode_init(me);
}

static enum tutti_err set(struct tutti_unit *unit, const struct tutti_block *block)
{
    struct me *me = (struct me *)unit;
    unit->counts.sets++;
    TRY(tutti_instance_set(me->instance, block->type, block->references, block->count, block->values,
                           block->value_count));
    bool news = false;
    TRY(tutti_me_inputs_note(me, block, &news));
    if (news && tutti_instance_state(me->instance) == TUTTI_STATE_CONTINUOUS)
        me->inputs_changed = true;
    if (news && me->task == ME_GO_ON)
        me->task = ME_RESUME;
    return TUTTI_OK;
}

static enum tutti_err set_input_derivatives(struct tutti_unit *unit, const uint32_t *references, const size_t *elements,
                                            size_t count, const int32_t *orders, const double *values)
{
    struct me *me = (struct me *)unit;
    bool news = false;
    TRY(tutti_me_inputs_derivatives(me, references, elements, count, orders, values, &news));
    if (news && me->task == ME_GO_ON)
        me->task = ME_RESUME;
    return TUTTI_OK;
}

static enum tutti_err read_block(struct me *me, struct tutti_block *block)
{
    return tutti_instance_get(me->instance, block->type, block->references, block->count, block->values,
                              block->value_count);
}

/* 004 eq. 2, 3: what is read are the outputs of the averages over the step, y = g(<x>, <u>). (Eq. 3 prints the average
 * as (z0 + z1) / 2H, which is none; it is (z1 - z0) / H.) */
static enum tutti_err get_averaged(struct me *me, struct tutti_block *block)
{
    for (size_t i = 0; i < me->states; i++)
        me->scratch[i] = me->integral[i] / (me->t - me->step_start);
    TRY(tutti_me_place(me, me->t, me->scratch, NULL));
    TRY(tutti_me_inputs_apply_average(me, me->step_start, me->t));
    TRY(read_block(me, block));
    return tutti_me_place_back(me);
}

static enum tutti_err get(struct tutti_unit *unit, struct tutti_block *block)
{
    struct me *me = (struct me *)unit;
    unit->counts.gets++;
    return me->averaged && block->type == TUTTI_TYPE_FLOAT64 ? get_averaged(me, block) : read_block(me, block);
}

static enum tutti_err offer(struct tutti_unit *unit, const struct tutti_block *block, bool *refused)
{
    return tutti_instance_offer(((struct me *)unit)->instance, block->type, block->references, block->count,
                                block->values, block->value_count, refused);
}

static enum tutti_err ask(struct tutti_unit *unit, struct tutti_block *block, bool *refused)
{
    struct me *me = (struct me *)unit;
    if (me->averaged && block->type == TUTTI_TYPE_FLOAT64)
        return get(unit, block);
    return tutti_instance_ask(me->instance, block->type, block->references, block->count, block->values,
                              block->value_count, refused);
}

/* M4; most FMUs say that they need not be told. */
static enum tutti_err complete_step(struct me *me, struct tutti_step *out)
{
    me->ahead_open = false;
    if (!(me->unit.fmu->desc->interfaces[TUTTI_ME].flags & TUTTI_NEEDS_COMPLETED_STEP))
        return TUTTI_OK;
    /* Whatever may be restored lies before this point, which is the end of a step. */
    return tutti_instance_completed_step(me->instance, me->unit.back_to == INFINITY, &out->event, &out->terminate);
}

/* Integral of the states from t to `end` (004 eq. 1), by Gauss's formula with five points on the dense output: exact for
 * its polynomials, of degree 9 at most. */
static enum tutti_err add_to_average(struct me *me, double end)
{
    enum { POINTS = 5 };
    static const double points[POINTS] = {-0.90617984593866399280, -0.53846931010568309104, 0, 0.53846931010568309104,
                                          0.90617984593866399280};
    static const double weights[POINTS] = {0.23692688505618908751, 0.47862867049936646804, 0.56888888888888888889,
                                           0.47862867049936646804, 0.23692688505618908751};
    double half = (end - me->t) / 2, middle = me->t + half;
    if (!me->solver || !(half > 0))
        return TUTTI_OK;
    for (int p = 0; p < POINTS; p++) {
        double t = fmin(fmax(middle + points[p] * half, me->solver->before), me->solver->t);
        TRY(tutti_me_states_at(me, t, me->scratch));
        for (size_t i = 0; i < me->states; i++)
            me->integral[i] += weights[p] * half * me->scratch[i];
    }
    return TUTTI_OK;
}

/* The unit, and the FMU with it, goes to `stop` in the solver's last step; the time there is called `t`, which may be
 * another double for the same point. */
static enum tutti_err move_to(struct me *me, double stop, double t)
{
    if (me->options.integration.average)
        TRY(add_to_average(me, stop));
    TRY(tutti_me_states_at(me, stop, me->x));
    me->t = t;
    return tutti_me_place_back(me);
}

/* What happened since the last step is the solver's business first: an event, or new inputs. */
static enum tutti_err prepare_solver(struct me *me, struct tutti_step *out)
{
    if (me->ahead_open && me->front > me->t)
        TRY(complete_step(me, out));
    me->ahead_open = false;
    if (me->solver && me->task == ME_RESTART)
        TRY(tutti_me_ode_explain(me, tutti_solver_restart(me->solver, me->t, me->x)));
    else if (me->solver)
        TRY(tutti_me_ode_explain(me, tutti_solver_resume(me->solver, fmin(me->t, me->solver->t), me->x)));
    if (me->solver)
        memcpy(me->ahead, me->x, me->ode.count * sizeof *me->x);
    me->front = me->t;
    me->event_at = INFINITY;
    me->task = ME_GO_ON;
    bool jumped = false;
    if (me->inputs_changed) {
        TRY(tutti_me_place_back(me));
        TRY(tutti_me_events_check_here(me, &jumped));
    }
    me->inputs_changed = false;
    out->event = out->event || jumped;
    me->state_event = me->state_event || jumped;
    return jumped ? tutti_me_events_note(me, me->t) : TUTTI_OK;
}

/* One step of the solver, at most to where the inputs are known or an event was announced. Without states there is nothing
 * to solve, and nothing that says how far one may look: step by step, then, but none longer than a solver's. */
static enum tutti_err take_step(struct me *me, double end)
{
    double limit = me->solver ? fmax(me->unit.horizon, end) : end, h_max = me->options.integration.h_max;
    if (!me->solver && h_max > 0 && !tutti_solver_at_limit(me->front, h_max, end))
        limit = me->front + h_max;
    if (me->next_event > me->front)
        limit = fmin(limit, me->next_event);
    if (me->options.interrupt && *me->options.interrupt) /* a step of the run may be many of the solver */
        return tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s, on the way to %s; everything recorded is kept",
                          NUMBER(me->t), NUMBER(end));
    double left = me->front;
    me->front = limit;
    if (me->solver) {
        me->missed = false;
        TRY(tutti_me_ode_explain(me, me->solver->kind->step(me->solver, limit, me->ahead)));
        left = me->solver->before;
        me->front = me->solver->t;
    }
    me->ahead_open = true;
    return tutti_me_events_search(me, left, me->front);
}

static enum tutti_err run_to(struct me *me, double end, struct tutti_step *out)
{
    double span = me->setup.stop - me->setup.start;
    if (me->task != ME_GO_ON || me->inputs_changed)
        TRY(prepare_solver(me, out));
    while (!out->event && !out->terminate) {
        double stop = fmin(me->front, me->event_at);
        if (stop > me->t || me->event_at <= me->t) {
            bool at_end = tutti_time_same(stop, end, span);
            if (stop > end && !at_end) {
                out->reached = end;
                return move_to(me, end, end);
            }
            TRY(move_to(me, stop, at_end ? end : stop));
            TRY(complete_step(me, out));
            me->own_event = out->event = out->event || me->t >= me->next_event;
            if (me->event_at <= stop) {
                me->state_event = out->event = true;
                TRY(tutti_me_events_note(me, stop));
            }
            if (at_end) {
                if (stop == me->front) /* the solver's last step is left behind, whatever its end is called */
                    me->front = me->t;
                return TUTTI_OK;
            }
        } else {
            TRY(take_step(me, end));
        }
    }
    out->reached = me->t;
    return TUTTI_OK;
}

static void publish_counts(struct me *me)
{
    struct tutti_solver_counts *counts = &me->unit.counts.solver;
    *counts = me->solver ? me->solver->counts : (struct tutti_solver_counts){0};
    counts->rhs += me->other_counts.rhs;
    counts->directional += me->other_counts.directional;
}

static enum tutti_err step(struct tutti_unit *unit, double t, double h, struct tutti_step *out)
{
    struct me *me = (struct me *)unit;
    bool timed = ++unit->counts.do_steps >= unit->counts.time_next;
    double before = timed ? tutti_clock_now() : 0, end = t + h;
    if (t != me->t && !tutti_time_same(t, me->t, me->setup.stop - me->setup.start))
        return tutti_fail(TUTTI_ERR_STATE, "%s: a step from t = %s, but the unit is at %s", unit->name, NUMBER(t),
                          NUMBER(me->t));
    if (!(h > 0 && h < INFINITY))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: a step of %s from t = %s", unit->name, NUMBER(h), NUMBER(t));
    *out = (struct tutti_step){.reached = end};
    me->own_event = me->state_event = false;
    me->averaged = me->options.integration.average;
    me->step_start = me->t;
    if (me->averaged)
        memset(me->integral, 0, me->states * sizeof *me->integral);
    enum tutti_err err = run_to(me, end, out);
    me->averaged = me->averaged && me->t > me->step_start;
    publish_counts(me);
    if (timed)
        tutti_unit_timed(unit, me->options.timing, tutti_clock_now() - before);
    return err;
}

/* FMUs of some tools ask for event mode after every step of the solver, and nothing changes there. To begin anew each time
 * would make a multistep method one of order 1, slow and inexact; so the solver goes on where it can: at the end of its
 * last step (behind an event inside of a step, the rest of it belongs to the time before), with states and derivatives as
 * they were. What is another later only, as the slope of an input, is left to the error test. */
static enum tutti_err slopes_before_event(struct me *me)
{
    me->has_slopes_before = false;
    bool undisturbed = me->own_event && me->solver && me->solver->started && me->solver->before < me->solver->t &&
                       tutti_time_same(me->t, me->solver->t, me->setup.stop - me->setup.start) &&
                       me->task == ME_GO_ON && !me->inputs_changed;
    if (!undisturbed)
        return TUTTI_OK;
    enum tutti_eval eval = me->ode.rhs(me, me->t, me->x, me->slopes_before);
    me->other_counts.rhs++;
    me->has_slopes_before = eval == TUTTI_EVAL_OK;
    return eval == TUTTI_EVAL_FAILED ? me->ode.err : TUTTI_OK;
}

/* Is what the event did to the derivatives lost in the tolerance of the solver's steps? */
static enum tutti_err slopes_are_as_before(struct me *me, bool *same)
{
    const double share = 0.01, h = me->solver->t - me->solver->before;
    enum tutti_eval eval = me->ode.rhs(me, me->t, me->x, me->dx);
    me->other_counts.rhs++;
    *same = eval == TUTTI_EVAL_OK;
    for (size_t i = 0; i < me->ode.count && *same; i++) {
        double difference = fabs(me->dx[i] - me->slopes_before[i]);
        *same = difference == 0 || h * difference <= share * tutti_ode_tolerance(&me->ode, i, me->x[i]);
    }
    return eval == TUTTI_EVAL_FAILED ? me->ode.err : TUTTI_OK;
}

/* What the solver has to do after an event. `changed`: states or nominal values are others; `claimed`: the FMU says so.
 * After an event of the FMU's own its equations may be others altogether: a diode that blocks takes a fast state away. A
 * multistep method that corrects its past for new derivatives, by the old Jacobian, errs by more there than its error test
 * sees. New inputs alone leave the equations what they were. */
static enum tutti_err plan_after_event(struct me *me, bool changed, bool claimed)
{
    bool same = false, chosen = me->options.integration.predictor != TUTTI_PREDICTOR_AUTO;
    bool multistep = me->solver && me->solver->kind->multistep;
    if (!changed && me->task == ME_GO_ON && me->has_slopes_before)
        TRY(slopes_are_as_before(me, &same));
    if (changed || (claimed && !same) || (me->switches && multistep && !chosen && !same))
        me->task = ME_RESTART;
    else if (me->task == ME_GO_ON && !same)
        me->task = ME_RESUME;
    return TUTTI_OK;
}

static enum tutti_err enter_event(struct tutti_unit *unit)
{
    struct me *me = (struct me *)unit;
    struct tutti_step left = {0};
    if (me->ahead_open) /* M4 */
        TRY(complete_step(me, &left));
    TRY(slopes_before_event(me));
    me->switches = me->own_event || me->state_event;
    me->own_event = me->state_event = false;
    me->events++;
    me->event_time = me->t;
    me->averaged = false;
    return tutti_instance_enter_event(me->instance);
}

/* After an event: states as the FMU has them now, be they new or not. */
static enum tutti_err take_states(struct me *me, bool *changed)
{
    if (me->states == 0)
        return TUTTI_OK;
    TRY(tutti_instance_get_states(me->instance, me->scratch, me->states));
    for (size_t i = 0; i < me->states; i++) {
        if (!isfinite(me->scratch[i]))
            return tutti_fail(TUTTI_ERR_FMU, "%s (%s): state '%s' is not a finite number after the event at t = %s",
                              me->unit.name, me->unit.fmu->path, tutti_me_state_name(me, i), TIME(me->t));
        *changed = *changed || me->scratch[i] != me->x[i];
        me->x[i] = me->scratch[i];
    }
    return TUTTI_OK;
}

static enum tutti_err settle(struct tutti_unit *unit, struct tutti_unit_event *event)
{
    struct me *me = (struct me *)unit;
    struct tutti_discrete discrete;
    TRY(tutti_unit_update_discrete(unit, me->instance, &discrete));
    event->terminate = discrete.terminate;
    me->next_event = event->next_event = discrete.has_next_event ? discrete.next_event : INFINITY;
    if (discrete.terminate)
        return TUTTI_OK;
    bool first = me->solver && !me->solver->started, changed = false;
    TRY(take_states(me, &changed));
    if (first || discrete.nominals_changed || unit->fmu->desc->fmi == 1) /* which has no way to say so */
        TRY(tutti_me_ode_read_nominals(me, &changed));
    TRY(tutti_instance_enter_continuous(me->instance));
    if (me->events == 0)
        TRY(tutti_me_inputs_read(me));
    if (first)
        TRY(tutti_me_extra_start(me));
    TRY(plan_after_event(me, first || changed, discrete.states_changed));
    TRY(tutti_me_place_back(me));
    TRY(tutti_me_events_reset(me));
    me->inputs_changed = false;
    me->averaged = false;
    return TUTTI_OK;
}

static enum tutti_err terminate(struct tutti_unit *unit)
{
    return tutti_instance_terminate(((struct me *)unit)->instance);
}

const struct tutti_unit_kind tutti_unit_me = {
    .name = "me",
    .interface = TUTTI_ME,
    .size = sizeof(struct me),
    .start = start,
    .finish = finish,
    .set_up = set_up,
    .configure = configure,
    .enter_init = enter_init,
    .reset = reset,
    .exit_init = exit_init,
    .set = set,
    .get = get,
    .offer = offer,
    .ask = ask,
    .set_input_derivatives = set_input_derivatives,
    .get_output_derivatives = tutti_me_get_output_derivatives,
    .get_directional = tutti_me_get_directional,
    .linearize = tutti_me_linearize,
    .step = step,
    .enter_event = enter_event,
    .settle = settle,
    .save = tutti_me_save,
    .restore = tutti_me_restore,
    .discard = tutti_me_discard,
    .terminate = terminate,
};
