/* SPDX-License-Identifier: MIT */
/* Crossings - an oscillator, x = cos(w t + phase), whose indicators are met at times that are known: x itself, both ways;
 * three times x, at the same times; and x - level, which x leaves out if level > 1 and grazes if level = 1. */
#include "kit.h"

#include <math.h>

struct crossings {
    double x, der_x, v, der_v, w, phase, level;
    double zero, triple, top; /* indicators */
    double last, last_step;
    int32_t ups, downs, triples, tops, events, completed, repeated;
    bool started, up, triple_up, high;
};
#define KIT_SELF struct crossings

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .initial = KIT_INITIAL_CALCULATED, .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "v:fixed w"),
    KIT_STATE(v, .causality = KIT_OUTPUT, .initial = KIT_INITIAL_CALCULATED, .derivative = "der(v)"),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .depends = "x:fixed w"),
    KIT_PARAMETER(w, .start = "1"),
    KIT_PARAMETER(phase, .start = "0"),
    KIT_PARAMETER(level, .start = "2"),
    KIT_OUTPUT(ups, .start = "0", .depends = "", .description = "x became positive"),
    KIT_OUTPUT(downs, .start = "0", .depends = "", .description = "... and not positive"),
    KIT_OUTPUT(triples, .start = "0", .depends = "", .description = "3 x did either"),
    KIT_OUTPUT(tops, .start = "0", .depends = "", .description = "x - level did"),
    KIT_OUTPUT(events, .start = "0", .depends = "", .description = "all of them, and those for nothing"),
    KIT_OUTPUT(completed, .start = "0", .depends = "", .description = "steps of the solver"),
    KIT_OUTPUT(repeated, .start = "0", .depends = "", .description = "... that did not end behind the one before"),
    KIT_OUTPUT(last, .variability = KIT_DISCRETE, .start = "-1", .depends = "", .description = "when x crossed last"),
    KIT_INDICATOR(zero, .depends = "x"),
    KIT_INDICATOR(triple, .depends = "x"),
    KIT_INDICATOR(top, .depends = "x level"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct crossings *m = self;
    m->x = cos(m->w * t + m->phase);
    m->v = -sin(m->w * t + m->phase);
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct crossings *m = self;
    m->der_x = m->w * m->v;
    m->der_v = -m->w * m->x;
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct crossings *m = self;
    m->zero = m->x;
    m->triple = 3 * m->x;
    m->top = m->x - m->level;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct crossings *m = self;
    indicators(kit, self, t);
    bool up = m->zero > 0, triple_up = m->triple > 0, high = m->top > 0;
    if (m->started) {
        m->events++;
        m->ups += up && !m->up;
        m->downs += !up && m->up;
        m->triples += triple_up != m->triple_up;
        m->tops += high != m->high;
        if (up != m->up)
            m->last = t;
    }
    m->started = true;
    m->up = up;
    m->triple_up = triple_up;
    m->high = high;
    return KIT_OK;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    struct crossings *m = self;
    m->repeated += m->completed > 0 && t <= m->last_step;
    m->completed++;
    m->last_step = t;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Crossings",
    .description = "Indicators that are met at known times",
    .size = sizeof(struct crossings),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 10, .step = 0.25},
    .features = KIT_FOR_FREE,
    .initialise = initialise,
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
    .completed_step = completed_step,
};
