/* SPDX-License-Identifier: MIT */
/* Follower - a lag x' = (u + w + square t^2 - x) / T that takes inputs that move inside a step (derivatives of them in FMI 1.0 and 2.0,
 * intermediate update in 3.0), but gives no derivatives of its output: these have to come from its past. */
#include "kit.h"

struct follower {
    double u, w, x, der_x, T, square;
};
#define KIT_SELF struct follower

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0", .intermediate = true),
    KIT_INPUT(w, .start = "0", .intermediate = true),
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)", .intermediate = true),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:fixed u:fixed w:fixed time T square"),
    KIT_PARAMETER(T, .start = "0.5", .min = "1e-3", .description = "time constant"),
    KIT_PARAMETER(square, .start = "0", .description = "what moves it without anybody's help"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct follower *m = self;
    m->der_x = (m->u + m->w + m->square * t * t - m->x) / m->T;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Follower",
    .description = "A lag that follows its input and says nothing about where it goes",
    .size = sizeof(struct follower),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 5, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_INPUT_DERIVATIVES | KIT_INTERMEDIATE | KIT_EARLY_RETURN,
    .derivatives = derivatives,
};
