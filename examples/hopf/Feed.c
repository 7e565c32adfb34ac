/* SPDX-License-Identifier: MIT */
/* Feed - z of the Hopf bifurcation in Awais' thesis, 3.1.4: z' = -x z + alpha. The sensitive parameter alpha is an input, as
 * there. */
#include "kit.h"

struct feed {
    double z, der_z, x, alpha;
};
#define KIT_SELF struct feed

static const struct kit_var variables[] = {
    KIT_STATE(z, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(z)"),
    KIT_DERIVATIVE(der_z, .name = "der(z)", .depends = "z x alpha"),
    KIT_INPUT(x, .start = "0"),
    KIT_INPUT(alpha, .start = "1.2"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct feed *m = self;
    m->der_z = -m->x * m->z + m->alpha;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct feed *m = self;
    if (unknown != &m->der_z)
        return KIT_OK;
    if (known == &m->z)
        *value = -m->x;
    else if (known == &m->x)
        *value = -m->z;
    else if (known == &m->alpha)
        *value = 1;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Feed",
    .description = "z' = -x z + alpha",
    .size = sizeof(struct feed),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 100, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .partial = partial,
};
