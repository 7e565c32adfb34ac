/* SPDX-License-Identifier: MIT */
/* Integrator - y' = gain u. Two of them in a ring, with gains of -1 and 1, are an oscillator. */
#include "kit.h"

struct integrator {
    double y, der_y, u, gain;
};
#define KIT_SELF struct integrator

static const struct kit_var variables[] = {
    KIT_STATE(y, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(y)"),
    KIT_DERIVATIVE(der_y, .name = "der(y)", .depends = "u:fixed gain"),
    KIT_INPUT(u, .start = "0"),
    KIT_PARAMETER(gain, .start = "1"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct integrator *m = self;
    m->der_y = m->gain * m->u;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct integrator *m = self;
    if (unknown == &m->der_y && known == &m->u)
        *value = m->gain;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Integrator",
    .description = "y' = gain u",
    .size = sizeof(struct integrator),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 50, .step = 0.5},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.1,
    .derivatives = derivatives,
    .partial = partial,
};
