/* SPDX-License-Identifier: MIT */
/* matrix.h - eigenvalues of a real matrix: LAPACK. */
#ifndef TT_SOLVE_MATRIX_H
#define TT_SOLVE_MATRIX_H

#include <stddef.h>
#include <tutti/extra.h>

#include "base/fail.h"

/* The largest number of rows: the cubic effort takes a minute at 3000. */
enum { TUTTI_EIGEN_MOST = 3000 };

/* Computes the eigenvalues of a square matrix into re[] and im[], one per row: by descending real part, then by
 * ascending imaginary size; of a conjugate pair the one with positive imaginary part comes first, the other right after
 * it. *norm (may be NULL) becomes the 1-norm of the balanced matrix: eigenvalues are those of a matrix that differs
 * from it by some rounding of that size. LIMIT for more than TUTTI_EIGEN_MOST rows, ARGUMENT if the matrix is not
 * square or not finite, SOLVER if the iteration does not converge. */
TUTTI_CHECKED enum tutti_err tt_matrix_eigenvalues(const struct tutti_matrix *matrix, double *re, double *im,
                                                   double *norm);

/* Exp(A) of a dense matrix: Pade's approximation with scaling and squaring (Golub, Van Loan, Matrix Computations,
 * 4th ed., algorithm 9.3.1). */

/* n times n, column-major; `out` must differ from `matrix`. SOLVER if the matrix, or the result, is not finite. */
TUTTI_CHECKED enum tutti_err tt_matrix_exponential(const double *matrix, size_t n, double *out);

/* Singular values (LAPACK's dgesvd). */

/* Of a matrix of rows x columns, column by column, with rows >= columns; destroyed. values: `columns` of them, descending; right: columns x columns,
 * column k the right singular vector of values[k]. SOLVER if it does not converge; entries that are not finite: ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_matrix_svd(double *matrix, size_t rows, size_t columns, double *values, double *right);

#endif
