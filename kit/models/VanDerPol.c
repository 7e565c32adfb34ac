/* SPDX-License-Identifier: MIT */
/* VanDerPol - Van der Pol's oscillator, with its partial derivatives. */
#include "kit.h"

struct oscillator {
    double x0, der_x0, x1, der_x1, mu;
};
#define KIT_SELF struct oscillator

static const struct kit_var variables[] = {
    KIT_STATE(x0, .causality = KIT_OUTPUT, .start = "2", .derivative = "der(x0)"),
    KIT_DERIVATIVE(der_x0, .name = "der(x0)", .depends = "x1:constant"),
    KIT_STATE(x1, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x1)"),
    KIT_DERIVATIVE(der_x1, .name = "der(x1)", .depends = "x0 x1 mu"),
    KIT_PARAMETER(mu, .start = "1", .description = "damping"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct oscillator *m = self;
    m->der_x0 = m->x1;
    m->der_x1 = m->mu * (1 - m->x0 * m->x0) * m->x1 - m->x0;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct oscillator *m = self;
    if (unknown == &m->der_x0 && known == &m->x1)
        *value = 1;
    else if (unknown == &m->der_x1 && known == &m->x0)
        *value = -2 * m->mu * m->x0 * m->x1 - 1;
    else if (unknown == &m->der_x1 && known == &m->x1)
        *value = m->mu * (1 - m->x0 * m->x0);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "VanDerPol",
    .description = "Van der Pol's oscillator",
    .size = sizeof(struct oscillator),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 20, .step = 0.1, .tolerance = 1e-6},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .output_derivatives = 1,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .partial = partial,
};
