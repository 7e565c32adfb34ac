/* SPDX-License-Identifier: MIT */
/* floating.h - the floating-point modes of a thread (rounding, flush-to-zero, traps): foreign code may leave other ones
 * set, and all that is computed afterwards would follow them. */
#ifndef TUTTI_BASE_FLOATING_H
#define TUTTI_BASE_FLOATING_H

#include <fenv.h>

struct tutti_floating {
    fenv_t modes;
};

static inline struct tutti_floating tutti_floating_keep(void)
{
    struct tutti_floating kept;
    fegetenv(&kept.modes);
    return kept;
}

static inline void tutti_floating_restore(const struct tutti_floating *kept)
{
    fesetenv(&kept->modes);
}

#endif
