/* SPDX-License-Identifier: MIT */
/* LeftMass - the left half of two masses between three springs and dampers (Andersson's thesis, eq. 6.85 and
 * Table 7.1): how far and fast the right mass is from this one are inputs. Built with HISTORY it is LeftMassHistory,
 * which gives no derivatives of its outputs: the importer has to find them by differences. */
#include "kit.h"

#ifdef HISTORY
#define NAME "LeftMassHistory"
#define ORDER 0
#else
#define NAME "LeftMass"
#define ORDER 1
#endif

struct mass {
    double x1, v1, der_x1, der_v1;
    double u11, u12;
    double k1, k2, c1, c2, m1;
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
    KIT_STATE(x1, .causality = KIT_OUTPUT, .start = "2", .derivative = "der(x1)", .unit = "m"),
    KIT_DERIVATIVE(der_x1, .name = "der(x1)", .unit = "m/s", .depends = "v1:constant"),
    KIT_STATE(v1, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v1)", .unit = "m/s"),
    KIT_DERIVATIVE(der_v1, .name = "der(v1)", .unit = "m/s2",
                   .depends = "x1:fixed v1:fixed u11:fixed u12:fixed k1 k2 c1 c2 m1"),
    KIT_INPUT(u11, .start = "0", .unit = "m", .description = "position of the right mass, from this one"),
    KIT_INPUT(u12, .start = "0", .unit = "m/s", .description = "speed of the right mass, from this one"),
    KIT_PARAMETER(k1, .start = "10", .unit = "N/m", .description = "spring to the left wall"),
    KIT_PARAMETER(k2, .start = "25", .unit = "N/m", .description = "spring between the masses"),
    KIT_PARAMETER(c1, .start = "1", .unit = "N.s/m", .description = "damper to the left wall"),
    KIT_PARAMETER(c2, .start = "0.1", .unit = "N.s/m", .description = "damper between the masses"),
    KIT_PARAMETER(m1, .start = "1", .unit = "kg"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct mass *m = self;
    m->der_x1 = m->v1;
    m->der_v1 = (-m->k1 * m->x1 - m->c1 * m->v1 + m->k2 * m->u11 + m->c2 * m->u12) / m->m1;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct mass *m = self;
    if (unknown == &m->der_x1)
        *value = known == &m->v1;
    else if (unknown == &m->der_v1 && known == &m->x1)
        *value = -m->k1 / m->m1;
    else if (unknown == &m->der_v1 && known == &m->v1)
        *value = -m->c1 / m->m1;
    else if (unknown == &m->der_v1 && known == &m->u11)
        *value = m->k2 / m->m1;
    else if (unknown == &m->der_v1 && known == &m->u12)
        *value = m->c2 / m->m1;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "The left one of two masses between springs and dampers",
    .size = sizeof(struct mass),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 10, .step = 0.085},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = ORDER,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .partial = partial,
};
