/* SPDX-License-Identifier: MIT */
/* UpperPendulum - the upper half of a double pendulum (Andersson's thesis, eq. 6.56 and 6.57): the force that the lower
 * half exerts on its mass is the input, the acceleration of the mass the output. As printed, eq. 6.57 leaves out what
 * the damper contributes to the acceleration; here it is part of it. Built with PLAIN it is UpperPendulumPlain, which
 * has no directional derivatives: the importer has to find D by differences. */
#include "kit.h"

#include <math.h>

#ifdef PLAIN
#define NAME "UpperPendulumPlain"
#define FEATURES (KIT_FOR_FREE | KIT_INPUT_DERIVATIVES)
#else
#define NAME "UpperPendulum"
#define FEATURES (KIT_FOR_FREE | KIT_INPUT_DERIVATIVES | KIT_DIRECTIONAL)
#endif

struct pendulum {
    double alpha, omega, der_alpha, der_omega;
    double fx, fy, ax, ay;
    double m, l, d, g;
};
#define KIT_SELF struct pendulum

static const struct kit_unit units[] = {
    {.name = "rad", .rad = 1},
    {.name = "rad/s", .rad = 1, .s = -1},
    {.name = "rad/s2", .rad = 1, .s = -2},
    {.name = "m", .m = 1},
    {.name = "m/s2", .m = 1, .s = -2},
    {.name = "N", .kg = 1, .m = 1, .s = -2},
    {.name = "N.m.s", .kg = 1, .m = 2, .s = -1},
    {.name = "kg", .kg = 1},
};

static const struct kit_var variables[] = {
    KIT_STATE(alpha, .causality = KIT_OUTPUT, .start = "-1", .derivative = "der(alpha)", .unit = "rad"),
    KIT_DERIVATIVE(der_alpha, .name = "der(alpha)", .unit = "rad/s", .depends = "omega:constant"),
    KIT_STATE(omega, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(omega)", .unit = "rad/s"),
    KIT_DERIVATIVE(der_omega, .name = "der(omega)", .unit = "rad/s2", .depends = "alpha omega:fixed fx fy m l d g"),
    KIT_INPUT(fx, .start = "0", .unit = "N", .description = "force on the mass, to the right"),
    KIT_INPUT(fy, .start = "0", .unit = "N", .description = "force on the mass, upwards"),
    KIT_OUTPUT(ax, .unit = "m/s2", .depends = "alpha omega fx fy m l d g", .description = "acceleration to the right"),
    KIT_OUTPUT(ay, .unit = "m/s2", .depends = "alpha omega fx fy m l d g", .description = "acceleration upwards"),
    KIT_PARAMETER(m, .start = "1", .unit = "kg"),
    KIT_PARAMETER(l, .start = "1", .unit = "m"),
    KIT_PARAMETER(d, .start = "0.5", .unit = "N.m.s", .description = "damper in the joint"),
    KIT_PARAMETER(g, .start = "9.81", .unit = "m/s2"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct pendulum *m = self;
    double torque = (m->fx * cos(m->alpha) + (m->fy - m->m * m->g) * sin(m->alpha)) * m->l - m->d * m->omega;
    m->der_alpha = m->omega;
    m->der_omega = torque / (m->m * m->l * m->l);
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct pendulum *m = self;
    double along = m->l * m->omega * m->omega, across = m->l * m->der_omega;
    m->ax = across * cos(m->alpha) - along * sin(m->alpha);
    m->ay = across * sin(m->alpha) + along * cos(m->alpha);
    return KIT_OK;
}

/* Of der(omega). */
static double acceleration_partial(const struct pendulum *m, const double *known)
{
    double s = sin(m->alpha), c = cos(m->alpha), inertia = m->m * m->l;
    if (known == &m->fx)
        return c / inertia;
    if (known == &m->fy)
        return s / inertia;
    if (known == &m->alpha)
        return (-m->fx * s + (m->fy - m->m * m->g) * c) / inertia;
    return known == &m->omega ? -m->d / (inertia * m->l) : 0;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct pendulum *m = self;
    double s = sin(m->alpha), c = cos(m->alpha);
    double along = known == &m->omega ? 2 * m->l * m->omega : 0, across = m->l * acceleration_partial(m, known);
    if (unknown == &m->der_alpha)
        *value = known == &m->omega;
    else if (unknown == &m->der_omega)
        *value = acceleration_partial(m, known);
    else if (unknown == &m->ax)
        *value = across * c - along * s - (known == &m->alpha ? m->ay : 0); /* d ax / d alpha turns a by 90 degrees */
    else if (unknown == &m->ay)
        *value = across * s + along * c + (known == &m->alpha ? m->ax : 0);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "The upper half of a double pendulum",
    .size = sizeof(struct pendulum),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 5, .step = 0.01},
    .features = FEATURES,
    .output_derivatives = 1,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
};
