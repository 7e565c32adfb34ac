/* SPDX-License-Identifier: MIT */
/* radau5.c - Radau IIA of order 5: Hairer, Wanner, Solving ODEs II (2nd ed. 1996), IV.8, whose headings are cited here.
 *
 * Invariants between steps:
 * 1. x are the states at solver->t, and dx is f there, unless `fresh`, which means that f has still to be evaluated.
 * 2. With `past`, z are the stages of an accepted step of size past_h from past_t, where the states were past_x; this
 *    polynomial is the dense output, and its continuation the first guess of the next step.
 * 3. All that later steps depend on is in `memory`, in the vectors after it, in the Jacobian's values, and in eta and
 *    h_factorised of Newton's method; the factors follow from these. */
#include "solve/radau5.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = TUTTI_RADAU5_STAGES, ATTEMPTS_MAX = 100 };

/* "Step Size Selection" */
static const double safety = 0.9, shrink_most = 0.2, grow_most = 8;
static const double keep_jacobian = 1e-3; /* theta below which it will do for the next step */
static const double keep_step = 1.2;      /* growth that does not pay for a factorisation */

struct radau5_memory {
    double h; /* to be tried next; 0: to be found */
    double past_t, past_h;
    double h_last, error_last; /* of the accepted step before, for the predictive control; h_last 0: none */
    bool fresh;                /* dx is not known */
    bool first;                /* no step since the beginning or since f became another */
    bool past;
    bool jacobian; /* the next step can reuse the Jacobian */
};

/* The header written by radau5_save(); the saved vectors and the Jacobian's values follow. */
struct radau5_saved {
    double before, t;
    struct radau5_memory memory;
    double eta, h_factorised;
};

struct radau5 {
    struct tt_solver base;
    struct radau5_memory memory;
    struct tt_radau5_newton newton;
    double *vectors; /* past_x, z, x, dx: saved */
    double *past_x, *z, *x, *dx;
    double *error, *next, *next_dx; /* scratch, one after the other */
    size_t jacobian_entries;
    size_t worst; /* the state with the largest error, for messages */
};

static const size_t vectors_saved = STAGES + 3;

static enum tutti_err radau5_start(struct tt_solver *solver)
{
    struct radau5 *radau5 = (struct radau5 *)solver;
    size_t n = solver->ode->count;
    TRY(tt_radau5_newton_init(&radau5->newton, solver));
    const struct tt_pattern *pattern = tt_jacobian_pattern(&radau5->newton.jacobian);
    radau5->jacobian_entries = pattern ? tt_pattern_entries(pattern) : n * n;
    radau5->vectors = calloc(vectors_saved + 3, n * sizeof(double));
    if (!radau5->vectors)
        return tt_fail_memory();
    radau5->past_x = radau5->vectors;
    radau5->z = radau5->past_x + n;
    radau5->x = radau5->z + STAGES * n;
    radau5->dx = radau5->x + n;
    radau5->error = radau5->dx + n;
    radau5->next = radau5->error + n;
    radau5->next_dx = radau5->next + n;
    return TUTTI_OK;
}

static void radau5_finish(struct tt_solver *solver)
{
    struct radau5 *radau5 = (struct radau5 *)solver;
    tt_radau5_newton_fini(&radau5->newton);
    free(radau5->vectors);
}

static enum tutti_err radau5_restart(struct tt_solver *solver, double t, const double *x)
{
    (void)t;
    struct radau5 *radau5 = (struct radau5 *)solver;
    memcpy(radau5->x, x, solver->ode->count * sizeof *x);
    radau5->memory = (struct radau5_memory){.fresh = true, .first = true};
    radau5->newton.eta = 1;
    radau5->worst = SIZE_MAX;
    return TUTTI_OK;
}

