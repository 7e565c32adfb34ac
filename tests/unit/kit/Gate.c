/* SPDX-License-Identifier: MIT */
/* Gate - x' = u; `high` becomes true where the input u reaches a level, which may end the simulation. A step that ends at
 * the very time `pause` ends in an event; one over it does not. */
#include "kit.h"

struct gate {
    double u, y, x, der_x, to, level, pause;
    bool high, ends;
};
#define KIT_SELF struct gate

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "u"),
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .depends = "u x"),
    KIT_OUTPUT(high, .start = "false", .depends = ""),
    KIT_PARAMETER(level, .start = "0.5"),
    KIT_PARAMETER(ends, .start = "false"),
    KIT_PARAMETER(pause, .start = "-1e9"),
    KIT_INDICATOR(to, .depends = "u level"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct gate *m = self;
    m->der_x = m->u;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct gate *m = self;
    m->y = 2 * m->u + (m->high ? 1 : 0);
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct gate *m = self;
    m->to = m->high ? 1 : m->level - m->u;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct gate *m = self;
    if (!m->high && m->u >= m->level) {
        m->high = true;
        event->terminate = m->ends;
    }
    return KIT_OK;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    *step_event = t == ((struct gate *)self)->pause;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Gate",
    .description = "An event that hangs on an input",
    .size = sizeof(struct gate),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .derivatives = derivatives,
    .outputs = outputs,
    .indicators = indicators,
    .event = event,
    .completed_step = completed_step,
};
