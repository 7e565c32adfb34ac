/* SPDX-License-Identifier: MIT */
/* LowerPendulum - the lower half of a double pendulum (Andersson's thesis, eq. 6.58 and 6.59): the acceleration of the
 * point where it hangs is the input, the force that it exerts there the output. Built with PLAIN it is
 * LowerPendulumPlain, which has no directional derivatives: the importer has to find D by differences. */
#include "kit.h"

#include <math.h>

#ifdef PLAIN
#define NAME "LowerPendulumPlain"
#define FEATURES (KIT_FOR_FREE | KIT_INPUT_DERIVATIVES)
#else
#define NAME "LowerPendulum"
#define FEATURES (KIT_FOR_FREE | KIT_INPUT_DERIVATIVES | KIT_DIRECTIONAL)
#endif

struct pendulum {
    double alpha, omega, der_alpha, der_omega;
    double ax, ay, fx, fy;
    double m, l, g;
};
#define KIT_SELF struct pendulum

static const struct kit_unit units[] = {
    {.name = "rad", .rad = 1}, {.name = "rad/s", .rad = 1, .s = -1}, {.name = "rad/s2", .rad = 1, .s = -2},
    {.name = "m", .m = 1},     {.name = "m/s2", .m = 1, .s = -2},    {.name = "N", .kg = 1, .m = 1, .s = -2},
    {.name = "kg", .kg = 1},
};

static const struct kit_var variables[] = {
    KIT_STATE(alpha, .causality = KIT_OUTPUT, .start = "0.3", .derivative = "der(alpha)", .unit = "rad"),
    KIT_DERIVATIVE(der_alpha, .name = "der(alpha)", .unit = "rad/s", .depends = "omega:constant"),
    KIT_STATE(omega, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(omega)", .unit = "rad/s"),
    KIT_DERIVATIVE(der_omega, .name = "der(omega)", .unit = "rad/s2", .depends = "alpha ax ay l g"),
    KIT_INPUT(ax, .start = "0", .unit = "m/s2", .description = "acceleration of the joint, to the right"),
    KIT_INPUT(ay, .start = "0", .unit = "m/s2", .description = "acceleration of the joint, upwards"),
    KIT_OUTPUT(fx, .unit = "N", .depends = "alpha omega ax ay m l g",
               .description = "force on the joint, to the right"),
    KIT_OUTPUT(fy, .unit = "N", .depends = "alpha omega ax ay m l g", .description = "force on the joint, upwards"),
    KIT_PARAMETER(m, .start = "1.5", .unit = "kg"),
    KIT_PARAMETER(l, .start = "1", .unit = "m"),
    KIT_PARAMETER(g, .start = "9.81", .unit = "m/s2"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct pendulum *m = self;
    m->der_alpha = m->omega;
    m->der_omega = -((m->g + m->ay) * sin(m->alpha) + m->ax * cos(m->alpha)) / m->l;
    return KIT_OK;
}

/* The force in the rod. */
static double tension(const struct pendulum *m)
{
    return m->m * (m->l * m->omega * m->omega + (m->g + m->ay) * cos(m->alpha) - m->ax * sin(m->alpha));
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct pendulum *m = self;
    m->fx = tension(m) * sin(m->alpha);
    m->fy = -tension(m) * cos(m->alpha);
    return KIT_OK;
}

static double tension_partial(const struct pendulum *m, const double *known)
{
    if (known == &m->ax)
        return -m->m * sin(m->alpha);
    if (known == &m->ay)
        return m->m * cos(m->alpha);
    if (known == &m->alpha)
        return m->m * m->l * m->der_omega;
    return known == &m->omega ? 2 * m->m * m->l * m->omega : 0;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct pendulum *m = self;
    double s = sin(m->alpha), c = cos(m->alpha);
    if (unknown == &m->der_alpha)
        *value = known == &m->omega;
    else if (unknown == &m->der_omega && known == &m->alpha)
        *value = -tension(m) / (m->m * m->l) + m->omega * m->omega;
    else if (unknown == &m->der_omega)
        *value = known == &m->ax ? -c / m->l : known == &m->ay ? -s / m->l : 0;
    else if (unknown == &m->fx)
        *value = tension_partial(m, known) * s + (known == &m->alpha ? tension(m) * c : 0);
    else if (unknown == &m->fy)
        *value = -tension_partial(m, known) * c + (known == &m->alpha ? tension(m) * s : 0);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "The lower half of a double pendulum",
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
