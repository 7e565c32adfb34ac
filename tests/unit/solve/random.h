/* SPDX-License-Identifier: MIT */
/* random.h - numbers without a pattern, the same ones in each run (xorshift64*; Vigna, ACM TOMS 42, 2016). */
#ifndef TUTTI_TEST_RANDOM_H
#define TUTTI_TEST_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252u;

/* In [-1, 1). */
static inline double random_double(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)((random_state * 2685821657736338717u) >> 11) * 0x1p-52 - 1;
}

/* In [0, n). */
static inline int32_t random_below(int32_t n)
{
    return (int32_t)((random_double() + 1) / 2 * n);
}

#endif
