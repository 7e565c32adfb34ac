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

/* The double that is nearest. */
double tutti_instant_time(const struct tutti_instant *instant);
/* Moves the instant on by a fraction: exactly, unless the common resolution, or the counter, has more than 64 bits; then it is rounded to a
 * double first, which becomes the base. */
void tutti_instant_move(struct tutti_instant *instant, struct tutti_fraction by);

#endif