/* out = what the polynomial of the last step has added to past_x at t */
static void radau5_evaluate_move(const struct radau5 *radau5, double t, double *out)
{
    size_t n = radau5->base.ode->count;
    double weights[STAGES];
    tt_radau5_weights((t - radau5->memory.past_t) / radau5->memory.past_h, weights);
    for (size_t i = 0; i < n; i++)
        out[i] = weights[0] * radau5->z[i] + weights[1] * radau5->z[n + i] + weights[2] * radau5->z[2 * n + i];
}

static enum tutti_err radau5_interpolate(struct tt_solver *solver, double t, double *x)
{
    struct radau5 *radau5 = (struct radau5 *)solver;
    if (t == solver->t) {
        memcpy(x, radau5->x, solver->ode->count * sizeof *x);
        return TUTTI_OK;
    }
    radau5_evaluate_move(radau5, t, x);
    for (size_t i = 0; i < solver->ode->count; i++)
        x[i] += radau5->past_x[i];
    return TUTTI_OK;
}

/* Step size, Jacobian and polynomial belong to a problem close to the new one, and the checks of every step detect if
 * they do not fit: so they are kept. */
static enum tutti_err radau5_resume(struct tt_solver *solver, double t)
{
    struct radau5 *radau5 = (struct radau5 *)solver;
    if (t < solver->t)
        TRY(radau5_interpolate(solver, t, radau5->x));
    solver->t = t;
    radau5->memory.fresh = radau5->memory.first = true;
    radau5->memory.h_last = 0;
    radau5->newton.eta = 1; /* but the rate of convergence is believed when it is seen */
    return TUTTI_OK;
}

/* "Starting Values for the Newton Iteration": the extrapolated polynomial of the last step; zero after a restart. */
static void radau5_guess_stages(struct radau5 *radau5, const struct tt_radau5_attempt *attempt)
{
    size_t n = radau5->base.ode->count;
    double *z = radau5->newton.z, *now = radau5->error;
    memset(z, 0, STAGES * n * sizeof *z);
    if (!radau5->memory.past)
        return;
    radau5_evaluate_move(radau5, attempt->t, now);
    for (size_t k = 0; k < STAGES; k++) {
        radau5_evaluate_move(radau5, attempt->t + tt_radau5_method.c[k] * attempt->h, z + k * n);
        for (size_t i = 0; i < n; i++)
            z[k * n + i] -= now[i];
    }
}

/* The estimate belongs to an embedded formula of order 3: it is O(h^4), the error of a step O(h^6). If the latter is to
 * be about tol, the former may be about tol^(4/6). The factor is the one that makes this the same at tol = 1e-3. Of both
 * tolerances, tol is the one that counts for a state of nominal size. */
static double radau5_estimate_allowed(const struct tt_ode *ode)
{
    double tolerance = fmax(ode->rtol, fmin(ode->atol, 1));
    return 0.1 * pow(tolerance, 2.0 / 3) / tolerance;
}

/* "Step Size Selection". `again`: after a rejection and in the first step, an estimate that is too large is made once
 * more, with f at x + error, since the first is too large for stiff components that have not died out. */
static enum tt_eval radau5_estimate_error(struct radau5 *radau5, const struct tt_radau5_attempt *attempt, bool again,
                                          double *size)
{
    struct tt_solver *solver = &radau5->base;
    double allowed = radau5_estimate_allowed(solver->ode);
    tt_radau5_newton_error(&radau5->newton, attempt->h, attempt->dx, radau5->error);
    *size = tt_solver_norm(solver, radau5->error, attempt->x, &radau5->worst) / allowed;
    if (*size < 1 || !again)
        return TUTTI_EVAL_OK;
    for (size_t i = 0; i < solver->ode->count; i++)
        radau5->next[i] = attempt->x[i] + radau5->error[i];
    enum tt_eval eval = tt_solver_rhs(solver, attempt->t, radau5->next, radau5->next_dx);
    if (eval)
        return eval == TUTTI_EVAL_NO_VALUE ? TUTTI_EVAL_OK : eval; /* the first estimate stands */
    tt_radau5_newton_error(&radau5->newton, attempt->h, radau5->next_dx, radau5->error);
    *size = tt_solver_norm(solver, radau5->error, attempt->x, &radau5->worst) / allowed;
    return TUTTI_EVAL_OK;
}

