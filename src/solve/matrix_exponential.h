/* SPDX-License-Identifier: MIT */
/* matrix_exponential.h - exp(A) of a dense matrix: Pade's approximation with scaling and squaring (Golub, Van Loan, Matrix Computations,
 * 4th ed., algorithm 9.3.1). */
#ifndef TT_SOLVE_MATRIX_EXPONENTIAL_H
#define TT_SOLVE_MATRIX_EXPONENTIAL_H

#include <stddef.h>

#include "base/fail.h"

/* n times n, column-major; `out` is another matrix than `matrix`. SOLVER where the matrix, or what comes out, is not finite. */
TUTTI_CHECKED enum tutti_err tt_matrix_exponential(const double *matrix, size_t n, double *out);

#endif
