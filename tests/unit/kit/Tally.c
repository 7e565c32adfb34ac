/* SPDX-License-Identifier: MIT */
/* Tally - a lag, x' = u - x, that counts its do-steps: the effective ones in its state, and all of them outside of it,
 * beyond the reach of rollback. It rejects steps longer than `most`. */
#include "kit.h"

#include <math.h>

struct tally {
    double u, y, most;
    int32_t steps, calls;
};
#define KIT_SELF struct tally

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .start = "0", .depends = ""),
    KIT_PARAMETER(most, .start = "1e9", .description = "longer steps are discarded"),
    KIT_VAR(steps, .start = "0", .description = "do-steps that were not taken back"),
    KIT_VAR(calls, .description = "all do-steps, of this process"),
};

static int32_t all_calls;

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    ((struct tally *)self)->calls = all_calls;
    return KIT_OK;
}

static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    struct tally *m = self;
    all_calls++;
    if (h > m->most)
        return KIT_DISCARD;
    m->steps++;
    m->y = m->u + (m->y - m->u) * exp(-h);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Tally",
    .description = "Counts its steps",
    .size = sizeof(struct tally),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
    .advance = advance,
};
