/* SPDX-License-Identifier: MIT */
/* Subsystem1 - the first model of Andersson's thesis, Example 6.3.1: x' = -x u^2, y = x. */
#include "kit.h"

struct subsystem {
    double x, der_x, u;
};
#define KIT_SELF struct subsystem

static const struct kit_alias output[] = {{.name = "y"}, {0}};

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)", .aliases = output),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x u"),
    KIT_INPUT(u, .start = "0"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct subsystem *m = self;
    m->der_x = -m->x * m->u * m->u;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct subsystem *m = self;
    if (unknown == &m->der_x && known == &m->x)
        *value = -m->u * m->u;
    else if (unknown == &m->der_x && known == &m->u)
        *value = -2 * m->x * m->u;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Subsystem1",
    .description = "x' = -x u^2, y = x",
    .size = sizeof(struct subsystem),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.02, .tolerance = 1e-6},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .partial = partial,
};
