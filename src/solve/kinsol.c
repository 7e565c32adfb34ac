/* SPDX-License-Identifier: MIT */
/* kinsol.c - KINSOL (Hindmarsh et al., User Documentation for KINSOL; line search of Dennis and Schnabel, Numerical
 * Methods for Unconstrained Optimization and Nonlinear Equations, section 6.3), with three things done here:
 *
 * Convergence. KINSOL's test has fixed weights, ours depends on |x|. KINSOL requests a Jacobian once per iteration, at
 * the accepted iterate: there the residual is tested, and returning an error ends KINSOL. KINSOL's built-in test only
 * detects exact zeros.
 *
 * Krylov. GMRES asks for products with the Jacobian instead; the residual is tested at the first product of an
 * iteration. The full step is taken: a line search would need one more product.
 *
 * Walls. Where the equations have no value KINSOL halves its first trial step five times and gives up; it gives up at
 * once if a later trial of a line search meets a wall. Then it is called again with a shorter longest step. */
#include "solve/kinsol.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <kinsol/kinsol.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include "solve/lu.h"
#include "solve/sundials.h"

/* A residual below this that does not decrease is attributed to rounding or iteration errors of the models. */
static const double ROUGH = 1e-6;

enum { DEFAULT_ITERATIONS = 100 };
static const double DEFAULT_TOLERANCE = 1e-10;
/* The longest step, in typical sizes. The line search needs no such limit; it keeps squares of residuals finite. */
static const double LONGEST_STEP = 1e15;
/* A scaled residual beyond this counts as undefined: its square would overflow in the line search. */
static const double LARGEST_RESIDUAL = 1e100;
/* How much the longest step changes: what KINSOL's five halvings come to. */
static const double STEP_FACTOR = 32;
/* Accuracy of GMRES: linear problems take one iteration at tolerances of co-simulation; and the number of directions. */
static const double KRYLOV_RESIDUAL = 1e-4;
enum { MOST_DIRECTIONS = 50, MOST_DENSE = 2000 };

enum ending { RUNNING, SOLVED, TIRED, NO_DERIVATIVE, FAILED };

struct tt_kinsol {
    const struct tt_fixed_point *problem;
    struct tt_kinsol_options options;
    size_t n;
    struct tt_newton_counts counts;
    double *typical;       /* max(scale, |guess|) */
    double *point;         /* evaluated last, with a value */
    double *residuals;     /* its residuals x - g(x) */
    double *accepted;      /* x - g(x) where the last iteration began */
    double *shifted_point; /* of differences */
    double *jacobian;      /* of the residual, scaled: D J D^-1, D = diag(1 / typical); NULL unless it is dense */
    double *entries;       /* of dg/dx, if it has a pattern */
    struct tt_shifted_pattern shifted; /* the pattern of the matrix */
    enum ending ending;
    enum tutti_err err;  /* of FAILED */
    size_t unknown;      /* of NO_DERIVATIVE */
    double longest_step; /* in typical sizes */

    SUNContext context;
    N_Vector x; /* on the caller's */
    N_Vector x_weights, residual_weights;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    void *kinsol;
};

static enum tutti_err kinsol_check_arguments(const struct tt_fixed_point *problem,
                                             const struct tt_kinsol_options *options, const double *x)
{
    size_t n = problem->n;
    if (!(options->tolerance >= 0))
        return tt_fail(TUTTI_ERR_ARGUMENT, "a tolerance of %g for Newton's method; it must be positive",
                       options->tolerance);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return tt_fail(TUTTI_ERR_ARGUMENT, "the guess of unknown %zu is %g; give a finite start value", i, x[i]);
        if (problem->scale && !(problem->scale[i] > 0 && isfinite(problem->scale[i])))
            return tt_fail(TUTTI_ERR_ARGUMENT, "the typical size of unknown %zu is %g; it must be positive", i,
                           problem->scale[i]);
    }
    return TUTTI_OK;
}

