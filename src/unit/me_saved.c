/* SPDX-License-Identifier: MIT */
/* Going back to a point between steps. An FMU that can save its state does; of any other, time, states and inputs are set
 * again, which is all there is as long as no event lies between (FMI: discrete states change at events only). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "unit/me.h"

struct tutti_unit_saved {
    struct tutti_saved fmu;
    double t, next_event;
    unsigned long events;
    double event_time;
    enum me_solver_task task;
    bool inputs_changed, near_zero;
    double *x, *nominals;
    double front, event_at; /* where the solver is ahead of the unit, and what was found there */
    double *ahead;
    bool ahead_open;
    size_t event_indicator;
    double step_start, *integral; /* averages */
    bool averaged;
    struct me_input *inputs;
    bool *positive;
    double *z_scale, *recent; /* what tells events from rounding, and from chatter */
    size_t recent_count;
    void *solver; /* the method's own memory; NULL: it keeps none that could be saved */
    bool solver_saved;
};

static void release(struct tutti_unit_saved *saved)
{
    free(saved->x);
    free(saved->ahead);
    free(saved->integral);
    free(saved->nominals);
    free(saved->inputs);
    free(saved->positive);
    free(saved->z_scale);
    free(saved->recent);
    free(saved->solver);
    free(saved);
}

static enum tutti_err allocate(const struct me *me, struct tutti_unit_saved *saved)
{
    saved->x = calloc(me->ode.count + 1, sizeof *saved->x);
    saved->ahead = calloc(me->ode.count + 1, sizeof *saved->ahead);
    saved->integral = calloc(me->ode.count + 1, sizeof *saved->integral);
    saved->nominals = calloc(me->states + 1, sizeof *saved->nominals);
    saved->inputs = calloc(me->inputs.count + 1, sizeof *saved->inputs);
    saved->positive = calloc(me->indicators + 1, sizeof *saved->positive);
    saved->z_scale = calloc(me->indicators + 1, sizeof *saved->z_scale);
    saved->recent = calloc(ME_CHATTER_EVENTS, sizeof *saved->recent);
    bool bytes = me->solver && me->solver->kind->saved_size;
    saved->solver = bytes ? malloc(me->solver->kind->saved_size(me->solver)) : NULL;
    bool all = saved->x && saved->ahead && saved->integral && saved->nominals && saved->inputs && saved->positive &&
               saved->z_scale && saved->recent;
    if (!all || (bytes && !saved->solver))
        return tutti_fail_memory();
    return TUTTI_OK;
}

static enum tutti_err make(const struct me *me, struct tutti_unit_saved **out)
{
    struct tutti_unit_saved *saved = calloc(1, sizeof *saved);
    if (!saved)
        return tutti_fail_memory();
    enum tutti_err err = allocate(me, saved);
    if (err) {
        release(saved);
        return err;
    }
    *out = saved;
    return TUTTI_OK;
}

/* The solver, which may be ahead of the unit. */
static void save_solver(const struct me *me, struct tutti_unit_saved *saved)
{
    me->solver->kind->save(me->solver, saved->solver);
    saved->front = me->front;
    saved->event_at = me->event_at;
    saved->event_indicator = me->event_indicator;
    saved->ahead_open = me->ahead_open;
    memcpy(saved->ahead, me->ahead, me->ode.count * sizeof *saved->ahead);
}

static void restore_solver(struct me *me, const struct tutti_unit_saved *saved)
{
    me->solver->kind->restore(me->solver, saved->solver);
    me->task = saved->task;
    me->front = saved->front;
    me->event_at = saved->event_at;
    me->event_indicator = saved->event_indicator;
    me->ahead_open = saved->ahead_open;
    memcpy(me->ahead, saved->ahead, me->ode.count * sizeof *me->ahead);
}

