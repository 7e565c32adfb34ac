/* SPDX-License-Identifier: MIT */
/* Faulty - y' = u - y, built with the fault layer: the environment variable KIT_FAULT says how it misbehaves. */
#include "kit.h"

struct faulty {
    double u, x, der_x, y;
};
#define KIT_SELF struct faulty

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "1"),
    KIT_STATE(x, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:constant u:constant"),
    KIT_OUTPUT(y, .depends = "x:constant"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct faulty *m = self;
    m->der_x = m->u - m->x;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct faulty *m = self;
    m->y = m->x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Faulty",
    .description = "Misbehaves on demand",
    .size = sizeof(struct faulty),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_EARLY_RETURN,
    .derivatives = derivatives,
    .outputs = outputs,
};
