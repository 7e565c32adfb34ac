/* SPDX-License-Identifier: MIT */
/* Streams - a model with C++ in it: x' = -x, and y = x, by way of an exception and a stream of text; it prints a line to
 * standard output when it has been initialised. */
#include "kit.h"

double streams_detour(double x); /* streams.cc */
void streams_print(const char *text);

struct streams {
    double x, der_x, y;
};
#define KIT_SELF struct streams

static const struct kit_var variables[] = {
    KIT_STATE(x, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:constant"),
    KIT_OUTPUT(y, .depends = "x:constant"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct streams *m = self;
    m->der_x = -m->x;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct streams *m = self;
    m->y = streams_detour(m->x);
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *info)
{
    streams_print("Streams is ready");
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Streams",
    .description = "C++ inside: exceptions and streams",
    .size = sizeof(struct streams),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .outputs = outputs,
    .event = event,
};
