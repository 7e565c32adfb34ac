/* SPDX-License-Identifier: MIT */
/* arkode.c - Runge-Kutta methods of SUNDIALS ARKODE: `dopri5`, `dopri8` (explicit) and `dirk` (diagonally implicit).
 *
 * Reynolds, Gardner, Woodward, Chinomona, ARKODE: A Flexible IVP Solver Infrastructure for One-step Methods, ACM TOMS
 * 49 (2023). ARKODE 5.4 (SUNDIALS 6.4) leaves the following to its caller:
 * - A point without a value ends an explicit step for good, so the step is restarted with a quarter of its size.
 * - At a stop ARKODE gives the states of its dense output. With degree 1 that is the end of the step, to the bit; with
 *   Lagrange's, which dirk has, it may be the end of the previous step if a step is short: see arkode_step().
 * - Dense output: ARKODE's is of order 5 at best and, for stiff problems, of order 1 after a restart; it evaluates f at every call. This file implements the highest order that each method permits.
 * - ERKStep reuses the last stage as the first stage of the next step if c_s = 1. That is right for dopri5 (and
 *   saves one evaluation in seven) and wrong for dopri8, which is run by ARKStep for this reason. */
#include "solve/arkode.h"

#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_butcher.h>
#include <arkode/arkode_butcher_dirk.h>
#include <arkode/arkode_erkstep.h>
#include <math.h>
#include <stdio.h> /* ARKODE leaves it to others */
#include <stdlib.h>
#include <string.h>

/* Attempts at a step: its size falls to a quarter or so in each. */
enum { ATTEMPTS_MAX = 20 };

/* The functions of ARKODE's modules ERKStep and ARKStep, which differ in their names. */
struct arkode_stepper {
    void (*free)(void **memory);
    int (*reinit)(void *memory, realtype t, N_Vector x);
    int (*evolve)(void *memory, realtype limit, N_Vector x, realtype *t, int task);
    int (*set_tolerances)(void *memory, realtype rtol, N_Vector atol);
    int (*set_first_step)(void *memory, realtype h);
    int (*set_max_step)(void *memory, realtype h);
    int (*set_stop)(void *memory, realtype t);
    int (*set_attempts)(void *memory, int count);
    int (*set_handler)(void *memory, ARKErrHandlerFn handler, void *data);
    int (*set_data)(void *memory, void *data);
    int (*get_steps)(void *memory, long *count);
    int (*get_error_failures)(void *memory, long *count);
    int (*get_last_step)(void *memory, realtype *h);
    int (*get_current_step)(void *memory, realtype *h);
    int (*get_errors)(void *memory, N_Vector errors);
};

struct tt_arkode_method {
    const struct arkode_stepper *stepper;
    const struct tt_arkode_dense *dense;
    bool keeps_slopes; /* dense->kept are evaluations of f, the last of which is f at the end of the step */
    enum tutti_err (*create)(struct tt_arkode *ark);
};

static void arkode_store_vector(struct tt_arkode *ark, const double *vector)
{
    size_t n = ark->sundials.base.ode->count, kept = ark->method->dense->kept;
    memcpy(ark->kept + ark->next * n, vector, n * sizeof *vector);
    ark->next = (ark->next + 1) % kept;
}

/* Every attempt at a step begins with f at its beginning: evaluated once. */
static int arkode_rhs(realtype t, N_Vector x, N_Vector dx, void *data)
{
    struct tt_arkode *ark = data;
    struct tt_sundials *sundials = &ark->sundials;
    size_t size = sundials->base.ode->count * sizeof(double);
    double *slope = N_VGetArrayPointer(dx);
    bool beginning = t == sundials->base.t && memcmp(N_VGetArrayPointer(x), sundials->begin, size) == 0;
    if (beginning && ark->first_known) {
        memcpy(slope, ark->first, size);
    } else {
        int status = tt_sundials_rhs(t, x, dx, sundials);
        ark->stuck = t == sundials->base.t;
        if (status != 0)
            return status;
        if (beginning) {
            memcpy(ark->first, slope, size);
            ark->first_known = true;
        }
    }
    if (ark->method->keeps_slopes)
        arkode_store_vector(ark, slope);
    return 0;
}

