/* SPDX-License-Identifier: MIT */
/* Model Exchange as a unit: the FMU gives derivatives (me_model), one of our solvers makes steps of them (me_solution), as far as
 * `horizon` lets it, and state events end steps (me_events). Beside E1 and E2 of me_solution.h:
 *  E3  The FMU stands at (t, x, inputs at t) whenever a function of the vtable returns; whatever moves it (right-hand
 *      sides, indicators, averages) is followed by tt_me_solution_place_back before that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_clock.h"
#include "base/number.h"
#include "base/time.h"
#include "unit/me_derivatives.h"
#include "unit/me_events.h"
#include "unit/me_extra.h"
#include "unit/me_linear.h"
#include "unit/me_solution.h"
#include "unit/me_sensitivity.h"

/* Averages over the present step (Lacoursiere 2017 eq. 1): integral of the states since step_start. */
struct me_average {
    bool is_on; /* the average over a step is requested */
    double step_start;
    double *integral;
};

/* The outcome of a step. Plain data. */
struct me_step_result {
    bool inputs_changed; /* since: indicators may have left their domains */
    bool own_event;      /* the FMU requested the event at t: by completedIntegratorStep, or an announced time */
    bool state_event;    /* an indicator left its domain there: not only inputs have changed */
};

struct me {
    struct tt_unit unit;
    struct tt_unit_options options;
    struct tt_me_model model;
    struct tt_me_linear linear;
    struct tt_me_extra extra;
    struct tt_me_solution solution;
    struct tt_me_events events;
    struct tt_me_derivatives derivatives;
    struct me_average average;
    struct me_step_result between;
    bool on_trial;              /* the solver that leads the unit has placed it where it may not stay */
    bool switches;              /* the present event is requested by the FMU, or a state event */
    double *slopes_before;      /* of all states, when the present event was entered */
    bool has_slopes_before;     /* the solver may be able to continue unchanged after it */
    struct tt_unit_saved *last; /* where the solver's last step began; NULL: never noted */
};

static void me_discard(struct tt_unit *unit, struct tt_unit_saved *saved);
static enum tutti_err save_last_step(struct me *me);

static struct tt_me_sensitivity *me_sensitivity_of(struct me *me)
{
    return me->options.integration.sensitivity;
}

static enum tutti_err me_start(struct tt_unit *unit, const struct tt_unit_options *options)
{
    struct me *me = (struct me *)unit;
    me->options = *options;
    me->model = (struct tt_me_model){.unit = unit, .options = &me->options, .calendar.next_event = INFINITY};
    me->linear.model = &me->model;
    me->solution.model = &me->model;
    me->solution.ode = &me->model.ode;
    me->derivatives.solution = &me->solution;
    me->events.at = INFINITY;
    unit->has_events = true;
    unit->keeps_slopes = true;
    unit->can |= TUTTI_CAN_INPUT_DERIVATIVES;
    unit->output_order = 2;
    struct tt_instance_options instance = {
        .name = options->name,
        .log = options->log,
        .logging_on = options->logging_on,
        .event_mode = true,
        .forked = options->forked,
    };
    TRY(tt_instance_new(&unit->instance, unit->fmu->libraries[TUTTI_ME], &instance));
    me->model.instance = me->model.inputs.instance = unit->instance;
    me->model.inputs.unit = unit;
    return tt_me_sensitivity_start(me_sensitivity_of(me), &me->model, &me->events, &instance);
}

static void me_finish(struct tt_unit *unit)
{
    struct me *me = (struct me *)unit;
    if (unit->instance)
        tt_unit_report(unit, unit->instance, me->options.log);
    me_discard(unit, me->last);
    tt_instance_free(unit->instance);
    tt_me_sensitivity_finish(me_sensitivity_of(me));
    tt_me_derivatives_fini(&me->derivatives);
    tt_me_events_fini(&me->events);
    tt_me_solution_fini(&me->solution);
    tt_me_extra_fini(&me->extra);
    tt_me_linear_fini(&me->linear);
    tt_me_model_fini(&me->model);
    free(me->average.integral);
    free(me->slopes_before);
}

static enum tutti_err me_configure(struct tt_unit *unit, const struct tt_setting *settings, size_t count)
{
    struct me *me = (struct me *)unit;
    TRY(tt_unit_configure(unit, unit->instance, settings, count));
    return tt_me_sensitivity_configure(me_sensitivity_of(me), settings, count);
}

static enum tutti_err me_set_up(struct tt_unit *unit, const struct tt_experiment_setup *setup)
{
    struct me *me = (struct me *)unit;
    me->model.setup = *setup;
    me->solution.t = me->solution.front = setup->start;
    TRY(tt_instance_set_up(unit->instance, setup));
    return tt_me_sensitivity_set_up(me_sensitivity_of(me), setup);
}

static enum tutti_err me_enter_init(struct tt_unit *unit)
{
    struct me *me = (struct me *)unit;
    TRY(tt_unit_default_enter_init(unit));
    return tt_me_sensitivity_enter_init(me_sensitivity_of(me));
}

static enum tutti_err me_reset(struct tt_unit *unit)
{
    struct me *me = (struct me *)unit;
    TRY(tt_unit_default_reset(unit));
    return tt_me_sensitivity_reset(me_sensitivity_of(me));
}

