/* SPDX-License-Identifier: MIT */
/* HorizontalSpeed - v' = -c0 v: air slows the ball down (Awais' thesis, eq. 5.23). */
#include "kit.h"

struct horizontal_speed {
    double v, der_v, c0;
};
#define KIT_SELF struct horizontal_speed

static const struct kit_unit units[] = {{.name = "m/s", .m = 1, .s = -1},
                                        {.name = "m/s2", .m = 1, .s = -2},
                                        {.name = "1/s", .s = -1}};

static const struct kit_var variables[] = {
    KIT_STATE(v, .causality = KIT_OUTPUT, .start = "1.5", .derivative = "der(v)", .unit = "m/s",
              .depends = "v:constant"),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .unit = "m/s2", .depends = "v:fixed c0"),
    KIT_PARAMETER(c0, .start = "0.25", .unit = "1/s", .description = "drag of the air"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct horizontal_speed *m = self;
    m->der_v = -m->c0 * m->v;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "HorizontalSpeed",
    .description = "v' = -c0 v",
    .size = sizeof(struct horizontal_speed),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 7, .step = 0.01},
    .features = KIT_FOR_FREE,
    .micro_step = 0.01,
    .derivatives = derivatives,
};
