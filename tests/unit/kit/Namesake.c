/* SPDX-License-Identifier: MIT */
/* Namesake - x' = u - x, and functions named like those of libraries that an importer may have: SUNDIALS, KLU, LAPACK,
 * BLAS, expat, libzip, ZeroMQ. Each adds NAMESAKE to `own`, which is 8 NAMESAKE if its calls reach its functions; a
 * call of one of them from outside ends the process. */
#include "kit.h"

#include <stdlib.h>

struct namesake {
    double u, x, der_x, own;
};
#define KIT_SELF struct namesake

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:constant u:constant"),
    KIT_OUTPUT(own, .depends = ""),
};

static int secret;

/* As an exporter's tool links its solvers: visible, and called like any function of another library. */
#define NAME(name)                                                                                                     \
    __attribute__((visibility("default"))) int name(void *key, int sum);                                               \
    int name(void *key, int sum)                                                                                       \
    {                                                                                                                  \
        if (key != &secret)                                                                                            \
            abort();                                                                                                   \
        return sum + NAMESAKE;                                                                                         \
    }
NAME(CVode)
NAME(KINSol)
NAME(klu_factor)
NAME(dgetrf_)
NAME(dgemm_)
NAME(XML_ParserCreate)
NAME(zip_fopen_index)
NAME(zmq_ctx_new)

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct namesake *m = self;
    m->der_x = m->u - m->x;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    static int (*const functions[])(void *, int) = {CVode, KINSol};
    struct namesake *m = self;
    int sum = 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) /* some by address, some by name */
        sum = functions[i](&secret, sum);
    sum = klu_factor(&secret, dgetrf_(&secret, dgemm_(&secret, sum)));
    m->own = XML_ParserCreate(&secret, zip_fopen_index(&secret, zmq_ctx_new(&secret, sum)));
    return KIT_OK;
}

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const struct kit_model kit_model = {
    .name = "Namesake" TEXT(NAMESAKE),
    .description = "Brings functions with names of well-known libraries",
    .size = sizeof(struct namesake),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .outputs = outputs,
};
