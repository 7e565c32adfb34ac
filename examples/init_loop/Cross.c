/* SPDX-License-Identifier: MIT */
/* Cross - models 1 and 3 of Andersson's thesis, eq. 5.6: each output hands the other input through. The offsets are
 * ours: without them, zero would solve the loop. */
#include "kit.h"

struct cross {
    double u1, u2, y1, y2;
    double b1, b2;
};
#define KIT_SELF struct cross

static const struct kit_var variables[] = {
    KIT_INPUT(u1, .start = "0"),
    KIT_INPUT(u2, .start = "0"),
    KIT_OUTPUT(y1, .depends = "u2:constant b1:constant"),
    KIT_OUTPUT(y2, .depends = "u1:constant b2:constant"),
    KIT_PARAMETER(b1, .start = "0", .description = "offset of y1"),
    KIT_PARAMETER(b2, .start = "0", .description = "offset of y2"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct cross *m = self;
    m->y1 = m->u2 + m->b1;
    m->y2 = m->u1 + m->b2;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct cross *m = self;
    if (unknown == &m->y1)
        *value = known == &m->u2;
    else if (unknown == &m->y2)
        *value = known == &m->u1;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Cross",
    .description = "y1 = u2 + b1, y2 = u1 + b2",
    .size = sizeof(struct cross),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .outputs = outputs,
    .partial = partial,
};
