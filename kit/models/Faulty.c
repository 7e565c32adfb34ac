/* SPDX-License-Identifier: MIT */
/* Faulty - y' = u - y, built with the fault layer: the environment variable KIT_FAULT selects its faults. */
#include "kit.h"

#ifdef TAKES_SLOPES /* inputs move inside a step */
#define NAME "FaultySlopes"
enum { FEATURES = KIT_FOR_FREE | KIT_INPUT_DERIVATIVES };
#else
#define NAME "Faulty"
enum { FEATURES = KIT_FOR_FREE | KIT_EARLY_RETURN };
#endif

struct faulty {
    double u, x, der_x, y;
};
#define KIT_SELF struct faulty

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "1"),
    KIT_STATE(x, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:constant u:constant"),
    KIT_OUTPUT(y, .depends = "x:constant"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct faulty *m = self;
    m->der_x = m->u - m->x;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct faulty *m = self;
    m->y = m->x;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "Misbehaves on demand",
    .size = sizeof(struct faulty),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = FEATURES,
    .derivatives = derivatives,
    .outputs = outputs,
};
