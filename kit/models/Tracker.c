/* SPDX-License-Identifier: MIT */
/* Tracker - a first-order lag x' = (u - x) / T that shows all ways in which signals move inside a step: derivatives of
 * the input (FMI 1.0, 2.0), intermediate update (3.0), derivatives of the outputs, directional derivatives. */
#include "kit.h"

struct tracker {
    double u, x, der_x, y, error, T;
};
#define KIT_SELF struct tracker

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0", .intermediate = true, .description = "what is followed"),
    KIT_STATE(x, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:fixed u:fixed T"),
    KIT_OUTPUT(y, .depends = "x:constant", .intermediate = true, .description = "follows u"),
    KIT_OUTPUT(error, .depends = "x:constant u:constant", .intermediate = true, .description = "u - y, at once"),
    KIT_PARAMETER(T, .start = "0.5", .min = "1e-3", .description = "time constant"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct tracker *m = self;
    m->der_x = (m->u - m->x) / m->T;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct tracker *m = self;
    m->y = m->x;
    m->error = m->u - m->x;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct tracker *m = self;
    double sign = known == &m->u ? 1 : known == &m->x ? -1 : 0;
    if (unknown == &m->der_x)
        *value = sign / m->T;
    else if (unknown == &m->error)
        *value = sign;
    else if (unknown == &m->y)
        *value = known == &m->x;
    return KIT_OK;
}

static enum kit_status output_derivative(struct kit *kit, void *self, double t, const double *output, unsigned order,
                                         double *value)
{
    struct tracker *m = self;
    double first = m->der_x;
    double second = (kit_input_derivative(kit, &m->u, 1) - first) / m->T;
    double lag = order == 1 ? first : second;
    *value = output == &m->y ? lag : kit_input_derivative(kit, &m->u, order) - lag;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Tracker",
    .description = "A lag that follows its input",
    .size = sizeof(struct tracker),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 5, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES | KIT_INTERMEDIATE | KIT_EARLY_RETURN,
    .output_derivatives = 2,
    .micro_step = 0.02,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
    .output_derivative = output_derivative,
};
