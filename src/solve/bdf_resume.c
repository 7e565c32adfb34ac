/* SPDX-License-Identifier: MIT */
/* bdf_resume.c - how bdf.c goes on when the right-hand side has become another one (inputs changed, 001 chapter 7).
 *
 * The states remain; their derivatives, and so the rows of the array, do not. Let p be the old polynomial and
 * g(t) = f(t, p(t)) - p'(t) the mismatch of the new right-hand side with it: the new solution is p + d, where
 *
 *     d' = J d + g,  d = 0 at the beginning,    so that d^(k) = J^(k-1) g + J^(k-2) g' + ...
 *
 * up to what f's second derivatives contribute. h^k / k! d^(k) is to be added to row k.
 *
 * CORRECT_1, CORRECT_2: the rows 1 and 2 become h f and h^2 / 2 times the derivative of f along the new solution
 * (eq. 7.11-7.15; the second by one more evaluation of f instead of a Jacobian). CORRECT_ALL goes on with the mismatch
 * of the corrected polynomial: once rows 1 to k are right, it grows as s^k, and the factor gives row k + 1.
 *
 * These are right as long as h J is small. A stiff component makes rows of (h J)^k g, however small its part in g is, and
 * then all that was gained is lost in failed steps. So AUTO, which is the default, takes J into account. With
 * F = (I - gamma J)^-1, whose factors are at hand from the last step, and Q = I - F = -gamma J F,
 *
 *     J^m = (-1/gamma)^m  sum over i >= m of  binomial(i, m) Q^i F.
 *
 * Slow components have small Q: the sum, cut at i = q - 1, is J^m. For fast ones Q is nearly I, and the sum is bounded:
 * d becomes a (1 - L_q(s / gamma)), with the Laguerre polynomial L_q of degree q, where a = -g / J is all that the fast
 * component moves. (Norsett's restricted Pade approximations to exp are made of these; Hairer, Wanner, Solving ODEs II,
 * IV.6.) So a fast component that moves by less than the tolerance is passed over, as an implicit method should, and the
 * step is made shorter only for one that moves by more. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/bdf.h"

static const double probe = 0.25;          /* where the mismatch is looked at, in steps */
static const double difference = 1e-3;     /* for a derivative along the solution, in steps */
static const double not_worth_it = 0.2;    /* a move, in errors of a step */
static const double usual = 2;             /* ... or in moves that the next step would make anyway */
static const double fast_error = 2;        /* a fast component may move by this, in errors of a step */
static const double slow_error = 1;        /* a slow one contributes this to the error of later steps */
static const double predicted_error = 0.5; /* beyond this, J is not the one that it was */
static const double shrink = 0.2;
enum { MOST_SHRINKS = 20 };

enum tutti_err tutti_bdf_resume(struct tutti_solver *solver, double t)
{
    struct tutti_bdf *bdf = (struct tutti_bdf *)solver;
    struct tutti_bdf_memory *m = &bdf->m;
    struct tutti_nordsieck *array = &bdf->array;
    enum tutti_predictor predictor = solver->options.predictor;
    if (t < solver->t) {
        tutti_nordsieck_shift(array, array->z, (t - solver->t) / array->h);
        array->steps[0] = t - solver->before;
        if (!(array->steps[0] > 0)) /* the last step is undone */
            memmove(array->steps, array->steps + 1, sizeof array->steps - sizeof array->steps[0]);
        solver->t = t;
        m->next_order = array->order;
        m->e_scale = 0;
        m->wait = m->wait < 2 ? 2 : m->wait;
    }
    if (predictor == TUTTI_PREDICTOR_RESTART)
        return tutti_solver_restart(solver, t, array->z);
    m->correction = predictor;
    return TUTTI_OK;
}

/* delta = f - p' at s steps from the centre of the polynomial; dx = f there. */
static enum tutti_eval mismatch(struct tutti_bdf *bdf, const struct tutti_nordsieck *p, double s, double limit)
{
    double t = fmin(bdf->solver.t + s * p->h, limit);
    tutti_nordsieck_value(p, s, bdf->x);
    enum tutti_eval eval = tutti_solver_rhs(&bdf->solver, t, bdf->x, bdf->dx);
    if (eval != TUTTI_EVAL_OK)
        return eval;
    tutti_nordsieck_slope(p, s, bdf->delta);
    for (size_t i = 0; i < p->count; i++)
        bdf->delta[i] = bdf->dx[i] - bdf->delta[i] / p->h;
    return TUTTI_EVAL_OK;
}

