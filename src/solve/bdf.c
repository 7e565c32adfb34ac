/* SPDX-License-Identifier: MIT */
/* bdf.c - backward differentiation formulas of orders 1 to 5, order and step size as the error asks.
 *
 * The formulas are those of nordsieck.h. How orders and step sizes are chosen is the strategy of Byrne and Hindmarsh (ACM
 * TOMS 1, 1975) in the form that VODE and CVODE gave it (Brown, Byrne, Hindmarsh 1989; Hindmarsh and others, SUNDIALS,
 * ACM TOMS 31, 2005, section 2.1), with their constants, so that their experience holds here. What is new is resume():
 * see bdf_resume.c. And the end of a stretch of time is looked at before it is reached, so that no tiny step is left for
 * the last; the step size that was wanted before it is remembered behind it.
 *
 * Invariants between two calls:
 * 1. array.z is the polynomial about solver->t, row 0 is the solution there; array.h is the size of the last step.
 * 2. A change of order or step size is only noted (next_order, next_h) and made by the next step: dense output and
 *    resume() see the polynomial of the step as it was.
 * 3. All that outlives a call is in m, array.z, e_before and jacobian.values: these are what save() saves. */
#include "solve/bdf.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAILURES_MANY = 2,     /* error failures in one step: be careful */
    FAILURES_TO_LOWER = 3, /* ...: the past is no good, lower the order */
    FAILURES_MOST = 40,
    WAIT_AFTER_TROUBLE = 10
};
static const double bias = 6, bias_up = 10; /* estimated errors are taken for larger than they are */
static const double addend = 1e-6;          /* and never for 0 */
static const double change_at_least = 1.5;  /* a smaller growth of h is not worth a factorisation */
static const double growth_first = 1e4, growth_later = 10;
static const double shrink_most = 0.1, shrink_after_many = 0.2, shrink_divergence = 0.25;

static void *carve(double **free_part, size_t count)
{
    double *part = *free_part;
    *free_part += count;
    return part;
}

static size_t jacobian_entries(const struct tutti_bdf *bdf)
{
    size_t n = bdf->solver.ode->count;
    return bdf->jacobian.sparse ? tutti_pattern_entries(tutti_jacobian_pattern(&bdf->jacobian)) : n * n;
}

static enum tutti_err bdf_start(struct tutti_solver *solver)
{
    struct tutti_bdf *bdf = (struct tutti_bdf *)solver;
    size_t n = solver->ode->count, rows = TUTTI_NORDSIECK_ROWS * n;
    bdf->block = calloc(2 * rows + 9 * n, sizeof *bdf->block);
    if (!bdf->block)
        return tutti_fail_memory();
    double *rest = bdf->block;
    bdf->array.count = n;
    bdf->array.z = carve(&rest, rows);
    bdf->predicted = carve(&rest, rows);
    bdf->e_before = carve(&rest, n);
    bdf->e = carve(&rest, n);
    bdf->x = carve(&rest, n);
    bdf->dx = carve(&rest, n);
    bdf->delta = carve(&rest, n);
    bdf->scale_point = carve(&rest, n);
    bdf->jump = carve(&rest, n);
    bdf->drift = carve(&rest, n);
    bdf->beyond = carve(&rest, n);
    TRY(tutti_jacobian_init(&bdf->jacobian, solver->ode, solver->options.jacobian));
    return tutti_lu_new(&bdf->lu, n, bdf->jacobian.sparse ? tutti_jacobian_pattern(&bdf->jacobian) : NULL, false);
}

static void bdf_finish(struct tutti_solver *solver)
{
    struct tutti_bdf *bdf = (struct tutti_bdf *)solver;
    tutti_lu_free(bdf->lu);
    tutti_jacobian_fini(&bdf->jacobian);
    free(bdf->block);
}

static enum tutti_err bdf_restart(struct tutti_solver *solver, double t, const double *x)
{
    (void)t;
    struct tutti_bdf *bdf = (struct tutti_bdf *)solver;
    bdf->m = (struct tutti_bdf_memory){.fresh = true, .correction = TUTTI_PREDICTOR_PROCEED};
    bdf->array.order = 1;
    memset(bdf->array.steps, 0, sizeof bdf->array.steps);
    memmove(bdf->array.z, x, solver->ode->count * sizeof *x);
    return TUTTI_OK;
}

/* h for which ||h^2 / 2 x''|| would be the whole tolerance, times 1/2: the first step of order 1. x'' comes from
 * differences of f over a step that is improved along with h. dx is f at t. */
