/* SPDX-License-Identifier: MIT */
/* Once - a ramp that can be instantiated only once per process, and only stepped with one step size. */
#include "kit.h"

struct once {
    double x, der_x, slope;
};
#define KIT_SELF struct once

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "slope:constant"),
    KIT_PARAMETER(slope, .start = "1"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct once *m = self;
    m->der_x = m->slope;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Once",
    .description = "One instance per process, one step size",
    .size = sizeof(struct once),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_ONCE_PER_PROCESS | KIT_FIXED_STEP,
    .derivatives = derivatives,
};
