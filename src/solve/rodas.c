/* SPDX-License-Identifier: MIT */
/* rodas.c - RODAS, a Rosenbrock method of order 4(3) with six stages: Hairer, Wanner, Solving ODEs II (2nd ed. 1996), IV.7 (stages, table
 * 7.1 and "Implementation") and VI.4 (stiffly accurate coefficients, those of METH = 1 in their code). L-stable; the embedded formula is, too.
 *
 * With E = I / (h gamma) - J, J and f_t being the derivatives of f at the beginning of the step, a stage solves one linear system,
 *     E u_i = f(t + alpha_i h, x + sum_j a_ij u_j) + sum_j (c_ij / h) u_j + h gamma_i f_t,
 * and nothing is iterated. Because the method is stiffly accurate, u_6 is what the last stage adds to the embedded solution: the error.
 *
 * Invariants between steps:
 * 1. x are the states at solver->t.
 * 2. bend and twist with past_x and x are the dense output of the last step, of order 3, which began at past_t with size past_h (a step into which
 *    rodas_resume() went has past_t + past_h > solver->t).
 * 3. All that later steps depend on is in `memory` and in the vectors after it: J is evaluated again in every step. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/jacobian.h"
#include "solve/lu.h"
#include "solve/solver.h"

enum { STAGES = 6, ATTEMPTS_MAX = 100 };

static const double gamma_diagonal = 0.25;
static const double alpha[STAGES] = {0, 0.386, 0.21, 0.63, 1, 1};
static const double gamma_time[STAGES] = {0.25, -0.1043, 0.1035, -0.0362, 0, 0};
static const double a[STAGES][STAGES - 1] = {
    {0},
    {1.544},
    {0.9466785280815826, 0.2557011698983284},
    {3.314825187068521, 2.896124015972201, 0.9986419139977817},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1},
};
static const double c[STAGES][STAGES - 1] = {
    {0},
    {-5.6688},
    {-2.430093356833875, -0.2063599157091915},
    {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
    {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
    {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054},
};
/* x(t + s h) = (1 - s) x0 + s (x1 + (1 - s) (bend + s twist)), with these factors of u_1 ... u_5. */
static const double bend_of[STAGES - 1] = {10.12623508344586, -7.487995877610167, -34.80091861555747,
                                           -7.992771707568823, 1.025137723295662};
static const double twist_of[STAGES - 1] = {-0.6762803392801253, 6.087714651680015, 16.43084320892478,
                                            24.76722511418386, -6.594389125716872};

/* Step sizes: the constants of the same code. */
static const double safety = 0.9, shrink_most = 0.2, grow_most = 6;

struct rodas_memory {
    double h; /* to be tried next; 0: to be found */
    double past_t, past_h;
    double h_last, error_last; /* of the accepted step before, for the predictive control; h_last 0: none */
};

/* The header written by rodas_save(); the vectors follow. */
struct rodas_saved {
    double before, t;
    struct rodas_memory memory;
};

struct rodas {
    struct tt_solver base;
    struct rodas_memory memory;
    struct tt_jacobian jacobian;
    struct tt_lu *lu;
    double *vectors; /* x, past_x, past_end, bend, twist: saved */
    double *x, *past_x, *past_end, *bend, *twist;
    double *dx, *by_time, *point,
        *stages; /* of the current step: f and f_t at its beginning; x of a stage; all u_i in sequence */
    size_t worst;
};

enum { VECTORS_SAVED = 5 };

static enum tutti_err rodas_start(struct tt_solver *solver)
{
    struct rodas *rodas = (struct rodas *)solver;
    size_t n = solver->ode->count;
    TRY(tt_jacobian_init(&rodas->jacobian, solver->ode, solver->options.jacobian));
    TRY(tt_lu_new(&rodas->lu, n, tt_jacobian_pattern(&rodas->jacobian), false));
    rodas->vectors = calloc(VECTORS_SAVED + 3 + STAGES, n * sizeof(double));
    if (!rodas->vectors)
        return tt_fail_memory();
    double **const places[] = {&rodas->x,     &rodas->past_x, &rodas->past_end, &rodas->bend,
                               &rodas->twist, &rodas->dx,     &rodas->by_time,  &rodas->point};
    double *rest = rodas->vectors;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++, rest += n)
        *places[i] = rest;
    rodas->stages = rest;
    return TUTTI_OK;
}

