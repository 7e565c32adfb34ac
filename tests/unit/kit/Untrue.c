/* SPDX-License-Identifier: MIT */
/* Untrue - a lag x' = u - a x that takes slopes of its input, and gives derivatives of its output: with the wrong sign, unless `truth` is 1. */
#include "kit.h"

struct untrue {
    double u, x, der_x, y, a, truth;
};
#define KIT_SELF struct untrue

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0", .intermediate = true),
    KIT_STATE(x, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x u a"),
    KIT_OUTPUT(y, .depends = "x"),
    KIT_PARAMETER(a, .start = "1"),
    KIT_PARAMETER(truth, .start = "-1"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct untrue *m = self;
    m->der_x = m->u - m->a * m->x;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct untrue *m = self;
    m->y = m->x;
    return KIT_OK;
}

static enum kit_status output_derivative(struct kit *kit, void *self, double t, const double *output, unsigned order,
                                         double *value)
{
    struct untrue *m = self;
    *value = m->truth * m->der_x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Untrue",
    .size = sizeof(struct untrue),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.05},
    .features = KIT_FOR_FREE | KIT_INPUT_DERIVATIVES | KIT_INTERMEDIATE,
    .output_derivatives = 1,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .outputs = outputs,
    .output_derivative = output_derivative,
};
