/* SPDX-License-Identifier: MIT */
/* Full matrices by LAPACK, sparse ones by KLU. Complex numbers are pairs of doubles, real part first, as both want them. */
#include "solve/lu.h"

#include <assert.h>
#include <klu.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fortran: everything by address, and the length of a text after all other arguments. There is no C header: LAPACKE,
 * which has one, is another library. */
void dgetrf_(const int *rows, const int *columns, double *matrix, const int *leading, int *pivots, int *info);
void zgetrf_(const int *rows, const int *columns, double *matrix, const int *leading, int *pivots, int *info);
void dgetrs_(const char *transposed, const int *count, const int *rights, const double *matrix, const int *leading,
             const int *pivots, double *right, const int *right_leading, int *info, size_t transposed_length);
void zgetrs_(const char *transposed, const int *count, const int *rights, const double *matrix, const int *leading,
             const int *pivots, double *right, const int *right_leading, int *info, size_t transposed_length);

void dgecon_(const char *norm, const int *count, const double *factors, const int *leading, const double *matrix_norm,
             double *rcond, double *work, int *integer_work, int *info, size_t norm_length);

struct lu_dense {
    int count;
    bool complex_shift;
    double *matrix; /* column by column; after factor its factors */
    int *pivots;
};

static void lu_dense_free(struct lu_dense *lu)
{
    if (!lu)
        return;
    free(lu->matrix);
    free(lu->pivots);
    free(lu);
}

static enum tutti_err lu_dense_new(struct lu_dense **out, size_t count, bool complex_shift)
{
    *out = NULL;
    size_t parts = complex_shift ? 2 : 1;
    TRY(tt_lu_check_dense(count, parts * sizeof(double)));
    struct lu_dense *lu = calloc(1, sizeof *lu);
    if (!lu)
        return tt_fail_memory();
    lu->count = (int)count;
    lu->complex_shift = complex_shift;
    lu->matrix = malloc((count * count * parts + 1) * sizeof *lu->matrix);
    lu->pivots = malloc((count + 1) * sizeof *lu->pivots);
    if (!lu->matrix || !lu->pivots) {
        lu_dense_free(lu);
        return tt_fail_memory();
    }
    *out = lu;
    return TUTTI_OK;
}

/* Sets the matrix c I - J; returns true if it is finite, which LAPACK does not check. */
static bool lu_dense_set(struct lu_dense *lu, const double *values, double re, double im)
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

/* As the function of linear.h; it cannot fail. Returns whether the matrix is regular. */
static bool lu_dense_factor(struct lu_dense *lu, const double *values, double re, double im)
{
    if (!lu_dense_set(lu, values, re, im))
        return false;
    int info = 0;
    if (lu->complex_shift)
        zgetrf_(&lu->count, &lu->count, lu->matrix, &lu->count, lu->pivots, &info);
    else
        dgetrf_(&lu->count, &lu->count, lu->matrix, &lu->count, lu->pivots, &info);
    return info == 0;
}

/* Solves in place, complex or not as the matrix is. */
static void lu_dense_solve(struct lu_dense *lu, double *right)
{
    int one = 1, info = 0;
    if (lu->complex_shift)
        zgetrs_("N", &lu->count, &one, lu->matrix, &lu->count, lu->pivots, right, &lu->count, &info, 1);
    else
        dgetrs_("N", &lu->count, &one, lu->matrix, &lu->count, lu->pivots, right, &lu->count, &info, 1);
}

/* Sparse matrices: KLU (Davis, Palamadai Natarajan, Algorithm 907, ACM TOMS 37, 2010).
 *
 * The matrix is analysed once. A factorisation with pivoting finds an order of the rows; later ones keep it, which is
 * several times faster, unless the numbers have changed so much that another order is needed. */

/* KLU for real and for complex matrices. */
struct klu_calls {
    klu_numeric *(*factor)(int *, int *, double *, klu_symbolic *, klu_common *);
    int (*refactor)(int *, int *, double *, klu_symbolic *, klu_numeric *, klu_common *);
    int (*rgrowth)(int *, int *, double *, klu_symbolic *, klu_numeric *, klu_common *);
    int (*solve)(klu_symbolic *, klu_numeric *, int, int, double *, klu_common *);
    int (*free_numeric)(klu_numeric **, klu_common *);
};

static const struct klu_calls real_calls = {klu_factor, klu_refactor, klu_rgrowth, klu_solve, klu_free_numeric};
static const struct klu_calls complex_calls = {klu_z_factor, klu_z_refactor, klu_z_rgrowth, klu_z_solve,
                                               klu_z_free_numeric};