/* The FMU is in event mode for the first time. */
static enum tutti_err me_prepare(struct me *me)
{
    const struct tutti_extra *extra = me->options.integration.extra;
    size_t indicators = 0, extra_states = extra ? extra->count : 0;
    TRY(tt_instance_count_states(me->unit.instance, &me->model.states, &indicators));
    me->model.indicators = indicators;
    TRY(tt_me_events_init(&me->events, &me->solution, indicators));
    TRY(tt_me_model_init(&me->model, extra_states));
    size_t count = me->model.states + extra_states;
    me->average.integral = calloc(count + 1, sizeof *me->average.integral);
    me->slopes_before = calloc(count + 1, sizeof *me->slopes_before);
    if (!me->average.integral || !me->slopes_before)
        return tt_fail_memory();
    if (extra)
        TRY(tt_me_extra_init(&me->extra, extra, &me->linear));
    return tt_me_solution_init(&me->solution, &me->model, extra_states > 0 ? &me->extra.ode : &me->model.ode);
}

static enum tutti_err me_exit_init(struct tt_unit *unit)
{
    struct me *me = (struct me *)unit;
    TRY(tt_unit_default_exit_init(unit));
    TRY(me_prepare(me));
    return tt_me_sensitivity_exit_init(me_sensitivity_of(me));
}

/* An event follows, as after an initialisation: only in events FMUs report the time of their next one. */
static enum tutti_err me_adopt_state(struct tt_unit *unit, const unsigned char *bytes, size_t size)
{
    struct me *me = (struct me *)unit;
    bool discarded = false;
    TRY(tt_unit_adopt(unit, unit->instance, me->options.log, bytes, size));
    TRY(tt_instance_set_time(unit->instance, me->solution.t, &discarded));
    if (discarded)
        return tt_fail(TUTTI_ERR_FMU, "%s (%s): the FMU does not take the time t = %s in its initial state", unit->name,
                       unit->fmu->path, TIME(me->solution.t));
    TRY(tt_instance_enter_event(unit->instance));
    return me_prepare(me);
}

static enum tutti_err me_set(struct tt_unit *unit, const struct tt_block *block)
{
    struct me *me = (struct me *)unit;
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    tt_me_model_invalidate(model);
    TRY(tt_unit_default_set(unit, block));
    if (__builtin_expect(me_sensitivity_of(me) != NULL, 0))
        TRY(tt_me_sensitivity_set(me_sensitivity_of(me), block));
    bool news = false;
    TRY(tt_me_inputs_record(&model->inputs, solution->t, block, &news));
    if (news && tt_instance_state(unit->instance) == TUTTI_STATE_CONTINUOUS)
        me->between.inputs_changed = true;
    if (news && solution->task == TUTTI_SOLVER_GO_ON)
        solution->task = TUTTI_SOLVER_RESUME;
    return TUTTI_OK;
}

static enum tutti_err me_set_input_derivatives(struct tt_unit *unit, const uint32_t *references, const size_t *elements,
                                               size_t count, const int32_t *orders, const double *values)
{
    struct me *me = (struct me *)unit;
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    bool news = false;
    TRY(tt_me_inputs_set_derivatives(&model->inputs, solution->t, references, elements, count, orders, values, &news));
    if (news && solution->task == TUTTI_SOLVER_GO_ON)
        solution->task = TUTTI_SOLVER_RESUME;
    return TUTTI_OK;
}

static enum tutti_err set_input_curves(struct tt_unit *unit, const struct tt_input_curves *curves)
{
    return tt_me_inputs_attach_curves(&((struct me *)unit)->model.inputs, curves);
}

/* Lacoursiere 2017 eq. 2, 3: what is read are the outputs of the averages over the step, y = g(<x>, <u>). (Eq. 3 prints the
 * average as (z0 + z1) / 2H, which is none; it is (z1 - z0) / H.) */
static enum tutti_err get_averaged(struct me *me, struct tt_block *block)
{
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    for (size_t i = 0; i < model->states; i++)
        solution->scratch[i] = me->average.integral[i] / (solution->t - me->average.step_start);
    TRY(tt_me_model_place(model, solution->t, solution->scratch, NULL));
    TRY(tt_me_inputs_apply_average(&model->inputs, me->average.step_start, solution->t));
    TRY(tt_me_model_get(model, block, true));
    return tt_me_solution_place_back(solution);
}

static enum tutti_err me_get(struct tt_unit *unit, struct tt_block *block)
{
    struct me *me = (struct me *)unit;
    unit->counts.gets++;
    return me->average.is_on && block->type == TUTTI_TYPE_FLOAT64 ? get_averaged(me, block)
                                                                  : tt_me_model_get(&me->model, block, me->on_trial);
}

static enum tutti_err me_try_set(struct tt_unit *unit, const struct tt_block *block, bool *refused)
{
    struct me *me = (struct me *)unit;
    tt_me_model_invalidate(&me->model);
    TRY(tt_unit_default_try_set(unit, block, refused));
    return tt_me_sensitivity_try_set(me_sensitivity_of(me), block, refused);
}

static enum tutti_err me_try_get(struct tt_unit *unit, struct tt_block *block, bool *refused)
{
    struct me *me = (struct me *)unit;
    if (me->average.is_on && block->type == TUTTI_TYPE_FLOAT64)
        return me_get(unit, block);
    TRY(tt_me_model_compute(&me->model));
    return tt_unit_default_try_get(unit, block, refused);
}

