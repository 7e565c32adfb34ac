/* SPDX-License-Identifier: MIT */
/* breaks.h - the times at which an expression of time is not smooth: where a comparison changes, floor(time) jumps, abs(...) bends. */
#ifndef TT_BASE_EXPR_BREAKS_H
#define TT_BASE_EXPR_BREAKS_H

#include <stdint.h>

#include "base/expr/expression.h"
#include "base/vector.h"

/* The breaks of one expression that are known: all those after `from` up to `until`. Zeroed but for the expression and the span is a
 * beginning. */
struct tt_breaks {
    const struct tt_expression *expression; /* borrowed; of one value, the time */
    double start, stop;                     /* where a run goes: how far breaks are looked for */
    bool any;                               /* something is known */
    double from, until;
    struct tt_vector known; /* struct tt_break, ascending */
    size_t next;            /* the place of the last answer */
};

void tt_breaks_init(struct tt_breaks *breaks, const struct tt_expression *expression, double start, double stop);
void tt_breaks_fini(struct tt_breaks *breaks);

/* The first break after t, of those where the value jumps or of all; INFINITY if there is none up to the stop (after it: within the length of
 * a run). Fast when times grow from call to call, and go back by a little. Breaks that are nearer to each other than 1e-12 of the span may
 * be one, or none if the expression is the same on both sides. When memory is out, INFINITY. */
double tt_breaks_next(struct tt_breaks *breaks, double t, bool jumps);

/* The time next to t on the side that is asked for if there is a break at t; otherwise t. */
double tt_breaks_offset_time(struct tt_breaks *breaks, double t, bool after);

/* Bounds of an expression of one variable over an interval of it. */

/* Do all comparisons, choices, floor, ceil, round, abs, sign, mod, min, max and branches of atan2 in the expression decide in the same way
 * for all values of its name from `low` to `high`? False also if the bounds are too wide to decide, never for an interval of one
 * value at which all is finite.
 * *signature: a number for the decisions, equal where they are. */
bool tt_breaks_decide_interval(const struct tt_expression *expression, double low, double high, uint64_t *signature);

#endif
