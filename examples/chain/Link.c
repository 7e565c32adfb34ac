/* SPDX-License-Identifier: MIT */
/* Link - two masses with a spring between them, a part of a chain that is cut at its masses (Lacoursiere 2017 section 9). Each end
 * takes a force and tells position and velocity, for a kinematic coupling. For force-velocity coupling the left end has a spring and
 * a damper to the end of the neighbour, whose position and velocity are inputs; F is the force on that. */
#include "kit.h"

struct link {
    double x1, v1, x2, v2, der_x1, der_v1, der_x2, der_v2;
    double f1, f2, x_left, v_left, F;
    double m1, m2, k, k_c, d_c;
};
#define KIT_SELF struct link

static const struct kit_unit units[] = {
    {.name = "m", .m = 1},
    {.name = "m/s", .m = 1, .s = -1},
    {.name = "m/s2", .m = 1, .s = -2},
    {.name = "N", .kg = 1, .m = 1, .s = -2},
    {.name = "N/m", .kg = 1, .s = -2},
    {.name = "N.s/m", .kg = 1, .s = -1},
    {.name = "kg", .kg = 1},
};

static const struct kit_var variables[] = {
    KIT_STATE(x1, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x1)", .unit = "m"),
    KIT_DERIVATIVE(der_x1, .name = "der(x1)", .unit = "m/s", .depends = "v1:constant"),
    KIT_STATE(v1, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v1)", .unit = "m/s"),
    KIT_DERIVATIVE(der_v1, .name = "der(v1)", .unit = "m/s2",
                   .depends = "x1:fixed v1:fixed x2:fixed f1:fixed x_left:fixed v_left:fixed m1 k k_c d_c"),
    KIT_STATE(x2, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x2)", .unit = "m"),
    KIT_DERIVATIVE(der_x2, .name = "der(x2)", .unit = "m/s", .depends = "v2:constant"),
    KIT_STATE(v2, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v2)", .unit = "m/s"),
    KIT_DERIVATIVE(der_v2, .name = "der(v2)", .unit = "m/s2", .depends = "x1:fixed x2:fixed f2:fixed m2 k"),
    KIT_OUTPUT(F, .depends = "x1:fixed v1:fixed x_left:fixed v_left:fixed k_c d_c", .unit = "N",
               .description = "force on the left neighbour"),
    KIT_INPUT(f1, .start = "0", .unit = "N", .description = "force on the left mass"),
    KIT_INPUT(f2, .start = "0", .unit = "N", .description = "force on the right mass"),
    KIT_INPUT(x_left, .start = "0", .unit = "m", .description = "position of the left neighbour"),
    KIT_INPUT(v_left, .start = "0", .unit = "m/s", .description = "velocity of the left neighbour"),
    KIT_PARAMETER(m1, .start = "0.5", .unit = "kg"),
    KIT_PARAMETER(m2, .start = "0.5", .unit = "kg"),
    KIT_PARAMETER(k, .start = "1", .unit = "N/m"),
    KIT_PARAMETER(k_c, .start = "0", .unit = "N/m", .description = "spring of the coupling; 0: none"),
    KIT_PARAMETER(d_c, .start = "0", .unit = "N.s/m", .description = "damper of the coupling"),
};

static double pull(const struct link *m)
{
    return m->k_c * (m->x1 - m->x_left) + m->d_c * (m->v1 - m->v_left);
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct link *m = self;
    double spring = m->k * (m->x2 - m->x1);
    m->der_x1 = m->v1;
    m->der_x2 = m->v2;
    m->der_v1 = (spring + m->f1 - pull(m)) / m->m1;
    m->der_v2 = (m->f2 - spring) / m->m2;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct link *m = self;
    m->F = pull(m);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Link",
    .description = "Two masses with a spring between them",
    .size = sizeof(struct link),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 10, .step = 0.01},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .outputs = outputs,
};
