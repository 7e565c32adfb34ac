/* SPDX-License-Identifier: MIT */
/* bdf.c - backward differentiation formulas of orders 1 to 5 with error control by order and step size.
 *
 * The formulas are those of nordsieck.h. How orders and step sizes are chosen is the strategy of Byrne and Hindmarsh
 * (ACM TOMS 1, 1975) in the form that VODE and CVODE gave it (Brown, Byrne, Hindmarsh 1989; Hindmarsh and others,
 * SUNDIALS, ACM TOMS 31, 2005, section 2.1), with their constants, so that their experience applies. bdf_resume() is
 * new: see "Resuming" below. Step sizes are also chosen with regard to the next limit, so that no tiny step remains
 * before it; the step size proposed before the limit is used again after it.
 *
 * Invariants between two calls:
 * 1. array.z is the polynomial about solver->t, row 0 is the solution there; array.h is the size of the last step.
 * 2. A change of order or step size is only noted (next_order, next_h) and made by the next step: dense output and
 *    bdf_resume() see the polynomial of the step as it was.
 * 3. All that outlives a call is in m, array.z, e_before and jacobian.values: these are what save() saves. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/jacobian.h"
#include "solve/lu.h"
#include "solve/nordsieck.h"
#include "solve/solver.h"

/* All that the method remembers from step to step, but for vectors and matrices. Plain bytes: saved as they are. */
struct bdf_memory {
    double before, t; /* as in struct tt_solver; for save and restore */

    bool fresh;                   /* no step was made since the restart */
    enum tt_predictor correction; /* to be made before the next step; PROCEED: none */
    int order;                    /* of the array */
    double h, steps[TUTTI_NORDSIECK_ROWS];

    int next_order;
    double next_h;  /* proposed, regardless of the caller's limit */
    double stretch; /* the factor by which the next step may be longer without harm */
    int wait;       /* steps until another order is thought of */
    double growth;  /* bound of the next change of h */
    double e_scale; /* scale of the step of e_before; 0: e_before is unset */
    /* The norm of the last step's e, and the step's size; 0 if no step describes the array in its current state. */
    double move, move_h;

    double gamma;       /* h / l_1 of the factorisation */
    double order_gamma; /* that of the matrix by which the order of its rows was found */
    double rate;        /* of convergence of Newton's method, as seen last */
    bool has_jacobian, has_lu;
    unsigned jacobian_age, lu_age; /* in steps */
};

struct bdf {
    struct tt_solver solver;
    struct bdf_memory m;
    struct tt_nordsieck array;
    struct tt_jacobian jacobian;
    struct tt_lu *lu;
    bool lu_lost; /* by restore: to be made again of the same numbers */

    double *block;     /* holds all vectors: */
    double *predicted; /* rows, as array.z */
    double *e_before;  /* e of the step before; of the same order and right-hand side */
    /* Of the attempt at hand: x = predicted + e, f there, a correction of e; error weights are taken about scale_point. */
    double *e, *x, *dx, *delta, *scale_point;
    double *jump, *drift, *beyond; /* of bdf_resume() */
};

enum outcome { CONVERGED, DIVERGED, FAILED };
enum trust { TRUST, REFACTOR, REEVALUATE };

/* The implicit equation of a step, by Newton's method with matrices that are kept for as long as
 * they do (Brown, Byrne, Hindmarsh 1989, section 3; the constants are theirs).
 *
 * In the notation of nordsieck.h the slope at the end of the step is p' + l_1 e / h, so that e solves
 *
 *     r(e) = f(t, x + e) - p' - e / gamma = 0,    gamma = h / l_1,
 *
 * x being the prediction: an iteration adds delta with (I / gamma - J) delta = r(e). */

enum { MOST_ITERATIONS = 3, LU_AGE = 20, JACOBIAN_AGE = 50 };
static const double gamma_change = 0.3;       /* of relative size: factorise again */
static const double gamma_blame = 0.2;        /* less than this: it was not gamma that kept Newton from converging */
static const double rate_fade = 0.3;          /* of the rate seen in earlier iterations */
static const double divergence = 2;           /* of corrections */
static const double share_of_tolerance = 0.1; /* of the equation's error in that of the step */

static enum tutti_err bdf_factorise(struct bdf *bdf, double gamma, bool *singular)
{
    struct bdf_memory *m = &bdf->m;
    bdf->solver.counts.factorisations++;
    TRY(tt_lu_factor(bdf->lu, bdf->jacobian.values, 1 / gamma, 0, singular));
    if (tt_lu_reordered(bdf->lu))
        m->order_gamma = gamma;
    m->gamma = gamma;
    return TUTTI_OK;
}

/* Factorises I / gamma - J; `evaluate`: after an evaluation of J at (t, x), dx being f there. FAILED: no such matrix. */
static enum tutti_err bdf_set_up_matrix(struct bdf *bdf, double t, double gamma, bool evaluate, enum outcome *outcome,
                                        enum tt_eval *eval)
{
    struct bdf_memory *m = &bdf->m;
    *outcome = FAILED;
    if (evaluate || !m->has_lu)
        tt_lu_forget(bdf->lu);
    m->has_lu = false;
    if (evaluate) {
        m->has_jacobian = bdf->lu_lost = false;
        m->jacobian_age = 0;
        *eval = tt_jacobian_update(&bdf->jacobian, t, bdf->x, bdf->dx, bdf->array.h, &bdf->solver.counts);
        if (*eval != TUTTI_EVAL_OK)
            return TUTTI_OK;
        m->has_jacobian = true;
    }
    bool singular = false;
    TRY(bdf_factorise(bdf, gamma, &singular));
    m->has_lu = !singular;
    m->lu_age = 0;
    m->rate = 1;
    *outcome = singular ? FAILED : CONVERGED;
    return TUTTI_OK;
}

