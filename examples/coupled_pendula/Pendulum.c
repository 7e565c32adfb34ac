/* SPDX-License-Identifier: MIT */
/* Pendulum - one of two pendula that a spring couples, in polar coordinates (Andersson's thesis, eq. 7.18). Mass and
 * length are 1; the inputs are the force that excites it and the two parts of the spring's force. */
#include "kit.h"

#include <math.h>

struct pendulum {
    double x1, x2, der_x1, der_x2;
    double u1, u2, u3;
    double g;
};
#define KIT_SELF struct pendulum

static const struct kit_var variables[] = {
    KIT_STATE(x1, .causality = KIT_OUTPUT, .start = "0.5", .derivative = "der(x1)", .description = "angle"),
    KIT_DERIVATIVE(der_x1, .name = "der(x1)", .depends = "x2:constant"),
    KIT_STATE(x2, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x2)", .description = "speed of the angle"),
    KIT_DERIVATIVE(der_x2, .name = "der(x2)", .depends = "x1 u1 u2 u3 g"),
    KIT_INPUT(u1, .start = "0", .description = "force that excites it, horizontal"),
    KIT_INPUT(u2, .start = "0", .description = "force of the spring, horizontal"),
    KIT_INPUT(u3, .start = "0", .description = "force of the spring, upwards"),
    KIT_PARAMETER(g, .start = "9.81", .description = "gravity"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct pendulum *m = self;
    m->der_x1 = m->x2;
    m->der_x2 = (-m->g + m->u3) * sin(m->x1) + (m->u1 + m->u2) * cos(m->x1);
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct pendulum *m = self;
    if (unknown == &m->der_x1)
        *value = known == &m->x2;
    else if (unknown == &m->der_x2 && known == &m->x1)
        *value = (-m->g + m->u3) * cos(m->x1) - (m->u1 + m->u2) * sin(m->x1);
    else if (unknown == &m->der_x2 && (known == &m->u1 || known == &m->u2))
        *value = cos(m->x1);
    else if (unknown == &m->der_x2 && known == &m->u3)
        *value = sin(m->x1);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Pendulum",
    .description = "A pendulum with the forces on it as inputs",
    .size = sizeof(struct pendulum),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 2, .step = 0.05, .tolerance = 1e-6},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .partial = partial,
};
