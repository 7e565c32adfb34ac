/* SPDX-License-Identifier: MIT */
/* arkode_dense.c - dense output of the methods in arkode.c, of their order or one less. */
#include "solve/arkode.h"

#include <stdio.h> /* ARKODE leaves it to others */
#include <arkode/arkode_butcher_dirk.h>
#include <math.h>
#include <string.h>

enum { SMALL_MAX = 5 };

/* Solves `matrix` * X = `sides` in place, by Gauss with pivots; both row by row, `count` sides. */
static void arkode_solve_small(size_t size, double matrix[SMALL_MAX][SMALL_MAX], size_t count,
                               double sides[SMALL_MAX][SMALL_MAX])
{
    for (size_t k = 0; k < size; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < size; i++)
            pivot = fabs(matrix[i][k]) > fabs(matrix[pivot][k]) ? i : pivot;
        for (size_t j = 0; j < SMALL_MAX; j++) {
            double a = matrix[k][j], b = sides[k][j];
            matrix[k][j] = matrix[pivot][j], matrix[pivot][j] = a;
            sides[k][j] = sides[pivot][j], sides[pivot][j] = b;
        }
        for (size_t i = 0; i < size; i++) {
            double factor = matrix[i][k] / matrix[k][k];
            for (size_t j = 0; i != k && j < size; j++)
                matrix[i][j] -= factor * matrix[k][j];
            for (size_t j = 0; i != k && j < count; j++)
                sides[i][j] -= factor * sides[k][j];
        }
    }
    for (size_t k = 0; k < size; k++)
        for (size_t j = 0; j < count; j++)
            sides[k][j] /= matrix[k][k];
}

/* dopri5: order 4, of what the step has evaluated anyway. Shampine's, in the form of Hairer, Norsett, Wanner, Solving
 * ODEs I, II.6 (and of the program DOPRI5 in the appendix). */
static enum tutti_err dopri5_evaluate_dense(struct tt_arkode *ark, double h, double s, double *x)
{
    static const double factors[7] = {-12715105075.0 / 11282082432.0,  0,
                                      87487479700.0 / 32700410799.0,   -10690763975.0 / 1880347072.0,
                                      701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
                                      69997945.0 / 29380423.0};
    const struct tt_sundials *sundials = &ark->sundials;
    const double *slopes[7] = {ark->first};
    for (size_t i = 1; i < 7; i++)
        slopes[i] = tt_arkode_kept(ark, 6, i - 1);
    for (size_t i = 0; i < sundials->base.ode->count; i++) {
        double bend = 0, way = sundials->x[i] - sundials->begin[i];
        for (size_t k = 0; k < 7; k++)
            bend += factors[k] * slopes[k][i];
        double from = h * slopes[0][i] - way, to = way - h * slopes[6][i] - from;
        x[i] = sundials->begin[i] + s * (way + (1 - s) * (from + s * (to + (1 - s) * h * bend)));
    }
    return TUTTI_OK;
}

static void dopri5_end_dense(struct tt_arkode *ark, double h)
{
    (void)h;
    memcpy(ark->last, tt_arkode_kept(ark, 6, 5), ark->sundials.base.ode->count * sizeof *ark->last);
    ark->last_known = true;
}

const struct tt_arkode_dense tt_arkode_dense_dopri5 = {
    .kept = 6,
    .end = dopri5_end_dense,
    .evaluate = dopri5_evaluate_dense,
};

/* dopri8: order 7, for up to 11 more evaluations of f in a step that is looked into (the first of them is one that the
 * next step needs anyway). Enright, Jackson, Norsett, Thomsen, Interpolants for Runge-Kutta formulas, ACM TOMS 12 (1986):
 * a polynomial of degree d that errs by O(h^(d+1)) gives states at points inside; f there, times h, errs by O(h^(d+2)),
 * which is good enough for one of degree d + 1. From Hermite's of degree 3, on values and slopes at both ends, that of
 * degree 3 + m is reached in levels:
 *     p_m(s) = p_0(s) + s^2 (1 - s)^2 sum_{j<m} a_j s^j,    p_m'(s_i) = h f(p_{m-1}(s_i)), i = 1 ... m.
 * The points s_i are such that the error of p_m, if its slopes were right, and the effect of errors in its slopes on it
 * are small (the latter is below 0.46 of the largest error in h f). A point without a value leaves the level before. */
enum { LEVELS = 4 };

static const double points[LEVELS][LEVELS] = {
    {0.28},
    {0.18, 0.82},
    {0.13, 0.37, 0.87},
    {0.10, 0.29, 0.72, 0.90},
};

