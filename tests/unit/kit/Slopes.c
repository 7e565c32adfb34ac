/* SPDX-License-Identifier: MIT */
/* Slopes - y' = u - y with inputs that move inside a step, built with the fault layer: KIT_FAULT="slip SetRealInputDerivatives" refuses
 * them, though it claims to take them. */
#include "kit.h"

struct slopes {
    double u, x, der_x, y;
};
#define KIT_SELF struct slopes

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "1"),
    KIT_STATE(x, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:constant u:constant"),
    KIT_OUTPUT(y, .depends = "x:constant"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct slopes *m = self;
    m->der_x = m->u - m->x;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct slopes *m = self;
    m->y = m->x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Slopes",
    .description = "Takes derivatives of inputs, or refuses them",
    .size = sizeof(struct slopes),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_INPUT_DERIVATIVES,
    .derivatives = derivatives,
    .outputs = outputs,
};
