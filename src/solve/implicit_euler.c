/* SPDX-License-Identifier: MIT */
/* implicit_euler.c - Euler's implicit method, x1 = x0 + h f(t1, x1), with steps of a fixed size (Hairer, Wanner, Solving ODEs II, IV.1): of order
 * 1, L-stable. Andersson 2016 section 8.1 has it in Assimulo.
 *
 * Newton's method with one Jacobian at the beginning of the step; if that does not converge, once more with a Jacobian in every iteration.
 * Steps end on a grid (struct tt_solver_grid). The dense output is the line between both ends, of order 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/jacobian.h"
#include "solve/lu.h"
#include "solve/solver.h"

enum { ITERATIONS_MAX = 20 };
static const double share_of_tolerance =
    1e-3; /* of the equation's error, in tolerances; the error of the method is not looked at */

/* The header written by implicit_euler_save(); begin and end follow. */
struct implicit_euler_saved {
    double before, t;
    struct tt_solver_grid grid;
};

struct implicit_euler {
    struct tt_solver base;
    struct tt_solver_grid grid;
    struct tt_jacobian jacobian;
    struct tt_lu *lu;
    double *begin, *end;       /* states; one after the other, saved */
    double *point, *dx, *move; /* of the iteration */
};

/* The outcome of solving the equation of a step. */
struct implicit_euler_attempt {
    bool converged;
    int iterations; /* that moved the point */
    enum tt_eval eval;
    size_t worst;
};

static enum tutti_err implicit_euler_start(struct tt_solver *solver)
{
    struct implicit_euler *euler = (struct implicit_euler *)solver;
    size_t n = solver->ode->count;
    TRY(tt_jacobian_init(&euler->jacobian, solver->ode, solver->options.jacobian));
    TRY(tt_lu_new(&euler->lu, n, tt_jacobian_pattern(&euler->jacobian), false));
    euler->begin = calloc(5, n * sizeof(double));
    if (!euler->begin)
        return tt_fail_memory();
    euler->end = euler->begin + n;
    euler->point = euler->end + n;
    euler->dx = euler->point + n;
    euler->move = euler->dx + n;
    return TUTTI_OK;
}

static void implicit_euler_finish(struct tt_solver *solver)
{
    struct implicit_euler *euler = (struct implicit_euler *)solver;
    tt_jacobian_fini(&euler->jacobian);
    tt_lu_free(euler->lu);
    free(euler->begin);
}

static enum tutti_err implicit_euler_restart(struct tt_solver *solver, double t, const double *x)
{
    struct implicit_euler *euler = (struct implicit_euler *)solver;
    euler->grid = (struct tt_solver_grid){.origin = t};
    memmove(euler->end, x, solver->ode->count * sizeof *x);
    return TUTTI_OK;
}

/* Iterates to the solution in `point`, from the beginning of the step on. `full`: with a new Jacobian each time. */
static enum tutti_err implicit_euler_solve(struct implicit_euler *euler, double end, double h, bool full,
                                           struct implicit_euler_attempt *attempt)
{
    struct tt_solver *solver = &euler->base;
    size_t n = solver->ode->count;
    double last = INFINITY, rate = 1;
    *attempt = (struct implicit_euler_attempt){.worst = SIZE_MAX};
    memcpy(euler->point, euler->begin, n * sizeof(double));
    for (int iteration = 0; iteration < ITERATIONS_MAX && !attempt->converged; iteration++) {
        bool singular = false;
        attempt->eval = tt_solver_rhs(solver, end, euler->point, euler->dx);
        if (attempt->eval == TUTTI_EVAL_NO_VALUE)
            attempt->worst = tt_solver_blame(solver, euler->begin, euler->point, euler->dx);
        if (attempt->eval)
            return TUTTI_OK;
        if (full || iteration == 0) {
            attempt->eval = tt_jacobian_update(&euler->jacobian, end, euler->point, euler->dx, h, &solver->counts);
            if (attempt->eval != TUTTI_EVAL_OK)
                return TUTTI_OK;
            solver->counts.factorisations++;
            tt_lu_forget(euler->lu); /* earlier pivots are not used: the same numbers give the same bits */
            TRY(tt_lu_factor(euler->lu, euler->jacobian.values, 1 / h, 0, &singular));
        }
        if (singular)
            return TUTTI_OK;

        for (size_t i = 0; i < n; i++)
            euler->move[i] = euler->dx[i] - (euler->point[i] - euler->begin[i]) / h;
        tt_lu_solve(euler->lu, euler->move, NULL);
        solver->counts.iterations++;
        attempt->iterations++;
        double size = tt_solver_norm(solver, euler->move, euler->begin, &attempt->worst);
        for (size_t i = 0; i < n; i++)
            euler->point[i] += euler->move[i];
        if (iteration > 0)
            rate = size / last;
        if (!isfinite(size) || (!full && rate >= 2))
            return TUTTI_OK;
        last = size;
        /* The remaining error is about rate / (1 - rate) of the last move (Hairer, Wanner IV.8), 0 if that was
         * rounding. */
        attempt->converged = size == 0 ||
                             (iteration > 0 && rate < 1 && rate / (1 - rate) * size <= share_of_tolerance) ||
                             size <= 1e-3 * share_of_tolerance;
    }
    return TUTTI_OK;
}

