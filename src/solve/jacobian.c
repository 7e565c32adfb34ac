/* SPDX-License-Identifier: MIT */
#include "solve/jacobian.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/lu.h"

static enum tutti_err jacobian_allocate(struct tt_jacobian *jacobian)
{
    struct tt_ode *ode = jacobian->ode;
    size_t n = ode->count, size = n * n;
    if (jacobian->sparse)
        size = tt_pattern_entries(tt_jacobian_pattern(jacobian));
    /* calloc does not touch large memory: nothing is wasted on callers that bring their own. */
    jacobian->values = calloc(size + 1, sizeof *jacobian->values);
    jacobian->seed = calloc(n, sizeof *jacobian->seed);
    jacobian->product = malloc(n * sizeof *jacobian->product);
    jacobian->point = malloc(n * sizeof *jacobian->point);
    if (!jacobian->values || !jacobian->seed || !jacobian->product || !jacobian->point)
        return tt_fail_memory();
    if (!ode->jacobian || jacobian->sparse)
        return TUTTI_OK;
    jacobian->entries = malloc((tt_pattern_entries(ode->pattern) + 1) * sizeof *jacobian->entries);
    return jacobian->entries ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_jacobian_init(struct tt_jacobian *jacobian, struct tt_ode *ode, enum tt_jacobian_mode mode)
{
    *jacobian = (struct tt_jacobian){.ode = ode, .plain = mode == TUTTI_JACOBIAN_PLAIN};
    const struct tt_pattern *pattern = ode->pattern;
    if (ode->count > INT32_MAX)
        return tt_fail(TUTTI_ERR_LIMIT, "a Jacobian of %zu states; the limit is %d", ode->count, INT32_MAX);
    if (pattern && ((size_t)pattern->row_count != ode->count || (size_t)pattern->column_count != ode->count))
        return tt_fail(TUTTI_ERR_ARGUMENT, "a pattern of %d rows and %d columns for a Jacobian of %zu states",
                       pattern->row_count, pattern->column_count, ode->count);
    if (ode->jacobian && !pattern)
        return tt_fail(TUTTI_ERR_ARGUMENT, "a problem that gives its Jacobian must give the pattern of it, too");

    jacobian->sparse = mode == TUTTI_JACOBIAN_SPARSE ||
                       (mode == TUTTI_JACOBIAN_AUTO && ode->pattern && tt_pattern_is_worth_sparse(ode->pattern));
    int32_t n = (int32_t)ode->count;
    enum tutti_err err = TUTTI_OK;
    if (!jacobian->sparse)
        err = tt_lu_check_dense(ode->count, sizeof(double));
    else if (!ode->pattern)
        err = tt_pattern_full(&jacobian->full, n, n);
    if (!err)
        err = tt_pattern_colouring_init(&jacobian->colouring, ode->pattern, n, !jacobian->plain);
    if (!err)
        err = jacobian_allocate(jacobian);
    if (err)
        tt_jacobian_fini(jacobian);
    return err;
}

void tt_jacobian_fini(struct tt_jacobian *jacobian)
{
    tt_pattern_colouring_fini(&jacobian->colouring);
    tt_pattern_fini(&jacobian->full);
    free(jacobian->values);
    free(jacobian->seed);
    free(jacobian->product);
    free(jacobian->point);
    free(jacobian->entries);
    *jacobian = (struct tt_jacobian){0};
}

const struct tt_pattern *tt_jacobian_pattern(const struct tt_jacobian *jacobian)
{
    if (!jacobian->sparse)
        return NULL;
    return jacobian->ode->pattern ? jacobian->ode->pattern : &jacobian->full;
}

/* An evaluation of all columns: what its parts have in common. */
struct jacobian_work {
    struct tt_jacobian *jacobian;
    double t;
    const double *x, *dx;
    double least; /* increment of a difference, in units of a state's tolerance */
    double *values;
    struct tt_solver_counts *counts;
};

/* Increments of differences: sigma_j = max(sqrt(U) |x_j|, sigma_0 / w_j), sigma_0 = 1000 |h| U n ||f||, with the
 * weighted root mean square norm and U the unit roundoff (Hindmarsh, Serban et al., User Documentation for CVODE,
 * "Mathematical Considerations", on the Jacobian by difference quotients): rounding errors of f are weighed against the
 * error that the current step permits. Here a Jacobian may serve steps much longer than the one that asked for it, so
 * sigma_0 has a bound that is independent of the step: sqrt(U) / rtol. With w_j = 1 / (rtol |x_j| + atol_j), sigma_j is
 * then at least sqrt(U) (|x_j| + s_j), where s_j = atol_j / rtol is the size below which the tolerances take a state
 * for small: the typical size that Dennis and Schnabel ask for (Numerical Methods for Unconstrained Optimization,
 * section 5.4). The bound itself must not exceed the tolerance. */
static double jacobian_least_increment(const struct tt_ode *ode, const double *x, const double *dx, double h)
{
    double sum = 0, n = (double)ode->count;
    for (size_t i = 0; i < ode->count; i++) {
        double part = dx[i] / tt_ode_tolerance(ode, i, x[i]);
        sum += part * part;
    }
    double least = 1000 * fabs(h) * DBL_EPSILON * n * sqrt(sum / n), bound = sqrt(DBL_EPSILON);
    bound = ode->rtol > bound ? bound / ode->rtol : 1;
    return least > bound && isfinite(least) ? least : bound;
}

/* Puts `product`, less `base` if that is not NULL, and over `increment`, into the places of a column. */
static void jacobian_store_column(const struct jacobian_work *work, int32_t column, const double *base,
                                  double increment)
{
    const struct tt_jacobian *jacobian = work->jacobian;
    const struct tt_pattern *pattern = jacobian->plain ? NULL : jacobian->ode->pattern;
    const double *product = jacobian->product;
    size_t n = jacobian->ode->count;
    double *dense = work->values + (size_t)column * n; /* of a full pattern, too */
    if (!pattern) {
        for (size_t row = 0; row < n; row++)
            dense[row] = (product[row] - (base ? base[row] : 0)) / increment;
        return;
    }
    for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++) {
        int32_t row = pattern->rows[k];
        double value = (product[row] - (base ? base[row] : 0)) / increment;
        if (jacobian->sparse)
            work->values[k] = value;
        else
            dense[row] = value;
    }
}

