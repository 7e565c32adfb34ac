/* SPDX-License-Identifier: MIT */
/* WoodpeckerBird - the bird of Woodpecker.c by itself, on its spring: it turns with the acceleration of the point where it is fixed, and
 * brings its force and moment to bear there. If the sleeve jams, the bird gets the momentum (eq. 8.16, 8.17); at the bar it turns back. */
#include "kit.h"

static const double mB = 4.5e-3, JB = 7.0e-7, r0 = 2.5e-3, hB = 2.0e-2, lS = 1.0e-2, lG = 1.5e-2, lB = 2.01e-2,
                    cP = 5.6e-3, g = 9.81;

enum { BLOCKED_RIGHT = 3 }; /* of the sleeve */

struct bird {
    double phiB, phiBp, der_phiB, der_phiBp;
    double a, phiS, speed; /* of the sleeve */
    double N, M, g4;
    int32_t mode, blocks, seen, hits;
};
#define KIT_SELF struct bird

static const struct kit_var variables[] = {
    KIT_STATE(phiB, .causality = KIT_OUTPUT, .start = "-0.65", .derivative = "der(phiB)", .reinit = true,
              .description = "inclination of the bird"),
    KIT_STATE(phiBp, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(phiBp)", .reinit = true),
    KIT_DERIVATIVE(der_phiB, .name = "der(phiB)", .depends = "phiBp"),
    KIT_DERIVATIVE(der_phiBp, .name = "der(phiBp)", .depends = "phiB phiS a"),
    KIT_INPUT(a, .start = "0", .description = "acceleration of the sleeve, where the bird is fixed"),
    KIT_INPUT(phiS, .start = "-0.1", .description = "inclination of the sleeve"),
    KIT_INPUT(speed, .variability = KIT_DISCRETE, .start = "0", .description = "of the sleeve, before it jammed"),
    KIT_INPUT(mode, .start = "2", .description = "of the sleeve"),
    KIT_INPUT(blocks, .start = "0", .description = "how often the sleeve has jammed"),
    KIT_OUTPUT(N, .depends = "phiB phiS a", .description = "force on the sleeve"),
    KIT_OUTPUT(M, .depends = "phiB phiS", .description = "moment on the sleeve"),
    KIT_OUTPUT(hits, .start = "0", .depends = "", .description = "how often the bird has hit the bar"),
    KIT_INDICATOR(g4, .depends = "phiB"),
};

#define inertia (JB + mB * lG * lG)

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct bird *m = self;
    m->der_phiB = m->phiBp;
    m->der_phiBp = (cP * (m->phiS - m->phiB) - mB * lG * (g + m->a)) / inertia;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct bird *m = self;
    derivatives(kit, self, t);
    m->M = cP * (m->phiB - m->phiS);
    m->N = -mB * (m->a + lG * m->der_phiBp + g);
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct bird *m = self;
    m->g4 = hB * m->phiB - lS - lG + lB + r0;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct bird *m = self;
    indicators(kit, self, t);
    if (m->blocks != m->seen) {
        m->phiBp += mB * lG * m->speed / inertia;
        m->seen = m->blocks;
        event->states_changed = true;
    }
    if (m->mode == BLOCKED_RIGHT && m->g4 > 0 && m->phiBp > 0) {
        m->phiBp = -m->phiBp;
        m->phiB = (lS + lG - lB - r0) / hB * (1 - 1e-15); /* in front of the bar: leaving it is no further event */
        m->hits++;
        event->states_changed = true;
    }
    return outputs(kit, self, t);
}

const struct kit_model kit_model = {
    .name = "WoodpeckerBird",
    .description = "The bird of a toy woodpecker",
    .size = sizeof(struct bird),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.001, .tolerance = 1e-6},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .micro_step = 1e-4,
    .derivatives = derivatives,
    .outputs = outputs,
    .indicators = indicators,
    .event = event,
};
