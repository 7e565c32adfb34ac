/* SPDX-License-Identifier: MIT */
/* Shaft - two inertias with a spring and a damper between them: clutch, gearbox and shaft of a truck (Lacoursiere 2017 section 10).
 * The spring is piecewise linear: stiffer beyond a twist of `play`; the right end turns `ratio` times slower. Each end takes a
 * torque. For force-velocity coupling the left end has a spring and a damper to the neighbour, whose speed is an input; M_left is the
 * torque on that. */
#include "kit.h"

#include <math.h>

struct shaft {
    double phi1, w1, phi2, w2, twist, der_phi1, der_w1, der_phi2, der_w2, der_twist;
    double M1, M2, w_left, M_left;
    double J1, J2, k, k_stiff, play, d, ratio, k_c, d_c;
};
#define KIT_SELF struct shaft

static const struct kit_unit units[] = {
    {.name = "rad", .rad = 1},
    {.name = "rad/s", .s = -1, .rad = 1},
    {.name = "rad/s2", .s = -2, .rad = 1},
    {.name = "N.m", .kg = 1, .m = 2, .s = -2},
    {.name = "kg.m2", .kg = 1, .m = 2},
};

static const struct kit_var variables[] = {
    KIT_STATE(phi1, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(phi1)", .unit = "rad"),
    KIT_DERIVATIVE(der_phi1, .name = "der(phi1)", .unit = "rad/s", .depends = "w1:constant"),
    KIT_STATE(w1, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(w1)", .unit = "rad/s"),
    KIT_DERIVATIVE(der_w1, .name = "der(w1)", .unit = "rad/s2",
                   .depends = "phi1 w1 phi2 w2 twist M1 w_left J1 k k_stiff play d ratio k_c d_c"),
    KIT_STATE(phi2, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(phi2)", .unit = "rad"),
    KIT_DERIVATIVE(der_phi2, .name = "der(phi2)", .unit = "rad/s", .depends = "w2:constant"),
    KIT_STATE(w2, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(w2)", .unit = "rad/s"),
    KIT_DERIVATIVE(der_w2, .name = "der(w2)", .unit = "rad/s2",
                   .depends = "phi1 w1 phi2 w2 M2 J2 k k_stiff play d ratio"),
    KIT_STATE(twist, .start = "0", .derivative = "der(twist)", .unit = "rad",
              .description = "of the coupling to the left"),
    KIT_DERIVATIVE(der_twist, .name = "der(twist)", .unit = "rad/s", .depends = "w1:constant w_left:constant"),
    KIT_OUTPUT(M_left, .depends = "w1 twist w_left k_c d_c", .unit = "N.m",
               .description = "torque on the left neighbour"),
    KIT_INPUT(M1, .start = "0", .unit = "N.m", .description = "torque on the left end"),
    KIT_INPUT(M2, .start = "0", .unit = "N.m", .description = "torque on the right end"),
    KIT_INPUT(w_left, .start = "0", .unit = "rad/s", .description = "speed of the left neighbour"),
    KIT_PARAMETER(J1, .start = "0.5", .unit = "kg.m2"),
    KIT_PARAMETER(J2, .start = "0.5", .unit = "kg.m2"),
    KIT_PARAMETER(k, .start = "1e4", .description = "stiffness, N.m/rad"),
    KIT_PARAMETER(k_stiff, .start = "1e4", .description = "the same beyond a twist of `play`"),
    KIT_PARAMETER(play, .start = "1", .unit = "rad"),
    KIT_PARAMETER(d, .start = "10", .description = "damping, N.m.s/rad"),
    KIT_PARAMETER(ratio, .start = "1"),
    KIT_PARAMETER(k_c, .start = "0", .description = "spring of the coupling; 0: none"),
    KIT_PARAMETER(d_c, .start = "0", .description = "damper of the coupling"),
};

/* The torque that the twist makes. */
static double torque(const struct shaft *m)
{
    double angle = m->phi1 - m->ratio * m->phi2, beyond = fmax(fabs(angle) - m->play, 0);
    double spring = m->k * (fabs(angle) - beyond) + m->k_stiff * beyond;
    return copysign(spring, angle) + m->d * (m->w1 - m->ratio * m->w2);
}

static double pull(const struct shaft *m)
{
    return m->k_c * m->twist + m->d_c * (m->w1 - m->w_left);
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct shaft *m = self;
    m->der_phi1 = m->w1;
    m->der_phi2 = m->w2;
    m->der_w1 = (m->M1 - torque(m) - pull(m)) / m->J1;
    m->der_w2 = (m->M2 + m->ratio * torque(m)) / m->J2;
    m->der_twist = m->k_c > 0 ? m->w1 - m->w_left : 0;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct shaft *m = self;
    m->M_left = pull(m);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Shaft",
    .description = "Two inertias with a piecewise linear spring and a damper between them",
    .size = sizeof(struct shaft),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 2, .step = 0.001},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .outputs = outputs,
};