/* h_new / h: "Step Size Selection"; fewer iterations than allowed let it be larger. `predict`: the lesser of this and
 * the value of Gustafsson's predictive controller (ACM TOMS 20, 1994). */
static double radau5_step_ratio(const struct radau5 *radau5, double h, double size, bool predict)
{
    const struct radau5_memory *memory = &radau5->memory;
    int most = TUTTI_RADAU5_ITERATIONS;
    double fac = safety * (2 * most + 1) / (2 * most + radau5->newton.iterations);
    size = fmax(size, 1e-10);
    double ratio = fac * pow(size, -0.25);
    if (predict && memory->h_last > 0)
        ratio = fmin(ratio, ratio * h / memory->h_last * pow(memory->error_last / size, 0.25));
    return fmin(fmax(ratio, shrink_most), grow_most);
}

static void radau5_accept(struct radau5 *radau5, const struct tt_radau5_attempt *attempt, double size, bool rejected)
{
    struct radau5_memory *memory = &radau5->memory;
    size_t n = radau5->base.ode->count;
    double ratio = radau5_step_ratio(radau5, attempt->h, size, true), wanted = memory->h;
    if (rejected)
        ratio = fmin(ratio, 1);
    memory->jacobian = radau5->newton.theta <= keep_jacobian;
    if (memory->jacobian && ratio >= 1 && ratio <= keep_step)
        ratio = 1;
    memory->h = ratio * attempt->h;
    /* A step that was shortened to the limit is not evidence for longer steps, unless it was too long already. */
    if (attempt->h < wanted && ratio >= 1)
        memory->h = fmax(memory->h, wanted);
    memory->h_last = attempt->h;
    memory->error_last = fmax(size, 1e-2);
    memory->past_t = attempt->t;
    memory->past_h = attempt->h;
    memory->past = true;
    memory->first = false;
    memcpy(radau5->past_x, radau5->x, n * sizeof(double));
    memcpy(radau5->z, radau5->newton.z, STAGES * n * sizeof(double));
    memcpy(radau5->x, radau5->next, n * sizeof(double));
    memcpy(radau5->dx, radau5->next_dx, n * sizeof(double));
    radau5->base.before = attempt->t;
    radau5->base.t = attempt->end;
    radau5->base.counts.steps++;
}

/* f, and a size for the first step. */
static enum tutti_err radau5_begin_step(struct radau5 *radau5, double limit)
{
    struct tt_solver *solver = &radau5->base;
    struct radau5_memory *memory = &radau5->memory;
    if (memory->fresh) {
        enum tt_eval eval = tt_solver_rhs(solver, solver->t, radau5->x, radau5->dx);
        if (eval)
            return tt_solver_fail(solver, eval, 0, tt_solver_blame(solver, radau5->x, radau5->x, radau5->dx),
                                  "the derivatives have no value at the beginning");
        memory->fresh = false;
    }
    const int estimate_order = 3;
    if (memory->h == 0)
        TRY(tt_solver_first_step(solver, radau5->x, radau5->dx, estimate_order, limit, radau5->error, &memory->h));
    memory->h = tt_solver_bound_step(solver, memory->h);
    return TUTTI_OK;
}

struct radau5_trial {
    bool renewed;  /* the Jacobian is that of this step's beginning */
    bool rejected; /* an attempt failed: the step must not grow */
    size_t worst;
    const char *why;
};

/* The next attempt is of this size. */
static void radau5_reject(struct radau5 *radau5, struct radau5_trial *trial, double h, size_t worst, const char *why)
{
    radau5->memory.h = h;
    trial->rejected = true;
    trial->worst = worst;
    trial->why = why;
}

