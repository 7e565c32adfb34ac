/* SPDX-License-Identifier: MIT */
/* arkode.c - Runge-Kutta methods of SUNDIALS ARKODE: `dopri5`, `dopri8` (explicit) and `dirk` (diagonally implicit).
 *
 * Reynolds, Gardner, Woodward, Chinomona, ARKODE: A Flexible IVP Solver Infrastructure for One-step Methods, ACM TOMS 49
 * (2023). What ARKODE 5.4 (SUNDIALS 6.4) leaves to its caller:
 * - A point without a value ends an explicit step for good, so the step is begun anew with a quarter of its size.
 * - At a stop ARKODE gives the states of its dense output. With degree 1 that is the end of the step, to the bit; with
 *   Lagrange's, which dirk has, it may be the one before if a step is short: see arkode_copy_end().
 * - Dense output: that of ARKODE is of order 5 at best and, for stiff problems, of order 1 after a restart; it evaluates f
 *   at every call. arkode_dense.c has what the methods can give.
 * - ERKStep takes the last stage of a method for its first in the next step if c_s = 1. That is right for dopri5 (and
 *   saves one evaluation in seven) and wrong for dopri8, which is run by ARKStep for this reason. */
#include "solve/arkode.h"

#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_erkstep.h>
#include <math.h>
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

/* Of ARKODE's own, only Fehlberg's RK7(8) is of order 8. Its error estimate is zero wherever f depends on time alone
 * (Hairer, Norsett, Wanner, Solving ODEs I, II.5): integrals of inputs, of which models are full, would have no error
 * control. */
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

/* Where the states go on as they ended, the right-hand side at most is another: the size of steps stays. */
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

/* The first step after a restart. */
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

/* Lets ARKODE go on until a step is accepted. *stepped: it was no step, but the stop was within rounding. */
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

/* The states at a stop. dirk is stiffly accurate: they are those of its last stage. */
static void arkode_copy_end(struct tt_arkode *ark)
{
    const struct tt_arkode_dense *dense = ark->method->dense;
    if (dense == &tt_arkode_dense_stages)
        memcpy(ark->sundials.x, tt_arkode_kept(ark, dense->kept, dense->kept - 1),
               ark->sundials.base.ode->count * sizeof(double));
}

/* Notes what the next step needs of this one. */
static void arkode_finish_step(struct tt_arkode *ark, double limit, unsigned long failures)
{
    const struct tt_solver *solver = &ark->sundials.base;
    const struct tt_arkode_dense *dense = ark->method->dense;
    double h = 0;
    (void)ark->method->stepper->get_last_step(ark->memory, &h);
    bool cut_short = solver->t == limit && solver->counts.error_failures == failures;
    ark->h = cut_short ? fmax(ark->h, h) : h;
    ark->reached = solver->t;
    if (dense->end)
        dense->end(ark, h);
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
    if (t == limit)
        arkode_copy_end(ark);
    TRY(tt_sundials_finish_step(sundials, t, ark->h, x));
    arkode_finish_step(ark, limit, failures);
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