/* E2; most FMUs declare that the call is not needed. */
static enum tutti_err complete_integrator_step(struct me *me, struct tt_fmi_step *out)
{
    struct tt_me_solution *solution = &me->solution;
    solution->open = false;
    if (!(me->unit.fmu->desc->interfaces[TUTTI_ME].flags & TUTTI_NEEDS_COMPLETED_STEP))
        return TUTTI_OK;
    if (__builtin_expect(me_sensitivity_of(me) != NULL, 0))
        TRY(tt_me_sensitivity_complete(me_sensitivity_of(me), solution->t, solution->x));
    tt_me_model_invalidate(&me->model);
    /* Whatever may be restored lies before this point, which is the end of a step. */
    return tt_instance_completed_step(me->unit.instance, me->unit.back_to == INFINITY, &out->event, &out->terminate);
}

/* Integral of the states from t to `end` (Lacoursiere 2017 eq. 1), by Gauss's formula with five points on the dense output:
 * exact for its polynomials, of degree 9 at most. */
static enum tutti_err add_to_average(struct me *me, double end)
{
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    enum { POINTS = 5 };
    static const double points[POINTS] = {-0.90617984593866399280, -0.53846931010568309104, 0, 0.53846931010568309104,
                                          0.90617984593866399280};
    static const double weights[POINTS] = {0.23692688505618908751, 0.47862867049936646804, 0.56888888888888888889,
                                           0.47862867049936646804, 0.23692688505618908751};
    double half = (end - solution->t) / 2, middle = solution->t + half;
    if (!solution->solver || !(half > 0))
        return TUTTI_OK;
    for (int p = 0; p < POINTS; p++) {
        double t = fmin(fmax(middle + points[p] * half, tt_solver_last_begin(solution->solver)),
                        tt_solver_time(solution->solver));
        TRY(tt_me_solution_evaluate(solution, t, solution->scratch));
        for (size_t i = 0; i < model->states; i++)
            me->average.integral[i] += weights[p] * half * solution->scratch[i];
    }
    return TUTTI_OK;
}

/* Moves the unit, and the FMU with it, to `stop` in the solver's last step; `t` is that point, possibly a different
 * double. */
static enum tutti_err me_move_to(struct me *me, double stop, double t)
{
    struct tt_me_solution *solution = &me->solution;
    if (me->options.integration.average)
        TRY(add_to_average(me, stop));
    TRY(tt_me_solution_evaluate(solution, stop, solution->x));
    solution->t = t;
    return tt_me_solution_place_back(solution);
}

/* Informs the solver of changes since the last step: an event, or new inputs. */
static enum tutti_err prepare_solver(struct me *me, struct tt_fmi_step *out)
{
    struct tt_me_solution *solution = &me->solution;
    if (solution->open && solution->front > solution->t)
        TRY(complete_integrator_step(me, out));
    solution->open = false;
    TRY(tt_me_solution_restart(solution));
    me->events.at = INFINITY;
    bool jumped = false;
    if (me->between.inputs_changed) {
        TRY(tt_me_solution_place_back(solution));
        TRY(tt_me_events_check_here(&me->events, &jumped));
    }
    me->between.inputs_changed = false;
    out->event = out->event || jumped;
    me->between.state_event = me->between.state_event || jumped;
    return jumped ? tt_me_events_record(&me->events, solution->t) : TUTTI_OK;
}

/* Makes one step of the solver, at most to the horizon of the inputs or the next announced event. Without states there
 * is nothing to solve, and no information on suitable step sizes: then it follows the caller's steps, limited by the
 * solver's maximum. */
static enum tutti_err me_solver_step(struct me *me, double end)
{
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    double limit = solution->solver ? fmax(me->unit.horizon, end) : end, h_max = me->options.integration.h_max;
    if (!solution->solver && h_max > 0 && !tt_solver_at_limit(solution->front, h_max, end))
        limit = solution->front + h_max;
    if (model->calendar.next_event > solution->front)
        limit = fmin(limit, model->calendar.next_event);
    if (me->options.interrupt && *me->options.interrupt) /* a step of the run may be many of the solver */
        return tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s, on the way to %s; everything recorded is kept",
                       NUMBER(solution->t), NUMBER(end));
    if (me->unit.notes_last)
        TRY(save_last_step(me));
    double left = solution->front;
    solution->front = limit;
    if (solution->solver) {
        model->missed = false;
        TRY(tt_me_model_explain(model, tt_solver_step(solution->solver, limit, solution->ahead)));
        left = tt_solver_last_begin(solution->solver);
        solution->front = tt_solver_time(solution->solver);
    }
    solution->open = true;
    return tt_me_events_search(&me->events, left, solution->front);
}