static void rodas_finish(struct tt_solver *solver)
{
    struct rodas *rodas = (struct rodas *)solver;
    tt_jacobian_fini(&rodas->jacobian);
    tt_lu_free(rodas->lu);
    free(rodas->vectors);
}

static enum tutti_err rodas_restart(struct tt_solver *solver, double t, const double *x)
{
    (void)t;
    struct rodas *rodas = (struct rodas *)solver;
    memmove(rodas->x, x, solver->ode->count * sizeof *x);
    rodas->memory = (struct rodas_memory){0};
    rodas->worst = SIZE_MAX;
    return TUTTI_OK;
}

static enum tutti_err rodas_interpolate(struct tt_solver *solver, double t, double *x)
{
    struct rodas *rodas = (struct rodas *)solver;
    size_t n = solver->ode->count;
    if (t == solver->t) {
        memcpy(x, rodas->x, n * sizeof *x);
        return TUTTI_OK;
    }
    double s = (t - rodas->memory.past_t) / rodas->memory.past_h, rest = 1 - s;
    for (size_t i = 0; i < n; i++)
        x[i] = rest * rodas->past_x[i] + s * (rodas->past_end[i] + rest * (rodas->bend[i] + s * rodas->twist[i]));
    return TUTTI_OK;
}

/* Only the step size is kept from earlier steps, and the error test of the next step detects if it is too long. */
static enum tutti_err rodas_resume(struct tt_solver *solver, double t)
{
    struct rodas *rodas = (struct rodas *)solver;
    if (t < solver->t)
        TRY(rodas_interpolate(solver, t, rodas->point));
    if (t < solver->t)
        memcpy(rodas->x, rodas->point, solver->ode->count * sizeof(double));
    solver->t = t;
    rodas->memory.h_last = 0;
    return TUTTI_OK;
}

struct rodas_attempt {
    double t, h, end;
    bool rejected;
    size_t worst;
    const char *why;
};

/* f_t, by a difference forward that lies in the step. */
static enum tt_eval rodas_differentiate_by_time(struct rodas *rodas, const struct rodas_attempt *attempt)
{
    double origin = rodas->base.ode->origin, now = origin + attempt->t;
    double there = attempt->t + fmax(sqrt(DBL_EPSILON) * attempt->h, 4 * DBL_EPSILON * fabs(now));
    there = fmin(there, attempt->end);
    double difference = origin + there - now; /* of the times that f gets */
    enum tt_eval eval = tt_solver_rhs(&rodas->base, there, rodas->x, rodas->by_time);
    for (size_t i = 0; i < rodas->base.ode->count && eval == TUTTI_EVAL_OK; i++)
        rodas->by_time[i] = difference > 0 ? (rodas->by_time[i] - rodas->dx[i]) / difference : 0;
    if (eval == TUTTI_EVAL_NO_VALUE)
        rodas->worst = tt_solver_blame(&rodas->base, rodas->x, rodas->x, rodas->by_time);
    return eval;
}

static enum tt_eval rodas_solve_stage(struct rodas *rodas, const struct rodas_attempt *attempt, int stage)
{
    struct tt_solver *solver = &rodas->base;
    size_t n = solver->ode->count;
    double *u = rodas->stages + (size_t)stage * n;
    memcpy(rodas->point, rodas->x, n * sizeof(double));
    for (int j = 0; j < stage; j++)
        for (size_t i = 0; i < n; i++)
            rodas->point[i] += a[stage][j] * rodas->stages[(size_t)j * n + i];
    if (stage == 0) {
        memcpy(u, rodas->dx, n * sizeof *u);
    } else {
        double t = alpha[stage] == 1 ? attempt->end : attempt->t + alpha[stage] * attempt->h;
        enum tt_eval eval = tt_solver_rhs(solver, t, rodas->point, u);
        if (eval == TUTTI_EVAL_NO_VALUE)
            rodas->worst = tt_solver_blame(solver, rodas->x, rodas->point, u);
        if (eval)
            return eval;
    }
    for (int j = 0; j < stage; j++)
        for (size_t i = 0; i < n; i++)
            u[i] += c[stage][j] / attempt->h * rodas->stages[(size_t)j * n + i];
    for (size_t i = 0; i < n && gamma_time[stage] != 0; i++)
        u[i] += attempt->h * gamma_time[stage] * rodas->by_time[i];
    tt_lu_solve(rodas->lu, u, NULL);
    return TUTTI_EVAL_OK;
}

