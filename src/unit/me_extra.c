/* SPDX-License-Identifier: MIT */
#include "unit/me_extra.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/extra.h>

#include "solve/pattern.h"

/* Jacobian of the whole: that of the FMU, then that of the equations; columns follow each other, so values do, too. */
struct me_extra {
    const struct tutti_extra *extra;
    struct tutti_ode fmu; /* the FMU alone */
    struct tutti_jacobian fmu_jacobian;
    struct tutti_pattern pattern;
    size_t fmu_entries;
    double *dx; /* scratch: f of the FMU */
};

size_t tutti_me_extra_count(const struct me *me)
{
    const struct tutti_extra *extra = me->options.integration.extra;
    return extra ? extra->count : 0;
}

static struct tutti_model *model_of(struct me *me)
{
    return (struct tutti_model *)me;
}

/* The end of a call of one of their functions, which began when tutti_fail_count() was `before`. */
static enum tutti_err conclude(const struct me *me, enum tutti_err err, unsigned long before)
{
    err = tutti_fail_unsaid(err, before, "one of their functions failed, and did not say why (tutti_extra_fail)");
    return tutti_fail_context(err, "%s: extra equations", me->unit.name);
}

static enum tutti_eval outcome(struct me *me, enum tutti_err err, unsigned long before)
{
    if (err == TUTTI_OK)
        return TUTTI_EVAL_OK;
    me->ode.err = conclude(me, err, before);
    return TUTTI_EVAL_FAILED;
}

static enum tutti_eval rhs(void *context, double t, const double *x, double *dx)
{
    struct me *me = context;
    struct me_extra *own = me->extra_equations;
    enum tutti_eval eval = own->fmu.rhs(me, t, x, dx);
    if (eval != TUTTI_EVAL_OK)
        return eval;
    unsigned long before = tutti_fail_count();
    enum tutti_err err = own->extra->rhs(own->extra->context, model_of(me), t, x + me->states, dx + me->states);
    eval = outcome(me, err, before);
    for (size_t i = me->states; i < me->ode.count && eval == TUTTI_EVAL_OK; i++)
        if (!isfinite(dx[i])) {
            me->missed = true;
            me->bad_state = i;
            me->bad_time = t;
            return TUTTI_EVAL_NO_VALUE;
        }
    return eval;
}

static enum tutti_eval jacobian(void *context, double t, const double *x, double *values)
{
    struct me *me = context;
    struct me_extra *own = me->extra_equations;
    enum tutti_eval eval = TUTTI_EVAL_OK;
    if (me->states > 0) {
        if (!own->fmu.directional) {
            eval = own->fmu.rhs(me, t, x, own->dx);
            me->other_counts.rhs++;
        }
        bool asked = own->fmu.directional != NULL;
        if (eval == TUTTI_EVAL_OK)
            eval = tutti_jacobian_evaluate(&own->fmu_jacobian, t, x, own->dx, 0, values, &me->other_counts);
        me->other_counts.jacobians = 0; /* the whole is counted once, by the solver */
        if (asked && !own->fmu.directional)
            return jacobian(context, t, x, values); /* by differences, which need f at x */
    }
    if (eval != TUTTI_EVAL_OK)
        return eval;
    bool discarded = false;
    unsigned long before = tutti_fail_count();
    enum tutti_err err = tutti_me_place(me, t, x, &discarded); /* differences have moved it */
    if (err == TUTTI_OK && discarded)
        return TUTTI_EVAL_NO_VALUE;
    if (err == TUTTI_OK)
        err = own->extra->jacobian(own->extra->context, model_of(me), t, x + me->states, values + own->fmu_entries);
    return outcome(me, err, before);
}

