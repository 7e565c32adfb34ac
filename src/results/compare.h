/* SPDX-License-Identifier: MIT */
/* compare.h - compares a result with a reference. Variables are matched by name, values by the tube defined below, from
 * the reference's first row to its last. */
#ifndef TT_RESULTS_COMPARE_H
#define TT_RESULTS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "results/result.h"

/* The distance between two curves, where values may differ slightly and events may be slightly early or late.
 *
 * A curve is linear from row to row; two rows with equal times are a jump, whose vertical piece belongs to the curve. A
 * held curve keeps a row's value and jumps to the next one. With the time tolerance tau,
 *
 *     R(t) = [min r(s), max r(s)] over s in [t - tau, t + tau],   and A(t) of the result a(t) likewise:
 *
 * 1. every row of the result is in R(t), within allowed, and every row of the reference in A(t): otherwise one curve has a pulse that the other curve lacks;
 * 2. between two neighbouring times of both, where none of them has a corner, they agree on both ends, seen from inside: jumps
 *    of both at one time, which 1. permits in any direction, have one direction.
 *
 * NaN is in R(t) if r(s) is NaN somewhere in the window, an infinity if the window contains that infinity. */

struct tt_curve {
    const double *times; /* ascending; at most two rows have equal times */
    const double *values;
    size_t rows; /* one at least */
    bool held;
};

struct tt_tolerance {
    double allowed; /* how far a value may be off */
    double time;    /* tau */
};

/* The point where two curves are farthest apart, relative to the tolerance there. */
struct tt_distance {
    double error;   /* NaN: a number in one result and NaN in the other */
    double allowed; /* the tolerance's */
    double share;   /* error / allowed: above 1 they do not agree */
    double time;
    double result, reference;
};

/* Looks at begin <= t <= end, which both curves cover, up to the time tolerance. Linear in the number of rows. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_compare_curves(struct tt_distance *worst, const struct tt_curve *result,
                                               const struct tt_curve *reference, double begin, double end,
                                               const struct tt_tolerance *tolerance);

/* Index of the first row with a time not before t, and of the first after t; `rows` if there is none. */
size_t tt_compare_first_row_from(const double *times, size_t rows, double t);
size_t tt_compare_first_row_after(const double *times, size_t rows, double t);

struct tt_compare_options {
    /* A value may be off by rtol times the range of its variable in the reference (greatest minus least value), plus atol; one of a variable that has whole
     * numbers and is held in both files, and a text, by nothing but an atol that is given. */
    double rtol;
    double atol;        /* NaN: for every variable 1e-4 rtol times its largest value in the reference, 1e-14 at least */
    double ttol;        /* NaN: 1e-6 of the time compared */
    double start, stop; /* NaN: the reference's */
    const char *const *patterns; /* globs on names; a variable that fits one of them is looked at */
    size_t pattern_count;        /* 0: all are */
    bool strict;                 /* variables that one file lacks, and units that differ, are disagreements */
    size_t memory;               /* bytes that values may take at a time; one variable of both files may take more */
};

/* A variable that both have. */
struct tt_compared_variable {
    const char *name;
    const char *unit; /* of the reference, otherwise of the result, otherwise NULL */
    bool held;        /* taken as held: both files say so */
    bool agrees;
    struct tt_distance worst;
    /* Both values at the worst time, of texts and of integers that a double cannot represent; NULL: `worst` has them. */
    const char *result_text, *reference_text;
};

struct tt_unit_conflict {
    const char *name, *result, *reference;
};

struct tt_comparison {
    bool agree;
    double start, stop; /* what was to be compared */
    double ttol;
    bool covered; /* the result covers the whole range; false: only the range that it has was compared */

    struct tt_compared_variable *variables; /* worst first */
    size_t count, disagreements;
    /* Names that match the patterns. */
    const char **only_result, **only_reference, **texts; /* texts: not compared, since a file's format has none */
    size_t only_result_count, only_reference_count, text_count;
    struct tt_unit_conflict *units;
    size_t unit_count;
    struct tt_arena arena;
};

/* Compares two results. Texts of `out` are borrowed from them. ARGUMENT: a pattern matches no variable, or there is no
 * row between start and stop; FORMAT: a file has no rows, or no common number; errors of reading. `out` always needs
 * fini. */
TUTTI_CHECKED enum tutti_err tt_compare(struct tt_comparison *out, struct tutti_result *result,
                                        struct tutti_result *reference, const struct tt_compare_options *options);
void tt_compare_fini(struct tt_comparison *comparison);

#endif
