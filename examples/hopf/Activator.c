/* SPDX-License-Identifier: MIT */
/* Activator - x of the Hopf bifurcation in Awais' thesis, 3.1.4: x' = 1 + x^2 y - (z + 1) x. */
#include "kit.h"

struct activator {
    double x, der_x, y, z;
};
#define KIT_SELF struct activator

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x y z"),
    KIT_INPUT(y, .start = "0"),
    KIT_INPUT(z, .start = "0"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct activator *m = self;
    m->der_x = 1 + m->x * m->x * m->y - (m->z + 1) * m->x;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct activator *m = self;
    if (unknown != &m->der_x)
        return KIT_OK;
    if (known == &m->x)
        *value = 2 * m->x * m->y - (m->z + 1);
    else if (known == &m->y)
        *value = m->x * m->x;
    else if (known == &m->z)
        *value = -m->x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Activator",
    .description = "x' = 1 + x^2 y - (z + 1) x",
    .size = sizeof(struct activator),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 100, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .partial = partial,
};
