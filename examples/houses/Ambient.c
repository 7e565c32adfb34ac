/* SPDX-License-Identifier: MIT */
/* Ambient - the temperature outside, from 5 degC at midnight to 15 degC at noon (Awais 2015 Fig. 4.12). */
#include "kit.h"

#include <math.h>

struct ambient {
    double mean, swing, T, slope;
};
#define KIT_SELF struct ambient

static const struct kit_var variables[] = {
    KIT_PARAMETER(mean, .start = "10", .description = "degC"),
    KIT_PARAMETER(swing, .start = "5", .description = "degC"),
    KIT_OUTPUT(T, .depends = "", .description = "degC"),
    KIT_OUTPUT(slope, .depends = "", .description = "K/s"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    static const double PI = 3.14159265358979323846, DAY = 86400;
    struct ambient *m = self;
    m->T = m->mean - m->swing * cos(2 * PI * t / DAY);
    m->slope = 2 * PI / DAY * m->swing * sin(2 * PI * t / DAY);
    return KIT_OK;
}

static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Ambient",
    .description = "The temperature outside",
    .size = sizeof(struct ambient),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 259200, .step = 5},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
    .advance = advance,
};