static enum tt_eval jacobian_by_derivatives(const struct jacobian_work *work, const int32_t *columns, int32_t count)
{
    struct tt_jacobian *jacobian = work->jacobian;
    struct tt_ode *ode = jacobian->ode;
    for (int32_t i = 0; i < count; i++)
        jacobian->seed[columns[i]] = 1;
    work->counts->directional++;
    enum tt_eval eval =
        ode->directional(ode->context, ode->origin + work->t, work->x, jacobian->seed, jacobian->product);
    for (int32_t i = 0; i < count; i++) {
        jacobian->seed[columns[i]] = 0;
        if (eval == TUTTI_EVAL_OK)
            jacobian_store_column(work, columns[i], NULL, 1);
    }
    return eval;
}

/* `sign` is the direction to go. The point is x again afterwards. */
static enum tt_eval jacobian_difference_towards(const struct jacobian_work *work, const int32_t *columns, int32_t count,
                                                double sign)
{
    struct tt_jacobian *jacobian = work->jacobian;
    struct tt_ode *ode = jacobian->ode;
    for (int32_t i = 0; i < count; i++) {
        size_t j = (size_t)columns[i];
        double x = work->x[j];
        jacobian->point[j] = x + sign * fmax(sqrt(DBL_EPSILON) * fabs(x), work->least * tt_ode_tolerance(ode, j, x));
    }
    work->counts->rhs++;
    enum tt_eval eval = tt_ode_rhs(ode, work->t, jacobian->point, jacobian->product);
    for (int32_t i = 0; i < count; i++) {
        int32_t j = columns[i];
        /* The increment after rounding. */
        if (eval == TUTTI_EVAL_OK)
            jacobian_store_column(work, j, work->dx, jacobian->point[j] - work->x[j]);
        jacobian->point[j] = work->x[j];
    }
    return eval;
}

