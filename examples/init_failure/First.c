/* SPDX-License-Identifier: MIT */
/* First - the first of two coupled models whose start values can be had in order (Andersson's thesis, eq. 5.2). Built
 * with OPAQUE it is FirstOpaque, which does not tell what its output depends on. */
#include "kit.h"

#ifdef OPAQUE
#define NAME "FirstOpaque"
#define DEPENDS(names) NULL
#else
#define NAME "First"
#define DEPENDS(names) names
#endif

struct first {
    double x, der_x, u, y;
};
#define KIT_SELF struct first

static const struct kit_var variables[] = {
    KIT_STATE(x, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = DEPENDS("x:constant u:constant")),
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .depends = DEPENDS("x:constant")),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct first *m = self;
    m->der_x = m->x + m->u;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct first *m = self;
    m->y = m->x;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct first *m = self;
    if (unknown == &m->der_x)
        *value = known == &m->x || known == &m->u;
    else if (unknown == &m->y)
        *value = known == &m->x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "x' = x + u, y = x",
    .size = sizeof(struct first),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
};