static enum tutti_err me_run_to(struct me *me, double end, struct tt_fmi_step *out)
{
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    double span = model->setup.stop - model->setup.start;
    if (solution->task != TUTTI_SOLVER_GO_ON || me->between.inputs_changed)
        TRY(prepare_solver(me, out));
    while (!out->event && !out->terminate) {
        double stop = fmin(solution->front, me->events.at);
        if (stop > solution->t || me->events.at <= solution->t) {
            bool at_end = tt_time_same(stop, end, span);
            if (stop > end && !at_end) {
                out->reached = end;
                return me_move_to(me, end, end);
            }
            TRY(me_move_to(me, stop, at_end ? end : stop));
            TRY(complete_integrator_step(me, out));
            me->between.own_event = out->event = out->event || solution->t >= model->calendar.next_event;
            if (me->events.at <= stop) {
                me->between.state_event = out->event = true;
                TRY(tt_me_events_record(&me->events, stop));
            }
            if (at_end) {
                if (stop == solution->front) /* the solver's last step is passed, whatever its end is called */
                    solution->front = solution->t;
                return TUTTI_OK;
            }
        } else {
            TRY(me_solver_step(me, end));
        }
    }
    out->reached = solution->t;
    return TUTTI_OK;
}

static enum tutti_err me_step(struct tt_unit *unit, double t, double h, struct tt_fmi_step *out)
{
    struct me *me = (struct me *)unit;
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    bool timed = ++unit->counts.do_steps >= unit->times.next;
    double before = timed ? tt_wall_clock_now() : 0, end = t + h;
    if (t != solution->t && !tt_time_same(t, solution->t, model->setup.stop - model->setup.start))
        return tt_fail(TUTTI_ERR_STATE, "%s: a step from t = %s, but the unit is at %s", unit->name, NUMBER(t),
                       NUMBER(solution->t));
    if (!(h > 0 && h < INFINITY))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: a step of %s from t = %s", unit->name, NUMBER(h), NUMBER(t));
    *out = (struct tt_fmi_step){.reached = end};
    me->between.own_event = me->between.state_event = false;
    me->average.is_on = me->options.integration.average;
    me->average.step_start = solution->t;
    if (me->average.is_on)
        memset(me->average.integral, 0, model->states * sizeof *me->average.integral);
    if (solution->solver)
        tt_solver_begin_interval(solution->solver, solution->t);
    enum tutti_err err = me_run_to(me, end, out);
    me->average.is_on = me->average.is_on && solution->t > me->average.step_start;

    struct tt_solver_counts *counts = &unit->counts.solver;
    *counts = solution->solver ? solution->solver->counts : (struct tt_solver_counts){0};
    counts->rhs += model->counts.rhs;
    counts->directional += model->counts.directional;
    if (timed)
        tt_unit_record_time(unit, me->options.timing, tt_wall_clock_now() - before);
    return err;
}

/* FMUs of some tools request event mode after every step of the solver, without any change. Restarting each time would
 * reduce a multistep method to order 1, slow and inexact; so the solver continues where it can: at the end of its last
 * step (after an event inside of a step, the rest of it belongs to the time before), with states and derivatives as
 * they were. Later changes, such as a different slope of an input, are left to the error test. */
static enum tutti_err store_slopes_before_event(struct me *me)
{
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    me->has_slopes_before = false;
    bool undisturbed =
        me->between.own_event && solution->solver && solution->solver->started &&
        solution->solver->before < solution->solver->t &&
        tt_time_same(solution->t, tt_solver_time(solution->solver), model->setup.stop - model->setup.start) &&
        solution->task == TUTTI_SOLVER_GO_ON && !me->between.inputs_changed;
    if (!undisturbed)
        return TUTTI_OK;
    enum tt_eval eval = solution->ode->rhs(solution->ode->context, solution->t, solution->x, me->slopes_before);
    model->counts.rhs++;
    me->has_slopes_before = eval == TUTTI_EVAL_OK;
    return eval == TUTTI_EVAL_FAILED ? solution->ode->err : TUTTI_OK;
}

/* Returns true if the change of the derivatives by the event is below the tolerance of the solver's steps. */
static enum tutti_err are_slopes_unchanged(struct me *me, bool *same)
{
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    const double share = 0.01, h = solution->solver->t - solution->solver->before;
    enum tt_eval eval = solution->ode->rhs(solution->ode->context, solution->t, solution->x, solution->dx);
    model->counts.rhs++;
    *same = eval == TUTTI_EVAL_OK;
    for (size_t i = 0; i < solution->ode->count && *same; i++) {
        double difference = fabs(solution->dx[i] - me->slopes_before[i]);
        *same = difference == 0 || h * difference <= share * tt_ode_tolerance(solution->ode, i, solution->x[i]);
    }
    return eval == TUTTI_EVAL_FAILED ? solution->ode->err : TUTTI_OK;
}

/* Determines the solver's action after an event. `changed`: states or nominal values have changed; `claimed`: the FMU
 * reports it. After an event requested by the FMU its equations may be entirely different: a diode that blocks takes a
 * fast state away. A multistep method that corrects its past for new derivatives, by the old Jacobian, errs by more
 * there than its error test sees. New inputs alone leave the equations what they were. */
static enum tutti_err plan_after_event(struct me *me, bool changed, bool claimed)
{
    struct tt_me_solution *solution = &me->solution;
    bool same = false, chosen = me->options.integration.predictor != TUTTI_PREDICTOR_AUTO;
    bool multistep = solution->solver && solution->solver->kind->multistep;
    if (!changed && solution->solver && solution->task == TUTTI_SOLVER_GO_ON && me->has_slopes_before)
        TRY(are_slopes_unchanged(me, &same));
    if (changed || (claimed && !same) || (me->switches && multistep && !chosen && !same))
        solution->task = TUTTI_SOLVER_RESTART;
    else if (solution->task == TUTTI_SOLVER_GO_ON && !same)
        solution->task = TUTTI_SOLVER_RESUME;
    return TUTTI_OK;
}

