/* SPDX-License-Identifier: MIT */
/* Position - s' = v: x or y of the ball on stairs (Awais' thesis, eq. 5.23). In FMI 2.0 the speed may change along a
 * polynomial inside a step. */
#include "kit.h"

struct position {
    double s, der_s, v;
};
#define KIT_SELF struct position

static const struct kit_unit units[] = {{.name = "m", .m = 1}, {.name = "m/s", .m = 1, .s = -1}};

static const struct kit_var variables[] = {
    KIT_STATE(s, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(s)", .unit = "m", .depends = "s:constant"),
    KIT_DERIVATIVE(der_s, .name = "der(s)", .unit = "m/s", .depends = "v:constant"),
    KIT_INPUT(v, .start = "0", .unit = "m/s"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct position *m = self;
    m->der_s = m->v;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Position",
    .description = "s' = v",
    .size = sizeof(struct position),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 7, .step = 0.01},
    .features = KIT_FOR_FREE | KIT_INPUT_DERIVATIVES,
    .derivatives = derivatives,
};
