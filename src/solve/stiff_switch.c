/* SPDX-License-Identifier: MIT */
/* stiff_switch.c - CVODE's Adams methods where the problem is not stiff, its BDF where it is, and the choice is
 * repeated along the way: L. Petzold, Automatic selection of methods for solving stiff and nonstiff systems of ordinary
 * differential equations, SIAM J. Sci. Stat. Comput. 4 (1983) 136-148, as LSODA and LSODAR do it (Hindmarsh, ODEPACK),
 * which Andersson 2016 section 8.1 names.
 *
 * The possible next step of both methods is estimated. By accuracy alone, with an error e of the last step of order q
 * in tolerances, that is
 *     h / (1.2 e^(1/(q+1)) + 1.2e-6),
 * where e of the inactive method is that of the active method times the ratio of their error constants. Adams methods
 * are bounded by the convergence of their iteration, too: h L <= s_q, L being the Lipschitz constant of f. L is
 * observed in iterations (two right-hand sides at one time), and with BDF it is the norm of the Jacobian. To BDF if its
 * step is five times as long; to Adams if its step is at least as long, since it is cheaper.
 *
 * Adams at its limit of stability carries noise of about a tenth of a tolerance, which its highest derivatives multiply
 * by powers of 2: the array of steps then shows an error that BDF, which damps the noise, would not have. LSODA avoids
 * the noise by two evaluations in each step and by steps below s_q / L; CVODE does neither. So every eight steps the
 * solution is kept, and the derivatives for BDF are divided differences of these points, where the noise is 8^k times
 * smaller. The better of both estimates counts.
 *
 * What differs from LSODA: its array of derivatives serves both methods; CVODE gives no access to its own, so the other
 * method begins with order 1. For that reason a change is considered only some steps after the last change. After an
 * event the active method is kept. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/cvode.h"

enum method { ADAMS, BDF, METHODS };
enum { STEPS_BETWEEN = 20, ADAMS_MOST = 12, BDF_MOST = 5, STEPS_PER_POINT = 8, POINTS = BDF_MOST + 2 };
static const double advantage = 5; /* of BDF, in lengths of steps */

/* s_q, the bounds of LSODA. */
static const double stable[ADAMS_MOST + 1] = {0,   0.5,  0.575, 0.55,  0.45, 0.35, 0.25,
                                              0.2, 0.15, 0.1,   0.075, 0.05, 0.025};
/* Error constants C of a step of order q, C h^(q+1) x^(q+1): Hairer, Norsett, Wanner, Solving ODEs I, III.1 (of Adams-Moulton methods) and III.3
 * (of BDF: 1 / ((q + 1) (1 + 1/2 + ... + 1/q))). */
static const double adams_constant[BDF_MOST + 1] = {0, 1.0 / 2, 1.0 / 12, 1.0 / 24, 19.0 / 720, 3.0 / 160};
static const double bdf_constant[BDF_MOST + 1] = {0, 1.0 / 2, 2.0 / 9, 3.0 / 22, 12.0 / 125, 10.0 / 137};

struct stiff_switching {
    struct tt_solver base;
    struct tt_solver *methods[METHODS];
    enum method used, next; /* another `next`: from the next step on */
    unsigned since;         /* steps since a change */
    struct tt_ode watched;  /* the problem as Adams sees it */
    /* The last evaluation: */
    double seen_time;
    double *seen_x, *seen_dx;
    double lipschitz;      /* Lipschitz constant of the last step whose iteration has shown one; 0: unknown */
    double step_lipschitz; /* the largest of the current step */
    /* Points of the solution that are STEPS_PER_POINT steps of Adams apart, the last one first. */
    unsigned points;
    double point_times[POINTS];
    double *point_x[POINTS];
    double *difference; /* scratch */
};

static struct tt_solver *stiff_switch_active(const struct stiff_switching *self)
{
    return self->methods[self->used];
}

/* f, with a look at how it differs from f elsewhere at the same time. */
static enum tt_eval stiff_switch_rhs(void *context, double t, const double *x, double *dx)
{
    struct stiff_switching *self = context;
    struct tt_solver *solver = &self->base;
    struct tt_ode *ode = solver->ode;
    enum tt_eval eval = ode->rhs(ode->context, t, x, dx);
    self->watched.err = ode->err;
    if (eval != TUTTI_EVAL_OK) {
        self->seen_time = NAN;
        return eval;
    }
    if (t == self->seen_time) {
        double far = 0, steep = 0;
        for (size_t i = 0; i < ode->count; i++) {
            double weight = 1 / tt_ode_tolerance(ode, i, x[i]);
            far += weight * weight * (x[i] - self->seen_x[i]) * (x[i] - self->seen_x[i]);
            steep += weight * weight * (dx[i] - self->seen_dx[i]) * (dx[i] - self->seen_dx[i]);
        }
        double size = tt_solver_norm(solver, x, x, NULL) * sqrt((double)ode->count);
        /* points closer than this differ by rounding only */
        if (sqrt(far) > 1000 * DBL_EPSILON * size && isfinite(steep))
            self->step_lipschitz = fmax(self->step_lipschitz, sqrt(steep / far));
    }
    self->seen_time = t;
    memcpy(self->seen_x, x, ode->count * sizeof *x);
    memcpy(self->seen_dx, dx, ode->count * sizeof *dx);
    return eval;
}

