/* SPDX-License-Identifier: MIT */
/* compare.h - does a result agree with a reference? Variables are matched by name, values by the tube of curve.h, from the
 * reference's first row to its last. */
#ifndef TT_RESULTS_COMPARE_H
#define TT_RESULTS_COMPARE_H

#include "results/curve.h"
#include "results/result.h"

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
    const char *unit; /* the reference's, else the result's, else NULL */
    bool held;        /* taken as held: both files say so */
    bool agrees;
    struct tt_distance worst;
    /* What both have at the worst time, of texts and of whole numbers that a double does not hold; NULL: `worst` says it. */
    const char *result_text, *reference_text;
};

struct tt_unit_conflict {
    const char *name, *result, *reference;
};

struct tt_comparison {
    bool agree;
    double start, stop; /* what was to be compared */
    double ttol;
    bool covered; /* the result begins and ends there, or goes beyond; else only what it has was compared */

    struct tt_compared_variable *variables; /* worst first */
    size_t count, disagreements;
    /* Names, of those that the patterns want. */
    const char **only_result, **only_reference, **texts; /* texts: not compared, since a file's format has none */
    size_t only_result_count, only_reference_count, text_count;
    struct tt_unit_conflict *units;
    size_t unit_count;
    struct tt_arena arena;
};

/* Compares. Texts of `out` are borrowed from the two results. ARGUMENT: no variable fits a pattern, or nothing is between
 * start and stop; FORMAT: a file has no rows, or there is no number in common; what reading gives. `out` needs fini in any case. */
TUTTI_CHECKED enum tutti_err tt_compare(struct tt_comparison *out, struct tutti_result *result,
                                        struct tutti_result *reference, const struct tt_compare_options *options);
void tt_compare_fini(struct tt_comparison *comparison);

#endif
