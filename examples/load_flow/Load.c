/* SPDX-License-Identifier: MIT */
/* Load - takes a given power at any voltage: i = conj((p + j q) / v), phasors in per unit. At v = 0 there is no such
 * current. */
#include "kit.h"

struct load {
    double vr, vi, ir, ii;
    double p, q;
};
#define KIT_SELF struct load

static const struct kit_var variables[] = {
    KIT_INPUT(vr, .start = "1", .description = "voltage, real part (1 and 0: a flat start)"),
    KIT_INPUT(vi, .start = "0", .description = "voltage, imaginary part"),
    KIT_OUTPUT(ir, .depends = "vr vi p q", .description = "current, real part"),
    KIT_OUTPUT(ii, .depends = "vr vi p q", .description = "current, imaginary part"),
    KIT_PARAMETER(p, .start = "0.8", .description = "active power"),
    KIT_PARAMETER(q, .start = "0.3", .description = "reactive power"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct load *m = self;
    double square = m->vr * m->vr + m->vi * m->vi;
    if (square == 0) {
        kit_log(kit, KIT_DISCARD, "there is no current that carries power at voltage 0");
        return KIT_DISCARD;
    }
    m->ir = (m->p * m->vr + m->q * m->vi) / square;
    m->ii = (m->p * m->vi - m->q * m->vr) / square;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct load *m = self;
    double square = m->vr * m->vr + m->vi * m->vi;
    if (unknown == &m->ir && known == &m->vr)
        *value = (m->p - 2 * m->vr * m->ir) / square;
    else if (unknown == &m->ir && known == &m->vi)
        *value = (m->q - 2 * m->vi * m->ir) / square;
    else if (unknown == &m->ii && known == &m->vr)
        *value = (-m->q - 2 * m->vr * m->ii) / square;
    else if (unknown == &m->ii && known == &m->vi)
        *value = (m->p - 2 * m->vi * m->ii) / square;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Load",
    .description = "i = conj((p + j q) / v)",
    .size = sizeof(struct load),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .outputs = outputs,
    .partial = partial,
};