/* The inverse matrix from slopes to a_j of level m, m x m, row by row. */
static double *hermite_inverse(struct tt_arkode *ark, size_t m)
{
    static const size_t starts[LEVELS + 1] = {0, 0, 1, 5, 14};
    return ark->factors + starts[m];
}

static enum tutti_err hermite_start(struct tt_arkode *ark)
{
    for (size_t m = 1; m <= LEVELS; m++) {
        double matrix[SMALL_MAX][SMALL_MAX] = {0}, inverse[SMALL_MAX][SMALL_MAX] = {0};
        for (size_t i = 0; i < m; i++) {
            double s = points[m - 1][i];
            inverse[i][i] = 1;
            for (size_t j = 0; j < m; j++) /* the derivative of s^(2 + j) (1 - s)^2 */
                matrix[i][j] = pow(s, (double)j + 1) * (1 - s) * ((double)(j + 2) * (1 - s) - 2 * s);
        }
        arkode_solve_small(m, matrix, m, inverse);
        for (size_t i = 0; i < m; i++)
            memcpy(hermite_inverse(ark, m) + i * m, inverse[i], m * sizeof inverse[i][0]);
    }
    return TUTTI_OK;
}

static void hermite_evaluate_polynomial(const struct tt_arkode *ark, double h, double s, double *x)
{
    const struct tt_sundials *sundials = &ark->sundials;
    size_t n = sundials->base.ode->count;
    double r = 1 - s, power = s * s * r * r;
    for (size_t i = 0; i < n; i++)
        x[i] = r * r * ((1 + 2 * s) * sundials->begin[i] + s * h * ark->first[i]) +
               s * s * ((1 + 2 * r) * sundials->x[i] - r * h * ark->last[i]);
    for (size_t j = 0; j < ark->terms; j++) {
        for (size_t i = 0; i < n; i++)
            x[i] += power * ark->extra[j * n + i];
        power *= s;
    }
}

/* f at both ends of the step. Has it no value at one, the slope there is that of the parabola. */
static enum tutti_err hermite_find_slopes(struct tt_arkode *ark, double h)
{
    struct tt_sundials *sundials = &ark->sundials;
    struct tt_solver *solver = &sundials->base;
    enum tt_eval eval = TUTTI_EVAL_OK;
    if (!ark->first_known)
        eval = tt_solver_rhs(solver, solver->before, sundials->begin, ark->first);
    ark->first_known = eval == TUTTI_EVAL_OK;
    if (ark->first_known && !ark->last_known)
        eval = tt_solver_rhs(solver, solver->t, sundials->x, ark->last);
    ark->last_known = eval == TUTTI_EVAL_OK;
    if (eval == TUTTI_EVAL_FAILED)
        return tt_solver_fail(solver, eval, h, SIZE_MAX, "");
    for (size_t i = 0; i < solver->ode->count && !ark->last_known; i++) {
        double slope = (sundials->x[i] - sundials->begin[i]) / h;
        ark->first[i] = ark->first_known ? ark->first[i] : slope;
        ark->last[i] = 2 * slope - ark->first[i];
    }
    return TUTTI_OK;
}

/* One level more; *eval is OK if there is one. */
static void hermite_raise_degree(struct tt_arkode *ark, double h, enum tt_eval *eval)
{
    struct tt_sundials *sundials = &ark->sundials;
    struct tt_solver *solver = &sundials->base;
    size_t n = solver->ode->count, m = ark->terms + 1;
    double *point = ark->extra + LEVELS * n, *slopes = point + n;
    for (size_t k = 0; k < m; k++) {
        double s = points[m - 1][k], r = 1 - s, *slope = slopes + k * n;
        hermite_evaluate_polynomial(ark, h, s, point);
        *eval = tt_solver_rhs(solver, solver->before + s * h, point, slope);
        if (*eval)
            return;
        for (size_t i = 0; i < n; i++) /* less the slope of p_0 */
            slope[i] = h * slope[i] - 6 * s * r * (sundials->x[i] - sundials->begin[i]) -
                       r * (1 - 3 * s) * h * ark->first[i] - s * (1 - 3 * r) * h * ark->last[i];
    }
    const double *inverse = hermite_inverse(ark, m);
    memset(ark->extra, 0, m * n * sizeof *ark->extra);
    for (size_t j = 0; j < m; j++)
        for (size_t k = 0; k < m; k++)
            for (size_t i = 0; i < n; i++)
                ark->extra[j * n + i] += inverse[j * m + k] * slopes[k * n + i];
    ark->terms = m;
}

