/* SPDX-License-Identifier: MIT */
/* Ticker - advances by exactly one tick per step, whatever the step size: no equations, only Co-Simulation. */
#include "kit.h"

struct ticker {
    int32_t ticks;
    double y, increment;
};
#define KIT_SELF struct ticker

static const struct kit_var variables[] = {
    KIT_OUTPUT(ticks, .start = "0", .depends = "", .description = "steps so far"),
    KIT_OUTPUT(y, .variability = KIT_DISCRETE, .depends = "increment", .description = "ticks * increment"),
    KIT_PARAMETER(increment, .start = "0.5"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct ticker *m = self;
    m->y = m->ticks * m->increment;
    return KIT_OK;
}

static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    struct ticker *m = self;
    m->ticks++;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Ticker",
    .description = "One tick per step",
    .size = sizeof(struct ticker),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
    .advance = advance,
};
