/* SPDX-License-Identifier: MIT */
/* Alarm - announces one event, at a time of the user's choice, and reports the number and time of its events. A second
 * event comes `again` later. */
#include "kit.h"

#include <math.h>

struct alarm {
    double at, again, next, last;
    int32_t rings;
};
#define KIT_SELF struct alarm

static const struct kit_var variables[] = {
    KIT_PARAMETER(at, .start = "1", .description = "when it rings"),
    KIT_PARAMETER(again, .start = "0", .description = "how much later it rings again; 0: it does not"),
    KIT_OUTPUT(rings, .start = "0", .depends = ""),
    KIT_OUTPUT(last, .variability = KIT_DISCRETE, .start = "-1", .depends = "", .description = "when it rang"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct alarm *m = self;
    m->next = m->at;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct alarm *m = self;
    if (t >= m->next) {
        m->rings++;
        m->last = t;
        m->next = m->rings == 1 && m->again > 0 ? m->at + m->again : INFINITY;
    }
    event->next_time = m->next;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Alarm",
    .description = "Rings at a time of choice",
    .size = sizeof(struct alarm),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .initialise = initialise,
    .event = event,
};