static int arkode_store_stage(realtype t, N_Vector x, void *data)
{
    (void)t;
    arkode_store_vector(data, N_VGetArrayPointer(x));
    return 0;
}

static int arkode_linear_system(realtype t, N_Vector x, N_Vector dx, SUNMatrix matrix, SUNMatrix mass,
                                booleantype current, booleantype *renewed, realtype gamma, void *data, N_Vector one,
                                N_Vector two, N_Vector three)
{
    (void)matrix, (void)mass, (void)one, (void)two, (void)three;
    return tt_sundials_system(&((struct tt_arkode *)data)->sundials, t, x, dx, current, renewed, gamma);
}

static int arkode_reinit_erk(void *memory, realtype t, N_Vector x)
{
    return ERKStepReInit(memory, arkode_rhs, t, x);
}

static int arkode_reinit_explicit(void *memory, realtype t, N_Vector x)
{
    return ARKStepReInit(memory, arkode_rhs, NULL, t, x);
}

static int arkode_reinit_implicit(void *memory, realtype t, N_Vector x)
{
    return ARKStepReInit(memory, NULL, arkode_rhs, t, x);
}

static const struct arkode_stepper erk = {
    .free = ERKStepFree,
    .reinit = arkode_reinit_erk,
    .evolve = ERKStepEvolve,
    .set_tolerances = ERKStepSVtolerances,
    .set_first_step = ERKStepSetInitStep,
    .set_max_step = ERKStepSetMaxStep,
    .set_stop = ERKStepSetStopTime,
    .set_attempts = ERKStepSetMaxErrTestFails,
    .set_handler = ERKStepSetErrHandlerFn,
    .set_data = ERKStepSetUserData,
    .get_steps = ERKStepGetNumSteps,
    .get_error_failures = ERKStepGetNumErrTestFails,
    .get_last_step = ERKStepGetLastStep,
    .get_current_step = ERKStepGetCurrentStep,
    .get_errors = ERKStepGetEstLocalErrors,
};

#define ARKSTEP(arkode_reinitialise)                                                                                   \
    {                                                                                                                  \
        .free = ARKStepFree, .reinit = (arkode_reinitialise), .evolve = ARKStepEvolve,                                 \
        .set_tolerances = ARKStepSVtolerances, .set_first_step = ARKStepSetInitStep,                                   \
        .set_max_step = ARKStepSetMaxStep, .set_stop = ARKStepSetStopTime, .set_attempts = ARKStepSetMaxErrTestFails,  \
        .set_handler = ARKStepSetErrHandlerFn, .set_data = ARKStepSetUserData, .get_steps = ARKStepGetNumSteps,        \
        .get_error_failures = ARKStepGetNumErrTestFails, .get_last_step = ARKStepGetLastStep,                          \
        .get_current_step = ARKStepGetCurrentStep, .get_errors = ARKStepGetEstLocalErrors,                             \
    }

static const struct arkode_stepper ark_explicit = ARKSTEP(arkode_reinit_explicit),
                                   ark_implicit = ARKSTEP(arkode_reinit_implicit);

/* Dormand, Prince (1980); Hairer, Norsett, Wanner, Solving ODEs I, table II.5.2. */
static enum tutti_err arkode_create_dopri5(struct tt_arkode *ark)
{
    ark->memory = ERKStepCreate(arkode_rhs, 0, ark->sundials.states, ark->sundials.context);
    if (!ark->memory)
        return tt_fail_memory();
    int flag = ERKStepSetTableNum(ark->memory, ARKODE_DORMAND_PRINCE_7_4_5);
    flag = flag ? flag : ERKStepSetInterpolantDegree(ark->memory, 1);
    return tt_sundials_check(&ark->sundials, flag);
}

