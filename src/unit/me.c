/* SPDX-License-Identifier: MIT */
/* Model Exchange as a unit: the FMU gives derivatives (me_model), one of our solvers makes steps of them (me_solution), as far as
 * `horizon` lets it, and state events end steps (me_events). Beside E1 and E2 of me_solution.h:
 *  E3  The FMU stands at (t, x, inputs at t) whenever a function of the vtable returns; whatever moves it (right-hand
 *      sides, indicators, averages) is followed by tutti_me_solution_place_back before that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/time.h"
#include "unit/me_derivatives.h"
#include "unit/me_events.h"
#include "unit/me_extra.h"
#include "unit/me_linear.h"
#include "unit/me_solution.h"
#include "unit/sensitivity.h"

/* Averages over the present step (Lacoursiere 2017 eq. 1): integral of the states since step_start. */
struct average {
    bool is_on; /* there is a step to average over */
    double step_start;
    double *integral;
};

/* What a step leaves for what follows it. Plain data. */
struct between {
    bool inputs_changed; /* since: indicators may have left their domains */
    bool own_event;      /* the FMU asked for the one at t: completedIntegratorStep, or a time that it announced ... */
    bool state_event;    /* ... or an indicator left its domain there: not only inputs are new */
};

struct me {
    struct tutti_unit unit;
    struct tutti_unit_options options;
    struct tutti_instance *instance;
    struct me_model model;
    struct me_linear linear;
    struct me_extra extra;
    struct me_solution solution;
    struct me_events events;
    struct me_derivatives derivatives;
    struct average average;
    struct between between;
    bool on_trial;                 /* the solver that leads the unit has placed it where it may not stay */
    bool switches;                 /* the present event is one of its own, or a state event */
    double *slopes_before;         /* of all states, when the present event was entered ... */
    bool has_slopes_before;        /* ... if the solver could go on after it as if nothing had been */
    struct tutti_unit_saved *last; /* where the solver's last step began; NULL: never noted */
};

static void discard(struct tutti_unit *unit, struct tutti_unit_saved *saved);
static enum tutti_err note_last(struct me *me);

static struct tutti_sensitivity *twins(struct me *me)
{
    return me->options.integration.sensitivity;
}

static enum tutti_err start(struct tutti_unit *unit, const struct tutti_unit_options *options)
{
    struct me *me = (struct me *)unit;
    me->options = *options;
    me->model = (struct me_model){.unit = unit, .options = &me->options, .calendar.next_event = INFINITY};
    me->linear.model = &me->model;
    me->solution.model = &me->model;
    me->solution.ode = &me->model.ode;
    me->derivatives.solution = &me->solution;
    me->events.at = INFINITY;
    unit->has_events = true;
    unit->keeps_slopes = true;
    unit->can |= TUTTI_CAN_INPUT_DERIVATIVES;
    unit->output_order = 2;
    struct tutti_instance_options instance = {
        .name = options->name,
        .log = options->log,
        .logging_on = options->logging_on,
        .event_mode = true,
        .forked = options->forked,
    };
    TRY(tutti_instance_new(&me->instance, unit->fmu->libraries[TUTTI_ME], &instance));
    unit->instance = me->model.instance = me->model.inputs.instance = me->instance;
    me->model.inputs.unit = unit;
    return tutti_sensitivity_start(twins(me), &me->model, &me->events, &instance);
}

static void finish(struct tutti_unit *unit)
{
    struct me *me = (struct me *)unit;
    if (me->instance)
        tutti_unit_report(unit, me->instance, me->options.log);
    discard(unit, me->last);
    tutti_instance_free(me->instance);
    tutti_sensitivity_finish(twins(me));
    tutti_me_derivatives_fini(&me->derivatives);
    tutti_me_events_fini(&me->events);
    tutti_me_solution_fini(&me->solution);
    tutti_me_extra_fini(&me->extra);
    tutti_me_linear_fini(&me->linear);
    tutti_me_model_fini(&me->model);
    free(me->average.integral);
    free(me->slopes_before);
}

static enum tutti_err configure(struct tutti_unit *unit, const struct tutti_setting *settings, size_t count)
{
    struct me *me = (struct me *)unit;
    TRY(tutti_unit_configure(unit, me->instance, settings, count));
    return tutti_sensitivity_configure(twins(me), settings, count);
}

static enum tutti_err set_up(struct tutti_unit *unit, const struct tutti_experiment_setup *setup)
{
    struct me *me = (struct me *)unit;
    me->model.setup = *setup;
    me->solution.t = me->solution.front = setup->start;
    TRY(tutti_instance_set_up(me->instance, setup));
    return tutti_sensitivity_set_up(twins(me), setup);
}

static enum tutti_err enter_init(struct tutti_unit *unit)
{
    struct me *me = (struct me *)unit;
    TRY(tutti_instance_enter_initialization(me->instance, NULL));
    return tutti_sensitivity_enter_init(twins(me));
}

static enum tutti_err reset(struct tutti_unit *unit)
{
    struct me *me = (struct me *)unit;
    TRY(tutti_instance_reset(me->instance));
    return tutti_sensitivity_reset(twins(me));
}

