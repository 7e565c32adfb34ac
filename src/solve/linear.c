/* SPDX-License-Identifier: MIT */
#include "solve/linear.h"

#include <assert.h>
#include <stdlib.h>

#include "solve/linear_parts.h"

struct tutti_lu {
    size_t count;
    struct tutti_lu_dense *dense; /* this or the other one */
    struct tutti_lu_sparse *sparse;
    double *pairs; /* a complex right-hand side; NULL if real */
    bool factored;
};

enum tutti_err tutti_dense_check(size_t count, size_t entry_size)
{
    const size_t limit = (size_t)8 << 30;
    size_t bytes;
    if (!__builtin_mul_overflow(count, count, &bytes) && !__builtin_mul_overflow(bytes, entry_size, &bytes) &&
        bytes <= limit)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_LIMIT,
                      "a dense matrix of %zu rows and columns needs more than %zu GiB of memory; use --jacobian sparse",
                      count, limit >> 30);
}

enum tutti_err tutti_lu_new(struct tutti_lu **out, size_t count, const struct tutti_pattern *pattern,
                            bool complex_shift)
{
    *out = NULL;
    if (pattern && ((size_t)pattern->column_count != count || (size_t)pattern->row_count != count))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "a pattern of %d rows and %d columns for a matrix of %zu",
                          pattern->row_count, pattern->column_count, count);
    struct tutti_lu *lu = calloc(1, sizeof *lu);
    if (!lu)
        return tutti_fail_memory();
    lu->count = count;
    enum tutti_err err = pattern ? tutti_lu_sparse_new(&lu->sparse, pattern, complex_shift)
                                 : tutti_lu_dense_new(&lu->dense, count, complex_shift);
    if (!err && complex_shift && !(lu->pairs = malloc((2 * count + 1) * sizeof *lu->pairs)))
        err = tutti_fail_memory();
    if (err) {
        tutti_lu_free(lu);
        return err;
    }
    *out = lu;
    return TUTTI_OK;
}

void tutti_lu_free(struct tutti_lu *lu)
{
    if (!lu)
        return;
    tutti_lu_dense_free(lu->dense);
    tutti_lu_sparse_free(lu->sparse);
    free(lu->pairs);
    free(lu);
}

enum tutti_err tutti_lu_factor(struct tutti_lu *lu, const double *values, double re, double im, bool *singular)
{
    assert(lu->pairs || im == 0);
    enum tutti_err err = TUTTI_OK;
    *singular = false;
    if (lu->sparse)
        err = tutti_lu_sparse_factor(lu->sparse, values, re, im, singular);
    else
        *singular = !tutti_lu_dense_factor(lu->dense, values, re, im);
    lu->factored = !err && !*singular;
    return err;
}

void tutti_lu_forget(struct tutti_lu *lu)
{
    if (lu->sparse)
        tutti_lu_sparse_forget(lu->sparse);
    lu->factored = false;
}

bool tutti_lu_reordered(const struct tutti_lu *lu)
{
    return !lu->sparse || tutti_lu_sparse_reordered(lu->sparse);
}

void tutti_lu_solve(struct tutti_lu *lu, double *re, double *im)
{
    assert(lu->factored && !im == !lu->pairs);
    double *right = lu->pairs ? lu->pairs : re;
    for (size_t i = 0; i < lu->count && lu->pairs; i++) {
        right[2 * i] = re[i];
        right[2 * i + 1] = im[i];
    }
    if (lu->sparse)
        tutti_lu_sparse_solve(lu->sparse, right);
    else
        tutti_lu_dense_solve(lu->dense, right);
    for (size_t i = 0; i < lu->count && lu->pairs; i++) {
        re[i] = right[2 * i];
        im[i] = right[2 * i + 1];
    }
}
