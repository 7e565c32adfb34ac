/* SPDX-License-Identifier: MIT */
/* Blind - an oscillation x'' = -x whose directional derivatives are those of its derivatives only: for outputs, which are its
 * states, it answers 0, as some real FMUs do. The kit's own answer would be right; the linker puts this one in front of it. */
#include "core.h"

struct oscillation {
    double x, der_x, v, der_v;
};
#define KIT_SELF struct oscillation

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "v:constant"),
    KIT_STATE(v, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(v)"),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .depends = "x:constant"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct oscillation *m = self;
    m->der_x = m->v;
    m->der_v = -m->x;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct oscillation *m = self;
    *value = unknown == &m->der_x && known == &m->v ? 1 : unknown == &m->der_v && known == &m->x ? -1 : 0;
    return KIT_OK;
}

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
    enum kit_status status = __real_kit_directional(k, adjoint, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed,
                                                    sensitivity, n_sensitivity);
    for (size_t i = 0; !adjoint && i < n_unknowns; i++)
        if (k->slots[unknowns[i]].var->causality == KIT_OUTPUT)
            sensitivity[i] = 0;
    return status;
}

const struct kit_model kit_model = {
    .name = "Blind",
    .description = "An oscillation with directional derivatives of derivatives only",
    .size = sizeof(struct oscillation),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 5, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .derivatives = derivatives,
    .partial = partial,
};
