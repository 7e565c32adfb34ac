/* SPDX-License-Identifier: MIT */
#include "master/coupling/feedback.h"

#include <stdlib.h>
#include <string.h>

double tutti_feedback_factor(const struct tutti_sensitivity_column *column)
{
    const struct tutti_conversion *conversion = column->wire->conversion;
    return conversion->linear ? conversion->factor : 1;
}

/* ---- getting ready ---- */

static enum tutti_err make_factors(struct tutti_feedback *f, const struct tutti_pattern *pattern,
                                   struct tutti_feedback_factors *factors)
{
    factors->values = tutti_arena_array(&f->arena, f->product_count, sizeof *factors->values);
    return factors->values ? tutti_lu_new(&factors->lu, (size_t)pattern->column_count, pattern, false)
                           : tutti_fail_memory();
}

/* D L has an entry wherever an output follows an input that a real feeds. */
static enum tutti_err place_products(struct tutti_feedback *f, uint32_t reals, struct tutti_pattern_place *places)
{
    const struct tutti_sensitivity *s = f->sensitivity;
    struct tutti_pattern pattern;
    size_t count = 0;
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            if (s->columns[k].source != TUTTI_NONE)
                places[count++] = (struct tutti_pattern_place){(int32_t)s->rows[e], (int32_t)s->columns[k].source};
    TRY(tutti_pattern_init(&pattern, (int32_t)reals, (int32_t)reals, places, count));
    f->product_count = tutti_pattern_entries(&pattern);
    count = 0;
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            f->product_at[e] = s->columns[k].source == TUTTI_NONE ? SIZE_MAX
                                                                  : tutti_pattern_find(&pattern, &places[count++]);
    enum tutti_err err = make_factors(f, &pattern, &f->main);
    if (!err)
        err = make_factors(f, &pattern, &f->aside);
    tutti_pattern_fini(&pattern);
    return err;
}

enum tutti_err tutti_feedback_init(struct tutti_feedback *feedback, const struct tutti_sensitivity *sensitivity,
                                   uint32_t reals)
{
    *feedback = (struct tutti_feedback){.sensitivity = sensitivity};
    if (reals > INT32_MAX)
        return tutti_fail(TUTTI_ERR_LIMIT, "--correct: more than %d outputs", (int)INT32_MAX);
    struct tutti_pattern_place *places = calloc((size_t)sensitivity->entry_count + 1, sizeof *places);
    feedback->product_at = tutti_arena_array(&feedback->arena, sensitivity->entry_count, sizeof *feedback->product_at);
    feedback->values = tutti_arena_array(&feedback->arena, sensitivity->entry_count, sizeof *feedback->values);
    bool all = places && feedback->product_at && feedback->values;
    enum tutti_err err = all ? place_products(feedback, reals, places) : tutti_fail_memory();
    free(places);
    return err;
}

void tutti_feedback_fini(struct tutti_feedback *feedback)
{
    tutti_lu_free(feedback->main.lu);
    tutti_lu_free(feedback->aside.lu);
    tutti_arena_fini(&feedback->arena);
    *feedback = (struct tutti_feedback){0};
}

/* ---- solving ---- */

/* KLU keeps the order of the rows from one matrix to the next, and rounding errors depend on it: each gets its own. */
static enum tutti_err factorize(struct tutti_feedback *f, struct tutti_feedback_factors *factors, bool *singular)
{
    factors->made = false;
    tutti_lu_forget(factors->lu);
    TRY(tutti_lu_factor(factors->lu, f->values, 1, 0, singular));
    f->factorizations++;
    memcpy(factors->values, f->values, f->product_count * sizeof *f->values);
    factors->made = !*singular;
    return TUTTI_OK;
}

static bool fits(const struct tutti_feedback *f, const struct tutti_feedback_factors *factors)
{
    return factors->made && memcmp(factors->values, f->values, f->product_count * sizeof *f->values) == 0;
}

enum tutti_err tutti_feedback_solve(struct tutti_feedback *f, const double *d, bool aside, double *right,
                                    bool *singular)
{
    const struct tutti_sensitivity *s = f->sensitivity;
    *singular = false;
    if (f->product_count == 0) /* nothing comes back */
        return TUTTI_OK;
    memset(f->values, 0, f->product_count * sizeof *f->values);
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            if (f->product_at[e] != SIZE_MAX)
                f->values[f->product_at[e]] += d[e] * tutti_feedback_factor(&s->columns[k]);
    struct tutti_feedback_factors *factors = aside && !fits(f, &f->main) ? &f->aside : &f->main;
    if (!fits(f, factors))
        TRY(factorize(f, factors, singular));
    if (!*singular)
        tutti_lu_solve(factors->lu, right, NULL);
    return TUTTI_OK;
}