static int arkode_jacobian_product(N_Vector vector, N_Vector product, realtype t, N_Vector x, N_Vector dx, void *data,
                                   N_Vector scratch)
{
    (void)dx;
    return tt_sundials_product(data, t, x, vector, product, scratch);
}

/* ARKODE's only table of order 8 is Fehlberg's RK7(8). Its error estimate is zero wherever f depends on time alone
 * (Hairer, Norsett, Wanner, Solving ODEs I, II.5): integrals of inputs, which are common, would have no error control. */
static enum tutti_err arkode_create_dopri8(struct tt_arkode *ark)
{
    ark->memory = ARKStepCreate(arkode_rhs, NULL, 0, ark->sundials.states, ark->sundials.context);
    ARKodeButcherTable table = tt_arkode_table_dopri8();
    int flag = ark->memory && table ? ARKStepSetTables(ark->memory, 8, 7, NULL, table) : ARK_MEM_FAIL;
    flag = flag ? flag : ARKStepSetInterpolantDegree(ark->memory, 1);
    if (table)
        ARKodeButcherTable_Free(table);
    return tt_sundials_check(&ark->sundials, flag);
}

/* ESDIRK4(3I)6L[2]SA of Kennedy, Carpenter, Diagonally implicit Runge-Kutta methods for ordinary differential equations: a
 * review, NASA/TM-2016-219173: order 4, L-stable, stiffly accurate, stage order 2, 0 <= c <= 1. Of the tables of order 4 and
 * 5 that ARKODE has, those of additive pairs (ARK4(3)7L[2]SA, ARK5(4)8L[2]SA) take fewer steps, but estimate a sixth to a
 * sixteenth of the error that they make, and others suffer more from stiffness. It is at its best if
 * - stage derivatives are deduced from the stages: evaluating f would multiply Newton's remainder by h L;
 * - Newton's method ends at 0.01 of the tolerance, in 4 iterations at most (with ARKODE's 0.1 and 3: errors up to 100 times
 *   the tolerance);
 * - stages are predicted by the polynomial through past steps, Lagrange's: it asks for no derivatives;
 * - another step size means another factorisation: the rate of convergence that ARKODE remembers from before a small
 *   change lets it take iterations for converged that are not (errors of 1000 times the tolerance were seen).
 * Measured on van der Pol's oscillator, Prothero and Robinson's, Robertson's and three smooth problems, tolerances 1e-3 to
 * 1e-10. */
static enum tutti_err arkode_create_dirk(struct tt_arkode *ark)
{
    struct tt_sundials *sundials = &ark->sundials;
    TRY(tt_sundials_start_linear(sundials, sundials->base.ode, sundials->states));
    ark->memory = ARKStepCreate(NULL, arkode_rhs, 0, sundials->states, sundials->context);
    if (!ark->memory)
        return tt_fail_memory();
    int flag = ARKStepSetTableNum(ark->memory, TUTTI_ARK_DIRK, ARKODE_ERK_NONE);
    flag = flag ? flag : ARKStepSetDeduceImplicitRhs(ark->memory, SUNTRUE);
    flag = flag ? flag : ARKStepSetNonlinConvCoef(ark->memory, 0.01);
    flag = flag ? flag : ARKStepSetMaxNonlinIters(ark->memory, 4);
    flag = flag ? flag : ARKStepSetInterpolantType(ark->memory, ARK_INTERP_LAGRANGE);
    flag = flag ? flag : ARKStepSetPredictorMethod(ark->memory, 1);
    flag = flag ? flag : ARKStepSetDeltaGammaMax(ark->memory, 1e-3);
    flag = flag ? flag : ARKStepSetMaxConvFails(ark->memory, ATTEMPTS_MAX);
    flag = flag ? flag : ARKStepSetPostprocessStageFn(ark->memory, arkode_store_stage);
    flag = flag ? flag : ARKStepSetLinearSolver(ark->memory, sundials->linear, sundials->matrix);
    if (sundials->matrix)
        flag = flag ? flag : ARKStepSetLinSysFn(ark->memory, arkode_linear_system);
    else
        flag = flag ? flag : ARKStepSetJacTimes(ark->memory, NULL, arkode_jacobian_product);
    return tt_sundials_check(sundials, flag);
}

