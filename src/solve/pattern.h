/* SPDX-License-Identifier: MIT */
/* pattern.h - where a matrix is not zero, and which of its columns can be evaluated together. */
#ifndef TT_SOLVE_PATTERN_H
#define TT_SOLVE_PATTERN_H

#include <stdbool.h>

#include "base/fail.h"
#include "solve/ode.h"

/* A list of places to make a pattern of; any order, repeated or not. */
struct tt_pattern_place {
    int32_t row, column;
};

/* Builds a pattern from a list of entries. ARGUMENT for an index out of range. After a failure nothing is left to
 * release. */
TUTTI_CHECKED enum tutti_err tt_pattern_init(struct tt_pattern *pattern, int32_t rows, int32_t columns,
                                             const struct tt_pattern_place *places, size_t count);
TUTTI_CHECKED enum tutti_err tt_pattern_full(struct tt_pattern *pattern, int32_t rows, int32_t columns);
void tt_pattern_fini(struct tt_pattern *pattern);

static inline size_t tt_pattern_entries(const struct tt_pattern *pattern)
{
    return (size_t)pattern->starts[pattern->column_count];
}

/* The place of an entry that it has. */
size_t tt_pattern_find(const struct tt_pattern *pattern, const struct tt_pattern_place *entry);

/* Sparse storage and factorisation are worth it: the matrix is large enough and empty enough. */
bool tt_pattern_is_worth_sparse(const struct tt_pattern *pattern);

/* The pattern of c I - J: that of J, and all of the diagonal. */
struct tt_shifted_pattern {
    struct tt_pattern pattern;
    int32_t *places;   /* of J's entries in it */
    int32_t *diagonal; /* places of the diagonal */
};

/* Builds the pattern of c I - J; `pattern` is that of J, which must be square. LIMIT if there are too many entries.
 * After a failure nothing needs to be released. */
TUTTI_CHECKED enum tutti_err tt_pattern_shifted_init(struct tt_shifted_pattern *shifted,
                                                     const struct tt_pattern *pattern);
void tt_pattern_shifted_fini(struct tt_shifted_pattern *shifted);

/* Columns in groups that share no row. */
struct tt_colouring {
    int32_t colour_count;
    int32_t *starts;  /* colour_count + 1, into columns */
    int32_t *columns; /* by colour */
};

/* Greedy, columns with many entries first. `pattern` NULL, or `together` false: each of `columns` columns on its own. */
TUTTI_CHECKED enum tutti_err tt_pattern_colouring_init(struct tt_colouring *colouring, const struct tt_pattern *pattern,
                                                       int32_t columns, bool together);
void tt_pattern_colouring_fini(struct tt_colouring *colouring);

#endif
