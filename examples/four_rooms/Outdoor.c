/* SPDX-License-Identifier: MIT */
/* Outdoor - the temperature of the air outside: a sine over the day, coldest at three o'clock at night. */
#include "kit.h"

#include <math.h>

struct outdoor {
    double T;
    double mean, swing;
};
#define KIT_SELF struct outdoor

static const struct kit_unit units[] = {
    {.name = "degC", .K = 1, .offset = 273.15},
    {.name = "K", .K = 1},
};

static const struct kit_var variables[] = {
    KIT_OUTPUT(T, .unit = "degC", .depends = "time mean swing"),
    KIT_PARAMETER(mean, .start = "8", .unit = "degC"),
    KIT_PARAMETER(swing, .start = "6", .unit = "K", .description = "how far it goes up and down"),
};

#define FREQUENCY (2 * M_PI / 86400)
#define MEAN_TIME 32400 /* nine o'clock */

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct outdoor *m = self;
    m->T = m->mean + m->swing * sin(FREQUENCY * (t - MEAN_TIME));
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct outdoor *m = self;
    if (!known)
        *value = m->swing * FREQUENCY * cos(FREQUENCY * (t - MEAN_TIME));
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Outdoor",
    .description = "The temperature of the air outside",
    .size = sizeof(struct outdoor),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 86400, .step = 60},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .output_derivatives = 1,
    .outputs = outputs,
    .partial = partial,
};