/* In the same order of rows, for the same bits. */
static enum tutti_err bdf_refactorise(struct bdf *bdf)
{
    double gamma = bdf->m.gamma;
    bool singular = false;
    if (!bdf->lu_lost)
        return TUTTI_OK;
    bdf->lu_lost = false;
    tt_lu_forget(bdf->lu);
    TRY(bdf_factorise(bdf, bdf->m.order_gamma, &singular));
    return gamma == bdf->m.order_gamma ? TUTTI_OK : bdf_factorise(bdf, gamma, &singular);
}

/* Iterates from the prediction. dx is f there. The convergence test is that of Brown, Byrne, Hindmarsh 1989: the next
 * correction would be below a share of the error that the step may have. */
static enum outcome bdf_iterate(struct bdf *bdf, double t, const struct tt_nordsieck_step *step, double gamma,
                                enum tt_eval *eval, size_t *worst)
{
    struct tt_solver *solver = &bdf->solver;
    struct bdf_memory *m = &bdf->m;
    size_t n = solver->ode->count;
    const double *slope = bdf->predicted + n; /* h p' */
    double ratio = gamma / m->gamma, damping = 2 * ratio / (1 + ratio), before = 0;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        if (k > 0)
            *eval = tt_solver_rhs(solver, t, bdf->x, bdf->dx);
        if (*eval != TUTTI_EVAL_OK)
            return FAILED;
        solver->counts.iterations++;
        for (size_t i = 0; i < n; i++)
            bdf->delta[i] = bdf->dx[i] - slope[i] / bdf->array.h - bdf->e[i] / gamma;
        tt_lu_solve(bdf->lu, bdf->delta, NULL);
        for (size_t i = 0; i < n; i++) {
            bdf->delta[i] *= damping;
            bdf->e[i] += bdf->delta[i];
            bdf->x[i] = bdf->predicted[i] + bdf->e[i];
        }
        double size = tt_solver_norm(solver, bdf->delta, bdf->scale_point, worst);
        if (k > 0)
            m->rate = fmax(rate_fade * m->rate, size / before);
        if (size * fmin(1, m->rate) * step->error <= share_of_tolerance)
            return CONVERGED;
        if (!isfinite(size) || (k > 0 && size > divergence * before))
            return DIVERGED;
        before = size;
    }
    return DIVERGED;
}

/* Solves for the step from the prediction to time t: leaves x, and e = x - predicted. `trust`: how far the current
 * matrices are trusted. *eval and *worst describe a failure. */
static enum tutti_err bdf_solve_step(struct bdf *bdf, double t, const struct tt_nordsieck_step *step, enum trust trust,
                                     enum outcome *outcome, enum tt_eval *eval, size_t *worst)
{
    struct tt_solver *solver = &bdf->solver;
    struct bdf_memory *m = &bdf->m;
    size_t bytes = solver->ode->count * sizeof(double);
    double gamma = bdf->array.h / step->l[1];
    bool due = trust != TRUST || !m->has_lu || m->lu_age >= LU_AGE || fabs(gamma / m->gamma - 1) > gamma_change;
    if (!m->has_jacobian || m->jacobian_age > JACOBIAN_AGE)
        trust = REEVALUATE;
    if (!due || trust != REEVALUATE)
        TRY(bdf_refactorise(bdf));
    for (;;) {
        memcpy(bdf->x, bdf->predicted, bytes);
        memset(bdf->e, 0, bytes);
        *outcome = FAILED;
        *eval = tt_solver_rhs(solver, t, bdf->x, bdf->dx);
        if (*eval != TUTTI_EVAL_OK)
            return TUTTI_OK;
        *outcome = CONVERGED;
        if (due)
            TRY(bdf_set_up_matrix(bdf, t, gamma, trust == REEVALUATE, outcome, eval));
        if (*outcome == CONVERGED)
            *outcome = bdf_iterate(bdf, t, step, gamma, eval, worst);
        if (*outcome == CONVERGED || *eval == TUTTI_EVAL_FAILED || m->jacobian_age == 0)
            return TUTTI_OK;
        /* Not with this J: once more with another one, unless it may have been gamma. */
        bool blame_jacobian = due || fabs(gamma / m->gamma - 1) < gamma_blame;
        trust = blame_jacobian ? REEVALUATE : REFACTOR;
        due = true;
    }
}

/* Resuming after a change of the right-hand side (inputs changed, Andersson 2016 chapter 7).
 *
 * The states remain; their derivatives, and so the rows of the array, do not. Let p be the old polynomial and g(t) =
 * f(t, p(t)) - p'(t) the mismatch of the new right-hand side with it: the new solution is p + d, where
 *
 *     d' = J d + g,  d = 0 at the beginning,    so that d^(k) = J^(k-1) g + J^(k-2) g' + ...
 *
 * up to what f's second derivatives contribute. h^k / k! d^(k) is to be added to row k.
 *
 * CORRECT_1, CORRECT_2: the rows 1 and 2 become h f and h^2 / 2 times the derivative of f along the new solution (eq.
 * 7.11-7.15; the second by one more evaluation of f instead of a Jacobian). CORRECT_ALL continues with the mismatch of
 * the corrected polynomial: once rows 1 to k are right, it grows as s^k, and the factor gives row k + 1.
 *
 * These are right as long as h J is small. A stiff component makes rows of (h J)^k g, however small its part in g is,
 * and then all that was gained is lost in failed steps. So AUTO, which is the default, takes J into account. With F =
 * (I - gamma J)^-1, whose factors are available from the last step, and Q = I - F = -gamma J F,
 *
 *     J^m = (-1/gamma)^m  sum over i >= m of  binomial(i, m) Q^i F.
 *
 * Slow components have small Q: the sum, cut at i = q - 1, is J^m. For fast ones Q is nearly I, and the sum is bounded:
 * d becomes a (1 - L_q(s / gamma)), with the Laguerre polynomial L_q of degree q, where a = -g / J is the total
 * displacement of the fast component. (Norsett's restricted Pade approximations to exp are made of these; Hairer,
 * Wanner, Solving ODEs II, IV.6.) So a fast component that moves by less than the tolerance is skipped, as expected of
 * an implicit method; the step is shortened only if one moves by more. */

