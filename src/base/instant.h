/* SPDX-License-Identifier: MIT */
/* base/instant.h - points of simulated time at which clocks tick, without rounding errors that add up.
 *
 * An instant is base + counter / resolution, in seconds: counters and resolutions are whole numbers, as clocks of FMI 3.0 have them, and only
 * what is made of them for a step is a double, rounded once. */
#ifndef TT_BASE_INSTANT_H
#define TT_BASE_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

struct tt_fraction {
    uint64_t counter, resolution; /* resolution > 0 */
};

/* Plain data. */
struct tt_instant {
    double base; /* finite; for clocks the start of the run, unless fractions do not go together any more */
    struct tt_fraction after;
};

/* The first convergent of its continued fraction whose nearest double is `value`: 0.1 is 1/10, 0.3333333333333333 is 1/3. False: it is
 * negative, not finite, or no fraction of 64-bit numbers is it. */
bool tt_time_fraction_of(double value, struct tt_fraction *out);
double tt_time_fraction_value(struct tt_fraction fraction);

/* The same as tt_time_of_instant and _move, where these do not suffice. */
double tt_time_instant_round(const struct tt_instant *instant);
void tt_time_instant_move_far(struct tt_instant *instant, struct tt_fraction by);

/* The double that is nearest. A quotient of numbers that doubles hold is rounded once by a division of doubles, and to the same double by way
 * of the 113 bits of tt_time_instant_round: those are more than 2 x 53 + 1, so that rounding twice makes no difference (Figueroa 1995, When is
 * double rounding innocuous?). */
static inline double tt_time_of_instant(const struct tt_instant *instant)
{
    const uint64_t most = (uint64_t)1 << 53;
    if (instant->base == 0 && instant->after.counter <= most && instant->after.resolution <= most)
        return (double)(int64_t)instant->after.counter / (double)(int64_t)instant->after.resolution;
    return tt_time_instant_round(instant);
}

/* Moves the instant on by a fraction: exactly, unless the common resolution, or the counter, has more than 64 bits; then it is rounded to a
 * double first, which becomes the base. */
static inline void tt_time_instant_move(struct tt_instant *instant, struct tt_fraction by)
{
    uint64_t sum;
    if (instant->after.resolution == by.resolution && !__builtin_add_overflow(instant->after.counter, by.counter, &sum))
        instant->after.counter = sum;
    else
        tt_time_instant_move_far(instant, by);
}

#endif
