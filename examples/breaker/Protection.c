/* SPDX-License-Identifier: MIT */
/* Protection - an overcurrent relay: the measured current follows the current, T m' = i - m, and when it reaches
 * `pickup` the relay opens the breaker for good. The kit finds that state event inside a step to the last digits. In
 * FMI 2.0 an importer sees it after the step only, and has to find it once more; in FMI 3.0 the step ends there, if
 * the importer allows early return. In FMI 2.0 i may change along a polynomial inside a step, in FMI 3.0 in the
 * intermediate update. */
#include "kit.h"

struct protection {
    double m, der_m, i, T, pickup, margin;
    bool closed;
};
#define KIT_SELF struct protection

static const struct kit_unit units[] = {
    {.name = "s", .s = 1},
    {.name = "kA", .A = 1, .factor = 1e3},
    {.name = "kA/s", .A = 1, .s = -1, .factor = 1e3},
};

static const struct kit_var variables[] = {
    KIT_STATE(m, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(m)", .unit = "kA", .depends = "m:constant",
              .description = "measured current"),
    KIT_DERIVATIVE(der_m, .name = "der(m)", .unit = "kA/s", .depends = "m:fixed i:fixed T"),
    KIT_INDICATOR(margin, .unit = "kA", .depends = "m pickup", .description = "> 0 while all is well"),
    KIT_INPUT(i, .start = "0", .unit = "kA", .intermediate = true, .description = "current of the feeder"),
    KIT_OUTPUT(closed, .start = "true", .depends = "", .description = "the breaker may stay closed"),
    KIT_PARAMETER(T, .start = "0.02", .unit = "s", .description = "time constant of the measurement"),
    KIT_PARAMETER(pickup, .start = "2", .unit = "kA", .description = "opens the breaker"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct protection *m = self;
    m->closed = true;
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct protection *m = self;
    m->der_m = (m->i - m->m) / m->T;
    return KIT_OK;
}

/* After the event there is no other: far from zero for good. */
static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct protection *m = self;
    m->margin = m->closed ? m->pickup - m->m : 1;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct protection *m = self;
    if (m->m >= m->pickup)
        m->closed = false;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Protection",
    .description = "An overcurrent relay",
    .size = sizeof(struct protection),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 1.3, .step = 0.001},
    .features = KIT_FOR_FREE | KIT_INPUT_DERIVATIVES | KIT_EVENT_MODE | KIT_EARLY_RETURN | KIT_INTERMEDIATE,
    .output_derivatives = 1,
    .micro_step = 0.0005,
    .initialise = initialise,
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
};