static enum tutti_err first_step(struct tutti_bdf *bdf, double limit, double *out)
{
    struct tutti_solver *solver = &bdf->solver;
    const struct tutti_ode *ode = solver->ode;
    size_t n = ode->count;
    double t = solver->t, rest = limit - t, most = 0.1 * rest;
    double least = fmin(100 * DBL_EPSILON * fmax(fabs(t), fabs(limit)), rest);
    for (size_t i = 0; i < n; i++) { /* no state moves by more than a tenth */
        double room = 0.1 * fabs(bdf->array.z[i]) + tutti_ode_tolerance(ode, i, bdf->array.z[i]);
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
        enum tutti_eval eval = tutti_solver_rhs(solver, t + h, bdf->x, bdf->delta);
        if (eval == TUTTI_EVAL_FAILED)
            return tutti_solver_fail(solver, eval, h, SIZE_MAX, "");
        if (eval == TUTTI_EVAL_NO_VALUE) {
            h *= 0.2;
            most = fmin(most, h);
            lost++;
            continue;
        }
        for (size_t i = 0; i < n; i++)
            bdf->delta[i] = (bdf->delta[i] - bdf->dx[i]) / h;
        double bend = tutti_solver_norm(solver, bdf->delta, bdf->array.z, NULL);
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

static double bounded(const struct tutti_solver *solver, double h)
{
    return solver->options.h_max > 0 ? fmin(h, solver->options.h_max) : h;
}

static enum tutti_err begin(struct tutti_bdf *bdf, double limit)
{
    struct tutti_solver *solver = &bdf->solver;
    size_t n = solver->ode->count;
    enum tutti_eval eval = tutti_solver_rhs(solver, solver->t, bdf->array.z, bdf->dx);
    if (eval != TUTTI_EVAL_OK)
        return tutti_solver_fail(solver, eval, 0, tutti_solver_blame(solver, bdf->array.z, bdf->array.z, bdf->dx),
                                 "the derivatives have no value");
    double h = 0;
    TRY(first_step(bdf, limit, &h));
    struct tutti_bdf_memory *m = &bdf->m;
    bdf->array.h = h;
    for (size_t i = 0; i < n; i++)
        tutti_nordsieck_row(&bdf->array, 1)[i] = h * bdf->dx[i];
    m->fresh = false;
    m->next_order = 1;
    m->next_h = bounded(solver, h);
    m->stretch = 1;
    m->wait = 2;
    m->growth = growth_first;
    m->e_scale = 0;
    return TUTTI_OK;
}

static void change_order(struct tutti_bdf *bdf, int order)
{
    if (order == bdf->array.order)
        return;
    if (order > bdf->array.order)
        tutti_nordsieck_raise(&bdf->array, bdf->e_before);
    else
        tutti_nordsieck_lower(&bdf->array);
    bdf->m.wait = order + 1;
    bdf->m.next_order = order;
}

/* Two equal steps rather than a long and a short one, or all the rest if the error has room for it. */
double tutti_bdf_fit(const struct tutti_bdf *bdf, double limit, double wanted, double stretch)
{
    double t = bdf->solver.t, rest = limit - t;
    if (tutti_solver_at_limit(t, wanted, limit) || rest <= wanted * stretch)
        return rest;
    return rest < 2 * wanted ? rest / 2 : wanted;
}

/* One attempt; of many in a step if need be. */
struct attempt {
    double wanted, stretch;
    int error_failures, failures;
    bool erred; /* the last failure was one of the error test */
    enum tutti_bdf_trust trust;
    struct tutti_nordsieck_step step;
    double error; /* of the last one, in tolerances */
    size_t worst;
    enum tutti_eval eval;
};

static enum tutti_err give_up(struct tutti_bdf *bdf, const struct attempt *a)
{
    const char *why = a->eval == TUTTI_EVAL_NO_VALUE ? "the derivatives have no value however small the step is"
                      : !a->failures                 ? "the next step is lost in the rounding of time"
                      : a->erred                     ? "the error test fails however small the step is"
                                                     : "Newton's method does not converge however small the step is";
    size_t worst = a->eval == TUTTI_EVAL_NO_VALUE ? tutti_solver_blame(&bdf->solver, bdf->array.z, bdf->x, bdf->dx)
                                                  : a->worst;
    return tutti_solver_fail(&bdf->solver, a->eval, bdf->array.h, worst, why);
}

static enum tutti_err after_divergence(struct tutti_bdf *bdf, struct attempt *a)
{
    if (a->eval == TUTTI_EVAL_FAILED)
        return give_up(bdf, a);
    bdf->solver.counts.other_failures++;
    bdf->m.growth = 1;
    a->erred = false;
    a->trust = TUTTI_BDF_REEVALUATE;
    a->wanted = shrink_divergence * bdf->array.h;
    return ++a->failures > FAILURES_MOST ? give_up(bdf, a) : TUTTI_OK;
}

static enum tutti_err after_error(struct tutti_bdf *bdf, struct attempt *a)
{
    struct tutti_solver *solver = &bdf->solver;
    struct tutti_bdf_memory *m = &bdf->m;
    struct tutti_nordsieck *array = &bdf->array;
    solver->counts.error_failures++;
    m->growth = 1;
    a->erred = true;
    a->trust = TUTTI_BDF_REFACTOR;
    if (++a->failures > FAILURES_MOST)
        return give_up(bdf, a);
    if (++a->error_failures <= FAILURES_TO_LOWER) {
        double factor = fmax(shrink_most, 1 / (pow(bias * a->error, 1.0 / (array->order + 1)) + addend));
        if (a->error_failures >= FAILURES_MANY)
            factor = fmin(factor, shrink_after_many);
        a->wanted = factor * array->h;
        return TUTTI_OK;
    }
    a->wanted = shrink_most * array->h;
    if (array->order > 1) {
        change_order(bdf, array->order - 1);
        return TUTTI_OK;
    }
    /* Order 1, and still the past is to blame: take nothing but f from here. */
    a->eval = tutti_solver_rhs(solver, solver->t, array->z, bdf->dx);
    if (a->eval != TUTTI_EVAL_OK)
        return give_up(bdf, a);
    for (size_t i = 0; i < array->count; i++)
        tutti_nordsieck_row(array, 1)[i] = array->h * bdf->dx[i];
    m->wait = WAIT_AFTER_TROUBLE;
    return TUTTI_OK;
}

/* Tries until a step passes. */
static enum tutti_err attempt(struct tutti_bdf *bdf, double limit, struct attempt *a)
{
    struct tutti_solver *solver = &bdf->solver;
    struct tutti_nordsieck *array = &bdf->array;
    for (;;) {
        double h = tutti_bdf_fit(bdf, limit, a->wanted, a->failures ? 1 : a->stretch);
        tutti_nordsieck_rescale(array, h);
        if (!(solver->t + h > solver->t))
            return give_up(bdf, a);
        tutti_nordsieck_prepare(array, &a->step);
        memcpy(bdf->predicted, array->z, (size_t)(array->order + 1) * array->count * sizeof(double));
        tutti_nordsieck_shift(array, bdf->predicted, 1);
        enum tutti_bdf_outcome outcome;
        double t = h == limit - solver->t ? limit : solver->t + h;
        TRY(tutti_bdf_solve(bdf, t, &a->step, a->trust, &outcome, &a->eval, &a->worst));
        if (outcome != TUTTI_BDF_CONVERGED) {
            TRY(after_divergence(bdf, a));
            continue;
        }
        a->error = tutti_solver_norm(solver, bdf->e, bdf->scale_point, &a->worst) * a->step.error;
        if (a->error <= 1) {
            solver->before = solver->t;
            solver->t = t;
            return TUTTI_OK;
        }
        TRY(after_error(bdf, a));
    }
}

static double factor_for(double error, double its_bias, int order)
{
    return 1 / (pow(its_bias * error, 1.0 / (order + 1)) + addend);
}

/* The factors by which h could change with order q - 1 and q + 1; 0: no such order. */
static double factor_down(const struct tutti_bdf *bdf, const struct attempt *a)
{
    int q = bdf->array.order;
    if (q == 1)
        return 0;
    double size = tutti_solver_norm(&bdf->solver, tutti_nordsieck_row(&bdf->array, q), bdf->scale_point, NULL);
    return factor_for(size * a->step.error_down, bias, q - 1);
}

static double factor_up(struct tutti_bdf *bdf, const struct attempt *a)
{
    int q = bdf->array.order;
    if (q == TUTTI_NORDSIECK_ORDER || bdf->m.e_scale == 0)
        return 0;
    double growth = a->step.scale / bdf->m.e_scale * pow(bdf->array.steps[0] / bdf->array.steps[1], q + 1);
    for (size_t i = 0; i < bdf->array.count; i++)
        bdf->delta[i] = bdf->e[i] - growth * bdf->e_before[i];
    double size = tutti_solver_norm(&bdf->solver, bdf->delta, bdf->scale_point, NULL);
    return factor_for(size * a->step.error_up, bias_up, q + 1);
}

/* Order and size of the next step, after a good one of size array.h; a->wanted is what it would have been. */
static void plan(struct tutti_bdf *bdf, const struct attempt *a)
{
    struct tutti_bdf_memory *m = &bdf->m;
    struct tutti_nordsieck *array = &bdf->array;
    double h = array->h, wanted = a->wanted;
    m->next_order = array->order;
    m->next_h = fmin(h, wanted);
    m->stretch = 1;
    m->move = a->error / a->step.error;
    m->move_h = h;
    m->wait--;
    if (m->wait == 1 && array->order < TUTTI_NORDSIECK_ORDER) {
        memcpy(bdf->e_before, bdf->e, array->count * sizeof(double));
        m->e_scale = a->step.scale;
    }
    double same = factor_for(a->error, bias, array->order);
    if (m->growth == 1) { /* there was trouble */
        m->wait = m->wait < 2 ? 2 : m->wait;
    } else {
        double best = same;
        if (m->wait <= 0) {
            m->wait = 2;
            double down = factor_down(bdf, a), up = factor_up(bdf, a);
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
    m->next_h = bounded(&bdf->solver, m->next_h);
    m->stretch = bounded(&bdf->solver, m->stretch * m->next_h) / m->next_h;
    m->growth = growth_later;
}

static enum tutti_err bdf_step(struct tutti_solver *solver, double limit, double *x)
{
    struct tutti_bdf *bdf = (struct tutti_bdf *)solver;
    struct tutti_bdf_memory *m = &bdf->m;
    size_t bytes = solver->ode->count * sizeof *x;
    if (m->correction != TUTTI_PREDICTOR_PROCEED)
        TRY(tutti_bdf_correct(bdf, limit));
    if (m->fresh)
        TRY(begin(bdf, limit));
    change_order(bdf, m->next_order);
    memcpy(bdf->scale_point, bdf->array.z, bytes);
    struct attempt a = {.wanted = m->next_h, .stretch = m->stretch, .trust = TUTTI_BDF_TRUST, .worst = SIZE_MAX};
    TRY(attempt(bdf, limit, &a));
    tutti_nordsieck_accept(&bdf->array, bdf->predicted, bdf->e, &a.step);
    memcpy(x, bdf->array.z, bytes);
    solver->counts.steps++;
    m->jacobian_age++;
    m->lu_age++;
    plan(bdf, &a);
    return TUTTI_OK;
}

static enum tutti_err bdf_interpolate(struct tutti_solver *solver, double t, double *x)
{
    struct tutti_bdf *bdf = (struct tutti_bdf *)solver;
    if (t == solver->t)
        memcpy(x, bdf->array.z, solver->ode->count * sizeof *x);
    else
        tutti_nordsieck_value(&bdf->array, (t - solver->t) / bdf->array.h, x);
    return TUTTI_OK;
}

static size_t bdf_saved_size(const struct tutti_solver *solver)
{
    const struct tutti_bdf *bdf = (const struct tutti_bdf *)solver;
    return sizeof bdf->m + ((TUTTI_NORDSIECK_ROWS + 1) * solver->ode->count + jacobian_entries(bdf)) * sizeof(double);
}

static void bdf_save(const struct tutti_solver *solver, void *memory)
{
    const struct tutti_bdf *bdf = (const struct tutti_bdf *)solver;
    size_t vector = solver->ode->count * sizeof(double), rows = TUTTI_NORDSIECK_ROWS * vector;
    struct tutti_bdf_memory m = bdf->m;
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
        memcpy(to + rows + vector, bdf->jacobian.values, jacobian_entries(bdf) * sizeof(double));
}

static void bdf_restore(struct tutti_solver *solver, const void *memory)
{
    struct tutti_bdf *bdf = (struct tutti_bdf *)solver;
    size_t vector = solver->ode->count * sizeof(double), rows = TUTTI_NORDSIECK_ROWS * vector;
    memcpy(&bdf->m, memory, sizeof bdf->m);
    const char *from = (const char *)memory + sizeof bdf->m;
    memcpy(bdf->array.z, from, rows);
    memcpy(bdf->e_before, from + rows, vector);
    if (bdf->m.has_jacobian)
        memcpy(bdf->jacobian.values, from + rows + vector, jacobian_entries(bdf) * sizeof(double));
    bdf->lu_lost = bdf->m.has_lu;
    bdf->array.order = bdf->m.order;
    bdf->array.h = bdf->m.h;
    memcpy(bdf->array.steps, bdf->m.steps, sizeof bdf->m.steps);
    solver->before = bdf->m.before;
    solver->t = bdf->m.t;
}

const struct tutti_solver_kind tutti_solver_bdf = {
    .name = "bdf",
    .title = "backward differentiation formulas, for stiff problems; goes on without restart when inputs change",
    .order = TUTTI_NORDSIECK_ORDER,
    .stiff = true,
    .multistep = true,
    .size = sizeof(struct tutti_bdf),
    .start = bdf_start,
    .finish = bdf_finish,
    .restart = bdf_restart,
    .resume = tutti_bdf_resume,
    .step = bdf_step,
    .interpolate = bdf_interpolate,
    .saved_size = bdf_saved_size,
    .save = bdf_save,
    .restore = bdf_restore,
};
