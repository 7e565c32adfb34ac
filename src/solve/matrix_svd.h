/* SPDX-License-Identifier: MIT */
/* solve/matrix_svd.h - singular values (LAPACK's dgesvd). */
#ifndef TT_SOLVE_MATRIX_SVD_H
#define TT_SOLVE_MATRIX_SVD_H

#include <stddef.h>

#include "base/fail.h"

/* Of a matrix of rows x columns, column by column, with rows >= columns; destroyed. values: `columns` of them, descending; right: columns x columns,
 * column k the right singular vector of values[k]. SOLVER if it does not converge; entries that are not finite: ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_matrix_svd(double *matrix, size_t rows, size_t columns, double *values, double *right);

#endif
