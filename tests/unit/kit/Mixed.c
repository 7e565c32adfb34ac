/* SPDX-License-Identifier: MIT */
/* Mixed - x' = u + w[1] + 2 w[2] + f: continuous inputs of every sort, and no saved states (FMI 3.0). The
 * nominal value of x is 0, as is x itself at first. */
#include "kit.h"

struct mixed {
    double x, der_x, u, *w;
    float f;
};
#define KIT_SELF struct mixed

static const struct kit_var variables[] = {
    KIT_INPUT(w, .dims = "2", .start = "0"),
    KIT_INPUT(u, .start = "0"),
    KIT_INPUT(f, .start = "0"),
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .nominal = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "u:constant w:constant f:constant"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct mixed *m = self;
    m->der_x = m->u + m->w[0] + 2 * m->w[1] + (double)m->f;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Mixed",
    .description = "Inputs of every sort",
    .size = sizeof(struct mixed),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 2, .step = 0.25},
    .derivatives = derivatives,
};