static double kinsol_scale(const struct tt_kinsol *newton, size_t i)
{
    return newton->problem->scale ? newton->problem->scale[i] : 1;
}

/* The largest residual, each relative to its variable. */
static double kinsol_scaled_residual(const struct tt_kinsol *newton, const double *x, const double *residuals)
{
    double largest = 0;
    for (size_t i = 0; i < newton->n; i++) {
        if (isnan(residuals[i]))
            return NAN;
        largest = fmax(largest, fabs(residuals[i]) / fmax(kinsol_scale(newton, i), fabs(x[i])));
    }
    return largest;
}

static enum tutti_err kinsol_evaluate(struct tt_kinsol *newton, const double *x, double *residuals, bool *outside)
{
    const struct tt_fixed_point *problem = newton->problem;
    *outside = false;
    newton->counts.evaluations++;
    TRY(problem->evaluate(problem->context, x, residuals, outside));
    for (size_t i = 0; i < newton->n && !*outside; i++) {
        residuals[i] = x[i] - residuals[i];
        *outside = !(fabs(residuals[i]) / newton->typical[i] <= LARGEST_RESIDUAL);
    }
    return TUTTI_OK;
}

static int kinsol_set_ending(struct tt_kinsol *newton, enum ending ending)
{
    newton->ending = ending;
    return -1;
}

static int kinsol_fail(struct tt_kinsol *newton, enum tutti_err err)
{
    newton->err = err;
    return kinsol_set_ending(newton, FAILED);
}

static int kinsol_on_residual(N_Vector u, N_Vector f, void *data)
{
    struct tt_kinsol *newton = data;
    const double *x = N_VGetArrayPointer(u);
    double *residuals = N_VGetArrayPointer(f);
    bool outside;
    enum tutti_err err = kinsol_evaluate(newton, x, residuals, &outside);
    if (err)
        return kinsol_fail(newton, err);
    if (outside)
        return 1;
    memcpy(newton->point, x, newton->n * sizeof *x);
    memcpy(newton->residuals, residuals, newton->n * sizeof *residuals);
    return 0;
}

static double kinsol_typical_size(const struct tt_kinsol *newton)
{
    return newton->problem->distance > 0 ? newton->problem->distance : sqrt(DBL_EPSILON);
}

/* One column of the residual's Jacobian by a one-sided difference with the step sqrt(U) max(|x_j|, typical size), away
 * from zero (Dennis and Schnabel, section 5.4, algorithm A5.4.1); if that leads outside, towards it. */
static enum tutti_err kinsol_difference_column(struct tt_kinsol *newton, const double *x, size_t j, double *column,
                                               bool *outside)
{
    double size = fmax(fabs(x[j]), kinsol_scale(newton, j));
    double step = copysign(kinsol_typical_size(newton) * size, x[j]);
    *outside = true;
    for (int side = 0; side < 2 && *outside; side++) {
        volatile double moved = x[j] + step; /* what the step is once rounded */
        newton->shifted_point[j] = moved;
        TRY(kinsol_evaluate(newton, newton->shifted_point, column, outside));
        double distance = moved - x[j];
        step = -step;
        for (size_t i = 0; i < newton->n && !*outside; i++)
            column[i] = (column[i] - newton->accepted[i]) / distance;
    }
    newton->shifted_point[j] = x[j];
    return TUTTI_OK;
}

static int kinsol_differences(struct tt_kinsol *newton, const double *x, double *values)
{
    memcpy(newton->shifted_point, x, newton->n * sizeof *x);
    for (size_t j = 0; j < newton->n; j++) {
        bool outside;
        enum tutti_err err = kinsol_difference_column(newton, x, j, values + j * newton->n, &outside);
        if (err)
            return kinsol_fail(newton, err);
        newton->unknown = j;
        if (outside)
            return kinsol_set_ending(newton, NO_DERIVATIVE);
    }
    return 0;
}

