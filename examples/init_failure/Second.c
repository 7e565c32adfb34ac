/* SPDX-License-Identifier: MIT */
/* Second - the second of two coupled models whose start values can be had in order (Andersson's thesis, eq. 5.2). It
 * divides by its input; whether it looks for a zero there, says `careful`. Built with OPAQUE it is SecondOpaque, which
 * does not tell what its output depends on. */
#include "kit.h"

#ifdef OPAQUE
#define NAME "SecondOpaque"
#define DEPENDS(names) NULL
#else
#define NAME "Second"
#define DEPENDS(names) names
#endif

struct second {
    double x, der_x, u, y;
    bool careful;
};
#define KIT_SELF struct second

static const struct kit_var variables[] = {
    KIT_STATE(x, .start = "-1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = DEPENDS("x:constant u:constant")),
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .depends = DEPENDS("x u")),
    KIT_PARAMETER(careful, .start = "false", .description = "refuse u = 0 instead of dividing by it"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct second *m = self;
    m->der_x = m->x + m->u;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct second *m = self;
    if (m->careful && m->u == 0) {
        kit_log(kit, KIT_DISCARD, "x / u has no value at u = 0");
        return KIT_DISCARD;
    }
    m->y = m->x / m->u;
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "x' = x + u, y = x / u",
    .size = sizeof(struct second),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .micro_step = 0.01,
    .derivatives = derivatives,
    .outputs = outputs,
};
