/* SPDX-License-Identifier: MIT */
/* Predator - y of the equations of Lotka and Volterra, which lives on a prey x: y' = -gamma y + delta x y. */
#include "kit.h"

struct predator {
    double y, der_y, x, gamma, delta;
};
#define KIT_SELF struct predator

static const struct kit_var variables[] = {
    KIT_STATE(y, .causality = KIT_OUTPUT, .start = "0.7142857142857143", .derivative = "der(y)"),
    KIT_DERIVATIVE(der_y, .name = "der(y)", .depends = "y x gamma delta"),
    KIT_INPUT(x, .start = "0", .description = "prey"),
    KIT_PARAMETER(gamma, .start = "0.27", .description = "deaths"),
    KIT_PARAMETER(delta, .start = "0.6", .description = "births by prey"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct predator *m = self;
    m->der_y = -m->gamma * m->y + m->delta * m->x * m->y;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct predator *m = self;
    if (unknown == &m->der_y && known == &m->y)
        *value = -m->gamma + m->delta * m->x;
    else if (unknown == &m->der_y && known == &m->x)
        *value = m->delta * m->y;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Predator",
    .description = "y' = -gamma y + delta x y",
    .size = sizeof(struct predator),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 100, .step = 0.5},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .partial = partial,
};
