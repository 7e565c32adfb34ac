/* SPDX-License-Identifier: MIT */
/* VerticalSpeed - v' = -g - c1 v - contact ((y - stair) c2 + c3 v): gravity, air, and while the ball touches the
 * stair, its spring and damper (Awais' thesis, eq. 5.23). Contact and stair are decided by another unit. In FMI 2.0 y
 * may change along a polynomial inside a step. */
#include "kit.h"

struct vertical_speed {
    double v, der_v, y, g, c1, c2, c3;
    bool contact;
    int32_t stair;
};
#define KIT_SELF struct vertical_speed

static const struct kit_unit units[] = {{.name = "m", .m = 1},
                                        {.name = "m/s", .m = 1, .s = -1},
                                        {.name = "m/s2", .m = 1, .s = -2},
                                        {.name = "1/s", .s = -1},
                                        {.name = "1/s2", .s = -2}};

static const struct kit_var variables[] = {
    KIT_STATE(v, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v)", .unit = "m/s", .depends = "v:constant"),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .unit = "m/s2", .depends = "v y contact stair g c1 c2 c3"),
    KIT_INPUT(y, .start = "0", .unit = "m"),
    KIT_INPUT(contact, .start = "false", .description = "the ball touches the stair"),
    KIT_INPUT(stair, .start = "0", .description = "height of the stair below the ball, in metres"),
    KIT_PARAMETER(g, .start = "9.81", .unit = "m/s2", .description = "gravity"),
    KIT_PARAMETER(c1, .start = "0.05", .unit = "1/s", .description = "drag of the air"),
    KIT_PARAMETER(c2, .start = "2000", .unit = "1/s2", .description = "spring of the contact, per mass"),
    KIT_PARAMETER(c3, .start = "10", .unit = "1/s", .description = "damper of the contact, per mass"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct vertical_speed *m = self;
    double push = m->contact ? (m->y - m->stair) * m->c2 + m->c3 * m->v : 0;
    m->der_v = -m->g - m->c1 * m->v - push;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "VerticalSpeed",
    .description = "v' = -g - c1 v - contact ((y - stair) c2 + c3 v)",
    .size = sizeof(struct vertical_speed),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 7, .step = 0.01},
    .features = KIT_FOR_FREE | KIT_INPUT_DERIVATIVES,
    .micro_step = 0.002,
    .derivatives = derivatives,
};
