/* SPDX-License-Identifier: MIT */
/* Woodpecker - a toy bird on a sleeve that slides down a bar (Andersson's thesis, 8.6.2 and A.1; parameters of Table
 * A.1). The sleeve is free (I), or blocked by its upper left and lower right corners (II), or by the other two (III).
 *
 * The thesis gives a DAE of index 2; here the accelerations and multipliers are solved for. In states II and III the
 * constraints A.3d, e (the second one differentiated once) leave z and phiS at rest: the impact has stopped them. */
#include "kit.h"

static const double mS = 3.0e-4, mB = 4.5e-3, JS = 5.0e-9, JB = 7.0e-7; /* masses, moments of inertia */
static const double r0 = 2.5e-3, rS = 3.1e-3, hS = 5.8e-3, hB = 2.0e-2; /* lengths */
static const double lS = 1.0e-2, lG = 1.5e-2, lB = 2.01e-2;
static const double cP = 5.6e-3; /* the spring between sleeve and bird */
static const double g = 9.81;

enum mode { FREE = 1, BLOCKED_LEFT, BLOCKED_RIGHT };

struct woodpecker {
    double z, phiS, phiB, zp, phiSp, phiBp;
    double der_z, der_phiS, der_phiB, der_zp, der_phiSp, der_phiBp;
    double lambda1, lambda2;
    double g1, g2, g3, g4;
    int32_t mode, hits;
    bool pressed; /* the sign of lambda1 at the last event: lambda1 > 0 */
};
#define KIT_SELF struct woodpecker

static const struct kit_unit units[] = {
    {.name = "m", .m = 1},     {.name = "m/s", .m = 1, .s = -1},     {.name = "m/s2", .m = 1, .s = -2},
    {.name = "rad", .rad = 1}, {.name = "rad/s", .rad = 1, .s = -1}, {.name = "rad/s2", .rad = 1, .s = -2},
};

static const struct kit_var variables[] = {
    KIT_STATE(z, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(z)", .unit = "m",
              .description = "height of the sleeve"),
    KIT_STATE(phiS, .causality = KIT_OUTPUT, .start = "-0.1", .derivative = "der(phiS)", .unit = "rad",
              .description = "inclination of the sleeve"),
    KIT_STATE(phiB, .causality = KIT_OUTPUT, .start = "-0.65", .derivative = "der(phiB)", .reinit = true, .unit = "rad",
              .description = "inclination of the bird"),
    KIT_STATE(zp, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(zp)", .reinit = true, .unit = "m/s"),
    KIT_STATE(phiSp, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(phiSp)", .reinit = true,
              .unit = "rad/s"),
    KIT_STATE(phiBp, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(phiBp)", .reinit = true,
              .unit = "rad/s"),
    KIT_DERIVATIVE(der_z, .name = "der(z)", .unit = "m/s", .depends = "zp:constant"),
    KIT_DERIVATIVE(der_phiS, .name = "der(phiS)", .unit = "rad/s", .depends = "phiSp:constant"),
    KIT_DERIVATIVE(der_phiB, .name = "der(phiB)", .unit = "rad/s", .depends = "phiBp:constant"),
    KIT_DERIVATIVE(der_zp, .name = "der(zp)", .unit = "m/s2", .depends = "phiS:discrete phiB:discrete"),
    KIT_DERIVATIVE(der_phiSp, .name = "der(phiSp)", .unit = "rad/s2", .depends = "phiS:discrete phiB:discrete"),
    KIT_DERIVATIVE(der_phiBp, .name = "der(phiBp)", .unit = "rad/s2", .depends = "phiS:discrete phiB:discrete"),
    KIT_OUTPUT(lambda1, .depends = "phiS:discrete phiB:discrete", .description = "moment that blocks the sleeve"),
    KIT_OUTPUT(lambda2, .depends = "phiS:discrete phiB:discrete", .description = "force that holds the sleeve"),
    KIT_OUTPUT(mode, .start = "2", .depends = "", .description = "1: the sleeve is free, 2 and 3: it is blocked"),
    KIT_OUTPUT(hits, .start = "0", .depends = "", .description = "how often the bird has hit the bar"),
    KIT_INDICATOR(g1, .depends = "phiS"),
    KIT_INDICATOR(g2, .depends = "phiS"),
    KIT_INDICATOR(g3, .depends = "phiS phiB"),
    KIT_INDICATOR(g4, .depends = "phiB"),
};

/* What a moment of 1 in the spring adds to the accelerations: the equations A.1 to A.4 are linear in that moment, which
 * is cP (phiB - phiS). */
struct acceleration {
    double zpp, phiSpp, phiBpp;
};

static struct acceleration by_spring(int32_t mode)
{
    if (mode != FREE) /* A.3c, A.4c */
        return (struct acceleration){.phiBpp = -1 / (JB + mB * lG * lG)};
    /* A.1 with zpp eliminated: what is left of the bird's mass is mB mS / (mB + mS), and gravity has gone */
    double mass = mB * mS / (mB + mS);
    double ss = JS + mass * lS * lS, sb = mass * lS * lG, bb = JB + mass * lG * lG;
    double determinant = ss * bb - sb * sb;
    struct acceleration a = {.phiSpp = (bb + sb) / determinant, .phiBpp = -(ss + sb) / determinant};
    a.zpp = -mB / (mS + mB) * (lS * a.phiSpp + lG * a.phiBpp);
    return a;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct woodpecker *m = self;
    struct acceleration a = by_spring(m->mode);
    double moment = cP * (m->phiB - m->phiS);
    m->der_z = m->zp;
    m->der_phiS = m->phiSp;
    m->der_phiB = m->phiBp;
    m->der_zp = moment * a.zpp - (m->mode == FREE ? g : 0);
    m->der_phiSp = moment * a.phiSpp;
    m->der_phiBp = moment * a.phiBpp - (m->mode == FREE ? 0 : mB * lG * g / (JB + mB * lG * lG));
    return KIT_OK;
}

/* The multipliers of A.3a, b and A.4a, b (with lambda2 in A.3a, too, which the thesis' program has and its equation
 * lacks). */
static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct woodpecker *m = self;
    m->lambda1 = m->lambda2 = 0;
    if (m->mode == FREE)
        return KIT_OK;
    double phiBpp = (-cP * (m->phiB - m->phiS) - mB * lG * g) / (JB + mB * lG * lG);
    m->lambda2 = -(mS + mB) * g - mB * lG * phiBpp;
    double moment = cP * (m->phiB - m->phiS) - mB * lS * g - rS * m->lambda2 - mB * lS * lG * phiBpp;
    m->lambda1 = (m->mode == BLOCKED_LEFT ? moment : -moment) / hS;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct woodpecker *m = self;
    struct acceleration a = by_spring(m->mode);
    double sign = known == &m->phiB ? 1 : known == &m->phiS ? -1 : 0;
    /* of the multipliers, with respect to the spring's moment */
    double lambda2 = m->mode == FREE ? 0 : -mB * lG * a.phiBpp;
    double lambda1 = m->mode == FREE ? 0 : (1 - rS * lambda2 - mB * lS * lG * a.phiBpp) / hS;
    if ((unknown == &m->der_z && known == &m->zp) || (unknown == &m->der_phiS && known == &m->phiSp) ||
        (unknown == &m->der_phiB && known == &m->phiBp))
        *value = 1;
    else if (unknown == &m->der_zp)
        *value = sign * cP * a.zpp;
    else if (unknown == &m->der_phiSp)
        *value = sign * cP * a.phiSpp;
    else if (unknown == &m->der_phiBp)
        *value = sign * cP * a.phiBpp;
    else if (unknown == &m->lambda1)
        *value = sign * cP * (m->mode == BLOCKED_RIGHT ? -lambda1 : lambda1);
    else if (unknown == &m->lambda2)
        *value = sign * cP * lambda2;
    return KIT_OK;
}

