/* SPDX-License-Identifier: MIT */
/* Controller - part 2 of the control loop of Nicolai, Paepcke and Hirsch, eq. 3: a switch with three positions that
 * follows its inputs at once. It has no memory and no events of its own; like the other parts it says nothing of where
 * it switched inside a step. */
#include "kit.h"

#ifdef PLAIN
#define NAME "ControllerPlain"
#define KIND KIT_CONTINUOUS
#else
#define NAME "Controller"
#define KIND KIT_DISCRETE
#endif

struct controller {
    double x1, x2, x4, x3;
};
#define KIT_SELF struct controller

static const struct kit_var variables[] = {
    KIT_INPUT(x1, .start = "0", .variability = KIND),
    KIT_INPUT(x2, .start = "0", .variability = KIND),
    KIT_INPUT(x4, .start = "0"),
    KIT_OUTPUT(x3, .variability = KIND, .depends = "x1 x2 x4"),
};

/* The comparisons as they are printed: x1 = 1, but x2 < 0.01. */
static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct controller *m = self;
    if (m->x1 == 1 && m->x2 < 0.01 && m->x4 < 2.5)
        m->x3 = 3;
    else if (m->x1 < 0.001 && m->x2 > 0 && m->x4 > -2.5)
        m->x3 = -3;
    else
        m->x3 = 0;
    return KIT_OK;
}

/* Nothing to integrate; Co-Simulation only (see Signals.c). */
static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "A switch with three positions",
    .size = sizeof(struct controller),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 10, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
    .advance = advance,
};