static enum tt_radau5_result radau5_solve_stages(struct radau5 *radau5, struct radau5_trial *trial,
                                                 const struct tt_radau5_attempt *attempt)
{
    const struct tt_ode *ode = radau5->base.ode;
    if (!radau5->memory.jacobian) {
        enum tt_radau5_result result = tt_radau5_newton_renew(&radau5->newton, attempt);
        if (result != TUTTI_RADAU5_CONVERGED)
            return result;
        radau5->memory.jacobian = trial->renewed = true;
    }
    radau5_guess_stages(radau5, attempt);
    /* "Stopping Criterion": kappa = 0.03, but no less than rounding errors let be reached. */
    double tolerance = 0.03 * fmin(1, radau5_estimate_allowed(ode));
    double rounding = DBL_EPSILON * tt_solver_norm(&radau5->base, attempt->x, attempt->x, NULL);
    return tt_radau5_newton_solve(&radau5->newton, attempt, fmax(tolerance, 10 * rounding));
}

/* The stages could not be found: another Jacobian or a smaller step may help. */
static void radau5_handle_divergence(struct radau5 *radau5, struct radau5_trial *trial, double h,
                                     enum tt_radau5_result result)
{
    radau5->base.counts.other_failures++;
    if (result == TUTTI_RADAU5_NO_VALUE) {
        radau5->memory.past = false; /* the guess may be to blame */
        radau5_reject(radau5, trial, h / 2, radau5->newton.worst, "the derivatives have no value");
    } else if (!trial->renewed) {
        radau5->memory.jacobian = false;
    } else {
        radau5_reject(radau5, trial, h / 2, radau5->newton.worst, "Newton's method does not converge");
    }
}

/* One attempt; *done: it was accepted. */
static enum tutti_err radau5_attempt_step(struct radau5 *radau5, struct radau5_trial *trial, double limit, bool *done)
{
    struct tt_solver *solver = &radau5->base;
    struct tt_radau5_attempt attempt = {.t = solver->t, .x = radau5->x, .dx = radau5->dx};
    tt_solver_aim(solver, radau5->memory.h, limit, &attempt.h, &attempt.end);
    double h = attempt.h, size;
    *done = false;
    enum tt_radau5_result result = radau5_solve_stages(radau5, trial, &attempt);
    if (result == TUTTI_RADAU5_ERROR)
        return radau5->newton.err;
    if (result != TUTTI_RADAU5_CONVERGED) {
        radau5_handle_divergence(radau5, trial, h, result);
        return TUTTI_OK;
    }
    enum tt_eval eval = radau5_estimate_error(radau5, &attempt, radau5->memory.first || trial->rejected, &size);
    if (eval)
        return solver->ode->err;
    if (!(size < 1)) {
        solver->counts.error_failures++;
        double ratio = isfinite(size) ? fmin(radau5_step_ratio(radau5, h, size, false), safety) : shrink_most;
        radau5_reject(radau5, trial, h * (radau5->memory.first ? 0.1 : ratio), radau5->worst,
                      "the error test keeps failing");
        radau5->memory.jacobian = trial->renewed || radau5->newton.theta <= keep_jacobian;
        return TUTTI_OK;
    }
    size_t n = solver->ode->count;
    for (size_t i = 0; i < n; i++)
        radau5->next[i] = radau5->x[i] + radau5->newton.z[(STAGES - 1) * n + i];
    eval = tt_solver_rhs(solver, attempt.end, radau5->next, radau5->next_dx);
    if (eval == TUTTI_EVAL_FAILED)
        return solver->ode->err;
    if (eval) {
        radau5->newton.worst = tt_solver_blame(solver, radau5->x, radau5->next, radau5->next_dx);
        radau5_handle_divergence(radau5, trial, h, TUTTI_RADAU5_NO_VALUE);
        return TUTTI_OK;
    }
    radau5_accept(radau5, &attempt, size, trial->rejected);
    *done = true;
    return TUTTI_OK;
}

