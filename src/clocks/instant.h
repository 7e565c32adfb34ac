/* SPDX-License-Identifier: MIT */
/* clocks/instant.h - points of simulated time at which clocks tick, without rounding errors that add up.
 *
 * An instant is base + counter / resolution, in seconds: counters and resolutions are whole numbers, as clocks of FMI 3.0 have them, and only
 * what is made of them for a step is a double, rounded once. */
#ifndef TUTTI_CLOCKS_INSTANT_H
#define TUTTI_CLOCKS_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

struct tutti_fraction {
    uint64_t counter, resolution; /* resolution > 0 */
};

/* Plain data. */
struct tutti_instant {
    double base; /* finite; for clocks the start of the run, unless fractions do not go together any more */
    struct tutti_fraction after;
};

/* The first convergent of its continued fraction whose nearest double is `value`: 0.1 is 1/10, 0.3333333333333333 is 1/3. False: it is
 * negative, not finite, or no fraction of 64-bit numbers is it. */
bool tutti_fraction_of(double value, struct tutti_fraction *out);
double tutti_fraction_value(struct tutti_fraction fraction);

/* The same as tutti_instant_time and _move, where these do not suffice. */
double tutti_instant_round(const struct tutti_instant *instant);
void tutti_instant_move_far(struct tutti_instant *instant, struct tutti_fraction by);

/* The double that is nearest. A quotient of numbers that doubles hold is rounded once by a division of doubles, and to the same double by way
 * of the 113 bits of tutti_instant_round: those are more than 2 x 53 + 1, so that rounding twice makes no difference (Figueroa 1995, When is
 * double rounding innocuous?). */
static inline double tutti_instant_time(const struct tutti_instant *instant)
{
    const uint64_t most = (uint64_t)1 << 53;
    if (instant->base == 0 && instant->after.counter <= most && instant->after.resolution <= most)
        return (double)(int64_t)instant->after.counter / (double)(int64_t)instant->after.resolution;
    return tutti_instant_round(instant);
}

/* Moves the instant on by a fraction: exactly, unless the common resolution, or the counter, has more than 64 bits; then it is rounded to a
 * double first, which becomes the base. */
static inline void tutti_instant_move(struct tutti_instant *instant, struct tutti_fraction by)
{
    uint64_t sum;
    if (instant->after.resolution == by.resolution && !__builtin_add_overflow(instant->after.counter, by.counter, &sum))
        instant->after.counter = sum;
    else
        tutti_instant_move_far(instant, by);
}

#endif
