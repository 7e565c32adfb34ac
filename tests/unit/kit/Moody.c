/* SPDX-License-Identifier: MIT */
/* Moody - x' = -k x, which at t = 0.5 does what its parameter `mood` says. For studies, of which some runs go wrong. */
#include "kit.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

enum { WELL, ERROR, FATAL, CRASH, EXIT, NO_NUMBER, HANG };

struct moody {
    double x, der_x, k, c, y, silent;
    int32_t mood;
};
#define KIT_SELF struct moody

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x k"),
    KIT_PARAMETER(k, .start = "1", .min = "0", .max = "100"),
    KIT_PARAMETER(c, .start = "1", .description = "a factor of k: only their product shows"),
    KIT_PARAMETER(mood, .start = "0"),
    KIT_PARAMETER(silent, .start = "1", .description = "nothing depends on it"),
    KIT_OUTPUT(y, .depends = "x", .description = "2 x"),
};

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct moody *m = self;
    m->der_x = -m->k * m->c * m->x;
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct moody *m = self;
    m->y = 2 * m->x;
    if (t < 0.5)
        return KIT_OK;
    switch (m->mood) {
    case ERROR: kit_log(kit, KIT_ERROR, "a bad mood"); return KIT_ERROR;
    case FATAL: return KIT_FATAL;
    case CRASH: raise(SIGSEGV); break;
    case EXIT: _exit(0);
    case HANG:
        for (;;)
            pause();
    case NO_NUMBER: m->y = (double)NAN; break;
    default: break;
    }
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Moody",
    .description = "Goes wrong where a parameter says so",
    .size = sizeof(struct moody),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .derivatives = derivatives,
    .outputs = outputs,
};