/* The FMU is in event mode for the first time. */
static enum tutti_err prepare(struct me *me)
{
    const struct tutti_extra *extra = me->options.integration.extra;
    size_t indicators = 0, extra_states = extra ? extra->count : 0;
    TRY(tutti_instance_count_states(me->instance, &me->model.states, &indicators));
    me->model.indicators = indicators;
    TRY(tutti_me_events_init(&me->events, &me->solution, indicators));
    TRY(tutti_me_model_init(&me->model, extra_states));
    size_t count = me->model.states + extra_states;
    me->average.integral = calloc(count + 1, sizeof *me->average.integral);
    me->slopes_before = calloc(count + 1, sizeof *me->slopes_before);
    if (!me->average.integral || !me->slopes_before)
        return tutti_fail_memory();
    if (extra)
        TRY(tutti_me_extra_init(&me->extra, extra, &me->linear));
    return tutti_me_solution_init(&me->solution, &me->model, extra_states > 0 ? &me->extra.ode : &me->model.ode);
}

static enum tutti_err exit_init(struct tutti_unit *unit)
{
    struct me *me = (struct me *)unit;
    TRY(tutti_instance_exit_initialization(me->instance));
    TRY(prepare(me));
    return tutti_sensitivity_exit_init(twins(me));
}

/* An event follows, as it does after an initialisation: only there FMUs tell when their next one is. */
static enum tutti_err adopt(struct tutti_unit *unit, const unsigned char *bytes, size_t size)
{
    struct me *me = (struct me *)unit;
    bool discarded = false;
    TRY(tutti_unit_adopt(unit, me->instance, me->options.log, bytes, size));
    TRY(tutti_instance_set_time(me->instance, me->solution.t, &discarded));
    if (discarded)
        return tutti_fail(TUTTI_ERR_FMU, "%s (%s): the FMU does not take the time t = %s in its initial state",
                          unit->name, unit->fmu->path, TIME(me->solution.t));
    TRY(tutti_instance_enter_event(me->instance));
    return prepare(me);
}

static enum tutti_err export_state(struct tutti_unit *unit, unsigned char **bytes, size_t *size)
{
    return tutti_instance_export(((struct me *)unit)->instance, bytes, size);
}

static enum tutti_err set(struct tutti_unit *unit, const struct tutti_block *block)
{
    struct me *me = (struct me *)unit;
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    unit->counts.sets++;
    tutti_me_model_disturb(model);
    TRY(tutti_instance_set(me->instance, block->type, block->references, block->count, block->values,
                           block->value_count));
    TRY(tutti_sensitivity_set(twins(me), block));
    bool news = false;
    TRY(tutti_me_inputs_note(&model->inputs, solution->t, block, &news));
    if (news && tutti_instance_state(me->instance) == TUTTI_STATE_CONTINUOUS)
        me->between.inputs_changed = true;
    if (news && solution->task == TUTTI_SOLVER_GO_ON)
        solution->task = TUTTI_SOLVER_RESUME;
    return TUTTI_OK;
}

static enum tutti_err set_input_derivatives(struct tutti_unit *unit, const uint32_t *references, const size_t *elements,
                                            size_t count, const int32_t *orders, const double *values)
{
    struct me *me = (struct me *)unit;
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    bool news = false;
    TRY(tutti_me_inputs_derivatives(&model->inputs, solution->t, references, elements, count, orders, values, &news));
    if (news && solution->task == TUTTI_SOLVER_GO_ON)
        solution->task = TUTTI_SOLVER_RESUME;
    return TUTTI_OK;
}

static enum tutti_err set_input_curves(struct tutti_unit *unit, const struct tutti_input_curves *curves)
{
    return tutti_me_inputs_follow(&((struct me *)unit)->model.inputs, curves);
}

/* Lacoursiere 2017 eq. 2, 3: what is read are the outputs of the averages over the step, y = g(<x>, <u>). (Eq. 3 prints the
 * average as (z0 + z1) / 2H, which is none; it is (z1 - z0) / H.) */
static enum tutti_err get_averaged(struct me *me, struct tutti_block *block)
{
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    for (size_t i = 0; i < model->states; i++)
        solution->scratch[i] = me->average.integral[i] / (solution->t - me->average.step_start);
    TRY(tutti_me_model_place(model, solution->t, solution->scratch, NULL));
    TRY(tutti_me_inputs_apply_average(&model->inputs, me->average.step_start, solution->t));
    TRY(tutti_me_model_get(model, block, true));
    return tutti_me_solution_place_back(solution);
}

static enum tutti_err get(struct tutti_unit *unit, struct tutti_block *block)
{
    struct me *me = (struct me *)unit;
    unit->counts.gets++;
    return me->average.is_on && block->type == TUTTI_TYPE_FLOAT64 ? get_averaged(me, block)
                                                                  : tutti_me_model_get(&me->model, block, me->on_trial);
}

static enum tutti_err offer(struct tutti_unit *unit, const struct tutti_block *block, bool *refused)
{
    struct me *me = (struct me *)unit;
    tutti_me_model_disturb(&me->model);
    TRY(tutti_instance_offer(me->instance, block->type, block->references, block->count, block->values,
                             block->value_count, refused));
    return tutti_sensitivity_offer(twins(me), block, refused);
}

