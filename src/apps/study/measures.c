/* SPDX-License-Identifier: MIT */
#include "apps/study/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/expr/expression.h"

/* clang-format off */
#define REDUCTIONS(X)                                                                                                  \
    X(FINAL, "final") X(INITIAL, "initial") X(MAX, "max") X(MIN, "min") X(MEAN, "mean") X(RMS, "rms")                  \
    X(INTEGRAL, "integral") X(TIME_OF_MAX, "time_of_max") X(TIME_OF_MIN, "time_of_min") X(TIME_WHEN, "time_when")
/* clang-format on */
#define NUMBERED(name, word) name,
#define WORDED(name, word) word,
enum reduction_kind { REDUCTIONS(NUMBERED) };
static const char *const words[] = {REDUCTIONS(WORDED) NULL};

struct reduction {
    enum reduction_kind kind;
    const struct tt_expression *argument;
    double best, at;          /* the extreme, the first or the last value; and when */
    double sum, compensation; /* of an integral (Kahan's summation) */
    double last;              /* of what is integrated */
};

struct measure {
    struct tt_expression *expression;
    struct reduction *reductions;
    size_t count;
    double *values; /* of the reductions, at the end */
};

struct tt_measures {
    struct measure *items;
    size_t count;
    double start, t; /* of the run: its first and its last row */
    bool has_rows;
    double *row; /* values of a row, `time` in front */
    size_t row_count, row_room;
    void *context;
    enum tutti_err (*find)(void *context, const char *name, size_t *place);
};

/* Place 0 of a row is the time. */
static enum tutti_err measures_find_name(void *context, const char *name, size_t *place)
{
    struct tt_measures *measures = context;
    if (strcmp(name, "time") == 0) {
        *place = 0;
        return TUTTI_OK;
    }
    TRY(measures->find(measures->context, name, place));
    ++*place;
    if (*place >= measures->row_count)
        measures->row_count = *place + 1;
    return TUTTI_OK;
}

static enum tutti_err measures_parse(struct tt_measures *measures, struct measure *measure, const char *text)
{
    const struct tt_expression_names names = {.context = measures, .find = measures_find_name};
    TRY(tt_expression_new(&measure->expression, text, &names, words));
    measure->count = tt_expression_reductions(measure->expression);
    measure->reductions = calloc(measure->count + 1, sizeof *measure->reductions);
    measure->values = calloc(measure->count + 1, sizeof *measure->values);
    if (!measure->reductions || !measure->values)
        return tt_fail_memory();
    for (size_t i = 0; i < measure->count; i++) {
        size_t kind;
        measure->reductions[i].argument = tt_expression_reduction(measure->expression, i, &kind);
        measure->reductions[i].kind = (enum reduction_kind)kind;
    }
    return TUTTI_OK;
}

enum tutti_err tt_measures_new(struct tt_measures **out, const char *const *texts, size_t count, void *context,
                               enum tutti_err (*find)(void *context, const char *name, size_t *place))
{
    struct tt_measures *measures = calloc(1, sizeof *measures);
    if (!measures)
        return tt_fail_memory();
    *measures = (struct tt_measures){.count = count, .row_count = 1, .context = context, .find = find};
    measures->items = calloc(count + 1, sizeof *measures->items);
    enum tutti_err err = measures->items ? TUTTI_OK : tt_fail_memory();
    for (size_t i = 0; i < count && !err; i++)
        err = tt_fail_context(measures_parse(measures, &measures->items[i], texts[i]), "--measure");
    measures->row = err ? NULL : calloc(measures->row_count, sizeof *measures->row);
    if (!err && !measures->row)
        err = tt_fail_memory();
    if (err)
        tt_measures_free(measures);
    else
        *out = measures;
    return err;
}

void tt_measures_free(struct tt_measures *measures)
{
    if (!measures)
        return;
    for (size_t i = 0; measures->items && i < measures->count; i++) {
        tt_expression_free(measures->items[i].expression);
        free(measures->items[i].reductions);
        free(measures->items[i].values);
    }
    free(measures->items);
    free(measures->row);
    free(measures);
}

bool tt_measures_are_final(const struct tt_measures *measures)
{
    bool are = true;
    for (size_t i = 0; i < measures->count; i++)
        for (size_t k = 0; k < measures->items[i].count; k++)
            are = are && measures->items[i].reductions[k].kind == FINAL;
    return are;
}

void tt_measures_start(struct tt_measures *measures)
{
    measures->has_rows = false;
}