/* Eq. 8.15. Without a multiplier there is nothing to watch: an indicator must not be zero. */
static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct woodpecker *m = self;
    outputs(kit, self, t);
    m->g1 = hS * m->phiS + (rS - r0);
    m->g2 = hS * m->phiS - (rS - r0);
    m->g3 = m->mode == FREE ? -1 : m->lambda1;
    m->g4 = hB * m->phiB - lS - lG + lB + r0;
    return KIT_OK;
}

/* The sleeve stops; the bird keeps the momentum, eq. 8.16 and 8.17 (with the square of lG, which is missing there and
 * present in the thesis' program). */
static void block(struct woodpecker *m, enum mode mode)
{
    double inertia = JB + mB * lG * lG;
    m->phiBp = (mB * lG * m->zp + mB * lS * lG * m->phiSp + inertia * m->phiBp) / inertia;
    m->zp = m->phiSp = 0;
    m->mode = mode;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct woodpecker *m = self;
    int32_t before = m->mode;
    indicators(kit, self, t);
    bool turned = m->mode != FREE && (m->lambda1 > 0) != m->pressed;
    if ((m->mode == BLOCKED_LEFT && turned) || (m->mode == BLOCKED_RIGHT && turned && m->phiBp < 0))
        m->mode = FREE; /* eq. 8.13 */
    if (m->mode == BLOCKED_RIGHT && m->g4 > 0 && m->phiBp > 0) {
        m->phiBp = -m->phiBp;
        m->phiB = (lS + lG - lB - r0) / hB * (1 - 1e-15); /* in front of the bar: leaving it is no further event */
        m->hits++;
        event->states_changed = true;
    }
    if (m->mode == FREE && m->g2 > 0 && m->phiBp > 0) /* eq. 8.11 */
        block(m, BLOCKED_RIGHT);
    else if (m->mode == FREE && m->g1 <= 0 && m->phiBp < 0) /* eq. 8.12 */
        block(m, BLOCKED_LEFT);
    outputs(kit, self, t);
    m->pressed = m->lambda1 > 0;
    event->states_changed = event->states_changed || (m->mode != before && m->mode != FREE);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Woodpecker",
    .description = "A toy woodpecker that slides down a bar and hits it",
    .size = sizeof(struct woodpecker),
    KIT_UNITS(units),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.001, .tolerance = 1e-6},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .output_derivatives = 1,
    .micro_step = 1e-4,
    .derivatives = derivatives,
    .outputs = outputs,
    .indicators = indicators,
    .event = event,
    .partial = partial,
};
