/* SPDX-License-Identifier: MIT */
/* Noisy - x' = (u - x) / T, and y = x with noise on it that does not become less with shorter steps, as if by an integrator that
 * is too coarse inside. Steps that are repeated give the same: it comes
 * from the time alone, or, if it is regular, from a state. */
#include "kit.h"

#include <math.h>

struct noisy {
    double u, x, der_x, y, T, noise;
    bool regular, odd;
};
#define KIT_SELF struct noisy

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_STATE(x, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:fixed u:fixed T"),
    KIT_OUTPUT(y, .depends = "x time"),
    KIT_PARAMETER(T, .start = "0.5"),
    KIT_PARAMETER(noise, .start = "1e-5"),
    KIT_PARAMETER(regular, .start = "false", .description = "up and down, by turns from step to step"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct noisy *m = self;
    m->der_x = (m->u - m->x) / m->T;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct noisy *m = self;
    m->y = m->x + m->noise * (m->regular ? (m->odd ? 1 : -1) : sin(1e12 * t));
    return KIT_OK;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    struct noisy *m = self;
    m->odd = !m->odd;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Noisy",
    .description = "A lag with noise on its output",
    .size = sizeof(struct noisy),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .outputs = outputs,
    .completed_step = completed_step,
};