static void start_reduction(struct reduction *reduction, double t, double value)
{
    reduction->best = value;
    reduction->at = reduction->kind == TIME_WHEN && value == 0 ? NAN : t;
    reduction->sum = reduction->compensation = 0;
    reduction->last = reduction->kind == RMS ? value * value : value;
}

static void add_to_integral(struct reduction *reduction, double h, double value)
{
    double part = 0.5 * h * (reduction->last + value) - reduction->compensation, sum = reduction->sum + part;
    reduction->compensation = (sum - reduction->sum) - part;
    reduction->sum = sum;
    reduction->last = value;
}

/* NaN is kept: it is not less than any value, and is not overwritten. */
static void update_extreme(struct reduction *reduction, double t, double value, bool better)
{
    if (!better && !(isnan(value) && !isnan(reduction->best)))
        return;
    reduction->best = value;
    reduction->at = t;
}

static void measures_update_reduction(struct reduction *reduction, double t, double h, double value)
{
    switch (reduction->kind) {
    case FINAL: reduction->best = value; break;
    case INITIAL: break;
    case MAX:
    case TIME_OF_MAX: update_extreme(reduction, t, value, value > reduction->best); break;
    case MIN:
    case TIME_OF_MIN: update_extreme(reduction, t, value, value < reduction->best); break;
    case RMS: add_to_integral(reduction, h, value * value); break;
    case MEAN:
    case INTEGRAL: add_to_integral(reduction, h, value); break;
    case TIME_WHEN:
        if (isnan(reduction->at) && value != 0)
            reduction->at = t;
        break;
    }
}

void tt_measures_add_row(struct tt_measures *measures, double t, const double *values)
{
    bool first = !measures->has_rows;
    double h = first ? 0 : t - measures->t;
    measures->row[0] = t;
    for (size_t i = 1; i < measures->row_count; i++)
        measures->row[i] = values[i - 1];
    for (size_t i = 0; i < measures->count; i++)
        for (size_t k = 0; k < measures->items[i].count; k++) {
            struct reduction *reduction = &measures->items[i].reductions[k];
            double value = tt_expression_value(reduction->argument, measures->row);
            if (first)
                start_reduction(reduction, t, value);
            else
                measures_update_reduction(reduction, t, h, value);
        }
    if (first)
        measures->start = t;
    measures->t = t;
    measures->has_rows = true;
}

/* Fails without a value: a run without a duration has no mean. */
static enum tutti_err finish_reduction(const struct tt_measures *measures, const struct measure *measure,
                                       const struct reduction *reduction, double *value)
{
    double span = measures->t - measures->start;
    const char *text = tt_expression_text(measure->expression);
    switch (reduction->kind) {
    case FINAL:
    case INITIAL:
    case MAX:
    case MIN: *value = reduction->best; break;
    case MEAN: *value = span > 0 ? reduction->sum / span : reduction->last; break;
    case RMS: *value = sqrt(span > 0 ? reduction->sum / span : reduction->last); break;
    case INTEGRAL: *value = reduction->sum; break;
    case TIME_WHEN:
        *value = reduction->at;
        if (isnan(*value))
            return tt_fail(TUTTI_ERR_ARGUMENT, "'%s': what time_when waits for was never true",
                           tt_text_excerpt(text).text);
        break;
    case TIME_OF_MAX:
    case TIME_OF_MIN: *value = isnan(reduction->best) ? NAN : reduction->at; break;
    }
    return TUTTI_OK;
}

static enum tutti_err evaluate_measure(struct tt_measures *measures, struct measure *measure, double *result)
{
    *result = NAN;
    if (!measures->has_rows)
        return tt_fail(TUTTI_ERR_ARGUMENT, "the run has no rows to measure");
    for (size_t k = 0; k < measure->count; k++)
        TRY(finish_reduction(measures, measure, &measure->reductions[k], &measure->values[k]));
    double value;
    TRY(tt_expression_check(measure->expression, measure->values, &value));
    *result = value;
    return TUTTI_OK;
}

enum tutti_err tt_measures_finish(struct tt_measures *measures, double *results)
{
    struct tt_failure failure = {.err = TUTTI_OK};
    for (size_t i = 0; i < measures->count; i++) {
        enum tutti_err err = evaluate_measure(measures, &measures->items[i], &results[i]);
        if (err && !failure.err)
            tt_fail_save(&failure, err);
    }
    return tt_fail_restore(&failure);
}