static enum tutti_err ask(struct tutti_unit *unit, struct tutti_block *block, bool *refused)
{
    struct me *me = (struct me *)unit;
    if (me->average.is_on && block->type == TUTTI_TYPE_FLOAT64)
        return get(unit, block);
    TRY(tutti_me_model_compute(&me->model));
    return tutti_instance_ask(me->instance, block->type, block->references, block->count, block->values,
                              block->value_count, refused);
}

/* E2; most FMUs say that they need not be told. */
static enum tutti_err complete_step(struct me *me, struct tutti_step *out)
{
    struct me_solution *solution = &me->solution;
    solution->open = false;
    if (!(me->unit.fmu->desc->interfaces[TUTTI_ME].flags & TUTTI_NEEDS_COMPLETED_STEP))
        return TUTTI_OK;
    TRY(tutti_sensitivity_complete(twins(me), solution->t, solution->x));
    tutti_me_model_disturb(&me->model);
    /* Whatever may be restored lies before this point, which is the end of a step. */
    return tutti_instance_completed_step(me->instance, me->unit.back_to == INFINITY, &out->event, &out->terminate);
}

/* Integral of the states from t to `end` (Lacoursiere 2017 eq. 1), by Gauss's formula with five points on the dense output:
 * exact for its polynomials, of degree 9 at most. */
static enum tutti_err add_to_average(struct me *me, double end)
{
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    enum { POINTS = 5 };
    static const double points[POINTS] = {-0.90617984593866399280, -0.53846931010568309104, 0, 0.53846931010568309104,
                                          0.90617984593866399280};
    static const double weights[POINTS] = {0.23692688505618908751, 0.47862867049936646804, 0.56888888888888888889,
                                           0.47862867049936646804, 0.23692688505618908751};
    double half = (end - solution->t) / 2, middle = solution->t + half;
    if (!solution->solver || !(half > 0))
        return TUTTI_OK;
    for (int p = 0; p < POINTS; p++) {
        double t = fmin(fmax(middle + points[p] * half, tutti_solver_last_begin(solution->solver)),
                        tutti_solver_time(solution->solver));
        TRY(tutti_me_solution_at(solution, t, solution->scratch));
        for (size_t i = 0; i < model->states; i++)
            me->average.integral[i] += weights[p] * half * solution->scratch[i];
    }
    return TUTTI_OK;
}

/* The unit, and the FMU with it, goes to `stop` in the solver's last step; the time there is called `t`, which may be
 * another double for the same point. */
static enum tutti_err move_to(struct me *me, double stop, double t)
{
    struct me_solution *solution = &me->solution;
    if (me->options.integration.average)
        TRY(add_to_average(me, stop));
    TRY(tutti_me_solution_at(solution, stop, solution->x));
    solution->t = t;
    return tutti_me_solution_place_back(solution);
}

/* What happened since the last step is the solver's business first: an event, or new inputs. */
static enum tutti_err prepare_solver(struct me *me, struct tutti_step *out)
{
    struct me_solution *solution = &me->solution;
    if (solution->open && solution->front > solution->t)
        TRY(complete_step(me, out));
    solution->open = false;
    TRY(tutti_me_solution_begin(solution));
    me->events.at = INFINITY;
    bool jumped = false;
    if (me->between.inputs_changed) {
        TRY(tutti_me_solution_place_back(solution));
        TRY(tutti_me_events_check_here(&me->events, &jumped));
    }
    me->between.inputs_changed = false;
    out->event = out->event || jumped;
    me->between.state_event = me->between.state_event || jumped;
    return jumped ? tutti_me_events_note(&me->events, solution->t) : TUTTI_OK;
}

/* One step of the solver, at most to where the inputs are known or an event was announced. Without states there is nothing
 * to solve, and nothing that says how far one may look: step by step, then, but none longer than a solver's. */
static enum tutti_err take_step(struct me *me, double end)
{
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    double limit = solution->solver ? fmax(me->unit.horizon, end) : end, h_max = me->options.integration.h_max;
    if (!solution->solver && h_max > 0 && !tutti_solver_at_limit(solution->front, h_max, end))
        limit = solution->front + h_max;
    if (model->calendar.next_event > solution->front)
        limit = fmin(limit, model->calendar.next_event);
    if (me->options.interrupt && *me->options.interrupt) /* a step of the run may be many of the solver */
        return tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s, on the way to %s; everything recorded is kept",
                          NUMBER(solution->t), NUMBER(end));
    if (me->unit.notes_last)
        TRY(note_last(me));
    double left = solution->front;
    solution->front = limit;
    if (solution->solver) {
        model->missed = false;
        TRY(tutti_me_model_explain(model, tutti_solver_step(solution->solver, limit, solution->ahead)));
        left = tutti_solver_last_begin(solution->solver);
        solution->front = tutti_solver_time(solution->solver);
    }
    solution->open = true;
    return tutti_me_events_search(&me->events, left, solution->front);
}