static const struct tt_arkode_method dopri5 = {&erk, &tt_arkode_dense_dopri5, true, arkode_create_dopri5};
static const struct tt_arkode_method dopri8 = {&ark_explicit, &tt_arkode_dense_hermite, false, arkode_create_dopri8};
static const struct tt_arkode_method dirk = {&ark_implicit, &tt_arkode_dense_stages, false, arkode_create_dirk};

static enum tutti_err arkode_start(struct tt_solver *solver, const struct tt_arkode_method *method)
{
    struct tt_arkode *ark = (struct tt_arkode *)solver;
    const struct arkode_stepper *stepper = method->stepper;
    size_t n = solver->ode->count, kept = method->dense->kept;
    ark->method = method;
    TRY(tt_sundials_start(&ark->sundials));
    ark->vectors = calloc((4 + kept + method->dense->extra) * n, sizeof *ark->vectors);
    if (!ark->vectors)
        return tt_fail_memory();
    ark->first = ark->vectors;
    ark->last = ark->first + n;
    ark->scratch = ark->last + n;
    ark->kept = ark->scratch + 2 * n;
    ark->extra = ark->kept + kept * n;
    TRY(method->create(ark));
    int flag = stepper->set_handler(ark->memory, tt_sundials_ignore_message, NULL);
    flag = flag ? flag : stepper->set_data(ark->memory, ark);
    flag = flag ? flag : stepper->set_max_step(ark->memory, solver->options.h_max);
    flag = flag ? flag : stepper->set_attempts(ark->memory, ATTEMPTS_MAX);
    TRY(tt_sundials_check(&ark->sundials, flag));
    return method->dense->start ? method->dense->start(ark) : TUTTI_OK;
}

static enum tutti_err arkode_start_dopri5(struct tt_solver *solver)
{
    return arkode_start(solver, &dopri5);
}

static enum tutti_err arkode_start_dopri8(struct tt_solver *solver)
{
    return arkode_start(solver, &dopri8);
}

static enum tutti_err arkode_start_dirk(struct tt_solver *solver)
{
    return arkode_start(solver, &dirk);
}

static void arkode_finish(struct tt_solver *solver)
{
    struct tt_arkode *ark = (struct tt_arkode *)solver;
    if (ark->memory)
        ark->method->stepper->free(&ark->memory);
    free(ark->vectors);
    tt_sundials_finish(&ark->sundials);
}

/* Restarts where the states are continuous and only the right-hand side may differ: the step size is kept. */
static enum tutti_err arkode_restart(struct tt_solver *solver, double t, const double *x)
{
    struct tt_arkode *ark = (struct tt_arkode *)solver;
    if (!solver->started || t != ark->reached || memcmp(x, ark->sundials.x, solver->ode->count * sizeof *x) != 0)
        ark->h = 0;
    ark->reached = t;
    ark->first_known = ark->last_known = false;
    tt_sundials_restart(&ark->sundials, x);
    return TUTTI_OK;
}

