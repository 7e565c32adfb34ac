/* SPDX-License-Identifier: MIT */
/* Relation - y = offset + factor u + square u^2 + cubic u^3 + root sqrt(u) + (up ? step : 0), and whether y is above a
 * limit: for algebraic loops, linear or not, with Boolean values or not, with a solution or not. PlainRelation, the same
 * source built with RELATION_IS_PLAIN, has no directional derivatives; LyingRelation (RELATION_LIES) has
 * those of a relation with the factor 0. */
#include "kit.h"

#include <math.h>

struct relation {
    double u, y, offset, factor, square, cubic, root, step, limit;
    bool up, high;
};
#define KIT_SELF struct relation

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_INPUT(up, .start = "false"),
    KIT_OUTPUT(y, .depends = "u up offset factor square cubic root step"),
    KIT_OUTPUT(high, .depends = "u up offset factor square cubic root step limit"),
    KIT_PARAMETER(offset, .start = "0"),
    KIT_PARAMETER(factor, .start = "0"),
    KIT_PARAMETER(square, .start = "0"),
    KIT_PARAMETER(cubic, .start = "0"),
    KIT_PARAMETER(root, .start = "0"),
    KIT_PARAMETER(step, .start = "0"),
    KIT_PARAMETER(limit, .start = "0"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct relation *m = self;
    m->y = m->offset + m->u * (m->factor + m->u * (m->square + m->u * m->cubic));
    if (m->root != 0)
        m->y += m->root * sqrt(m->u);
    if (m->up)
        m->y += m->step;
    m->high = m->y > m->limit;
    return KIT_OK;
}

#ifndef RELATION_IS_PLAIN
static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct relation *m = self;
    if (unknown == &m->y && known == &m->u) {
#ifdef RELATION_LIES
        *value = m->u * (2 * m->square + 3 * m->u * m->cubic);
#else
        *value = m->factor + m->u * (2 * m->square + 3 * m->u * m->cubic);
#endif
        if (m->root != 0)
            *value += m->root / (2 * sqrt(m->u));
    }
    return KIT_OK;
}
#endif

const struct kit_model kit_model = {
    .description = "A relation between input and output",
    .size = sizeof(struct relation),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .outputs = outputs,
#ifdef RELATION_IS_PLAIN
    .name = "PlainRelation",
    .features = KIT_FOR_FREE | KIT_EVENT_MODE,
#else
#ifdef RELATION_LIES
    .name = "LyingRelation",
#else
    .name = "Relation",
#endif
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_DIRECTIONAL,
    .partial = partial,
#endif
};
