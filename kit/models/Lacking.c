/* SPDX-License-Identifier: MIT */
/* Lacking - a library without the optional functions, as vendors' FMUs often are. Lacking does not claim them;
 * Claiming, the same source built with LACKING_CLAIMS, does. Saving, built with LACKING_SAVES, has those for saved states. */
#include "kit.h"

struct lacking {
    double u, x, der_x;
};
#define KIT_SELF struct lacking

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "1"),
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct lacking *m = self;
    m->der_x = m->u - m->x;
    return KIT_OK;
}

#ifdef LACKING_CLAIMS
static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct lacking *m = self;
    if (unknown == &m->der_x)
        *value = known == &m->u ? 1 : known == &m->x ? -1 : 0;
    return KIT_OK;
}
#endif

const struct kit_model kit_model = {
    .size = sizeof(struct lacking),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .derivatives = derivatives,
#ifdef LACKING_CLAIMS
    .name = "Claiming",
    .description = "Claims functions that its library lacks",
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .partial = partial,
#elif defined LACKING_SAVES
    .name = "Saving",
    .description = "The bare minimum and saved states",
    .features = KIT_ROLLBACK,
#else
    .name = "Lacking",
    .description = "Offers the bare minimum",
#endif
};