/* Begins a step from solver->t on, with size h. */
static enum tutti_err arkode_reinitialise(struct tt_arkode *ark, double h)
{
    struct tt_sundials *sundials = &ark->sundials;
    const struct tt_solver *solver = &sundials->base;
    const struct arkode_stepper *stepper = ark->method->stepper;
    memcpy(sundials->x, sundials->begin, solver->ode->count * sizeof *sundials->x);
    int flag = stepper->reinit(ark->memory, solver->t, sundials->states);
    flag = flag ? flag : stepper->set_tolerances(ark->memory, solver->ode->rtol, sundials->weights);
    flag = flag ? flag : stepper->set_first_step(ark->memory, h);
    sundials->seen = (struct tt_sundials_counters){0};
    sundials->stop = NAN;
    return tt_sundials_check(sundials, flag);
}

static enum tutti_err arkode_first_step(struct tt_arkode *ark, double limit)
{
    struct tt_sundials *sundials = &ark->sundials;
    struct tt_solver *solver = &sundials->base;
    double h = fmin(ark->h, limit - solver->t);
    if (h == 0) {
        if (arkode_rhs(solver->t, sundials->states, sundials->scratch, ark) != 0)
            return tt_sundials_fail(sundials, ARK_FIRST_RHSFUNC_ERR, 0, NULL);
        TRY(tt_solver_first_step(solver, sundials->begin, ark->first, solver->kind->order, limit, ark->scratch, &h));
    }
    return arkode_reinitialise(ark, h);
}

static bool arkode_update_counts(struct tt_arkode *ark)
{
    const struct arkode_stepper *stepper = ark->method->stepper;
    struct tt_sundials_counters now = {0};
    (void)stepper->get_steps(ark->memory, &now.steps);
    (void)stepper->get_error_failures(ark->memory, &now.error_failures);
    if (stepper == &ark_implicit) {
        (void)ARKStepGetNumStepSolveFails(ark->memory, &now.solve_failures);
        (void)ARKStepGetNumNonlinSolvIters(ark->memory, &now.iterations);
    }
    return tt_sundials_count(&ark->sundials, &now);
}

/* Runs ARKODE until a step is accepted. *stepped is false if it made no step because the stop was within rounding. */
static enum tutti_err arkode_evolve(struct tt_arkode *ark, double limit, double *t, bool *stepped)
{
    struct tt_sundials *sundials = &ark->sundials;
    struct tt_solver *solver = &sundials->base;
    const struct arkode_stepper *stepper = ark->method->stepper;
    for (int attempts = 1;; attempts++) {
        double h = 0;
        if (limit != sundials->stop)
            TRY(tt_sundials_check(sundials, stepper->set_stop(ark->memory, limit)));
        sundials->stop = limit;
        int flag = stepper->evolve(ark->memory, limit, sundials->states, t, ARK_ONE_STEP);
        *stepped = arkode_update_counts(ark);
        if (flag >= 0)
            return TUTTI_OK;
        (void)stepper->get_current_step(ark->memory, &h);
        bool hopeless = ark->stuck || solver->t + h / 4 == solver->t || attempts == ATTEMPTS_MAX;
        if (sundials->met != TUTTI_EVAL_NO_VALUE || hopeless) {
            bool known = flag == ARK_ERR_FAILURE && stepper->get_errors(ark->memory, sundials->scratch) == ARK_SUCCESS;
            return tt_sundials_fail(sundials, flag, h, known ? sundials->scratch : NULL);
        }
        solver->counts.other_failures++;
        TRY(arkode_reinitialise(ark, h / 4));
    }
}

