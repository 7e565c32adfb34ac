/* SPDX-License-Identifier: MIT */
/* Resetting - y = n, and at the end of the initialisation n has its start value again, whatever was set before, as in some real
 * FMUs. */
#include "kit.h"

struct resetting {
    int32_t n, y;
};
#define KIT_SELF struct resetting

static const struct kit_var variables[] = {
    KIT_INPUT(n, .start = "0"),
    KIT_OUTPUT(y, .depends = ""),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct resetting *m = self;
    m->n = 0;
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
    .description = "Puts its input back at the end of the initialisation",
    .size = sizeof(struct resetting),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.25},
    .features = KIT_FOR_FREE,
    .initialise = initialise,
    .outputs = outputs,
};