static enum tutti_err me_enter_event(struct tt_unit *unit)
{
    struct me *me = (struct me *)unit;
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    struct tt_fmi_step left = {0};
    if (solution->open) /* E2 */
        TRY(complete_integrator_step(me, &left));
    TRY(store_slopes_before_event(me));
    if (me_sensitivity_of(me)) {
        TRY(tt_me_solution_place_back(solution));
        TRY(tt_me_sensitivity_enter_event(me_sensitivity_of(me), solution->t, solution->x,
                                          me->between.state_event ? me->events.indicator : SIZE_MAX));
        TRY(tt_me_solution_place_back(solution));
    }
    me->switches = me->between.own_event || me->between.state_event;
    me->between.own_event = me->between.state_event = false;
    model->calendar.events++;
    model->calendar.event_time = solution->t;
    me->average.is_on = false;
    return tt_instance_enter_event(unit->instance);
}

/* After an event: states as the FMU has them now, be they new or not. */
static enum tutti_err me_read_states(struct me *me, bool *changed)
{
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    if (model->states == 0)
        return TUTTI_OK;
    TRY(tt_instance_get_states(me->unit.instance, solution->scratch, model->states));
    for (size_t i = 0; i < model->states; i++) {
        if (!isfinite(solution->scratch[i]))
            return tt_fail(TUTTI_ERR_FMU, "%s (%s): state '%s' is not a finite number after the event at t = %s",
                           me->unit.name, me->unit.fmu->path, tt_me_model_state_name(model, i), TIME(solution->t));
        *changed = *changed || solution->scratch[i] != solution->x[i];
        solution->x[i] = solution->scratch[i];
    }
    return TUTTI_OK;
}

static enum tutti_err me_update_discrete(struct tt_unit *unit, struct tt_unit_event *event)
{
    struct me *me = (struct me *)unit;
    struct tt_me_model *model = &me->model;
    struct tt_me_solution *solution = &me->solution;
    struct tt_discrete_update discrete;
    TRY(tt_unit_update_discrete(unit, unit->instance, &discrete));
    event->terminate = discrete.terminate;
    model->calendar.next_event = event->next_event = discrete.has_next_event ? discrete.next_event : INFINITY;
    if (discrete.terminate)
        return TUTTI_OK;
    bool first = solution->solver && !solution->solver->started && !solution->led, changed = false;
    TRY(me_read_states(me, &changed));
    if (first || discrete.nominals_changed || unit->fmu->desc->fmi == 1) /* which has no way to say so */
        TRY(tt_me_model_read_nominals(model, &changed));
    TRY(tt_instance_enter_continuous(unit->instance));
    if (model->calendar.events == 0)
        TRY(tt_me_inputs_read(&model->inputs, solution->t));
    TRY(tt_me_sensitivity_leave_event(me_sensitivity_of(me), solution->t, solution->x, first, &changed));
    if (first)
        TRY(tt_me_extra_start(&me->extra, solution->t, solution->x));
    TRY(plan_after_event(me, first || changed, discrete.states_changed));
    TRY(tt_me_solution_place_back(solution));
    TRY(tt_me_events_reset(&me->events));
    me->between.inputs_changed = false;
    me->average.is_on = false;
    return TUTTI_OK;
}

/* ---- going back ---- */

/* Going back to a point between steps. An FMU that can save its state does; of any other, time, states and inputs are
 * set again, which suffices as long as no event lies between (FMI: discrete states change at events only). */
struct tt_unit_saved {
    struct tt_saved_state fmu;
    bool has_fmu; /* a state of the FMU is saved */
    struct tt_me_model_saved model;
    struct tt_me_solution_saved solution;
    struct tt_me_events_saved events;
    struct me_step_result between;
    struct me_average average; /* with a separate integral */
};

static void me_saved_release(struct tt_unit_saved *saved)
{
    tt_me_model_saved_fini(&saved->model);
    tt_me_solution_saved_fini(&saved->solution);
    tt_me_events_saved_fini(&saved->events);
    free(saved->average.integral);
    free(saved);
}

static enum tutti_err me_saved_allocate(const struct me *me, struct tt_unit_saved *saved)
{
    TRY(tt_me_model_saved_init(&saved->model, &me->model));
    TRY(tt_me_solution_saved_init(&saved->solution, &me->solution));
    TRY(tt_me_events_saved_init(&saved->events, &me->events));
    saved->average.integral = calloc(me->solution.ode->count + 1, sizeof *saved->average.integral);
    return saved->average.integral ? TUTTI_OK : tt_fail_memory();
}

/* NULL: memory is out. */
static struct tt_unit_saved *me_saved_new(const struct me *me)
{
    struct tt_unit_saved *saved = calloc(1, sizeof *saved);
    if (saved && me_saved_allocate(me, saved)) {
        me_saved_release(saved);
        return NULL;
    }
    return saved;
}

/* Copies plain data, and the integral into the allocated array of `to`. */
static void copy_average(struct me_average *to, const struct me_average *from, size_t count)
{
    double *integral = to->integral;
    memcpy(integral, from->integral, count * sizeof *integral);
    *to = *from;
    to->integral = integral;
}

