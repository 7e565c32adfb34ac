/* SPDX-License-Identifier: MIT */
#include "solve/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/options/options.h"

const struct tt_solver_kind *const tt_solver_kinds[] = {
#define LISTED(name, word, meaning) &tt_solver_##name,
    TUTTI_SOLVERS(LISTED) NULL,
};

enum tutti_err tt_solver_find(const char *name, const struct tt_solver_kind **kind)
{
    int place;
    TRY(tt_options_choose("solver", name, &place));
    *kind = tt_solver_kinds[place];
    return TUTTI_OK;
}

void tt_solver_counts_add(struct tt_solver_counts *sum, const struct tt_solver_counts *to,
                          const struct tt_solver_counts *from)
{
    sum->steps += to->steps - from->steps;
    sum->error_failures += to->error_failures - from->error_failures;
    sum->other_failures += to->other_failures - from->other_failures;
    sum->restarts += to->restarts - from->restarts;
    sum->rhs += to->rhs - from->rhs;
    sum->jacobians += to->jacobians - from->jacobians;
    sum->directional += to->directional - from->directional;
    sum->factorisations += to->factorisations - from->factorisations;
    sum->iterations += to->iterations - from->iterations;
}

static enum tutti_err solver_check_step_options(const struct tt_solver_kind *kind,
                                                const struct tt_solver_options *options)
{
    if (!(options->h_first >= 0) || !isfinite(options->h_first))
        return tt_fail(TUTTI_ERR_ARGUMENT, "the first step must be positive, or 0 to have it found, not %s (--h-first)",
                       NUMBER(options->h_first));
    if (options->h_first > 0 && kind->fixed)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--h-first is for solvers that choose their steps; %s has a fixed one (--solver-step)",
                       kind->name);
    if (options->max_order != 0 && !kind->multistep)
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "solver %s is of order %d, always: --max-order is for multistep methods (cvode, adams, switch, bdf, ida)",
            kind->name, kind->order);
    if (options->max_order < 0 || options->max_order > kind->order)
        return tt_fail(TUTTI_ERR_ARGUMENT, "solver %s has orders 1 to %d, not %d (--max-order)", kind->name,
                       kind->order, options->max_order);
    if (options->linear != TUTTI_LINEAR_DIRECT && !kind->krylov)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "solver %s has no Krylov method: --linear-solver krylov is for cvode, ida and dirk", kind->name);
    if (options->linear != TUTTI_LINEAR_DIRECT && options->jacobian != TUTTI_JACOBIAN_AUTO)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--linear-solver krylov takes no matrix: --jacobian is for --linear-solver direct");
    return TUTTI_OK;
}

/* Rejects options that a solver does not support. */
static enum tutti_err solver_check_options(const struct tt_solver_kind *kind, const struct tt_ode *ode,
                                           const struct tt_solver_options *options)
{
    if (kind->fixed && !(options->h_fixed > 0 && isfinite(options->h_fixed)))
        return tt_fail(TUTTI_ERR_ARGUMENT, "solver %s has steps of a fixed size, which must be positive, not %s",
                       kind->name, NUMBER(options->h_fixed));
    if (!(options->h_max >= 0))
        return tt_fail(TUTTI_ERR_ARGUMENT, "the longest step must be positive, or 0 for no bound, not %s (--h-max)",
                       NUMBER(options->h_max));
    if (!kind->fixed && (!(ode->rtol >= 0) || !(ode->atol >= 0) || !isfinite(ode->rtol) || !isfinite(ode->atol)))
        return tt_fail(TUTTI_ERR_ARGUMENT, "tolerances must be 0 or more: rtol is %s, atol %s", NUMBER(ode->rtol),
                       NUMBER(ode->atol));
    if (!kind->fixed && ode->atol == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "an absolute tolerance of 0 asks for the impossible where a state is 0; use a small one "
                       "(--atol 1e-12)");
    if (!kind->stiff && options->jacobian != TUTTI_JACOBIAN_AUTO)
        return tt_fail(TUTTI_ERR_ARGUMENT, "solver %s uses no Jacobian: --jacobian is for implicit methods",
                       kind->name);
    TRY(solver_check_step_options(kind, options));
    if (options->predictor != TUTTI_PREDICTOR_AUTO && !kind->multistep)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "solver %s keeps nothing of steps gone by: --predictor is for multistep methods (bdf; "
                       "cvode and adams can restart or proceed)",
                       kind->name);
    return TUTTI_OK;
}

enum tutti_err tt_solver_new(struct tt_solver **out, const struct tt_solver_kind *kind, struct tt_ode *ode,
                             const struct tt_solver_options *options)
{
    *out = NULL;
    TRY(solver_check_options(kind, ode, options));
    struct tt_solver *solver = calloc(1, kind->size);
    if (!solver)
        return tt_fail_memory();
    solver->kind = kind;
    solver->name = kind->name;
    solver->ode = ode;
    solver->options = *options;
    enum tutti_err err = kind->start(solver);
    if (err) {
        tt_solver_free(solver);
        return err;
    }
    *out = solver;
    return TUTTI_OK;
}

