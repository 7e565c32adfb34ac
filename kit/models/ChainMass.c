/* SPDX-License-Identifier: MIT */
/* ChainMass - a link of a chain: a mass with a spring and a damper to its left neighbour. It gives the right neighbour
 * its position, and the left neighbour its force. */
#include "kit.h"

struct link {
    double x, der_x, v, der_v, F, x_left, v_left, F_right, m, k, d;
};
#define KIT_SELF struct link

static const struct kit_unit units[] = {
    {.name = "m", .m = 1},
    {.name = "m/s", .m = 1, .s = -1},
    {.name = "m/s2", .m = 1, .s = -2},
    {.name = "N", .kg = 1, .m = 1, .s = -2},
    {.name = "kg", .kg = 1},
    {.name = "N/m", .kg = 1, .s = -2},
    {.name = "N.s/m", .kg = 1, .s = -1},
};

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)", .unit = "m",
              .description = "displacement"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "v:constant", .unit = "m/s"),
    KIT_STATE(v, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v)", .unit = "m/s",
              .description = "velocity"),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .unit = "m/s2",
                   .depends = "x:fixed v:fixed x_left:fixed v_left:fixed F_right:fixed m k d"),
    KIT_OUTPUT(F, .depends = "x:fixed v:fixed x_left:fixed v_left:fixed k d", .unit = "N",
               .description = "force on the left neighbour"),
    KIT_INPUT(x_left, .start = "0", .unit = "m", .description = "displacement of the left neighbour"),
    KIT_INPUT(v_left, .start = "0", .unit = "m/s", .description = "velocity of the left neighbour"),
    KIT_INPUT(F_right, .start = "0", .unit = "N", .description = "force of the right neighbour"),
    KIT_PARAMETER(m, .start = "1", .unit = "kg", .description = "mass"),
    KIT_PARAMETER(k, .start = "100", .unit = "N/m", .description = "stiffness of the spring"),
    KIT_PARAMETER(d, .start = "1", .unit = "N.s/m", .description = "of the damper"),
};

static double pull(const struct link *m)
{
    return m->k * (m->x - m->x_left) + m->d * (m->v - m->v_left);
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct link *m = self;
    m->der_x = m->v;
    m->der_v = (m->F_right - pull(m)) / m->m;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct link *m = self;
    m->F = pull(m);
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct link *m = self;
    if (unknown == &m->der_x) {
        *value = known == &m->v;
        return KIT_OK;
    }
    if (known == &m->x || known == &m->x_left)
        *value = known == &m->x ? m->k : -m->k;
    else if (known == &m->v || known == &m->v_left)
        *value = known == &m->v ? m->d : -m->d;
    if (unknown == &m->der_v)
        *value = ((known == &m->F_right) - *value) / m->m;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "ChainMass",
    .description = "A mass with a spring and a damper to its left neighbour",
    .size = sizeof(struct link),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 10, .step = 0.001},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
};
