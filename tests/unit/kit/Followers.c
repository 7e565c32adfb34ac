/* SPDX-License-Identifier: MIT */
/* Followers - two lags x' = (u - x) / T in arrays of constant size; the FMU requests its input inside a step. */
#include "kit.h"

struct followers {
    double *u, *x, *der_x, *y, T;
};
#define KIT_SELF struct followers

static const struct kit_var variables[] = {
    KIT_INPUT(u, .dims = "2", .start = "0 0", .intermediate = true),
    KIT_STATE(x, .dims = "2", .start = "0 0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .dims = "2", .name = "der(x)", .depends = "x u T"),
    KIT_OUTPUT(y, .dims = "2", .depends = "x"),
    KIT_PARAMETER(T, .start = "0.5"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct followers *m = self;
    for (int i = 0; i < 2; i++)
        m->der_x[i] = (m->u[i] - m->x[i]) / m->T;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct followers *m = self;
    for (int i = 0; i < 2; i++)
        m->y[i] = m->x[i];
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Followers",
    .size = sizeof(struct followers),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 2, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_INTERMEDIATE,
    .derivatives = derivatives,
    .outputs = outputs,
};
