/* SPDX-License-Identifier: MIT */
/* Beat.c - a unit of random systems of clocks: a periodic clock, one that others trigger, one that it triggers. Its
 * outputs depend on the order of all ticks. */
#include "kit.h"

struct beat {
    struct kit_clock own, triggered, out;
    int32_t a, v, count, counter, resolution, shift, modulo;
};
#define KIT_SELF struct beat

static const struct kit_var variables[] = {
    KIT_INPUT_CLOCK(own, KIT_INTERVAL_FIXED, .priority = 2),
    KIT_INPUT_CLOCK(triggered, KIT_TRIGGERED, .priority = 1),
    KIT_OUTPUT_CLOCK(out, .depends = "own triggered"),
    KIT_INPUT(a, .start = "0", .clocks = "own triggered"),
    KIT_OUTPUT(v, .clocks = "own triggered", .depends = "a own triggered"),
    KIT_OUTPUT(count, .clocks = "own triggered", .depends = "own triggered"),
    KIT_PARAMETER(counter, .start = "1"),
    KIT_PARAMETER(resolution, .start = "10"),
    KIT_PARAMETER(shift, .start = "0"),
    KIT_PARAMETER(modulo, .start = "2"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct beat *m = self;
    (void)t;
    kit_set_shift(kit, &m->own, (uint64_t)m->shift, (uint64_t)m->resolution);
    return kit_set_interval(kit, &m->own, (uint64_t)m->counter, (uint64_t)m->resolution);
}

static enum kit_status tick(struct kit *kit, void *self, double t, const struct kit_clock *clock)
{
    struct beat *m = self;
    (void)t;
    kit_lock_preemption(kit);
    m->v = (m->v * 31 + m->a * 7 + (clock == &m->own ? 1 : 2)) % 1000003;
    m->count++;
    kit_unlock_preemption(kit);
    if (m->modulo > 0 && m->v % m->modulo == 0)
        m->out.active = true;
    return KIT_OK;
}

const struct kit_model kit_model = {
#ifdef BEAT_IS_SCHEDULED
    .name = "BeatSE",
    .features = KIT_FOR_FREE | KIT_ONLY_SCHEDULED,
#else
    .name = "Beat",
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_SCHEDULED | KIT_EARLY_RETURN,
#endif
    .size = sizeof(struct beat),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.5},
    .initialise = initialise,
    .tick = tick,
};