static int kinsol_derivatives(struct tt_kinsol *newton, const double *x, double *values)
{
    const struct tt_fixed_point *problem = newton->problem;
    size_t n = newton->n;
    enum tutti_err err = problem->jacobian(problem->context, x, values);
    if (err)
        return kinsol_fail(newton, err);
    for (size_t k = 0; k < n * n; k++) {
        newton->unknown = k / n;
        if (!isfinite(values[k]))
            return kinsol_set_ending(newton, NO_DERIVATIVE);
        values[k] = (k % (n + 1) == 0) - values[k];
    }
    return 0;
}

/* The same where it has a pattern. */
static int kinsol_sparse_derivatives(struct tt_kinsol *newton, const double *x, double *values)
{
    const struct tt_fixed_point *problem = newton->problem;
    const struct tt_pattern *pattern = problem->pattern;
    size_t entries = tt_pattern_entries(pattern);
    memset(newton->entries, 0, entries * sizeof *newton->entries);
    enum tutti_err err = problem->jacobian(problem->context, x, newton->entries);
    if (err)
        return kinsol_fail(newton, err);
    memset(values, 0, tt_pattern_entries(&newton->shifted.pattern) * sizeof *values);
    for (size_t j = 0; j < newton->n; j++) {
        newton->unknown = j;
        values[newton->shifted.diagonal[j]] = 1;
        for (int32_t k = pattern->starts[j]; k < pattern->starts[j + 1]; k++) {
            if (!isfinite(newton->entries[k]))
                return kinsol_set_ending(newton, NO_DERIVATIVE);
            values[newton->shifted.places[k]] -= newton->entries[k];
        }
    }
    return 0;
}

/* Called at the beginning of each iteration, at the last accepted iterate: decides whether the iteration has converged. */
static int kinsol_begin_iteration(struct tt_kinsol *newton, const double *x, const double *residuals)
{
    memcpy(newton->accepted, residuals, newton->n * sizeof *newton->accepted);
    if (kinsol_scaled_residual(newton, x, newton->accepted) <= newton->options.tolerance)
        return kinsol_set_ending(newton, SOLVED);
    if (newton->counts.iterations == newton->options.iterations)
        return kinsol_set_ending(newton, TIRED);
    newton->counts.iterations++;
    return 0;
}

static int kinsol_on_jacobian(N_Vector u, N_Vector f, SUNMatrix matrix, void *data, N_Vector scratch,
                              N_Vector more_scratch)
{
    struct tt_kinsol *newton = data;
    const double *x = N_VGetArrayPointer(u);
    size_t n = newton->n;
    (void)scratch, (void)more_scratch;
    int status = kinsol_begin_iteration(newton, x, N_VGetArrayPointer(f));
    if (status)
        return status;
    newton->counts.jacobians++;
    if (newton->problem->pattern) {
        for (size_t c = 0; c <= n; c++) /* KINSOL zeroes the matrix, and with it its pattern */
            SM_INDEXPTRS_S(matrix)[c] = newton->shifted.pattern.starts[c];
        for (size_t k = 0; k < tt_pattern_entries(&newton->shifted.pattern); k++)
            SM_INDEXVALS_S(matrix)[k] = newton->shifted.pattern.rows[k];
        return kinsol_sparse_derivatives(newton, x, SM_DATA_S(matrix));
    }
    double *values = SUNDenseMatrix_Data(matrix);
    status = newton->problem->jacobian ? kinsol_derivatives(newton, x, values) : kinsol_differences(newton, x, values);
    if (status)
        return status;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            newton->jacobian[j * n + i] = values[j * n + i] * (newton->typical[j] / newton->typical[i]);
    return 0;
}