static enum tutti_err hermite_evaluate(struct tt_arkode *ark, double h, double s, double *x)
{
    if (!ark->built) {
        enum tt_eval eval = TUTTI_EVAL_OK;
        TRY(hermite_find_slopes(ark, h));
        ark->terms = 0;
        while (ark->last_known && ark->terms < LEVELS && eval == TUTTI_EVAL_OK)
            hermite_raise_degree(ark, h, &eval);
        if (eval == TUTTI_EVAL_FAILED)
            return tt_solver_fail(&ark->sundials.base, eval, h, SIZE_MAX, "");
        ark->built = true;
    }
    hermite_evaluate_polynomial(ark, h, s, x);
    return TUTTI_OK;
}

const struct tt_arkode_dense tt_arkode_dense_hermite = {
    .extra = LEVELS + 1 + LEVELS,
    .start = hermite_start,
    .evaluate = hermite_evaluate,
};

/* dirk: order 4, of the stages z_j = x_0 + h sum_i a_ji k_i and the slope at the beginning:
 *     x(s) = x_0 + sum_{j>1} w_j(s) (z_j - x_0) + v(s) h x'(0).
 * That is a Runge-Kutta method with weights b(s) = A^T w(s), and v(s) more for the first stage. Its order conditions (Hairer,
 * Norsett, Wanner, Solving ODEs I, II.2, and II.6 for b(s)) are, for a method of stage order 2,
 *     v + w.c = s,  w.c^2 = s^2,  w.Ac^2 = s^3/3,  w.Ac^3 = s^4/4,  w.AAc^2 = s^4/12;
 *     w.c^3 = s^3
 * is for stiff problems, whose stages lie on a slow solution: polynomials of degree 3 are met there, too. These six have one
 * solution. With it, w(1) = (0, ..., 0, 1), the end of a stiffly accurate step; v'(1) = 0, so that the slope at the end of a
 * step is known from the stages alone, and serves as that at the beginning of the next; the absolute values of w sum up to
 * less than 4.3, v is below 0.17, and the error inside the step is not much above that at its end.
 * f is not evaluated for any of this: that of a stiff problem multiplies errors of the states by h L. For the same reason
 * ARKODE gets the slope of the last stage for f at the beginning of the next step. This method has it from the stages
 * alone: the last row of the inverse of A, without the first stage, has nothing to do with k_1. */
enum { STAGES = 6, UNKNOWNS = STAGES - 1, POWERS = 4, CONDITIONS = 5 };

/* What dirk_start_dense() leaves in ark->factors. */
struct stage_factors {
    double weights[UNKNOWNS][POWERS]; /* w_j(s): factors of s ... s^4 */
    double nodes[UNKNOWNS];           /* c_j */
    double slopes[UNKNOWNS];          /* h k_s = sum_j slopes_j (z_j - x_0) */
};

_Static_assert(sizeof(struct stage_factors) <= TUTTI_ARK_FACTORS * sizeof(double), "room for it");

static void dirk_multiply_table(const struct ARKodeButcherTableMem *table, const double *vector, double *product)
{
    for (size_t i = 0; i < STAGES; i++) {
        product[i] = 0;
        for (size_t j = 0; j < STAGES; j++)
            product[i] += table->A[i][j] * vector[j];
    }
}

static void dirk_find_weights(const struct ARKodeButcherTableMem *table, struct stage_factors *factors)
{
    double rows[CONDITIONS][STAGES], matrix[SMALL_MAX][SMALL_MAX];
    double sides[SMALL_MAX][SMALL_MAX] = {
        {0, 1}, {0, 0, 1}, {0, 0, 1.0 / 3}, {0, 0, 0, 1.0 / 4}, {0, 0, 0, 1.0 / 12},
    };
    for (size_t i = 0; i < STAGES; i++) {
        double c = table->c[i];
        rows[0][i] = c * c;
        rows[1][i] = c * c * c;
    }
    dirk_multiply_table(table, rows[0], rows[2]);
    dirk_multiply_table(table, rows[1], rows[3]);
    dirk_multiply_table(table, rows[2], rows[4]);
    for (size_t k = 0; k < CONDITIONS; k++)
        memcpy(matrix[k], rows[k] + 1, sizeof matrix[k]);
    arkode_solve_small(CONDITIONS, matrix, POWERS, sides);
    for (size_t j = 0; j < UNKNOWNS; j++) {
        memcpy(factors->weights[j], sides[j], sizeof factors->weights[j]);
        factors->nodes[j] = table->c[j + 1];
    }
}

