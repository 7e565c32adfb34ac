/* SPDX-License-Identifier: MIT */
/* Relay - y = high as long as u is below a limit, then low: a jump without an event, across which a difference quotient
 * is meaningless. With RELAY_IS_TANK: Tank, whose level is the integral of its inflow, but which declares that the
 * level depends on the inflow directly, as some exporters list every input. */
#include "kit.h"

struct relay {
    double u, y, x, der_x, limit, high, low;
};
#define KIT_SELF struct relay

#ifdef RELAY_IS_TANK

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_STATE(x, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "u:constant"),
    KIT_OUTPUT(y, .depends = "x u"),
};

#define DERIVATIVES derivatives
static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct relay *m = self;
    m->der_x = m->u;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct relay *m = self;
    m->y = m->x;
    return KIT_OK;
}

#else

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),           KIT_OUTPUT(y, .depends = "u limit high low"),
    KIT_PARAMETER(limit, .start = "2.5"), KIT_PARAMETER(high, .start = "1"),
    KIT_PARAMETER(low, .start = "0"),
};

#define DERIVATIVES NULL
static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct relay *m = self;
    m->y = m->u < m->limit ? m->high : m->low;
    return KIT_OK;
}

#endif

const struct kit_model kit_model = {
#ifdef RELAY_IS_TANK
    .name = "Tank",
#else
    .name = "Relay",
#endif
    .description = "A tank, or a relay that closes its tap",
    .size = sizeof(struct relay),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 10},
    .features = KIT_FOR_FREE,
    .derivatives = DERIVATIVES,
    .outputs = outputs,
};