static enum tutti_err run_to(struct me *me, double end, struct tutti_step *out)
{
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    double span = model->setup.stop - model->setup.start;
    if (solution->task != TUTTI_SOLVER_GO_ON || me->between.inputs_changed)
        TRY(prepare_solver(me, out));
    while (!out->event && !out->terminate) {
        double stop = fmin(solution->front, me->events.at);
        if (stop > solution->t || me->events.at <= solution->t) {
            bool at_end = tutti_time_same(stop, end, span);
            if (stop > end && !at_end) {
                out->reached = end;
                return move_to(me, end, end);
            }
            TRY(move_to(me, stop, at_end ? end : stop));
            TRY(complete_step(me, out));
            me->between.own_event = out->event = out->event || solution->t >= model->calendar.next_event;
            if (me->events.at <= stop) {
                me->between.state_event = out->event = true;
                TRY(tutti_me_events_note(&me->events, stop));
            }
            if (at_end) {
                if (stop == solution->front) /* the solver's last step is passed, whatever its end is called */
                    solution->front = solution->t;
                return TUTTI_OK;
            }
        } else {
            TRY(take_step(me, end));
        }
    }
    out->reached = solution->t;
    return TUTTI_OK;
}

static void publish_counts(struct me *me)
{
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    struct tutti_solver_counts *counts = &me->unit.counts.solver;
    *counts = solution->solver ? solution->solver->counts : (struct tutti_solver_counts){0};
    counts->rhs += model->counts.rhs;
    counts->directional += model->counts.directional;
}

static enum tutti_err step(struct tutti_unit *unit, double t, double h, struct tutti_step *out)
{
    struct me *me = (struct me *)unit;
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    bool timed = ++unit->counts.do_steps >= unit->counts.time_next;
    double before = timed ? tutti_clock_now() : 0, end = t + h;
    if (t != solution->t && !tutti_time_same(t, solution->t, model->setup.stop - model->setup.start))
        return tutti_fail(TUTTI_ERR_STATE, "%s: a step from t = %s, but the unit is at %s", unit->name, NUMBER(t),
                          NUMBER(solution->t));
    if (!(h > 0 && h < INFINITY))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: a step of %s from t = %s", unit->name, NUMBER(h), NUMBER(t));
    *out = (struct tutti_step){.reached = end};
    me->between.own_event = me->between.state_event = false;
    me->average.is_on = me->options.integration.average;
    me->average.step_start = solution->t;
    if (me->average.is_on)
        memset(me->average.integral, 0, model->states * sizeof *me->average.integral);
    if (solution->solver)
        tutti_solver_begin_interval(solution->solver, solution->t);
    enum tutti_err err = run_to(me, end, out);
    me->average.is_on = me->average.is_on && solution->t > me->average.step_start;
    publish_counts(me);
    if (timed)
        tutti_unit_timed(unit, me->options.timing, tutti_clock_now() - before);
    return err;
}

/* FMUs of some tools ask for event mode after every step of the solver, and nothing changes there. To begin anew each time
 * would make a multistep method one of order 1, slow and inexact; so the solver goes on where it can: at the end of its
 * last step (after an event inside of a step, the rest of it belongs to the time before), with states and derivatives as
 * they were. What is another later only, as the slope of an input, is left to the error test. */
static enum tutti_err slopes_before_event(struct me *me)
{
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    me->has_slopes_before = false;
    bool undisturbed =
        me->between.own_event && solution->solver && solution->solver->started &&
        solution->solver->before < solution->solver->t &&
        tutti_time_same(solution->t, tutti_solver_time(solution->solver), model->setup.stop - model->setup.start) &&
        solution->task == TUTTI_SOLVER_GO_ON && !me->between.inputs_changed;
    if (!undisturbed)
        return TUTTI_OK;
    enum tutti_eval eval = solution->ode->rhs(solution->ode->context, solution->t, solution->x, me->slopes_before);
    model->counts.rhs++;
    me->has_slopes_before = eval == TUTTI_EVAL_OK;
    return eval == TUTTI_EVAL_FAILED ? solution->ode->err : TUTTI_OK;
}

/* Is what the event did to the derivatives lost in the tolerance of the solver's steps? */
static enum tutti_err slopes_are_as_before(struct me *me, bool *same)
{
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    const double share = 0.01, h = solution->solver->t - solution->solver->before;
    enum tutti_eval eval = solution->ode->rhs(solution->ode->context, solution->t, solution->x, solution->dx);
    model->counts.rhs++;
    *same = eval == TUTTI_EVAL_OK;
    for (size_t i = 0; i < solution->ode->count && *same; i++) {
        double difference = fabs(solution->dx[i] - me->slopes_before[i]);
        *same = difference == 0 || h * difference <= share * tutti_ode_tolerance(solution->ode, i, solution->x[i]);
    }
    return eval == TUTTI_EVAL_FAILED ? solution->ode->err : TUTTI_OK;
}

/* What the solver has to do after an event. `changed`: states or nominal values are others; `claimed`: the FMU says so.
 * After an event of the FMU's own its equations may be others altogether: a diode that blocks takes a fast state away. A
 * multistep method that corrects its past for new derivatives, by the old Jacobian, errs by more there than its error test
 * sees. New inputs alone leave the equations what they were. */
