/* SPDX-License-Identifier: MIT */
/* Resetting - y = n, and at the end of the initialisation n has its start value again, whatever was set before, and p is 0, which
 * is not its start value: as in some real FMUs. */
#include "kit.h"

struct resetting {
    int32_t n, y;
    double p;
};
#define KIT_SELF struct resetting

static const struct kit_var variables[] = {
    KIT_INPUT(n, .start = "0"),
    KIT_OUTPUT(y, .depends = ""),
    KIT_PARAMETER(p, .start = "5"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct resetting *m = self;
    m->n = 0;
    m->p = 0;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct resetting *m = self;
    m->y = m->n;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Resetting",
    .description = "Puts its input and its parameter back at the end of the initialisation",
    .size = sizeof(struct resetting),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.25},
    .features = KIT_FOR_FREE,
    .initialise = initialise,
    .outputs = outputs,
};