static const char *stiff_switch_state_name(void *context, size_t i)
{
    const struct tt_ode *ode = ((struct stiff_switching *)context)->base.ode;
    return ode->state_name(ode->context, i);
}

static enum tutti_err stiff_switch_start(struct tt_solver *solver)
{
    struct stiff_switching *self = (struct stiff_switching *)solver;
    size_t n = solver->ode->count;
    TRY(tt_cvode_check_predictor(solver));
    self->seen_x = calloc((3 + POINTS) * n, sizeof *self->seen_x);
    if (!self->seen_x)
        return tt_fail_memory();
    self->seen_dx = self->seen_x + n;
    self->difference = self->seen_x + 2 * n;
    for (unsigned i = 0; i < POINTS; i++)
        self->point_x[i] = self->seen_x + (3 + i) * n;
    self->watched = *solver->ode;
    self->watched.context = self;
    self->watched.rhs = stiff_switch_rhs;
    self->watched.directional = NULL;
    self->watched.jacobian = NULL;
    self->watched.origin = solver->ode->origin;
    self->watched.state_name = solver->ode->state_name ? stiff_switch_state_name : NULL;
    struct tt_solver_options options = solver->options;
    options.jacobian = TUTTI_JACOBIAN_AUTO;
    TRY(tt_solver_new(&self->methods[ADAMS], &tt_solver_adams, &self->watched, &options));
    options.jacobian = solver->options.jacobian;
    options.max_order = options.max_order > BDF_MOST ? BDF_MOST : options.max_order;
    TRY(tt_solver_new(&self->methods[BDF], &tt_solver_cvode, solver->ode, &options));
    return TUTTI_OK;
}

static void stiff_switch_finish(struct tt_solver *solver)
{
    struct stiff_switching *self = (struct stiff_switching *)solver;
    for (int i = 0; i < METHODS; i++)
        tt_solver_free(self->methods[i]);
    free(self->seen_x);
}

/* Adds the statistics of the active method to this solver. */
static void stiff_switch_copy_progress(struct stiff_switching *self)
{
    struct tt_solver *solver = &self->base, *method = stiff_switch_active(self);
    struct tt_solver_counts *to = &solver->counts, *from = &method->counts;
    to->steps += from->steps;
    to->error_failures += from->error_failures;
    to->other_failures += from->other_failures;
    to->rhs += from->rhs;
    to->jacobians += from->jacobians;
    to->directional += from->directional;
    to->factorisations += from->factorisations;
    to->iterations += from->iterations;
    *from = (struct tt_solver_counts){0};
    solver->before = method->before;
    solver->t = method->t;
}

static enum tutti_err stiff_switch_activate(struct stiff_switching *self, enum method method, double t, const double *x)
{
    self->used = self->next = method;
    self->since = 0;
    self->seen_time = NAN;
    self->lipschitz = 0;
    self->points = 0;
    stiff_switch_active(self)->name = self->base.name;
    return tt_solver_begin(stiff_switch_active(self), t, x);
}

static enum tutti_err stiff_switch_restart(struct tt_solver *solver, double t, const double *x)
{
    struct stiff_switching *self = (struct stiff_switching *)solver;
    self->watched.rtol = solver->ode->rtol;
    self->watched.atol = solver->ode->atol;
    self->watched.nominals = solver->ode->nominals;
    return stiff_switch_activate(self, solver->started ? self->next : ADAMS, t, x);
}

static enum tutti_err stiff_switch_resume(struct tt_solver *solver, double t)
{
    struct stiff_switching *self = (struct stiff_switching *)solver;
    self->seen_time = NAN;
    self->points = 0;
    enum tutti_err err = stiff_switch_active(self)->kind->resume(stiff_switch_active(self), t);
    stiff_switch_copy_progress(self);
    return err;
}

static double stiff_switch_next_step(double h, double error, int order)
{
    return h / (1.2 * pow(error, 1.0 / (order + 1)) + 1.2e-6);
}

/* || x^(k) / k! || by the divided difference of the last k + 1 points. */
static double stiff_switch_point_derivative(const struct stiff_switching *self, unsigned k)
{
    size_t n = self->base.ode->count;
    memset(self->difference, 0, n * sizeof *self->difference);
    for (unsigned i = 0; i <= k; i++) {
        double by = 1;
        for (unsigned j = 0; j <= k; j++)
            by *= j == i ? 1 : self->point_times[i] - self->point_times[j];
        for (size_t s = 0; s < n; s++)
            self->difference[s] += self->point_x[i][s] / by;
    }
    return tt_solver_norm(&self->base, self->difference, self->point_x[0], NULL);
}

