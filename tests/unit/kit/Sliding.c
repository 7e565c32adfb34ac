/* SPDX-License-Identifier: MIT */
/* Sliding - x' = -1 if the last event found x positive, otherwise +1: from x = 0 on, at t = |x(0)|, it chatters,
 * because the switch has no hysteresis. With `bounce` it is a ball whose bounces accumulate. */
#include "kit.h"

struct sliding {
    double x, der_x, v, der_v, e, side;
    bool bounce, positive;
};
#define KIT_SELF struct sliding

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)", .reinit = true),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "v:constant"),
    KIT_STATE(v, .start = "0", .derivative = "der(v)", .reinit = true),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .depends = ""),
    KIT_PARAMETER(bounce, .start = "false"),
    KIT_PARAMETER(e, .start = "0.5", .description = "part of the speed left after a bounce"),
    KIT_INDICATOR(side, .depends = "x"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct sliding *m = self;
    m->der_x = m->bounce ? m->v : m->positive ? -1 : 1;
    m->der_v = m->bounce ? -10 : 0;
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct sliding *m = self;
    m->side = m->x;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct sliding *m = self;
    m->positive = m->x > 0;
    if (m->bounce && !m->positive && m->v < 0) {
        m->v *= -m->e;
        event->states_changed = true;
    }
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Sliding",
    .description = "Chatters",
    .size = sizeof(struct sliding),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 3, .step = 0.125},
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
};
