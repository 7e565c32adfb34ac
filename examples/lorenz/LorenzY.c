/* SPDX-License-Identifier: MIT */
/* LorenzY - y' = x (rho - z) - y */
#include "kit.h"

struct lorenz {
    double y, der_y, x, z, rho;
};
#define KIT_SELF struct lorenz

static const struct kit_var variables[] = {
    KIT_STATE(y, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(y)"),
    KIT_DERIVATIVE(der_y, .name = "der(y)", .depends = "y x z rho"),
    KIT_INPUT(x, .start = "0"),
    KIT_INPUT(z, .start = "0"),
    KIT_PARAMETER(rho, .start = "28"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct lorenz *m = self;
    m->der_y = m->x * (m->rho - m->z) - m->y;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct lorenz *m = self;
    if (unknown != &m->der_y)
        return KIT_OK;
    if (known == &m->y)
        *value = -1;
    else if (known == &m->x)
        *value = m->rho - m->z;
    else if (known == &m->z)
        *value = -m->x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "LorenzY",
    .description = "y' = x (rho - z) - y",
    .size = sizeof(struct lorenz),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 20, .step = 0.05},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .partial = partial,
};