/* Computes J v by a difference along v, or in the opposite direction if that leaves the domain. */
static int kinsol_on_product(N_Vector direction, N_Vector product, N_Vector u, booleantype *is_new, void *data)
{
    struct tt_kinsol *newton = data;
    const double *v = N_VGetArrayPointer(direction), *x = N_VGetArrayPointer(u);
    double *out = N_VGetArrayPointer(product), largest = 0;
    bool outside = true;
    if (*is_new) { /* x was evaluated last */
        int status = kinsol_begin_iteration(newton, x, newton->residuals);
        if (status)
            return status;
        *is_new = SUNFALSE;
    }
    for (size_t i = 0; i < newton->n; i++)
        largest = fmax(largest, fabs(v[i]) / newton->typical[i]);
    double step = largest > 0 ? kinsol_typical_size(newton) / largest : 0;
    for (int side = 0; side < 2 && outside; side++) {
        step = side == 0 ? step : -step;
        for (size_t i = 0; i < newton->n; i++)
            newton->shifted_point[i] = x[i] + step * v[i];
        enum tutti_err err = kinsol_evaluate(newton, newton->shifted_point, out, &outside);
        if (err)
            return kinsol_fail(newton, err);
        for (size_t i = 0; i < newton->n && !outside; i++)
            out[i] = step == 0 ? 0 : (out[i] - newton->accepted[i]) / step;
    }
    newton->unknown = 0;
    return outside ? kinsol_set_ending(newton, NO_DERIVATIVE) : 0;
}

