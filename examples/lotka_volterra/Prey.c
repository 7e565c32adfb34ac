/* SPDX-License-Identifier: MIT */
/* Prey - x of the equations of Lotka and Volterra, which a predator y eats: x' = alpha x - beta x y. */
#include "kit.h"

struct prey {
    double x, der_x, y, alpha, beta;
};
#define KIT_SELF struct prey

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1.1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x y alpha beta"),
    KIT_INPUT(y, .start = "0", .description = "predators"),
    KIT_PARAMETER(alpha, .start = "0.5", .description = "births"),
    KIT_PARAMETER(beta, .start = "0.7", .description = "deaths by predators"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct prey *m = self;
    m->der_x = m->alpha * m->x - m->beta * m->x * m->y;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct prey *m = self;
    if (unknown == &m->der_x && known == &m->x)
        *value = m->alpha - m->beta * m->y;
    else if (unknown == &m->der_x && known == &m->y)
        *value = -m->beta * m->x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Prey",
    .description = "x' = alpha x - beta x y",
    .size = sizeof(struct prey),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 100, .step = 0.5},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .partial = partial,
};
