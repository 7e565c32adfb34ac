/* SPDX-License-Identifier: MIT */
/* Wave - x' = u - x, with nonlinear outputs and one that depends on time explicitly. PlainWave has no saved states and
 * directional derivatives; those of BrokenWave are NaN, those of LyingWave are wrong. FaultyWave is built with the
 * fault layer. */
#include "kit.h"

#include <math.h>

enum { RIGHT, BROKEN, LYING };
#if defined WAVE_IS_BROKEN
enum { DERIVATIVES = BROKEN };
#define NAME "BrokenWave"
#elif defined WAVE_LIES
enum { DERIVATIVES = LYING };
#define NAME "LyingWave"
#elif defined WAVE_HAS_FAULTS
enum { DERIVATIVES = RIGHT };
#define NAME "FaultyWave"
#else
enum { DERIVATIVES = RIGHT };
#define NAME "Wave"
#endif

struct wave {
    double u, x, der_x, swing, square;
};
#define KIT_SELF struct wave

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x:constant u:constant"),
    KIT_OUTPUT(square, .depends = "x u", .description = "x^2 + u^2"),
    KIT_OUTPUT(swing, .depends = "x u time", .description = "x sin(t) + u t"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct wave *m = self;
    m->der_x = m->u - m->x;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct wave *m = self;
    m->square = m->x * m->x + m->u * m->u;
    m->swing = m->x * sin(t) + m->u * t;
    return KIT_OK;
}

#ifndef WAVE_IS_PLAIN
static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct wave *m = self;
    bool state = known == &m->x, input = known == &m->u;
    if (unknown == &m->der_x)
        *value = DERIVATIVES == BROKEN ? (double)NAN : state ? -1 : input;
    else if (unknown == &m->x)
        *value = state;
    else if (unknown == &m->square)
        *value = state ? 2 * m->x : input ? 2 * m->u : 0;
    else if (unknown == &m->swing)
        *value = state ? sin(t) : input ? t : known ? 0 : m->x * cos(t) + m->u;
    if (DERIVATIVES == LYING)
        *value = -3 * *value;
    return KIT_OK;
}
#endif

const struct kit_model kit_model = {
    .description = "Outputs of states, inputs and time",
    .size = sizeof(struct wave),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 2, .step = 0.25},
    .derivatives = derivatives,
    .outputs = outputs,
#ifdef WAVE_IS_PLAIN
    .name = "PlainWave",
#else
    .name = NAME,
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .partial = partial,
#endif
};
