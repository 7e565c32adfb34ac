/* SPDX-License-Identifier: MIT */
/* Feeder - a line with its load, fed through a breaker: L i' = v - r i. At fault_time a fault bridges the load, and r falls
 * from R to R_fault: a time event inside, which Co-Simulation of FMI 2.0 cannot announce. An open breaker interrupts
 * the current at once and for good. In FMI 2.0 v may change along a polynomial inside a step. */
#include "kit.h"

struct feeder {
    double i, der_i, v, R, L, R_fault, fault_time;
    bool closed, faulty;
};
#define KIT_SELF struct feeder

static const struct kit_unit units[] = {
    {.name = "s", .s = 1},
    {.name = "kV", .kg = 1, .m = 2, .s = -3, .A = -1, .factor = 1e3},
    {.name = "kA", .A = 1, .factor = 1e3},
    {.name = "kA/s", .A = 1, .s = -1, .factor = 1e3},
    {.name = "Ohm", .kg = 1, .m = 2, .s = -3, .A = -2},
    {.name = "H", .kg = 1, .m = 2, .s = -2, .A = -2},
};

static const struct kit_var variables[] = {
    KIT_STATE(i, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(i)", .reinit = true, .unit = "kA",
              .depends = "i:constant", .description = "current into the feeder"),
    KIT_DERIVATIVE(der_i, .name = "der(i)", .unit = "kA/s", .depends = "i v closed R L R_fault"),
    KIT_INPUT(v, .start = "0", .unit = "kV", .description = "voltage of the busbar"),
    KIT_INPUT(closed, .start = "true", .description = "the breaker is closed"),
    KIT_PARAMETER(R, .start = "40", .unit = "Ohm", .description = "of line and load"),
    KIT_PARAMETER(L, .start = "0.2", .unit = "H", .description = "of line and load"),
    KIT_PARAMETER(R_fault, .start = "4", .unit = "Ohm", .description = "of the line up to the fault"),
    KIT_PARAMETER(fault_time, .start = "1e9", .unit = "s", .description = "when the fault happens"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct feeder *m = self;
    m->faulty = t >= m->fault_time;
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct feeder *m = self;
    double r = m->faulty ? m->R_fault : m->R;
    m->der_i = m->closed ? (m->v - r * m->i) / m->L : 0;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct feeder *m = self;
    if (t >= m->fault_time)
        m->faulty = true;
    else
        event->next_time = m->fault_time;
    if (!m->closed && m->i != 0) {
        m->i = 0;
        event->states_changed = true;
    }
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Feeder",
    .description = "L i' = v - r i, fed through a breaker, with a fault at a given time",
    .size = sizeof(struct feeder),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 1.3, .step = 0.001},
    .features = KIT_FOR_FREE | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.0005,
    .initialise = initialise,
    .derivatives = derivatives,
    .event = event,
};
