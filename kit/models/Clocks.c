/* SPDX-License-Identifier: MIT */
/* Clocks.c - every kind of clock. Each counts its ticks and records the time of the last one; a hash of all ticks
 * depends on their order. `changing` ticks after 1/10, 2/10, 3/10, 1/10, ... seconds; `countdown` 1/70 s after every
 * third tick of `constant`; `computed` has an interval that follows from a parameter; `told` has an interval set by the
 * importer; `out` ticks with every second tick of `triggered`. */
#include "kit.h"

struct clocks {
    struct kit_clock constant, decimal, told, computed, tunable, changing, countdown, triggered, out;
    int32_t constant_count, decimal_count, told_count, computed_count, tunable_count, changing_count, countdown_count,
        triggered_count, out_count;
    double constant_time, decimal_time, told_time, computed_time, tunable_time, changing_time, countdown_time,
        triggered_time;
    int32_t period_in_ms, tunable_in_ms;
    int32_t order;
};
#define KIT_SELF struct clocks

#define ALL "constant decimal told computed tunable changing countdown triggered"
#define COUNTED(name_)                                                                                                 \
    KIT_OUTPUT(name_##_count, .clocks = #name_, .depends = #name_),                                                    \
        KIT_OUTPUT(name_##_time, .clocks = #name_, .depends = #name_)

static const struct kit_var variables[] = {
    KIT_INPUT_CLOCK(constant, KIT_INTERVAL_CONSTANT, .period = "1/100", .shift = "1/200", .priority = 1),
    KIT_INPUT_CLOCK(decimal, KIT_INTERVAL_CONSTANT, .period = "0.1", .shift = "0.05", .priority = 2),
    KIT_INPUT_CLOCK(told, KIT_INTERVAL_FIXED, .period = "1/30", .priority = 3),
    KIT_INPUT_CLOCK(computed, KIT_INTERVAL_FIXED, .priority = 4),
    KIT_INPUT_CLOCK(tunable, KIT_INTERVAL_TUNABLE, .priority = 5),
    KIT_INPUT_CLOCK(changing, KIT_INTERVAL_CHANGING, .priority = 6),
    KIT_INPUT_CLOCK(countdown, KIT_INTERVAL_COUNTDOWN, .priority = 7),
    KIT_INPUT_CLOCK(triggered, KIT_TRIGGERED, .priority = 8),
    KIT_OUTPUT_CLOCK(out, .depends = "triggered"),
    COUNTED(constant),
    COUNTED(decimal),
    COUNTED(told),
    COUNTED(computed),
    COUNTED(tunable),
    COUNTED(changing),
    COUNTED(countdown),
    COUNTED(triggered),
    KIT_OUTPUT(out_count, .clocks = "triggered", .depends = "triggered"),
    KIT_OUTPUT(order, .clocks = ALL, .depends = ALL),
    KIT_PARAMETER(period_in_ms, .start = "70"),
    KIT_PARAMETER(tunable_in_ms, .start = "110", .variability = KIT_TUNABLE),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct clocks *m = self;
    (void)t;
    kit_set_interval(kit, &m->computed, (uint64_t)m->period_in_ms, 1000);
    kit_set_shift(kit, &m->computed, 1, 1000);
    kit_set_interval(kit, &m->tunable, (uint64_t)m->tunable_in_ms, 1000);
    return kit_set_interval(kit, &m->changing, 1, 10);
}

struct counted {
    const struct kit_clock *clock;
    int32_t *count;
    double *time;
};

static enum kit_status tick(struct kit *kit, void *self, double t, const struct kit_clock *clock)
{
    struct clocks *m = self;
    struct counted all[] = {
#define ONE(name) {&m->name, &m->name##_count, &m->name##_time}
        ONE(constant), ONE(decimal),  ONE(told),      ONE(computed),
        ONE(tunable),  ONE(changing), ONE(countdown), ONE(triggered),
#undef ONE
    };
    for (int32_t i = 0; i < (int32_t)KIT_COUNT(all); i++)
        if (all[i].clock == clock) {
            ++*all[i].count;
            *all[i].time = t;
            m->order = (m->order * 31 + i + 1) % 1000003;
        }
    if (clock == &m->changing)
        return kit_set_interval(kit, &m->changing, (uint64_t)(m->changing_count % 3) + 1, 10);
    if (clock == &m->constant && m->constant_count % 3 == 0)
        return kit_set_interval(kit, &m->countdown, 1, 70);
    if (clock == &m->triggered && m->triggered_count % 2 == 0) {
        m->out.active = true;
        m->out_count++;
    }
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct clocks *m = self;
    (void)t;
    (void)event;
    return (uint64_t)m->tunable_in_ms == m->tunable.counter
               ? KIT_OK
               : kit_set_interval(kit, &m->tunable, (uint64_t)m->tunable_in_ms, 1000);
}

const struct kit_model kit_model = {
    .name = "Clocks",
    .description = "Every kind of clock",
    .size = sizeof(struct clocks),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_SCHEDULED | KIT_EARLY_RETURN,
    .initialise = initialise,
    .tick = tick,
    .event = event,
};