static enum tutti_err radau5_step(struct tt_solver *solver, double limit, double *x)
{
    struct radau5 *radau5 = (struct radau5 *)solver;
    TRY(radau5_begin_step(radau5, limit));
    struct radau5_trial trial = {.worst = radau5->worst, .why = "the step size has become too small"};
    bool done = false;
    for (int attempts = 0; !done; attempts++) {
        if (tt_solver_step_is_too_small(solver, radau5->memory.h, limit, trial.rejected, radau5->x, radau5->dx) ||
            attempts == ATTEMPTS_MAX)
            return tt_solver_fail(solver, TUTTI_EVAL_NO_VALUE, radau5->memory.h, trial.worst, trial.why);
        TRY(radau5_attempt_step(radau5, &trial, limit, &done));
    }
    memcpy(x, radau5->x, solver->ode->count * sizeof *x);
    return TUTTI_OK;
}

static size_t radau5_saved_size(const struct tt_solver *solver)
{
    const struct radau5 *radau5 = (const struct radau5 *)solver;
    return sizeof(struct radau5_saved) +
           (vectors_saved * solver->ode->count + radau5->jacobian_entries) * sizeof(double);
}

static void radau5_save(const struct tt_solver *solver, void *memory)
{
    const struct radau5 *radau5 = (const struct radau5 *)solver;
    const struct tt_radau5_newton *newton = &radau5->newton;
    size_t vectors = vectors_saved * solver->ode->count * sizeof(double);
    struct radau5_saved saved = {solver->before, solver->t, radau5->memory, newton->eta, newton->h_factorised};
    char *to = memory;
    memcpy(to, &saved, sizeof saved);
    memcpy(to + sizeof saved, radau5->vectors, vectors);
    memcpy(to + sizeof saved + vectors, newton->jacobian.values, radau5->jacobian_entries * sizeof(double));
}

static void radau5_restore(struct tt_solver *solver, const void *memory)
{
    struct radau5 *radau5 = (struct radau5 *)solver;
    struct tt_radau5_newton *newton = &radau5->newton;
    size_t vectors = vectors_saved * solver->ode->count * sizeof(double);
    struct radau5_saved saved;
    const char *from = memory;
    memcpy(&saved, from, sizeof saved);
    memcpy(radau5->vectors, from + sizeof saved, vectors);
    memcpy(newton->jacobian.values, from + sizeof saved + vectors, radau5->jacobian_entries * sizeof(double));
    solver->before = saved.before;
    solver->t = saved.t;
    radau5->memory = saved.memory;
    newton->eta = saved.eta;
    newton->h_factorised = saved.h_factorised;
    newton->factorised = false;
}

const struct tt_solver_kind tt_solver_radau5 = {
    .name = "radau5",
    .title = "Radau IIA of order 5 (Hairer, Wanner), for stiff problems",
    .order = 5,
    .stiff = true,
    .size = sizeof(struct radau5),
    .start = radau5_start,
    .finish = radau5_finish,
    .restart = radau5_restart,
    .resume = radau5_resume,
    .step = radau5_step,
    .interpolate = radau5_interpolate,
    .saved_size = radau5_saved_size,
    .save = radau5_save,
    .restore = radau5_restore,
};

#define ROOT6 2.449489742783178098197

/* A collocation method's eigenvectors are known: with M(s) = (s - c_1)(s - c_2)(s - c_3), the one of A^-1 that belongs
 * to lambda has the entries lambda^2 M'(c_i) + lambda M''(c_i) + M'''. (They are the values at the nodes of the
 * polynomial Z with Z' - lambda Z = -lambda^3 M, which is 0 at 0 since that is the equation for lambda.) T consists of
 * the one for gamma, and of the real part and the negative imaginary part of the one for alpha + i beta; both have a
 * last entry of 1. */
