/* SPDX-License-Identifier: MIT */
/* Meter - the power that a feeder takes from the busbar: p + j q = v conj(i), in per unit. */
#include "kit.h"

struct meter {
    double vr, vi, ir, ii, p, q;
};
#define KIT_SELF struct meter

static const struct kit_var variables[] = {
    KIT_INPUT(vr, .start = "1", .description = "voltage, real part"),
    KIT_INPUT(vi, .start = "0", .description = "voltage, imaginary part"),
    KIT_INPUT(ir, .start = "0", .description = "current, real part"),
    KIT_INPUT(ii, .start = "0", .description = "current, imaginary part"),
    KIT_OUTPUT(p, .depends = "vr vi ir ii", .description = "active power"),
    KIT_OUTPUT(q, .depends = "vr vi ir ii", .description = "reactive power"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct meter *m = self;
    m->p = m->vr * m->ir + m->vi * m->ii;
    m->q = m->vi * m->ir - m->vr * m->ii;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Meter",
    .description = "p + j q = v conj(i)",
    .size = sizeof(struct meter),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
};
