/* SPDX-License-Identifier: MIT */
/* Mixer - a state, two inputs and three outputs that follow them at once, each by another factor and in another unit: a
 * master that mixes up rows and columns, or forgets a unit, gets something else. At `switch_at` the factors of the
 * inputs are halved.
 *
 * It takes slopes of its inputs, and has directional derivatives; with MIXER_GIVES_RATES also derivatives of its outputs in time.
 * MIXER_IS_PLAIN: no directional derivatives. MIXER_IS_STUCK: neither these nor saved states. */
#include "kit.h"

#include <math.h>

struct mixer {
    double x, der_x, u1, u2, y1, y2, y3;
    double a, b1, b2, c1, c2, c3, d11, d12, d21, d22, d31;
    double base, bend, switch_at, scale, cube;
};
#define KIT_SELF struct mixer

#ifdef MIXER_GIVES_RATES
#define NAME "MixerRates"
#define FEATURES (KIT_FOR_FREE | KIT_INPUT_DERIVATIVES | KIT_DIRECTIONAL)
#define OUTPUT_DERIVATIVES 1
#elif defined MIXER_IS_PLAIN
#define NAME "PlainMixer"
#define FEATURES (KIT_FOR_FREE | KIT_INPUT_DERIVATIVES | KIT_INTERMEDIATE | KIT_EVENT_MODE)
#define OUTPUT_DERIVATIVES 0
#elif defined MIXER_IS_STUCK
#define NAME "StuckMixer"
#define FEATURES 0
#define OUTPUT_DERIVATIVES 0
#else
#define NAME "Mixer"
#define FEATURES (KIT_FOR_FREE | KIT_INPUT_DERIVATIVES | KIT_DIRECTIONAL | KIT_EVENT_MODE)
#define OUTPUT_DERIVATIVES 0
#endif

static const struct kit_unit units[] = {
    {.name = "m", .m = 1},
    {.name = "cm", .m = 1, .factor = 0.01},
    {.name = "K", .K = 1},
    {.name = "degC", .K = 1, .offset = 273.15},
};

static const struct kit_var variables[] = {
    KIT_STATE(x, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:fixed u1:fixed u2:fixed"),
    KIT_INPUT(u1, .unit = "cm", .start = "0", .intermediate = true),
    KIT_INPUT(u2, .unit = "degC", .start = "0"),
    KIT_OUTPUT(y1, .unit = "m", .depends = "x u1 u2"),
    KIT_OUTPUT(y2, .unit = "K", .depends = "x u1 u2"),
    KIT_OUTPUT(y3, .unit = "m", .depends = "x u1"),
    KIT_PARAMETER(a, .start = "1"),
    KIT_PARAMETER(b1, .start = "0"),
    KIT_PARAMETER(b2, .start = "0"),
    KIT_PARAMETER(c1, .start = "1"),
    KIT_PARAMETER(c2, .start = "1"),
    KIT_PARAMETER(c3, .start = "1"),
    KIT_PARAMETER(d11, .start = "0"),
    KIT_PARAMETER(d12, .start = "0"),
    KIT_PARAMETER(d21, .start = "0"),
    KIT_PARAMETER(d22, .start = "0"),
    KIT_PARAMETER(d31, .start = "0"),
    KIT_PARAMETER(base, .start = "273.15", .description = "y2 where all is 0"),
    KIT_PARAMETER(bend, .start = "0", .description = "y1 has bend x u1"),
    KIT_PARAMETER(switch_at, .start = "1e9"),
    KIT_PARAMETER(cube, .start = "0", .description = "y1 has cube u1^3"),
};

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    ((struct mixer *)self)->scale = 1;
    return KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct mixer *m = self;
    m->der_x = -m->a * m->x + m->b1 * m->u1 + m->b2 * m->u2;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct mixer *m = self;
    m->y1 = m->c1 * m->x + m->scale * (m->d11 * m->u1 + m->d12 * m->u2) + m->bend * m->x * m->u1;
    m->y1 += m->cube * m->u1 * m->u1 * m->u1;
    m->y2 = m->base + m->c2 * m->x + m->scale * (m->d21 * m->u1 + m->d22 * m->u2);
    m->y3 = m->c3 * m->x + m->scale * m->d31 * m->u1;
    return KIT_OK;
}

static enum kit_status event(struct kit *kit, void *self, double t, struct kit_event *event)
{
    struct mixer *m = self;
    m->scale = t >= m->switch_at ? 0.5 : 1;
    event->next_time = t >= m->switch_at ? INFINITY : m->switch_at;
    return KIT_OK;
}

#ifdef MIXER_IS_PLAIN
#define PARTIAL NULL
#elif defined MIXER_IS_STUCK
#define PARTIAL NULL
#else
#define PARTIAL partial
static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct mixer *m = self;
    const double by_x[] = {-m->a, m->c1 + m->bend * m->u1, m->c2, m->c3};
    const double by_u1[] = {m->b1, m->scale * m->d11 + m->bend * m->x + 3 * m->cube * m->u1 * m->u1, m->scale * m->d21,
                            m->scale * m->d31};
    const double by_u2[] = {m->b2, m->scale * m->d12, m->scale * m->d22, 0};
    const double *const rows[] = {&m->der_x, &m->y1, &m->y2, &m->y3};
    for (int i = 0; i < 4; i++)
        if (unknown == rows[i])
            *value = known == &m->x ? by_x[i] : known == &m->u1 ? by_u1[i] : known == &m->u2 ? by_u2[i] : 0;
    return KIT_OK;
}
#endif

const struct kit_model kit_model = {
    .name = NAME,
    .description = "Two inputs, three outputs, and feed-through in units of all sorts",
    .size = sizeof(struct mixer),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 1, .step = 0.01},
    .features = FEATURES,
    .output_derivatives = OUTPUT_DERIVATIVES,
    .micro_step = 0.001,
    .initialise = initialise,
    .derivatives = derivatives,
    .outputs = outputs,
    .event = event,
    .partial = PARTIAL,
};
