/* SPDX-License-Identifier: MIT */
/* LorenzX - x' = sigma (y - x) */
#include "kit.h"

struct lorenz {
    double x, der_x, y, sigma;
};
#define KIT_SELF struct lorenz

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x y sigma"),
    KIT_INPUT(y, .start = "0"),
    KIT_PARAMETER(sigma, .start = "10"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct lorenz *m = self;
    m->der_x = m->sigma * (m->y - m->x);
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct lorenz *m = self;
    if (unknown != &m->der_x)
        return KIT_OK;
    if (known == &m->x)
        *value = -m->sigma;
    else if (known == &m->y)
        *value = m->sigma;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "LorenzX",
    .description = "x' = sigma (y - x)",
    .size = sizeof(struct lorenz),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 20, .step = 0.05},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .partial = partial,
};
