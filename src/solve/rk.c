/* SPDX-License-Identifier: MIT */
/* rk.c - explicit Runge-Kutta methods with steps of a fixed size: rk4, heun, euler.
 *
 * The steps end on a grid (struct tt_solver_grid). */
#include "solve/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES_MAX = 4, DENSE_DEGREE = 3 };

/* k_i = f(t + c_i h, x + h sum_j a_ij k_j), x1 = x + h sum_i b_i k_i. The dense output, x(t + s h) = x + h sum_i b_i(s)
 * k_i, takes no evaluation beyond these: Hairer, Norsett, Wanner, Solving ODEs I, II.6. */
struct rk_tableau {
    size_t stages;
    double c[STAGES_MAX];
    double a[STAGES_MAX][STAGES_MAX];
    double b[STAGES_MAX];
    double dense[STAGES_MAX][DENSE_DEGREE]; /* b_i(s): factors of s, s^2, s^3 */
};

/* Ibid. table II.1.2; the dense output is of order 3, II.6. */
static const struct rk_tableau classic = {
    .stages = 4,
    .c = {0, 0.5, 0.5, 1},
    .a = {{0}, {0.5}, {0, 0.5}, {0, 0, 1}},
    .b = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
    .dense = {{1, -1.5, 2.0 / 3}, {0, 1, -2.0 / 3}, {0, 1, -2.0 / 3}, {0, -0.5, 2.0 / 3}},
};

/* The trapezoidal rule with Euler's step in it; the dense output is of order 2, too. */
static const struct rk_tableau trapezoid = {
    .stages = 2,
    .c = {0, 1},
    .a = {{0}, {1}},
    .b = {0.5, 0.5},
    .dense = {{1, -0.5}, {0, 0.5}},
};

static const struct rk_tableau rectangle = {
    .stages = 1,
    .b = {1},
    .dense = {{1}},
};

/* The header written by rk_save(), before `memory`. */
struct rk_saved {
    double before, t;
    struct tt_solver_grid grid;
};

struct rk {
    struct tt_solver base;
    const struct rk_tableau *tableau;
    struct tt_solver_grid grid;
    double *memory; /* all that follows */
    double *begin, *end;
    double *slopes; /* of the stages, one after the other */
    double *point;  /* scratch */
};

/* Of begin, end and slopes: all that later calls depend on. */
static size_t rk_memory_size(const struct rk *rk)
{
    return (2 + rk->tableau->stages) * rk->base.ode->count * sizeof(double);
}

static enum tutti_err rk_start(struct tt_solver *solver, const struct rk_tableau *tableau)
{
    struct rk *rk = (struct rk *)solver;
    size_t n = solver->ode->count;
    rk->tableau = tableau;
    rk->memory = calloc(tableau->stages + 3, n * sizeof(double));
    if (!rk->memory)
        return tt_fail_memory();
    rk->begin = rk->memory;
    rk->end = rk->begin + n;
    rk->slopes = rk->end + n;
    rk->point = rk->slopes + tableau->stages * n;
    return TUTTI_OK;
}

static enum tutti_err rk4_start(struct tt_solver *solver)
{
    return rk_start(solver, &classic);
}

static enum tutti_err heun_start(struct tt_solver *solver)
{
    return rk_start(solver, &trapezoid);
}

static enum tutti_err euler_start(struct tt_solver *solver)
{
    return rk_start(solver, &rectangle);
}

static void rk_finish(struct tt_solver *solver)
{
    free(((struct rk *)solver)->memory);
}

static enum tutti_err rk_restart(struct tt_solver *solver, double t, const double *x)
{
    struct rk *rk = (struct rk *)solver;
    rk->grid = (struct tt_solver_grid){.origin = t};
    memcpy(rk->end, x, solver->ode->count * sizeof *x);
    return TUTTI_OK;
}

/* out = begin + h sum_i weights_i k_i */
static void rk_combine(const struct rk *rk, double h, const double *weights, size_t stages, double *out)
{
    size_t n = rk->base.ode->count;
    memcpy(out, rk->begin, n * sizeof *out);
    for (size_t j = 0; j < stages; j++) {
        const double *slope = rk->slopes + j * n;
        double factor = h * weights[j];
        if (factor != 0)
            for (size_t i = 0; i < n; i++)
                out[i] += factor * slope[i];
    }
}

