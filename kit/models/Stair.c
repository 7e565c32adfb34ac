/* SPDX-License-Identifier: MIT */
/* Stair - counts the seconds by time events, and ends the simulation when it has counted to ten. */
#include "kit.h"

#include <math.h>

struct stair {
    int32_t counter;
    double next; /* time of the next step of the stair */
};
#define KIT_SELF struct stair

static const struct kit_var variables[] = {
    KIT_OUTPUT(counter, .start = "0", .min = "0", .max = "10", .depends = "", .description = "full seconds"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct stair *m = self;
    m->next = floor(t) + 1;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct stair *m = self;
    if (t >= m->next) {
        m->counter++;
        m->next++;
    }
    event->terminate = m->counter >= 10;
    event->next_time = m->next;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Stair",
    .description = "Counts seconds and stops at ten",
    .size = sizeof(struct stair),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 12, .step = 0.2},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .initialise = initialise,
    .event = event,
};