static enum tutti_err plan_after_event(struct me *me, bool changed, bool claimed)
{
    struct me_solution *solution = &me->solution;
    bool same = false, chosen = me->options.integration.predictor != TUTTI_PREDICTOR_AUTO;
    bool multistep = solution->solver && solution->solver->kind->multistep;
    if (!changed && solution->solver && solution->task == TUTTI_SOLVER_GO_ON && me->has_slopes_before)
        TRY(slopes_are_as_before(me, &same));
    if (changed || (claimed && !same) || (me->switches && multistep && !chosen && !same))
        solution->task = TUTTI_SOLVER_RESTART;
    else if (solution->task == TUTTI_SOLVER_GO_ON && !same)
        solution->task = TUTTI_SOLVER_RESUME;
    return TUTTI_OK;
}

static enum tutti_err enter_event(struct tutti_unit *unit)
{
    struct me *me = (struct me *)unit;
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    struct tutti_step left = {0};
    if (solution->open) /* E2 */
        TRY(complete_step(me, &left));
    TRY(slopes_before_event(me));
    if (twins(me)) {
        TRY(tutti_me_solution_place_back(solution));
        TRY(tutti_sensitivity_enter_event(twins(me), solution->t, solution->x,
                                          me->between.state_event ? me->events.indicator : SIZE_MAX));
        TRY(tutti_me_solution_place_back(solution));
    }
    me->switches = me->between.own_event || me->between.state_event;
    me->between.own_event = me->between.state_event = false;
    model->calendar.events++;
    model->calendar.event_time = solution->t;
    me->average.is_on = false;
    return tutti_instance_enter_event(me->instance);
}

/* After an event: states as the FMU has them now, be they new or not. */
static enum tutti_err take_states(struct me *me, bool *changed)
{
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    if (model->states == 0)
        return TUTTI_OK;
    TRY(tutti_instance_get_states(me->instance, solution->scratch, model->states));
    for (size_t i = 0; i < model->states; i++) {
        if (!isfinite(solution->scratch[i]))
            return tutti_fail(TUTTI_ERR_FMU, "%s (%s): state '%s' is not a finite number after the event at t = %s",
                              me->unit.name, me->unit.fmu->path, tutti_me_model_state_name(model, i),
                              TIME(solution->t));
        *changed = *changed || solution->scratch[i] != solution->x[i];
        solution->x[i] = solution->scratch[i];
    }
    return TUTTI_OK;
}

static enum tutti_err settle(struct tutti_unit *unit, struct tutti_unit_event *event)
{
    struct me *me = (struct me *)unit;
    struct me_model *model = &me->model;
    struct me_solution *solution = &me->solution;
    struct tutti_discrete discrete;
    TRY(tutti_unit_update_discrete(unit, me->instance, &discrete));
    event->terminate = discrete.terminate;
    model->calendar.next_event = event->next_event = discrete.has_next_event ? discrete.next_event : INFINITY;
    if (discrete.terminate)
        return TUTTI_OK;
    bool first = solution->solver && !solution->solver->started && !solution->led, changed = false;
    TRY(take_states(me, &changed));
    if (first || discrete.nominals_changed || unit->fmu->desc->fmi == 1) /* which has no way to say so */
        TRY(tutti_me_model_read_nominals(model, &changed));
    TRY(tutti_instance_enter_continuous(me->instance));
    if (model->calendar.events == 0)
        TRY(tutti_me_inputs_read(&model->inputs, solution->t));
    TRY(tutti_sensitivity_leave_event(twins(me), solution->t, solution->x, first, &changed));
    if (first)
        TRY(tutti_me_extra_start(&me->extra, solution->t, solution->x));
    TRY(plan_after_event(me, first || changed, discrete.states_changed));
    TRY(tutti_me_solution_place_back(solution));
    TRY(tutti_me_events_reset(&me->events));
    me->between.inputs_changed = false;
    me->average.is_on = false;
    return TUTTI_OK;
}

/* ---- going back ---- */

/* Going back to a point between steps. An FMU that can save its state does; of any other, time, states and inputs are set
 * again, which is all there is as long as no event lies between (FMI: discrete states change at events only). */
struct tutti_unit_saved {
    struct tutti_saved fmu;
    bool has_fmu; /* there is a state of it */
    struct me_model_saved model;
    struct me_solution_saved solution;
    struct me_events_saved events;
    struct between between;
    struct average average; /* with an integral of its own */
};

static void release(struct tutti_unit_saved *saved)
{
    tutti_me_model_saved_fini(&saved->model);
    tutti_me_solution_saved_fini(&saved->solution);
    tutti_me_events_saved_fini(&saved->events);
    free(saved->average.integral);
    free(saved);
}

static enum tutti_err allocate(const struct me *me, struct tutti_unit_saved *saved)
{
    TRY(tutti_me_model_saved_init(&saved->model, &me->model));
    TRY(tutti_me_solution_saved_init(&saved->solution, &me->solution));
    TRY(tutti_me_events_saved_init(&saved->events, &me->events));
    saved->average.integral = calloc(me->solution.ode->count + 1, sizeof *saved->average.integral);
    return saved->average.integral ? TUTTI_OK : tutti_fail_memory();
}

/* NULL: memory is out. */
static struct tutti_unit_saved *make(const struct me *me)
{
    struct tutti_unit_saved *saved = calloc(1, sizeof *saved);
    if (saved && allocate(me, saved)) {
        release(saved);
        return NULL;
    }
    return saved;
}

