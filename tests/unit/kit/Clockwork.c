/* SPDX-License-Identifier: MIT */
/* Clockwork - no states, but indicators of time and input: sin(pi t / period), and u - 1. No saved states. */
#include "kit.h"

#include <math.h>

struct clockwork {
    double u, y, period, wave, over, last;
    int32_t turns, crossings;
    bool started, positive, above;
};
#define KIT_SELF struct clockwork

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .depends = "u time", .description = "t^2 + u"),
    KIT_OUTPUT(turns, .start = "0", .depends = "", .description = "of the wave's sign"),
    KIT_OUTPUT(crossings, .start = "0", .depends = "", .description = "of u over or under 1"),
    KIT_OUTPUT(last, .variability = KIT_DISCRETE, .start = "-1", .depends = ""),
    KIT_PARAMETER(period, .start = "1"),
    KIT_INDICATOR(wave, .depends = "time period"),
    KIT_INDICATOR(over, .depends = "u"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct clockwork *m = self;
    m->y = t * t + m->u;
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct clockwork *m = self;
    m->wave = sin(3.14159265358979323846 * t / m->period);
    m->over = m->u - 1;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct clockwork *m = self;
    indicators(kit, self, t);
    if (m->started) {
        m->turns += (m->wave > 0) != m->positive;
        m->crossings += (m->over > 0) != m->above;
        m->last = t;
    }
    m->started = true;
    m->positive = m->wave > 0;
    m->above = m->over > 0;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct clockwork *m = self;
    if (unknown == &m->y)
        *value = known == &m->u ? 1 : known ? 0 : 2 * t;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Clockwork",
    .description = "Events without states",
    .size = sizeof(struct clockwork),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 5, .step = 0.3},
    .features = KIT_DIRECTIONAL,
    .outputs = outputs,
    .indicators = indicators,
    .event = event,
    .partial = partial,
};
