/* SPDX-License-Identifier: MIT */
#include "solve/matrix.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Fortran: everything by address, and the lengths of texts after all other arguments. */
void dgeevx_(const char *balance, const char *left, const char *right, const char *sense, const int *count,
             double *matrix, const int *leading, double *re, double *im, double *left_vectors, const int *left_leading,
             double *right_vectors, const int *right_leading, int *low, int *high, double *scales, double *norm,
             double *value_conditions, double *vector_conditions, double *work, const int *work_size, int *int_work,
             int *info, size_t balance_length, size_t left_length, size_t right_length, size_t sense_length);

struct eigenvalue {
    double re, im;
    size_t place; /* the index in LAPACK's order: pairs are adjacent, the positive imaginary part first */
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
    /* the first round queries the workspace, the second one computes */
    for (int round = 0; round < 2 && info == 0; round++) {
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

void dgesv_(const int *count, const int *columns, double *matrix, const int *leading, int *pivots, double *right,
            const int *right_leading, int *info);
void dgemm_(const char *left_form, const char *right_form, const int *rows, const int *columns, const int *inner,
            const double *alpha, const double *left, const int *left_leading, const double *right,
            const int *right_leading, const double *beta, double *out, const int *out_leading, size_t left_length,
            size_t right_length);

/* Beyond that many squarings exp(A) has left the range of numbers, or is 0. */
enum { DEGREE = 8, MOST_SQUARINGS = 1000 };

struct exponential {
    size_t n;
    double *scaled, *power, *above, *below, *work; /* matrices */
    int *pivots;
};

static void matrix_multiply(const struct exponential *e, const double *left, const double *right, double *out)
{
    const int n = (int)e->n;
    const double one = 1, zero = 0;
    dgemm_("N", "N", &n, &n, &n, &one, left, &n, right, &n, &zero, out, &n, 1, 1);
}

static double matrix_norm(const double *matrix, size_t n)
{
    double largest = 0;
    for (size_t row = 0; row < n; row++) {
        double sum = 0;
        for (size_t column = 0; column < n; column++)
            sum += fabs(matrix[column * n + row]);
        if (!(sum <= largest))
            largest = sum;
    }
    return largest;
}

static void matrix_set_identity(double *matrix, size_t n)
{
    memset(matrix, 0, n * n * sizeof *matrix);
    for (size_t i = 0; i < n; i++)
        matrix[i * n + i] = 1;
}

/* `above` becomes exp of the scaled matrix. */
static bool matrix_pade(struct exponential *e)
{
    const int n = (int)e->n;
    const size_t entries = e->n * e->n;
    double coefficient = 1, sign = 1;
    int info = 0;
    matrix_set_identity(e->power, e->n);
    matrix_set_identity(e->above, e->n);
    matrix_set_identity(e->below, e->n);
    for (int k = 1; k <= DEGREE; k++) {
        coefficient *= (double)(DEGREE - k + 1) / ((2 * DEGREE - k + 1) * k);
        sign = -sign;
        matrix_multiply(e, e->scaled, e->power, e->work);
        memcpy(e->power, e->work, entries * sizeof *e->power);
        for (size_t i = 0; i < entries; i++) {
            e->above[i] += coefficient * e->power[i];
            e->below[i] += sign * coefficient * e->power[i];
        }
    }
    dgesv_(&n, &n, e->below, &n, e->pivots, e->above, &n, &info);
    return info == 0;
}

static enum tutti_err matrix_scale_and_square(struct exponential *e, const double *matrix, double *out)
{
    const size_t entries = e->n * e->n;
    double norm = matrix_norm(matrix, e->n);
    int squarings = norm > 0 && isfinite(norm) ? (int)fmax(0, 1 + floor(log2(norm))) : 0;
    bool good = isfinite(norm) && squarings <= MOST_SQUARINGS;
    for (size_t i = 0; i < entries && good; i++)
        e->scaled[i] = ldexp(matrix[i], -squarings);
    good = good && matrix_pade(e);
    for (int s = 0; s < squarings && good; s++) {
        matrix_multiply(e, e->above, e->above, e->work);
        memcpy(e->above, e->work, entries * sizeof *e->above);
    }
    memcpy(out, e->above, entries * sizeof *out);
    for (size_t i = 0; i < entries; i++)
        good = good && isfinite(out[i]);
    return good ? TUTTI_OK : tt_fail(TUTTI_ERR_SOLVER, "the exponential of a matrix is not finite");
}

enum tutti_err tt_matrix_exponential(const double *matrix, size_t n, double *out)
{
    struct exponential e = {.n = n};
    if (n > INT_MAX / 4)
        return tt_fail(TUTTI_ERR_LIMIT, "the exponential of a matrix of %zu rows takes too long", n);
    double *rooms = calloc(5 * n * n + 1, sizeof *rooms);
    e.pivots = calloc(n + 1, sizeof *e.pivots);
    enum tutti_err err = TUTTI_OK;
    if (rooms && e.pivots) {
        double **const all[] = {&e.scaled, &e.power, &e.above, &e.below, &e.work};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            *all[i] = rooms + i * n * n;
        err = n > 0 ? matrix_scale_and_square(&e, matrix, out) : TUTTI_OK;
    } else
        err = tt_fail_memory();
    free(rooms);
    free(e.pivots);
    return err;
}

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
