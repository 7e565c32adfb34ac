/* SPDX-License-Identifier: MIT */
/* StateSpace - x' = A x + B u, y = C x + D u, with extents that can be changed, also to 0 and while it runs. */
#include "kit.h"

struct space {
    uint64_t m, n, r; /* inputs, states, outputs */
    double *A, *B, *C, *D, *x0, *u, *y, *x, *der_x;
};
#define KIT_SELF struct space

static const struct kit_var variables[] = {
    KIT_STRUCTURAL(m, .variability = KIT_TUNABLE, .start = "2", .min = "0", .max = "100", .description = "inputs"),
    KIT_STRUCTURAL(n, .variability = KIT_TUNABLE, .start = "3", .min = "0", .max = "100", .description = "states"),
    KIT_STRUCTURAL(r, .variability = KIT_TUNABLE, .start = "2", .min = "0", .max = "100", .description = "outputs"),
    KIT_PARAMETER(A, .dims = "n n", .variability = KIT_TUNABLE, .start = "-1 1 0  0 -2 1  0 0 -3"),
    KIT_PARAMETER(B, .dims = "n m", .variability = KIT_TUNABLE, .start = "1 0  0 1  1 1"),
    KIT_PARAMETER(C, .dims = "r n", .variability = KIT_TUNABLE, .start = "1 0 0  0 1 1"),
    KIT_PARAMETER(D, .dims = "r m", .variability = KIT_TUNABLE, .start = "0 0  0.5 0"),
    KIT_PARAMETER(x0, .dims = "n", .start = "1 0 -1", .description = "initial states"),
    KIT_INPUT(u, .dims = "m", .start = "1 2"),
    KIT_OUTPUT(y, .dims = "r", .depends = "x:tunable u:tunable C D"),
    KIT_STATE(x, .dims = "n", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .dims = "n", .name = "der(x)", .depends = "x:tunable u:tunable A B"),
};

/* y := P a + Q b */
static void combine(double *y, const double *P, const double *a, size_t na, const double *Q, const double *b, size_t nb,
                    size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        y[i] = 0;
        for (size_t j = 0; j < na; j++)
            y[i] += P[i * na + j] * a[j];
        for (size_t j = 0; j < nb; j++)
            y[i] += Q[i * nb + j] * b[j];
    }
}

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct space *s = self;
    for (size_t i = 0; i < s->n; i++)
        s->x[i] = s->x0[i];
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct space *s = self;
    combine(s->der_x, s->A, s->x, s->n, s->B, s->u, s->m, s->n);
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct space *s = self;
    combine(s->y, s->C, s->x, s->n, s->D, s->u, s->m, s->r);
    return KIT_OK;
}

/* Place of an element in its array, or -1. */
static ptrdiff_t place(const double *element, const double *array, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (element == &array[i])
            return (ptrdiff_t)i;
    return -1;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct space *s = self;
    ptrdiff_t n = (ptrdiff_t)s->n, m = (ptrdiff_t)s->m;
    ptrdiff_t row = place(unknown, s->der_x, s->n), out = place(unknown, s->y, s->r);
    ptrdiff_t state = place(known, s->x, s->n), input = place(known, s->u, s->m);
    if (row >= 0 && state >= 0)
        *value = s->A[row * n + state];
    else if (row >= 0 && input >= 0)
        *value = s->B[row * m + input];
    else if (out >= 0 && state >= 0)
        *value = s->C[out * n + state];
    else if (out >= 0 && input >= 0)
        *value = s->D[out * m + input];
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "StateSpace",
    .description = "A linear system of variable size",
    .size = sizeof(struct space),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 10, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .micro_step = 0.02,
    .initialise = initialise,
    .derivatives = derivatives,
    .outputs = outputs,
    .partial = partial,
};
