/* SPDX-License-Identifier: MIT */
/* Weigh - y = b + w (u1 + 2 u2 + 3 u3 + 4 u4 + u5^2): five inputs, one output, so that a row of its Jacobian is cheaper than columns. In
 * LyingWeigh (WEIGH_LIES) adjoint derivatives are twice what they should be, in TurningWeigh (WEIGH_TURNS) they are right at first. The
 * linker puts the functions below in front of the kit's. */
#include "core.h"

struct weigh {
    double u1, u2, u3, u4, u5, y, b, w;
};
#define KIT_SELF struct weigh

static const struct kit_var variables[] = {
    KIT_INPUT(u1, .start = "0"),    KIT_INPUT(u2, .start = "0"),      KIT_INPUT(u3, .start = "0"),
    KIT_INPUT(u4, .start = "0"),    KIT_INPUT(u5, .start = "0"),      KIT_OUTPUT(y, .depends = "u1 u2 u3 u4 u5 b w"),
    KIT_PARAMETER(b, .start = "1"), KIT_PARAMETER(w, .start = "0.1"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct weigh *m = self;
    m->y = m->b + m->w * (m->u1 + 2 * m->u2 + 3 * m->u3 + 4 * m->u4 + m->u5 * m->u5);
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct weigh *m = self;
    const double *const inputs[] = {&m->u1, &m->u2, &m->u3, &m->u4};
    for (int i = 0; i < 4 && unknown == &m->y; i++)
        if (known == inputs[i])
            *value = m->w * (i + 1);
    if (unknown == &m->y && known == &m->u5)
        *value = 2 * m->w * m->u5;
    return KIT_OK;
}

#if defined WEIGH_LIES || defined WEIGH_TURNS
/* Names of the linker's: --wrap=kit_directional. */
enum kit_status __real_kit_directional(struct kit *k, bool adjoint, const unsigned unknowns[], size_t n_unknowns,
                                       const unsigned knowns[], size_t n_knowns, const double seed[], size_t n_seed,
                                       double sensitivity[], size_t n_sensitivity);
enum kit_status __wrap_kit_directional(struct kit *k, bool adjoint, const unsigned unknowns[], size_t n_unknowns,
                                       const unsigned knowns[], size_t n_knowns, const double seed[], size_t n_seed,
                                       double sensitivity[], size_t n_sensitivity);

enum kit_status __wrap_kit_directional(struct kit *k, bool adjoint, const unsigned unknowns[], size_t n_unknowns,
                                       const unsigned knowns[], size_t n_knowns, const double seed[], size_t n_seed,
                                       double sensitivity[], size_t n_sensitivity)
{
    static int calls;
    enum kit_status status = __real_kit_directional(k, adjoint, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed,
                                                    sensitivity, n_sensitivity);
#ifdef WEIGH_TURNS
    bool lies = adjoint && ++calls > 3;
#else
    bool lies = adjoint && ++calls > 0;
#endif
    for (size_t i = 0; i < n_sensitivity && lies; i++)
        sensitivity[i] *= 2;
    return status;
}
#endif

const struct kit_model kit_model = {
    .name = "Weigh",
    .size = sizeof(struct weigh),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .outputs = outputs,
    .partial = partial,
};
