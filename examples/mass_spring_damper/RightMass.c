/* SPDX-License-Identifier: MIT */
/* RightMass - the right half of two masses between three springs and dampers (Andersson's thesis, eq. 7.17 and
 * Table 7.1): the position and speed of the left mass are inputs. */
#include "kit.h"

struct mass {
    double x2, v2, der_x2, der_v2;
    double u21, u22;
    double k2, k3, c2, c3, m2;
};
#define KIT_SELF struct mass

static const struct kit_unit units[] = {
    {.name = "m", .m = 1},
    {.name = "m/s", .m = 1, .s = -1},
    {.name = "m/s2", .m = 1, .s = -2},
    {.name = "N/m", .kg = 1, .s = -2},
    {.name = "N.s/m", .kg = 1, .s = -1},
    {.name = "kg", .kg = 1},
};

static const struct kit_var variables[] = {
    KIT_STATE(x2, .causality = KIT_OUTPUT, .start = "2", .derivative = "der(x2)", .unit = "m"),
    KIT_DERIVATIVE(der_x2, .name = "der(x2)", .unit = "m/s", .depends = "v2:constant"),
    KIT_STATE(v2, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v2)", .unit = "m/s"),
    KIT_DERIVATIVE(der_v2, .name = "der(v2)", .unit = "m/s2",
                   .depends = "x2:fixed v2:fixed u21:fixed u22:fixed k2 k3 c2 c3 m2"),
    KIT_INPUT(u21, .start = "2", .unit = "m", .description = "position of the left mass"),
    KIT_INPUT(u22, .start = "0", .unit = "m/s", .description = "speed of the left mass"),
    KIT_PARAMETER(k2, .start = "25", .unit = "N/m", .description = "spring between the masses"),
    KIT_PARAMETER(k3, .start = "50", .unit = "N/m", .description = "spring to the right wall"),
    KIT_PARAMETER(c2, .start = "0.1", .unit = "N.s/m", .description = "damper between the masses"),
    KIT_PARAMETER(c3, .start = "2", .unit = "N.s/m", .description = "damper to the right wall"),
    KIT_PARAMETER(m2, .start = "1", .unit = "kg"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct mass *m = self;
    m->der_x2 = m->v2;
    m->der_v2 = (-(m->k3 + m->k2) * m->x2 - (m->c3 + m->c2) * m->v2 + m->k2 * m->u21 + m->c2 * m->u22) / m->m2;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct mass *m = self;
    if (unknown == &m->der_x2)
        *value = known == &m->v2;
    else if (unknown == &m->der_v2 && known == &m->x2)
        *value = -(m->k3 + m->k2) / m->m2;
    else if (unknown == &m->der_v2 && known == &m->v2)
        *value = -(m->c3 + m->c2) / m->m2;
    else if (unknown == &m->der_v2 && known == &m->u21)
        *value = m->k2 / m->m2;
    else if (unknown == &m->der_v2 && known == &m->u22)
        *value = m->c2 / m->m2;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "RightMass",
    .description = "The right one of two masses between springs and dampers",
    .size = sizeof(struct mass),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 2, .step = 0.1, .tolerance = 1e-6},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .partial = partial,
};