/* Plain data but for the integral, which is copied into the other one's room. */
static void copy_average(struct average *to, const struct average *from, size_t count)
{
    double *integral = to->integral;
    memcpy(integral, from->integral, count * sizeof *integral);
    *to = *from;
    to->integral = integral;
}

static enum tutti_err fill(struct me *me, bool with_fmu, struct tutti_unit_saved *saved)
{
    saved->has_fmu = with_fmu;
    if (saved->has_fmu)
        TRY(tutti_instance_save(me->instance, &saved->fmu));
    tutti_me_model_save(&me->model, &saved->model);
    tutti_me_solution_save(&me->solution, &saved->solution);
    tutti_me_events_save(&me->events, &saved->events);
    saved->between = me->between;
    copy_average(&saved->average, &me->average, me->solution.ode->count);
    return TUTTI_OK;
}

static enum tutti_err save(struct tutti_unit *unit, struct tutti_unit_saved **out)
{
    if (!*out)
        *out = make((struct me *)unit);
    return *out ? fill((struct me *)unit, unit->can & TUTTI_CAN_STATE, *out) : tutti_fail_memory();
}

/* Before each step of the solver; so a state of the FMU is saved only if it may have become another one by its end: by an event, or
 * because the FMU is told of it. */
static enum tutti_err note_last(struct me *me)
{
    bool told = me->unit.fmu->desc->interfaces[TUTTI_ME].flags & TUTTI_NEEDS_COMPLETED_STEP;
    if (!me->last)
        me->last = make(me);
    return me->last ? fill(me, (me->unit.can & TUTTI_CAN_STATE) && (told || me->events.count > 0), me->last)
                    : tutti_fail_memory();
}

static enum tutti_err bring_back(struct me *me, const struct tutti_unit_saved *saved)
{
    const struct tutti_unit *unit = &me->unit;
    if (saved->has_fmu)
        TRY(tutti_instance_restore(me->instance, &saved->fmu));
    else if (saved->model.calendar.events != me->model.calendar.events)
        return tutti_fail(
            TUTTI_ERR_UNSUPPORTED,
            "%s (%s): cannot go back to t = %s: there was an event at t = %s, and the FMU offers no saved "
            "states (canGetAndSetFMUstate), without which an event cannot be undone. Use a method that "
            "never repeats a step",
            unit->name, unit->fmu->path, TIME(saved->solution.t), TIME(me->model.calendar.event_time));
    tutti_me_model_restore(&me->model, &saved->model);
    tutti_me_solution_restore(&me->solution, &saved->solution);
    tutti_me_events_restore(&me->events, &saved->events, saved->solution.is_ahead);
    me->between = saved->between;
    copy_average(&me->average, &saved->average, me->solution.ode->count);
    if (tutti_instance_state(me->instance) != TUTTI_STATE_CONTINUOUS)
        return TUTTI_OK;
    TRY(tutti_me_inputs_write(&me->model.inputs, me->solution.t));
    return tutti_me_solution_place_back(&me->solution);
}

static enum tutti_err restore(struct tutti_unit *unit, const struct tutti_unit_saved *saved)
{
    TRY(bring_back((struct me *)unit, saved));
    unit->counts.rollbacks++;
    return TUTTI_OK;
}

static enum tutti_err back_to_last(struct tutti_unit *unit, double *t)
{
    struct me *me = (struct me *)unit;
    if (!me->last)
        return tutti_fail(TUTTI_ERR_STATE, "%s: no step of its solver was noted", unit->name);
    TRY(bring_back(me, me->last));
    *t = me->solution.t;
    return TUTTI_OK;
}

static void discard(struct tutti_unit *unit, struct tutti_unit_saved *saved)
{
    struct me *me = (struct me *)unit;
    if (!saved)
        return;
    tutti_instance_discard_saved(me->instance, &saved->fmu);
    release(saved);
}

/* ---- for another process ---- */

/* An FMU that cannot serialise its state is brought back by time, states and inputs, which is all there is as long as its discrete
 * states are those of the start. */
static enum tutti_err check_pack(const struct me *me)
{
    const struct tutti_unit *unit = &me->unit;
    if (unit->can & TUTTI_CAN_SERIALIZE || me->model.calendar.events == 0)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                      "%s (%s): there was an event at t = %s, and the FMU cannot serialise its state "
                      "(canSerializeFMUstate), without which another process cannot go on after it",
                      unit->name, unit->fmu->path, TIME(me->model.calendar.event_time));
}

/* What units count and have tested, which going back does not take back. */
static void pack_counts(const struct tutti_unit *unit, struct tutti_parcel *parcel)
{
    const struct me *me = (const struct me *)unit;
    const struct tutti_solver *solver = me->solution.solver;
    tutti_parcel_put_block(parcel, &me->model.counts, sizeof me->model.counts);
    tutti_parcel_put_u8(parcel, me->model.jacobian_tested);
    if (solver)
        tutti_parcel_put_block(parcel, &solver->counts, sizeof solver->counts);
}

