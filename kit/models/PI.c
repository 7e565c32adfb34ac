/* SPDX-License-Identifier: MIT */
/* PI.c - a PI controller as the partition of a clock: at every tick it reads y, and computes u. With PI_TRIGGERED its
 * clock is triggered from outside. */
#include "kit.h"

struct pi {
    struct kit_clock tick;
    double r, y, u, integral, gain, reset;
    int32_t count;
};
#define KIT_SELF struct pi

static const struct kit_var variables[] = {
#ifdef PI_TRIGGERED
    KIT_INPUT_CLOCK(tick, KIT_TRIGGERED, .priority = 1),
    KIT_PARAMETER(reset, .name = "gain_per_tick", .start = "0.1", .description = "of the integral"),
#else
    KIT_INPUT_CLOCK(tick, KIT_INTERVAL_FIXED, .period = "1/100", .priority = 1),
    KIT_PARAMETER(reset, .name = "gain_per_second", .start = "10", .description = "of the integral"),
#endif
    KIT_PARAMETER(r, .start = "1", .description = "what y is to be"),
    KIT_PARAMETER(gain, .start = "1"),
    KIT_INPUT(y, .start = "0", .clocks = "tick"),
    KIT_OUTPUT(u, .clocks = "tick", .depends = "y tick"),
    KIT_OUTPUT(count, .clocks = "tick", .depends = "tick"),
};

static enum kit_status tick(struct kit *kit, void *self, double t, const struct kit_clock *clock)
{
    struct pi *m = self;
    double error = m->r - m->y;
    (void)kit;
    (void)t;
    m->integral += m->reset * (clock->interval > 0 ? clock->interval : 1) * error;
    m->u = m->gain * error + m->integral;
    m->count++;
    return KIT_OK;
}

const struct kit_model kit_model = {
#ifdef PI_TRIGGERED
    .name = "PITriggered",
#else
    .name = "PI",
#endif
    .description = "A PI controller in a clocked partition",
    .size = sizeof(struct pi),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.01},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_SCHEDULED | KIT_EARLY_RETURN,
    .tick = tick,
};
