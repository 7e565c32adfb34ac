/* SPDX-License-Identifier: MIT */
/* linear_dense.c - full matrices: LAPACK. */
#include <math.h>
#include <stdlib.h>

#include "solve/linear_parts.h"

/* Fortran: everything by address, and the length of a text behind all other arguments. There is no C header: LAPACKE,
 * which has one, is another library. */
void dgetrf_(const int *rows, const int *columns, double *matrix, const int *leading, int *pivots, int *info);
void zgetrf_(const int *rows, const int *columns, double *matrix, const int *leading, int *pivots, int *info);
void dgetrs_(const char *transposed, const int *count, const int *rights, const double *matrix, const int *leading,
             const int *pivots, double *right, const int *right_leading, int *info, size_t transposed_length);
void zgetrs_(const char *transposed, const int *count, const int *rights, const double *matrix, const int *leading,
             const int *pivots, double *right, const int *right_leading, int *info, size_t transposed_length);

struct tutti_lu_dense {
    int count;
    bool complex_shift;
    double *matrix; /* column by column; after factor its factors */
    int *pivots;
};

enum tutti_err tutti_lu_dense_new(struct tutti_lu_dense **out, size_t count, bool complex_shift)
{
    *out = NULL;
    size_t parts = complex_shift ? 2 : 1;
    TRY(tutti_dense_check(count, parts * sizeof(double)));
    struct tutti_lu_dense *lu = calloc(1, sizeof *lu);
    if (!lu)
        return tutti_fail_memory();
    lu->count = (int)count;
    lu->complex_shift = complex_shift;
    lu->matrix = malloc((count * count * parts + 1) * sizeof *lu->matrix);
    lu->pivots = malloc((count + 1) * sizeof *lu->pivots);
    if (!lu->matrix || !lu->pivots) {
        tutti_lu_dense_free(lu);
        return tutti_fail_memory();
    }
    *out = lu;
    return TUTTI_OK;
}

void tutti_lu_dense_free(struct tutti_lu_dense *lu)
{
    if (!lu)
        return;
    free(lu->matrix);
    free(lu->pivots);
    free(lu);
}

/* The matrix c I - J; says whether all of it is finite, which LAPACK does not look at. */
static bool set_matrix(struct tutti_lu_dense *lu, const double *values, double re, double im)
{
    size_t n = (size_t)lu->count, parts = lu->complex_shift ? 2 : 1;
    bool finite = isfinite(im);
    for (size_t i = 0; i < n * n; i++)
        lu->matrix[i * parts] = -values[i];
    for (size_t i = 0; i < n * n && lu->complex_shift; i++)
        lu->matrix[2 * i + 1] = 0;
    for (size_t i = 0; i < n; i++) {
        lu->matrix[i * (n + 1) * parts] += re;
        if (lu->complex_shift)
            lu->matrix[i * (n + 1) * 2 + 1] = im;
    }
    for (size_t i = 0; i < n * n; i++)
        finite &= isfinite(lu->matrix[i * parts]) != 0;
    return finite;
}

bool tutti_lu_dense_factor(struct tutti_lu_dense *lu, const double *values, double re, double im)
{
    if (!set_matrix(lu, values, re, im))
        return false;
    int info = 0;
    if (lu->complex_shift)
        zgetrf_(&lu->count, &lu->count, lu->matrix, &lu->count, lu->pivots, &info);
    else
        dgetrf_(&lu->count, &lu->count, lu->matrix, &lu->count, lu->pivots, &info);
    return info == 0;
}

void tutti_lu_dense_solve(struct tutti_lu_dense *lu, double *right)
{
    int one = 1, info = 0;
    if (lu->complex_shift)
        zgetrs_("N", &lu->count, &one, lu->matrix, &lu->count, lu->pivots, right, &lu->count, &info, 1);
    else
        dgetrs_("N", &lu->count, &one, lu->matrix, &lu->count, lu->pivots, right, &lu->count, &info, 1);
}