static enum tutti_err arkode_step(struct tt_solver *solver, double limit, double *x)
{
    struct tt_arkode *ark = (struct tt_arkode *)solver;
    struct tt_sundials *sundials = &ark->sundials;
    size_t size = solver->ode->count * sizeof *x;
    unsigned long failures = solver->counts.error_failures;
    double t = solver->t, *swap = ark->first;
    bool stepped = false;
    ark->first = ark->last;
    ark->last = swap;
    ark->first_known = ark->last_known;
    ark->last_known = ark->built = false;
    ark->anew = sundials->fresh;
    memcpy(sundials->begin, sundials->x, size);
    sundials->met = TUTTI_EVAL_OK;
    sundials->lost = false;
    if (!sundials->fresh || !tt_sundials_is_too_close(sundials, limit)) {
        if (sundials->fresh)
            TRY(arkode_first_step(ark, limit));
        TRY(arkode_evolve(ark, limit, &t, &stepped));
    }
    if (!stepped) {
        memcpy(sundials->x, sundials->begin, size);
        TRY(tt_sundials_euler_step(sundials, limit, x));
        ark->reached = limit;
        return TUTTI_OK;
    }
    /* dirk is stiffly accurate: its states at a stop are those of its last stage. */
    const struct tt_arkode_dense *dense = ark->method->dense;
    if (t == limit && dense == &tt_arkode_dense_stages)
        memcpy(sundials->x, tt_arkode_kept(ark, dense->kept, dense->kept - 1), size);
    TRY(tt_sundials_finish_step(sundials, t, ark->h, x));

    double last = 0;
    (void)ark->method->stepper->get_last_step(ark->memory, &last);
    bool cut_short = solver->t == limit && solver->counts.error_failures == failures;
    ark->h = cut_short ? fmax(ark->h, last) : last;
    ark->reached = solver->t;
    if (dense->end)
        dense->end(ark, last);
    return TUTTI_OK;
}

static enum tutti_err arkode_interpolate(struct tt_solver *solver, double t, double *x)
{
    struct tt_arkode *ark = (struct tt_arkode *)solver;
    if (tt_sundials_interpolate(&ark->sundials, t, x))
        return TUTTI_OK;
    double h = solver->t - solver->before;
    return ark->method->dense->evaluate(ark, h, (t - solver->before) / h, x);
}

const struct tt_solver_kind tt_solver_dopri5 = {
    .name = "dopri5",
    .title = "explicit Runge-Kutta method of Dormand and Prince, order 5(4), of SUNDIALS ARKODE",
    .order = 5,
    .size = sizeof(struct tt_arkode),
    .start = arkode_start_dopri5,
    .finish = arkode_finish,
    .restart = arkode_restart,
    .step = arkode_step,
    .interpolate = arkode_interpolate,
};

const struct tt_solver_kind tt_solver_dopri8 = {
    .name = "dopri8",
    .title = "explicit Runge-Kutta method of Prince and Dormand, order 8(7), in SUNDIALS ARKODE, for small tolerances",
    .order = 8,
    .size = sizeof(struct tt_arkode),
    .start = arkode_start_dopri8,
    .finish = arkode_finish,
    .restart = arkode_restart,
    .step = arkode_step,
    .interpolate = arkode_interpolate,
};

const struct tt_solver_kind tt_solver_dirk = {
    .name = "dirk",
    .title = "diagonally implicit Runge-Kutta method of Kennedy and Carpenter, order 4(3), of SUNDIALS ARKODE, for "
             "stiff problems",
    .order = 4,
    .stiff = true,
    .krylov = true,
    .size = sizeof(struct tt_arkode),
    .start = arkode_start_dirk,
    .finish = arkode_finish,
    .restart = arkode_restart,
    .step = arkode_step,
    .interpolate = arkode_interpolate,
};

/* Dense output of the methods in arkode.c, of their order or one less. */

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

/* Raises the degree by one; *eval is OK on success. */
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

/* Estimates f at the beginning if no earlier step gives the slope. After an input has jumped, f is that of fast
 * transients, which the stages have already passed: h f would be far off. A parabola that is 0 at the beginning and at
 * most 1 in the step has slopes of at most 8 there, so larger slopes are ignored. */
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

enum { ARKODE_TABLE_STAGES = 13 };

static double nodes[ARKODE_TABLE_STAGES] = {
    0,
    1.0 / 18,
    1.0 / 12,
    1.0 / 8,
    5.0 / 16,
    3.0 / 8,
    59.0 / 400,
    93.0 / 200,
    5490023248.0 / 9719169821.0,
    13.0 / 20,
    1201146811.0 / 1299019798.0,
    1,
    1,
};

