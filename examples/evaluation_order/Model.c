/* SPDX-License-Identifier: MIT */
/* The models of Andersson's thesis, sections 5.2 and 5.3.1: which output follows which input is all that matters there. CMakeLists.txt
 * makes an FMU of each NAME. The offsets b1 to b4 are ours: they make every value differ. */
#include "kit.h"

/* INPUTS(ONE): its inputs. OUTPUTS(ONE): its outputs, each with its offset, what else it needs, and its value without the offset. */
#if defined THROUGH
#define NAME "OrderThrough"
#define INPUTS(ONE) ONE(u1)
#define OUTPUTS(ONE) ONE(y1, b1, "u1:constant ", m->u1)
#elif defined CROSS
#define NAME "OrderCross"
#define INPUTS(ONE) ONE(u1) ONE(u2)
#define OUTPUTS(ONE) ONE(y1, b1, "u2:constant ", m->u2) ONE(y2, b2, "u1:constant ", m->u1)
#elif defined HOLD
#define NAME "OrderHold"
#define INPUTS(ONE) ONE(u1) ONE(u2)
#define OUTPUTS(ONE) ONE(y1, b1, "", 0)
#elif defined PART
#define NAME "OrderPart"
#define INPUTS(ONE) ONE(u1) ONE(u2) ONE(u3)
#define OUTPUTS(ONE) ONE(y1, b1, "u3:constant ", m->u3)
#elif defined PAIR
#define NAME "OrderPair"
#define INPUTS(ONE) ONE(u1) ONE(u2) ONE(u3)
#define OUTPUTS(ONE) ONE(y1, b1, "u1:constant u2:constant ", m->u1 + m->u2) ONE(y2, b2, "u3:constant ", 0.5 * m->u3)
#else /* FOUR */
#define NAME "OrderFour"
#define INPUTS(ONE) ONE(u1) ONE(u2) ONE(u3)
#define OUTPUTS(ONE)                                                                                                   \
    ONE(y1, b1, "u3:constant ", m->u3)                                                                                 \
    ONE(y2, b2, "u1:constant ", m->u1) ONE(y3, b3, "u2:constant ", m->u2) ONE(y4, b4, "u3:constant ", 2 * m->u3)
#endif

struct model {
    double u1, u2, u3, y1, y2, y3, y4, b1, b2, b3, b4;
};
#define KIT_SELF struct model

#define DECLARE_INPUT(u) KIT_INPUT(u, .start = "0"),
#define DECLARE_OUTPUT(y, b, needs, value) KIT_OUTPUT(y, .depends = needs #b ":constant"),
#define DECLARE_OFFSET(y, b, needs, value) KIT_PARAMETER(b, .start = "0", .description = "offset of " #y),
#define COMPUTE(y, b, needs, value) m->y = (value) + m->b;

static const struct kit_var variables[] = {INPUTS(DECLARE_INPUT) OUTPUTS(DECLARE_OUTPUT) OUTPUTS(DECLARE_OFFSET)};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct model *m = self;
    OUTPUTS(COMPUTE)
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = NAME,
    .description = "Outputs that follow some of the inputs",
    .size = sizeof(struct model),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
};
