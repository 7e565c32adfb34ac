/* SPDX-License-Identifier: MIT */
/* QuarterChassis - the upper half of a quarter car (Andersson's thesis, eq. 9.11a): height and speed of the wheel are
 * inputs. Built with DERIVATIVES it is QuarterChassisDerivatives, which also gives derivatives of its outputs, up to
 * order 2. */
#include "kit.h"

#ifdef DERIVATIVES
#define NAME "QuarterChassisDerivatives"
#define ORDER 2
#else
#define NAME "QuarterChassis"
#define ORDER 0
#endif

struct chassis {
    double x, v, der_x, der_v;
    double x_wheel, v_wheel;
    double m, k, d;
};
#define KIT_SELF struct chassis

static const struct kit_unit units[] = {
    {.name = "m", .m = 1},
    {.name = "m/s", .m = 1, .s = -1},
    {.name = "m/s2", .m = 1, .s = -2},
    {.name = "N/m", .kg = 1, .s = -2},
    {.name = "N.s/m", .kg = 1, .s = -1},
    {.name = "kg", .kg = 1},
};

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)", .unit = "m"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .unit = "m/s", .depends = "v:constant"),
    KIT_STATE(v, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v)", .unit = "m/s"),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .unit = "m/s2",
                   .depends = "x:fixed v:fixed x_wheel:fixed v_wheel:fixed m k d"),
    KIT_INPUT(x_wheel, .start = "0", .unit = "m"),
    KIT_INPUT(v_wheel, .start = "0", .unit = "m/s"),
    KIT_PARAMETER(m, .start = "400", .unit = "kg"),
    KIT_PARAMETER(k, .start = "15000", .unit = "N/m", .description = "spring between chassis and wheel"),
    KIT_PARAMETER(d, .start = "1000", .unit = "N.s/m", .description = "damper between chassis and wheel"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct chassis *m = self;
    m->der_x = m->v;
    m->der_v = (m->k * (m->x_wheel - m->x) + m->d * (m->v_wheel - m->v)) / m->m;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct chassis *m = self;
    if (unknown == &m->der_x)
        *value = known == &m->v;
    else if (unknown == &m->der_v && (known == &m->x_wheel || known == &m->x))
        *value = (known == &m->x ? -m->k : m->k) / m->m;
    else if (unknown == &m->der_v && (known == &m->v_wheel || known == &m->v))
        *value = (known == &m->v ? -m->d : m->d) / m->m;
    return KIT_OK;
}

#ifdef DERIVATIVES
static enum kit_status output_derivative(struct kit *kit, void *self, double t, const double *output, unsigned order,
                                         double *value)
{
    struct chassis *m = self;
    double slope_x = kit_input_derivative(kit, &m->x_wheel, 1), slope_v = kit_input_derivative(kit, &m->v_wheel, 1);
    if (output == &m->x)
        *value = order == 1 ? m->v : m->der_v;
    else
        *value = order == 1 ? m->der_v : (m->k * (slope_x - m->v) + m->d * (slope_v - m->der_v)) / m->m;
    return KIT_OK;
}
#endif

const struct kit_model kit_model = {
    .name = NAME,
    .description = "The chassis of a quarter car",
    .size = sizeof(struct chassis),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 1, .step = 0.001},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = ORDER,
    .micro_step = 0.0005,
    .derivatives = derivatives,
    .partial = partial,
#ifdef DERIVATIVES
    .output_derivative = output_derivative,
#endif
};
