/* SPDX-License-Identifier: MIT */
/* Chassis - a rigid body on four wheels. It stands for the chassis of the race car in Andersson's thesis (section
 * 5.3.2, appendix A.4), whose equations are not public: as there, its outputs depend on its states only. What the
 * wheels get as acceleration is therefore a filtered one. Angles are small: their speeds are the body's angular
 * speeds. */
#include "kit.h"

#include <math.h>

enum { WHEELS = 4 };

/* What a wheel gets to know. */
struct hub {
    double r[3], v[3], a[3], T[3][3], w[3], z[3], contact_r[3], contact_T[3][3], spin;
};

struct chassis {
    struct hub hub[WHEELS];
    double f[WHEELS][3], t[WHEELS][3];
    double p[3], v[3], a[3], phi[3], w[3], z[3], spin[WHEELS];
    double der_p[3], der_v[3], der_a[3], der_phi[3], der_w[3], der_z[3], der_spin[WHEELS];
    double mass, inertia[3], inertia_spin, torque, steer, tau, g, slope1, slope2;
};
#define KIT_SELF struct chassis

/* Where the hubs are: left front, left back, right front, right back, as in the thesis. */
static const double arms[WHEELS][3] = {{1.6, 0.75, 0}, {-1.3, 0.75, 0}, {1.6, -0.75, 0}, {-1.3, -0.75, 0}};

#define ANGLES "phi[1] phi[2] phi[3] "
#define RATES "w[1] w[2] w[3] "

/* Vectors and matrices as scalars, so that FMI 2.0 has them, too. */
#define OUT(field, name_, depends_) KIT_OUTPUT(field, .name = name_, .depends = depends_)
#define OUT_VECTOR(field, name, also)                                                                                  \
    OUT(field[0], name "[1]", also("1")), OUT(field[1], name "[2]", also("2")), OUT(field[2], name "[3]", also("3"))
#define OUT_ROW(field, name, row, depends)                                                                             \
    OUT(field[0], name "[" row ",1]", depends), OUT(field[1], name "[" row ",2]", depends),                            \
        OUT(field[2], name "[" row ",3]", depends)
#define OUT_MATRIX(field, name, depends)                                                                               \
    OUT_ROW(field[0], name, "1", depends), OUT_ROW(field[1], name, "2", depends), OUT_ROW(field[2], name, "3", depends)
#define IN_VECTOR(field, name_)                                                                                        \
    KIT_INPUT(field[0], .name = name_ "[1]", .start = "0"), KIT_INPUT(field[1], .name = name_ "[2]", .start = "0"),    \
        KIT_INPUT(field[2], .name = name_ "[3]", .start = "0")

#define OF_POSITION(i) ANGLES "p[" i "]:constant"
#define OF_SPEED(i) ANGLES RATES "v[" i "]:constant"
#define OF_ACCELERATION(i) "a[" i "]:constant"
#define OF_RATE(i) "w[" i "]:constant"
#define OF_RATE_CHANGE(i) "z[" i "]:constant"
#define OF_CONTACT(i) ANGLES "p[1] p[2] slope1 slope2"

#define WHEEL(i, n)                                                                                                    \
    OUT_VECTOR(hub[i].r, "hubFrame" n ".r_0", OF_POSITION), OUT_VECTOR(hub[i].v, "hubFrame" n ".v_0", OF_SPEED),       \
        OUT_VECTOR(hub[i].a, "hubFrame" n ".a_0", OF_ACCELERATION),                                                    \
        OUT_MATRIX(hub[i].T, "hubFrame" n ".R.T", ANGLES "steer"), OUT_VECTOR(hub[i].w, "hubFrame" n ".R.w", OF_RATE), \
        OUT_VECTOR(hub[i].z, "hubFrame" n ".R.z", OF_RATE_CHANGE),                                                     \
        OUT_VECTOR(hub[i].contact_r, "contact" n ".r_0", OF_CONTACT),                                                  \
        OUT_MATRIX(hub[i].contact_T, "contact" n ".T", "phi[3]"),                                                      \
        OUT(hub[i].spin, "spinVelocity" n, "spin[" n "]:constant"), IN_VECTOR(f[i], "f" n), IN_VECTOR(t[i], "t" n)

#define ALL(x, y) x "1" y x "2" y x "3" y x "4" y
#define ALL_FORCES ALL("f", "[1] ") ALL("f", "[2] ") ALL("f", "[3] ")
#define OF_STEP(i) "v[" i "]:constant"
#define OF_FORCES(i) ANGLES ALL_FORCES "steer mass g"
#define OF_FILTERED_FORCES(i) OF_FORCES(i) " tau a[" i "]:fixed"
#define OF_MOMENTS(i) ALL_FORCES ALL("t", "[" i "]:fixed ") "steer inertia[" i "]"
#define OF_FILTERED_MOMENTS(i) OF_MOMENTS(i) " tau z[" i "]:fixed"
#define OF_TORQUE(i) "t" i "[2]:fixed torque inertia_spin"

