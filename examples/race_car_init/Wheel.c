/* SPDX-License-Identifier: MIT */
/* Wheel - the forces of a tyre on its hub, in the hub's frame. It stands for the wheel of the race car in Andersson's
 * thesis (section 5.3.2, appendix A.4), whose equations are not public: the same inputs feed through to the same
 * outputs, the equations are simple ones of our own. The contact's frame only moves the states. */
#include "kit.h"

struct wheel {
    double r[3], v[3], a[3], T[3][3], w[3], z[3]; /* hub: position, speed, acceleration, rotation and its rates */
    double contact_r[3], contact_T[3][3];
    double spin;
    double f[3], t[3];
    double s[3], der_s[3];
    double radius, mass, cx, cy, kz, dz, ks, tau, slope1, slope2, inertia, inertia_spin, friction;
};
#define KIT_SELF struct wheel

/* The three rows, or elements, of an input. */
#define VECTOR(field, name_, text)                                                                                     \
    KIT_INPUT(field[0], .name = name_ "[1]", .start = "0", .description = text),                                       \
        KIT_INPUT(field[1], .name = name_ "[2]", .start = "0", .description = text),                                   \
        KIT_INPUT(field[2], .name = name_ "[3]", .start = "0", .description = text)
#define ROW(field, name_, row, text)                                                                                   \
    KIT_INPUT(field[0], .name = name_ "[" row ",1]", .start = "0", .description = text),                               \
        KIT_INPUT(field[1], .name = name_ "[" row ",2]", .start = "0", .description = text),                           \
        KIT_INPUT(field[2], .name = name_ "[" row ",3]", .start = "0", .description = text)
#define MATRIX(field, name, text)                                                                                      \
    ROW(field[0], name, "1", text), ROW(field[1], name, "2", text), ROW(field[2], name, "3", text)

/* What a product of row i of the hub's rotation with a vector depends on. */
#define ROTATED(i, vector)                                                                                             \
    "hubFrame.R.T[" i ",1] hubFrame.R.T[" i ",2] hubFrame.R.T[" i ",3] " vector "[1] " vector "[2] " vector "[3] "
#define HUB_MOTION(i)                                                                                                  \
    ROTATED(i, "hubFrame.v_0")                                                                                         \
    "hubFrame.a_0[1] hubFrame.a_0[2] hubFrame.a_0[3] "
#define SLIDING(i)                                                                                                     \
    "contact.T[" i ",1] contact.T[" i ",2] contact.T[" i ",3] contact.r_0[1] contact.r_0[2] contact.r_0[3] "           \
    "hubFrame.r_0[1] hubFrame.r_0[2] hubFrame.r_0[3] tau s[" i "]:fixed"

