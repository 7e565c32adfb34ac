/* SPDX-License-Identifier: MIT */
/* Forgetful - a ball that falls and bounces, and checks its height after every micro step: a changed sign is an event.
 * The last sign is not part of its saved states, as in some real FMUs: a master that rolls back over the floor and
 * steps there again gets no event the second time. (One instance per process.) */
#include "kit.h"

struct ball {
    double h, der_h, v, der_v, e;
};
#define KIT_SELF struct ball

static const struct kit_var variables[] = {
    KIT_STATE(h, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(h)"),
    KIT_DERIVATIVE(der_h, .name = "der(h)", .depends = "v:constant"),
    KIT_STATE(v, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v)", .reinit = true),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .depends = ""),
    KIT_PARAMETER(e, .start = "0.7", .description = "what is left of the speed after a bounce"),
};

static bool was_above = true;

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct ball *m = self;
    m->der_h = m->v;
    m->der_v = -9.81;
    return KIT_OK;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    const struct ball *m = self;
    *step_event = (m->h > 0) != was_above;
    was_above = m->h > 0;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct ball *m = self;
    if (m->h <= 0 && m->v < 0) {
        m->v = -m->e * m->v;
        event->states_changed = true;
    }
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Forgetful",
    .description = "A ball whose saved states lack what its events hang on",
    .size = sizeof(struct ball),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 2, .step = 0.05},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .event = event,
    .completed_step = completed_step,
};
