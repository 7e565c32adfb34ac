/* SPDX-License-Identifier: MIT */
/* RightMass - the right half of two masses between three springs and dampers (Andersson's thesis, eq. 7.17 and
 * Table 7.1): the position and speed of the left mass are inputs. Built with COUPLED it is RightMassCoupled (eq. 6.86),
 * which also tells how far and fast it is from the left mass; with HISTORY, too, RightMassHistory, which gives no
 * derivatives of its outputs: the importer has to find them by differences. */
#include "kit.h"

#if defined HISTORY
#define NAME "RightMassHistory"
#define ORDER 0
#elif defined COUPLED
#define NAME "RightMassCoupled"
#define ORDER 1
#else
#define NAME "RightMass"
#define ORDER 1
#endif

struct mass {
    double x2, v2, der_x2, der_v2;
    double u21, u22, y21, y22;
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
#ifdef COUPLED
    KIT_OUTPUT(y21, .unit = "m", .depends = "x2:constant u21:constant", .description = "x2 - u21"),
    KIT_OUTPUT(y22, .unit = "m/s", .depends = "v2:constant u22:constant", .description = "v2 - u22"),
#endif
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct mass *m = self;
    m->der_x2 = m->v2;
    m->der_v2 = (-(m->k3 + m->k2) * m->x2 - (m->c3 + m->c2) * m->v2 + m->k2 * m->u21 + m->c2 * m->u22) / m->m2;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct mass *m = self;
    m->y21 = m->x2 - m->u21;
    m->y22 = m->v2 - m->u22;
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
    else if (unknown == &m->y21)
        *value = known == &m->x2 ? 1 : known == &m->u21 ? -1 : 0;
    else if (unknown == &m->y22)
        *value = known == &m->v2 ? 1 : known == &m->u22 ? -1 : 0;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "The right one of two masses between springs and dampers",
    .size = sizeof(struct mass),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 2, .step = 0.1, .tolerance = 1e-6},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = ORDER,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
};
