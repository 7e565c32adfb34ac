/* SPDX-License-Identifier: MIT */
/* newton.c - KINSOL (Hindmarsh et al., User Documentation for KINSOL; line search of Dennis and Schnabel, Numerical
 * Methods for Unconstrained Optimization and Nonlinear Equations, section 6.3), with two things done here:
 *
 * Convergence. KINSOL's test has fixed weights, ours knows |x|. KINSOL asks for a Jacobian once per iteration, at the
 * iterate it accepted: there the residual is looked at, and a refusal ends KINSOL. Its own test is left the exact zero.
 *
 * Walls. Where the equations have no value KINSOL halves its first trial step five times and gives up; it gives up at
 * once if a later trial of a line search meets a wall. Then it is called again with a shorter longest step. */
#include "solve/newton.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <kinsol/kinsol.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "solve/sundials.h"

/* A residual that is smaller than this and stays there is taken for the models' rounding or iteration errors. */
static const double ROUGH = 1e-6;

enum { DEFAULT_ITERATIONS = 100 };
static const double DEFAULT_TOLERANCE = 1e-10;
/* The longest step, in typical sizes. The line search needs no such limit; it keeps squares of residuals finite. */
static const double LONGEST_STEP = 1e15;
/* A scaled residual beyond this is no value: its square would overflow in the line search. */
static const double LARGEST_RESIDUAL = 1e100;
/* How much the longest step changes: what KINSOL's five halvings come to. */
static const double STEP_FACTOR = 32;

void dgetrf_(const int *rows, const int *columns, double *matrix, const int *leading, int *pivots, int *info);
void dgecon_(const char *norm, const int *count, const double *factors, const int *leading, const double *matrix_norm,
             double *rcond, double *work, int *integer_work, int *info, size_t norm_length);

/* Why KINSOL was told to end. */
enum ending { RUNNING, SOLVED, TIRED, NO_DERIVATIVE, FAILED };

struct newton {
    const struct tutti_fixed_point *problem;
    struct tutti_newton_options options;
    size_t n;
    struct tutti_newton_counts counts;
    double *typical;   /* max(scale, |guess|) */
    double *point;     /* evaluated last, with a value */
    double *residuals; /* ... its x - g(x) */
    double *accepted;  /* x - g(x) where the last iteration began */
    double *shifted;   /* of differences */
    double *jacobian;  /* of the residual, scaled: D J D^-1, D = diag(1 / typical) */
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

static enum tutti_err check_arguments(const struct tutti_fixed_point *problem,
                                      const struct tutti_newton_options *options, const double *x)
{
    const size_t limit = 20000; /* two matrices of 3 GB */
    size_t n = problem->n;
    if (n == 0 || n > limit)
        return tutti_fail(TUTTI_ERR_LIMIT, "%zu equations at once; Newton's method takes 1 to %zu", n, limit);
    if (!(options->tolerance >= 0))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "a tolerance of %g for Newton's method; it must be positive",
                          options->tolerance);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return tutti_fail(TUTTI_ERR_ARGUMENT, "the guess of unknown %zu is %g; give a finite start value", i, x[i]);
        if (problem->scale && !(problem->scale[i] > 0 && isfinite(problem->scale[i])))
            return tutti_fail(TUTTI_ERR_ARGUMENT, "the typical size of unknown %zu is %g; it must be positive", i,
                              problem->scale[i]);
    }
    return TUTTI_OK;
}

static double scale_of(const struct newton *newton, size_t i)
{
    return newton->problem->scale ? newton->problem->scale[i] : 1;
}

/* The largest residual, each relative to its variable. */
static double scaled_residual(const struct newton *newton, const double *x, const double *residuals)
{
    double largest = 0;
    for (size_t i = 0; i < newton->n; i++) {
        if (isnan(residuals[i]))
            return NAN;
        largest = fmax(largest, fabs(residuals[i]) / fmax(scale_of(newton, i), fabs(x[i])));
    }
    return largest;
}

/* x - g(x). */
static enum tutti_err evaluate(struct newton *newton, const double *x, double *residuals, bool *outside)
{
    const struct tutti_fixed_point *problem = newton->problem;
    *outside = false;
    newton->counts.evaluations++;
    TRY(problem->evaluate(problem->context, x, residuals, outside));
    for (size_t i = 0; i < newton->n && !*outside; i++) {
        residuals[i] = x[i] - residuals[i];
        *outside = !(fabs(residuals[i]) / newton->typical[i] <= LARGEST_RESIDUAL);
    }
    return TUTTI_OK;
}

