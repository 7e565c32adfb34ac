/* SPDX-License-Identifier: MIT */
/* DrivenVanDerPol - Van der Pol's oscillator with an input, Andersson's thesis, eq. 9.1. */
#include "kit.h"

struct oscillator {
    double x1, der_x1, x2, der_x2, u, mu;
};
#define KIT_SELF struct oscillator

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_STATE(x1, .causality = KIT_OUTPUT, .start = "-0.6", .derivative = "der(x1)"),
    KIT_DERIVATIVE(der_x1, .name = "der(x1)", .depends = "x1 x2 u:constant mu"),
    KIT_STATE(x2, .causality = KIT_OUTPUT, .start = "2", .derivative = "der(x2)"),
    KIT_DERIVATIVE(der_x2, .name = "der(x2)", .depends = "x1:constant"),
    KIT_PARAMETER(mu, .start = "20", .description = "damping"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct oscillator *m = self;
    m->der_x1 = m->mu * ((1 - m->x2 * m->x2) * m->x1 - m->x2) + m->u;
    m->der_x2 = m->x1;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct oscillator *m = self;
    if (unknown == &m->der_x2 && known == &m->x1)
        *value = 1;
    else if (unknown == &m->der_x1 && known == &m->x1)
        *value = m->mu * (1 - m->x2 * m->x2);
    else if (unknown == &m->der_x1 && known == &m->x2)
        *value = -m->mu * (2 * m->x2 * m->x1 + 1);
    else if (unknown == &m->der_x1 && known == &m->u)
        *value = 1;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "DrivenVanDerPol",
    .description = "Van der Pol's oscillator with an input",
    .size = sizeof(struct oscillator),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 2, .step = 0.01, .tolerance = 1e-4},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .output_derivatives = 1,
    .micro_step = 1e-4,
    .derivatives = derivatives,
    .partial = partial,
};
