/* SPDX-License-Identifier: MIT */
/* QuadTank - four tanks, of which the upper two run off into the lower two (Andersson 2016, A.3). For estimations. */
#include "kit.h"

#include <math.h>

struct quad_tank {
    double x1, x2, x3, x4, der_x1, der_x2, der_x3, der_x4, u1, u2, a1, a2, a3, a4;
};
#define KIT_SELF struct quad_tank

/* Areas of the tanks, and what pumps bring to the lower tanks (g) and in all (k, per volt). */
static const double A = 4.9e-4, gravity = 9.81, k = 0.56e-6, g = 0.30;

static const struct kit_var variables[] = {
    KIT_STATE(x1, .causality = KIT_OUTPUT, .start = "0.0627", .derivative = "der(x1)"),
    KIT_STATE(x2, .causality = KIT_OUTPUT, .start = "0.06044", .derivative = "der(x2)"),
    KIT_STATE(x3, .causality = KIT_OUTPUT, .start = "0.024", .derivative = "der(x3)"),
    KIT_STATE(x4, .causality = KIT_OUTPUT, .start = "0.023", .derivative = "der(x4)"),
    KIT_DERIVATIVE(der_x1, .name = "der(x1)", .depends = "x1 x3 u1:fixed"),
    KIT_DERIVATIVE(der_x2, .name = "der(x2)", .depends = "x2 x4 u2:fixed"),
    KIT_DERIVATIVE(der_x3, .name = "der(x3)", .depends = "x3 u2:fixed"),
    KIT_DERIVATIVE(der_x4, .name = "der(x4)", .depends = "x4 u1:fixed"),
    KIT_INPUT(u1, .start = "5"),
    KIT_INPUT(u2, .start = "5"),
    KIT_PARAMETER(a1, .start = "3e-6", .nominal = "1e-6", .min = "1e-6", .max = "1e-5"),
    KIT_PARAMETER(a2, .start = "3e-6", .nominal = "1e-6"),
    KIT_PARAMETER(a3, .start = "3e-6", .nominal = "1e-6"),
    KIT_PARAMETER(a4, .start = "3e-6", .nominal = "1e-6"),
};

static double flow(double area, double level)
{
    return area * sqrt(2 * gravity * fmax(level, 0)) / A;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct quad_tank *m = self;
    m->der_x1 = -flow(m->a1, m->x1) + flow(m->a3, m->x3) + g * k / A * m->u1;
    m->der_x2 = -flow(m->a2, m->x2) + flow(m->a4, m->x4) + g * k / A * m->u2;
    m->der_x3 = -flow(m->a3, m->x3) + (1 - g) * k / A * m->u2;
    m->der_x4 = -flow(m->a4, m->x4) + (1 - g) * k / A * m->u1;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "QuadTank",
    .description = "Four tanks",
    .size = sizeof(struct quad_tank),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 60, .step = 1},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
};
