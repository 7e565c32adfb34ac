/* SPDX-License-Identifier: MIT */
#include "unit/me_extra.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/extra.h>

#include "solve/pattern.h"

static struct tutti_model *extra_model_of(struct tt_me_extra *own)
{
    return (struct tutti_model *)own->linear;
}

/* The end of a call of one of their functions, which began when tt_fail_count() was `before`. */
static enum tutti_err extra_report_error(const struct tt_me_extra *own, enum tutti_err err, unsigned long before)
{
    err = tt_fail_without_message(err, before, "one of their functions failed, and did not say why (tutti_extra_fail)");
    return tt_fail_context(err, "%s: extra equations", own->model->unit->name);
}

static enum tt_eval extra_eval_result(struct tt_me_extra *own, enum tutti_err err, unsigned long before)
{
    if (err == TUTTI_OK)
        return TUTTI_EVAL_OK;
    own->ode.err = extra_report_error(own, err, before);
    return TUTTI_EVAL_FAILED;
}

/* Converts the outcome of evaluating the FMU alone. */
static enum tt_eval fmu_eval_error(struct tt_me_extra *own, enum tt_eval eval)
{
    own->ode.err = own->model->ode.err;
    return eval;
}

static enum tt_eval extra_rhs(void *context, double t, const double *x, double *dx)
{
    struct tt_me_extra *own = context;
    struct tt_me_model *model = own->model;
    enum tt_eval eval = model->ode.rhs(model, t, x, dx);
    if (eval != TUTTI_EVAL_OK)
        return fmu_eval_error(own, eval);
    unsigned long before = tt_fail_count();
    enum tutti_err err =
        own->extra->rhs(own->extra->context, extra_model_of(own), t, x + model->states, dx + model->states);
    eval = extra_eval_result(own, err, before);
    for (size_t i = model->states; i < own->ode.count && eval == TUTTI_EVAL_OK; i++)
        if (!isfinite(dx[i])) {
            model->missed = true;
            model->bad_state = i;
            model->bad_time = t;
            return TUTTI_EVAL_NO_VALUE;
        }
    return eval;
}

static enum tt_eval extra_jacobian(void *context, double t, const double *x, double *values)
{
    struct tt_me_extra *own = context;
    struct tt_me_model *model = own->model;
    enum tt_eval eval = TUTTI_EVAL_OK;
    if (model->states > 0) {
        if (!model->ode.directional) {
            eval = model->ode.rhs(model, t, x, own->dx);
            model->counts.rhs++;
        }
        bool asked = model->ode.directional != NULL;
        if (eval == TUTTI_EVAL_OK)
            eval = tt_jacobian_evaluate(&own->fmu_jacobian, t, x, own->dx, 0, values, &model->counts);
        model->counts.jacobians = 0; /* the whole is counted once, by the solver */
        if (asked && !model->ode.directional)
            return extra_jacobian(context, t, x, values); /* by differences, which need f at x */
    }
    if (eval != TUTTI_EVAL_OK)
        return fmu_eval_error(own, eval);
    bool discarded = false;
    unsigned long before = tt_fail_count();
    enum tutti_err err = tt_me_model_place(model, t, x, &discarded); /* differences have moved it */
    if (err == TUTTI_OK && discarded)
        return TUTTI_EVAL_NO_VALUE;
    if (err == TUTTI_OK)
        err = own->extra->jacobian(own->extra->context, extra_model_of(own), t, x + model->states,
                                   values + own->fmu_entries);
    return extra_eval_result(own, err, before);
}

/* Puts the columns of the equations after those of the FMU. */
static enum tutti_err join_patterns(struct tt_me_extra *own, const struct tt_pattern *fmu, const int *starts,
                                    const int *rows)
{
    size_t n = own->model->states, m = own->extra->count;
    size_t first = n > 0 ? tt_pattern_entries(fmu) : 0, second = (size_t)starts[m];
    own->fmu_entries = first;
    own->pattern.row_count = own->pattern.column_count = (int32_t)(n + m);
    own->pattern.starts = calloc(n + m + 1, sizeof *own->pattern.starts);
    own->pattern.rows = calloc(first + second + 1, sizeof *own->pattern.rows);
    if (!own->pattern.starts || !own->pattern.rows)
        return tt_fail_memory();
    for (size_t c = 0; c < n; c++)
        own->pattern.starts[c + 1] = fmu->starts[c + 1];
    for (size_t c = 0; c < m; c++)
        own->pattern.starts[n + c + 1] = (int32_t)(first + (size_t)starts[c + 1]);
    if (n > 0)
        memcpy(own->pattern.rows, fmu->rows, first * sizeof *fmu->rows);
    for (size_t k = 0; k < second; k++) {
        if (rows[k] < 0 || (size_t)rows[k] >= m)
            return tt_fail(TUTTI_ERR_ARGUMENT, "extra equations: row %d in the structure of their Jacobian, of %zu",
                           rows[k], m);
        own->pattern.rows[first + k] = (int32_t)(n + (size_t)rows[k]);
    }
    return TUTTI_OK;
}

