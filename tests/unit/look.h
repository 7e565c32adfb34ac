/* SPDX-License-Identifier: MIT */
/* look.h - how tests wait for what another thread or process does: they look, and look again. */
#ifndef TUTTI_TESTS_LOOK_H
#define TUTTI_TESTS_LOOK_H

#include <time.h>

/* Between two looks. Tests do not sleep anywhere else (tools/waiting.py). */
static inline void look_again(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    (void)nanosleep(&moment, NULL);
}

#endif
