/* SPDX-License-Identifier: MIT */
/* Market - takes the mean of what seven houses consume, and makes a new price of it every 15 minutes (Awais 2015 section 4.2.3). What they consume
 * changes at events only, of which it hears, so that the mean is exact. */
#include "kit.h"

enum { HOUSES = 7 };

struct market {
    double power[HOUSES];
    double period, full, least, span, price;
    double energy, total, since, next;
};
#define KIT_SELF struct market

#define POWER(i) KIT_INPUT(power[i], .name = "power" #i, .start = "0", .variability = KIT_DISCRETE, .description = "kW")

static const struct kit_var variables[] = {
    POWER(0),
    POWER(1),
    POWER(2),
    POWER(3),
    POWER(4),
    POWER(5),
    POWER(6),
    KIT_PARAMETER(period, .start = "900", .description = "s, from price to price"),
    KIT_PARAMETER(full, .start = "21", .description = "kW, if all heaters are on"),
    KIT_PARAMETER(least, .start = "0.12", .description = "the price if none is"),
    KIT_PARAMETER(span, .start = "0.06", .description = "by how much it rises if all are"),
    KIT_OUTPUT(price, .start = "0.15", .variability = KIT_DISCRETE, .depends = ""),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct market *m = self;
    m->price = m->least + m->span / 2;
    m->since = t;
    m->next = t + m->period;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct market *m = self;
    m->energy += m->total * (t - m->since);
    m->since = t;
    m->total = 0;
    for (int i = 0; i < HOUSES; i++)
        m->total += m->power[i];
    if (t >= m->next) {
        m->price = m->least + m->span * m->energy / (m->period * m->full);
        m->energy = 0;
        m->next += m->period;
    }
    event->next_time = m->next;
    return KIT_OK;
}

static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Market",
    .description = "A price for energy, by what is consumed",
    .size = sizeof(struct market),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 259200, .step = 5},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE,
    .initialise = initialise,
    .event = event,
    .advance = advance,
};
