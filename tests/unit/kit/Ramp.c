/* SPDX-License-Identifier: MIT */
/* Ramp - x' = rate + u, with an event where x reaches `at`, at which it does what the parameter `what` says; and a time
 * event every `period`. Built with the fault layer. */
#include "kit.h"

#include <math.h>

enum {
    COUNT,          /* and look no further */
    RESET,          /* x becomes `back` */
    RESET_SILENTLY, /* without notifying the importer */
    END,
    ITERATE, /* three rounds */
    NEVER_SETTLE,
    RENAME,         /* another nominal value */
    LOSE_STATE,     /* x becomes NaN */
    LOSE_INDICATOR, /* no event: the indicator is NaN from `at` on */
    BLOW_INDICATOR, /* ... or infinite */
};

struct ramp {
    double x, der_x, u, rate, at, back, period, to_go, last, level, y;
    double origin;
    int32_t what, events, rounds, ticks, gate, gates, left;
    bool started, passed;
};
#define KIT_SELF struct ramp

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)", .reinit = true),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "u:constant rate"),
    KIT_INPUT(u, .start = "0"),
    KIT_INPUT(gate, .start = "0", .description = "each change of it is an event"),
    KIT_INPUT(level, .variability = KIT_DISCRETE, .start = "0"),
    KIT_PARAMETER(rate, .start = "1"),
    KIT_PARAMETER(at, .start = "1000"),
    KIT_PARAMETER(back, .start = "0"),
    KIT_PARAMETER(period, .start = "0", .description = "0: no time events"),
    KIT_PARAMETER(what, .start = "0"),
    KIT_OUTPUT(y, .depends = "x:constant u:constant level", .description = "x + 10 u + 100 level"),
    KIT_OUTPUT(events, .start = "0", .depends = "", .description = "times that x reached `at`"),
    KIT_OUTPUT(rounds, .start = "0", .depends = "", .description = "calls of event(), but for the first"),
    KIT_OUTPUT(ticks, .start = "0", .depends = "", .description = "time events"),
    KIT_OUTPUT(gates, .start = "0", .depends = "", .description = "the gate, as events have seen it"),
    KIT_OUTPUT(last, .variability = KIT_DISCRETE, .start = "-1", .depends = "",
               .description = "time of the last round"),
    KIT_INDICATOR(to_go, .depends = "x at"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    ((struct ramp *)self)->origin = t;
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct ramp *m = self;
    m->der_x = m->rate + m->u;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct ramp *m = self;
    m->y = m->x + 10 * m->u + 100 * m->level;
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct ramp *m = self;
    m->to_go = m->passed ? 1 : m->at - m->x;
    if (m->what == LOSE_INDICATOR || m->what == BLOW_INDICATOR)
        m->to_go = m->x < m->at ? 1 : m->what == LOSE_INDICATOR ? (double)NAN : (double)INFINITY;
    return KIT_OK;
}

static void arrive(struct kit *kit, struct ramp *m, struct kit_event *event)
{
    m->events++;
    m->passed = m->what == COUNT || m->what == ITERATE;
    switch (m->what) {
    case RESET: event->states_changed = true; /* fall through */
    case RESET_SILENTLY: m->x = m->back; break;
    case END: event->terminate = true; break;
    case ITERATE: m->left = 2; break;
    case RENAME:
        event->nominals_changed = true;
        m->passed = true;
        kit_set_nominal(kit, &m->x, 1e3);
        break;
    case LOSE_STATE:
        m->x = (double)NAN;
        event->states_changed = true;
        break;
    default: break;
    }
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct ramp *m = self;
    if (m->started) {
        m->rounds++;
        m->last = t;
    }
    m->started = true;
    m->gates = m->gate;
    if (m->left > 0)
        event->again = --m->left > 0;
    else if (!m->passed && m->x >= m->at && m->what != LOSE_INDICATOR && m->what != BLOW_INDICATOR)
        arrive(kit, m, event);
    event->again = event->again || m->left > 0 || (m->what == NEVER_SETTLE && m->events > 0);
    if (m->period > 0) {
        while (m->origin + (m->ticks + 1) * m->period <= t)
            m->ticks++;
        event->next_time = m->origin + (m->ticks + 1) * m->period;
    }
    return KIT_OK;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    return KIT_OK; /* but it requires the notification */
}

const struct kit_model kit_model = {
    .name = "Ramp",
    .description = "Events of every kind",
    .size = sizeof(struct ramp),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 2, .step = 0.125},
    .features = KIT_FOR_FREE,
    .initialise = initialise,
    .derivatives = derivatives,
    .outputs = outputs,
    .indicators = indicators,
    .event = event,
    .completed_step = completed_step,
};
