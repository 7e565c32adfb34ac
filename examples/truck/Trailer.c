/* SPDX-License-Identifier: MIT */
/* Trailer - the mass of a truck on a road whose slope is a sine, with rolling and air resistance, as an inertia at its wheels
 * (Lacoursiere 2017 section 10). For force-velocity coupling there is a spring and a damper to the shaft, whose speed is an input. */
#include "kit.h"

#include <math.h>

struct trailer {
    double phi, w, twist, der_phi, der_w, der_twist;
    double M, w_left, M_left, m, r, slope, wave, rolling, drag, k_c, d_c;
};
#define KIT_SELF struct trailer

static const double GRAVITY = 9.81;

static const struct kit_unit units[] = {
    {.name = "rad", .rad = 1},
    {.name = "rad/s", .s = -1, .rad = 1},
    {.name = "rad/s2", .s = -2, .rad = 1},
    {.name = "N.m", .kg = 1, .m = 2, .s = -2},
    {.name = "kg", .kg = 1},
    {.name = "m", .m = 1},
};

static const struct kit_var variables[] = {
    KIT_STATE(phi, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(phi)", .unit = "rad"),
    KIT_DERIVATIVE(der_phi, .name = "der(phi)", .unit = "rad/s", .depends = "w:constant"),
    KIT_STATE(w, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(w)", .unit = "rad/s"),
    KIT_DERIVATIVE(der_w, .name = "der(w)", .unit = "rad/s2",
                   .depends = "phi w twist M w_left m r slope wave rolling drag k_c d_c"),
    KIT_STATE(twist, .start = "0", .derivative = "der(twist)", .unit = "rad",
              .description = "of the coupling to the left"),
    KIT_DERIVATIVE(der_twist, .name = "der(twist)", .unit = "rad/s", .depends = "w:constant w_left:constant"),
    KIT_OUTPUT(M_left, .depends = "w twist w_left k_c d_c", .unit = "N.m",
               .description = "torque on the left neighbour"),
    KIT_INPUT(M, .start = "0", .unit = "N.m", .description = "torque on the wheels"),
    KIT_INPUT(w_left, .start = "0", .unit = "rad/s", .description = "speed of the left neighbour"),
    KIT_PARAMETER(m, .start = "10000", .unit = "kg"),
    KIT_PARAMETER(r, .start = "0.5", .unit = "m"),
    KIT_PARAMETER(slope, .start = "0.02", .description = "largest slope of the road"),
    KIT_PARAMETER(wave, .start = "50", .unit = "m", .description = "length of a wave of the road"),
    KIT_PARAMETER(rolling, .start = "0.007"),
    KIT_PARAMETER(drag, .start = "3", .description = "of the air, N.s2/m2"),
    KIT_PARAMETER(k_c, .start = "0", .description = "spring of the coupling; 0: none"),
    KIT_PARAMETER(d_c, .start = "0", .description = "damper of the coupling"),
};

static double pull(const struct trailer *m)
{
    return m->k_c * m->twist + m->d_c * (m->w - m->w_left);
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct trailer *m = self;
    double v = m->w * m->r, slope = m->slope * sin(2 * M_PI * m->phi * m->r / m->wave);
    double force = m->m * GRAVITY * (sin(slope) + m->rolling * cos(slope) * tanh(v)) + m->drag * v * fabs(v);
    m->der_phi = m->w;
    m->der_w = (m->M - force * m->r - pull(m)) / (m->m * m->r * m->r);
    m->der_twist = m->k_c > 0 ? m->w - m->w_left : 0;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct trailer *m = self;
    m->M_left = pull(m);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Trailer",
    .description = "A mass on a road with slopes",
    .size = sizeof(struct trailer),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 2, .step = 0.001},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .outputs = outputs,
};
