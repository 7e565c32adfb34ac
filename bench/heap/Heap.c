/* SPDX-License-Identifier: MIT */
/* Heap - x' = -x beside 50 MB of memory, of which a step writes to some pages: for what a point to go back to costs. It saves
 * no state. */
#include "kit.h"

enum { PAGE = 4096 / sizeof(double), PAGES = 50 * 1024 * 1024 / 4096 };

struct heap {
    double x, der_x;
    int32_t pages; /* that a step writes to */
    double cells[PAGES * PAGE];
};
#define KIT_SELF struct heap

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)"),
    KIT_PARAMETER(pages, .start = "100"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct heap *m = self;
    for (size_t i = 0; i < PAGES; i++)
        m->cells[i * PAGE] = (double)i;
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct heap *m = self;
    m->der_x = -m->x;
    return KIT_OK;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    struct heap *m = self;
    for (int32_t i = 0; i < m->pages && i < PAGES; i++)
        m->cells[i * PAGE] += 1;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Heap",
    .description = "50 MB, and no saved state",
    .size = sizeof(struct heap),
    KIT_VARIABLES(variables),
    .initialise = initialise,
    .derivatives = derivatives,
    .completed_step = completed_step,
};