static double matrix[ARKODE_TABLE_STAGES][ARKODE_TABLE_STAGES] = {
    {0},
    {1.0 / 18},
    {1.0 / 48, 1.0 / 16},
    {1.0 / 32, 0, 3.0 / 32},
    {5.0 / 16, 0, -75.0 / 64, 75.0 / 64},
    {3.0 / 80, 0, 0, 3.0 / 16, 3.0 / 20},
    {29443841.0 / 614563906.0, 0, 0, 77736538.0 / 692538347.0, -28693883.0 / 1125000000.0, 23124283.0 / 1800000000.0},
    {16016141.0 / 946692911.0, 0, 0, 61564180.0 / 158732637.0, 22789713.0 / 633445777.0, 545815736.0 / 2771057229.0,
     -180193667.0 / 1043307555.0},
    {39632708.0 / 573591083.0, 0, 0, -433636366.0 / 683701615.0, -421739975.0 / 2616292301.0, 100302831.0 / 723423059.0,
     790204164.0 / 839813087.0, 800635310.0 / 3783071287.0},
    {246121993.0 / 1340847787.0, 0, 0, -37695042795.0 / 15268766246.0, -309121744.0 / 1061227803.0,
     -12992083.0 / 490766935.0, 6005943493.0 / 2108947869.0, 393006217.0 / 1396673457.0, 123872331.0 / 1001029789.0},
    {-1028468189.0 / 846180014.0, 0, 0, 8478235783.0 / 508512852.0, 1311729495.0 / 1432422823.0,
     -10304129995.0 / 1701304382.0, -48777925059.0 / 3047939560.0, 15336726248.0 / 1032824649.0,
     -45442868181.0 / 3398467696.0, 3065993473.0 / 597172653.0},
    {185892177.0 / 718116043.0, 0, 0, -3185094517.0 / 667107341.0, -477755414.0 / 1098053517.0,
     -703635378.0 / 230739211.0, 5731566787.0 / 1027545527.0, 5232866602.0 / 850066563.0, -4093664535.0 / 808688257.0,
     3962137247.0 / 1805957418.0, 65686358.0 / 487910083.0},
    {403863854.0 / 491063109.0, 0, 0, -5068492393.0 / 434740067.0, -411421997.0 / 543043805.0,
     652783627.0 / 914296604.0, 11173962825.0 / 925320556.0, -13158990841.0 / 6184727034.0, 3936647629.0 / 1978049680.0,
     -160528059.0 / 685178525.0, 248638103.0 / 1413531060.0},
};

/* Order 8, used to continue, and order 7. */
static double weights[ARKODE_TABLE_STAGES] = {
    14005451.0 / 335480064.0,
    0,
    0,
    0,
    0,
    -59238493.0 / 1068277825.0,
    181606767.0 / 758867731.0,
    561292985.0 / 797845732.0,
    -1041891430.0 / 1371343529.0,
    760417239.0 / 1151165299.0,
    118820643.0 / 751138087.0,
    -528747749.0 / 2220607170.0,
    1.0 / 4,
};

static double embedded[ARKODE_TABLE_STAGES] = {
    13451932.0 / 455176623.0,
    0,
    0,
    0,
    0,
    -808719846.0 / 976000145.0,
    1757004468.0 / 5645159321.0,
    656045339.0 / 265891186.0,
    -3867574721.0 / 1518517206.0,
    465885868.0 / 322736535.0,
    53011238.0 / 667516719.0,
    2.0 / 45,
};

struct ARKodeButcherTableMem *tt_arkode_table_dopri8(void)
{
    return ARKodeButcherTable_Create(ARKODE_TABLE_STAGES, 8, 7, nodes, matrix[0], weights, embedded);
}
