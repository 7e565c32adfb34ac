/* SPDX-License-Identifier: MIT */
/* BouncingBall - a ball falls from height h, loses speed at every bounce, and comes to rest.
 *
 * State events with new values for the states. From rest at h = 1 the first bounce is at sqrt(2 / g); after a bounce
 * with speed v the next one follows 2 v / g later. */
#include "kit.h"

#include <float.h>

struct ball {
    double h, der_h, v, der_v;
    double g, e, v_min;
    double above; /* indicator */
    int32_t bounces;
    bool resting;
};
#define KIT_SELF struct ball

static const struct kit_unit units[] = {
    {.name = "m", .m = 1},
    {.name = "m/s", .m = 1, .s = -1, .display = {{"km/h", 3.6, 0}}},
    {.name = "m/s2", .m = 1, .s = -2},
};

static const struct kit_var variables[] = {
    KIT_STATE(h, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(h)", .reinit = true, .unit = "m",
              .description = "height of the ball"),
    KIT_DERIVATIVE(der_h, .name = "der(h)", .unit = "m/s", .depends = "v:constant"),
    KIT_STATE(v, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v)", .reinit = true, .unit = "m/s",
              .display_unit = "km/h", .description = "speed of the ball, upwards"),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .unit = "m/s2", .depends = "g"),
    KIT_PARAMETER(g, .start = "9.81", .min = "0", .unit = "m/s2", .description = "gravity"),
    KIT_PARAMETER(e, .start = "0.7", .min = "0", .max = "1", .description = "part of the speed left after a bounce"),
    KIT_VAR(v_min, .variability = KIT_CONSTANT, .start = "0.1", .unit = "m/s", .description = "a slower ball rests"),
    KIT_OUTPUT(bounces, .start = "0", .depends = "", .description = "number of bounces so far"),
    KIT_INDICATOR(above, .unit = "m", .depends = "h", .description = "height above the floor, while the ball moves"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct ball *m = self;
    m->der_h = m->v;
    m->der_v = m->resting ? 0 : -m->g;
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct ball *m = self;
    m->above = m->resting ? 1 : m->h;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct ball *m = self;
    if (m->h > 0 || m->v >= 0)
        return KIT_OK;
    m->h = DBL_MIN; /* just above the floor: leaving it is not an event */
    m->v *= -m->e;
    m->bounces++;
    m->resting = m->v < m->v_min;
    if (m->resting)
        m->v = 0;
    event->states_changed = true;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "BouncingBall",
    .description = "A ball that bounces until it rests",
    .size = sizeof(struct ball),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 3, .step = 0.01},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
};
