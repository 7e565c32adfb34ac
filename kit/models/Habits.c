/* SPDX-License-Identifier: MIT */
/* Habits - x' = u from x = u + p, and a count of time events of two rounds each, built with the fault layer: the
 * environment variable KIT_FAULT gives it habits of real FMUs. */
#include "kit.h"

#include <math.h>

static const double INTERVAL = 0.125; /* between two events */

struct habits {
    double u, p, x, der_x, y, twice;
    int32_t count;
    double start, next; /* time of the start, of the next event */
    bool fresh;         /* the event needs one more round */
};
#define KIT_SELF struct habits

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_PARAMETER(p, .start = "0"),
    KIT_STATE(x, .initial = KIT_INITIAL_CALCULATED, .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "u:constant"),
    KIT_OUTPUT(y, .depends = "x:constant"),
    KIT_OUTPUT(count, .depends = "", .description = "time events so far"),
    KIT_VAR(twice, .causality = KIT_LOCAL, .depends = "x:constant", .description = "2 x"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct habits *m = self;
    m->x = m->u + m->p;
    m->count = 0;
    m->start = t;
    m->next = t + INTERVAL;
    m->fresh = true;
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct habits *m = self;
    m->der_x = m->u;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct habits *m = self;
    m->y = m->x;
    m->twice = 2 * m->x;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct habits *m = self;
    if (t >= m->next) {
        m->count++;
        m->next = m->start + (m->count + 1) * INTERVAL;
        m->fresh = true;
    }
    event->next_time = m->next;
    event->again = m->fresh;
    m->fresh = false;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Habits",
    .description = "Has habits on demand",
    .size = sizeof(struct habits),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.0625},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .initialise = initialise,
    .derivatives = derivatives,
    .outputs = outputs,
    .event = event,
};
