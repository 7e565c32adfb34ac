/* SPDX-License-Identifier: MIT */
/* Source - the grid that feeds a busbar, and the line to it: L i' = e - R i - v. In FMI 2.0 v may change along a polynomial
 * inside a step. */
#include "kit.h"

struct source {
    double i, der_i, v, e, R, L;
};
#define KIT_SELF struct source

static const struct kit_unit units[] = {
    {.name = "kV", .kg = 1, .m = 2, .s = -3, .A = -1, .factor = 1e3},
    {.name = "kA", .A = 1, .factor = 1e3},
    {.name = "kA/s", .A = 1, .s = -1, .factor = 1e3},
    {.name = "Ohm", .kg = 1, .m = 2, .s = -3, .A = -2},
    {.name = "H", .kg = 1, .m = 2, .s = -2, .A = -2},
};

static const struct kit_var variables[] = {
    KIT_STATE(i, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(i)", .unit = "kA", .depends = "i:constant",
              .description = "current into the busbar"),
    KIT_DERIVATIVE(der_i, .name = "der(i)", .unit = "kA/s", .depends = "i:fixed v:fixed e R L"),
    KIT_INPUT(v, .start = "0", .unit = "kV", .description = "voltage of the busbar"),
    KIT_PARAMETER(e, .start = "20", .unit = "kV", .description = "voltage of the grid"),
    KIT_PARAMETER(R, .start = "1", .unit = "Ohm"),
    KIT_PARAMETER(L, .start = "0.02", .unit = "H"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct source *m = self;
    m->der_i = (m->e - m->R * m->i - m->v) / m->L;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Source",
    .description = "L i' = e - R i - v",
    .size = sizeof(struct source),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 1.3, .step = 0.001},
    .features = KIT_FOR_FREE | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.0005,
    .derivatives = derivatives,
};
