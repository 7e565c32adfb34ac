/* SPDX-License-Identifier: MIT */
/* Floats - lags x' = u - a x, n of them with inputs and outputs of Float64, n with Float32, and one with scalars of
 * Float32: arrays whose size a structural parameter sets, requested inside a step. */
#include "kit.h"

struct floats {
    double *u, *x, *der_x, *y, *z, *der_z, s, der_s, a;
    float *v, *w, p, q;
    uint64_t n;
};
#define KIT_SELF struct floats

static const struct kit_var variables[] = {
    KIT_STRUCTURAL(n, .start = "2"),
    KIT_PARAMETER(a, .start = "0"),
    KIT_INPUT(u, .dims = "n", .start = "0", .intermediate = true),
    KIT_INPUT(v, .dims = "n", .start = "0", .intermediate = true),
    KIT_INPUT(p, .start = "0", .intermediate = true),
    KIT_STATE(x, .dims = "n", .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .dims = "n", .name = "der(x)", .depends = "x u a"),
    KIT_STATE(z, .dims = "n", .start = "0", .derivative = "der(z)"),
    KIT_DERIVATIVE(der_z, .dims = "n", .name = "der(z)", .depends = "z v a"),
    KIT_STATE(s, .start = "0", .derivative = "der(s)"),
    KIT_DERIVATIVE(der_s, .name = "der(s)", .depends = "s p a"),
    KIT_OUTPUT(y, .dims = "n", .depends = "x"),
    KIT_OUTPUT(w, .dims = "n", .depends = "z"),
    KIT_OUTPUT(q, .depends = "s"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct floats *m = self;
    for (uint64_t i = 0; i < m->n; i++) {
        m->der_x[i] = m->u[i] - m->a * m->x[i];
        m->der_z[i] = (double)m->v[i] - m->a * m->z[i];
    }
    m->der_s = (double)m->p - m->a * m->s;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct floats *m = self;
    for (uint64_t i = 0; i < m->n; i++) {
        m->y[i] = m->x[i];
        m->w[i] = (float)m->z[i];
    }
    m->q = (float)m->s;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Floats",
    .size = sizeof(struct floats),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.0625},
    .features = KIT_FOR_FREE | KIT_INTERMEDIATE,
    .derivatives = derivatives,
    .outputs = outputs,
};
