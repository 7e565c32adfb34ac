/* SPDX-License-Identifier: MIT */
/* Fussy - x' = u. Whatever new value its input gets, it wants to see it in event mode: a step that begins with another input
 * than the last event comes back at once. */
#include "kit.h"

struct fussy {
    double u, x, der_x, seen, settled;
};
#define KIT_SELF struct fussy

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "u:constant"),
    KIT_INDICATOR(settled, .depends = "u"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct fussy *m = self;
    m->der_x = m->u;
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct fussy *m = self;
    m->settled = m->u == m->seen ? 1 : -1;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct fussy *m = self;
    m->seen = m->u;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Fussy",
    .description = "Every new input is an event",
    .size = sizeof(struct fussy),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
};
