/* SPDX-License-Identifier: MIT */
/* Partition - a wall between two rooms, in three layers: the temperatures of the rooms in, the heat flows to them
 * out. */
#include "kit.h"

enum { LAYERS = 3 };

struct wall {
    double w[LAYERS], der_w[LAYERS]; /* from left to right */
    double T_left, T_right, q_left, q_right;
    double area;
};
#define KIT_SELF struct wall

/* The wall, per square metre: 0.1 m of 0.5 W/(m K) and 1.2 MJ/(m3 K), and the air at its surfaces. */
#define LAYER (0.1 / LAYERS)
#define LAYER_CAPACITY (1.2e6 * LAYER)
#define BETWEEN (0.5 / LAYER)
#define SURFACE (1 / (1 / 8.0 + 0.5 / BETWEEN))

static const struct kit_unit units[] = {
    {.name = "degC", .K = 1, .offset = 273.15},
    {.name = "K/s", .K = 1, .s = -1},
    {.name = "W", .kg = 1, .m = 2, .s = -3},
    {.name = "m2", .m = 2},
};

static const struct kit_var variables[] = {
    KIT_STATE(w[0], .name = "w[1]", .start = "12", .derivative = "der(w[1])", .unit = "degC"),
    KIT_STATE(w[1], .name = "w[2]", .start = "12", .derivative = "der(w[2])", .unit = "degC"),
    KIT_STATE(w[2], .name = "w[3]", .start = "12", .derivative = "der(w[3])", .unit = "degC"),
    KIT_DERIVATIVE(der_w[0], .name = "der(w[1])", .unit = "K/s",
                   .depends = "T_left:constant w[1]:constant w[2]:constant"),
    KIT_DERIVATIVE(der_w[1], .name = "der(w[2])", .unit = "K/s",
                   .depends = "w[1]:constant w[2]:constant w[3]:constant"),
    KIT_DERIVATIVE(der_w[2], .name = "der(w[3])", .unit = "K/s",
                   .depends = "w[2]:constant w[3]:constant T_right:constant"),
    KIT_INPUT(T_left, .start = "12", .unit = "degC", .description = "air to the left"),
    KIT_INPUT(T_right, .start = "12", .unit = "degC", .description = "air to the right"),
    KIT_OUTPUT(q_left, .unit = "W", .depends = "T_left:fixed w[1]:fixed area", .description = "heat to the left"),
    KIT_OUTPUT(q_right, .unit = "W", .depends = "T_right:fixed w[3]:fixed area", .description = "heat to the right"),
    KIT_PARAMETER(area, .start = "30", .unit = "m2"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct wall *m = self;
    double into = SURFACE * (m->T_left - m->w[0]); /* heat into the layer, per square metre */
    for (int i = 0; i < LAYERS; i++) {
        double out = i + 1 < LAYERS ? BETWEEN * (m->w[i] - m->w[i + 1]) : SURFACE * (m->w[i] - m->T_right);
        m->der_w[i] = (into - out) / LAYER_CAPACITY;
        into = out;
    }
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct wall *m = self;
    m->q_left = SURFACE * m->area * (m->w[0] - m->T_left);
    m->q_right = SURFACE * m->area * (m->w[LAYERS - 1] - m->T_right);
    return KIT_OK;
}

/* Of the derivative of layer i. */
static double layer_partial(const struct wall *m, int i, const double *known)
{
    double left = i == 0 ? SURFACE : BETWEEN, right = i + 1 == LAYERS ? SURFACE : BETWEEN;
    if (known == &m->w[i])
        return -(left + right) / LAYER_CAPACITY;
    if (known == (i == 0 ? &m->T_left : &m->w[i - 1]))
        return left / LAYER_CAPACITY;
    return known == (i + 1 == LAYERS ? &m->T_right : &m->w[i + 1]) ? right / LAYER_CAPACITY : 0;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct wall *m = self;
    for (int i = 0; i < LAYERS; i++)
        if (unknown == &m->der_w[i])
            *value = layer_partial(m, i, known);
    double factor = SURFACE * m->area;
    if (unknown == &m->q_left)
        *value = known == &m->w[0] ? factor : known == &m->T_left ? -factor : 0;
    else if (unknown == &m->q_right)
        *value = known == &m->w[LAYERS - 1] ? factor : known == &m->T_right ? -factor : 0;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Partition",
    .description = "A wall between two rooms",
    .size = sizeof(struct wall),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 86400, .step = 60},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 20,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
};
