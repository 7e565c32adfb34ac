/* SPDX-License-Identifier: MIT */
/* BlockedPendulum - a bell: a pendulum that a wall at -3 pi/4 throws back (Andersson 2016, 8.3).
 *
 * Hitting the wall is a state event. From then on its indicator is not watched, until the first step of the integrator that ends with a speed
 * towards the wall again: that is a step event, whose time need not be exact, and nothing moves at it. */
#include "kit.h"

#include <math.h>

struct pendulum {
    double theta, der_theta, omega, der_omega;
    double g, l, e, wall;
    double beyond; /* indicator */
    double energy;
    int32_t hits, step_events;
    bool watched;
};
#define KIT_SELF struct pendulum

static const struct kit_var variables[] = {
    KIT_STATE(theta, .causality = KIT_OUTPUT, .start = "2.8", .derivative = "der(theta)", .description = "angle"),
    KIT_DERIVATIVE(der_theta, .name = "der(theta)", .depends = "omega:constant"),
    KIT_STATE(omega, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(omega)", .reinit = true,
              .description = "its speed"),
    KIT_DERIVATIVE(der_omega, .name = "der(omega)", .depends = "theta g l"),
    KIT_PARAMETER(g, .start = "9.81"),
    KIT_PARAMETER(l, .start = "1"),
    KIT_PARAMETER(e, .start = "1", .min = "0", .max = "1", .description = "part of the speed left after a hit"),
    KIT_PARAMETER(wall, .start = "-2.356194490192345", .description = "angle of the wall"),
    KIT_OUTPUT(energy, .depends = "theta omega g l", .description = "per mass and square of the length"),
    KIT_OUTPUT(hits, .start = "0", .depends = ""),
    KIT_OUTPUT(step_events, .start = "0", .depends = ""),
    KIT_INDICATOR(beyond, .depends = "theta", .description = "angle from the wall, while it is watched"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct pendulum *m = self;
    m->watched = true;
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct pendulum *m = self;
    m->der_theta = m->omega;
    m->der_omega = -m->g / m->l * sin(m->theta);
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct pendulum *m = self;
    m->energy = m->omega * m->omega / 2 - m->g / m->l * cos(m->theta);
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct pendulum *m = self;
    m->beyond = m->watched ? m->theta - m->wall : 1;
    return KIT_OK;
}

static bool comes_back(const struct pendulum *m)
{
    return !m->watched && m->omega < 0;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    *step_event = comes_back(self);
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct pendulum *m = self;
    if (comes_back(m)) {
        m->watched = true;
        m->step_events++;
    } else if (m->watched && m->theta <= m->wall && m->omega < 0) {
        m->omega *= -m->e;
        m->watched = false;
        m->hits++;
        event->states_changed = true;
    }
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "BlockedPendulum",
    .description = "A pendulum that a wall throws back",
    .size = sizeof(struct pendulum),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 10, .step = 0.05},
    .micro_step = 1e-3,
    .features = KIT_FOR_FREE,
    .initialise = initialise,
    .derivatives = derivatives,
    .outputs = outputs,
    .indicators = indicators,
    .completed_step = completed_step,
    .event = event,
};
