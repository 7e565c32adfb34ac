/* SPDX-License-Identifier: MIT */
/* Worker - y follows u with a lag of a second, and every step takes `work` seconds of this thread's time on a processor: for
 * measurements of what is gained by many cores, and of what is lost on the way. */
#include "kit.h"

#include <math.h>
#include <time.h>

struct worker {
    double u, y, work;
};
#define KIT_SELF struct worker

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .start = "1", .depends = "", .initial = KIT_EXACT),
    KIT_PARAMETER(work, .start = "0.001", .unit = "s", .min = "0", .description = "what a step takes"),
};

static const struct kit_unit units[] = {{.name = "s", .s = 1}};

/* Not the clock on the wall: a thread that waits for a core has not worked. */
static double spent(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    struct worker *m = self;
    if (m->work > 0) {
        double end = spent() + m->work;
        while (spent() < end)
            ;
    }
    m->y = m->u + (m->y - m->u) * exp(-h);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Worker",
    .description = "A lag whose steps take as long as one likes",
    .size = sizeof(struct worker),
    KIT_VARIABLES(variables),
    KIT_UNITS(units),
    .experiment = {.stop = 1, .step = 0.001},
    .features = KIT_FOR_FREE,
    .advance = advance,
};