static enum tutti_err fail_here(struct tutti_bdf *bdf, enum tutti_eval eval)
{
    size_t worst = tutti_solver_blame(&bdf->solver, bdf->array.z, bdf->x, bdf->dx);
    return tutti_solver_fail(&bdf->solver, eval, bdf->array.h, worst, "the derivatives have no value");
}

/* What was seen of steps gone by does not belong to the array any more. A corrected polynomial remembers no points that
 * it went through: even ones are as good as any. */
static void forget_steps(struct tutti_bdf *bdf)
{
    struct tutti_bdf_memory *m = &bdf->m;
    for (int i = 0; i < TUTTI_NORDSIECK_ROWS; i++)
        bdf->array.steps[i] = bdf->array.h;
    m->next_order = bdf->array.order;
    m->stretch = 1;
    m->e_scale = m->move = 0;
    m->wait = m->wait < 2 ? 2 : m->wait;
}

static void add(double *to, double factor, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += factor * from[i];
}

/* Eq. 7.15, after row 1: the derivative of f along the solution. dx is f. */
static enum tutti_eval correct_second(struct tutti_bdf *bdf, double limit)
{
    struct tutti_nordsieck *array = &bdf->array;
    double step = difference * array->h, *row = tutti_nordsieck_row(array, 2);
    for (size_t i = 0; i < array->count; i++)
        bdf->x[i] = array->z[i] + step * bdf->dx[i];
    memcpy(bdf->jump, bdf->dx, array->count * sizeof(double));
    enum tutti_eval eval = tutti_solver_rhs(&bdf->solver, fmin(bdf->solver.t + step, limit), bdf->x, bdf->dx);
    for (size_t i = 0; i < array->count && eval == TUTTI_EVAL_OK; i++)
        row[i] = array->h * array->h / 2 * (bdf->dx[i] - bdf->jump[i]) / step;
    return eval;
}

/* The first rows, as many as the predictor says. A row that cannot be corrected, as there is no value of f, stays. */
static enum tutti_err correct_rows(struct tutti_bdf *bdf, enum tutti_predictor predictor, double limit)
{
    struct tutti_nordsieck *array = &bdf->array;
    forget_steps(bdf);
    enum tutti_eval eval = mismatch(bdf, array, 0, limit);
    if (eval != TUTTI_EVAL_OK)
        return fail_here(bdf, eval);
    add(tutti_nordsieck_row(array, 1), array->h, bdf->delta, array->count);
    if (predictor == TUTTI_PREDICTOR_CORRECT_2 && array->order >= 2)
        eval = correct_second(bdf, limit);
    int last = predictor == TUTTI_PREDICTOR_CORRECT_ALL ? array->order : 1;
    for (int k = 1; k < last && eval == TUTTI_EVAL_OK; k++) {
        eval = mismatch(bdf, array, probe, limit);
        if (eval == TUTTI_EVAL_OK)
            add(tutti_nordsieck_row(array, k + 1), array->h / ((k + 1) * pow(probe, k)), bdf->delta, array->count);
    }
    return eval == TUTTI_EVAL_FAILED ? fail_here(bdf, eval) : TUTTI_OK;
}

/* F v, in place. */
static void filter(struct tutti_bdf *bdf, double *v)
{
    for (size_t i = 0; i < bdf->array.count; i++)
        v[i] /= bdf->m.gamma;
    tutti_lu_solve(bdf->lu, v, NULL);
}

static double binomial(int n, int k)
{
    double value = 1;
    for (int i = 1; i <= k; i++)
        value = value * (n - k + i) / i;
    return value;
}

/* Adds h^k / k! J^(k-1-late) g to each row k of `predicted`, and J^(q-late) g to `beyond`: what a derivative of g of
 * order `late` contributes to the derivatives of d. The sum over i is that of the head of this file. */
