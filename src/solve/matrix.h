/* SPDX-License-Identifier: MIT */
/* matrix.h - eigenvalues of a real matrix: LAPACK. */
#ifndef TT_SOLVE_MATRIX_H
#define TT_SOLVE_MATRIX_H

#include <tutti/extra.h>

#include "base/fail.h"

/* Beyond that many rows the cubic effort is no longer bearable: a minute at 3000. */
enum { TUTTI_EIGEN_MOST = 3000 };

/* The eigenvalues of a square matrix into re[] and im[], as many as it has rows: by descending real part, then by
 * ascending imaginary size; of a conjugate pair the one with positive imaginary part comes first, the other right
 * after it. *norm (may be NULL) becomes the 1-norm of the balanced matrix: eigenvalues are those of a matrix that differs
 * from it by some rounding of that size. LIMIT for more than TUTTI_EIGEN_MOST rows, ARGUMENT if the matrix is not square or not
 * finite, SOLVER if the iteration does not converge. */
TUTTI_CHECKED enum tutti_err tt_matrix_eigenvalues(const struct tutti_matrix *matrix, double *re, double *im,
                                                   double *norm);

#endif