static enum tutti_err me_saved_fill(struct me *me, bool with_fmu, struct tt_unit_saved *saved)
{
    saved->has_fmu = with_fmu;
    if (saved->has_fmu)
        TRY(tt_saved_state_save(me->unit.instance, &saved->fmu));
    tt_me_model_save(&me->model, &saved->model);
    tt_me_solution_save(&me->solution, &saved->solution);
    tt_me_events_save(&me->events, &saved->events);
    saved->between = me->between;
    copy_average(&saved->average, &me->average, me->solution.ode->count);
    return TUTTI_OK;
}

static enum tutti_err me_save(struct tt_unit *unit, struct tt_unit_saved **out)
{
    if (!*out)
        *out = me_saved_new((struct me *)unit);
    return *out ? me_saved_fill((struct me *)unit, unit->can & TUTTI_CAN_STATE, *out) : tt_fail_memory();
}

/* Called before each step of the solver; a state of the FMU is saved only if it may change by the end of the step: by
 * an event, or because the FMU is notified of the step. */
static enum tutti_err save_last_step(struct me *me)
{
    bool told = me->unit.fmu->desc->interfaces[TUTTI_ME].flags & TUTTI_NEEDS_COMPLETED_STEP;
    if (!me->last)
        me->last = me_saved_new(me);
    return me->last ? me_saved_fill(me, (me->unit.can & TUTTI_CAN_STATE) && (told || me->events.count > 0), me->last)
                    : tt_fail_memory();
}

static enum tutti_err me_restore_saved(struct me *me, const struct tt_unit_saved *saved)
{
    const struct tt_unit *unit = &me->unit;
    if (saved->has_fmu)
        TRY(tt_saved_state_restore(me->unit.instance, &saved->fmu));
    else if (saved->model.calendar.events != me->model.calendar.events)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s (%s): cannot go back to t = %s: there was an event at t = %s, and the FMU offers no saved "
                       "states (canGetAndSetFMUstate), without which an event cannot be undone. Use a method that "
                       "never repeats a step",
                       unit->name, unit->fmu->path, TIME(saved->solution.t), TIME(me->model.calendar.event_time));
    tt_me_model_restore(&me->model, &saved->model);
    tt_me_solution_restore(&me->solution, &saved->solution);
    tt_me_events_restore(&me->events, &saved->events, saved->solution.is_ahead);
    me->between = saved->between;
    copy_average(&me->average, &saved->average, me->solution.ode->count);
    if (tt_instance_state(me->unit.instance) != TUTTI_STATE_CONTINUOUS)
        return TUTTI_OK;
    TRY(tt_me_inputs_write(&me->model.inputs, me->solution.t));
    return tt_me_solution_place_back(&me->solution);
}

static enum tutti_err me_restore(struct tt_unit *unit, const struct tt_unit_saved *saved)
{
    TRY(me_restore_saved((struct me *)unit, saved));
    unit->counts.rollbacks++;
    return TUTTI_OK;
}

static enum tutti_err restore_last_step(struct tt_unit *unit, double *t)
{
    struct me *me = (struct me *)unit;
    if (!me->last)
        return tt_fail(TUTTI_ERR_STATE, "%s: no step of its solver was noted", unit->name);
    TRY(me_restore_saved(me, me->last));
    *t = me->solution.t;
    return TUTTI_OK;
}

static void me_discard(struct tt_unit *unit, struct tt_unit_saved *saved)
{
    if (!saved)
        return;
    tt_saved_state_discard(unit->instance, &saved->fmu);
    me_saved_release(saved);
}

/* ---- for another process ---- */

/* An FMU that cannot serialise its state is restored by time, states and inputs, which suffices as long as its discrete
 * states are those of the start. */
static enum tutti_err check_can_pack(const struct me *me)
{
    const struct tt_unit *unit = &me->unit;
    if (unit->can & TUTTI_CAN_SERIALIZE || me->model.calendar.events == 0)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_UNSUPPORTED,
                   "%s (%s): there was an event at t = %s, and the FMU cannot serialise its state "
                   "(canSerializeFMUstate), without which another process cannot go on after it",
                   unit->name, unit->fmu->path, TIME(me->model.calendar.event_time));
}

/* The counts and test results of units, which a rollback does not reset. */
static void me_pack_counts(const struct tt_unit *unit, struct tt_byte_writer *parcel)
{
    const struct me *me = (const struct me *)unit;
    const struct tt_solver *solver = me->solution.solver;
    tt_bytes_put_block(parcel, &me->model.counts, sizeof me->model.counts);
    tt_bytes_put_u8(parcel, me->model.jacobian_tested);
    if (solver)
        tt_bytes_put_block(parcel, &solver->counts, sizeof solver->counts);
}

static void me_unpack_counts(struct tt_unit *unit, struct tt_byte_reader *in)
{
    struct me *me = (struct me *)unit;
    struct tt_solver *solver = me->solution.solver;
    (void)tt_bytes_get_copy(in, &me->model.counts, sizeof me->model.counts);
    me->model.jacobian_tested = tt_bytes_get_u8(in) != 0;
    if (solver)
        (void)tt_bytes_get_copy(in, &solver->counts, sizeof solver->counts);
}

