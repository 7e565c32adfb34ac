/* SPDX-License-Identifier: MIT */
/* House - a heated volume, a heater with a thermostat, and an agent that lowers the thermostat when energy is dear (Awais 2015 section 4.2.3).
 *
 *     tau T' = T_out + rise on - T      on when T falls to `low`, off when it reaches `low` + band
 *     low = comfort - thrift (price - usual)
 *
 * Between events its inputs do not change, and the temperature outside goes on along its slope. So T is known in closed form, and with it the time
 * at which the thermostat switches: the house announces it. */
#include "kit.h"

#include <math.h>

struct house {
    double tau, rise, rated, comfort, band, thrift, usual;
    double T_out, slope, price;
    double T, T_start, power;
    double told, since; /* T_out as it was told last, and when */
    bool on;
};
#define KIT_SELF struct house

static const struct kit_var variables[] = {
    KIT_PARAMETER(tau, .start = "40000", .description = "s, heat capacity times resistance of the walls"),
    KIT_PARAMETER(rise, .start = "30", .description = "K, how much warmer than outside it would become"),
    KIT_PARAMETER(rated, .start = "3", .description = "kW, of the heater"),
    KIT_PARAMETER(comfort, .start = "20", .description = "degC, where the heater goes on at the usual price"),
    KIT_PARAMETER(band, .start = "1", .description = "K, how much warmer it is when the heater goes off"),
    KIT_PARAMETER(thrift, .start = "2", .description = "K per unit of price"),
    KIT_PARAMETER(usual, .start = "0.15", .description = "price"),
    KIT_PARAMETER(T_start, .start = "20.5", .description = "degC"),
    KIT_INPUT(T_out, .start = "5", .variability = KIT_DISCRETE, .description = "degC, when it was told"),
    KIT_INPUT(slope, .start = "0", .variability = KIT_DISCRETE, .description = "K/s, from then on"),
    KIT_INPUT(price, .start = "0.15", .variability = KIT_DISCRETE),
    KIT_OUTPUT(T, .depends = "", .description = "degC"),
    KIT_OUTPUT(power, .variability = KIT_DISCRETE, .depends = "", .description = "kW"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct house *m = self;
    m->T = m->T_start;
    m->on = false;
    m->power = 0;
    m->told = NAN;
    return KIT_OK;
}

/* The temperature h after t. */
static double after(const struct house *m, double t, double h)
{
    double lag = m->T_out + m->slope * (t - m->since - m->tau) + (m->on ? m->rise : 0);
    return lag + m->slope * h + (m->T - lag) * exp(-h / m->tau);
}

static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    struct house *m = self;
    m->T = after(m, t, h);
    return KIT_OK;
}

static double low(const struct house *m)
{
    return m->comfort - m->thrift * (m->price - m->usual);
}

/* By at least so much. */
static bool is_beyond(const struct house *m, double T, double much)
{
    return m->on ? T >= low(m) + m->band + much : T <= low(m) - much;
}

/* When the thermostat switches; or when to look again. */
static double next_switch(const struct house *m, double t)
{
    static const double LOOK = 60, FAR = 7200;
    double before = 0, h = LOOK;
    for (; h < FAR && !is_beyond(m, after(m, t, h), 0); h += LOOK)
        before = h;
    if (h >= FAR)
        return t + FAR;
    for (int i = 0; i < 60; i++) {
        double middle = before + (h - before) / 2;
        *(is_beyond(m, after(m, t, middle), 0) ? &h : &before) = middle;
    }
    return t + h;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    static const double ROUNDING = 1e-9;
    struct house *m = self;
    if (m->T_out != m->told)
        m->since = t;
    m->told = m->T_out;
    if (is_beyond(m, m->T, -ROUNDING))
        m->on = !m->on;
    m->power = m->on ? m->rated : 0;
    event->next_time = next_switch(m, t);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "House",
    .description = "A house with a thermostat and an agent",
    .size = sizeof(struct house),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 259200, .step = 5},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE,
    .initialise = initialise,
    .event = event,
    .advance = advance,
};
