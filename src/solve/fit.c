/* SPDX-License-Identifier: MIT */
#include "solve/fit.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

/* When no better place is near: the sum of squares changes by less than this, relatively; or unknowns by less than that. */
static const double SMALL_CHANGE = 1e-12, SMALL_STEP = 1e-9;

struct least_squares_search {
    const struct tt_fit_problem *problem;
    size_t n, m;
    double *x, *trial, *step, *r, *trial_r, *jacobian, *matrix, *gradient, *scale;
    bool *held;
    double cost, mu, raise;
    struct tt_fit_result *result;
};

static double sum_of_squares(const double *r, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += r[i] * r[i];
    return sum;
}

static enum tutti_err fit_evaluate(const struct tt_fit_problem *problem, const double *x, double *r,
                                   size_t *evaluations, bool *good)
{
    ++*evaluations;
    TRY(problem->evaluate(problem->context, x, r, good));
    *good = *good && isfinite(sum_of_squares(r, problem->residuals));
    return TUTTI_OK;
}

/* r at x with one unknown moved; *moved: by how much. */
static enum tutti_err fit_move_unknown(const struct tt_fit_problem *problem, double *x, size_t k, double by, double *r,
                                       double *moved, size_t *evaluations, bool *good)
{
    double kept = x[k];
    x[k] = fmin(fmax(kept + by, problem->low[k]), problem->high[k]);
    *moved = x[k] - kept;
    *good = *moved != 0;
    enum tutti_err err = *good ? fit_evaluate(problem, x, r, evaluations, good) : TUTTI_OK;
    x[k] = kept;
    return err;
}

enum tutti_err tt_fit_differences(const struct tt_fit_problem *problem, const double *x, const double *r, double size,
                                  double *jacobian, size_t *evaluations, bool *good)
{
    size_t m = problem->residuals, n = problem->unknowns;
    double *at = calloc(n + 2 * m, sizeof *at);
    enum tutti_err err = TUTTI_OK;
    *good = true;
    if (!at)
        return tt_fail_memory();
    for (size_t k = 0; k < n && !err && *good; k++) {
        double *up = at + n, *down = up + m, above = 0, below = 0, h = size * fmax(1, fabs(x[k]));
        bool has_up = false, has_down = false;
        memcpy(at, x, n * sizeof *at);
        err = fit_move_unknown(problem, at, k, h, up, &above, evaluations, &has_up);
        if (!err)
            err = fit_move_unknown(problem, at, k, -h, down, &below, evaluations, &has_down);
        *good = has_up || has_down;
        for (size_t i = 0; i < m && !err && *good; i++) {
            double upper = has_up ? up[i] : r[i], lower = has_down ? down[i] : r[i];
            jacobian[k * m + i] = (upper - lower) / ((has_up ? above : 0) - (has_down ? below : 0));
        }
    }
    free(at);
    return err;
}

enum tutti_err tt_fit_jacobian(const struct tt_fit_problem *problem, const double *x, const double *r, double *jacobian,
                               size_t *evaluations, bool *good)
{
    return problem->jacobian ? problem->jacobian(problem->context, x, r, jacobian, evaluations, good)
                             : tt_fit_differences(problem, x, r, problem->difference, jacobian, evaluations, good);
}

/* ---- a step ---- */

/* In place, of a symmetric positive definite matrix of the unknowns that are not held; false: it is none. */
static bool fit_solve_normal(const struct least_squares_search *s, double *matrix, double *right)
{
    size_t n = s->n;
    for (size_t k = 0; k < n; k++) { /* Cholesky: L L', column by column */
        double d = matrix[k * n + k];
        for (size_t j = 0; j < k; j++)
            d -= matrix[j * n + k] * matrix[j * n + k];
        if (!(d > 0))
            return false;
        d = matrix[k * n + k] = sqrt(d);
        for (size_t i = k + 1; i < n; i++) {
            double e = matrix[k * n + i];
            for (size_t j = 0; j < k; j++)
                e -= matrix[j * n + i] * matrix[j * n + k];
            matrix[k * n + i] = e / d;
        }
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j < k; j++)
            right[k] -= matrix[j * n + k] * right[j];
        right[k] /= matrix[k * n + k];
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t i = k + 1; i < n; i++)
            right[k] -= matrix[k * n + i] * right[i];
        right[k] /= matrix[k * n + k];
    }
    return true;
}

/* J'r, and which unknowns are held at their bounds. True: nothing is left to move by. */
static bool fit_compute_gradient(struct least_squares_search *s)
{
    const struct tt_fit_problem *problem = s->problem;
    bool flat = true;
    for (size_t k = 0; k < s->n; k++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < s->m; i++) {
            sum += s->jacobian[k * s->m + i] * s->r[i];
            square += s->jacobian[k * s->m + i] * s->jacobian[k * s->m + i];
        }
        s->gradient[k] = sum;
        s->scale[k] = fmax(s->scale[k], square);
        s->held[k] = (s->x[k] <= problem->low[k] && sum > 0) || (s->x[k] >= problem->high[k] && sum < 0) ||
                     s->scale[k] == 0;
        /* The cosine of the angle between r and this column. */
        flat = flat && (s->held[k] || fabs(sum) <= 1e-13 * sqrt(square * s->cost));
    }
    return flat;
}

