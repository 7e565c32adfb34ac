/* SPDX-License-Identifier: MIT */
/* Busbar - where the source and two feeders meet; its capacitance carries the difference of the currents:
 * C v' = i - i1 - i2. In FMI 2.0 the currents may change along polynomials inside a step. */
#include "kit.h"

struct busbar {
    double v, der_v, i, i1, i2, C;
};
#define KIT_SELF struct busbar

static const struct kit_unit units[] = {
    {.name = "kV", .kg = 1, .m = 2, .s = -3, .A = -1, .factor = 1e3},
    {.name = "kV/s", .kg = 1, .m = 2, .s = -4, .A = -1, .factor = 1e3},
    {.name = "kA", .A = 1, .factor = 1e3},
    {.name = "F", .kg = -1, .m = -2, .s = 4, .A = 2},
};

static const struct kit_var variables[] = {
    KIT_STATE(v, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(v)", .unit = "kV", .depends = "v:constant",
              .description = "voltage of the busbar"),
    KIT_DERIVATIVE(der_v, .name = "der(v)", .unit = "kV/s", .depends = "i:fixed i1:fixed i2:fixed C"),
    KIT_INPUT(i, .start = "0", .unit = "kA", .description = "current of the source"),
    KIT_INPUT(i1, .start = "0", .unit = "kA", .description = "current into a feeder"),
    KIT_INPUT(i2, .start = "0", .unit = "kA", .description = "current into a feeder"),
    KIT_PARAMETER(C, .start = "0.005", .unit = "F"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct busbar *m = self;
    m->der_v = (m->i - m->i1 - m->i2) / m->C;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Busbar",
    .description = "C v' = i - i1 - i2",
    .size = sizeof(struct busbar),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 1.3, .step = 0.001},
    .features = KIT_FOR_FREE | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.0005,
    .derivatives = derivatives,
};
