/* SPDX-License-Identifier: MIT */
#include "solve/matrix.h"

#include <math.h>
#include <stdlib.h>

/* Fortran: everything by address, and the lengths of texts after all other arguments. */
void dgeevx_(const char *balance, const char *left, const char *right, const char *sense, const int *count,
             double *matrix, const int *leading, double *re, double *im, double *left_vectors, const int *left_leading,
             double *right_vectors, const int *right_leading, int *low, int *high, double *scales, double *norm,
             double *value_conditions, double *vector_conditions, double *work, const int *work_size, int *int_work,
             int *info, size_t balance_length, size_t left_length, size_t right_length, size_t sense_length);

struct eigenvalue {
    double re, im;
    size_t place; /* where LAPACK has it: a pair one after the other, the positive imaginary part first */
};

static int compare_eigenvalues(const void *a, const void *b)
{
    const struct eigenvalue *x = a, *y = b;
    double p = fabs(x->im), q = fabs(y->im);
    if (x->re != y->re)
        return x->re > y->re ? -1 : 1;
    if (p != q)
        return p < q ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static enum tutti_err matrix_check_square(const struct tutti_matrix *matrix)
{
    if (matrix->row_count != matrix->column_count)
        return tt_fail(TUTTI_ERR_ARGUMENT, "a matrix of %zu rows and %zu columns has no eigenvalues", matrix->row_count,
                       matrix->column_count);
    if (matrix->row_count > TUTTI_EIGEN_MOST)
        return tt_fail(TUTTI_ERR_LIMIT, "eigenvalues of more than %d rows take too long; there are %zu",
                       TUTTI_EIGEN_MOST, matrix->row_count);
    for (int k = 0; k < matrix->starts[matrix->column_count]; k++)
        if (!isfinite(matrix->values[k]))
            return tt_fail(TUTTI_ERR_ARGUMENT, "a matrix that is not finite has no eigenvalues");
    return TUTTI_OK;
}

/* Balanced, to Hessenberg form, QR iteration. `dense` is column by column, and destroyed. */
static enum tutti_err matrix_find_eigenvalues(int n, double *dense, double *re, double *im, double *norm)
{
    int one = 1, low, high, info = 0, size = -1;
    double unused = 0, wanted = 0, *scales = malloc((size_t)n * sizeof *scales), *work = NULL;
    if (!scales)
        return tt_fail_memory();
    for (int round = 0; round < 2 && info == 0; round++) { /* how much memory it wants; then the real thing */
        dgeevx_("B", "N", "N", "N", &n, dense, &n, re, im, &unused, &one, &unused, &one, &low, &high, scales, norm,
                &unused, &unused, work ? work : &wanted, &size, &one, &info, 1, 1, 1, 1);
        if (round == 0) {
            size = (int)wanted;
            work = malloc((size_t)size * sizeof *work);
            if (!work) {
                free(scales);
                return tt_fail_memory();
            }
        }
    }
    free(scales);
    free(work);
    return info == 0 ? TUTTI_OK
                     : tt_fail(TUTTI_ERR_SOLVER, "the iteration for the eigenvalues of %d rows does not converge", n);
}

enum tutti_err tt_matrix_eigenvalues(const struct tutti_matrix *matrix, double *re, double *im, double *norm)
{
    double unused;
    TRY(matrix_check_square(matrix));
    norm = norm ? norm : &unused;
    *norm = 0;
    size_t n = matrix->row_count;
    if (n == 0)
        return TUTTI_OK;
    double *dense = calloc(n * n, sizeof *dense);
    struct eigenvalue *sorted = malloc(n * sizeof *sorted);
    if (!dense || !sorted) {
        free(dense);
        free(sorted);
        return tt_fail_memory();
    }
    for (size_t c = 0; c < n; c++)
        for (int k = matrix->starts[c]; k < matrix->starts[c + 1]; k++)
            dense[c * n + (size_t)matrix->rows[k]] = matrix->values[k];
    enum tutti_err err = matrix_find_eigenvalues((int)n, dense, re, im, norm);
    for (size_t i = 0; i < n && !err; i++)
        sorted[i] = (struct eigenvalue){re[i], im[i], i};
    if (!err)
        qsort(sorted, n, sizeof *sorted, compare_eigenvalues);
    for (size_t i = 0; i < n && !err; i++) {
        re[i] = sorted[i].re;
        im[i] = sorted[i].im;
    }
    free(dense);
    free(sorted);
    return err;
}