static void dirk_slopes_of_stages(const struct ARKodeButcherTableMem *table, struct stage_factors *factors)
{
    double transposed[SMALL_MAX][SMALL_MAX] = {0}, side[SMALL_MAX][SMALL_MAX] = {0};
    for (size_t i = 0; i < UNKNOWNS; i++)
        for (size_t j = 0; j < UNKNOWNS; j++)
            transposed[j][i] = table->A[i + 1][j + 1];
    side[UNKNOWNS - 1][0] = 1;
    arkode_solve_small(UNKNOWNS, transposed, 1, side);
    for (size_t j = 0; j < UNKNOWNS; j++)
        factors->slopes[j] = side[j][0];
}

static enum tutti_err dirk_start_dense(struct tt_arkode *ark)
{
    struct ARKodeButcherTableMem *table = ARKodeButcherTable_LoadDIRK(TUTTI_ARK_DIRK);
    if (!table)
        return tt_fail_memory();
    struct stage_factors factors = {0};
    dirk_find_weights(table, &factors);
    dirk_slopes_of_stages(table, &factors);
    memcpy(ark->factors, &factors, sizeof factors);
    ARKodeButcherTable_Free(table);
    return TUTTI_OK;
}

/* out = sum_j factors_j (z_j - x_0) / h */
static void dirk_combine_stages(const struct tt_arkode *ark, const double factors[UNKNOWNS], double h, double *out)
{
    const double *begin = ark->sundials.begin;
    size_t n = ark->sundials.base.ode->count;
    memset(out, 0, n * sizeof *out);
    for (size_t j = 0; j < UNKNOWNS; j++) {
        const double *stage = tt_arkode_kept(ark, STAGES, j + 1);
        double factor = factors[j] / h;
        for (size_t i = 0; i < n; i++)
            out[i] += factor * (stage[i] - begin[i]);
    }
}

/* f at the beginning, where no step before tells the slope. After a jump of an input it is that of fast components on
 * their way, which the stages have passed over already: h times as much would be far off. A parabola that is 0 at the
 * beginning and at most 1 in the step has no slope above 8 there, and more is not believed. */
static void estimate_first_slope(const struct tt_arkode *ark, double h, double *slope)
{
    const double *begin = ark->sundials.begin;
    for (size_t i = 0; i < ark->sundials.base.ode->count; i++) {
        double most = 0;
        for (size_t j = 1; j < STAGES; j++)
            most = fmax(most, fabs(tt_arkode_kept(ark, STAGES, j)[i] - begin[i]));
        slope[i] = fmin(fmax(ark->first[i], -8 * most / h), 8 * most / h);
    }
}

/* `extra` are the slopes of the dense output at the beginning and at the end. */
static void dirk_end_dense(struct tt_arkode *ark, double h)
{
    const struct stage_factors *factors = (const struct stage_factors *)ark->factors;
    size_t n = ark->sundials.base.ode->count;
    double ends[UNKNOWNS] = {0}, *slope = ark->extra, *end = ark->extra + n;
    for (size_t j = 0; j < UNKNOWNS; j++)
        for (size_t q = 0; q < POWERS; q++)
            ends[j] += (double)(q + 1) * factors->weights[j][q];
    if (ark->anew)
        estimate_first_slope(ark, h, slope);
    else
        memcpy(slope, end, n * sizeof *slope);
    dirk_combine_stages(ark, ends, h, end);
    dirk_combine_stages(ark, factors->slopes, h, ark->last);
    ark->last_known = true;
}

static enum tutti_err dirk_evaluate_dense(struct tt_arkode *ark, double h, double s, double *x)
{
    const struct stage_factors *factors = (const struct stage_factors *)ark->factors;
    size_t n = ark->sundials.base.ode->count;
    double values[UNKNOWNS], rest = s;
    for (size_t j = 0; j < UNKNOWNS; j++) {
        const double *weights = factors->weights[j];
        values[j] = s * (weights[0] + s * (weights[1] + s * (weights[2] + s * weights[3])));
        rest -= values[j] * factors->nodes[j];
    }
    dirk_combine_stages(ark, values, 1, x);
    for (size_t i = 0; i < n; i++)
        x[i] += ark->sundials.begin[i] + rest * h * ark->extra[i];
    return TUTTI_OK;
}

const struct tt_arkode_dense tt_arkode_dense_stages = {
    .kept = STAGES,
    .extra = 2,
    .start = dirk_start_dense,
    .end = dirk_end_dense,
    .evaluate = dirk_evaluate_dense,
};
