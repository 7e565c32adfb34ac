/* SPDX-License-Identifier: MIT */
/* Regulator - a transformer that raises its voltage with the power that three other feeders take:
 * v = e (1 + gain (p1 + p2 + p3)), phasors in per unit. */
#include "kit.h"

struct regulator {
    double er, ei, p1, p2, p3, vr, vi;
    double gain;
};
#define KIT_SELF struct regulator

static const struct kit_var variables[] = {
    KIT_INPUT(er, .start = "1", .description = "voltage of the busbar, real part"),
    KIT_INPUT(ei, .start = "0", .description = "voltage of the busbar, imaginary part"),
    KIT_INPUT(p1, .start = "0", .description = "active power of a feeder"),
    KIT_INPUT(p2, .start = "0", .description = "active power of a feeder"),
    KIT_INPUT(p3, .start = "0", .description = "active power of a feeder"),
    KIT_OUTPUT(vr, .depends = "er p1 p2 p3 gain", .description = "voltage, real part"),
    KIT_OUTPUT(vi, .depends = "ei p1 p2 p3 gain", .description = "voltage, imaginary part"),
    KIT_PARAMETER(gain, .start = "0.01"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct regulator *m = self;
    double ratio = 1 + m->gain * (m->p1 + m->p2 + m->p3);
    m->vr = m->er * ratio;
    m->vi = m->ei * ratio;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Regulator",
    .description = "v = e (1 + gain (p1 + p2 + p3))",
    .size = sizeof(struct regulator),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
};