struct lu_sparse {
    const struct klu_calls *calls;
    size_t parts; /* doubles of a number: 1 or 2 */
    size_t count;
    size_t entries;                    /* of J */
    struct tt_shifted_pattern shifted; /* of c I - J */
    double *values;                    /* one number per entry of the pattern */
    klu_symbolic *order;               /* the analysis */
    klu_numeric *factors;
    bool reordered; /* by the last factorisation */
    klu_common common;
};

static enum tutti_err lu_fail_klu(const klu_common *common, size_t count)
{
    if (common->status == KLU_OUT_OF_MEMORY)
        return tt_fail_memory();
    return tt_fail(TUTTI_ERR_LIMIT, "KLU cannot factorise a sparse matrix of %zu rows and columns (status %d)", count,
                   common->status);
}

static void lu_sparse_free(struct lu_sparse *lu)
{
    if (!lu)
        return;
    lu->calls->free_numeric(&lu->factors, &lu->common);
    klu_free_symbolic(&lu->order, &lu->common);
    tt_pattern_shifted_fini(&lu->shifted);
    free(lu->values);
    free(lu);
}

static enum tutti_err lu_sparse_new(struct lu_sparse **out, const struct tt_pattern *pattern, bool complex_shift)
{
    *out = NULL;
    struct lu_sparse *lu = calloc(1, sizeof *lu);
    if (!lu)
        return tt_fail_memory();
    klu_defaults(&lu->common);
    lu->calls = complex_shift ? &complex_calls : &real_calls;
    lu->parts = complex_shift ? 2 : 1;
    lu->count = (size_t)pattern->column_count;
    lu->entries = tt_pattern_entries(pattern);
    enum tutti_err err = tt_pattern_shifted_init(&lu->shifted, pattern);
    if (!err) {
        lu->values = malloc((tt_pattern_entries(&lu->shifted.pattern) * lu->parts + 1) * sizeof *lu->values);
        err = lu->values ? TUTTI_OK : tt_fail_memory();
    }
    if (!err) {
        lu->order = klu_analyze((int)lu->count, lu->shifted.pattern.starts, lu->shifted.pattern.rows, &lu->common);
        err = lu->order ? TUTTI_OK : lu_fail_klu(&lu->common, lu->count);
    }
    if (err) {
        lu_sparse_free(lu);
        return err;
    }
    *out = lu;
    return TUTTI_OK;
}

/* Sets c I - J; returns true if it is finite, which KLU does not check. */
static bool lu_sparse_set(struct lu_sparse *lu, const double *values, double re, double im)
{
    size_t parts = lu->parts, entries = tt_pattern_entries(&lu->shifted.pattern) * parts;
    bool finite = true;
    memset(lu->values, 0, entries * sizeof *lu->values);
    for (size_t k = 0; k < lu->entries; k++)
        lu->values[(size_t)lu->shifted.places[k] * parts] = -values[k];
    for (size_t i = 0; i < lu->count; i++) {
        double *place = lu->values + (size_t)lu->shifted.diagonal[i] * parts;
        place[0] += re;
        if (parts == 2)
            place[1] = im;
    }
    for (size_t k = 0; k < entries; k++)
        finite &= isfinite(lu->values[k]) != 0;
    return finite;
}

/* With the rows in the order that an earlier matrix wanted. A reciprocal pivot growth of 1e-6 costs six of sixteen
 * digits; what is left is more than Newton's method needs, but beyond that another order is looked for. */
static bool lu_sparse_refactor(struct lu_sparse *lu)
{
    const double least_growth = 1e-6;
    int *starts = lu->shifted.pattern.starts, *rows = lu->shifted.pattern.rows;
    return lu->factors && lu->calls->refactor(starts, rows, lu->values, lu->order, lu->factors, &lu->common) &&
           lu->calls->rgrowth(starts, rows, lu->values, lu->order, lu->factors, &lu->common) &&
           lu->common.rgrowth >= least_growth;
}

static void lu_sparse_forget(struct lu_sparse *lu)
{
    lu->calls->free_numeric(&lu->factors, &lu->common);
}

static enum tutti_err lu_sparse_factor(struct lu_sparse *lu, const double *values, double re, double im, bool *singular)
{
    *singular = !lu_sparse_set(lu, values, re, im);
    lu->reordered = false;
    if (*singular || lu_sparse_refactor(lu))
        return TUTTI_OK;
    lu_sparse_forget(lu);
    lu->reordered = true;
    lu->factors =
        lu->calls->factor(lu->shifted.pattern.starts, lu->shifted.pattern.rows, lu->values, lu->order, &lu->common);
    *singular = !lu->factors && lu->common.status == KLU_SINGULAR;
    return lu->factors || *singular ? TUTTI_OK : lu_fail_klu(&lu->common, lu->count);
}

