/* SPDX-License-Identifier: MIT */
#include "solve/matrix_svd.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

void dgesvd_(const char *left, const char *right, const int *rows, const int *columns, double *matrix,
             const int *leading, double *values, double *u, const int *leading_u, double *vt, const int *leading_vt,
             double *work, const int *work_size, int *info, size_t left_length, size_t right_length);

enum tutti_err tt_matrix_svd(double *matrix, size_t rows, size_t columns, double *values, double *right)
{
    if (rows > INT_MAX || columns > INT_MAX / 8)
        return tt_fail(TUTTI_ERR_LIMIT, "a matrix of %zu x %zu is too large for its singular values", rows, columns);
    for (size_t i = 0; i < rows * columns; i++)
        if (!isfinite(matrix[i]))
            return tt_fail(TUTTI_ERR_ARGUMENT, "singular values: an entry of the matrix is not a finite number");
    int m = (int)rows, n = (int)columns, one = 1, info = 0, query = -1;
    double size = 0, unused = 0;
    dgesvd_("N", "S", &m, &n, matrix, &m, values, &unused, &one, right, &n, &size, &query, &info, 1, 1);
    int work_size = (int)size;
    double *work = calloc((size_t)work_size + 1, sizeof *work);
    if (!work)
        return tt_fail_memory();
    dgesvd_("N", "S", &m, &n, matrix, &m, values, &unused, &one, right, &n, work, &work_size, &info, 1, 1);
    free(work);
    if (info != 0)
        return tt_fail(TUTTI_ERR_SOLVER, "singular values: LAPACK's dgesvd does not converge");
    for (size_t i = 0; i < columns; i++) /* it gives rows */
        for (size_t k = 0; k < i; k++) {
            double kept = right[i * columns + k];
            right[i * columns + k] = right[k * columns + i];
            right[k * columns + i] = kept;
        }
    return TUTTI_OK;
}
