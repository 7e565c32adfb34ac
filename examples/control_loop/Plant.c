/* SPDX-License-Identifier: MIT */
/* Plant - part 3 of the control loop of Nicolai, Paepcke and Hirsch, eq. 4: x4' = 2 x3, exact for an x3 that is
 * held. */
#include "kit.h"

#ifdef PLAIN
#define NAME "PlantPlain"
#define KIND KIT_CONTINUOUS
#else
#define NAME "Plant"
#define KIND KIT_DISCRETE
#endif

struct plant {
    double x4, der_x4, x3;
};
#define KIT_SELF struct plant

static const struct kit_var variables[] = {
    KIT_STATE(x4, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x4)", .depends = "x4:constant"),
    KIT_DERIVATIVE(der_x4, .name = "der(x4)", .depends = "x3:constant"),
    KIT_INPUT(x3, .start = "0", .variability = KIND),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct plant *m = self;
    m->der_x4 = 2 * m->x3;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "x4' = 2 x3",
    .size = sizeof(struct plant),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 10, .step = 0.1},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
};
