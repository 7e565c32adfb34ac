/* SPDX-License-Identifier: MIT */
/* Room - the air of a room, well mixed, and its wall to the outside in five layers. Temperatures in, heat flows in, the
 * temperature of the air out. */
#include "kit.h"

enum { LAYERS = 5 };

struct room {
    double T, der_T;
    double w[LAYERS], der_w[LAYERS]; /* from the inside to the outside */
    double T_out, q_gain, q_left, q_right;
    double area, capacity;
};
#define KIT_SELF struct room

/* The wall, per square metre: 0.3 m of 0.6 W/(m K) and 1.4 MJ/(m3 K), and the air at its surfaces. */
#define LAYER (0.3 / LAYERS)
#define LAYER_CAPACITY (1.4e6 * LAYER)
#define BETWEEN (0.6 / LAYER)
#define INSIDE (1 / (1 / 8.0 + 0.5 / BETWEEN))
#define OUTSIDE (1 / (1 / 23.0 + 0.5 / BETWEEN))

static const struct kit_unit units[] = {
    {.name = "degC", .K = 1, .offset = 273.15},
    {.name = "K/s", .K = 1, .s = -1},
    {.name = "W", .kg = 1, .m = 2, .s = -3},
    {.name = "m2", .m = 2},
    {.name = "J/K", .kg = 1, .m = 2, .s = -2, .K = -1},
};

static const struct kit_var variables[] = {
    KIT_STATE(T, .causality = KIT_OUTPUT, .start = "12", .derivative = "der(T)", .unit = "degC"),
    KIT_STATE(w[0], .name = "w[1]", .start = "12", .derivative = "der(w[1])", .unit = "degC"),
    KIT_STATE(w[1], .name = "w[2]", .start = "12", .derivative = "der(w[2])", .unit = "degC"),
    KIT_STATE(w[2], .name = "w[3]", .start = "12", .derivative = "der(w[3])", .unit = "degC"),
    KIT_STATE(w[3], .name = "w[4]", .start = "12", .derivative = "der(w[4])", .unit = "degC"),
    KIT_STATE(w[4], .name = "w[5]", .start = "12", .derivative = "der(w[5])", .unit = "degC"),
    KIT_DERIVATIVE(der_T, .name = "der(T)", .unit = "K/s",
                   .depends = "T:fixed w[1]:fixed q_gain:fixed q_left:fixed q_right:fixed area capacity"),
    KIT_DERIVATIVE(der_w[0], .name = "der(w[1])", .unit = "K/s", .depends = "T:constant w[1]:constant w[2]:constant"),
    KIT_DERIVATIVE(der_w[1], .name = "der(w[2])", .unit = "K/s",
                   .depends = "w[1]:constant w[2]:constant w[3]:constant"),
    KIT_DERIVATIVE(der_w[2], .name = "der(w[3])", .unit = "K/s",
                   .depends = "w[2]:constant w[3]:constant w[4]:constant"),
    KIT_DERIVATIVE(der_w[3], .name = "der(w[4])", .unit = "K/s",
                   .depends = "w[3]:constant w[4]:constant w[5]:constant"),
    KIT_DERIVATIVE(der_w[4], .name = "der(w[5])", .unit = "K/s",
                   .depends = "w[4]:constant w[5]:constant T_out:constant"),
    KIT_INPUT(T_out, .start = "8", .unit = "degC", .description = "air outside"),
    KIT_INPUT(q_gain, .start = "0", .unit = "W", .description = "heat of people and machines"),
    KIT_INPUT(q_left, .start = "0", .unit = "W", .description = "heat that comes from the wall to the left"),
    KIT_INPUT(q_right, .start = "0", .unit = "W", .description = "heat that comes from the wall to the right"),
    KIT_PARAMETER(area, .start = "40", .unit = "m2", .description = "of the wall to the outside"),
    KIT_PARAMETER(capacity, .start = "4e5", .unit = "J/K", .description = "of the air and what stands in it"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct room *m = self;
    double into = INSIDE * (m->T - m->w[0]); /* heat into the layer, per square metre */
    m->der_T = (m->q_gain + m->q_left + m->q_right - m->area * into) / m->capacity;
    for (int i = 0; i < LAYERS; i++) {
        double out = i + 1 < LAYERS ? BETWEEN * (m->w[i] - m->w[i + 1]) : OUTSIDE * (m->w[i] - m->T_out);
        m->der_w[i] = (into - out) / LAYER_CAPACITY;
        into = out;
    }
    return KIT_OK;
}

/* Of the derivative of layer i. */
static double layer_partial(const struct room *m, int i, const double *known)
{
    double in = i == 0 ? INSIDE : BETWEEN, out = i + 1 == LAYERS ? OUTSIDE : BETWEEN;
    if (known == &m->w[i])
        return -(in + out) / LAYER_CAPACITY;
    if (known == (i == 0 ? &m->T : &m->w[i - 1]))
        return in / LAYER_CAPACITY;
    return known == (i + 1 == LAYERS ? &m->T_out : &m->w[i + 1]) ? out / LAYER_CAPACITY : 0;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct room *m = self;
    for (int i = 0; i < LAYERS; i++)
        if (unknown == &m->der_w[i])
            *value = layer_partial(m, i, known);
    if (unknown != &m->der_T)
        return KIT_OK;
    if (known == &m->T || known == &m->w[0])
        *value = (known == &m->T ? -1 : 1) * INSIDE * m->area / m->capacity;
    else if (known == &m->q_gain || known == &m->q_left || known == &m->q_right)
        *value = 1 / m->capacity;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Room",
    .description = "The air of a room and its wall to the outside",
    .size = sizeof(struct room),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 86400, .step = 60},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 20,
    .derivatives = derivatives,
    .partial = partial,
};
