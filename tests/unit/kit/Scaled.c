/* SPDX-License-Identifier: MIT */
/* Scaled - x' = x + u grows; whenever an integrator step has passed the limit, a step event raises limit and nominal
 * value of x, in two iterations. FMI 3.0 also has an array of any size. */
#include "kit.h"

struct scaled {
    double x, der_x, u, y, limit;
    int32_t rescaled;
    uint64_t size;
    double *extra;
};
#define KIT_SELF struct scaled

static const struct kit_var variables[] = {
    KIT_STATE(x, .start = "1", .derivative = "der(x)", .nominal = "10"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:constant u:constant"),
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .depends = "x:constant u:constant", .description = "x - u"),
    KIT_OUTPUT(rescaled, .start = "0", .depends = ""),
    KIT_STRUCTURAL(size, .start = "2", .description = "without a bound"),
    KIT_VAR(extra, .dims = "size", .start = "7"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    ((struct scaled *)self)->limit = 10;
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct scaled *m = self;
    m->der_x = m->x + m->u;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct scaled *m = self;
    m->y = m->x - m->u;
    return KIT_OK;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    struct scaled *m = self;
    *step_event = m->x > m->limit;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct scaled *m = self;
    event->again = m->x > m->limit;
    if (!event->again)
        return KIT_OK;
    m->limit *= 10;
    m->rescaled++;
    event->nominals_changed = true;
    return kit_set_nominal(kit, &m->x, m->limit);
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct scaled *m = self;
    if (known == &m->x)
        *value = 1;
    else if (known == &m->u)
        *value = unknown == &m->y ? -1 : 1;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Scaled",
    .size = sizeof(struct scaled),
    KIT_VARIABLES(variables),
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL | KIT_INPUT_DERIVATIVES,
    .output_derivatives = 1,
    .micro_step = 0.1,
    .initialise = initialise,
    .derivatives = derivatives,
    .outputs = outputs,
    .event = event,
    .completed_step = completed_step,
    .partial = partial,
};