static const struct kit_var variables[] = {
    VECTOR(r, "hubFrame.r_0", "position"),
    VECTOR(v, "hubFrame.v_0", "speed"),
    VECTOR(a, "hubFrame.a_0", "acceleration"),
    MATRIX(T, "hubFrame.R.T", "rotation from the world's frame to the hub's"),
    VECTOR(w, "hubFrame.R.w", "angular speed"),
    VECTOR(z, "hubFrame.R.z", "angular acceleration"),
    VECTOR(contact_r, "contact.r_0", "position of the contact on the road"),
    MATRIX(contact_T, "contact.T", "rotation from the world's frame to the road's"),
    KIT_INPUT(spin, .name = "spinVelocity", .start = "0"),
    KIT_OUTPUT(f[0], .name = "f[1]", .description = "force, to the front",
               .depends = HUB_MOTION("1") "spinVelocity:fixed s[1]:fixed mass cx ks radius"),
    KIT_OUTPUT(f[1], .name = "f[2]", .description = "force, to the left",
               .depends = HUB_MOTION("2") "s[2]:fixed mass cy ks"),
    KIT_OUTPUT(f[2], .name = "f[3]", .description = "force, upwards",
               .depends =
                   HUB_MOTION("3") "hubFrame.r_0[1]:fixed hubFrame.r_0[2]:fixed hubFrame.r_0[3]:fixed s[3]:fixed "
                                   "mass kz dz ks radius slope1 slope2"),
    KIT_OUTPUT(t[0], .name = "t[1]", .description = "torque about the axis to the front",
               .depends = "hubFrame.R.z[1]:fixed spinVelocity hubFrame.R.w[3] inertia inertia_spin"),
    KIT_OUTPUT(t[1], .name = "t[2]", .description = "torque about the axle",
               .depends = "hubFrame.R.z[2]:fixed hubFrame.R.w[2]:fixed " ROTATED(
                   "1", "hubFrame.v_0") "spinVelocity:fixed inertia_spin friction radius cx"),
    KIT_OUTPUT(t[2], .name = "t[3]", .description = "torque about the vertical axis",
               .depends = "hubFrame.R.z[3]:fixed spinVelocity hubFrame.R.w[1] inertia inertia_spin"),
    KIT_STATE(s[0], .name = "s[1]", .start = "0", .derivative = "der(s[1])", .description = "deflection of the tyre"),
    KIT_STATE(s[1], .name = "s[2]", .start = "0", .derivative = "der(s[2])", .description = "deflection of the tyre"),
    KIT_STATE(s[2], .name = "s[3]", .start = "-0.29", .derivative = "der(s[3])",
              .description = "deflection of the tyre"),
    KIT_DERIVATIVE(der_s[0], .name = "der(s[1])", .depends = SLIDING("1")),
    KIT_DERIVATIVE(der_s[1], .name = "der(s[2])", .depends = SLIDING("2")),
    KIT_DERIVATIVE(der_s[2], .name = "der(s[3])", .depends = SLIDING("3")),
    KIT_PARAMETER(radius, .start = "0.3"),
    KIT_PARAMETER(mass, .start = "10"),
    KIT_PARAMETER(cx, .start = "3000", .description = "force per slip, to the front"),
    KIT_PARAMETER(cy, .start = "4000", .description = "force per slip, to the side"),
    KIT_PARAMETER(kz, .start = "180000", .description = "stiffness of the tyre, vertical"),
    KIT_PARAMETER(dz, .start = "5000", .description = "damping of the tyre, vertical"),
    KIT_PARAMETER(ks, .start = "20000", .description = "stiffness of the deflection"),
    KIT_PARAMETER(tau, .start = "0.05", .description = "time constant of the deflection"),
    KIT_PARAMETER(slope1, .start = "0.01", .description = "slope of the road"),
    KIT_PARAMETER(slope2, .start = "-0.005", .description = "slope of the road"),
    KIT_PARAMETER(inertia, .start = "0.6"),
    KIT_PARAMETER(inertia_spin, .start = "1"),
    KIT_PARAMETER(friction, .start = "0.5"),
};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct wheel *m = self;
    double arm[3];
    for (int i = 0; i < 3; i++)
        arm[i] = m->contact_r[i] - m->r[i];
    for (int i = 0; i < 3; i++)
        m->der_s[i] = (dot(m->contact_T[i], arm) - m->s[i]) / m->tau;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct wheel *m = self;
    double slip = m->radius * m->spin - dot(m->T[0], m->v);
    double compression = m->radius + m->slope1 * m->r[0] + m->slope2 * m->r[1] - m->r[2];
    m->f[0] = m->cx * slip - m->mass * dot(m->T[0], m->a) + m->ks * m->s[0];
    m->f[1] = -m->cy * dot(m->T[1], m->v) - m->mass * dot(m->T[1], m->a) + m->ks * m->s[1];
    m->f[2] = m->kz * compression - m->dz * dot(m->T[2], m->v) - m->mass * dot(m->T[2], m->a) +
              m->ks * (m->s[2] + m->radius);
    m->t[0] = -m->inertia * m->z[0] + m->inertia_spin * m->spin * m->w[2];
    m->t[1] = -m->inertia_spin * m->z[1] - m->friction * m->w[1] - m->radius * m->cx * slip;
    m->t[2] = -m->inertia * m->z[2] - m->inertia_spin * m->spin * m->w[0];
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Wheel",
    .description = "Forces of a tyre on its hub",
    .size = sizeof(struct wheel),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.001},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .outputs = outputs,
};