static int end(struct newton *newton, enum ending ending)
{
    newton->ending = ending;
    return -1;
}

static int fail(struct newton *newton, enum tutti_err err)
{
    newton->err = err;
    return end(newton, FAILED);
}

static int on_residual(N_Vector u, N_Vector f, void *data)
{
    struct newton *newton = data;
    const double *x = N_VGetArrayPointer(u);
    double *residuals = N_VGetArrayPointer(f);
    bool outside;
    enum tutti_err err = evaluate(newton, x, residuals, &outside);
    if (err)
        return fail(newton, err);
    if (outside)
        return 1;
    memcpy(newton->point, x, newton->n * sizeof *x);
    memcpy(newton->residuals, residuals, newton->n * sizeof *residuals);
    return 0;
}

/* One column of the residual's Jacobian by a one-sided difference with the step sqrt(U) max(|x_j|, typical size), away
 * from zero (Dennis and Schnabel, section 5.4, algorithm A5.4.1); if that leads outside, towards it. */
static enum tutti_err difference(struct newton *newton, const double *x, size_t j, double *column, bool *outside)
{
    double size = fmax(fabs(x[j]), scale_of(newton, j));
    double step = copysign(sqrt(DBL_EPSILON) * size, x[j]);
    *outside = true;
    for (int side = 0; side < 2 && *outside; side++) {
        volatile double moved = x[j] + step; /* what the step is once rounded */
        newton->shifted[j] = moved;
        TRY(evaluate(newton, newton->shifted, column, outside));
        double distance = moved - x[j];
        step = -step;
        for (size_t i = 0; i < newton->n && !*outside; i++)
            column[i] = (column[i] - newton->accepted[i]) / distance;
    }
    newton->shifted[j] = x[j];
    return TUTTI_OK;
}

static int differences(struct newton *newton, const double *x, double *values)
{
    memcpy(newton->shifted, x, newton->n * sizeof *x);
    for (size_t j = 0; j < newton->n; j++) {
        bool outside;
        enum tutti_err err = difference(newton, x, j, values + j * newton->n, &outside);
        if (err)
            return fail(newton, err);
        newton->unknown = j;
        if (outside)
            return end(newton, NO_DERIVATIVE);
    }
    return 0;
}

/* I - dg/dx. */
static int derivatives(struct newton *newton, const double *x, double *values)
{
    const struct tutti_fixed_point *problem = newton->problem;
    size_t n = newton->n;
    enum tutti_err err = problem->jacobian(problem->context, x, values);
    if (err)
        return fail(newton, err);
    for (size_t k = 0; k < n * n; k++) {
        newton->unknown = k / n;
        if (!isfinite(values[k]))
            return end(newton, NO_DERIVATIVE);
        values[k] = (k % (n + 1) == 0) - values[k];
    }
    return 0;
}

/* Called at the beginning of each iteration, at what the last one accepted. */
static int on_jacobian(N_Vector u, N_Vector f, SUNMatrix matrix, void *data, N_Vector scratch, N_Vector more_scratch)
{
    struct newton *newton = data;
    const double *x = N_VGetArrayPointer(u);
    size_t n = newton->n;
    (void)scratch, (void)more_scratch;
    memcpy(newton->accepted, N_VGetArrayPointer(f), n * sizeof *newton->accepted);
    if (scaled_residual(newton, x, newton->accepted) <= newton->options.tolerance)
        return end(newton, SOLVED);
    if (newton->counts.iterations == newton->options.iterations)
        return end(newton, TIRED);
    newton->counts.iterations++;
    newton->counts.jacobians++;
    double *values = SUNDenseMatrix_Data(matrix);
    int status = newton->problem->jacobian ? derivatives(newton, x, values) : differences(newton, x, values);
    if (status)
        return status;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            newton->jacobian[j * n + i] = values[j * n + i] * (newton->typical[j] / newton->typical[i]);
    return 0;
}

