/* SPDX-License-Identifier: MIT */
/* Wrong - one mistake per line: the build has to find them all. */
#include "kit.h"

struct wrong {
    double a, b, c, d, e, f, g, h, i, j, k;
    int32_t l;
    double *m;
    uint64_t n;
};
#define KIT_SELF struct wrong

static const struct kit_var variables[] = {
    KIT_STATE(a, .start = "1", .derivative = "nothing"),
    KIT_PARAMETER(b, .description = "a parameter without start value"),
    KIT_PARAMETER(c, .start = "one"),
    KIT_INPUT(d, .start = "0", .unit = "furlong"),
    KIT_INPUT(e, .name = "d", .start = "0"),
    KIT_OUTPUT(f, .depends = "g"),
    KIT_OUTPUT(g, .depends = "d:sometimes"),
    KIT_OUTPUT(h, .variability = KIT_FIXED),
    KIT_VAR(i, .intermediate = true),
    KIT_INDICATOR(j, .start = "1"),
    KIT_PARAMETER(k, .start = "1", .min = "low"),
    KIT_OUTPUT(l, .variability = KIT_CONTINUOUS),
    KIT_INPUT(m, .dims = "n", .start = "0"),
    KIT_PARAMETER(n, .start = "1"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "not a name",
    .size = sizeof(struct wrong),
    KIT_VARIABLES(variables),
    .features = KIT_SERIALISE | KIT_DIRECTIONAL,
    .derivatives = derivatives,
};
