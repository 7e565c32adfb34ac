/* SPDX-License-Identifier: MIT */
/* Subsystem2 - the second model of Andersson's thesis, Example 6.3.1: x' = -x + u, y = x + sin(u). */
#include "kit.h"

#include <math.h>

struct subsystem {
    double x, der_x, u, y;
};
#define KIT_SELF struct subsystem

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:constant u:constant"),
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .depends = "x:constant u"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct subsystem *m = self;
    m->der_x = -m->x + m->u;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct subsystem *m = self;
    m->y = m->x + sin(m->u);
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct subsystem *m = self;
    if (unknown == &m->der_x && known == &m->x)
        *value = -1;
    else if ((unknown == &m->der_x && known == &m->u) || (unknown == &m->y && known == &m->x))
        *value = 1;
    else if (unknown == &m->y && known == &m->u)
        *value = cos(m->u);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Subsystem2",
    .description = "x' = -x + u, y = x + sin(u)",
    .size = sizeof(struct subsystem),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.02, .tolerance = 1e-6},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
};