enum tutti_err tutti_me_save(struct tutti_unit *unit, struct tutti_unit_saved **out)
{
    struct me *me = (struct me *)unit;
    if (!*out)
        TRY(make(me, out));
    struct tutti_unit_saved *saved = *out;
    if (unit->can & TUTTI_CAN_STATE)
        TRY(tutti_instance_save(me->instance, &saved->fmu));
    saved->t = me->t;
    saved->next_event = me->next_event;
    saved->events = me->events;
    saved->event_time = me->event_time;
    saved->task = me->task;
    saved->inputs_changed = me->inputs_changed;
    saved->near_zero = me->near_zero;
    memcpy(saved->x, me->x, me->ode.count * sizeof *saved->x);
    saved->averaged = me->averaged;
    saved->step_start = me->step_start;
    memcpy(saved->integral, me->integral, me->ode.count * sizeof *saved->integral);
    memcpy(saved->nominals, me->nominals, me->states * sizeof *saved->nominals);
    memcpy(saved->inputs, me->inputs.items, me->inputs.count * sizeof *saved->inputs);
    memcpy(saved->positive, me->positive, me->indicators * sizeof *saved->positive);
    memcpy(saved->z_scale, me->z_scale, me->indicators * sizeof *saved->z_scale);
    memcpy(saved->recent, me->recent, ME_CHATTER_EVENTS * sizeof *saved->recent);
    saved->recent_count = me->recent_count;
    saved->solver_saved = saved->solver && me->solver->started;
    if (saved->solver_saved)
        save_solver(me, saved);
    return TUTTI_OK;
}

enum tutti_err tutti_me_restore(struct tutti_unit *unit, const struct tutti_unit_saved *saved)
{
    struct me *me = (struct me *)unit;
    if (unit->can & TUTTI_CAN_STATE)
        TRY(tutti_instance_restore(me->instance, &saved->fmu));
    else if (saved->events != me->events)
        return tutti_fail(
            TUTTI_ERR_UNSUPPORTED,
            "%s (%s): cannot go back to t = %s: there was an event at t = %s, and the FMU offers no saved "
            "states (canGetAndSetFMUstate), without which an event cannot be undone. Use a method that "
            "never repeats a step",
            unit->name, unit->fmu->path, TIME(saved->t), TIME(me->event_time));
    unit->counts.rollbacks++;
    me->t = me->front = saved->t;
    me->next_event = saved->next_event;
    me->event_at = INFINITY;
    me->events = saved->events;
    me->event_time = saved->event_time;
    me->inputs_changed = saved->inputs_changed;
    me->near_zero = saved->near_zero;
    me->ahead_open = false;
    me->averaged = saved->averaged;
    me->step_start = saved->step_start;
    memcpy(me->integral, saved->integral, me->ode.count * sizeof *me->integral);
    memcpy(me->x, saved->x, me->ode.count * sizeof *me->x);
    memcpy(me->ahead, saved->x, me->ode.count * sizeof *me->x);
    memcpy(me->nominals, saved->nominals, me->states * sizeof *me->nominals);
    memcpy(me->inputs.items, saved->inputs, me->inputs.count * sizeof *saved->inputs);
    memcpy(me->positive, saved->positive, me->indicators * sizeof *me->positive);
    memcpy(me->z_scale, saved->z_scale, me->indicators * sizeof *me->z_scale);
    memcpy(me->recent, saved->recent, ME_CHATTER_EVENTS * sizeof *me->recent);
    me->recent_count = saved->recent_count;
    tutti_me_inputs_collect(me);
    me->task = ME_RESTART;
    if (saved->solver_saved)
        restore_solver(me, saved);
    if (tutti_instance_state(me->instance) != TUTTI_STATE_CONTINUOUS)
        return TUTTI_OK;
    TRY(tutti_me_inputs_write(me));
    return tutti_me_place_back(me);
}

void tutti_me_discard(struct tutti_unit *unit, struct tutti_unit_saved *saved)
{
    struct me *me = (struct me *)unit;
    if (!saved)
        return;
    tutti_instance_discard_saved(me->instance, &saved->fmu);
    release(saved);
}
