/* SPDX-License-Identifier: MIT */
/* Sum - model 2 of Andersson's thesis, eq. 5.6, where k = 1. That makes the gain around the loop 1 and the loop
 * singular; ours is 0.5. It has no directional derivatives: the importer has to find D by differences. */
#include "kit.h"

struct sum {
    double u1, u2, y1, y2;
    double k, b1, b2;
};
#define KIT_SELF struct sum

static const struct kit_var variables[] = {
    KIT_INPUT(u1, .start = "0"),
    KIT_INPUT(u2, .start = "0"),
    KIT_OUTPUT(y1, .depends = "u1:fixed u2:constant k b1:constant"),
    KIT_OUTPUT(y2, .depends = "u1:constant b2:constant"),
    KIT_PARAMETER(k, .start = "0.5", .description = "gain from u1 to y1; 1 in the thesis"),
    KIT_PARAMETER(b1, .start = "0", .description = "offset of y1"),
    KIT_PARAMETER(b2, .start = "0", .description = "offset of y2"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct sum *m = self;
    m->y1 = m->k * m->u1 + m->u2 + m->b1;
    m->y2 = m->u1 + m->b2;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Sum",
    .description = "y1 = k u1 + u2 + b1, y2 = u1 + b2",
    .size = sizeof(struct sum),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
};
