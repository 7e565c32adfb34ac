/* SPDX-License-Identifier: MIT */
#include "sim/coupling/feedback.h"

#include <stdlib.h>
#include <string.h>

double tt_feedthrough_matrix_factor(const struct tt_feedthrough_column *column)
{
    const struct tt_conversion *conversion = column->wire->conversion;
    return conversion->linear ? conversion->factor : 1;
}

/* ---- getting ready ---- */

static enum tutti_err create_feedback_factors(struct tt_feedthrough_loop *f, const struct tt_pattern *pattern,
                                              struct tt_feedthrough_factors *factors)
{
    factors->values = tt_arena_array(&f->arena, f->product_count, sizeof *factors->values);
    return factors->values ? tt_lu_new(&factors->lu, (size_t)pattern->column_count, pattern, false) : tt_fail_memory();
}

/* D L has an entry wherever an output follows an input that a real feeds. */
static enum tutti_err locate_feedback_products(struct tt_feedthrough_loop *f, uint32_t reals,
                                               struct tt_pattern_place *places)
{
    const struct tt_feedthrough_matrix *s = f->sensitivity;
    struct tt_pattern pattern;
    size_t count = 0;
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            if (s->columns[k].source != TUTTI_NONE)
                places[count++] = (struct tt_pattern_place){(int32_t)s->rows[e], (int32_t)s->columns[k].source};
    TRY(tt_pattern_init(&pattern, (int32_t)reals, (int32_t)reals, places, count));
    f->product_count = tt_pattern_entries(&pattern);
    count = 0;
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            f->product_at[e] = s->columns[k].source == TUTTI_NONE ? SIZE_MAX
                                                                  : tt_pattern_find(&pattern, &places[count++]);
    enum tutti_err err = create_feedback_factors(f, &pattern, &f->main);
    if (!err)
        err = create_feedback_factors(f, &pattern, &f->aside);
    tt_pattern_fini(&pattern);
    return err;
}

enum tutti_err tt_feedthrough_matrix_init_loop(struct tt_feedthrough_loop *feedback,
                                               const struct tt_feedthrough_matrix *sensitivity, uint32_t reals)
{
    *feedback = (struct tt_feedthrough_loop){.sensitivity = sensitivity};
    if (reals > INT32_MAX)
        return tt_fail(TUTTI_ERR_LIMIT, "--correct: more than %d outputs", (int)INT32_MAX);
    struct tt_pattern_place *places = calloc((size_t)sensitivity->entry_count + 1, sizeof *places);
    feedback->product_at = tt_arena_array(&feedback->arena, sensitivity->entry_count, sizeof *feedback->product_at);
    feedback->values = tt_arena_array(&feedback->arena, sensitivity->entry_count, sizeof *feedback->values);
    bool all = places && feedback->product_at && feedback->values;
    enum tutti_err err = all ? locate_feedback_products(feedback, reals, places) : tt_fail_memory();
    free(places);
    return err;
}

void tt_feedthrough_matrix_fini_loop(struct tt_feedthrough_loop *feedback)
{
    tt_lu_free(feedback->main.lu);
    tt_lu_free(feedback->aside.lu);
    tt_arena_fini(&feedback->arena);
    *feedback = (struct tt_feedthrough_loop){0};
}

/* ---- solving ---- */

/* KLU keeps the order of the rows from one matrix to the next, and rounding errors depend on it: each gets its own. */
static enum tutti_err factorize_feedback(struct tt_feedthrough_loop *f, struct tt_feedthrough_factors *factors,
                                         bool *singular)
{
    factors->made = false;
    tt_lu_forget(factors->lu);
    TRY(tt_lu_factor(factors->lu, f->values, 1, 0, singular));
    f->factorizations++;
    memcpy(factors->values, f->values, f->product_count * sizeof *f->values);
    factors->made = !*singular;
    return TUTTI_OK;
}

static bool feedback_factors_fit(const struct tt_feedthrough_loop *f, const struct tt_feedthrough_factors *factors)
{
    return factors->made && memcmp(factors->values, f->values, f->product_count * sizeof *f->values) == 0;
}

enum tutti_err tt_feedthrough_matrix_solve_loop(struct tt_feedthrough_loop *f, const double *d, bool aside,
                                                double *right, bool *singular)
{
    const struct tt_feedthrough_matrix *s = f->sensitivity;
    *singular = false;
    if (f->product_count == 0) /* nothing comes back */
        return TUTTI_OK;
    memset(f->values, 0, f->product_count * sizeof *f->values);
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            if (f->product_at[e] != SIZE_MAX)
                f->values[f->product_at[e]] += d[e] * tt_feedthrough_matrix_factor(&s->columns[k]);
    struct tt_feedthrough_factors *factors = aside && !feedback_factors_fit(f, &f->main) ? &f->aside : &f->main;
    if (!feedback_factors_fit(f, factors))
        TRY(factorize_feedback(f, factors, singular));
    if (!*singular)
        tt_lu_solve(factors->lu, right, NULL);
    return TUTTI_OK;
}