static enum tutti_err set_up_jacobian(struct tt_me_extra *own)
{
    struct tt_me_model *model = own->model;
    const int *starts = NULL, *rows = NULL;
    bool plain = model->options->integration.jacobian == TUTTI_JACOBIAN_PLAIN;
    struct tt_pattern full = {0};
    const struct tt_pattern *fmu = model->ode.pattern;
    unsigned long before = tt_fail_count();
    TRY(extra_report_error(own, own->extra->structure(own->extra->context, extra_model_of(own), &starts, &rows),
                           before));
    if (!starts || !rows)
        return tt_fail(TUTTI_ERR_ARGUMENT, "extra equations: `structure` leaves its pointers NULL");
    if (model->states > 0 && (!fmu || plain)) {
        TRY(tt_pattern_full(&full, (int32_t)model->states, (int32_t)model->states));
        fmu = &full;
    }
    enum tutti_err err = join_patterns(own, fmu, starts, rows);
    tt_pattern_fini(&full);
    TRY(err);
    if (model->states > 0)
        TRY(tt_jacobian_init(&own->fmu_jacobian, &model->ode, plain ? TUTTI_JACOBIAN_PLAIN : TUTTI_JACOBIAN_SPARSE));
    own->ode.pattern = &own->pattern;
    own->ode.jacobian = extra_jacobian;
    return TUTTI_OK;
}

static const char *extra_state_name(void *context, size_t i)
{
    return tt_me_model_state_name(((struct tt_me_extra *)context)->model, i);
}

enum tutti_err tt_me_extra_init(struct tt_me_extra *own, const struct tutti_extra *extra, struct tt_me_linear *linear)
{
    struct tt_me_model *model = linear->model;
    own->extra = extra;
    own->linear = linear;
    own->model = model;
    if (extra->count == 0) /* columns of the result alone */
        return TUTTI_OK;
    own->dx = calloc(model->states + 1, sizeof *own->dx);
    if (!own->dx)
        return tt_fail_memory();
    own->ode = model->ode;
    own->ode.count = model->states + extra->count;
    own->ode.context = own;
    own->ode.state_name = extra_state_name;
    own->ode.rhs = extra_rhs;
    own->ode.directional = NULL;
    own->ode.pattern = NULL;
    if (extra->structure && extra->jacobian)
        return tt_fail_context(set_up_jacobian(own), "%s", model->unit->name);
    return TUTTI_OK;
}

void tt_me_extra_fini(struct tt_me_extra *own)
{
    tt_jacobian_fini(&own->fmu_jacobian);
    tt_pattern_fini(&own->pattern);
    free(own->dx);
}

enum tutti_err tt_me_extra_start(struct tt_me_extra *own, double t, double *x)
{
    if (!own->extra || !own->extra->start)
        return TUTTI_OK;
    TRY(tt_me_model_place(own->model, t, x, NULL));
    unsigned long before = tt_fail_count();
    enum tutti_err err = own->extra->start(own->extra->context, extra_model_of(own), t, x + own->model->states);
    return extra_report_error(own, err, before);
}

enum tutti_err tt_me_extra_outputs(struct tt_me_extra *own, double t, const double *x, double *values)
{
    TRY(tt_me_model_place(own->model, t, x, NULL));
    unsigned long before = tt_fail_count();
    enum tutti_err err =
        own->extra->output(own->extra->context, extra_model_of(own), t, x + own->model->states, values);
    TRY(extra_report_error(own, err, before));
    return tt_me_model_place(own->model, t, x, NULL); /* it may have linearised */
}

enum tutti_err tutti_extra_fail(enum tutti_err err, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tt_fail(err, "%s", text);
}
