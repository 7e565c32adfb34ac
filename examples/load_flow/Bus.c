/* SPDX-License-Identifier: MIT */
/* Bus - where a line ends, a load is connected and the next line begins: i = ia + ib, phasors in per unit. */
#include "kit.h"

struct bus {
    double iar, iai, ibr, ibi, ir, ii;
};
#define KIT_SELF struct bus

static const struct kit_var variables[] = {
    KIT_INPUT(iar, .start = "0", .description = "current of the load, real part"),
    KIT_INPUT(iai, .start = "0", .description = "current of the load, imaginary part"),
    KIT_INPUT(ibr, .start = "0", .description = "current of the next line, real part"),
    KIT_INPUT(ibi, .start = "0", .description = "current of the next line, imaginary part"),
    KIT_OUTPUT(ir, .depends = "iar:constant ibr:constant", .description = "sum, real part"),
    KIT_OUTPUT(ii, .depends = "iai:constant ibi:constant", .description = "sum, imaginary part"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct bus *m = self;
    m->ir = m->iar + m->ibr;
    m->ii = m->iai + m->ibi;
    return KIT_OK;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct bus *m = self;
    if (unknown == &m->ir)
        *value = known == &m->iar || known == &m->ibr;
    else if (unknown == &m->ii)
        *value = known == &m->iai || known == &m->ibi;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Bus",
    .description = "i = ia + ib",
    .size = sizeof(struct bus),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .outputs = outputs,
    .partial = partial,
};
