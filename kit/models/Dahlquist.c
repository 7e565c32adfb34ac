/* SPDX-License-Identifier: MIT */
/* Dahlquist - the test equation x' = -k x: the smallest model, x(t) = x(0) exp(-k t). */
#include "kit.h"

struct dahlquist {
    double x, der_x, k;
};
#define KIT_SELF struct dahlquist

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)", .description = "the only state"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:fixed k"),
    KIT_PARAMETER(k, .start = "1", .description = "rate of decay"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct dahlquist *m = self;
    m->der_x = -m->k * m->x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Dahlquist",
    .description = "Dahlquist's test equation",
    .size = sizeof(struct dahlquist),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 10, .step = 0.1},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
};