static void lu_sparse_solve(struct lu_sparse *lu, double *right)
{
    lu->calls->solve(lu->order, lu->factors, (int)lu->count, 1, right, &lu->common);
}

struct tt_lu {
    size_t count;
    struct lu_dense *dense; /* used if `sparse` is not */
    struct lu_sparse *sparse;
    double *pairs; /* a complex right-hand side; NULL if real */
    bool factored;
};

enum tutti_err tt_lu_check_dense(size_t count, size_t entry_size)
{
    const size_t limit = (size_t)8 << 30;
    size_t bytes;
    if (!__builtin_mul_overflow(count, count, &bytes) && !__builtin_mul_overflow(bytes, entry_size, &bytes) &&
        bytes <= limit)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_LIMIT,
                   "a dense matrix of %zu rows and columns needs more than %zu GiB of memory; use --jacobian sparse",
                   count, limit >> 30);
}

enum tutti_err tt_lu_new(struct tt_lu **out, size_t count, const struct tt_pattern *pattern, bool complex_shift)
{
    *out = NULL;
    if (pattern && ((size_t)pattern->column_count != count || (size_t)pattern->row_count != count))
        return tt_fail(TUTTI_ERR_ARGUMENT, "a pattern of %d rows and %d columns for a matrix of %zu",
                       pattern->row_count, pattern->column_count, count);
    struct tt_lu *lu = calloc(1, sizeof *lu);
    if (!lu)
        return tt_fail_memory();
    lu->count = count;
    enum tutti_err err = pattern ? lu_sparse_new(&lu->sparse, pattern, complex_shift)
                                 : lu_dense_new(&lu->dense, count, complex_shift);
    if (!err && complex_shift && !(lu->pairs = malloc((2 * count + 1) * sizeof *lu->pairs)))
        err = tt_fail_memory();
    if (err) {
        tt_lu_free(lu);
        return err;
    }
    *out = lu;
    return TUTTI_OK;
}

void tt_lu_free(struct tt_lu *lu)
{
    if (!lu)
        return;
    lu_dense_free(lu->dense);
    lu_sparse_free(lu->sparse);
    free(lu->pairs);
    free(lu);
}

enum tutti_err tt_lu_factor(struct tt_lu *lu, const double *values, double re, double im, bool *singular)
{
    assert(lu->pairs || im == 0);
    enum tutti_err err = TUTTI_OK;
    *singular = false;
    if (lu->sparse)
        err = lu_sparse_factor(lu->sparse, values, re, im, singular);
    else
        *singular = !lu_dense_factor(lu->dense, values, re, im);
    lu->factored = !err && !*singular;
    return err;
}

void tt_lu_forget(struct tt_lu *lu)
{
    if (lu->sparse)
        lu_sparse_forget(lu->sparse);
    lu->factored = false;
}

bool tt_lu_reordered(const struct tt_lu *lu)
{
    return !lu->sparse || lu->sparse->reordered;
}

void tt_lu_solve(struct tt_lu *lu, double *re, double *im)
{
    assert(lu->factored && !im == !lu->pairs);
    double *right = lu->pairs ? lu->pairs : re;
    for (size_t i = 0; i < lu->count && lu->pairs; i++) {
        right[2 * i] = re[i];
        right[2 * i + 1] = im[i];
    }
    if (lu->sparse)
        lu_sparse_solve(lu->sparse, right);
    else
        lu_dense_solve(lu->dense, right);
    for (size_t i = 0; i < lu->count && lu->pairs; i++) {
        re[i] = right[2 * i];
        im[i] = right[2 * i + 1];
    }
}

double tt_lu_distance_to_singular(double *matrix, size_t count)
{
    int n = (int)count, info = 0;
    double norm = 0, rcond = 0, *work = malloc((4 * count + 1) * sizeof *work);
    int *integers = malloc((2 * count + 1) * sizeof *integers);
    for (size_t j = 0; j < count; j++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += fabs(matrix[j * count + i]);
        norm = fmax(norm, sum);
    }
    if (work && integers) {
        dgetrf_(&n, &n, matrix, &n, integers, &info);
        if (info == 0)
            dgecon_("1", &n, matrix, &n, &norm, &rcond, work, integers + count, &info, 1);
    } else
        rcond = NAN;
    free(work);
    free(integers);
    return rcond * fmin(norm, 1);
}