static void unpack_counts(struct tutti_unit *unit, struct tutti_unparcel *in)
{
    struct me *me = (struct me *)unit;
    struct tutti_solver *solver = me->solution.solver;
    (void)tutti_unparcel_into(in, &me->model.counts, sizeof me->model.counts);
    me->model.jacobian_tested = tutti_unparcel_u8(in) != 0;
    if (solver)
        (void)tutti_unparcel_into(in, &solver->counts, sizeof solver->counts);
}

/* Nothing of the solver's steps so far, not even their size, is in the point. */
static enum tutti_err begin_anew(struct me *me, const struct tutti_unit_saved *saved)
{
    me->solution.solver->started = false;
    return restore(&me->unit, saved);
}

static enum tutti_err pack(struct tutti_unit *unit, const struct tutti_unit_saved *from, struct tutti_parcel *parcel)
{
    struct me *me = (struct me *)unit;
    struct tutti_unit_saved here = *from;
    const struct tutti_unit_saved *saved = &here;
    TRY(check_pack(me));
    if (me->solution.led && !me->solution.led_back) /* here as there */
        here.solution.task = me->solution.task = TUTTI_SOLVER_RESTART;
    bool serialises = saved->has_fmu && unit->can & TUTTI_CAN_SERIALIZE;
    tutti_parcel_put_u8(parcel, serialises);
    if (serialises)
        TRY(tutti_instance_pack(me->instance, &saved->fmu, parcel));
    tutti_me_model_pack(&me->model, &saved->model, parcel);
    tutti_me_solution_pack(&me->solution, &saved->solution, parcel);
    tutti_me_events_pack(&me->events, &saved->events, parcel);
    tutti_parcel_put_block(parcel, &saved->between, sizeof saved->between);
    tutti_parcel_put_u8(parcel, saved->average.is_on);
    tutti_parcel_put_double(parcel, saved->average.step_start);
    tutti_parcel_put_block(parcel, saved->average.integral, me->solution.ode->count * sizeof(double));
    pack_counts(unit, parcel);
    return me->solution.solver && !me->solution.led && !saved->solution.is_ahead ? begin_anew(me, saved) : TUTTI_OK;
}

static enum tutti_err unpack(struct tutti_unit *unit, struct tutti_unparcel *in, struct tutti_unit_saved **out)
{
    struct me *me = (struct me *)unit;
    struct tutti_unit_saved *saved = *out = make(me);
    if (!saved)
        return tutti_fail_memory();
    saved->has_fmu = tutti_unparcel_u8(in) != 0;
    if (saved->has_fmu)
        TRY(tutti_instance_unpack(me->instance, in, &saved->fmu));
    tutti_me_model_unpack(&me->model, in, &saved->model);
    tutti_me_solution_unpack(&me->solution, in, &saved->solution);
    tutti_me_events_unpack(&me->events, in, &saved->events);
    (void)tutti_unparcel_into(in, &saved->between, sizeof saved->between);
    saved->average.is_on = tutti_unparcel_u8(in) != 0;
    saved->average.step_start = tutti_unparcel_double(in);
    (void)tutti_unparcel_into(in, saved->average.integral, me->solution.ode->count * sizeof(double));
    unpack_counts(unit, in);
    if (me->solution.solver)
        me->solution.solver->started = false; /* until the point is restored, with what it has of the solver */
    return in->bad ? tutti_fail(TUTTI_ERR_FORMAT, "%s: these bytes are no saved state of this unit", unit->name)
                   : TUTTI_OK;
}

/* ---- derivatives ---- */

static enum tutti_err get_output_derivatives(struct tutti_unit *unit, const uint32_t *references, size_t count,
                                             int32_t order, double *values)
{
    return tutti_me_derivatives_by_time(&((struct me *)unit)->derivatives, references, count, order, values);
}

static enum tutti_err get_directional(struct tutti_unit *unit, const uint32_t *unknowns, size_t unknown_count,
                                      const uint32_t *knowns, size_t known_count, const double *seed,
                                      double *sensitivity)
{
    return tutti_me_derivatives_by_inputs(&((struct me *)unit)->derivatives, unknowns, unknown_count, knowns,
                                          known_count, seed, sensitivity);
}

static enum tutti_err linearize(struct tutti_unit *unit, unsigned want, struct tutti_linear **linear)
{
    return tutti_me_linearize(&((struct me *)unit)->linear, want, linear);
}

enum tutti_err tutti_unit_extra_outputs(struct tutti_unit *unit, double *values)
{
    struct me *me = (struct me *)unit;
    return tutti_me_extra_outputs(&me->extra, me->solution.t, me->solution.x, values);
}

static enum tutti_err terminate(struct tutti_unit *unit)
{
    return tutti_instance_terminate(((struct me *)unit)->instance);
}

/* ---- led by a solver of several units ---- */

static void lead(struct tutti_unit *unit, bool back)
{
    struct me_solution *solution = &((struct me *)unit)->solution;
    solution->led = true;
    solution->led_back = back;
    solution->task = TUTTI_SOLVER_RESTART;
    unit->output_order = 0; /* derivatives of its inputs are not known */
}

static void count_equations(const struct tutti_unit *unit, size_t *states, size_t *indicators)
{
    const struct me *me = (const struct me *)unit;
    *states = me->model.states;
    *indicators = me->events.count;
}

