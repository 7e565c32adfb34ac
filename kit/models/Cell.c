/* SPDX-License-Identifier: MIT */
/* Cell - two states, three inputs, linear but for a spring that hardens and an input that saturates: what random coupled
 * systems are made of. `q` follows u1 directly. Built with MOVES it is CellMoves, which takes inputs that move in a step. */
#include <math.h>

#include "kit.h"

#ifdef MOVES
#define NAME "CellMoves"
#define FEATURES (KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES | KIT_INTERMEDIATE)
#define INTERMEDIATE true
#else
#define NAME "Cell"
#define FEATURES (KIT_FOR_FREE | KIT_DIRECTIONAL)
#define INTERMEDIATE false
#endif

struct cell {
    double x, z, der_x, der_z, y, q, u1, u2, u3;
    double axx, axz, azx, azz, bx1, bx2, bz1, bz3, g, s, w, c, d;
};
#define KIT_SELF struct cell

static const struct kit_var variables[] = {
    KIT_STATE(x, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:fixed z:fixed u1:fixed u2 axx axz bx1 bx2"),
    KIT_STATE(z, .start = "0", .derivative = "der(z)"),
    KIT_DERIVATIVE(der_z, .name = "der(z)", .depends = "time x:fixed z u1:fixed u3:fixed azx azz bz1 bz3 g s w"),
    KIT_OUTPUT(y, .depends = "x:constant", .intermediate = INTERMEDIATE),
    KIT_OUTPUT(q, .depends = "x:fixed z:constant u1:fixed c d", .intermediate = INTERMEDIATE),
    KIT_INPUT(u1, .start = "0", .intermediate = INTERMEDIATE),
    KIT_INPUT(u2, .start = "0", .intermediate = INTERMEDIATE, .description = "saturates at 1"),
    KIT_INPUT(u3, .start = "0", .intermediate = INTERMEDIATE),
    KIT_PARAMETER(axx, .start = "-0.2"),
    KIT_PARAMETER(axz, .start = "1"),
    KIT_PARAMETER(azx, .start = "-1"),
    KIT_PARAMETER(azz, .start = "-0.2"),
    KIT_PARAMETER(bx1, .start = "0.5"),
    KIT_PARAMETER(bx2, .start = "0"),
    KIT_PARAMETER(bz1, .start = "0.5"),
    KIT_PARAMETER(bz3, .start = "0"),
    KIT_PARAMETER(g, .start = "0", .description = "cubic part of the spring"),
    KIT_PARAMETER(s, .start = "0", .description = "of its own excitation s sin(w t)"),
    KIT_PARAMETER(w, .start = "1"),
    KIT_PARAMETER(c, .start = "0"),
    KIT_PARAMETER(d, .start = "0", .description = "direct part of u1 in q"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct cell *m = self;
    m->der_x = m->axx * m->x + m->axz * m->z + m->bx1 * m->u1 + m->bx2 * tanh(m->u2);
    m->der_z = m->azx * m->x + m->azz * m->z - m->g * m->z * m->z * m->z + m->bz1 * m->u1 + m->bz3 * m->u3 +
               m->s * sin(m->w * t);
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct cell *m = self;
    m->y = m->x;
    m->q = m->c * m->x + m->z + m->d * m->u1;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    const struct cell *m = self;
    double saturated = tanh(m->u2);
    const struct {
        const double *unknown, *known;
        double value;
    } all[] = {
        {&m->der_x, &m->x, m->axx},
        {&m->der_x, &m->z, m->axz},
        {&m->der_x, &m->u1, m->bx1},
        {&m->der_x, &m->u2, m->bx2 * (1 - saturated * saturated)},
        {&m->der_z, &m->x, m->azx},
        {&m->der_z, &m->z, m->azz - 3 * m->g * m->z * m->z},
        {&m->der_z, &m->u1, m->bz1},
        {&m->der_z, &m->u3, m->bz3},
        {&m->der_z, NULL, m->s * m->w * cos(m->w * t)},
        {&m->y, &m->x, 1},
        {&m->q, &m->x, m->c},
        {&m->q, &m->z, 1},
        {&m->q, &m->u1, m->d},
    };
    for (size_t i = 0; i < KIT_COUNT(all); i++)
        if (unknown == all[i].unknown && known == all[i].known)
            *value = all[i].value;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "Two states of a coupled system",
    .size = sizeof(struct cell),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 10},
    .features = FEATURES,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
};