static void add_series(struct tutti_bdf *bdf, const double *g, int late)
{
    const struct tutti_nordsieck *array = &bdf->array;
    size_t n = array->count;
    int q = array->order, last = q - late;
    double *v = bdf->e;
    memcpy(v, g, n * sizeof *v);
    filter(bdf, v);
    for (int i = 0; i < last; i++) {
        double factor = 1; /* h^k / k! (-1/gamma)^m */
        for (int k = 1; k <= late; k++)
            factor *= array->h / k;
        for (int m = 0, k = late + 1; m <= i && k <= q; m++, k++) {
            factor *= array->h / k * (m > 0 ? -1 / bdf->m.gamma : 1);
            add(bdf->predicted + (size_t)k * n, factor * binomial(i, m), v, n);
        }
        memcpy(bdf->delta, v, n * sizeof *v);
        filter(bdf, bdf->delta);
        add(v, -1, bdf->delta, n);
    }
    add(bdf->beyond, pow(-1 / bdf->m.gamma, last), v, n);
}

/* The corrected polynomial, in `predicted`; how far fast components move, and what the others leave for later steps. */
static void filtered_polynomial(struct tutti_bdf *bdf, double error, double *fast, double *slow)
{
    const struct tutti_nordsieck *array = &bdf->array;
    size_t n = array->count;
    int q = array->order;
    memcpy(bdf->predicted, array->z, (size_t)(q + 1) * n * sizeof(double));
    memset(bdf->beyond, 0, n * sizeof(double));
    add_series(bdf, bdf->jump, 0);
    add_series(bdf, bdf->drift, 1);
    /* d^(q+1) tells what is missing. Steps that have the correction behind them see all of h^(q+1) d^(q+1) as their e;
     * of a fast component, a = gamma^(q+1) d^(q+1). */
    memcpy(bdf->delta, bdf->beyond, n * sizeof(double));
    filter(bdf, bdf->delta);
    add(bdf->beyond, -1, bdf->delta, n);
    *slow = error * pow(array->h, q + 1) * tutti_solver_norm(&bdf->solver, bdf->delta, array->z, NULL);
    *fast = error * pow(bdf->m.gamma, q + 1) * tutti_solver_norm(&bdf->solver, bdf->beyond, array->z, NULL);
}

/* How far J matters for the next step: d there, less what it would be without J. */
static double by_jacobian(struct tutti_bdf *bdf, double error)
{
    const struct tutti_nordsieck *array = &bdf->array;
    struct tutti_nordsieck corrected = *array;
    double h = array->h;
    corrected.z = bdf->predicted;
    tutti_nordsieck_value(&corrected, 1, bdf->delta);
    tutti_nordsieck_value(array, 1, bdf->x);
    add(bdf->delta, -1, bdf->x, array->count);
    add(bdf->delta, -h, bdf->jump, array->count);
    add(bdf->delta, -h * h / 2, bdf->drift, array->count);
    return error * tutti_solver_norm(&bdf->solver, bdf->delta, array->z, NULL);
}

/* The move of the next step that is still unforeseen, as Newton's method would see it first. */
static enum tutti_eval unforeseen(struct tutti_bdf *bdf, double error, double s, double limit, double *move)
{
    struct tutti_nordsieck corrected = bdf->array;
    corrected.z = bdf->predicted;
    enum tutti_eval eval = mismatch(bdf, &corrected, s, limit);
    *move = INFINITY;
    if (eval != TUTTI_EVAL_OK)
        return eval;
    tutti_lu_solve(bdf->lu, bdf->delta, NULL);
    *move = error * tutti_solver_norm(&bdf->solver, bdf->delta, bdf->array.z, NULL);
    return eval;
}

/* Another factorisation: with J as it is here and now, or, if that is what it was made of, for a shorter step. */
static enum tutti_err improve(struct tutti_bdf *bdf, enum tutti_bdf_outcome *outcome)
{
    struct tutti_nordsieck *array = &bdf->array;
    bool evaluate = bdf->m.jacobian_age > 0 || !bdf->m.has_jacobian;
    enum tutti_eval eval = TUTTI_EVAL_OK;
    if (!evaluate)
        tutti_nordsieck_rescale(array, shrink * array->h);
    forget_steps(bdf);
    struct tutti_nordsieck_step step;
    tutti_nordsieck_prepare(array, &step);
    memcpy(bdf->x, array->z, array->count * sizeof(double));
    for (size_t i = 0; i < array->count; i++)
        bdf->dx[i] = bdf->jump[i] + tutti_nordsieck_row(array, 1)[i] / array->h;
    TRY(tutti_bdf_set_up(bdf, bdf->solver.t, array->h / step.l[1], evaluate, outcome, &eval));
    return eval == TUTTI_EVAL_FAILED ? fail_here(bdf, eval) : TUTTI_OK;
}