/* (J'J + mu D) step = -J'r. */
static bool fit_make_step(struct least_squares_search *s)
{
    for (size_t k = 0; k < s->n; k++) {
        for (size_t j = 0; j < s->n; j++) {
            double sum = 0;
            for (size_t i = 0; i < s->m && !s->held[k] && !s->held[j]; i++)
                sum += s->jacobian[k * s->m + i] * s->jacobian[j * s->m + i];
            s->matrix[k * s->n + j] = sum;
        }
        s->matrix[k * s->n + k] += s->held[k] ? 1 : s->mu * s->scale[k];
        s->step[k] = s->held[k] ? 0 : -s->gradient[k];
    }
    if (!fit_solve_normal(s, s->matrix, s->step))
        return false;
    for (size_t k = 0; k < s->n; k++) {
        s->trial[k] = fmin(fmax(s->x[k] + s->step[k], s->problem->low[k]), s->problem->high[k]);
        s->step[k] = s->trial[k] - s->x[k];
    }
    return true;
}

/* Returns the decrease of the sum of squares that the linear model predicts. */
static double fit_predict_decrease(const struct least_squares_search *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->m; i++) {
        double change = 0;
        for (size_t k = 0; k < s->n; k++)
            change += s->jacobian[k * s->m + i] * s->step[k];
        sum -= change * (2 * s->r[i] + change);
    }
    return sum;
}

static bool fit_step_is_short(const struct least_squares_search *s)
{
    bool is = true;
    for (size_t k = 0; k < s->n; k++)
        is = is && fabs(s->step[k]) <= SMALL_STEP * fmax(1, fabs(s->x[k]));
    return is;
}

/* Tries ever shorter steps until one is acceptable. *over: none is, or the step does not change anything any more. */
static enum tutti_err fit_improve(struct least_squares_search *s, bool *over)
{
    for (;;) {
        bool good = false;
        if (s->result->evaluations >= s->problem->most) {
            s->result->end = TUTTI_FIT_GAVE_UP;
            *over = true;
            return TUTTI_OK;
        }
        bool made = fit_make_step(s);
        *over = made && fit_step_is_short(s);
        if (*over)
            return TUTTI_OK;
        if (made)
            TRY(fit_evaluate(s->problem, s->trial, s->trial_r, &s->result->evaluations, &good));
        double cost = good ? sum_of_squares(s->trial_r, s->m) : INFINITY,
               predicted = made ? fit_predict_decrease(s) : 0;
        if (cost < s->cost) {
            double gain = predicted > 0 ? (s->cost - cost) / predicted : 0, change = (s->cost - cost) / s->cost;
            s->mu *= fmax(1.0 / 3, 1 - pow(2 * gain - 1, 3)); /* Nielsen */
            s->raise = 2;
            memcpy(s->x, s->trial, s->n * sizeof *s->x);
            memcpy(s->r, s->trial_r, s->m * sizeof *s->r);
            s->cost = cost;
            *over = change < SMALL_CHANGE || s->cost == 0;
            return TUTTI_OK;
        }
        s->mu *= s->raise;
        s->raise *= 2;
    }
}

static enum tutti_err fit_search(struct least_squares_search *s)
{
    bool good, over = false;
    TRY(fit_evaluate(s->problem, s->x, s->r, &s->result->evaluations, &good));
    if (!good)
        return tt_fail(TUTTI_ERR_ARGUMENT, "the sum of squares is not a number where the search begins");
    s->cost = sum_of_squares(s->r, s->m);
    s->mu = 1e-3;
    s->raise = 2;
    s->result->end = TUTTI_FIT_CONVERGED;
    while (!over && s->cost > 0) {
        TRY(tt_fit_jacobian(s->problem, s->x, s->r, s->jacobian, &s->result->evaluations, &good));
        if (!good)
            return tt_fail(
                TUTTI_ERR_SOLVER,
                "no run around the best one found so far comes to its end, so that there is no direction to go on in");
        bool is_dead = true;
        bool flat = fit_compute_gradient(s);
        for (size_t k = 0; k < s->n; k++)
            is_dead = is_dead && s->scale[k] == 0;
        if (is_dead)
            s->result->end = TUTTI_FIT_FLAT;
        if (flat)
            break;
        TRY(fit_improve(s, &over));
        s->result->iterations++;
    }
    s->result->cost = s->cost;
    return TUTTI_OK;
}

enum tutti_err tt_fit_least_squares(const struct tt_fit_problem *problem, double *x, struct tt_fit_result *result)
{
    size_t n = problem->unknowns, m = problem->residuals;
    double *memory = calloc(4 * n + 2 * m + n * m + n * n, sizeof *memory), *at = memory;
    bool *held = calloc(n, sizeof *held);
    enum tutti_err err = memory && held ? TUTTI_OK : tt_fail_memory();
    if (!err) {
        struct least_squares_search s = {.problem = problem, .n = n, .m = m, .x = x, .held = held, .result = result};
        double **const vectors[] = {&s.trial, &s.step, &s.gradient, &s.scale};
        for (size_t i = 0; i < 4; i++, at += n)
            *vectors[i] = at;
        s.r = at;
        s.trial_r = at + m;
        s.jacobian = at + 2 * m;
        s.matrix = at + 2 * m + n * m;
        err = fit_search(&s);
    }
    free(memory);
    free(held);
    return err;
}