#define STATE(field, name_, start_, depends_)                                                                          \
    KIT_STATE(field, .name = name_, .start = start_, .derivative = "der(" name_ ")"),                                  \
        KIT_DERIVATIVE(der_##field, .name = "der(" name_ ")", .depends = depends_)
#define STATES(field, name, start1, start2, start3, of)                                                                \
    STATE(field[0], name "[1]", start1, of("1")), STATE(field[1], name "[2]", start2, of("2")),                        \
        STATE(field[2], name "[3]", start3, of("3"))

static const struct kit_var variables[] = {
    WHEEL(0, "1"),
    WHEEL(1, "2"),
    WHEEL(2, "3"),
    WHEEL(3, "4"),
    STATES(p, "p", "0", "0", "0.292", OF_STEP),
    STATES(v, "v", "29.8", "3", "0", OF_FORCES),
    STATES(a, "a", "0.4", "1.5", "0", OF_FILTERED_FORCES),
    STATES(phi, "phi", "0.01", "-0.008", "0.1", OF_RATE),
    STATES(w, "w", "0.02", "-0.01", "0.05", OF_MOMENTS),
    STATES(z, "z", "0.1", "0.2", "-0.1", OF_FILTERED_MOMENTS),
    STATE(spin[0], "spin[1]", "99.9", OF_TORQUE("1")),
    STATE(spin[1], "spin[2]", "100.2", OF_TORQUE("2")),
    STATE(spin[2], "spin[3]", "100.1", OF_TORQUE("3")),
    STATE(spin[3], "spin[4]", "100.4", OF_TORQUE("4")),
    KIT_PARAMETER(mass, .start = "700"),
    KIT_PARAMETER(inertia[0], .name = "inertia[1]", .start = "200"),
    KIT_PARAMETER(inertia[1], .name = "inertia[2]", .start = "800"),
    KIT_PARAMETER(inertia[2], .name = "inertia[3]", .start = "900"),
    KIT_PARAMETER(inertia_spin, .start = "1", .description = "of a wheel about its axle"),
    KIT_PARAMETER(torque, .start = "50", .description = "of the engine, at each back wheel"),
    KIT_PARAMETER(steer, .start = "0.02", .description = "angle of the front wheels"),
    KIT_PARAMETER(tau, .start = "0.01", .description = "time constant of the filtered accelerations"),
    KIT_PARAMETER(g, .start = "9.81"),
    KIT_PARAMETER(slope1, .start = "0.01", .description = "slope of the road"),
    KIT_PARAMETER(slope2, .start = "-0.005", .description = "slope of the road"),
};

/* Yaw, then pitch, then roll; `about` turns the result by a further angle about its vertical axis. */
static void rotation(const double phi[3], double about, double T[3][3])
{
    double cr = cos(phi[0]), sr = sin(phi[0]), cp = cos(phi[1]), sp = sin(phi[1]), cy = cos(phi[2]), sy = sin(phi[2]);
    double ca = cos(about), sa = sin(about);
    const double body[3][3] = {{cp * cy, cp * sy, -sp},
                               {sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, sr * cp},
                               {cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp}};
    for (int j = 0; j < 3; j++) {
        T[0][j] = ca * body[0][j] + sa * body[1][j];
        T[1][j] = -sa * body[0][j] + ca * body[1][j];
        T[2][j] = body[2][j];
    }
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out += transposed T times a: from the body's frame to the world's. */
static void add_to_world(double T[3][3], const double a[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] += T[0][i] * a[0] + T[1][i] * a[1] + T[2][i] * a[2];
}

static double steer_of(const struct chassis *m, int wheel)
{
    return arms[wheel][0] > 0 ? m->steer : 0;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct chassis *m = self;
    double force[3] = {0, 0, -m->mass * m->g}, moment[3] = {0, 0, 0};
    for (int k = 0; k < WHEELS; k++) {
        double T[3][3], body[3], steer = steer_of(m, k), arm_force[3];
        rotation(m->phi, steer, T);
        add_to_world(T, m->f[k], force);
        body[0] = cos(steer) * m->f[k][0] - sin(steer) * m->f[k][1];
        body[1] = sin(steer) * m->f[k][0] + cos(steer) * m->f[k][1];
        body[2] = m->f[k][2];
        cross(arms[k], body, arm_force);
        for (int i = 0; i < 3; i++)
            moment[i] += arm_force[i] + m->t[k][i];
        m->der_spin[k] = (m->t[k][1] + (arms[k][0] < 0 ? m->torque : 0)) / m->inertia_spin;
    }
    for (int i = 0; i < 3; i++) {
        m->der_p[i] = m->v[i];
        m->der_v[i] = force[i] / m->mass;
        m->der_a[i] = (m->der_v[i] - m->a[i]) / m->tau;
        m->der_phi[i] = m->w[i];
        m->der_w[i] = moment[i] / m->inertia[i];
        m->der_z[i] = (m->der_w[i] - m->z[i]) / m->tau;
    }
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct chassis *m = self;
    const double yaw[3] = {0, 0, m->phi[2]};
    double body[3][3];
    rotation(m->phi, 0, body);
    for (int k = 0; k < WHEELS; k++) {
        struct hub *hub = &m->hub[k];
        double swing[3];
        cross(m->w, arms[k], swing);
        for (int i = 0; i < 3; i++) {
            hub->r[i] = m->p[i];
            hub->v[i] = m->v[i];
            hub->a[i] = m->a[i];
            hub->w[i] = m->w[i];
            hub->z[i] = m->z[i];
        }
        add_to_world(body, arms[k], hub->r);
        add_to_world(body, swing, hub->v);
        rotation(m->phi, steer_of(m, k), hub->T);
        hub->contact_r[0] = hub->r[0];
        hub->contact_r[1] = hub->r[1];
        hub->contact_r[2] = m->slope1 * hub->r[0] + m->slope2 * hub->r[1];
        rotation(yaw, 0, hub->contact_T);
        hub->spin = m->spin[k];
    }
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Chassis",
    .description = "A rigid body on four wheels",
    .size = sizeof(struct chassis),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.001},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .outputs = outputs,
};
