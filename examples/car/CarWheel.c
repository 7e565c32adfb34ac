/* SPDX-License-Identifier: MIT */
/* CarWheel - a wheel on a tyre, which rolls over a bump. The force of the suspension on the body is its input: action equals
 * reaction. */
#include <math.h>

#include "kit.h"

struct wheel {
    double x, v, der_x, der_v;
    double F;
    double m, k_tyre, bump, at, length;
};
#define KIT_SELF struct wheel

static const struct kit_unit units[] = {
    {.name = "m", .m = 1},
    {.name = "m/s", .m = 1, .s = -1},
    {.name = "m/s2", .m = 1, .s = -2},
    {.name = "N", .kg = 1, .m = 1, .s = -2},
    {.name = "N/m", .kg = 1, .s = -2},
    {.name = "kg", .kg = 1},
    {.name = "s", .s = 1},
};

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)", .unit = "m", .description = "height"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .unit = "m/s", .depends = "v:constant"),
    KIT_STATE(v, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v)", .unit = "m/s"),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .unit = "m/s2", .depends = "time x:fixed F:fixed m k_tyre bump at length"),
    KIT_INPUT(F, .start = "0", .unit = "N", .description = "force of the suspension on the body"),
    KIT_PARAMETER(m, .start = "40", .unit = "kg"),
    KIT_PARAMETER(k_tyre, .start = "200000", .unit = "N/m", .description = "spring between wheel and road"),
    KIT_PARAMETER(bump, .start = "0", .unit = "m", .description = "height of a bump in the road"),
    KIT_PARAMETER(at, .start = "0.2", .unit = "s", .description = "when it begins"),
    KIT_PARAMETER(length, .start = "0.1", .unit = "s", .description = "how long it lasts"),
};

static double road(const struct wheel *m, double t)
{
    double share = (t - m->at) / m->length;
    return share > 0 && share < 1 ? m->bump * (1 - cos(2 * acos(-1) * share)) / 2 : 0;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct wheel *m = self;
    m->der_x = m->v;
    m->der_v = (m->k_tyre * (road(m, t) - m->x) - m->F) / m->m;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "CarWheel",
    .description = "A wheel of a car that rolls over a bump",
    .size = sizeof(struct wheel),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 2},
    .features = KIT_FOR_FREE,
    .micro_step = 0.0005,
    .derivatives = derivatives,
};