/* Returns the longest step of BDF, of any order, that the kept points allow; 0 if there are too few points. */
static double stiff_switch_bdf_step_by_points(const struct stiff_switching *self)
{
    double longest = 0, factorial = 1;
    int most = self->methods[BDF]->options.max_order > 0 ? self->methods[BDF]->options.max_order : BDF_MOST;
    for (int order = 1; order <= most && order + 2 <= (int)self->points; order++) {
        factorial *= order + 1;
        double error = bdf_constant[order] * factorial * stiff_switch_point_derivative(self, (unsigned)order + 1);
        longest = fmax(longest, 1 / (1.2 * pow(error, 1.0 / (order + 1)) + 1e-300));
    }
    return fmin(longest, self->points ? self->point_times[0] - self->point_times[self->points - 1] : 0);
}

static bool stiff_switch_is_stiff(struct stiff_switching *self)
{
    struct tt_cvode_step last = tt_cvode_last_step(stiff_switch_active(self));
    double bound = self->lipschitz > 0 ? stable[last.order] / self->lipschitz : INFINITY;
    const double *x = self->seen_x;
    double rounding = 100 * DBL_EPSILON * tt_solver_norm(&self->base, x, x, NULL);
    if (last.error <= rounding) /* this gives no estimate for BDF: assume twice the step */
        return 2 * last.h >= advantage * bound;
    double adams = fmin(stiff_switch_next_step(last.h, last.error, last.order), bound);
    if (self->since % STEPS_PER_POINT == 0 && stiff_switch_bdf_step_by_points(self) >= advantage * adams)
        return true;
    if (self->lipschitz == 0)
        return false;
    int order = last.order < BDF_MOST ? last.order : BDF_MOST;
    double error = last.order <= BDF_MOST
                       ? last.error * bdf_constant[order] / adams_constant[order]
                       : bdf_constant[order] * tt_cvode_derivative(stiff_switch_active(self), order + 1);
    return stiff_switch_next_step(last.h, error, order) >= advantage * adams;
}

static bool stiff_switch_is_no_longer_stiff(struct stiff_switching *self)
{
    struct tt_cvode_step last = tt_cvode_last_step(stiff_switch_active(self));
    double norm = tt_cvode_jacobian_norm(stiff_switch_active(self));
    double adams =
        stiff_switch_next_step(last.h, last.error * adams_constant[last.order] / bdf_constant[last.order], last.order);
    if (norm > 0)
        adams = fmin(adams, stable[last.order] / norm);
    return adams >= stiff_switch_next_step(last.h, last.error, last.order);
}

static enum tutti_err stiff_switch_step(struct tt_solver *solver, double limit, double *x)
{
    struct stiff_switching *self = (struct stiff_switching *)solver;
    if (self->next != self->used) {
        double *here = x;
        TRY(stiff_switch_active(self)->kind->interpolate(stiff_switch_active(self), stiff_switch_active(self)->t,
                                                         here));
        TRY(stiff_switch_activate(self, self->next, solver->t, here));
        stiff_switch_copy_progress(self);
    }
    self->step_lipschitz = 0;
    enum tutti_err err = stiff_switch_active(self)->kind->step(stiff_switch_active(self), limit, x);
    stiff_switch_copy_progress(self);
    if (err)
        return err;
    if (self->step_lipschitz > 0)
        self->lipschitz = self->step_lipschitz;
    self->since++;
    if (self->used == ADAMS && self->since % STEPS_PER_POINT == 0) {
        double *oldest = self->point_x[POINTS - 1];
        memmove(self->point_x + 1, self->point_x, (POINTS - 1) * sizeof *self->point_x);
        memmove(self->point_times + 1, self->point_times, (POINTS - 1) * sizeof *self->point_times);
        self->point_x[0] = oldest;
        self->point_times[0] = solver->t;
        self->points += self->points < POINTS;
        memcpy(oldest, x, solver->ode->count * sizeof *x);
    }
    if (self->since < STEPS_BETWEEN)
        return TUTTI_OK;
    if (self->used == ADAMS && stiff_switch_is_stiff(self))
        self->next = BDF;
    else if (self->used == BDF && stiff_switch_is_no_longer_stiff(self))
        self->next = ADAMS;
    return TUTTI_OK;
}

static enum tutti_err stiff_switch_interpolate(struct tt_solver *solver, double t, double *x)
{
    struct stiff_switching *self = (struct stiff_switching *)solver;
    return stiff_switch_active(self)->kind->interpolate(stiff_switch_active(self), t, x);
}

const struct tt_solver_kind tt_solver_switch = {
    .name = "switch",
    .title =
        "Adams methods and backward differentiation formulas of SUNDIALS CVODE, by turns as stiffness asks (LSODAR)",
    .order = ADAMS_MOST,
    .stiff = true,
    .multistep = true,
    .size = sizeof(struct stiff_switching),
    .start = stiff_switch_start,
    .finish = stiff_switch_finish,
    .restart = stiff_switch_restart,
    .resume = stiff_switch_resume,
    .step = stiff_switch_step,
    .interpolate = stiff_switch_interpolate,
};
