/* SPDX-License-Identifier: MIT */
/* linear_sparse.c - sparse matrices: KLU (Davis, Palamadai Natarajan, Algorithm 907, ACM TOMS 37, 2010).
 *
 * The matrix is analysed once. A factorisation with pivoting finds an order of the rows; later ones keep it, which is
 * several times faster, unless the numbers have changed so much that another order is needed. */
#include <klu.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/linear_parts.h"

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

struct tutti_lu_sparse {
    const struct klu_calls *calls;
    size_t parts; /* doubles of a number: 1 or 2 */
    size_t count;
    size_t entries;                       /* of J */
    struct tutti_shifted_pattern shifted; /* of c I - J */
    double *values;                       /* as many numbers as that has entries */
    klu_symbolic *order;                  /* the analysis */
    klu_numeric *factors;
    bool reordered; /* by the last factorisation */
    klu_common common;
};

static enum tutti_err fail_klu(const klu_common *common, size_t count)
{
    if (common->status == KLU_OUT_OF_MEMORY)
        return tutti_fail_memory();
    return tutti_fail(TUTTI_ERR_LIMIT, "KLU cannot factorise a sparse matrix of %zu rows and columns (status %d)",
                      count, common->status);
}

static enum tutti_err analyse(struct tutti_lu_sparse *lu, const struct tutti_pattern *pattern)
{
    TRY(tutti_shifted_pattern_init(&lu->shifted, pattern));
    lu->values = malloc((tutti_pattern_entries(&lu->shifted.pattern) * lu->parts + 1) * sizeof *lu->values);
    if (!lu->values)
        return tutti_fail_memory();
    lu->order = klu_analyze((int)lu->count, lu->shifted.pattern.starts, lu->shifted.pattern.rows, &lu->common);
    return lu->order ? TUTTI_OK : fail_klu(&lu->common, lu->count);
}

enum tutti_err tutti_lu_sparse_new(struct tutti_lu_sparse **out, const struct tutti_pattern *pattern,
                                   bool complex_shift)
{
    *out = NULL;
    struct tutti_lu_sparse *lu = calloc(1, sizeof *lu);
    if (!lu)
        return tutti_fail_memory();
    klu_defaults(&lu->common);
    lu->calls = complex_shift ? &complex_calls : &real_calls;
    lu->parts = complex_shift ? 2 : 1;
    lu->count = (size_t)pattern->column_count;
    lu->entries = tutti_pattern_entries(pattern);
    enum tutti_err err = analyse(lu, pattern);
    if (err) {
        tutti_lu_sparse_free(lu);
        return err;
    }
    *out = lu;
    return TUTTI_OK;
}

void tutti_lu_sparse_free(struct tutti_lu_sparse *lu)
{
    if (!lu)
        return;
    lu->calls->free_numeric(&lu->factors, &lu->common);
    klu_free_symbolic(&lu->order, &lu->common);
    tutti_shifted_pattern_fini(&lu->shifted);
    free(lu->values);
    free(lu);
}

/* c I - J; says whether all of it is finite, which KLU does not look at. */
static bool set_matrix(struct tutti_lu_sparse *lu, const double *values, double re, double im)
{
    size_t parts = lu->parts, entries = tutti_pattern_entries(&lu->shifted.pattern) * parts;
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
static bool refactor(struct tutti_lu_sparse *lu)
{
    const double least_growth = 1e-6;
    int *starts = lu->shifted.pattern.starts, *rows = lu->shifted.pattern.rows;
    return lu->factors && lu->calls->refactor(starts, rows, lu->values, lu->order, lu->factors, &lu->common) &&
           lu->calls->rgrowth(starts, rows, lu->values, lu->order, lu->factors, &lu->common) &&
           lu->common.rgrowth >= least_growth;
}

enum tutti_err tutti_lu_sparse_factor(struct tutti_lu_sparse *lu, const double *values, double re, double im,
                                      bool *singular)
{
    *singular = !set_matrix(lu, values, re, im);
    lu->reordered = false;
    if (*singular || refactor(lu))
        return TUTTI_OK;
    tutti_lu_sparse_forget(lu);
    lu->reordered = true;
    lu->factors =
        lu->calls->factor(lu->shifted.pattern.starts, lu->shifted.pattern.rows, lu->values, lu->order, &lu->common);
    *singular = !lu->factors && lu->common.status == KLU_SINGULAR;
    return lu->factors || *singular ? TUTTI_OK : fail_klu(&lu->common, lu->count);
}

void tutti_lu_sparse_forget(struct tutti_lu_sparse *lu)
{
    lu->calls->free_numeric(&lu->factors, &lu->common);
}

bool tutti_lu_sparse_reordered(const struct tutti_lu_sparse *lu)
{
    return lu->reordered;
}

void tutti_lu_sparse_solve(struct tutti_lu_sparse *lu, double *right)
{
    lu->calls->solve(lu->order, lu->factors, (int)lu->count, 1, right, &lu->common);
}
