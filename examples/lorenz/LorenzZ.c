/* SPDX-License-Identifier: MIT */
/* LorenzZ - z' = x y - beta z */
#include "kit.h"

struct lorenz {
    double z, der_z, x, y, beta;
};
#define KIT_SELF struct lorenz

static const struct kit_var variables[] = {
    KIT_STATE(z, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(z)"),
    KIT_DERIVATIVE(der_z, .name = "der(z)", .depends = "z x y beta"),
    KIT_INPUT(x, .start = "0"),
    KIT_INPUT(y, .start = "0"),
    KIT_PARAMETER(beta, .start = "2.6666666666666665"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct lorenz *m = self;
    m->der_z = m->x * m->y - m->beta * m->z;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct lorenz *m = self;
    if (unknown != &m->der_z)
        return KIT_OK;
    if (known == &m->z)
        *value = -m->beta;
    else if (known == &m->x)
        *value = m->y;
    else if (known == &m->y)
        *value = m->x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "LorenzZ",
    .description = "z' = x y - beta z",
    .size = sizeof(struct lorenz),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 20, .step = 0.05},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .partial = partial,
};
