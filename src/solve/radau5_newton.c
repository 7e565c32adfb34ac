/* SPDX-License-Identifier: MIT */
/* The stages of x' = f(t, x) are x + z_i with z = h (A x I) F(x + z). Newton's method with one Jacobian J at the
 * beginning of the step, in the variables w = (T^-1 x I) z, falls apart into a real and a complex system of the size of
 * the problem: Hairer, Wanner, Solving ODEs II, IV.8, "Simplified Newton Iterations" and "The Linear System".
 *     (gamma / h I - J) dw_1 = -gamma / h w_1 + (T^-1 F)_1
 *     ((alpha + i beta) / h I - J) (dw_2 + i dw_3) = -(alpha + i beta) / h (w_2 + i w_3) + (T^-1 F)_2 + i (T^-1 F)_3 */
#include "solve/radau5_newton.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = TUTTI_RADAU5_STAGES };

static const struct tt_radau5_method *const method = &tt_radau5_method;

enum tutti_err tt_radau5_newton_init(struct tt_radau5_newton *newton, struct tt_solver *solver)
{
    *newton = (struct tt_radau5_newton){.solver = solver, .eta = 1};
    size_t n = solver->ode->count;
    TRY(tt_jacobian_init(&newton->jacobian, solver->ode, solver->options.jacobian));
    const struct tt_pattern *pattern = tt_jacobian_pattern(&newton->jacobian);
    TRY(tt_lu_new(&newton->real, n, pattern, false));
    TRY(tt_lu_new(&newton->complex, n, pattern, true));
    double *memory = calloc(5 * STAGES + 1, n * sizeof(double));
    if (!memory)
        return tt_fail_memory();
    newton->z = memory;
    newton->w = newton->z + STAGES * n;
    newton->slopes = newton->w + STAGES * n;
    newton->delta = newton->slopes + STAGES * n;
    newton->increment = newton->delta + STAGES * n;
    newton->point = newton->increment + STAGES * n;
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

/* Steps from one communication point to the next differ by rounding errors: such a difference is no reason to
 * factorise, since Newton's method needs no more than about the right matrix. */
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
static void radau5_transform(const double m[STAGES][STAGES], size_t n, const double *in, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double a = in[i], b = in[n + i], c = in[2 * n + i];
        for (size_t k = 0; k < STAGES; k++)
            out[k * n + i] = m[k][0] * a + m[k][1] * b + m[k][2] * c;
    }
}

static enum tt_eval radau5_evaluate_stages(struct tt_radau5_newton *newton, const struct tt_radau5_attempt *attempt)
{
    size_t n = newton->solver->ode->count;
    for (size_t k = 0; k < STAGES; k++) {
        double t = k == STAGES - 1 ? attempt->end : attempt->t + method->c[k] * attempt->h;
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
    for (size_t i = 0; i < STAGES * n; i++)
        newton->w[i] += newton->delta[i];
    radau5_transform(method->t, n, newton->w, newton->z);
    double sum = 0;
    for (size_t k = 0; k < STAGES; k++) {
        double norm = tt_solver_norm(newton->solver, newton->increment + k * n, attempt->x, &newton->worst);
        sum += norm * norm;
    }
    return sqrt(sum / STAGES);
}

/* "Stopping Criterion": ends at eta ||dz|| <= tolerance, eta = theta / (1 - theta), and gives up if the iterations left
 * would not do at this rate. Before there is a rate, that of the last step is taken, less trusted as time goes by. */
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
