/* SPDX-License-Identifier: MIT */
/* Line - a line with an impedance: the voltage at its end is that at its beginning less what the current drops,
 * v = e - (r + j x) i, phasors in per unit. It has no directional derivatives: the importer has to find them by
 * differences. */
#include "kit.h"

struct line {
    double er, ei, ir, ii, vr, vi;
    double r, x;
};
#define KIT_SELF struct line

static const struct kit_var variables[] = {
    KIT_INPUT(er, .start = "1", .description = "voltage at the beginning, real part"),
    KIT_INPUT(ei, .start = "0", .description = "voltage at the beginning, imaginary part"),
    KIT_INPUT(ir, .start = "0", .description = "current, real part"),
    KIT_INPUT(ii, .start = "0", .description = "current, imaginary part"),
    KIT_OUTPUT(vr, .depends = "er:constant ir:fixed ii:fixed r x", .description = "voltage at the end, real part"),
    KIT_OUTPUT(vi, .depends = "ei:constant ir:fixed ii:fixed r x", .description = "voltage at the end, imaginary part"),
    KIT_PARAMETER(r, .start = "0.02", .description = "resistance"),
    KIT_PARAMETER(x, .start = "0.06", .description = "reactance"),
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct line *m = self;
    m->vr = m->er - (m->r * m->ir - m->x * m->ii);
    m->vi = m->ei - (m->r * m->ii + m->x * m->ir);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Line",
    .description = "v = e - (r + j x) i",
    .size = sizeof(struct line),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
};
