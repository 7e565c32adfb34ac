/* SPDX-License-Identifier: MIT */
/* lu.h - factorises c I - J for the implicit methods implemented here (bdf, radau5): by KLU if J is sparse, otherwise
 * by LAPACK. (CVODE and ARKODE have their own linear solvers.) */
#ifndef TT_SOLVE_LU_H
#define TT_SOLVE_LU_H

#include <stdbool.h>

#include "base/fail.h"
#include "solve/pattern.h"

struct tt_lu;

/* For matrices of size `count`, sparse with `pattern` (copied; the diagonal need not be in it) or dense if that is
 * NULL. `complex_shift`: c is complex. */
TUTTI_CHECKED enum tutti_err tt_lu_new(struct tt_lu **out, size_t count, const struct tt_pattern *pattern,
                                       bool complex_shift);
void tt_lu_free(struct tt_lu *lu);

/* Factorises (re + i im) I - J; `values` are those of J, in the order of the pattern or column by column. *singular: it
 * cannot be factorised (a pivot is 0, or an entry not finite); not an error. im must be 0 unless complex_shift. */
TUTTI_CHECKED enum tutti_err tt_lu_factor(struct tt_lu *lu, const double *values, double re, double im, bool *singular);
/* The row order of a sparse factorisation is reused as long as it is stable; results depend on it by rounding errors.
 * `forget`: the next factorisation determines a new order. `reordered`: the last one did. */
void tt_lu_forget(struct tt_lu *lu);
bool tt_lu_reordered(const struct tt_lu *lu);
/* Solves in place, after a regular factorisation. `im` is the imaginary part of the right-hand side, NULL unless
 * complex_shift. */
void tt_lu_solve(struct tt_lu *lu, double *re, double *im);

/* How far a dense matrix (column by column; destroyed) is from a singular one, relative to its size, or to 1 if that is less: its
 * reciprocal condition number, estimated. 0: it is one. NAN: memory is out. */
double tt_lu_distance_to_singular(double *matrix, size_t count);

/* Checks the memory of a dense matrix of count x count entries. LIMIT, with a hint at --jacobian sparse, beyond 8 GiB. */
TUTTI_CHECKED enum tutti_err tt_lu_check_dense(size_t count, size_t entry_size);

#endif