static enum tutti_err rk_step(struct tt_solver *solver, double limit, double *x)
{
    struct rk *rk = (struct rk *)solver;
    const struct rk_tableau *tableau = rk->tableau;
    size_t n = solver->ode->count;
    struct tt_solver_grid grid;
    double end;
    TRY(tt_solver_grid_next(solver, &rk->grid, limit, &end, &grid));
    double h = end - solver->t;
    memcpy(rk->begin, rk->end, n * sizeof *x);
    for (size_t i = 0; i < tableau->stages; i++) {
        double t = tableau->c[i] == 1 ? end : solver->t + tableau->c[i] * h;
        rk_combine(rk, h, tableau->a[i], i, rk->point);
        double *slope = rk->slopes + i * n;
        enum tt_eval eval = tt_solver_rhs(solver, t, rk->point, slope);
        if (eval)
            return tt_solver_fail(solver, eval, h, tt_solver_blame(solver, rk->begin, rk->point, slope),
                                  "the derivatives have no value, and its steps are of a fixed size");
    }
    rk_combine(rk, h, tableau->b, tableau->stages, rk->end);
    for (size_t i = 0; i < solver->ode->count; i++)
        if (!isfinite(rk->end[i]))
            return tt_solver_fail(solver, TUTTI_EVAL_NO_VALUE, h, i,
                                  "a state has grown out of all bounds; a smaller step may help");
    rk->grid = grid;
    solver->before = solver->t;
    solver->t = end;
    solver->counts.steps++;
    memcpy(x, rk->end, n * sizeof *x);
    return TUTTI_OK;
}

static enum tutti_err rk_interpolate(struct tt_solver *solver, double t, double *x)
{
    struct rk *rk = (struct rk *)solver;
    if (t == solver->t) {
        memcpy(x, rk->end, solver->ode->count * sizeof *x);
        return TUTTI_OK;
    }
    double h = solver->t - solver->before, s = (t - solver->before) / h, weights[STAGES_MAX];
    for (size_t i = 0; i < rk->tableau->stages; i++) {
        const double *factors = rk->tableau->dense[i];
        weights[i] = s * (factors[0] + s * (factors[1] + s * factors[2]));
    }
    rk_combine(rk, h, weights, rk->tableau->stages, x);
    return TUTTI_OK;
}

static size_t rk_saved_size(const struct tt_solver *solver)
{
    return sizeof(struct rk_saved) + rk_memory_size((const struct rk *)solver);
}

static void rk_save(const struct tt_solver *solver, void *memory)
{
    const struct rk *rk = (const struct rk *)solver;
    struct rk_saved saved = {solver->before, solver->t, rk->grid};
    memcpy(memory, &saved, sizeof saved);
    memcpy((char *)memory + sizeof saved, rk->memory, rk_memory_size(rk));
}

static void rk_restore(struct tt_solver *solver, const void *memory)
{
    struct rk *rk = (struct rk *)solver;
    struct rk_saved saved;
    memcpy(&saved, memory, sizeof saved);
    memcpy(rk->memory, (const char *)memory + sizeof saved, rk_memory_size(rk));
    rk->grid = saved.grid;
    solver->before = saved.before;
    solver->t = saved.t;
}

const struct tt_solver_kind tt_solver_rk4 = {
    .name = "rk4",
    .title = "the classical Runge-Kutta method of order 4, fixed steps",
    .order = 4,
    .fixed = true,
    .size = sizeof(struct rk),
    .start = rk4_start,
    .finish = rk_finish,
    .restart = rk_restart,
    .step = rk_step,
    .interpolate = rk_interpolate,
    .saved_size = rk_saved_size,
    .save = rk_save,
    .restore = rk_restore,
};

const struct tt_solver_kind tt_solver_heun = {
    .name = "heun",
    .title = "Heun's method of order 2, fixed steps",
    .order = 2,
    .fixed = true,
    .size = sizeof(struct rk),
    .start = heun_start,
    .finish = rk_finish,
    .restart = rk_restart,
    .step = rk_step,
    .interpolate = rk_interpolate,
    .saved_size = rk_saved_size,
    .save = rk_save,
    .restore = rk_restore,
};

const struct tt_solver_kind tt_solver_euler = {
    .name = "euler",
    .title = "Euler's method of order 1, fixed steps",
    .order = 1,
    .fixed = true,
    .size = sizeof(struct rk),
    .start = euler_start,
    .finish = rk_finish,
    .restart = rk_restart,
    .step = rk_step,
    .interpolate = rk_interpolate,
    .saved_size = rk_saved_size,
    .save = rk_save,
    .restore = rk_restore,
};