void tt_solver_free(struct tt_solver *solver)
{
    if (!solver)
        return;
    solver->kind->finish(solver);
    free(solver);
}

enum tutti_err tt_solver_begin(struct tt_solver *solver, double t, const double *x)
{
    if (solver->started)
        solver->counts.restarts++;
    solver->before = solver->t = t;
    TRY(solver->kind->restart(solver, t, x));
    solver->started = true;
    return TUTTI_OK;
}

/* The solver's own name of a time in its last step: its ends are to be met to the bit. */
static double solver_own_time(const struct tt_solver *solver, double t)
{
    if (t == tt_solver_time(solver))
        return solver->t;
    return fmin(fmax(t - solver->ode->origin, solver->before), solver->t);
}

enum tutti_err tt_solver_restart(struct tt_solver *solver, double t, const double *x)
{
    return tt_solver_begin(solver, t - solver->ode->origin, x);
}

enum tutti_err tt_solver_resume(struct tt_solver *solver, double t, const double *x)
{
    if (solver->kind->resume && solver->before < solver->t)
        return solver->kind->resume(solver, solver_own_time(solver, t));
    return tt_solver_restart(solver, t, x);
}

enum tutti_err tt_solver_fail(const struct tt_solver *solver, enum tt_eval eval, double h, size_t worst,
                              const char *why)
{
    const struct tt_ode *ode = solver->ode;
    if (eval == TUTTI_EVAL_FAILED)
        return ode->err;
    char index[32] = "";
    const char *before = "", *name = index, *behind = "";
    if (worst < ode->count) {
        bool named = ode->state_name != NULL;
        before = named ? "; the state in the way is '" : "; the state in the way is ";
        behind = named ? "'" : "";
        snprintf(index, sizeof index, "x[%zu]", worst);
        name = named ? ode->state_name(ode->context, worst) : index;
    }
    return tt_fail(TUTTI_ERR_SOLVER, "solver %s cannot go on from t = %s: %s (last step size tried: %s)%s%s%s",
                   solver->name, NUMBER(tt_solver_time(solver)), why, NUMBER(h), before, name, behind);
}

static enum tutti_err solver_check_states(const struct tt_solver *solver, const double *x)
{
    size_t worst = 0;
    if (__builtin_expect(tt_ode_is_finite(solver->ode, x), 1))
        return TUTTI_OK;
    while (isfinite(x[worst]))
        worst++;
    return tt_solver_fail(solver, TUTTI_EVAL_OK, solver->t - solver->before, worst,
                          "a state has grown out of all bounds");
}

void tt_solver_begin_interval(struct tt_solver *solver, double t)
{
    solver->intervals += solver->made > 0;
    solver->made_before += solver->made;
    solver->made = 0;
    solver->interval_start = t;
}

enum { LEAST_BOUND = 1000000, MOST_BOUND = 10000000, MOST_TIMES = 100 };

static double solver_mean_steps(const struct tt_solver *solver)
{
    return solver->intervals > 0 ? (double)solver->made_before / (double)solver->intervals : INFINITY;
}

static bool solver_is_endless(const struct tt_solver *solver)
{
    if (__builtin_expect(solver->made <= LEAST_BOUND, 1) || solver->kind->fixed)
        return false;
    return (double)solver->made > fmin(MOST_TIMES * solver_mean_steps(solver), MOST_BOUND);
}

/* The state to blame is the one that moved most in the last step, in parts of its tolerance. */
static enum tutti_err solver_fail_endless(struct tt_solver *solver, const double *x)
{
    double h = solver->t - solver->before, *begin = calloc(solver->ode->count, sizeof *begin);
    char why[512], before[64] = "";
    if (!begin)
        return tt_fail_memory();
    enum tutti_err err = solver->kind->interpolate(solver, solver->before, begin);
    size_t worst = err ? SIZE_MAX : tt_solver_blame(solver, begin, x, x);
    free(begin);
    if (solver->intervals > 0)
        snprintf(before, sizeof before, " (%.3g before, on average)", solver_mean_steps(solver));
    snprintf(why, sizeof why,
             "it has taken %lu steps since t = %s, in one communication step%s; the solution is "
             "not smooth there, "
             "or grows without bound: use an implicit solver, a larger --rtol, another --coupling or --correct, or a "
             "smaller --step",
             solver->made, NUMBER(solver->interval_start), before);
    return tt_solver_fail(solver, TUTTI_EVAL_OK, h, worst, why);
}

enum tutti_err tt_solver_step(struct tt_solver *solver, double limit, double *x)
{
    TRY(solver->kind->step(solver, limit - solver->ode->origin, x));
    solver->made++;
    if (__builtin_expect(solver_is_endless(solver), 0))
        return solver_fail_endless(solver, x);
    return solver_check_states(solver, x);
}

enum tutti_err tt_solver_interpolate(struct tt_solver *solver, double t, double *x)
{
    TRY(solver->kind->interpolate(solver, solver_own_time(solver, t), x));
    return solver_check_states(solver, x);
}