const struct tt_radau5_method tt_radau5_method = {
    .c = {(4 - ROOT6) / 10, (4 + ROOT6) / 10, 1},
    .a = {{(88 - 7 * ROOT6) / 360, (296 - 169 * ROOT6) / 1800, (-2 + 3 * ROOT6) / 225},
          {(296 + 169 * ROOT6) / 1800, (88 + 7 * ROOT6) / 360, (-2 - 3 * ROOT6) / 225},
          {(16 - ROOT6) / 36, (16 + ROOT6) / 36, 1.0 / 9}},
    .gamma = 3.637834252744495732208, /* 3 + 9^(1/3) - 3^(1/3) */
    .alpha = 2.681082873627752133896, /* 3 - (9^(1/3) - 3^(1/3)) / 2 */
    .beta = 3.050430199247410569426,  /* 3^(1/2) (9^(1/3) + 3^(1/3)) / 2 */
    .t = {{0.09443876248897524148749, -0.1412552950209542084280, -0.03002919410514742449186},
          {0.2502131229653333113765, 0.2041293522937999319960, 0.3829421127572619377954},
          {1, 1, 0}},
    .t_inverse = {{4.178718591551904727346, 0.3276828207610623870825, 0.5233764454994495480399},
                  {-4.178718591551904727346, -0.3276828207610623870825, 0.4766235545005504519601},
                  {-0.5028726349457868759512, 2.571926949855605429187, -0.5960392048282249249688}},
    .e = {(-13 - 7 * ROOT6) / 3, (-13 + 7 * ROOT6) / 3, -1.0 / 3},
};

void tt_radau5_weights(double s, double weights[TUTTI_RADAU5_STAGES])
{
    const double *c = tt_radau5_method.c;
    for (int i = 0; i < TUTTI_RADAU5_STAGES; i++) {
        double j = c[(i + 1) % 3], k = c[(i + 2) % 3];
        weights[i] = s * (s - j) * (s - k) / (c[i] * (c[i] - j) * (c[i] - k));
    }
}

/* The stages of x' = f(t, x) are x + z_i with z = h (A x I) F(x + z). Newton's method with one Jacobian J at the
 * beginning of the step, in the variables w = (T^-1 x I) z, falls apart into a real and a complex system of the size of
 * the problem: Hairer, Wanner, Solving ODEs II, IV.8, "Simplified Newton Iterations" and "The Linear System".
 *     (gamma / h I - J) dw_1 = -gamma / h w_1 + (T^-1 F)_1
 *     ((alpha + i beta) / h I - J) (dw_2 + i dw_3) = -(alpha + i beta) / h (w_2 + i w_3) + (T^-1 F)_2 + i (T^-1 F)_3 */

enum { RADAU5_NEWTON_STAGES = TUTTI_RADAU5_STAGES };

static const struct tt_radau5_method *const method = &tt_radau5_method;

enum tutti_err tt_radau5_newton_init(struct tt_radau5_newton *newton, struct tt_solver *solver)
{
    *newton = (struct tt_radau5_newton){.solver = solver, .eta = 1};
    size_t n = solver->ode->count;
    TRY(tt_jacobian_init(&newton->jacobian, solver->ode, solver->options.jacobian));
    const struct tt_pattern *pattern = tt_jacobian_pattern(&newton->jacobian);
    TRY(tt_lu_new(&newton->real, n, pattern, false));
    TRY(tt_lu_new(&newton->complex, n, pattern, true));
    double *memory = calloc(5 * RADAU5_NEWTON_STAGES + 1, n * sizeof(double));
    if (!memory)
        return tt_fail_memory();
    newton->z = memory;
    newton->w = newton->z + RADAU5_NEWTON_STAGES * n;
    newton->slopes = newton->w + RADAU5_NEWTON_STAGES * n;
    newton->delta = newton->slopes + RADAU5_NEWTON_STAGES * n;
    newton->increment = newton->delta + RADAU5_NEWTON_STAGES * n;
    newton->point = newton->increment + RADAU5_NEWTON_STAGES * n;
    return TUTTI_OK;
}