/* Where f ends at x, one direction may have no value; and if the columns do not agree in which, they go apart. */
static enum tt_eval jacobian_by_differences(const struct jacobian_work *work, const int32_t *columns, int32_t count)
{
    enum tt_eval eval = jacobian_difference_towards(work, columns, count, 1);
    if (eval == TUTTI_EVAL_NO_VALUE)
        eval = jacobian_difference_towards(work, columns, count, -1);
    if (eval != TUTTI_EVAL_NO_VALUE || count == 1)
        return eval;
    eval = jacobian_by_differences(work, columns, count / 2);
    return eval == TUTTI_EVAL_OK ? jacobian_by_differences(work, columns + count / 2, count - count / 2) : eval;
}

static enum tt_eval jacobian_by_problem(const struct tt_jacobian *jacobian, double t, const double *x, double *values)
{
    struct tt_ode *ode = jacobian->ode;
    if (jacobian->sparse)
        return ode->jacobian(ode->context, ode->origin + t, x, values);
    enum tt_eval eval = ode->jacobian(ode->context, ode->origin + t, x, jacobian->entries);
    const struct tt_pattern *pattern = ode->pattern;
    for (int32_t c = 0; c < pattern->column_count && eval == TUTTI_EVAL_OK; c++)
        for (int32_t k = pattern->starts[c]; k < pattern->starts[c + 1]; k++)
            values[(size_t)c * ode->count + (size_t)pattern->rows[k]] = jacobian->entries[k];
    return eval;
}

enum tt_eval tt_jacobian_evaluate(struct tt_jacobian *jacobian, double t, const double *x, const double *dx, double h,
                                  double *values, struct tt_solver_counts *counts)
{
    struct tt_ode *ode = jacobian->ode;
    const struct tt_colouring *colouring = &jacobian->colouring;
    counts->jacobians++;
    if (!jacobian->sparse)
        memset(values, 0, ode->count * ode->count * sizeof *values);
    if (ode->jacobian)
        return jacobian_by_problem(jacobian, t, x, values);
    struct jacobian_work work = {.jacobian = jacobian, .t = t, .x = x, .dx = dx, .values = values, .counts = counts};
    if (!ode->directional) {
        work.least = jacobian_least_increment(ode, x, dx, h);
        memcpy(jacobian->point, x, ode->count * sizeof *x);
    }
    enum tt_eval eval = TUTTI_EVAL_OK;
    for (int32_t colour = 0; colour < colouring->colour_count && eval == TUTTI_EVAL_OK; colour++) {
        const int32_t *columns = colouring->columns + colouring->starts[colour];
        int32_t count = colouring->starts[colour + 1] - colouring->starts[colour];
        eval = ode->directional ? jacobian_by_derivatives(&work, columns, count)
                                : jacobian_by_differences(&work, columns, count);
    }
    return eval;
}

enum tt_eval tt_jacobian_update(struct tt_jacobian *jacobian, double t, const double *x, const double *dx, double h,
                                struct tt_solver_counts *counts)
{
    bool asked = jacobian->ode->directional != NULL;
    enum tt_eval eval = tt_jacobian_evaluate(jacobian, t, x, dx, h, jacobian->values, counts);
    if (eval != TUTTI_EVAL_NO_VALUE || !asked || jacobian->ode->directional)
        return eval;
    counts->jacobians--; /* the problem has withdrawn them: once more, by differences */
    return tt_jacobian_evaluate(jacobian, t, x, dx, h, jacobian->values, counts);
}
