/* SPDX-License-Identifier: MIT */
/* Reel - x' = a number that it reads from a file, one per step of its integrator, and keeps open. Its place in the file, and how many
 * it has read, are not part of its saved states: it has none. */
#include "kit.h"

#include <fcntl.h>
#include <unistd.h>

struct reel {
    double x, der_x, u, speed;
};
#define KIT_SELF struct reel

static const struct kit_var variables[] = {
    KIT_STATE(x, .causality = KIT_OUTPUT, .start = "0", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)"),
    KIT_INPUT(u, .start = "0", .description = "makes it a part of a cycle, and nothing else"),
};

static int file = -1;
static long read_so_far;

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    const char *path = kit_resource(kit, "Reel.c");
    if (file < 0)
        file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    return file < 0 ? KIT_ERROR : KIT_OK;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct reel *m = self;
    m->der_x = m->speed;
    return KIT_OK;
}

static enum kit_status completed_step(struct kit *kit, void *self, double t, bool *step_event)
{
    struct reel *m = self;
    unsigned char next;
    if (read(file, &next, 1) != 1)
        return KIT_ERROR;
    m->speed = next / 100.0 + (double)(++read_so_far % 3);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Reel",
    .description = "Reads on and on",
    .size = sizeof(struct reel),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .micro_step = 0.01,
    .initialise = initialise,
    .derivatives = derivatives,
    .completed_step = completed_step,
};