void tt_radau5_newton_fini(struct tt_radau5_newton *newton)
{
    tt_jacobian_fini(&newton->jacobian);
    tt_lu_free(newton->real);
    tt_lu_free(newton->complex);
    free(newton->z);
}

static enum tt_radau5_result radau5_newton_result(struct tt_radau5_newton *newton, enum tt_eval eval)
{
    if (eval == TUTTI_EVAL_FAILED)
        newton->err = newton->solver->ode->err;
    return eval == TUTTI_EVAL_FAILED ? TUTTI_RADAU5_ERROR : TUTTI_RADAU5_NO_VALUE;
}

enum tt_radau5_result tt_radau5_newton_renew(struct tt_radau5_newton *newton, const struct tt_radau5_attempt *attempt)
{
    newton->factorised = false;
    newton->h_factorised = 0;
    newton->worst = SIZE_MAX;
    enum tt_eval eval =
        tt_jacobian_update(&newton->jacobian, attempt->t, attempt->x, attempt->dx, attempt->h, &newton->solver->counts);
    return eval == TUTTI_EVAL_OK ? TUTTI_RADAU5_CONVERGED : radau5_newton_result(newton, eval);
}

/* Steps between communication points differ by rounding errors, which do not justify a new factorisation: Newton's
 * method needs only an approximate matrix. */
static enum tutti_err radau5_factorise(struct tt_radau5_newton *newton, double h, bool *singular)
{
    const double *values = newton->jacobian.values;
    if (!(fabs(h - newton->h_factorised) <= 1e-8 * h)) {
        newton->h_factorised = h;
        newton->factorised = false;
    }
    *singular = false;
    if (newton->factorised)
        return TUTTI_OK;
    h = newton->h_factorised;
    newton->solver->counts.factorisations += 2;
    /* Pivots of matrices gone by are not used: what follows a restored point must not depend on what was before. */
    tt_lu_forget(newton->real);
    tt_lu_forget(newton->complex);
    TRY(tt_lu_factor(newton->real, values, method->gamma / h, 0, singular));
    if (!*singular)
        TRY(tt_lu_factor(newton->complex, values, method->alpha / h, method->beta / h, singular));
    newton->factorised = !*singular;
    return TUTTI_OK;
}

/* out = (M x I) in */
static void radau5_transform(const double m[RADAU5_NEWTON_STAGES][RADAU5_NEWTON_STAGES], size_t n, const double *in,
                             double *out)
{
    for (size_t i = 0; i < n; i++) {
        double a = in[i], b = in[n + i], c = in[2 * n + i];
        for (size_t k = 0; k < RADAU5_NEWTON_STAGES; k++)
            out[k * n + i] = m[k][0] * a + m[k][1] * b + m[k][2] * c;
    }
}

static enum tt_eval radau5_evaluate_stages(struct tt_radau5_newton *newton, const struct tt_radau5_attempt *attempt)
{
    size_t n = newton->solver->ode->count;
    for (size_t k = 0; k < RADAU5_NEWTON_STAGES; k++) {
        double t = k == RADAU5_NEWTON_STAGES - 1 ? attempt->end : attempt->t + method->c[k] * attempt->h;
        for (size_t i = 0; i < n; i++)
            newton->point[i] = attempt->x[i] + newton->z[k * n + i];
        double *slope = newton->slopes + k * n;
        enum tt_eval eval = tt_solver_rhs(newton->solver, t, newton->point, slope);
        if (eval == TUTTI_EVAL_NO_VALUE)
            newton->worst = tt_solver_blame(newton->solver, attempt->x, newton->point, slope);
        if (eval)
            return eval;
    }
    return TUTTI_EVAL_OK;
}