static enum tutti_err me_pack(struct tt_unit *unit, const struct tt_unit_saved *from, struct tt_byte_writer *parcel)
{
    struct me *me = (struct me *)unit;
    struct tt_unit_saved here = *from;
    const struct tt_unit_saved *saved = &here;
    TRY(check_can_pack(me));
    if (me->solution.led && !me->solution.led_back) /* here as there */
        here.solution.task = me->solution.task = TUTTI_SOLVER_RESTART;
    bool serialises = saved->has_fmu && unit->can & TUTTI_CAN_SERIALIZE;
    tt_bytes_put_u8(parcel, serialises);
    if (serialises)
        TRY(tt_saved_state_pack(unit->instance, &saved->fmu, parcel));
    tt_me_model_pack(&me->model, &saved->model, parcel);
    tt_me_solution_pack(&me->solution, &saved->solution, parcel);
    tt_me_events_pack(&me->events, &saved->events, parcel);
    tt_bytes_put_block(parcel, &saved->between, sizeof saved->between);
    tt_bytes_put_u8(parcel, saved->average.is_on);
    tt_bytes_put_double(parcel, saved->average.step_start);
    tt_bytes_put_block(parcel, saved->average.integral, me->solution.ode->count * sizeof(double));
    me_pack_counts(unit, parcel);
    if (!me->solution.solver || me->solution.led || saved->solution.is_ahead)
        return TUTTI_OK;

    /* The point contains nothing of the solver's past steps, not even their size. */
    me->solution.solver->started = false;
    return me_restore(unit, saved);
}

static enum tutti_err me_unpack(struct tt_unit *unit, struct tt_byte_reader *in, struct tt_unit_saved **out)
{
    struct me *me = (struct me *)unit;
    struct tt_unit_saved *saved = *out = me_saved_new(me);
    if (!saved)
        return tt_fail_memory();
    saved->has_fmu = tt_bytes_get_u8(in) != 0;
    if (saved->has_fmu)
        TRY(tt_saved_state_unpack(unit->instance, in, &saved->fmu));
    tt_me_model_unpack(&me->model, in, &saved->model);
    tt_me_solution_unpack(&me->solution, in, &saved->solution);
    tt_me_events_unpack(&me->events, in, &saved->events);
    (void)tt_bytes_get_copy(in, &saved->between, sizeof saved->between);
    saved->average.is_on = tt_bytes_get_u8(in) != 0;
    saved->average.step_start = tt_bytes_get_double(in);
    (void)tt_bytes_get_copy(in, saved->average.integral, me->solution.ode->count * sizeof(double));
    me_unpack_counts(unit, in);
    if (me->solution.solver)
        me->solution.solver->started = false; /* until the point is restored, with what it has of the solver */
    return in->bad ? tt_fail(TUTTI_ERR_FORMAT, "%s: these bytes are no saved state of this unit", unit->name)
                   : TUTTI_OK;
}

/* ---- derivatives ---- */

static enum tutti_err me_get_output_derivatives(struct tt_unit *unit, const uint32_t *references, size_t count,
                                                int32_t order, double *values)
{
    return tt_me_derivatives_by_time(&((struct me *)unit)->derivatives, references, count, order, values);
}

static enum tutti_err me_get_directional(struct tt_unit *unit, const uint32_t *unknowns, size_t unknown_count,
                                         const uint32_t *knowns, size_t known_count, const double *seed,
                                         double *sensitivity)
{
    return tt_me_derivatives_by_inputs(&((struct me *)unit)->derivatives, unknowns, unknown_count, knowns, known_count,
                                       seed, sensitivity);
}

static enum tutti_err me_linearize(struct tt_unit *unit, unsigned want, struct tt_linear **linear)
{
    return tt_me_linear_compute(&((struct me *)unit)->linear, want, linear);
}

enum tutti_err tt_me_extra_values(struct tt_unit *unit, double *values)
{
    struct me *me = (struct me *)unit;
    return tt_me_extra_outputs(&me->extra, me->solution.t, me->solution.x, values);
}

/* ---- led by a solver of several units ---- */

static void me_join_solver(struct tt_unit *unit, bool back)
{
    struct tt_me_solution *solution = &((struct me *)unit)->solution;
    solution->led = true;
    solution->led_back = back;
    solution->task = TUTTI_SOLVER_RESTART;
    unit->output_order = 0; /* derivatives of its inputs are not known */
}

static void me_count_equations(const struct tt_unit *unit, size_t *states, size_t *indicators)
{
    const struct me *me = (const struct me *)unit;
    *states = me->model.states;
    *indicators = me->events.count;
}

static enum tutti_err me_state_sizes(struct tt_unit *unit, double *sizes)
{
    struct me *me = (struct me *)unit;
    if (me->solution.task == TUTTI_SOLVER_RESTART)
        TRY(tt_me_model_size_states(&me->model, me->solution.t, me->solution.x));
    memcpy(sizes, me->model.sizes, me->model.states * sizeof *sizes);
    return TUTTI_OK;
}

static void me_get_joint_state(const struct tt_unit *unit, struct tt_unit_joint_state *lead)
{
    const struct me *me = (const struct me *)unit;
    memcpy(lead->x, me->solution.x, me->model.states * sizeof *lead->x);
    memcpy(lead->nominals, me->model.nominals, me->model.states * sizeof *lead->nominals);
    lead->task = me->solution.task;
    lead->next_event = me->model.calendar.next_event;
    lead->near_zero = me->events.near_zero;
}

