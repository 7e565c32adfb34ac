/* SPDX-License-Identifier: MIT */
/* curve.h - how far are two curves from each other, if values may be off a little and events may come a little early or late?
 *
 * A curve goes in straight lines from row to row; two rows of the same time are a jump, a vertical piece that belongs to it. One
 * that is held stays at a row's value and jumps to the next one. With the time tolerance tau,
 *
 *     R(t) = [min r(s), max r(s)] over s in [t - tau, t + tau],   and A(t) of the result a(t) likewise:
 *
 * 1. every row of the result is in R(t), within allowed, and every row of the reference in A(t): else one of them has a pulse
 *    that the other lacks;
 * 2. between two neighbouring times of both, where none of them has a corner, they agree on both ends, seen from inside: jumps
 *    of both at one time, which 1. lets pass in any direction, lead to the same side.
 *
 * NaN is in R(t) if r(s) is NaN somewhere in the window, an infinity if that same one is in it. */
#ifndef TT_RESULTS_CURVE_H
#define TT_RESULTS_CURVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

struct tt_curve {
    const double *times; /* do not descend; of one time there are at most two rows */
    const double *values;
    size_t rows; /* one at least */
    bool held;
};

struct tt_tolerance {
    double allowed; /* how far a value may be off */
    double time;    /* tau */
};

/* Where two curves are farthest apart, by what is allowed there. */
struct tt_distance {
    double error;   /* NaN: one is a number where the other is none */
    double allowed; /* the tolerance's */
    double share;   /* error / allowed: above 1 they do not agree */
    double time;
    double result, reference;
};

/* Looks at begin <= t <= end, which both curves cover, up to the time tolerance. Linear in the number of rows. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_compare_curves(struct tt_distance *worst, const struct tt_curve *result,
                                               const struct tt_curve *reference, double begin, double end,
                                               const struct tt_tolerance *tolerance);

/* The first row with a time not before t, and the first after t; `rows` if there is none. */
size_t tt_compare_first_row_from(const double *times, size_t rows, double t);
size_t tt_compare_first_row_after(const double *times, size_t rows, double t);

#endif