static const double probe = 0.25;          /* where the mismatch is looked at, in steps */
static const double difference = 1e-3;     /* for a derivative along the solution, in steps */
static const double not_worth_it = 0.2;    /* a move, in errors of a step */
static const double usual = 2;             /* ... or in moves that the next step would make anyway */
static const double fast_error = 2;        /* a fast component may move by this, in errors of a step */
static const double slow_error = 1;        /* a slow one contributes this to the error of later steps */
static const double predicted_error = 0.5; /* beyond this, J is not the one that it was */
static const double shrink = 0.2;
enum { MOST_SHRINKS = 20 };

/* bdf_resume() of the vtable: notes what bdf_correct() has to do. */
static enum tutti_err bdf_resume(struct tt_solver *solver, double t)
{
    struct bdf *bdf = (struct bdf *)solver;
    struct bdf_memory *m = &bdf->m;
    struct tt_nordsieck *array = &bdf->array;
    enum tt_predictor predictor = solver->options.predictor;
    if (t < solver->t) {
        tt_nordsieck_shift(array, array->z, (t - solver->t) / array->h);
        array->steps[0] = t - solver->before;
        if (!(array->steps[0] > 0)) /* the last step is undone */
            memmove(array->steps, array->steps + 1, sizeof array->steps - sizeof array->steps[0]);
        solver->t = t;
        m->next_order = array->order;
        m->e_scale = 0;
        m->wait = m->wait < 2 ? 2 : m->wait;
    }
    if (predictor == TUTTI_PREDICTOR_RESTART)
        return tt_solver_begin(solver, t, array->z);
    m->correction = predictor;
    return TUTTI_OK;
}

/* delta = f - p' at s steps from the centre of the polynomial; dx = f there. */
static enum tt_eval bdf_mismatch(struct bdf *bdf, const struct tt_nordsieck *p, double s, double limit)
{
    double t = fmin(bdf->solver.t + s * p->h, limit);
    tt_nordsieck_value(p, s, bdf->x);
    enum tt_eval eval = tt_solver_rhs(&bdf->solver, t, bdf->x, bdf->dx);
    if (eval != TUTTI_EVAL_OK)
        return eval;
    tt_nordsieck_slope(p, s, bdf->delta);
    for (size_t i = 0; i < p->count; i++)
        bdf->delta[i] = bdf->dx[i] - bdf->delta[i] / p->h;
    return TUTTI_EVAL_OK;
}

static enum tutti_err bdf_fail_at_point(struct bdf *bdf, enum tt_eval eval)
{
    size_t worst = tt_solver_blame(&bdf->solver, bdf->array.z, bdf->x, bdf->dx);
    return tt_solver_fail(&bdf->solver, eval, bdf->array.h, worst, "the derivatives have no value");
}

/* Discards the history of earlier steps, which does not describe the array any more. A corrected polynomial has no past
 * interpolation points; evenly spaced ones serve as well as any. */
static void bdf_clear_history(struct bdf *bdf)
{
    struct bdf_memory *m = &bdf->m;
    for (int i = 0; i < TUTTI_NORDSIECK_ROWS; i++)
        bdf->array.steps[i] = bdf->array.h;
    m->next_order = bdf->array.order;
    m->stretch = 1;
    m->e_scale = m->move = 0;
    m->wait = m->wait < 2 ? 2 : m->wait;
}

static void bdf_add_scaled(double *to, double factor, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += factor * from[i];
}

/* Eq. 7.15, after row 1: the derivative of f along the solution. dx is f. */
static enum tt_eval bdf_correct_second(struct bdf *bdf, double limit)
{
    struct tt_nordsieck *array = &bdf->array;
    double step = difference * array->h, *row = tt_nordsieck_row(array, 2);
    for (size_t i = 0; i < array->count; i++)
        bdf->x[i] = array->z[i] + step * bdf->dx[i];
    memcpy(bdf->jump, bdf->dx, array->count * sizeof(double));
    enum tt_eval eval = tt_solver_rhs(&bdf->solver, fmin(bdf->solver.t + step, limit), bdf->x, bdf->dx);
    for (size_t i = 0; i < array->count && eval == TUTTI_EVAL_OK; i++)
        row[i] = array->h * array->h / 2 * (bdf->dx[i] - bdf->jump[i]) / step;
    return eval;
}

/* Corrects the first rows, as many as the predictor prescribes. A row without a value of f is kept. */
static enum tutti_err bdf_correct_rows(struct bdf *bdf, enum tt_predictor predictor, double limit)
{
    struct tt_nordsieck *array = &bdf->array;
    bdf_clear_history(bdf);
    enum tt_eval eval = bdf_mismatch(bdf, array, 0, limit);
    if (eval != TUTTI_EVAL_OK)
        return bdf_fail_at_point(bdf, eval);
    bdf_add_scaled(tt_nordsieck_row(array, 1), array->h, bdf->delta, array->count);
    if (predictor == TUTTI_PREDICTOR_CORRECT_2 && array->order >= 2)
        eval = bdf_correct_second(bdf, limit);
    int last = predictor == TUTTI_PREDICTOR_CORRECT_ALL ? array->order : 1;
    for (int k = 1; k < last && eval == TUTTI_EVAL_OK; k++) {
        eval = bdf_mismatch(bdf, array, probe, limit);
        if (eval == TUTTI_EVAL_OK)
            bdf_add_scaled(tt_nordsieck_row(array, k + 1), array->h / ((k + 1) * pow(probe, k)), bdf->delta,
                           array->count);
    }
    return eval == TUTTI_EVAL_FAILED ? bdf_fail_at_point(bdf, eval) : TUTTI_OK;
}

