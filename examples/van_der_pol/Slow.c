/* SPDX-License-Identifier: MIT */
/* Slow - y of van der Pol's oscillator in the coordinates of Lienard: y' = x / mu. */
#include "kit.h"

struct slow {
    double y, der_y, x, mu;
};
#define KIT_SELF struct slow

static const struct kit_var variables[] = {
    KIT_STATE(y, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(y)"),
    KIT_DERIVATIVE(der_y, .name = "der(y)", .depends = "x:fixed mu"),
    KIT_INPUT(x, .start = "0"),
    KIT_PARAMETER(mu, .start = "1.53"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct slow *m = self;
    m->der_y = m->x / m->mu;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct slow *m = self;
    if (unknown == &m->der_y && known == &m->x)
        *value = 1 / m->mu;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Slow",
    .description = "y' = x / mu",
    .size = sizeof(struct slow),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 30, .step = 0.3},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .partial = partial,
};
