/* SPDX-License-Identifier: MIT */
/* Gains - the heat of people and machines in two rooms: it comes and goes smoothly, the first from 8 to 18 o'clock, the
 * second two hours later. */
#include "kit.h"

#include <math.h>

struct gains {
    double q1, q2;
    double power1, power2;
};
#define KIT_SELF struct gains

static const struct kit_unit units[] = {
    {.name = "W", .kg = 1, .m = 2, .s = -3},
};

static const struct kit_var variables[] = {
    KIT_OUTPUT(q1, .unit = "W", .depends = "time power1"),
    KIT_OUTPUT(q2, .unit = "W", .depends = "time power2"),
    KIT_PARAMETER(power1, .start = "1500", .unit = "W", .description = "at 13 o'clock"),
    KIT_PARAMETER(power2, .start = "1000", .unit = "W", .description = "at 15 o'clock"),
};

#define BEGIN1 28800
#define BEGIN2 36000
#define DURATION 36000

/* The phase of the working day that began at `begin`, from 0 to pi; before and after it 0. */
static double phase(double t, double begin)
{
    double day = fmod(t - begin, 86400);
    return day > 0 && day < DURATION ? M_PI * day / DURATION : 0;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct gains *m = self;
    m->q1 = m->power1 * pow(sin(phase(t, BEGIN1)), 2);
    m->q2 = m->power2 * pow(sin(phase(t, BEGIN2)), 2);
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct gains *m = self;
    if (known)
        return KIT_OK;
    if (unknown == &m->q1)
        *value = m->power1 * M_PI / DURATION * sin(2 * phase(t, BEGIN1));
    else
        *value = m->power2 * M_PI / DURATION * sin(2 * phase(t, BEGIN2));
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Gains",
    .description = "The heat of people and machines",
    .size = sizeof(struct gains),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 86400, .step = 60},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .output_derivatives = 1,
    .outputs = outputs,
    .partial = partial,
};
