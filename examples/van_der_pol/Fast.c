/* SPDX-License-Identifier: MIT */
/* Fast - x of van der Pol's oscillator in the coordinates of Lienard: x' = mu (x - x^3 / 3 - y). */
#include "kit.h"

struct fast {
    double x, der_x, y, mu;
};
#define KIT_SELF struct fast

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "2", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x y:fixed mu"),
    KIT_INPUT(y, .start = "0"),
    KIT_PARAMETER(mu, .start = "1.53"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct fast *m = self;
    m->der_x = m->mu * (m->x - m->x * m->x * m->x / 3 - m->y);
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct fast *m = self;
    if (unknown == &m->der_x && known == &m->x)
        *value = m->mu * (1 - m->x * m->x);
    else if (unknown == &m->der_x && known == &m->y)
        *value = -m->mu;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Fast",
    .description = "x' = mu (x - x^3 / 3 - y)",
    .size = sizeof(struct fast),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 30, .step = 0.3},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .partial = partial,
};
