/* SPDX-License-Identifier: MIT */
/* Grid - the busbar of a substation: a voltage that the feeders do not change, as a phasor in per unit. */
#include "kit.h"

#include <math.h>

struct grid {
    double vr, vi;
    double magnitude, angle, sag;
};
#define KIT_SELF struct grid

static const struct kit_unit units[] = {{.name = "rad", .rad = 1}};

static const struct kit_var variables[] = {
    KIT_OUTPUT(vr, .depends = "magnitude angle sag", .description = "voltage, real part"),
    KIT_OUTPUT(vi, .depends = "magnitude angle sag", .description = "voltage, imaginary part"),
    KIT_PARAMETER(magnitude, .start = "1.02"),
    KIT_PARAMETER(angle, .start = "0", .unit = "rad"),
    KIT_PARAMETER(sag, .start = "0", .description = "part of the voltage that is lost per second"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct grid *m = self;
    double magnitude = m->magnitude * (1 - m->sag * t);
    m->vr = magnitude * cos(m->angle);
    m->vi = magnitude * sin(m->angle);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Grid",
    .description = "A busbar with a given voltage",
    .size = sizeof(struct grid),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
};
