/* SPDX-License-Identifier: MIT */
/* Signals - part 1 of the control loop of Nicolai, Paepcke and Hirsch, eq. 1 and 2: two signals that jump at full
 * seconds. They jump at these times to the bit, and they are not announced: an importer sees it after a step. */
#include "kit.h"

#ifdef PLAIN
#define NAME "SignalsPlain"
#define KIND KIT_CONTINUOUS
#else
#define NAME "Signals"
#define KIND KIT_DISCRETE
#endif

struct signals {
    double x1, x2;
};
#define KIT_SELF struct signals

static const struct kit_var variables[] = {
    KIT_OUTPUT(x1, .variability = KIND, .depends = "time"),
    KIT_OUTPUT(x2, .variability = KIND, .depends = "time"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct signals *m = self;
    m->x1 = t < 1 || (2 <= t && t < 5) ? 0 : 1;
    m->x2 = t < 3 || (4 <= t && t < 6) ? 0 : 1;
    return KIT_OK;
}

/* There is nothing to integrate. As a function of its own it makes the FMU Co-Simulation only: in Model Exchange,
 * signals that jump without an event would be a mistake. */
static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "Two signals that jump at full seconds",
    .size = sizeof(struct signals),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 10, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
    .advance = advance,
};
