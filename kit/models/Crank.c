/* SPDX-License-Identifier: MIT */
/* Crank.c - a shaft that turns: its output clock ticks whenever it passes a tooth, which is a state event. */
#include "kit.h"

struct crank {
    struct kit_clock tooth;
    double angle, der_angle, speed, der_speed, past, acceleration;
    int32_t teeth;
    double spacing;
};
#define KIT_SELF struct crank

static const struct kit_var variables[] = {
    KIT_OUTPUT_CLOCK(tooth),
    KIT_STATE(angle, .start = "0", .derivative = "der_angle", .causality = KIT_OUTPUT),
    KIT_DERIVATIVE(der_angle, .depends = "speed"),
    KIT_STATE(speed, .start = "1", .derivative = "der_speed"),
    KIT_DERIVATIVE(der_speed, .depends = "acceleration"),
    KIT_PARAMETER(acceleration, .start = "0.5"),
    KIT_INDICATOR(past),
    KIT_OUTPUT(teeth, .start = "0"),
    KIT_PARAMETER(spacing, .start = "0.3"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct crank *m = self;
    (void)kit;
    (void)t;
    m->der_angle = m->speed;
    m->der_speed = m->acceleration;
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct crank *m = self;
    (void)kit;
    (void)t;
    m->past = m->angle - (m->teeth + 1) * m->spacing;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct crank *m = self;
    (void)kit;
    (void)t;
    (void)event;
    if (m->angle - (m->teeth + 1) * m->spacing > -1e-9) {
        m->teeth++;
        m->tooth.active = true;
    }
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Crank",
    .description = "A shaft whose teeth make a clock tick",
    .size = sizeof(struct crank),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
};