static enum tutti_err kinsol_make_sparse(struct tt_kinsol *newton)
{
    sunindextype n = (sunindextype)newton->n;
    newton->entries = calloc(tt_pattern_entries(newton->problem->pattern) + 1, sizeof *newton->entries);
    if (!newton->entries)
        return tt_fail_memory();
    TRY(tt_pattern_shifted_init(&newton->shifted, newton->problem->pattern));
    sunindextype entries = (sunindextype)tt_pattern_entries(&newton->shifted.pattern);
    newton->matrix = SUNSparseMatrix(n, n, entries, CSC_MAT, newton->context);
    if (newton->matrix)
        newton->linear = SUNLinSol_KLU(newton->x, newton->matrix, newton->context);
    return newton->linear ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err kinsol_make_dense(struct tt_kinsol *newton)
{
    sunindextype n = (sunindextype)newton->n;
    newton->jacobian = calloc(newton->n * newton->n, sizeof *newton->jacobian);
    newton->matrix = newton->jacobian ? SUNDenseMatrix(n, n, newton->context) : NULL;
    if (newton->matrix)
        newton->linear = SUNLinSol_Dense(newton->x, newton->matrix, newton->context);
    return newton->linear ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err kinsol_make_krylov(struct tt_kinsol *newton)
{
    int directions = newton->n < MOST_DIRECTIONS ? (int)newton->n : MOST_DIRECTIONS;
    newton->linear = SUNLinSol_SPGMR(newton->x, SUN_PREC_NONE, directions, newton->context);
    return newton->linear ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err kinsol_allocate(struct tt_kinsol *newton)
{
    size_t n = newton->n;
    sunindextype size = (sunindextype)n;
    newton->typical = malloc(5 * n * sizeof *newton->typical);
    if (!newton->typical || SUNContext_Create(NULL, &newton->context) != 0)
        return tt_fail_memory();
    newton->point = newton->typical + n;
    newton->residuals = newton->point + n;
    newton->accepted = newton->residuals + n;
    newton->shifted_point = newton->accepted + n;
    newton->x = N_VMake_Serial(size, newton->point, newton->context); /* each solution has its own */
    newton->x_weights = N_VNew_Serial(size, newton->context);
    newton->residual_weights = N_VNew_Serial(size, newton->context);
    newton->kinsol = KINCreate(newton->context);
    if (!newton->x || !newton->x_weights || !newton->residual_weights || !newton->kinsol)
        return tt_fail_memory();
    return newton->problem->krylov    ? kinsol_make_krylov(newton)
           : newton->problem->pattern ? kinsol_make_sparse(newton)
                                      : kinsol_make_dense(newton);
}

static bool kinsol_set_up(struct tt_kinsol *newton)
{
    void *kinsol = newton->kinsol;
    if (KINSetErrHandlerFn(kinsol, tt_sundials_ignore_message, NULL) ||
        KINInit(kinsol, kinsol_on_residual, newton->x) || KINSetUserData(kinsol, newton) ||
        KINSetLinearSolver(kinsol, newton->linear, newton->matrix) || KINSetMaxSetupCalls(kinsol, 1) ||
        KINSetNumMaxIters(kinsol, LONG_MAX) || KINSetMaxBetaFails(kinsol, LONG_MAX) ||
        KINSetFuncNormTol(kinsol, DBL_MIN) || KINSetScaledStepTol(kinsol, 4 * DBL_EPSILON))
        return false;
    if (newton->problem->krylov)
        return !KINSetJacTimesVecFn(kinsol, kinsol_on_product) && !KINSetEtaForm(kinsol, KIN_ETACONSTANT) &&
               !KINSetEtaConstValue(kinsol, KRYLOV_RESIDUAL);
    return !KINSetJacFn(kinsol, kinsol_on_jacobian);
}

void tt_kinsol_free(struct tt_kinsol *newton)
{
    if (!newton)
        return;
    KINFree(&newton->kinsol);
    SUNLinSolFree(newton->linear);
    SUNMatDestroy(newton->matrix);
    N_VDestroy(newton->x);
    N_VDestroy(newton->x_weights);
    N_VDestroy(newton->residual_weights);
    SUNContext_Free(&newton->context);
    tt_pattern_shifted_fini(&newton->shifted);
    free(newton->typical);
    free(newton->jacobian);
    free(newton->entries);
    free(newton);
}

enum tutti_err tt_kinsol_new(struct tt_kinsol **out, const struct tt_fixed_point *problem)
{
    *out = NULL;
    const size_t limit = problem->pattern || problem->krylov ? INT32_MAX : 20000; /* two matrices of 3 GB */
    if (problem->n == 0 || problem->n > limit)
        return tt_fail(TUTTI_ERR_LIMIT, "%zu equations at once; Newton's method takes 1 to %zu", problem->n, limit);
    struct tt_kinsol *newton = calloc(1, sizeof *newton);
    if (!newton)
        return tt_fail_memory();
    newton->problem = problem;
    newton->n = problem->n;
    enum tutti_err err = kinsol_allocate(newton);
    if (!err && !kinsol_set_up(newton))
        err = tt_fail_memory(); /* the only reason there can be */
    if (err) {
        tt_kinsol_free(newton);
        return err;
    }
    *out = newton;
    return TUTTI_OK;
}

static enum tutti_err kinsol_reset(struct tt_kinsol *newton, double *x)
{
    double *weights = N_VGetArrayPointer(newton->residual_weights);
    newton->counts = (struct tt_newton_counts){0};
    newton->ending = RUNNING;
    for (size_t i = 0; i < newton->n; i++) {
        newton->point[i] = newton->accepted[i] = NAN;
        newton->typical[i] = fmax(kinsol_scale(newton, i), fabs(x[i]));
        weights[i] = 1 / newton->typical[i];
    }
    newton->longest_step = LONGEST_STEP * sqrt((double)newton->n);
    N_VSetArrayPointer(x, newton->x);
    /* KLU would keep the order of rows from one matrix to the next, and rounding errors depend on it. */
    if (newton->problem->pattern &&
        SUNLinSol_KLUReInit(newton->linear, newton->matrix, SM_NNZ_S(newton->matrix), SUNKLU_REINIT_PARTIAL))
        return tt_fail_memory();
    return TUTTI_OK;
}

/* KINSOL requires the longest step to be at least 1 in the norm of its weights, so these are scaled. Returns the
 * factor. */
static double set_longest_step(struct tt_kinsol *newton)
{
    double factor = fmax(1, 1 / newton->longest_step);
    N_VScale(factor, newton->residual_weights, newton->x_weights);
    (void)KINSetMaxNewtonStep(newton->kinsol, newton->longest_step * factor);
    return factor;
}

/* Runs KINSOL as often as it takes; returns its last word. */
static int kinsol_iterate(struct tt_kinsol *newton)
{
    double most = newton->longest_step;
    for (;;) {
        double factor = set_longest_step(newton), length = 0;
        int flag = KINSol(newton->kinsol, newton->x, newton->problem->krylov ? KIN_NONE : KIN_LINESEARCH,
                          newton->x_weights, newton->residual_weights);
        (void)KINGetStepLength(newton->kinsol, &length);
        if (newton->ending != RUNNING)
            return flag;
        if (flag == KIN_REPTD_SYSFUNC_ERR) /* halved five times by now, but not tried the last time */
            newton->longest_step = length / factor;
        else if (flag == KIN_SYSFUNC_FAIL)
            newton->longest_step = length / factor / STEP_FACTOR;
        else if (flag == KIN_MXNEWT_5X_EXCEEDED)
            newton->longest_step = fmin(newton->longest_step * STEP_FACTOR, most);
        else
            return flag;
        if (!(newton->longest_step >= DBL_EPSILON))
            return flag;
    }
}

/* Copies a sparse Jacobian to a dense one for diagnostics, if it is not too large. */
static void kinsol_fill_dense(struct tt_kinsol *newton)
{
    size_t n = newton->n;
    if (!newton->problem->pattern || n > MOST_DENSE)
        return;
    free(newton->jacobian);
    newton->jacobian = calloc(n * n, sizeof *newton->jacobian);
    for (size_t j = 0; newton->jacobian && j < n; j++)
        for (int32_t k = newton->shifted.pattern.starts[j]; k < newton->shifted.pattern.starts[j + 1]; k++) {
            size_t i = (size_t)newton->shifted.pattern.rows[k];
            newton->jacobian[j * n + i] = SM_DATA_S(newton->matrix)[k] * (newton->typical[j] / newton->typical[i]);
        }
}

/* Returns true if the gradient of the sum of squares is nearly zero, relative to that sum and to the unknowns' sizes
 * (Dennis and Schnabel, section 7.2, algorithm A7.2.3, with 1e-3; the Jacobian may be that of the previous iterate). */
static bool kinsol_is_at_minimum(const struct tt_kinsol *newton)
{
    double sum = 0, steepest = 0;
    size_t n = newton->n;
    if (!newton->jacobian)
        return false;
    for (size_t i = 0; i < n; i++)
        sum += pow(newton->accepted[i] / newton->typical[i], 2) / 2;
    for (size_t j = 0; j < n; j++) {
        double slope = 0;
        for (size_t i = 0; i < n; i++)
            slope += newton->jacobian[j * n + i] * newton->accepted[i] / newton->typical[i];
        steepest = fmax(steepest, fabs(slope));
    }
    return steepest <= 1e-2 * sum;
}

/* Not solved, for no error of the equations' own. */
static enum tutti_err kinsol_fail_unsolved(struct tt_kinsol *newton, int flag)
{
    const struct tt_newton_counts *counts = &newton->counts;
    double allowed = newton->options.tolerance;
    if (newton->ending == NO_DERIVATIVE)
        return tt_fail(TUTTI_ERR_SOLVER,
                       "Newton's method: the equations have no derivative with respect to unknown %zu at the last "
                       "iterate (iteration %lu)",
                       newton->unknown, counts->iterations);
    if (flag == KIN_FIRST_SYSFUNC_ERR)
        return tt_fail(TUTTI_ERR_SOLVER, "Newton's method: the equations have no value at the start values");
    if (flag == KIN_MEM_FAIL)
        return tt_fail_memory();
    kinsol_fill_dense(newton);
    bool stuck = kinsol_is_at_minimum(newton);
    /* The Jacobian of the last iteration, I - DL, scaled, so that units of measure do not matter; destroys it. */
    double distance = newton->jacobian ? tt_lu_distance_to_singular(newton->jacobian, newton->n) : NAN;
    newton->counts.distance = isnan(distance) ? 0 : fmax(distance, DBL_EPSILON);
    double noise = newton->problem->distance > 0 ? newton->problem->distance
                   : newton->problem->jacobian   ? DBL_EPSILON
                                                 : sqrt(DBL_EPSILON);
    if (flag == KIN_LSETUP_FAIL ? newton->ending == RUNNING : distance < 10 * noise)
        return tt_fail(TUTTI_ERR_SOLVER,
                       "Newton's method: the Jacobian is singular, up to a relative change of %.0e, at the last "
                       "iterate (iteration "
                       "%lu, residual %.1e): the equations do not say what all of their unknowns "
                       "are, or contradict each other; look for a variable that depends on nothing but itself",
                       distance, counts->iterations, counts->residual);
    if (newton->ending == TIRED && !stuck)
        return tt_fail(TUTTI_ERR_SOLVER,
                       "Newton's method: no convergence in %lu iterations (residual %.1e, allowed %.1e)",
                       counts->iterations, counts->residual, allowed);
    if (flag == KIN_REPTD_SYSFUNC_ERR || flag == KIN_SYSFUNC_FAIL)
        return tt_fail(TUTTI_ERR_SOLVER,
                       "Newton's method: from the last iterate (iteration %lu, residual %.1e) even the shortest step "
                       "leads to where the equations have no value",
                       counts->iterations, counts->residual);
    if (counts->residual < ROUGH && !stuck)
        return tt_fail(TUTTI_ERR_SOLVER,
                       "Newton's method: the residual gets no smaller than %.1e (iteration %lu), but %.1e is asked "
                       "for: more digits than the models give",
                       counts->residual, counts->iterations, allowed);
    return tt_fail(TUTTI_ERR_SOLVER,
                   "Newton's method is stuck in a local minimum of the residual (iteration %lu, residual %.1e, "
                   "allowed %.1e): there is no solution nearby",
                   counts->iterations, counts->residual, allowed);
}

/* After KINSOL's last word: x is what was evaluated last, or what the last iteration began with. */
static enum tutti_err kinsol_finish(struct tt_kinsol *newton, int flag, const double *x, double *residuals)
{
    size_t bytes = newton->n * sizeof *x;
    const double *found = memcmp(newton->point, x, bytes) == 0 ? newton->residuals : newton->accepted;
    if (residuals)
        memcpy(residuals, found, bytes);
    newton->counts.residual = kinsol_scaled_residual(newton, x, found);
    if (newton->ending == FAILED)
        return newton->err;
    return newton->counts.residual <= newton->options.tolerance ? TUTTI_OK : kinsol_fail_unsolved(newton, flag);
}

enum tutti_err tt_kinsol_solve(struct tt_kinsol *newton, const struct tt_kinsol_options *options, double *x,
                               double *residuals, struct tt_newton_counts *counts)
{
    if (counts)
        *counts = (struct tt_newton_counts){0};
    TRY(kinsol_check_arguments(newton->problem, options, x));
    newton->options.tolerance = options->tolerance > 0 ? options->tolerance : DEFAULT_TOLERANCE;
    newton->options.iterations = options->iterations ? options->iterations : DEFAULT_ITERATIONS;
    enum tutti_err err = kinsol_reset(newton, x);
    if (!err)
        err = kinsol_finish(newton, kinsol_iterate(newton), x, residuals);
    if (counts)
        *counts = newton->counts;
    N_VSetArrayPointer(newton->point, newton->x);
    return err;
}

enum tutti_err tt_kinsol(const struct tt_fixed_point *problem, const struct tt_kinsol_options *options, double *x,
                         double *residuals, struct tt_newton_counts *counts)
{
    struct tt_kinsol *newton = NULL;
    if (counts)
        *counts = (struct tt_newton_counts){0};
    enum tutti_err err = tt_kinsol_new(&newton, problem);
    if (!newton)
        return err;
    err = tt_kinsol_solve(newton, options, x, residuals, counts);
    tt_kinsol_free(newton);
    return err;
}
