/* SPDX-License-Identifier: MIT */
/* Sampler.c - a sensor: at every tick of its clock it samples its input, and an output clock reports the new value. */
#include "kit.h"

struct sampler {
    struct kit_clock sample, ready;
    double u, y, gain;
};
#define KIT_SELF struct sampler

static const struct kit_var variables[] = {
    KIT_INPUT_CLOCK(sample, KIT_INTERVAL_CONSTANT, .period = "1/100"),
    KIT_OUTPUT_CLOCK(ready, .depends = "sample"),
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .clocks = "sample", .depends = "u sample"),
    KIT_PARAMETER(gain, .start = "1"),
};

static enum kit_status tick(struct kit *kit, void *self, double t, const struct kit_clock *clock)
{
    struct sampler *m = self;
    (void)kit;
    (void)t;
    (void)clock;
    m->y = m->gain * m->u;
    m->ready.active = true;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Sampler",
    .description = "A sensor with a clock of its own",
    .size = sizeof(struct sampler),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.01},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .tick = tick,
};