/* h_new / h; after an accepted step the lesser of this and that of Gustafsson's predictive controller (ACM TOMS 20,
 * 1994). */
static double rodas_step_ratio(const struct rodas_memory *memory, double h, double error, bool good)
{
    double ratio = safety * pow(fmax(error, 1e-10), -0.25);
    if (good && memory->h_last > 0)
        ratio = fmin(ratio, safety * h / memory->h_last * pow(memory->error_last / fmax(error * error, 1e-20), 0.25));
    return fmin(fmax(ratio, shrink_most), grow_most);
}

static void rodas_accept(struct rodas *rodas, const struct rodas_attempt *attempt, double error)
{
    struct rodas_memory *memory = &rodas->memory;
    struct tt_solver *solver = &rodas->base;
    size_t n = solver->ode->count;
    double ratio = rodas_step_ratio(memory, attempt->h, error, true), wanted = memory->h;
    memory->h = (attempt->rejected ? fmin(ratio, 1) : ratio) * attempt->h;
    if (attempt->h < wanted && ratio >= 1) /* a step shortened to the limit is not evidence for longer steps */
        memory->h = fmax(memory->h, wanted);
    memory->h_last = attempt->h;
    memory->error_last = fmax(error, 1e-2);
    memory->past_t = attempt->t;
    memory->past_h = attempt->h;
    memcpy(rodas->past_x, rodas->x, n * sizeof(double));
    memset(rodas->bend, 0, n * sizeof(double));
    memset(rodas->twist, 0, n * sizeof(double));
    for (size_t j = 0; j < STAGES - 1; j++)
        for (size_t i = 0; i < n; i++) {
            rodas->bend[i] += bend_of[j] * rodas->stages[j * n + i];
            rodas->twist[i] += twist_of[j] * rodas->stages[j * n + i];
        }
    for (size_t i = 0; i < n; i++)
        rodas->x[i] = rodas->past_end[i] = rodas->point[i] + rodas->stages[(STAGES - 1) * n + i];
    solver->before = attempt->t;
    solver->t = attempt->end;
    solver->counts.steps++;
}

static void rodas_reject(struct rodas *rodas, struct rodas_attempt *attempt, double h, size_t worst, const char *why)
{
    rodas->memory.h = h;
    rodas->memory.h_last = 0;
    attempt->rejected = true;
    attempt->worst = worst;
    attempt->why = why;
}

/* One attempt from what is known at the beginning of the step; *done: it was accepted. */
static enum tutti_err rodas_attempt_step(struct rodas *rodas, struct rodas_attempt *attempt, bool *done)
{
    struct tt_solver *solver = &rodas->base;
    size_t n = solver->ode->count;
    bool singular;
    *done = false;
    tt_lu_forget(rodas->lu); /* pivots gone by are not used: the same numbers give the same bits */
    solver->counts.factorisations++;
    TRY(tt_lu_factor(rodas->lu, rodas->jacobian.values, 1 / (attempt->h * gamma_diagonal), 0, &singular));
    enum tt_eval eval = TUTTI_EVAL_OK;
    for (int stage = 0; stage < STAGES && !singular && eval == TUTTI_EVAL_OK; stage++)
        eval = rodas_solve_stage(rodas, attempt, stage);
    if (eval == TUTTI_EVAL_FAILED)
        return solver->ode->err;
    if (eval || singular) {
        solver->counts.other_failures++;
        rodas_reject(rodas, attempt, attempt->h / 2, eval ? rodas->worst : SIZE_MAX,
                     eval ? "the derivatives have no value" : "its linear equations cannot be solved");
        return TUTTI_OK;
    }
    double error = tt_solver_norm(solver, rodas->stages + (STAGES - 1) * n, rodas->x, &rodas->worst);
    *done = error < 1;
    if (*done) {
        rodas_accept(rodas, attempt, error);
        return TUTTI_OK;
    }
    solver->counts.error_failures++;
    double ratio = isfinite(error) ? fmin(rodas_step_ratio(&rodas->memory, attempt->h, error, false), safety)
                                   : shrink_most;
    rodas_reject(rodas, attempt, ratio * attempt->h, rodas->worst, "the error test keeps failing");
    return TUTTI_OK;
}