static enum tutti_err implicit_euler_step(struct tt_solver *solver, double limit, double *x)
{
    struct implicit_euler *euler = (struct implicit_euler *)solver;
    size_t n = solver->ode->count;
    struct tt_solver_grid grid;
    struct implicit_euler_attempt attempt;
    double end;
    TRY(tt_solver_grid_next(solver, &euler->grid, limit, &end, &grid));
    double h = end - solver->t;
    memcpy(euler->begin, euler->end, n * sizeof *x);
    TRY(implicit_euler_solve(euler, end, h, false, &attempt));
    /* Without an iteration a retry would use the same point; an FMU that returns a value there only at the second
     * attempt is not reliable. */
    if (!attempt.converged && attempt.iterations > 0 && attempt.eval != TUTTI_EVAL_FAILED) {
        solver->counts.other_failures++;
        TRY(implicit_euler_solve(euler, end, h, true, &attempt));
    }
    if (!attempt.converged)
        return tt_solver_fail(solver, attempt.eval, h, attempt.worst,
                              attempt.eval ? "the derivatives have no value, and its steps are of a fixed size"
                                           : "Newton's method does not converge; a smaller --solver-step may help");
    memcpy(euler->end, euler->point, n * sizeof *x);
    euler->grid = grid;
    solver->before = solver->t;
    solver->t = end;
    solver->counts.steps++;
    memcpy(x, euler->end, n * sizeof *x);
    return TUTTI_OK;
}

static enum tutti_err implicit_euler_interpolate(struct tt_solver *solver, double t, double *x)
{
    struct implicit_euler *euler = (struct implicit_euler *)solver;
    double s = t == solver->t ? 1 : (t - solver->before) / (solver->t - solver->before);
    for (size_t i = 0; i < solver->ode->count; i++)
        x[i] = s == 1 ? euler->end[i] : euler->begin[i] + s * (euler->end[i] - euler->begin[i]);
    return TUTTI_OK;
}

static size_t implicit_euler_saved_size(const struct tt_solver *solver)
{
    return sizeof(struct implicit_euler_saved) + 2 * solver->ode->count * sizeof(double);
}

static void implicit_euler_save(const struct tt_solver *solver, void *memory)
{
    const struct implicit_euler *euler = (const struct implicit_euler *)solver;
    struct implicit_euler_saved saved = {solver->before, solver->t, euler->grid};
    memcpy(memory, &saved, sizeof saved);
    memcpy((char *)memory + sizeof saved, euler->begin, 2 * solver->ode->count * sizeof(double));
}

static void implicit_euler_restore(struct tt_solver *solver, const void *memory)
{
    struct implicit_euler *euler = (struct implicit_euler *)solver;
    struct implicit_euler_saved saved;
    memcpy(&saved, memory, sizeof saved);
    memcpy(euler->begin, (const char *)memory + sizeof saved, 2 * solver->ode->count * sizeof(double));
    euler->grid = saved.grid;
    solver->before = saved.before;
    solver->t = saved.t;
}

const struct tt_solver_kind tt_solver_implicit_euler = {
    .name = "implicit_euler",
    .title = "Euler's implicit method of order 1, fixed steps, for stiff problems",
    .order = 1,
    .stiff = true,
    .fixed = true,
    .size = sizeof(struct implicit_euler),
    .start = implicit_euler_start,
    .finish = implicit_euler_finish,
    .restart = implicit_euler_restart,
    .step = implicit_euler_step,
    .interpolate = implicit_euler_interpolate,
    .saved_size = implicit_euler_saved_size,
    .save = implicit_euler_save,
    .restore = implicit_euler_restore,
};
