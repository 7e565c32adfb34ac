/* SPDX-License-Identifier: MIT */
/* Plug.c - terminals of every rule. PlugSource is an electric source: a voltage behind a resistance; PlugSink a conductance. A plug has the
 * voltage, which the source gives, and the current, which the sink gives and counts into itself. Beside it are a bus of some signals, a
 * sequence, and a frame of fmi-ls-bus's Physical Signal Abstraction, with its clock. */
#include "kit.h"

struct plug {
    double v, i, emf, resistance, conductance;
    double speed, torque, first, second;
    struct kit_clock frame;
    double level, seen, taken;
    int32_t count;
};
#define KIT_SELF struct plug

/* The taker consumes the output of the source. */
#ifdef PLUGSOURCE
#define GIVEN KIT_OUTPUT
#define TAKEN KIT_INPUT
#define FLOW "outflow"
#else
#define GIVEN KIT_INPUT
#define TAKEN KIT_OUTPUT
#define FLOW "inflow"
#endif
#define IS(which_, field_, ...) KIT_VAR(field_, .causality = which_, __VA_ARGS__)

static const struct kit_var variables[] = {
#ifdef PLUGSOURCE
    KIT_OUTPUT(v, .name = "pin.v", .depends = "pin.i emf:fixed"),
    KIT_INPUT(i, .name = "pin.i", .start = "0"),
    KIT_PARAMETER(emf, .start = "12"),
    KIT_PARAMETER(resistance, .start = "0.5"),
    KIT_INPUT_CLOCK(frame, KIT_INTERVAL_CONSTANT, .name = "frame_clock", .period = "1/10"),
    KIT_OUTPUT(level, .clocks = "frame_clock", .depends = "frame_clock"),
#else
    KIT_INPUT(v, .name = "pin.v", .start = "0"),
    KIT_OUTPUT(i, .name = "pin.i", .depends = "pin.v conductance:fixed"),
    KIT_PARAMETER(conductance, .start = "0.5"),
    KIT_INPUT_CLOCK(frame, KIT_TRIGGERED, .name = "frame_clock"),
    KIT_INPUT(level, .start = "0", .clocks = "frame_clock"),
    KIT_OUTPUT(count, .clocks = "frame_clock", .depends = "frame_clock"),
    KIT_OUTPUT(seen, .clocks = "frame_clock", .depends = "frame_clock level"),
    KIT_OUTPUT(taken, .depends = "speed first"),
#endif
    IS(GIVEN, speed, .start = "3"),
    IS(TAKEN, torque, .start = "4"),
    IS(GIVEN, first, .start = "5"),
    IS(TAKEN, second, .start = "6"),
};

static const struct kit_member pin[] = {{"pin.v", "v", NULL}, {"pin.i", "i", FLOW}, {NULL, NULL, NULL}};
static const struct kit_member line[] = {{"speed", "speed", NULL},
#ifdef PLUGSOURCE
                                         {"torque", "torque", NULL},
#else
                                         {"torque", "other", NULL},
#endif
                                         {NULL, NULL, NULL}};
static const struct kit_member pair[] = {{"first", NULL, NULL}, {"second", NULL, NULL}, {NULL, NULL, NULL}};
static const struct kit_member frame[] = {{"frame_clock", "TransmissionClock", NULL}, {NULL, NULL, NULL}};
static const struct kit_member pdu[] = {{"level", "level", NULL}, {NULL, NULL, NULL}};

static const struct kit_terminal terminals[] = {
    {.name = "pin", .rule = "plug", .kind = "electric.pin", .description = "voltage and current", .members = pin},
    {.name = "line", .rule = "bus", .members = line},
    {.name = "pair", .rule = "sequence", .members = pair},
    {.name = "loose", .rule = "none", .members = pair},
    {.name = "Powertrain", .rule = "bus", .kind = "org.fmi-ls-bus.network-terminal"},
    {.name = "Frame", .rule = "bus", .kind = "org.fmi-ls-bus.frame-terminal", .inside = "Powertrain", .members = frame},
    {.name = "Pdu", .rule = "bus", .kind = "org.fmi-ls-bus.pdu-terminal", .inside = "Frame", .members = pdu},
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct plug *m = self;
#ifdef PLUGSOURCE
    m->v = m->emf - m->resistance * m->i;
#else
    m->i = m->conductance * m->v;
    m->taken = m->speed + 100 * m->first;
#endif
    return KIT_OK;
}

static enum kit_status tick(struct kit *kit, void *self, double t, const struct kit_clock *clock)
{
    struct plug *m = self;
    m->count++;
#ifdef PLUGSOURCE
    m->level = 100 * t;
#else
    m->seen = m->level;
#endif
    return KIT_OK;
}

const struct kit_model kit_model = {
#ifdef PLUGSOURCE
    .name = "PlugSource",
#else
    .name = "PlugSink",
#endif
    .description = "Terminals of every rule",
    .size = sizeof(struct plug),
    KIT_VARIABLES(variables),
    KIT_TERMINALS(terminals),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE,
    .outputs = outputs,
    .tick = tick,
};
