/* SPDX-License-Identifier: MIT */
/* Push.c - a double integrator: every Runge-Kutta method is exact for it while the force is held. */
#include "kit.h"

struct push {
    double x, der_x, v, der_v, u;
};
#define KIT_SELF struct push

static const struct kit_var variables[] = {
    KIT_STATE(x, .start = "0", .derivative = "der_x", .causality = KIT_OUTPUT),
    KIT_DERIVATIVE(der_x, .depends = "v"),
    KIT_STATE(v, .start = "0", .derivative = "der_v"),
    KIT_DERIVATIVE(der_v, .depends = "u"),
    KIT_INPUT(u, .start = "0"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct push *m = self;
    (void)kit;
    (void)t;
    m->der_x = m->v;
    m->der_v = m->u;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Push",
    .size = sizeof(struct push),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.01},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
};