static enum tutti_err size(struct tutti_unit *unit, double *sizes)
{
    struct me *me = (struct me *)unit;
    if (me->solution.task == TUTTI_SOLVER_RESTART)
        TRY(tutti_me_model_size_states(&me->model, me->solution.t, me->solution.x));
    memcpy(sizes, me->model.sizes, me->model.states * sizeof *sizes);
    return TUTTI_OK;
}

static void look(const struct tutti_unit *unit, struct tutti_unit_lead *lead)
{
    const struct me *me = (const struct me *)unit;
    memcpy(lead->x, me->solution.x, me->model.states * sizeof *lead->x);
    memcpy(lead->nominals, me->model.nominals, me->model.states * sizeof *lead->nominals);
    lead->task = me->solution.task;
    lead->next_event = me->model.calendar.next_event;
    lead->near_zero = me->events.near_zero;
}

static void take(struct tutti_unit *unit)
{
    struct me *me = (struct me *)unit;
    me->solution.task = TUTTI_SOLVER_GO_ON;
    me->events.near_zero = false;
    me->between = (struct between){0};
}

static enum tutti_err place(struct tutti_unit *unit, double t, const double *x, bool *discarded)
{
    struct me *me = (struct me *)unit;
    me->on_trial = true;
    return tutti_me_model_place(&me->model, t, x, discarded);
}

static enum tutti_err put(struct tutti_unit *unit, const struct tutti_block *block)
{
    tutti_me_model_disturb(&((struct me *)unit)->model);
    return tutti_instance_set(((struct me *)unit)->instance, block->type, block->references, block->count,
                              block->values, block->value_count);
}

static enum tutti_err get_derivatives(struct tutti_unit *unit, double *dx, size_t *bad, bool *discarded)
{
    struct me *me = (struct me *)unit;
    me->unit.counts.solver.rhs++;
    *bad = 0;
    if (me->model.states > 0)
        TRY(tutti_instance_get_derivatives(me->instance, dx, me->model.states, discarded));
    me->model.moved = me->model.moved && me->model.states == 0;
    while (*bad < me->model.states && !*discarded && isfinite(dx[*bad]))
        ++*bad;
    return TUTTI_OK;
}

static enum tutti_err get_excess(struct tutti_unit *unit, double *excess, size_t *bad)
{
    return tutti_me_events_excess(&((struct me *)unit)->events, excess, bad);
}

static enum tutti_err no_excess(struct tutti_unit *unit, double t, size_t bad)
{
    return tutti_me_events_no_value(&((struct me *)unit)->events, t, bad);
}

/* Inputs that follow other units are no news to the solver, which leads these, too. */
static enum tutti_err arrive(struct tutti_unit *unit, double t, const double *x, const struct tutti_block *inputs,
                             size_t input_blocks)
{
    struct me *me = (struct me *)unit;
    struct me_solution *solution = &me->solution;
    enum tutti_solver_task task = solution->task;
    me->on_trial = false;
    memcpy(solution->x, x, me->model.states * sizeof *x);
    solution->t = solution->front = t;
    TRY(tutti_me_solution_place_back(solution));
    for (size_t b = 0; b < input_blocks; b++)
        TRY(set(unit, &inputs[b]));
    solution->task = task;
    me->between.inputs_changed = false;
    return TUTTI_OK;
}

static enum tutti_err complete(struct tutti_unit *unit, bool *event, bool *terminate)
{
    struct tutti_step out = {0};
    TRY(complete_step((struct me *)unit, &out));
    *event = out.event;
    *terminate = out.terminate;
    return TUTTI_OK;
}

static enum tutti_err meet(struct tutti_unit *unit, size_t indicator, bool own)
{
    struct me *me = (struct me *)unit;
    me->between.own_event = me->between.own_event || own;
    if (indicator == SIZE_MAX)
        return TUTTI_OK;
    me->between.state_event = true;
    me->events.indicator = indicator;
    return tutti_me_events_note(&me->events, me->solution.t);
}

static const char *state_name(struct tutti_unit *unit, size_t i)
{
    return tutti_me_model_state_name(&((struct me *)unit)->model, i);
}

static const struct tutti_unit_equations equations = {
    .lead = lead,
    .count = count_equations,
    .look = look,
    .size = size,
    .take = take,
    .place = place,
    .put = put,
    .get_derivatives = get_derivatives,
    .get_excess = get_excess,
    .no_excess = no_excess,
    .arrive = arrive,
    .complete = complete,
    .meet = meet,
    .state_name = state_name,
};

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
    .adopt = adopt,
    .export_state = export_state,
    .set = set,
    .get = get,
    .offer = offer,
    .ask = ask,
    .set_input_curves = set_input_curves,
    .set_input_derivatives = set_input_derivatives,
    .get_output_derivatives = get_output_derivatives,
    .get_directional = get_directional,
    .linearize = linearize,
    .step = step,
    .enter_event = enter_event,
    .settle = settle,
    .save = save,
    .restore = restore,
    .discard = discard,
    .back_to_last = back_to_last,
    .pack = pack,
    .unpack = unpack,
    .pack_counts = pack_counts,
    .unpack_counts = unpack_counts,
    .terminate = terminate,
    .equations = &equations,
};