/* How far the mismatch, as it is s steps ahead, moves the next step. An input whose slope alone has changed is seen only
 * ahead. */
static double move_by(struct tutti_bdf *bdf, double s)
{
    size_t n = bdf->array.count;
    memcpy(bdf->delta, bdf->jump, n * sizeof(double));
    add(bdf->delta, s * bdf->array.h, bdf->drift, n);
    tutti_lu_solve(bdf->lu, bdf->delta, NULL);
    return tutti_solver_norm(&bdf->solver, bdf->delta, bdf->array.z, NULL);
}

/* Is there anything to correct? A prediction is off with the right-hand side that it was made for, too: that is what the
 * step size is chosen by. Whoever takes this for news at every step forgets at every step what was before it, never gets
 * beyond order 1, and makes so many steps that their errors, each within the tolerance, add up to a wrong result. */
static bool is_news(struct tutti_bdf *bdf, double error)
{
    const struct tutti_nordsieck *array = &bdf->array;
    double move = fmax(move_by(bdf, 0), move_by(bdf, 1));
    if (error * move < not_worth_it)
        return false;
    return !(bdf->m.move > 0 && move <= usual * bdf->m.move * pow(array->h / bdf->m.move_h, array->order + 1));
}

static enum tutti_err correct_filtered(struct tutti_bdf *bdf, double limit)
{
    struct tutti_solver *solver = &bdf->solver;
    struct tutti_bdf_memory *m = &bdf->m;
    struct tutti_nordsieck *array = &bdf->array;
    size_t n = array->count;
    if (!m->has_lu) /* lost in a step that failed for good */
        return tutti_solver_restart(solver, solver->t, array->z);
    TRY(tutti_bdf_recover(bdf));
    enum tutti_eval eval = mismatch(bdf, array, 0, limit);
    if (eval != TUTTI_EVAL_OK)
        return fail_here(bdf, eval);
    memcpy(bdf->jump, bdf->delta, n * sizeof(double));
    eval = mismatch(bdf, array, probe, limit);
    if (eval == TUTTI_EVAL_FAILED)
        return fail_here(bdf, eval);
    for (size_t i = 0; i < n; i++)
        bdf->drift[i] = eval == TUTTI_EVAL_OK ? (bdf->delta[i] - bdf->jump[i]) / (probe * array->h) : 0;
    struct tutti_nordsieck_step step;
    tutti_nordsieck_prepare(array, &step);
    if (!is_news(bdf, step.error))
        return TUTTI_OK;

    forget_steps(bdf);
    enum tutti_bdf_outcome outcome = TUTTI_BDF_CONVERGED;
    double h = array->h;
    for (int k = 0; k < MOST_SHRINKS && outcome == TUTTI_BDF_CONVERGED; k++) {
        double fast, slow, move = 0;
        tutti_nordsieck_prepare(array, &step);
        filtered_polynomial(bdf, step.error, &fast, &slow);
        double factor = fmin(1, pow(slow_error / slow, 1.0 / (array->order + 1)));
        if (m->jacobian_age > 0 && fast <= fast_error && by_jacobian(bdf, step.error) > predicted_error)
            eval = unforeseen(bdf, step.error, factor, limit, &move);
        if (eval == TUTTI_EVAL_FAILED)
            return fail_here(bdf, eval);
        if (fast <= fast_error && move <= predicted_error) {
            memcpy(array->z + n, bdf->predicted + n, (size_t)array->order * n * sizeof(double));
            if (factor * array->h < h)
                m->next_h = factor * array->h;
            return TUTTI_OK;
        }
        TRY(improve(bdf, &outcome));
    }
    return tutti_solver_restart(solver, solver->t, array->z);
}

enum tutti_err tutti_bdf_correct(struct tutti_bdf *bdf, double limit)
{
    enum tutti_predictor predictor = bdf->m.correction;
    bdf->m.correction = TUTTI_PREDICTOR_PROCEED;
    tutti_nordsieck_rescale(&bdf->array, tutti_bdf_fit(bdf, limit, bdf->m.next_h, 1));
    return predictor == TUTTI_PREDICTOR_AUTO ? correct_filtered(bdf, limit) : correct_rows(bdf, predictor, limit);
}
