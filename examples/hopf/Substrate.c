/* SPDX-License-Identifier: MIT */
/* Substrate - y of the Hopf bifurcation in Awais' thesis, 3.1.4: y' = x z - x^2 y. */
#include "kit.h"

struct substrate {
    double y, der_y, x, z;
};
#define KIT_SELF struct substrate

static const struct kit_var variables[] = {
    KIT_STATE(y, .causality = KIT_OUTPUT, .start = "2", .derivative = "der(y)"),
    KIT_DERIVATIVE(der_y, .name = "der(y)", .depends = "y x z"),
    KIT_INPUT(x, .start = "0"),
    KIT_INPUT(z, .start = "0"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct substrate *m = self;
    m->der_y = m->x * m->z - m->x * m->x * m->y;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct substrate *m = self;
    if (unknown != &m->der_y)
        return KIT_OK;
    if (known == &m->y)
        *value = -m->x * m->x;
    else if (known == &m->x)
        *value = m->z - 2 * m->x * m->y;
    else if (known == &m->z)
        *value = m->x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Substrate",
    .description = "y' = x z - x^2 y",
    .size = sizeof(struct substrate),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 100, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .partial = partial,
};