static enum tutti_err allocate(struct newton *newton, double *x)
{
    size_t n = newton->n;
    sunindextype size = (sunindextype)n;
    newton->typical = malloc(5 * n * sizeof *newton->typical);
    newton->jacobian = calloc(n * n, sizeof *newton->jacobian);
    if (!newton->typical || !newton->jacobian || SUNContext_Create(NULL, &newton->context) != 0)
        return tutti_fail_memory();
    newton->point = newton->typical + n;
    newton->residuals = newton->point + n;
    newton->accepted = newton->residuals + n;
    newton->shifted = newton->accepted + n;
    for (size_t i = 0; i < n; i++)
        newton->point[i] = newton->accepted[i] = NAN;
    newton->x = N_VMake_Serial(size, x, newton->context);
    newton->x_weights = N_VNew_Serial(size, newton->context);
    newton->residual_weights = N_VNew_Serial(size, newton->context);
    newton->matrix = SUNDenseMatrix(size, size, newton->context);
    newton->kinsol = KINCreate(newton->context);
    if (!newton->x || !newton->x_weights || !newton->residual_weights || !newton->matrix || !newton->kinsol)
        return tutti_fail_memory();
    newton->linear = SUNLinSol_Dense(newton->x, newton->matrix, newton->context);
    return newton->linear ? TUTTI_OK : tutti_fail_memory();
}

static void release(struct newton *newton)
{
    KINFree(&newton->kinsol);
    SUNLinSolFree(newton->linear);
    SUNMatDestroy(newton->matrix);
    N_VDestroy(newton->x);
    N_VDestroy(newton->x_weights);
    N_VDestroy(newton->residual_weights);
    SUNContext_Free(&newton->context);
    free(newton->typical);
    free(newton->jacobian);
}

static enum tutti_err start(struct newton *newton, double *x)
{
    TRY(allocate(newton, x));
    double *weights = N_VGetArrayPointer(newton->residual_weights);
    for (size_t i = 0; i < newton->n; i++) {
        newton->typical[i] = fmax(scale_of(newton, i), fabs(x[i]));
        weights[i] = 1 / newton->typical[i];
    }
    newton->longest_step = LONGEST_STEP * sqrt((double)newton->n);
    void *kinsol = newton->kinsol;
    if (KINSetErrHandlerFn(kinsol, tutti_sundials_silent, NULL) || KINInit(kinsol, on_residual, newton->x) ||
        KINSetUserData(kinsol, newton) || KINSetLinearSolver(kinsol, newton->linear, newton->matrix) ||
        KINSetJacFn(kinsol, on_jacobian) || KINSetMaxSetupCalls(kinsol, 1) || KINSetNumMaxIters(kinsol, LONG_MAX) ||
        KINSetMaxBetaFails(kinsol, LONG_MAX) || KINSetFuncNormTol(kinsol, DBL_MIN) ||
        KINSetScaledStepTol(kinsol, 4 * DBL_EPSILON))
        return tutti_fail_memory(); /* the only reason there can be */
    return TUTTI_OK;
}

/* KINSOL takes no longest step below 1 in the norm of its weights: so those change. Returns what they are
 * multiplied by. */
static double set_longest_step(struct newton *newton)
{
    double factor = fmax(1, 1 / newton->longest_step);
    N_VScale(factor, newton->residual_weights, newton->x_weights);
    (void)KINSetMaxNewtonStep(newton->kinsol, newton->longest_step * factor);
    return factor;
}

