/* SPDX-License-Identifier: MIT */
/* Stairs - the discrete part of the ball on stairs (Awais' thesis, Algorithm 6): which stair is below the ball, and
 * whether the ball touches it. It decides at the end of each step, from the inputs of that step, and says nothing of
 * where inside the step things changed: that is for the importer to find. */
#include "kit.h"

struct stairs {
    double x, y;
    bool contact;
    int32_t stair, top;
};
#define KIT_SELF struct stairs

static const struct kit_unit units[] = {{.name = "m", .m = 1}};

static const struct kit_var variables[] = {
    KIT_INPUT(x, .start = "0", .unit = "m"),
    KIT_INPUT(y, .start = "0", .unit = "m"),
    KIT_OUTPUT(contact, .depends = "x y top", .description = "the ball touches the stair"),
    KIT_OUTPUT(stair, .depends = "x top", .description = "height of the stair below the ball, in metres"),
    KIT_PARAMETER(top, .start = "10", .description = "N: the stair before anything is decided"),
};

/* Algorithm 6, repeated until it changes nothing: the ball may have passed more than one edge. With the ball exactly
 * at the height of the stair, contact stays as it was. */
static void decide(struct stairs *m)
{
    while (m->x - m->top + 1 + m->stair > 0)
        m->stair--;
    if (m->y < m->stair)
        m->contact = true;
    else if (m->y > m->stair)
        m->contact = false;
}

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct stairs *m = self;
    m->contact = false;
    m->stair = m->top;
    decide(m);
    return KIT_OK;
}

static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    decide(self);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Stairs",
    .description = "Decides on contact and stair",
    .size = sizeof(struct stairs),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 7, .step = 0.01},
    .features = KIT_FOR_FREE,
    .initialise = initialise,
    .advance = advance,
};
