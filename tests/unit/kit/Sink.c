/* SPDX-License-Identifier: MIT */
/* Sink - a level that falls at constant speed and cannot become negative: what the kit's own models do not do. It
 * refuses points (Discard), counts seconds (time events), its own steps, and jumps of its input (events at a start). */
#include "kit.h"

struct sink {
    double x, der_x, u, high, next;
    int32_t seconds, jumps, steps;
};
#define KIT_SELF struct sink

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "2.5", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = ""),
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(seconds, .start = "0", .depends = ""),
    KIT_OUTPUT(jumps, .start = "0", .depends = "u"),
    KIT_OUTPUT(steps, .start = "0", .depends = "", .description = "integrator steps that were completed"),
    KIT_INDICATOR(high, .depends = "u"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    ((struct sink *)self)->next = t + 1;
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct sink *m = self;
    m->der_x = -1;
    return m->x < 0 ? KIT_DISCARD : KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct sink *m = self;
    m->high = m->u - 0.5;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct sink *m = self;
    if (t >= m->next) {
        m->seconds++;
        m->next++;
    }
    if ((m->u > 0.5) != (m->jumps % 2 == 1)) {
        m->jumps++;
        event->again = true;
    }
    event->next_time = m->next;
    return KIT_OK;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    ((struct sink *)self)->steps++;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Sink",
    .size = sizeof(struct sink),
    KIT_VARIABLES(variables),
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .micro_step = 0.1,
    .initialise = initialise,
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
    .completed_step = completed_step,
};