/* One iteration, once the slopes are there; returns the norm of the increment. */
static double radau5_newton_iterate(struct tt_radau5_newton *newton, const struct tt_radau5_attempt *attempt)
{
    size_t n = newton->solver->ode->count;
    double *w1 = newton->w, *w2 = w1 + n, *w3 = w2 + n;
    double *d1 = newton->delta, *d2 = d1 + n, *d3 = d2 + n;
    double gamma = method->gamma / attempt->h, alpha = method->alpha / attempt->h, beta = method->beta / attempt->h;
    radau5_transform(method->t_inverse, n, newton->slopes, newton->delta);
    for (size_t i = 0; i < n; i++) {
        d1[i] -= gamma * w1[i];
        d2[i] -= alpha * w2[i] - beta * w3[i];
        d3[i] -= beta * w2[i] + alpha * w3[i];
    }
    tt_lu_solve(newton->real, d1, NULL);
    tt_lu_solve(newton->complex, d2, d3);
    newton->solver->counts.iterations++;
    newton->iterations++;
    radau5_transform(method->t, n, newton->delta, newton->increment);
    for (size_t i = 0; i < RADAU5_NEWTON_STAGES * n; i++)
        newton->w[i] += newton->delta[i];
    radau5_transform(method->t, n, newton->w, newton->z);
    double sum = 0;
    for (size_t k = 0; k < RADAU5_NEWTON_STAGES; k++) {
        double norm = tt_solver_norm(newton->solver, newton->increment + k * n, attempt->x, &newton->worst);
        sum += norm * norm;
    }
    return sqrt(sum / RADAU5_NEWTON_STAGES);
}

/* "Stopping Criterion": ends at eta ||dz|| <= tolerance, eta = theta / (1 - theta), and gives up if the remaining
 * iterations would not suffice at this rate. The first iteration uses the last step's rate, trusted less with time. */
enum tt_radau5_result tt_radau5_newton_solve(struct tt_radau5_newton *newton, const struct tt_radau5_attempt *attempt,
                                             double tolerance)
{
    bool singular;
    newton->iterations = 0;
    newton->theta = 0;
    newton->worst = SIZE_MAX;
    newton->err = radau5_factorise(newton, attempt->h, &singular);
    if (newton->err || singular)
        return newton->err ? TUTTI_RADAU5_ERROR : TUTTI_RADAU5_DIVERGED;
    newton->eta = pow(fmax(newton->eta, DBL_EPSILON), 0.8);
    radau5_transform(method->t_inverse, newton->solver->ode->count, newton->z, newton->w);
    double norm = 0;
    do {
        double last = norm;
        enum tt_eval eval = radau5_evaluate_stages(newton, attempt);
        if (eval)
            return radau5_newton_result(newton, eval);
        norm = radau5_newton_iterate(newton, attempt);
        if (newton->iterations > 1) {
            newton->theta = norm / last;
            newton->eta = newton->theta / (1 - newton->theta);
            int left = TUTTI_RADAU5_ITERATIONS - newton->iterations;
            if (!(newton->theta < 1) || pow(newton->theta, left) * newton->eta * norm > tolerance) {
                newton->eta = 1;
                return TUTTI_RADAU5_DIVERGED;
            }
        }
        if (newton->eta * norm <= tolerance)
            return TUTTI_RADAU5_CONVERGED;
    } while (isfinite(norm));
    return TUTTI_RADAU5_DIVERGED;
}

void tt_radau5_newton_error(struct tt_radau5_newton *newton, double h, const double *dx, double *error)
{
    size_t n = newton->solver->ode->count;
    const double *z = newton->z, *e = method->e;
    for (size_t i = 0; i < n; i++)
        error[i] = dx[i] + (e[0] * z[i] + e[1] * z[n + i] + e[2] * z[2 * n + i]) / h;
    tt_lu_solve(newton->real, error, NULL);
}
