/* SPDX-License-Identifier: MIT */
/* Subsystem - one of two linear systems that are coupled through their feed-through (Andersson's thesis, eq. 6.24 and
 * 6.25; the parameters say which). It takes slopes of its input. Built with DERIVATIVES it is SubsystemDerivatives,
 * which also gives those of its output: without, the importer has to find them by differences. Built with PLAIN it is
 * SubsystemPlain, which has neither slopes nor directional derivatives: there D has to be found by differences. */
#include "kit.h"

#ifdef PLAIN
#define NAME "SubsystemPlain"
#define FEATURES KIT_FOR_FREE
#define OUTPUT_DERIVATIVES 0
#elif defined DERIVATIVES
#define NAME "SubsystemDerivatives"
#define FEATURES (KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES)
#define OUTPUT_DERIVATIVES 1
#else
#define NAME "Subsystem"
#define FEATURES (KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES)
#define OUTPUT_DERIVATIVES 0
#endif

struct subsystem {
    double x, der_x, u, y;
    double b, c, d;
};
#define KIT_SELF struct subsystem

static const struct kit_var variables[] = {
    KIT_STATE(x, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:constant u:fixed b"),
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .depends = "x:fixed u:fixed c d"),
    KIT_PARAMETER(b, .start = "1"),
    KIT_PARAMETER(c, .start = "1"),
    KIT_PARAMETER(d, .start = "0", .description = "feed-through"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct subsystem *m = self;
    m->der_x = -m->x + m->b * m->u;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct subsystem *m = self;
    m->y = m->c * m->x + m->d * m->u;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct subsystem *m = self;
    if (unknown == &m->der_x)
        *value = known == &m->x ? -1 : known == &m->u ? m->b : 0;
    else if (unknown == &m->y)
        *value = known == &m->x ? m->c : known == &m->u ? m->d : 0;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "x' = -x + b u, y = c x + d u",
    .size = sizeof(struct subsystem),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.01},
    .features = FEATURES,
    .output_derivatives = OUTPUT_DERIVATIVES,
    .micro_step = 0.001,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
};