/* F v, in place. */
static void bdf_filter_vector(struct bdf *bdf, double *v)
{
    for (size_t i = 0; i < bdf->array.count; i++)
        v[i] /= bdf->m.gamma;
    tt_lu_solve(bdf->lu, v, NULL);
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
static void bdf_add_series(struct bdf *bdf, const double *g, int late)
{
    const struct tt_nordsieck *array = &bdf->array;
    size_t n = array->count;
    int q = array->order, last = q - late;
    double *v = bdf->e;
    memcpy(v, g, n * sizeof *v);
    bdf_filter_vector(bdf, v);
    for (int i = 0; i < last; i++) {
        double factor = 1; /* h^k / k! (-1/gamma)^m */
        for (int k = 1; k <= late; k++)
            factor *= array->h / k;
        for (int m = 0, k = late + 1; m <= i && k <= q; m++, k++) {
            factor *= array->h / k * (m > 0 ? -1 / bdf->m.gamma : 1);
            bdf_add_scaled(bdf->predicted + (size_t)k * n, factor * binomial(i, m), v, n);
        }
        memcpy(bdf->delta, v, n * sizeof *v);
        bdf_filter_vector(bdf, bdf->delta);
        bdf_add_scaled(v, -1, bdf->delta, n);
    }
    bdf_add_scaled(bdf->beyond, pow(-1 / bdf->m.gamma, last), v, n);
}

/* Computes the corrected polynomial in `predicted`, how far fast components move, and the remainder for later steps. */
static void bdf_filtered_polynomial(struct bdf *bdf, double error, double *fast, double *slow)
{
    const struct tt_nordsieck *array = &bdf->array;
    size_t n = array->count;
    int q = array->order;
    memcpy(bdf->predicted, array->z, (size_t)(q + 1) * n * sizeof(double));
    memset(bdf->beyond, 0, n * sizeof(double));
    bdf_add_series(bdf, bdf->jump, 0);
    bdf_add_series(bdf, bdf->drift, 1);
    /* d^(q+1) is the missing term. Steps after the correction see all of h^(q+1) d^(q+1) as their e; of a fast
     * component, a = gamma^(q+1) d^(q+1). */
    memcpy(bdf->delta, bdf->beyond, n * sizeof(double));
    bdf_filter_vector(bdf, bdf->delta);
    bdf_add_scaled(bdf->beyond, -1, bdf->delta, n);
    *slow = error * pow(array->h, q + 1) * tt_solver_norm(&bdf->solver, bdf->delta, array->z, NULL);
    *fast = error * pow(bdf->m.gamma, q + 1) * tt_solver_norm(&bdf->solver, bdf->beyond, array->z, NULL);
}

/* How far J matters for the next step: d there, less what it would be without J. */
static double bdf_jacobian_effect(struct bdf *bdf, double error)
{
    const struct tt_nordsieck *array = &bdf->array;
    struct tt_nordsieck corrected = *array;
    double h = array->h;
    corrected.z = bdf->predicted;
    tt_nordsieck_value(&corrected, 1, bdf->delta);
    tt_nordsieck_value(array, 1, bdf->x);
    bdf_add_scaled(bdf->delta, -1, bdf->x, array->count);
    bdf_add_scaled(bdf->delta, -h, bdf->jump, array->count);
    bdf_add_scaled(bdf->delta, -h * h / 2, bdf->drift, array->count);
    return error * tt_solver_norm(&bdf->solver, bdf->delta, array->z, NULL);
}

/* The move of the next step that is still unforeseen, as Newton's method would see it first. */
static enum tt_eval bdf_unpredicted_move(struct bdf *bdf, double error, double s, double limit, double *move)
{
    struct tt_nordsieck corrected = bdf->array;
    corrected.z = bdf->predicted;
    enum tt_eval eval = bdf_mismatch(bdf, &corrected, s, limit);
    *move = INFINITY;
    if (eval != TUTTI_EVAL_OK)
        return eval;
    tt_lu_solve(bdf->lu, bdf->delta, NULL);
    *move = error * tt_solver_norm(&bdf->solver, bdf->delta, bdf->array.z, NULL);
    return eval;
}

/* Another factorisation: with J as it is here and now, or, if that is what it was made of, for a shorter step. */
static enum tutti_err bdf_improve_matrix(struct bdf *bdf, enum outcome *outcome)
{
    struct tt_nordsieck *array = &bdf->array;
    bool evaluate = bdf->m.jacobian_age > 0 || !bdf->m.has_jacobian;
    enum tt_eval eval = TUTTI_EVAL_OK;
    if (!evaluate)
        tt_nordsieck_rescale(array, shrink * array->h);
    bdf_clear_history(bdf);
    struct tt_nordsieck_step step;
    tt_nordsieck_prepare(array, &step);
    memcpy(bdf->x, array->z, array->count * sizeof(double));
    for (size_t i = 0; i < array->count; i++)
        bdf->dx[i] = bdf->jump[i] + tt_nordsieck_row(array, 1)[i] / array->h;
    TRY(bdf_set_up_matrix(bdf, bdf->solver.t, array->h / step.l[1], evaluate, outcome, &eval));
    return eval == TUTTI_EVAL_FAILED ? bdf_fail_at_point(bdf, eval) : TUTTI_OK;
}

/* Returns how far the mismatch s steps ahead moves the next step. A changed slope of an input is seen only ahead. */
static double bdf_mismatch_move(struct bdf *bdf, double s)
{
    size_t n = bdf->array.count;
    memcpy(bdf->delta, bdf->jump, n * sizeof(double));
    bdf_add_scaled(bdf->delta, s * bdf->array.h, bdf->drift, n);
    tt_lu_solve(bdf->lu, bdf->delta, NULL);
    return tt_solver_norm(&bdf->solver, bdf->delta, bdf->array.z, NULL);
}

/* Returns true if a correction is needed. A prediction is inexact even without a change of the right-hand side: the
 * step size is chosen by that error. A method that treats it as a change discards its history at every step, stays at
 * order 1, and makes steps in such number that their errors, each within the tolerance, add up to a wrong result. */
static bool bdf_needs_correction(struct bdf *bdf, double error)
{
    const struct tt_nordsieck *array = &bdf->array;
    double move = fmax(bdf_mismatch_move(bdf, 0), bdf_mismatch_move(bdf, 1));
    if (error * move < not_worth_it)
        return false;
    return !(bdf->m.move > 0 && move <= usual * bdf->m.move * pow(array->h / bdf->m.move_h, array->order + 1));
}

static enum tutti_err bdf_correct_filtered(struct bdf *bdf, double limit)
{
    struct tt_solver *solver = &bdf->solver;
    struct bdf_memory *m = &bdf->m;
    struct tt_nordsieck *array = &bdf->array;
    size_t n = array->count;
    if (!m->has_lu) /* lost in a step that failed for good */
        return tt_solver_begin(solver, solver->t, array->z);
    TRY(bdf_refactorise(bdf));
    enum tt_eval eval = bdf_mismatch(bdf, array, 0, limit);
    if (eval != TUTTI_EVAL_OK)
        return bdf_fail_at_point(bdf, eval);
    memcpy(bdf->jump, bdf->delta, n * sizeof(double));
    eval = bdf_mismatch(bdf, array, probe, limit);
    if (eval == TUTTI_EVAL_FAILED)
        return bdf_fail_at_point(bdf, eval);
    for (size_t i = 0; i < n; i++)
        bdf->drift[i] = eval == TUTTI_EVAL_OK ? (bdf->delta[i] - bdf->jump[i]) / (probe * array->h) : 0;
    struct tt_nordsieck_step step;
    tt_nordsieck_prepare(array, &step);
    if (!bdf_needs_correction(bdf, step.error))
        return TUTTI_OK;

    bdf_clear_history(bdf);
    enum outcome outcome = CONVERGED;
    double h = array->h;
    for (int k = 0; k < MOST_SHRINKS && outcome == CONVERGED; k++) {
        double fast, slow, move = 0;
        tt_nordsieck_prepare(array, &step);
        bdf_filtered_polynomial(bdf, step.error, &fast, &slow);
        double factor = fmin(1, pow(slow_error / slow, 1.0 / (array->order + 1)));
        if (m->jacobian_age > 0 && fast <= fast_error && bdf_jacobian_effect(bdf, step.error) > predicted_error)
            eval = bdf_unpredicted_move(bdf, step.error, factor, limit, &move);
        if (eval == TUTTI_EVAL_FAILED)
            return bdf_fail_at_point(bdf, eval);
        if (fast <= fast_error && move <= predicted_error) {
            memcpy(array->z + n, bdf->predicted + n, (size_t)array->order * n * sizeof(double));
            if (factor * array->h < h)
                m->next_h = factor * array->h;
            return TUTTI_OK;
        }
        TRY(bdf_improve_matrix(bdf, &outcome));
    }
    return tt_solver_begin(solver, solver->t, array->z);
}

/* Prefers two equal steps to a long and a short one, or takes the whole remainder if the error allows it. */
static double bdf_fit_to_limit(const struct bdf *bdf, double limit, double wanted, double stretch)
{
    double t = bdf->solver.t, rest = limit - t;
    if (tt_solver_at_limit(t, wanted, limit) || rest <= wanted * stretch)
        return rest;
    return rest < 2 * wanted ? rest / 2 : wanted;
}

/* The second half of bdf_resume(), at the beginning of the next step, when it is known how far f may be evaluated. May restart. */
static enum tutti_err bdf_correct(struct bdf *bdf, double limit)
{
    enum tt_predictor predictor = bdf->m.correction;
    bdf->m.correction = TUTTI_PREDICTOR_PROCEED;
    tt_nordsieck_rescale(&bdf->array, bdf_fit_to_limit(bdf, limit, bdf->m.next_h, 1));
    return predictor == TUTTI_PREDICTOR_AUTO ? bdf_correct_filtered(bdf, limit)
                                             : bdf_correct_rows(bdf, predictor, limit);
}

enum {
    FAILURES_MANY = 2,     /* error failures in one step: be careful */
    FAILURES_TO_LOWER = 3, /* restart the history with a lower order */
    FAILURES_MOST = 40,
    WAIT_AFTER_TROUBLE = 10
};
static const double bias = 6, bias_up = 10; /* estimated errors are taken for larger than they are */
static const double addend = 1e-6;          /* and never for 0 */
static const double change_at_least = 1.5;  /* a smaller growth of h is not worth a factorisation */
static const double growth_first = 1e4, growth_later = 10;
static const double shrink_most = 0.1, shrink_after_many = 0.2, shrink_divergence = 0.25;

static void *bdf_take_vectors(double **free_part, size_t count)
{
    double *part = *free_part;
    *free_part += count;
    return part;
}

static size_t bdf_jacobian_entries(const struct bdf *bdf)
{
    size_t n = bdf->solver.ode->count;
    return bdf->jacobian.sparse ? tt_pattern_entries(tt_jacobian_pattern(&bdf->jacobian)) : n * n;
}

static enum tutti_err bdf_start(struct tt_solver *solver)
{
    struct bdf *bdf = (struct bdf *)solver;
    size_t n = solver->ode->count, rows = TUTTI_NORDSIECK_ROWS * n;
    bdf->block = calloc(2 * rows + 9 * n, sizeof *bdf->block);
    if (!bdf->block)
        return tt_fail_memory();
    double *rest = bdf->block;
    bdf->array.count = n;
    bdf->array.z = bdf_take_vectors(&rest, rows);
    bdf->predicted = bdf_take_vectors(&rest, rows);
    bdf->e_before = bdf_take_vectors(&rest, n);
    bdf->e = bdf_take_vectors(&rest, n);
    bdf->x = bdf_take_vectors(&rest, n);
    bdf->dx = bdf_take_vectors(&rest, n);
    bdf->delta = bdf_take_vectors(&rest, n);
    bdf->scale_point = bdf_take_vectors(&rest, n);
    bdf->jump = bdf_take_vectors(&rest, n);
    bdf->drift = bdf_take_vectors(&rest, n);
    bdf->beyond = bdf_take_vectors(&rest, n);
    TRY(tt_jacobian_init(&bdf->jacobian, solver->ode, solver->options.jacobian));
    return tt_lu_new(&bdf->lu, n, bdf->jacobian.sparse ? tt_jacobian_pattern(&bdf->jacobian) : NULL, false);
}

static void bdf_finish(struct tt_solver *solver)
{
    struct bdf *bdf = (struct bdf *)solver;
    tt_lu_free(bdf->lu);
    tt_jacobian_fini(&bdf->jacobian);
    free(bdf->block);
}

static enum tutti_err bdf_restart(struct tt_solver *solver, double t, const double *x)
{
    (void)t;
    struct bdf *bdf = (struct bdf *)solver;
    bdf->m = (struct bdf_memory){.fresh = true, .correction = TUTTI_PREDICTOR_PROCEED};
    bdf->array.order = 1;
    memset(bdf->array.steps, 0, sizeof bdf->array.steps);
    memmove(bdf->array.z, x, solver->ode->count * sizeof *x);
    return TUTTI_OK;
}

/* h for which ||h^2 / 2 x''|| would be the whole tolerance, times 1/2: the first step of order 1. x'' comes from
 * differences of f over a step that is improved along with h. dx is f at t. */
static enum tutti_err bdf_first_step(struct bdf *bdf, double limit, double *out)
{
    struct tt_solver *solver = &bdf->solver;
    const struct tt_ode *ode = solver->ode;
    size_t n = ode->count;
    double t = solver->t, rest = limit - t, most = 0.1 * rest;
    double least = fmin(100 * DBL_EPSILON * fmax(fabs(t), fabs(limit)), rest);
    if (solver->options.h_first > 0) {
        *out = fmin(solver->options.h_first, rest);
        return TUTTI_OK;
    }
    for (size_t i = 0; i < n; i++) { /* no state moves by more than a tenth */
        double room = 0.1 * fabs(bdf->array.z[i]) + tt_ode_tolerance(ode, i, bdf->array.z[i]);
        if (fabs(bdf->dx[i]) * most > room)
            most = room / fabs(bdf->dx[i]);
    }
    if (most <= least) {
        *out = least;
        return TUTTI_OK;
    }
    double h = sqrt(least * most);
    for (int k = 0, lost = 0; k < 4 && lost < 20;) {
        for (size_t i = 0; i < n; i++)
            bdf->x[i] = bdf->array.z[i] + h * bdf->dx[i];
        enum tt_eval eval = tt_solver_rhs(solver, t + h, bdf->x, bdf->delta);
        if (eval == TUTTI_EVAL_FAILED)
            return tt_solver_fail(solver, eval, h, SIZE_MAX, "");
        if (eval == TUTTI_EVAL_NO_VALUE) {
            h *= 0.2;
            most = fmin(most, h);
            lost++;
            continue;
        }
        for (size_t i = 0; i < n; i++)
            bdf->delta[i] = (bdf->delta[i] - bdf->dx[i]) / h;
        double bend = tt_solver_norm(solver, bdf->delta, bdf->array.z, NULL);
        double better = bend * most * most > 2 ? sqrt(2 / bend) : sqrt(h * most), ratio = better / h;
        if (k >= 2 && ratio > 2) /* rounding errors have taken over */
            break;
        h = better;
        k++;
        if (ratio > 0.5 && ratio < 2)
            break;
    }
    *out = fmin(fmax(0.5 * h, least), most);
    return TUTTI_OK;
}

static double bdf_bounded_step(const struct tt_solver *solver, double h)
{
    return solver->options.h_max > 0 ? fmin(h, solver->options.h_max) : h;
}

static enum tutti_err bdf_begin(struct bdf *bdf, double limit)
{
    struct tt_solver *solver = &bdf->solver;
    size_t n = solver->ode->count;
    enum tt_eval eval = tt_solver_rhs(solver, solver->t, bdf->array.z, bdf->dx);
    if (eval != TUTTI_EVAL_OK)
        return tt_solver_fail(solver, eval, 0, tt_solver_blame(solver, bdf->array.z, bdf->array.z, bdf->dx),
                              "the derivatives have no value");
    double h = 0;
    TRY(bdf_first_step(bdf, limit, &h));
    struct bdf_memory *m = &bdf->m;
    bdf->array.h = h;
    for (size_t i = 0; i < n; i++)
        tt_nordsieck_row(&bdf->array, 1)[i] = h * bdf->dx[i];
    m->fresh = false;
    m->next_order = 1;
    m->next_h = bdf_bounded_step(solver, h);
    m->stretch = 1;
    m->wait = 2;
    m->growth = growth_first;
    m->e_scale = 0;
    return TUTTI_OK;
}

static void bdf_change_order(struct bdf *bdf, int order)
{
    if (order == bdf->array.order)
        return;
    if (order > bdf->array.order)
        tt_nordsieck_raise(&bdf->array, bdf->e_before);
    else
        tt_nordsieck_lower(&bdf->array);
    bdf->m.wait = order + 1;
    bdf->m.next_order = order;
}

struct bdf_attempt {
    double wanted, stretch;
    int error_failures, failures;
    bool erred; /* the last failure was one of the error test */
    enum trust trust;
    struct tt_nordsieck_step step;
    double error; /* of the last one, in tolerances */
    size_t worst;
    enum tt_eval eval;
};

static enum tutti_err bdf_fail_step(struct bdf *bdf, const struct bdf_attempt *a)
{
    const char *why = a->eval == TUTTI_EVAL_NO_VALUE ? "the derivatives have no value however small the step is"
                      : !a->failures                 ? "the next step is lost in the rounding of time"
                      : a->erred                     ? "the error test fails however small the step is"
                                                     : "Newton's method does not converge however small the step is";
    size_t worst = a->eval == TUTTI_EVAL_NO_VALUE ? tt_solver_blame(&bdf->solver, bdf->array.z, bdf->x, bdf->dx)
                                                  : a->worst;
    return tt_solver_fail(&bdf->solver, a->eval, bdf->array.h, worst, why);
}

static enum tutti_err bdf_handle_error(struct bdf *bdf, struct bdf_attempt *a)
{
    struct tt_solver *solver = &bdf->solver;
    struct bdf_memory *m = &bdf->m;
    struct tt_nordsieck *array = &bdf->array;
    solver->counts.error_failures++;
    m->growth = 1;
    a->erred = true;
    a->trust = REFACTOR;
    if (++a->failures > FAILURES_MOST)
        return bdf_fail_step(bdf, a);
    if (++a->error_failures <= FAILURES_TO_LOWER) {
        double factor = fmax(shrink_most, 1 / (pow(bias * a->error, 1.0 / (array->order + 1)) + addend));
        if (a->error_failures >= FAILURES_MANY)
            factor = fmin(factor, shrink_after_many);
        a->wanted = factor * array->h;
        return TUTTI_OK;
    }
    a->wanted = shrink_most * array->h;
    if (array->order > 1) {
        bdf_change_order(bdf, array->order - 1);
        return TUTTI_OK;
    }
    /* Order 1, and still the past is to blame: take nothing but f from here. */
    a->eval = tt_solver_rhs(solver, solver->t, array->z, bdf->dx);
    if (a->eval != TUTTI_EVAL_OK)
        return bdf_fail_step(bdf, a);
    for (size_t i = 0; i < array->count; i++)
        tt_nordsieck_row(array, 1)[i] = array->h * bdf->dx[i];
    m->wait = WAIT_AFTER_TROUBLE;
    return TUTTI_OK;
}

static enum tutti_err bdf_attempt_step(struct bdf *bdf, double limit, struct bdf_attempt *a)
{
    struct tt_solver *solver = &bdf->solver;
    struct tt_nordsieck *array = &bdf->array;
    for (;;) {
        double h = bdf_fit_to_limit(bdf, limit, a->wanted, a->failures ? 1 : a->stretch);
        tt_nordsieck_rescale(array, h);
        if (!(solver->t + h > solver->t))
            return bdf_fail_step(bdf, a);
        tt_nordsieck_prepare(array, &a->step);
        memcpy(bdf->predicted, array->z, (size_t)(array->order + 1) * array->count * sizeof(double));
        tt_nordsieck_shift(array, bdf->predicted, 1);
        enum outcome outcome;
        double t = h == limit - solver->t ? limit : solver->t + h;
        TRY(bdf_solve_step(bdf, t, &a->step, a->trust, &outcome, &a->eval, &a->worst));
        if (outcome != CONVERGED) {
            if (a->eval == TUTTI_EVAL_FAILED)
                return bdf_fail_step(bdf, a);
            solver->counts.other_failures++;
            bdf->m.growth = 1;
            a->erred = false;
            a->trust = REEVALUATE;
            a->wanted = shrink_divergence * array->h;
            if (++a->failures > FAILURES_MOST)
                return bdf_fail_step(bdf, a);
            continue;
        }
        a->error = tt_solver_norm(solver, bdf->e, bdf->scale_point, &a->worst) * a->step.error;
        if (a->error <= 1) {
            solver->before = solver->t;
            solver->t = t;
            return TUTTI_OK;
        }
        TRY(bdf_handle_error(bdf, a));
    }
}

static int bdf_highest_order(const struct bdf *bdf)
{
    int most = bdf->solver.options.max_order;
    return most > 0 ? most : TUTTI_NORDSIECK_ORDER;
}

static double bdf_step_factor(double error, double its_bias, int order)
{
    return 1 / (pow(its_bias * error, 1.0 / (order + 1)) + addend);
}

/* The factors by which h could change with order q - 1 and q + 1; 0: no such order. */
static double bdf_factor_down(const struct bdf *bdf, const struct bdf_attempt *a)
{
    int q = bdf->array.order;
    if (q == 1)
        return 0;
    double size = tt_solver_norm(&bdf->solver, tt_nordsieck_row(&bdf->array, q), bdf->scale_point, NULL);
    return bdf_step_factor(size * a->step.error_down, bias, q - 1);
}

static double bdf_factor_up(struct bdf *bdf, const struct bdf_attempt *a)
{
    int q = bdf->array.order;
    if (q == bdf_highest_order(bdf) || bdf->m.e_scale == 0)
        return 0;
    double growth = a->step.scale / bdf->m.e_scale * pow(bdf->array.steps[0] / bdf->array.steps[1], q + 1);
    for (size_t i = 0; i < bdf->array.count; i++)
        bdf->delta[i] = bdf->e[i] - growth * bdf->e_before[i];
    double size = tt_solver_norm(&bdf->solver, bdf->delta, bdf->scale_point, NULL);
    return bdf_step_factor(size * a->step.error_up, bias_up, q + 1);
}

/* Order and size of the next step, after a good one of size array.h; a->wanted is what it would have been. */
static void bdf_plan_next(struct bdf *bdf, const struct bdf_attempt *a)
{
    struct bdf_memory *m = &bdf->m;
    struct tt_nordsieck *array = &bdf->array;
    double h = array->h, wanted = a->wanted;
    m->next_order = array->order;
    m->next_h = fmin(h, wanted);
    m->stretch = 1;
    m->move = a->error / a->step.error;
    m->move_h = h;
    m->wait--;
    if (m->wait == 1 && array->order < bdf_highest_order(bdf)) {
        memcpy(bdf->e_before, bdf->e, array->count * sizeof(double));
        m->e_scale = a->step.scale;
    }
    double same = bdf_step_factor(a->error, bias, array->order);
    if (m->growth == 1) { /* there was trouble */
        m->wait = m->wait < 2 ? 2 : m->wait;
    } else {
        double best = same;
        if (m->wait <= 0) {
            m->wait = 2;
            double down = bdf_factor_down(bdf, a), up = bdf_factor_up(bdf, a);
            best = fmax(same, fmax(down, up));
            if (best >= change_at_least && best > same)
                m->next_order = best == down ? array->order - 1 : array->order + 1;
            if (m->next_order > array->order)
                memcpy(bdf->e_before, bdf->e, array->count * sizeof(double));
        }
        if (best >= change_at_least)
            m->next_h = h * fmin(best, m->growth);
        else
            m->stretch = fmax(1, same);
    }
    if (h < wanted && m->next_order == array->order) /* only cut to fit */
        m->next_h = fmax(m->next_h, fmin(wanted, h * same));
    m->next_h = bdf_bounded_step(&bdf->solver, m->next_h);
    m->stretch = bdf_bounded_step(&bdf->solver, m->stretch * m->next_h) / m->next_h;
    m->growth = growth_later;
}

static enum tutti_err bdf_step(struct tt_solver *solver, double limit, double *x)
{
    struct bdf *bdf = (struct bdf *)solver;
    struct bdf_memory *m = &bdf->m;
    size_t bytes = solver->ode->count * sizeof *x;
    if (m->correction != TUTTI_PREDICTOR_PROCEED)
        TRY(bdf_correct(bdf, limit));
    if (m->fresh)
        TRY(bdf_begin(bdf, limit));
    bdf_change_order(bdf, m->next_order);
    memcpy(bdf->scale_point, bdf->array.z, bytes);
    struct bdf_attempt a = {.wanted = m->next_h, .stretch = m->stretch, .trust = TRUST, .worst = SIZE_MAX};
    TRY(bdf_attempt_step(bdf, limit, &a));
    tt_nordsieck_accept(&bdf->array, bdf->predicted, bdf->e, &a.step);
    memcpy(x, bdf->array.z, bytes);
    solver->counts.steps++;
    m->jacobian_age++;
    m->lu_age++;
    bdf_plan_next(bdf, &a);
    return TUTTI_OK;
}

static enum tutti_err bdf_interpolate(struct tt_solver *solver, double t, double *x)
{
    struct bdf *bdf = (struct bdf *)solver;
    if (t == solver->t)
        memcpy(x, bdf->array.z, solver->ode->count * sizeof *x);
    else
        tt_nordsieck_value(&bdf->array, (t - solver->t) / bdf->array.h, x);
    return TUTTI_OK;
}

static size_t bdf_saved_size(const struct tt_solver *solver)
{
    const struct bdf *bdf = (const struct bdf *)solver;
    return sizeof bdf->m +
           ((TUTTI_NORDSIECK_ROWS + 1) * solver->ode->count + bdf_jacobian_entries(bdf)) * sizeof(double);
}

static void bdf_save(const struct tt_solver *solver, void *memory)
{
    const struct bdf *bdf = (const struct bdf *)solver;
    size_t vector = solver->ode->count * sizeof(double), rows = TUTTI_NORDSIECK_ROWS * vector;
    struct bdf_memory m = bdf->m;
    m.before = solver->before;
    m.t = solver->t;
    m.order = bdf->array.order;
    m.h = bdf->array.h;
    memcpy(m.steps, bdf->array.steps, sizeof m.steps);
    memcpy(memory, &m, sizeof m);
    char *to = (char *)memory + sizeof m;
    memcpy(to, bdf->array.z, rows);
    memcpy(to + rows, bdf->e_before, vector);
    if (m.has_jacobian)
        memcpy(to + rows + vector, bdf->jacobian.values, bdf_jacobian_entries(bdf) * sizeof(double));
}

static void bdf_restore(struct tt_solver *solver, const void *memory)
{
    struct bdf *bdf = (struct bdf *)solver;
    size_t vector = solver->ode->count * sizeof(double), rows = TUTTI_NORDSIECK_ROWS * vector;
    memcpy(&bdf->m, memory, sizeof bdf->m);
    const char *from = (const char *)memory + sizeof bdf->m;
    memcpy(bdf->array.z, from, rows);
    memcpy(bdf->e_before, from + rows, vector);
    if (bdf->m.has_jacobian)
        memcpy(bdf->jacobian.values, from + rows + vector, bdf_jacobian_entries(bdf) * sizeof(double));
    bdf->lu_lost = bdf->m.has_lu;
    bdf->array.order = bdf->m.order;
    bdf->array.h = bdf->m.h;
    memcpy(bdf->array.steps, bdf->m.steps, sizeof bdf->m.steps);
    solver->before = bdf->m.before;
    solver->t = bdf->m.t;
}

const struct tt_solver_kind tt_solver_bdf = {
    .name = "bdf",
    .title = "backward differentiation formulas, for stiff problems; goes on without restart when inputs change",
    .order = TUTTI_NORDSIECK_ORDER,
    .stiff = true,
    .multistep = true,
    .size = sizeof(struct bdf),
    .start = bdf_start,
    .finish = bdf_finish,
    .restart = bdf_restart,
    .resume = bdf_resume,
    .step = bdf_step,
    .interpolate = bdf_interpolate,
    .saved_size = bdf_saved_size,
    .save = bdf_save,
    .restore = bdf_restore,
};