struct minimiser_search {
    const struct tt_fit_problem *problem;
    nlopt_opt optimiser;
    double *r;
    struct tt_failure failure;
    size_t evaluations;
};

/* NLopt continues at points without a value; they get the worst objective. */
static double fit_objective(unsigned n, const double *x, double *gradient, void *context)
{
    struct minimiser_search *s = context;
    bool good = false;
    double sum = 0;
    (void)n;
    (void)gradient;
    s->evaluations++;
    enum tutti_err err = s->problem->evaluate(s->problem->context, x, s->r, &good);
    if (err && !s->failure.err) {
        tt_fail_save(&s->failure, err);
        nlopt_force_stop(s->optimiser);
    }
    for (size_t i = 0; i < s->problem->residuals && good; i++)
        sum += s->r[i] * s->r[i];
    return good && isfinite(sum) ? sum : 1e300;
}

static enum tutti_err fit_end_of_search(const struct minimiser_search *s, nlopt_result how,
                                        struct tt_fit_result *result)
{
    if (s->failure.err)
        return tt_fail_restore(&s->failure);
    if (how < 0 && how != NLOPT_ROUNDOFF_LIMITED) {
        const char *words = nlopt_get_errmsg(s->optimiser);
        return how == NLOPT_OUT_OF_MEMORY
                   ? tt_fail_memory()
                   : tt_fail(TUTTI_ERR_SOLVER, "NLopt cannot go on: %s", words ? words : nlopt_result_to_string(how));
    }
    result->end = how == NLOPT_MAXEVAL_REACHED ? TUTTI_FIT_GAVE_UP : TUTTI_FIT_CONVERGED;
    return TUTTI_OK;
}

enum tutti_err tt_fit_minimise(const struct tt_fit_problem *problem, enum tt_minimiser method, double *x,
                               struct tt_fit_result *result)
{
    static const nlopt_algorithm algorithms[] = {NLOPT_LN_BOBYQA, NLOPT_LN_NELDERMEAD, NLOPT_LN_SBPLX,
                                                 NLOPT_GN_DIRECT_L};
    if (method == TUTTI_MINIMISE_BOBYQA && problem->unknowns < 2)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--method bobyqa needs two parameters or more; use lm or nelder-mead for one");
    for (size_t k = 0; k < problem->unknowns && method == TUTTI_MINIMISE_DIRECT; k++)
        if (!isfinite(problem->low[k]) || !isfinite(problem->high[k]))
            return tt_fail(
                TUTTI_ERR_ARGUMENT,
                "--method global looks in all of the bounds: give them to every parameter, --fit P=START:MIN:MAX");

    struct minimiser_search s = {.problem = problem,
                                 .optimiser = nlopt_create(algorithms[method], (unsigned)problem->unknowns)};
    s.r = calloc(problem->residuals + 1, sizeof *s.r);
    enum tutti_err err = s.r && s.optimiser ? TUTTI_OK : tt_fail_memory();
    if (!err) {
        double cost = INFINITY;
        nlopt_set_min_objective(s.optimiser, fit_objective, &s);
        nlopt_set_lower_bounds(s.optimiser, problem->low);
        nlopt_set_upper_bounds(s.optimiser, problem->high);
        nlopt_set_xtol_rel(s.optimiser, 1e-9);
        nlopt_set_ftol_rel(s.optimiser, 1e-14);
        nlopt_set_initial_step1(s.optimiser, 0.1);
        nlopt_set_maxeval(s.optimiser, problem->most < INT_MAX ? (int)problem->most : INT_MAX);
        err = fit_end_of_search(&s, nlopt_optimize(s.optimiser, x, &cost), result);
        result->cost = cost;
        result->evaluations += s.evaluations;
    }
    nlopt_destroy(s.optimiser);
    free(s.r);
    return err;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    enum { MOST = 10000 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < MOST; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int part = 0; part < 2; part++) {
            double term = part == 0 ? even : odd;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            h *= c * d;
        }
        if (fabs(c * d - 1) < 4 * DBL_EPSILON)
            break;
    }
    return h;
}

/* Regularised: I_x(a, b). */
static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(|T| > t) = I_{f / (f + t^2)}(f / 2, 1 / 2) (DLMF 8.17, Abramowitz and Stegun 26.7.1); by bisection. */
double tt_fit_student_interval(double confidence, double freedom)
{
    double low = 0, high = 1;
    while (incomplete_beta(freedom / 2, 0.5, freedom / (freedom + high * high)) > 1 - confidence && high < 1e100)
        high *= 2;
    for (int i = 0; i < 200 && low < high; i++) {
        double t = low + (high - low) / 2;
        if (t == low || t == high)
            break;
        if (incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) > 1 - confidence)
            low = t;
        else
            high = t;
    }
    return high;
}
