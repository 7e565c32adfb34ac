/* SPDX-License-Identifier: MIT */
/* DeadBand - x' = u^2, y = max(0, x - threshold): a dead band that hides what inputs that are held in a step do to the state. */
#include "kit.h"

#include <math.h>

struct dead_band {
    double u, x, der_x, y, threshold;
};
#define KIT_SELF struct dead_band

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_STATE(x, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "u"),
    KIT_OUTPUT(y, .depends = "x threshold"),
    KIT_PARAMETER(threshold, .start = "1"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct dead_band *m = self;
    m->der_x = m->u * m->u;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct dead_band *m = self;
    m->y = fmax(0, m->x - m->threshold);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "DeadBand",
    .description = "What flows in, squared, as far as it is above a threshold",
    .size = sizeof(struct dead_band),
    KIT_VARIABLES(variables),
    .features = KIT_FOR_FREE,
    .experiment = {.stop = 10},
    .derivatives = derivatives,
    .outputs = outputs,
};
