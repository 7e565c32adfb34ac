/* SPDX-License-Identifier: MIT */
/* WoodpeckerSleeve - the sleeve of Woodpecker.c by itself, cut at the spring: the bird brings its force and moment, and hears of the
 * acceleration of the point where it is fixed. When the sleeve jams, it tells how fast that point was. */
#include "kit.h"

static const double mS = 3.0e-4, JS = 5.0e-9, r0 = 2.5e-3, rS = 3.1e-3, hS = 5.8e-3, lS = 1.0e-2, g = 9.81;

enum mode { FREE = 1, BLOCKED_LEFT, BLOCKED_RIGHT };

struct sleeve {
    double z, phiS, zp, phiSp;
    double der_z, der_phiS, der_zp, der_phiSp;
    double N, M, phiBp; /* of the bird: its force and moment, which way it turns */
    double a, lambda1, g1, g2, g3, speed;
    int32_t mode, blocks;
    bool pressed;
};
#define KIT_SELF struct sleeve

static const struct kit_var variables[] = {
    KIT_STATE(z, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(z)", .description = "height of the sleeve"),
    KIT_STATE(phiS, .causality = KIT_OUTPUT, .start = "-0.1", .derivative = "der(phiS)",
              .description = "its inclination"),
    KIT_STATE(zp, .start = "0", .derivative = "der(zp)", .reinit = true),
    KIT_STATE(phiSp, .start = "0", .derivative = "der(phiSp)", .reinit = true),
    KIT_DERIVATIVE(der_z, .name = "der(z)", .depends = "zp"),
    KIT_DERIVATIVE(der_phiS, .name = "der(phiS)", .depends = "phiSp"),
    KIT_DERIVATIVE(der_zp, .name = "der(zp)", .depends = "N"),
    KIT_DERIVATIVE(der_phiSp, .name = "der(phiSp)", .depends = "N M"),
    KIT_INPUT(N, .start = "0", .description = "force of the bird"),
    KIT_INPUT(M, .start = "0", .description = "moment of the spring"),
    KIT_INPUT(phiBp, .start = "0", .description = "how fast the bird turns"),
    KIT_OUTPUT(a, .depends = "N M", .description = "acceleration where the bird is fixed"),
    KIT_OUTPUT(mode, .start = "2", .depends = "", .description = "1: free, 2 and 3: jammed"),
    KIT_OUTPUT(blocks, .start = "0", .depends = "", .description = "how often it has jammed"),
    KIT_OUTPUT(speed, .variability = KIT_DISCRETE, .start = "0", .depends = "",
               .description = "where the bird is fixed, before it jammed last"),
    KIT_INDICATOR(g1, .depends = "phiS"),
    KIT_INDICATOR(g2, .depends = "phiS"),
    KIT_INDICATOR(g3, .depends = "N M"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct sleeve *m = self;
    bool free = m->mode == FREE;
    m->der_z = m->zp;
    m->der_phiS = m->phiSp;
    m->der_zp = free ? m->N / mS - g : 0;
    m->der_phiSp = free ? (m->M + lS * m->N) / JS : 0;
    return KIT_OK;
}

/* While it is jammed nothing moves, and the multipliers of A.3 and A.4 are left. */
static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct sleeve *m = self;
    derivatives(kit, self, t);
    m->a = m->der_zp + lS * m->der_phiSp;
    double lambda2 = m->N - mS * g, moment = m->M + lS * m->N - rS * lambda2;
    m->lambda1 = m->mode == FREE ? 0 : (m->mode == BLOCKED_LEFT ? moment : -moment) / hS;
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct sleeve *m = self;
    outputs(kit, self, t);
    m->g1 = hS * m->phiS + (rS - r0);
    m->g2 = hS * m->phiS - (rS - r0);
    m->g3 = m->mode == FREE ? -1 : m->lambda1;
    return KIT_OK;
}

static void block(struct sleeve *m, enum mode mode)
{
    m->speed = m->zp + lS * m->phiSp;
    m->blocks++;
    m->zp = m->phiSp = 0;
    m->mode = mode;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct sleeve *m = self;
    int32_t before = m->blocks;
    indicators(kit, self, t);
    bool turned = m->mode != FREE && (m->lambda1 > 0) != m->pressed;
    if ((m->mode == BLOCKED_LEFT && turned) || (m->mode == BLOCKED_RIGHT && turned && m->phiBp < 0))
        m->mode = FREE;                               /* eq. 8.13 */
    if (m->mode == FREE && m->g2 > 0 && m->phiBp > 0) /* eq. 8.11 */
        block(m, BLOCKED_RIGHT);
    else if (m->mode == FREE && m->g1 <= 0 && m->phiBp < 0) /* eq. 8.12 */
        block(m, BLOCKED_LEFT);
    outputs(kit, self, t);
    m->pressed = m->lambda1 > 0;
    event->states_changed = m->blocks != before;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "WoodpeckerSleeve",
    .description = "The sleeve of a toy woodpecker",
    .size = sizeof(struct sleeve),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.001, .tolerance = 1e-6},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .micro_step = 1e-4,
    .derivatives = derivatives,
    .outputs = outputs,
    .indicators = indicators,
    .event = event,
};