/* Runs KINSOL as often as it takes; returns its last word. */
static int solve(struct newton *newton)
{
    double most = newton->longest_step;
    for (;;) {
        double factor = set_longest_step(newton), length = 0;
        int flag = KINSol(newton->kinsol, newton->x, KIN_LINESEARCH, newton->x_weights, newton->residual_weights);
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

/* How far the Jacobian of the last iteration is from a singular one, relative to it or to the I in I - DL: its
 * reciprocal condition number, estimated, less if it is small itself. Scaled, so that units do not matter; destroys it. */
static double distance_to_singular(struct newton *newton)
{
    int n = (int)newton->n, info = 0;
    size_t size = newton->n;
    double norm = 0, rcond = 0, *work = malloc(4 * size * sizeof *work);
    int *integers = malloc(2 * size * sizeof *integers);
    for (size_t j = 0; j < size; j++) {
        double sum = 0;
        for (size_t i = 0; i < size; i++)
            sum += fabs(newton->jacobian[j * size + i]);
        norm = fmax(norm, sum);
    }
    if (work && integers) {
        dgetrf_(&n, &n, newton->jacobian, &n, integers, &info);
        if (info == 0)
            dgecon_("1", &n, newton->jacobian, &n, &norm, &rcond, work, integers + size, &info, 1);
    }
    free(work);
    free(integers);
    return rcond * fmin(norm, 1);
}

/* Is the gradient of the sum of squares zero, or nearly, relative to that sum and to the unknowns' sizes? (Dennis and
 * Schnabel, section 7.2, algorithm A7.2.3, which asks for 1e-3; the Jacobian may be of the iterate before.) */
static bool at_minimum(const struct newton *newton)
{
    double sum = 0, steepest = 0;
    size_t n = newton->n;
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
static enum tutti_err explain(struct newton *newton, int flag)
{
    const struct tutti_newton_counts *counts = &newton->counts;
    double allowed = newton->options.tolerance;
    if (newton->ending == NO_DERIVATIVE)
        return tutti_fail(TUTTI_ERR_SOLVER,
                          "Newton's method: the equations have no derivative with respect to unknown %zu at the last "
                          "iterate (iteration %lu)",
                          newton->unknown, counts->iterations);
    if (flag == KIN_FIRST_SYSFUNC_ERR)
        return tutti_fail(TUTTI_ERR_SOLVER, "Newton's method: the equations have no value at the start values");
    if (flag == KIN_MEM_FAIL)
        return tutti_fail_memory();
    bool stuck = at_minimum(newton);
    double distance = newton->counts.distance = distance_to_singular(newton);
    double noise = newton->problem->jacobian ? DBL_EPSILON : sqrt(DBL_EPSILON);
    if (flag == KIN_LSETUP_FAIL ? newton->ending == RUNNING : distance < 10 * noise)
        return tutti_fail(TUTTI_ERR_SOLVER,
                          "Newton's method: the Jacobian is singular, up to a relative change of %.0e, at the last "
                          "iterate (iteration "
                          "%lu, residual %.1e): the equations do not say what all of their unknowns "
                          "are, or contradict each other; look for a variable that depends on nothing but itself",
                          distance, counts->iterations, counts->residual);
    if (newton->ending == TIRED && !stuck)
        return tutti_fail(TUTTI_ERR_SOLVER,
                          "Newton's method: no convergence in %lu iterations (residual %.1e, allowed %.1e)",
                          counts->iterations, counts->residual, allowed);
    if (flag == KIN_REPTD_SYSFUNC_ERR || flag == KIN_SYSFUNC_FAIL)
        return tutti_fail(
            TUTTI_ERR_SOLVER,
            "Newton's method: from the last iterate (iteration %lu, residual %.1e) even the shortest step "
            "leads to where the equations have no value",
            counts->iterations, counts->residual);
    if (counts->residual < ROUGH && !stuck)
        return tutti_fail(TUTTI_ERR_SOLVER,
                          "Newton's method: the residual gets no smaller than %.1e (iteration %lu), but %.1e is asked "
                          "for: more digits than the models give",
                          counts->residual, counts->iterations, allowed);
    return tutti_fail(TUTTI_ERR_SOLVER,
                      "Newton's method is stuck in a local minimum of the residual (iteration %lu, residual %.1e, "
                      "allowed %.1e): there is no solution nearby",
                      counts->iterations, counts->residual, allowed);
}

/* After KINSOL's last word: x is what was evaluated last, or what the last iteration began with. */
static enum tutti_err finish(struct newton *newton, int flag, const double *x, double *residuals)
{
    size_t bytes = newton->n * sizeof *x;
    const double *found = memcmp(newton->point, x, bytes) == 0 ? newton->residuals : newton->accepted;
    if (residuals)
        memcpy(residuals, found, bytes);
    newton->counts.residual = scaled_residual(newton, x, found);
    if (newton->ending == FAILED)
        return newton->err;
    return newton->counts.residual <= newton->options.tolerance ? TUTTI_OK : explain(newton, flag);
}

enum tutti_err tutti_newton(const struct tutti_fixed_point *problem, const struct tutti_newton_options *options,
                            double *x, double *residuals, struct tutti_newton_counts *counts)
{
    struct newton newton = {.problem = problem, .n = problem->n};
    if (counts)
        *counts = newton.counts;
    TRY(check_arguments(problem, options, x));
    newton.options.tolerance = options->tolerance > 0 ? options->tolerance : DEFAULT_TOLERANCE;
    newton.options.iterations = options->iterations ? options->iterations : DEFAULT_ITERATIONS;
    enum tutti_err err = start(&newton, x);
    if (!err)
        err = finish(&newton, solve(&newton), x, residuals);
    if (counts)
        *counts = newton.counts;
    release(&newton);
    return err;
}
