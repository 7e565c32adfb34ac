/* SPDX-License-Identifier: MIT */
/* pattern.h - where a matrix is not zero, and which of its columns can be evaluated together. */
#ifndef TUTTI_SOLVE_PATTERN_H
#define TUTTI_SOLVE_PATTERN_H

#include <stdbool.h>

#include "base/err.h"
#include "solve/ode.h"

/* A list of places to make a pattern of; any order, repeated or not. */
struct tutti_pattern_place {
    int32_t row, column;
};

/* ARGUMENT for a place outside. After a failure there is nothing to release. */
TUTTI_CHECKED enum tutti_err tutti_pattern_init(struct tutti_pattern *pattern, int32_t rows, int32_t columns,
                                                const struct tutti_pattern_place *places, size_t count);
TUTTI_CHECKED enum tutti_err tutti_pattern_full(struct tutti_pattern *pattern, int32_t rows, int32_t columns);
void tutti_pattern_fini(struct tutti_pattern *pattern);

static inline size_t tutti_pattern_entries(const struct tutti_pattern *pattern)
{
    return (size_t)pattern->starts[pattern->column_count];
}

/* The place of an entry that it has. */
size_t tutti_pattern_find(const struct tutti_pattern *pattern, const struct tutti_pattern_place *entry);

/* Sparse storage and factorisation are worth it: the matrix is large enough and empty enough. */
bool tutti_pattern_is_worth_sparse(const struct tutti_pattern *pattern);

/* The pattern of c I - J: that of J, and all of the diagonal. */
struct tutti_shifted_pattern {
    struct tutti_pattern pattern;
    int32_t *places;   /* of J's entries in it */
    int32_t *diagonal; /* places of the diagonal */
};

/* `pattern` is that of J, which has as many rows as columns. LIMIT if there are too many entries. After a failure there is
 * nothing to release. */
TUTTI_CHECKED enum tutti_err tutti_shifted_pattern_init(struct tutti_shifted_pattern *shifted,
                                                        const struct tutti_pattern *pattern);
void tutti_shifted_pattern_fini(struct tutti_shifted_pattern *shifted);

/* Columns in groups that share no row. */
struct tutti_colouring {
    int32_t colour_count;
    int32_t *starts;  /* colour_count + 1, into columns */
    int32_t *columns; /* by colour */
};

/* Greedy, columns with many entries first. `pattern` NULL, or `together` false: each of `columns` columns on its
 * own. */
TUTTI_CHECKED enum tutti_err tutti_colouring_init(struct tutti_colouring *colouring,
                                                  const struct tutti_pattern *pattern, int32_t columns, bool together);
void tutti_colouring_fini(struct tutti_colouring *colouring);

#endif
