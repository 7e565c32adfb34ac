/* SPDX-License-Identifier: MIT */
/* difference.h - is a difference quotient a derivative? Across a jump it is none: it grows as the distance shrinks.
 *
 * A quotient whose output moves far more than its input does is measured again over twice the distance; a derivative stays
 * what it is, that of a jump halves. */
#ifndef TT_SIM_START_DIFFERENCE_H
#define TT_SIM_START_DIFFERENCE_H

#include <math.h>
#include <stdbool.h>

/* Relative distances are about 1e-7: an output that moves by more than ten times that is worth a second look. */
static inline bool tt_feedthrough_is_steep(double before, double after)
{
    return fabs(after - before) > 1e-6 * fmax(fabs(before), fabs(after));
}

static inline bool tt_feedthrough_quotient_agrees(double quotient, double over_twice)
{
    return fabs(quotient - over_twice) <= 0.1 * fmax(fabs(quotient), fabs(over_twice));
}

#endif