/* Puts the columns of the equations behind those of the FMU. */
static enum tutti_err join_patterns(struct me *me, const struct tutti_pattern *fmu, const int *starts, const int *rows)
{
    struct me_extra *own = me->extra_equations;
    size_t n = me->states, m = me->extra_states;
    size_t first = n > 0 ? tutti_pattern_entries(fmu) : 0, second = (size_t)starts[m];
    own->fmu_entries = first;
    own->pattern.row_count = own->pattern.column_count = (int32_t)(n + m);
    own->pattern.starts = calloc(n + m + 1, sizeof *own->pattern.starts);
    own->pattern.rows = calloc(first + second + 1, sizeof *own->pattern.rows);
    if (!own->pattern.starts || !own->pattern.rows)
        return tutti_fail_memory();
    for (size_t c = 0; c < n; c++)
        own->pattern.starts[c + 1] = fmu->starts[c + 1];
    for (size_t c = 0; c < m; c++)
        own->pattern.starts[n + c + 1] = (int32_t)(first + (size_t)starts[c + 1]);
    if (n > 0)
        memcpy(own->pattern.rows, fmu->rows, first * sizeof *fmu->rows);
    for (size_t k = 0; k < second; k++) {
        if (rows[k] < 0 || (size_t)rows[k] >= m)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "extra equations: row %d in the structure of their Jacobian, of %zu",
                              rows[k], m);
        own->pattern.rows[first + k] = (int32_t)(n + (size_t)rows[k]);
    }
    return TUTTI_OK;
}

static enum tutti_err set_up_jacobian(struct me *me)
{
    struct me_extra *own = me->extra_equations;
    const int *starts = NULL, *rows = NULL;
    bool plain = me->options.integration.jacobian == TUTTI_JACOBIAN_PLAIN;
    struct tutti_pattern full = {0};
    const struct tutti_pattern *fmu = me->ode.pattern;
    unsigned long before = tutti_fail_count();
    TRY(conclude(me, own->extra->structure(own->extra->context, model_of(me), &starts, &rows), before));
    if (!starts || !rows)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "extra equations: `structure` leaves its pointers NULL");
    if (me->states > 0 && (!fmu || plain)) {
        TRY(tutti_pattern_full(&full, (int32_t)me->states, (int32_t)me->states));
        fmu = &full;
    }
    enum tutti_err err = join_patterns(me, fmu, starts, rows);
    tutti_pattern_fini(&full);
    TRY(err);
    if (me->states > 0)
        TRY(tutti_jacobian_init(&own->fmu_jacobian, &own->fmu, plain ? TUTTI_JACOBIAN_PLAIN : TUTTI_JACOBIAN_SPARSE));
    me->ode.pattern = &own->pattern;
    me->ode.jacobian = jacobian;
    return TUTTI_OK;
}

enum tutti_err tutti_me_extra_init(struct me *me)
{
    const struct tutti_extra *extra = me->options.integration.extra;
    struct me_extra *own = calloc(1, sizeof *own);
    me->extra_equations = own;
    if (own)
        own->dx = calloc(me->states + 1, sizeof *own->dx);
    if (!own || !own->dx)
        return tutti_fail_memory();
    own->extra = extra;
    own->fmu = me->fmu_ode;
    me->ode.rhs = rhs;
    me->ode.directional = NULL;
    if (extra->structure && extra->jacobian)
        return tutti_fail_context(set_up_jacobian(me), "%s", me->unit.name);
    me->ode.pattern = NULL;
    return TUTTI_OK;
}

void tutti_me_extra_drop_directional(struct me *me)
{
    if (me->extra_equations)
        me->extra_equations->fmu.directional = NULL;
}

void tutti_me_extra_fini(struct me *me)
{
    struct me_extra *own = me->extra_equations;
    if (!own)
        return;
    tutti_jacobian_fini(&own->fmu_jacobian);
    tutti_pattern_fini(&own->pattern);
    free(own->dx);
    free(own);
}

enum tutti_err tutti_me_extra_start(struct me *me)
{
    const struct tutti_extra *extra = me->options.integration.extra;
    if (!extra || !extra->start)
        return TUTTI_OK;
    TRY(tutti_me_place_back(me));
    unsigned long before = tutti_fail_count();
    return conclude(me, extra->start(extra->context, model_of(me), me->t, me->x + me->states), before);
}

enum tutti_err tutti_me_extra_outputs(struct tutti_unit *unit, double *values)
{
    struct me *me = (struct me *)unit;
    const struct tutti_extra *extra = me->options.integration.extra;
    TRY(tutti_me_place_back(me));
    unsigned long before = tutti_fail_count();
    TRY(conclude(me, extra->output(extra->context, model_of(me), me->t, me->x + me->states, values), before));
    return tutti_me_place_back(me); /* it may have linearised */
}

enum tutti_err tutti_extra_fail(enum tutti_err err, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tutti_fail(err, "%s", text);
}
