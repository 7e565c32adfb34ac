/* SPDX-License-Identifier: MIT */
/* Motor.c - inertia w' = torque - friction w, by its exact solution with the torque held. */
#include <math.h>

#include "kit.h"

struct motor {
    double torque, inertia, friction, speed;
};
#define KIT_SELF struct motor

static const struct kit_var variables[] = {
    KIT_INPUT(torque, .start = "0"),
    KIT_PARAMETER(inertia, .start = "0.02"),
    KIT_PARAMETER(friction, .start = "0.05"),
    KIT_OUTPUT(speed, .start = "0", .depends = ""),
};

static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    struct motor *m = self;
    m->speed += -expm1(-m->friction / m->inertia * h) * (m->torque / m->friction - m->speed);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Motor",
    .description = "An inertia with friction",
    .size = sizeof(struct motor),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.01},
    .features = KIT_FOR_FREE,
    .advance = advance,
};
