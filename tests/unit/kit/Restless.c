/* SPDX-License-Identifier: MIT */
/* Restless - an oscillator, x'' = -x, and a fast state that follows it, f' = 1000 (x - f). It asks for event mode after
 * every `every`-th step of the integrator, as FMUs of some tools do; nothing changes there, unless `what` says so. */
#include "kit.h"

enum {
    NOTHING,
    CLAIM,    /* says that the states have changed, and they have not */
    NOMINALS, /* says so of the nominal values */
    NUDGE,    /* x moves by 0.01, without notifying the importer */
    SWITCH,   /* the derivative of x is another one from then on, and no state is */
};

struct restless {
    double x, v, f, der_x, der_v, der_f, push;
    int32_t every, what, steps, events;
    bool started;
};
#define KIT_SELF struct restless

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)", .reinit = true),
    KIT_STATE(v, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v)"),
    KIT_STATE(f, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(f)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "v:constant"),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .depends = "x:constant"),
    KIT_DERIVATIVE(der_f, .name = "der(f)", .depends = "x:constant f:constant"),
    KIT_PARAMETER(every, .start = "1", .description = "0: it never asks"),
    KIT_PARAMETER(what, .start = "0"),
    KIT_OUTPUT(events, .start = "0", .depends = ""),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct restless *m = self;
    m->der_x = m->v;
    m->der_v = m->push - m->x;
    m->der_f = 1000 * (m->x - m->f);
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct restless *m = self;
    if (m->started) {
        m->events++;
        event->states_changed = m->what == CLAIM;
        event->nominals_changed = m->what == NOMINALS;
        m->x += m->what == NUDGE ? 0.01 : 0;
        m->push = m->what == SWITCH ? -m->x : 0;
    }
    m->started = true;
    return KIT_OK;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    struct restless *m = self;
    *step_event = m->every > 0 && ++m->steps % m->every == 0;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Restless",
    .description = "Asks for an event after every step of the integrator",
    .size = sizeof(struct restless),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 20, .step = 0.1},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .event = event,
    .completed_step = completed_step,
};
