/* SPDX-License-Identifier: MIT */
/* base/wall_clock.h - the wall clock, for measuring. (Simulated time is base/time.h.) */
#ifndef TT_BASE_WALL_CLOCK_H
#define TT_BASE_WALL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Seconds since some fixed moment, never going back. */
static inline double tt_wall_clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A number that changes some hundred times a second: for what is to be done often, but not always. Takes a few nanoseconds. */
static inline int64_t tt_wall_clock_tick(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
