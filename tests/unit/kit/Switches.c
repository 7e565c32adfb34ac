/* SPDX-License-Identifier: MIT */
/* Switches - x' = rate + u, and one discrete output of every type, each of which changes when x reaches its level; the
 * flag falls again `width` later. Built with SWITCHES_COME_BACK, as EarlySwitches, it has event mode and comes back
 * early from a step in FMI 3.0; otherwise Co-Simulation shows its events by these outputs only. */
#include "kit.h"

enum { FLAG, COUNT, COLOR, TEXT, LEVEL, FALL, SWITCHES };

struct switches {
    double x, der_x, u, rate, flag_at, count_at, color_at, text_at, level_at, width, level, when;
    double to_flag, to_count, to_color, to_text, to_level, to_fall;
    int64_t color;
    int32_t count;
    bool flag, passed[SWITCHES];
    char *text;
};
#define KIT_SELF struct switches

static const struct kit_enumeration enumerations[] = {
    {"Color", "colors of light", {{"red", 1, NULL}, {"yellow", 2, NULL}, {"green", 3, NULL}}},
};

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "u:constant rate"),
    KIT_INPUT(u, .start = "0"),
    KIT_PARAMETER(rate, .start = "1"),
    KIT_PARAMETER(flag_at, .start = "1000"),
    KIT_PARAMETER(count_at, .start = "1000"),
    KIT_PARAMETER(color_at, .start = "1000"),
    KIT_PARAMETER(text_at, .start = "1000"),
    KIT_PARAMETER(level_at, .start = "1000"),
    KIT_PARAMETER(width, .start = "1000", .description = "of the flag"),
    KIT_OUTPUT(flag, .start = "false", .depends = ""),
    KIT_OUTPUT(count, .start = "0", .depends = ""),
    KIT_OUTPUT(color, .enumeration = "Color", .start = "1", .depends = ""),
    KIT_OUTPUT(text, .start = "low", .depends = ""),
    KIT_OUTPUT(level, .variability = KIT_DISCRETE, .start = "0", .depends = ""),
    KIT_VAR(when, .variability = KIT_DISCRETE, .start = "-1", .description = "time of the last switch"),
    KIT_INDICATOR(to_flag, .depends = "x flag_at"),
    KIT_INDICATOR(to_count, .depends = "x count_at"),
    KIT_INDICATOR(to_color, .depends = "x color_at"),
    KIT_INDICATOR(to_text, .depends = "x text_at"),
    KIT_INDICATOR(to_level, .depends = "x level_at"),
    KIT_INDICATOR(to_fall, .depends = "x flag_at width"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct switches *m = self;
    m->der_x = m->rate + m->u;
    return KIT_OK;
}

static enum kit_status indicators(struct kit *kit, void *self, double t)
{
    struct switches *m = self;
    double *const to[] = {&m->to_flag, &m->to_count, &m->to_color, &m->to_text, &m->to_level, &m->to_fall};
    const double at[] = {m->flag_at, m->count_at, m->color_at, m->text_at, m->level_at, m->flag_at + m->width};
    for (int i = 0; i < SWITCHES; i++)
        *to[i] = m->passed[i] ? 1 : at[i] - m->x;
    return KIT_OK;
}

static bool passes(struct switches *m, int which, double to, double t)
{
    if (m->passed[which] || to > 0)
        return false;
    m->passed[which] = true;
    m->when = t;
    return true;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct switches *m = self;
    indicators(kit, self, t);
    if (passes(m, FLAG, m->to_flag, t))
        m->flag = true;
    if (passes(m, COUNT, m->to_count, t))
        m->count++;
    if (passes(m, COLOR, m->to_color, t))
        m->color = 2;
    if (passes(m, LEVEL, m->to_level, t))
        m->level = 1;
    if (passes(m, FALL, m->to_fall, t))
        m->flag = false;
    return passes(m, TEXT, m->to_text, t) ? kit_set_string(kit, &m->text, "high enough to need room") : KIT_OK;
}

const struct kit_model kit_model = {
    .description = "Discrete outputs of every type",
    .size = sizeof(struct switches),
    KIT_VARIABLES(variables),
    KIT_ENUMERATIONS(enumerations),
    .experiment = {.stop = 1, .step = 0.1},
#ifdef SWITCHES_COME_BACK
    .name = "EarlySwitches",
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
#else
    .name = "Switches",
    .features = KIT_FOR_FREE,
#endif
    .derivatives = derivatives,
    .indicators = indicators,
    .event = event,
};