static void me_clear_joint_flags(struct tt_unit *unit)
{
    struct me *me = (struct me *)unit;
    me->solution.task = TUTTI_SOLVER_GO_ON;
    me->events.near_zero = false;
    me->between = (struct me_step_result){0};
}

static enum tutti_err me_place_trial(struct tt_unit *unit, double t, const double *x, bool *discarded)
{
    struct me *me = (struct me *)unit;
    me->on_trial = true;
    return tt_me_model_place(&me->model, t, x, discarded);
}

static enum tutti_err me_put_inputs(struct tt_unit *unit, const struct tt_block *block)
{
    tt_me_model_invalidate(&((struct me *)unit)->model);
    return tt_instance_set(unit->instance, block->type, block->references, block->count, block->values,
                           block->value_count);
}

static enum tutti_err me_get_derivatives(struct tt_unit *unit, double *dx, size_t *bad, bool *discarded)
{
    struct me *me = (struct me *)unit;
    me->unit.counts.solver.rhs++;
    *bad = 0;
    if (me->model.states > 0)
        TRY(tt_instance_get_derivatives(unit->instance, dx, me->model.states, discarded));
    me->model.moved = me->model.moved && me->model.states == 0;
    while (*bad < me->model.states && !*discarded && isfinite(dx[*bad]))
        ++*bad;
    return TUTTI_OK;
}

static enum tutti_err me_get_excess(struct tt_unit *unit, double *excess, size_t *bad)
{
    return tt_me_events_excess(&((struct me *)unit)->events, excess, bad);
}

static enum tutti_err me_fail_no_excess(struct tt_unit *unit, double t, size_t bad)
{
    return tt_me_events_fail_no_value(&((struct me *)unit)->events, t, bad);
}

/* For the leading solver inputs that follow other units are not a change, because it integrates these, too. */
static enum tutti_err me_arrive(struct tt_unit *unit, double t, const double *x, const struct tt_block *inputs,
                                size_t input_blocks)
{
    struct me *me = (struct me *)unit;
    struct tt_me_solution *solution = &me->solution;
    enum tt_solver_task task = solution->task;
    me->on_trial = false;
    memcpy(solution->x, x, me->model.states * sizeof *x);
    solution->t = solution->front = t;
    TRY(tt_me_solution_place_back(solution));
    for (size_t b = 0; b < input_blocks; b++)
        TRY(me_set(unit, &inputs[b]));
    solution->task = task;
    me->between.inputs_changed = false;
    return TUTTI_OK;
}

static enum tutti_err me_complete(struct tt_unit *unit, bool *event, bool *terminate)
{
    struct tt_fmi_step out = {0};
    TRY(complete_integrator_step((struct me *)unit, &out));
    *event = out.event;
    *terminate = out.terminate;
    return TUTTI_OK;
}

static enum tutti_err me_enter_state_event(struct tt_unit *unit, size_t indicator, bool own)
{
    struct me *me = (struct me *)unit;
    me->between.own_event = me->between.own_event || own;
    if (indicator == SIZE_MAX)
        return TUTTI_OK;
    me->between.state_event = true;
    me->events.indicator = indicator;
    return tt_me_events_record(&me->events, me->solution.t);
}

static const char *me_state_name(struct tt_unit *unit, size_t i)
{
    return tt_me_model_state_name(&((struct me *)unit)->model, i);
}

static const struct tt_unit_equations equations = {
    .lead = me_join_solver,
    .count = me_count_equations,
    .look = me_get_joint_state,
    .size = me_state_sizes,
    .take = me_clear_joint_flags,
    .place = me_place_trial,
    .put = me_put_inputs,
    .get_derivatives = me_get_derivatives,
    .get_excess = me_get_excess,
    .no_excess = me_fail_no_excess,
    .arrive = me_arrive,
    .complete = me_complete,
    .meet = me_enter_state_event,
    .state_name = me_state_name,
};

const struct tt_unit_kind tt_unit_me = {
    .name = "me",
    .interface = TUTTI_ME,
    .size = sizeof(struct me),
    .start = me_start,
    .finish = me_finish,
    .set_up = me_set_up,
    .configure = me_configure,
    .enter_init = me_enter_init,
    .reset = me_reset,
    .exit_init = me_exit_init,
    .adopt = me_adopt_state,
    .export_state = tt_unit_default_export_state,
    .set = me_set,
    .get = me_get,
    .offer = me_try_set,
    .ask = me_try_get,
    .set_input_curves = set_input_curves,
    .set_input_derivatives = me_set_input_derivatives,
    .get_output_derivatives = me_get_output_derivatives,
    .get_directional = me_get_directional,
    .linearize = me_linearize,
    .step = me_step,
    .enter_event = me_enter_event,
    .settle = me_update_discrete,
    .save = me_save,
    .restore = me_restore,
    .discard = me_discard,
    .back_to_last = restore_last_step,
    .pack = me_pack,
    .unpack = me_unpack,
    .pack_counts = me_pack_counts,
    .unpack_counts = me_unpack_counts,
    .terminate = tt_unit_default_terminate,
    .equations = &equations,
};
