/* SPDX-License-Identifier: MIT */
/* Narrow - y = offset - factor sqrt(u), which it refuses to compute (Discard) for u < 0: for loops whose solution lies near
 * the end of what a model can compute. */
#include "kit.h"

#include <math.h>

struct narrow {
    double u, y, offset, factor;
};
#define KIT_SELF struct narrow

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .depends = "u offset factor"),
    KIT_PARAMETER(offset, .start = "1"),
    KIT_PARAMETER(factor, .start = "1"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct narrow *m = self;
    if (m->u < 0) {
        kit_log(kit, KIT_DISCARD, "no root of a negative number");
        return KIT_DISCARD;
    }
    m->y = m->offset - m->factor * sqrt(m->u);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Narrow",
    .description = "A root that is refused for negative numbers",
    .size = sizeof(struct narrow),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
};