/* f, a size for the first step, then J and f_t where the step begins. */
static enum tutti_err rodas_begin_attempt(struct rodas *rodas, double limit, struct rodas_attempt *attempt)
{
    struct tt_solver *solver = &rodas->base;
    enum tt_eval eval = tt_solver_rhs(solver, solver->t, rodas->x, rodas->dx);
    if (eval)
        return tt_solver_fail(solver, eval, 0, tt_solver_blame(solver, rodas->x, rodas->x, rodas->dx),
                              "the derivatives have no value at the beginning of a step");
    if (rodas->memory.h == 0)
        TRY(tt_solver_first_step(solver, rodas->x, rodas->dx, 3, limit, rodas->stages, &rodas->memory.h));
    rodas->memory.h = tt_solver_bound_step(solver, rodas->memory.h);
    tt_solver_aim(solver, rodas->memory.h, limit, &attempt->h, &attempt->end);
    attempt->t = solver->t;
    eval = tt_jacobian_update(&rodas->jacobian, solver->t, rodas->x, rodas->dx, attempt->h, &solver->counts);
    for (int tries = 0; eval == TUTTI_EVAL_OK && tries < ATTEMPTS_MAX; tries++) {
        eval = rodas_differentiate_by_time(rodas, attempt);
        if (eval != TUTTI_EVAL_NO_VALUE)
            break;
        attempt->end = attempt->t + (attempt->h /= 2);
        eval = TUTTI_EVAL_OK;
    }
    return eval ? tt_solver_fail(solver, eval, attempt->h, rodas->worst, "the derivatives have no value") : TUTTI_OK;
}

static enum tutti_err rodas_step(struct tt_solver *solver, double limit, double *x)
{
    struct rodas *rodas = (struct rodas *)solver;
    struct rodas_attempt attempt = {.worst = rodas->worst, .why = "the step size has become too small"};
    TRY(rodas_begin_attempt(rodas, limit, &attempt));
    bool done = false;
    for (int attempts = 0; !done; attempts++) {
        if (tt_solver_step_is_too_small(solver, rodas->memory.h, limit, attempt.rejected, rodas->x, rodas->dx) ||
            attempts == ATTEMPTS_MAX)
            return tt_solver_fail(solver, TUTTI_EVAL_NO_VALUE, rodas->memory.h, attempt.worst, attempt.why);
        tt_solver_aim(solver, rodas->memory.h, limit, &attempt.h, &attempt.end);
        TRY(rodas_attempt_step(rodas, &attempt, &done));
    }
    memcpy(x, rodas->x, solver->ode->count * sizeof *x);
    return TUTTI_OK;
}

static size_t rodas_saved_size(const struct tt_solver *solver)
{
    return sizeof(struct rodas_saved) + VECTORS_SAVED * solver->ode->count * sizeof(double);
}

static void rodas_save(const struct tt_solver *solver, void *memory)
{
    const struct rodas *rodas = (const struct rodas *)solver;
    struct rodas_saved saved = {solver->before, solver->t, rodas->memory};
    memcpy(memory, &saved, sizeof saved);
    memcpy((char *)memory + sizeof saved, rodas->vectors, VECTORS_SAVED * solver->ode->count * sizeof(double));
}

static void rodas_restore(struct tt_solver *solver, const void *memory)
{
    struct rodas *rodas = (struct rodas *)solver;
    struct rodas_saved saved;
    memcpy(&saved, memory, sizeof saved);
    memcpy(rodas->vectors, (const char *)memory + sizeof saved, VECTORS_SAVED * solver->ode->count * sizeof(double));
    solver->before = saved.before;
    solver->t = saved.t;
    rodas->memory = saved.memory;
}

const struct tt_solver_kind tt_solver_rodas = {
    .name = "rodas",
    .title = "Rosenbrock method RODAS of order 4 (Hairer, Wanner), for stiff problems, without Newton's iteration",
    .order = 4,
    .stiff = true,
    .exact = true,
    .size = sizeof(struct rodas),
    .start = rodas_start,
    .finish = rodas_finish,
    .restart = rodas_restart,
    .resume = rodas_resume,
    .step = rodas_step,
    .interpolate = rodas_interpolate,
    .saved_size = rodas_saved_size,
    .save = rodas_save,
    .restore = rodas_restore,
};
