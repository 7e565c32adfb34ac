/* SPDX-License-Identifier: MIT */
/* Engine - the flywheel of a truck, and a PI control that aims at a speed with a torque of at most M_max (Lacoursiere 2017
 * section 10). While the torque is at its limit the integral stands still. */
#include "kit.h"

#include <math.h>

struct engine {
    double phi, w, z, der_phi, der_w, der_z;
    double M, J, w_target, k_p, k_i, M_max;
};
#define KIT_SELF struct engine

static const struct kit_unit units[] = {
    {.name = "rad", .rad = 1},
    {.name = "rad/s", .s = -1, .rad = 1},
    {.name = "rad/s2", .s = -2, .rad = 1},
    {.name = "N.m", .kg = 1, .m = 2, .s = -2},
    {.name = "kg.m2", .kg = 1, .m = 2},
};

static const struct kit_var variables[] = {
    KIT_STATE(phi, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(phi)", .unit = "rad"),
    KIT_DERIVATIVE(der_phi, .name = "der(phi)", .unit = "rad/s", .depends = "w:constant"),
    KIT_STATE(w, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(w)", .unit = "rad/s"),
    KIT_DERIVATIVE(der_w, .name = "der(w)", .unit = "rad/s2", .depends = "w z M J w_target k_p k_i M_max"),
    KIT_STATE(z, .start = "0", .derivative = "der(z)", .unit = "rad", .description = "integral of the control"),
    KIT_DERIVATIVE(der_z, .name = "der(z)", .unit = "rad/s", .depends = "w z w_target k_p k_i M_max"),
    KIT_INPUT(M, .start = "0", .unit = "N.m", .description = "torque on the flywheel from outside"),
    KIT_PARAMETER(J, .start = "3", .unit = "kg.m2"),
    KIT_PARAMETER(w_target, .start = "170", .unit = "rad/s"),
    KIT_PARAMETER(k_p, .start = "50"),
    KIT_PARAMETER(k_i, .start = "20"),
    KIT_PARAMETER(M_max, .start = "1350", .unit = "N.m"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct engine *m = self;
    double wanted = m->k_p * (m->w_target - m->w) + m->k_i * m->z, given = fmin(fmax(wanted, 0), m->M_max);
    m->der_phi = m->w;
    m->der_w = (given + m->M) / m->J;
    m->der_z = wanted == given ? m->w_target - m->w : 0;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Engine",
    .description = "A flywheel with a PI control",
    .size = sizeof(struct engine),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 2, .step = 0.001},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
};
