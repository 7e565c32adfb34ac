/* SPDX-License-Identifier: MIT */
/* Resource - reads its only output from a file that comes with the FMU. */
#include "kit.h"

#include <stdio.h>

struct resource {
    double y;
};
#define KIT_SELF struct resource

static const struct kit_var variables[] = {
    KIT_OUTPUT(y, .depends = "", .description = "the number in resources/value.txt"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct resource *m = self;
    const char *path = kit_resource(kit, "value.txt");
    FILE *file = path ? fopen(path, "r") : NULL;
    int found = file ? fscanf(file, "%lf", &m->y) : 0;
    if (file)
        fclose(file);
    if (found == 1)
        return KIT_OK;
    kit_log(kit, KIT_ERROR, "cannot read a number from %s", path ? path : "value.txt: the importer names no resources");
    return KIT_ERROR;
}

const struct kit_model kit_model = {
    .name = "Resource",
    .description = "A value from a resource file",
    .size = sizeof(struct resource),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .initialise = initialise,
};