double tt_solver_norm(const struct tt_solver *solver, const double *error, const double *x, size_t *worst)
{
    const struct tt_ode *ode = solver->ode;
    double sum = 0, largest = -1;
    for (size_t i = 0; i < ode->count; i++) {
        double part = error[i] / tt_ode_tolerance(ode, i, x[i]);
        sum += part * part;
        if (worst && !(fabs(part) <= largest)) { /* NaN counts */
            largest = fabs(part);
            *worst = i;
        }
    }
    return sqrt(sum / (double)ode->count);
}

size_t tt_solver_blame(const struct tt_solver *solver, const double *from, const double *x, const double *dx)
{
    const struct tt_ode *ode = solver->ode;
    size_t worst = 0;
    double largest = -1;
    for (size_t i = 0; i < ode->count; i++)
        if (!isfinite(dx[i]))
            return i;
    for (size_t i = 0; i < ode->count; i++) {
        double part = fabs(x[i] - from[i]) / tt_ode_tolerance(ode, i, from[i]);
        if (!(part <= largest)) {
            largest = part;
            worst = i;
        }
    }
    return worst;
}

enum tutti_err tt_solver_first_step(struct tt_solver *solver, const double *x, const double *dx, int order,
                                    double limit, double *scratch, double *h)
{
    size_t n = solver->ode->count;
    double t = solver->t, *there = scratch, *slope = scratch + n;
    if (solver->options.h_first > 0) {
        *h = fmin(solver->options.h_first, limit - t);
        return TUTTI_OK;
    }
    double d0 = tt_solver_norm(solver, x, x, NULL), d1 = tt_solver_norm(solver, dx, x, NULL);
    double span = limit - t, h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    h0 = fmin(h0, span);
    enum tt_eval eval = TUTTI_EVAL_NO_VALUE;
    for (int tries = 0; eval == TUTTI_EVAL_NO_VALUE && tries < 20; tries++) {
        h0 = tries ? h0 / 10 : h0;
        for (size_t i = 0; i < n; i++)
            there[i] = x[i] + h0 * dx[i];
        eval = tt_solver_rhs(solver, fmin(t + h0, limit), there, slope);
    }
    if (eval == TUTTI_EVAL_OK) {
        for (size_t i = 0; i < n; i++)
            slope[i] = (slope[i] - dx[i]) / h0;
        double steepest = fmax(d1, tt_solver_norm(solver, slope, x, NULL));
        double h1 = steepest <= 1e-15 ? fmax(1e-6, h0 * 1e-3) : pow(0.01 / steepest, 1.0 / (order + 1));
        *h = fmin(fmin(100 * h0, h1), span);
    }
    size_t worst = eval == TUTTI_EVAL_NO_VALUE ? tt_solver_blame(solver, x, there, slope) : SIZE_MAX;
    return eval == TUTTI_EVAL_OK ? TUTTI_OK : tt_solver_fail(solver, eval, h0, worst, "the derivatives have no value");
}

bool tt_solver_at_limit(double t, double h, double limit)
{
    return t + h >= limit || limit - (t + h) <= 8 * DBL_EPSILON * (fabs(limit) + fabs(h));
}

enum tutti_err tt_solver_grid_next(const struct tt_solver *solver, const struct tt_solver_grid *now, double limit,
                                   double *end, struct tt_solver_grid *grid)
{
    double t = solver->t, h = solver->options.h_fixed;
    *grid = *now;
    *end = grid->origin + (double)++grid->steps * h;
    if (!(*end > t))
        return tt_solver_fail(solver, TUTTI_EVAL_NO_VALUE, h, SIZE_MAX, "the step is lost in rounding");
    if (!tt_solver_at_limit(t, *end - t, limit))
        return TUTTI_OK;
    if (!tt_solver_at_limit(t, limit - t, *end)) /* the limit is not on the grid */
        *grid = (struct tt_solver_grid){.origin = limit};
    *end = limit;
    return TUTTI_OK;
}

double tt_solver_bound_step(const struct tt_solver *solver, double h)
{
    h = fmax(h, 20 * DBL_EPSILON * fabs(solver->t));
    return solver->options.h_max > 0 ? fmin(h, solver->options.h_max) : h;
}

void tt_solver_aim(const struct tt_solver *solver, double h, double limit, double *size, double *end)
{
    const double stretch = 1.01; /* rather than to leave a bit */
    double t = solver->t, h_max = solver->options.h_max;
    *size = h;
    *end = t + h;
    if (tt_solver_at_limit(t, h_max > 0 ? fmin(stretch * h, h_max) : stretch * h, limit)) {
        *size = limit - t;
        *end = limit;
    }
}

bool tt_solver_step_is_too_small(const struct tt_solver *solver, double h, double limit, bool rejected, const double *x,
                                 const double *dx)
{
    double t = solver->t;
    if (tt_solver_at_limit(t, h, limit))
        return false;
    if (h <= 10 * DBL_EPSILON * fabs(t))
        return true;
    return rejected && h < 1e-6 * (limit - t) &&
           h * tt_solver_norm(solver, dx, x, NULL) <= DBL_EPSILON * tt_solver_norm(solver, x, x, NULL);
}
