/* SPDX-License-Identifier: MIT */
/* breaks.h - the times at which an expression of time is not smooth: where a comparison changes, floor(time) jumps, abs(...) bends. */
#ifndef TT_BASE_EXPR_BREAKS_H
#define TT_BASE_EXPR_BREAKS_H

#include <stdint.h>

#include "base/expr/expression.h"
#include "base/vector.h"

/* The known breaks of one expression: all after `from` up to `until`. Start with zeros, the expression and the span. */
struct tt_breaks {
    const struct tt_expression *expression; /* borrowed; of one value, the time */
    double start, stop;                     /* the range of the run, in which breaks are searched */
    bool any;                               /* something is known */
    double from, until;
    struct tt_vector known; /* struct tt_break, ascending */
    size_t next;            /* the place of the last answer */
};

void tt_breaks_init(struct tt_breaks *breaks, const struct tt_expression *expression, double start, double stop);
void tt_breaks_fini(struct tt_breaks *breaks);

/* Returns the first break after t, of the jumps only or of all breaks. INFINITY if there is none up to the stop (after
 * it: within the length of a run). Fast when times increase from call to call, with small steps back. Breaks closer
 * than 1e-12 of the span may be merged, or dropped if the expression is equal on both sides. INFINITY when memory is
 * out. */
double tt_breaks_next(struct tt_breaks *breaks, double t, bool jumps);

/* Returns t, or, if there is a break at t, the nearest time on the requested side of it. */
double tt_breaks_offset_time(struct tt_breaks *breaks, double t, bool after);

/* Bounds of an expression of one variable over an interval of it. */

/* Returns true if all comparisons, choices, floor, ceil, round, abs, sign, mod, min, max and branches of atan2 in the
 * expression have one outcome for all values of its name from `low` to `high`. Also returns false if the bounds are too
 * wide to decide, but never for one finite value. *signature is equal for equal decisions. */
bool tt_breaks_decide_interval(const struct tt_expression *expression, double low, double high, uint64_t *signature);

#endif
