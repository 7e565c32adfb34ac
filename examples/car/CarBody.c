/* SPDX-License-Identifier: MIT */
/* CarBody - a rigid body on four springs and dampers: heave, pitch and roll around its rest. Heights and speeds of the wheels
 * are inputs, the forces of the suspension on the body are outputs. */
#include "kit.h"

enum { FL, FR, RL, RR, CORNERS }; /* front left, front right, rear left, rear right */

struct body {
    double z, v_z, der_z, der_v_z;
    double pitch, w_pitch, der_pitch, der_w_pitch;
    double roll, w_roll, der_roll, der_w_roll;
    double x[CORNERS], v[CORNERS], F[CORNERS];
    double m, I_pitch, I_roll, k, d, front, rear, side;
};
#define KIT_SELF struct body

static const struct kit_unit units[] = {
    {.name = "m", .m = 1},
    {.name = "m/s", .m = 1, .s = -1},
    {.name = "m/s2", .m = 1, .s = -2},
    {.name = "rad", .rad = 1},
    {.name = "rad/s", .rad = 1, .s = -1},
    {.name = "rad/s2", .rad = 1, .s = -2},
    {.name = "N", .kg = 1, .m = 1, .s = -2},
    {.name = "N/m", .kg = 1, .s = -2},
    {.name = "N.s/m", .kg = 1, .s = -1},
    {.name = "kg", .kg = 1},
    {.name = "kg.m2", .kg = 1, .m = 2},
};

#define SUSPENSION "z v_z pitch w_pitch roll w_roll k d front rear side"
#define CORNER(i, wheel)                                                                                               \
    KIT_INPUT(x[i], .name = "x_" wheel, .start = "0", .unit = "m", .description = "height of this wheel"),             \
        KIT_INPUT(v[i], .name = "v_" wheel, .start = "0", .unit = "m/s", .description = "its speed"),                  \
        KIT_OUTPUT(F[i], .name = "F_" wheel, .unit = "N", .description = "force of its suspension on the body",        \
                   .depends = SUSPENSION " x_" wheel " v_" wheel)

static const struct kit_var variables[] = {
    KIT_STATE(z, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(z)", .unit = "m",
              .description = "height of the centre of mass"),
    KIT_DERIVATIVE(der_z, .name = "der(z)", .unit = "m/s"),
    KIT_STATE(v_z, .start = "0", .derivative = "der(v_z)", .unit = "m/s"),
    KIT_DERIVATIVE(der_v_z, .name = "der(v_z)", .unit = "m/s2"),
    KIT_STATE(pitch, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(pitch)", .unit = "rad",
              .description = "positive: the front is higher"),
    KIT_DERIVATIVE(der_pitch, .name = "der(pitch)", .unit = "rad/s"),
    KIT_STATE(w_pitch, .start = "0", .derivative = "der(w_pitch)", .unit = "rad/s"),
    KIT_DERIVATIVE(der_w_pitch, .name = "der(w_pitch)", .unit = "rad/s2"),
    KIT_STATE(roll, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(roll)", .unit = "rad",
              .description = "positive: the left side is higher"),
    KIT_DERIVATIVE(der_roll, .name = "der(roll)", .unit = "rad/s"),
    KIT_STATE(w_roll, .start = "0", .derivative = "der(w_roll)", .unit = "rad/s"),
    KIT_DERIVATIVE(der_w_roll, .name = "der(w_roll)", .unit = "rad/s2"),
    CORNER(FL, "fl"),
    CORNER(FR, "fr"),
    CORNER(RL, "rl"),
    CORNER(RR, "rr"),
    KIT_PARAMETER(m, .start = "1200", .unit = "kg"),
    KIT_PARAMETER(I_pitch, .start = "1800", .unit = "kg.m2"),
    KIT_PARAMETER(I_roll, .start = "500", .unit = "kg.m2"),
    KIT_PARAMETER(k, .start = "25000", .unit = "N/m", .description = "spring of one wheel"),
    KIT_PARAMETER(d, .start = "2500", .unit = "N.s/m", .description = "damper of one wheel"),
    KIT_PARAMETER(front, .start = "1.2", .unit = "m", .description = "from the centre of mass to the front wheels"),
    KIT_PARAMETER(rear, .start = "1.4", .unit = "m", .description = "to the rear wheels"),
    KIT_PARAMETER(side, .start = "0.75", .unit = "m", .description = "to the wheels of each side"),
};

/* Forces, and what they do to the body. */
static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct body *m = self;
    double force = 0, pitching = 0, rolling = 0;
    for (int i = 0; i < CORNERS; i++) {
        double ahead = i == FL || i == FR ? m->front : -m->rear, left = i == FL || i == RL ? m->side : -m->side;
        m->F[i] = m->k * (m->x[i] - m->z - ahead * m->pitch - left * m->roll) +
                  m->d * (m->v[i] - m->v_z - ahead * m->w_pitch - left * m->w_roll);
        force += m->F[i];
        pitching += ahead * m->F[i];
        rolling += left * m->F[i];
    }
    m->der_z = m->v_z;
    m->der_v_z = force / m->m;
    m->der_pitch = m->w_pitch;
    m->der_w_pitch = pitching / m->I_pitch;
    m->der_roll = m->w_roll;
    m->der_w_roll = rolling / m->I_roll;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "CarBody",
    .description = "The body of a car on four springs and dampers",
    .size = sizeof(struct body),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 2},
    .features = KIT_FOR_FREE,
    .micro_step = 0.0005,
    .derivatives = derivatives,
};
