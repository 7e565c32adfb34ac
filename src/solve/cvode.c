/* SPDX-License-Identifier: MIT */
/* cvode.c - the multistep methods of SUNDIALS CVODE: `cvode` (backward differentiation formulas, order 1 to 5, Newton's
 * method) and `adams` (Adams-Moulton, order 1 to 12, fixed-point iteration).
 *
 * Hindmarsh et al., SUNDIALS: Suite of Nonlinear and Differential/Algebraic Equation Solvers, ACM TOMS 31 (2005).
 * Dense output is the polynomial of the method, of the order of the step. CVODE keeps its history to itself: it can begin
 * anew or go on as it is when the right-hand side changes, but not correct its predictor. */
#include <cvode/cvode.h>
#include <math.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "solve/cvode.h"
#include "solve/sundials.h"

struct cvode {
    struct tutti_sundials sundials;
    void *memory;
    SUNNonlinearSolver iteration; /* of adams; cvode has CVODE's own Newton */
};

/* Attempts at a step: its size falls to a quarter or less in each. */
enum { ATTEMPTS_MAX = 20, STANDS_MAX = 50 };

static int system_of(realtype t, N_Vector x, N_Vector dx, SUNMatrix matrix, booleantype current, booleantype *renewed,
                     realtype gamma, void *data, N_Vector one, N_Vector two, N_Vector three)
{
    (void)matrix, (void)one, (void)two, (void)three;
    return tutti_sundials_system(data, t, x, dx, current, renewed, gamma);
}

static int product_of(N_Vector vector, N_Vector product, realtype t, N_Vector x, N_Vector dx, void *data,
                      N_Vector scratch)
{
    (void)dx;
    return tutti_sundials_product(data, t, x, vector, product, scratch);
}

static enum tutti_err start_newton(struct cvode *cvode)
{
    struct tutti_sundials *sundials = &cvode->sundials;
    TRY(tutti_sundials_start_linear(sundials, sundials->base.ode, sundials->states));
    TRY(tutti_sundials_check(sundials, CVodeSetLinearSolver(cvode->memory, sundials->linear, sundials->matrix)));
    if (sundials->matrix)
        return tutti_sundials_check(sundials, CVodeSetLinSysFn(cvode->memory, system_of));
    return tutti_sundials_check(sundials, CVodeSetJacTimes(cvode->memory, NULL, product_of));
}

static enum tutti_err start_iteration(struct cvode *cvode)
{
    struct tutti_sundials *sundials = &cvode->sundials;
    cvode->iteration = SUNNonlinSol_FixedPoint(sundials->states, 0, sundials->context);
    if (!cvode->iteration)
        return tutti_fail_memory();
    return tutti_sundials_check(sundials, CVodeSetNonlinearSolver(cvode->memory, cvode->iteration));
}

enum tutti_err tutti_cvode_check_predictor(const struct tutti_solver *solver)
{
    if (solver->options.predictor < TUTTI_PREDICTOR_CORRECT_1)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_ARGUMENT,
                      "solver %s cannot correct its predictor: CVODE gives no access to its history; use --solver "
                      "bdf, or --predictor restart or proceed",
                      solver->name);
}

static enum tutti_err start(struct tutti_solver *solver)
{
    struct cvode *cvode = (struct cvode *)solver;
    struct tutti_sundials *sundials = &cvode->sundials;
    TRY(tutti_cvode_check_predictor(solver));
    TRY(tutti_sundials_start(sundials));
    bool stiff = solver->kind->stiff;
    cvode->memory = CVodeCreate(stiff ? CV_BDF : CV_ADAMS, sundials->context);
    if (!cvode->memory)
        return tutti_fail_memory();
    int flag = CVodeSetErrHandlerFn(cvode->memory, tutti_sundials_silent, NULL);
    flag = flag ? flag : CVodeInit(cvode->memory, tutti_sundials_rhs, 0, sundials->states);
    flag = flag ? flag : CVodeSetUserData(cvode->memory, sundials);
    flag = flag ? flag : CVodeSetMaxStep(cvode->memory, solver->options.h_max);
    flag = flag ? flag : CVodeSetInitStep(cvode->memory, solver->options.h_first);
    if (solver->options.max_order > 0)
        flag = flag ? flag : CVodeSetMaxOrd(cvode->memory, solver->options.max_order);
    flag = flag ? flag : CVodeSetMaxErrTestFails(cvode->memory, ATTEMPTS_MAX);
    flag = flag ? flag : CVodeSetMaxConvFails(cvode->memory, ATTEMPTS_MAX);
    TRY(tutti_sundials_check(sundials, flag));
    return stiff ? start_newton(cvode) : start_iteration(cvode);
}

static void finish(struct tutti_solver *solver)
{
    struct cvode *cvode = (struct cvode *)solver;
    if (cvode->memory)
        CVodeFree(&cvode->memory);
    if (cvode->iteration)
        SUNNonlinSolFree(cvode->iteration);
    tutti_sundials_finish(&cvode->sundials);
}

static enum tutti_err restart(struct tutti_solver *solver, double t, const double *x)
{
    (void)t;
    tutti_sundials_restart(&((struct cvode *)solver)->sundials, x);
    return TUTTI_OK;
}

static enum tutti_err interpolate(struct tutti_solver *solver, double t, double *x)
{
    struct cvode *cvode = (struct cvode *)solver;
    struct tutti_sundials *sundials = &cvode->sundials;
    if (tutti_sundials_interpolate(sundials, t, x))
        return TUTTI_OK;
    TRY(tutti_sundials_check(sundials, CVodeGetDky(cvode->memory, t, 0, sundials->scratch)));
    memcpy(x, N_VGetArrayPointer(sundials->scratch), solver->ode->count * sizeof *x);
    return TUTTI_OK;
}

static enum tutti_err resume(struct tutti_solver *solver, double t)
{
    struct tutti_sundials *sundials = &((struct cvode *)solver)->sundials;
    if (solver->options.predictor == TUTTI_PREDICTOR_PROCEED && t == solver->t)
        return TUTTI_OK;
    double *x = N_VGetArrayPointer(sundials->more_scratch);
    TRY(interpolate(solver, t, x));
    return tutti_solver_begin(solver, t, x);
}

/* Where to stop at next on the way to `limit`: there, or half way if a step of size h would leave a shorter one. A multistep
 * method goes on slowly after a short step; with a stop every 0.1 of an oscillation of period 2 pi (tolerance 1e-6) this
 * saves 4 in 10 steps, and 5 in 6 factorisations. */
static double next_stop(const struct tutti_solver *solver, double limit, double h)
{
    double way = limit - solver->t;
    return h * (1 + 1e-9) < way && way < 2 * h ? solver->t + way / 2 : limit;
}

/* Tells CVODE of a restart, and of the next stop. */
static enum tutti_err prepare(struct cvode *cvode, double limit)
{
    struct tutti_sundials *sundials = &cvode->sundials;
    const struct tutti_solver *solver = &sundials->base;
    double h = 0;
    if (sundials->fresh) {
        int flag = CVodeReInit(cvode->memory, solver->t, sundials->states);
        flag = flag ? flag : CVodeSVtolerances(cvode->memory, solver->ode->rtol, sundials->weights);
        TRY(tutti_sundials_check(sundials, flag));
        sundials->seen = (struct tutti_sundials_counters){0};
    } else {
        (void)CVodeGetCurrentStep(cvode->memory, &h);
    }
    double stop = next_stop(solver, limit, h);
    if (stop != sundials->stop)
        TRY(tutti_sundials_check(sundials, CVodeSetStopTime(cvode->memory, stop)));
    sundials->stop = stop;
    return TUTTI_OK;
}

static void count(struct cvode *cvode)
{
    struct tutti_sundials_counters now = {0};
    (void)CVodeGetNumSteps(cvode->memory, &now.steps);
    (void)CVodeGetNumErrTestFails(cvode->memory, &now.error_failures);
    (void)CVodeGetNumStepSolveFails(cvode->memory, &now.solve_failures);
    if (cvode->sundials.base.kind->stiff)
        (void)CVodeGetNumNonlinSolvIters(cvode->memory, &now.iterations);
    (void)tutti_sundials_count(&cvode->sundials, &now);
}

static enum tutti_err step(struct tutti_solver *solver, double limit, double *x)
{
    struct cvode *cvode = (struct cvode *)solver;
    struct tutti_sundials *sundials = &cvode->sundials;
    sundials->met = TUTTI_EVAL_OK;
    sundials->lost = false;
    if (sundials->fresh && tutti_sundials_too_close(sundials, limit))
        return tutti_sundials_hop(sundials, limit, x);
    memcpy(sundials->begin, sundials->x, solver->ode->count * sizeof *x);
    TRY(prepare(cvode, limit));
    double t = solver->t, h = 0;
    int flag = CV_SUCCESS;
    /* Far from 0 the first steps may be shorter than time can tell; they grow. */
    for (int stands = 0; stands < STANDS_MAX && flag >= 0 && t == solver->t; stands++)
        flag = CVode(cvode->memory, limit, sundials->states, &t, CV_ONE_STEP);
    count(cvode);
    (void)CVodeGetCurrentStep(cvode->memory, &h);
    if (flag < 0) {
        bool tried = flag == CV_ERR_FAILURE || flag == CV_CONV_FAILURE;
        bool known = tried && CVodeGetEstLocalErrors(cvode->memory, sundials->scratch) == CV_SUCCESS;
        return tutti_sundials_fail(sundials, flag, h, known ? sundials->scratch : NULL);
    }
    return tutti_sundials_arrive(sundials, t, h, x);
}

struct tutti_cvode_step tutti_cvode_last_step(struct tutti_solver *solver)
{
    struct cvode *cvode = (struct cvode *)solver;
    struct tutti_sundials *sundials = &cvode->sundials;
    struct tutti_cvode_step last = {0};
    (void)CVodeGetLastOrder(cvode->memory, &last.order);
    (void)CVodeGetLastStep(cvode->memory, &last.h);
    if (CVodeGetEstLocalErrors(cvode->memory, sundials->scratch) == CV_SUCCESS)
        last.error = tutti_solver_norm(solver, N_VGetArrayPointer(sundials->scratch), sundials->x, NULL);
    return last;
}

double tutti_cvode_derivative(struct tutti_solver *solver, int k)
{
    struct cvode *cvode = (struct cvode *)solver;
    struct tutti_sundials *sundials = &cvode->sundials;
    double h = 0;
    (void)CVodeGetLastStep(cvode->memory, &h);
    if (CVodeGetDky(cvode->memory, solver->t, k, sundials->scratch) != CV_SUCCESS)
        return 0;
    return pow(h, k) * tutti_solver_norm(solver, N_VGetArrayPointer(sundials->scratch), sundials->x, NULL);
}

/* Sums of rows of |J_ij| w_i / w_j, w = 1 / tolerance. */
double tutti_cvode_jacobian_norm(const struct tutti_solver *solver)
{
    const struct tutti_sundials *sundials = &((const struct cvode *)solver)->sundials;
    const struct tutti_jacobian *jacobian = &sundials->jacobian;
    const struct tutti_pattern *pattern = tutti_jacobian_pattern(jacobian);
    const struct tutti_ode *ode = solver->ode;
    double *sums = N_VGetArrayPointer(sundials->scratch), largest = 0;
    N_VConst(0, sundials->scratch);
    for (size_t column = 0; column < ode->count; column++) {
        double by = tutti_ode_tolerance(ode, column, sundials->x[column]);
        size_t from = pattern ? (size_t)pattern->starts[column] : column * ode->count;
        size_t to = pattern ? (size_t)pattern->starts[column + 1] : from + ode->count;
        for (size_t k = from; k < to; k++) {
            size_t row = pattern ? (size_t)pattern->rows[k] : k - from;
            sums[row] += fabs(jacobian->values[k]) * by / tutti_ode_tolerance(ode, row, sundials->x[row]);
        }
    }
    for (size_t row = 0; row < ode->count; row++)
        largest = fmax(largest, sums[row]);
    return largest;
}

const struct tutti_solver_kind tutti_solver_cvode = {
    .name = "cvode",
    .title = "backward differentiation formulas of SUNDIALS CVODE, for stiff problems",
    .order = 5,
    .stiff = true,
    .multistep = true,
    .krylov = true,
    .size = sizeof(struct cvode),
    .start = start,
    .finish = finish,
    .restart = restart,
    .resume = resume,
    .step = step,
    .interpolate = interpolate,
};

const struct tutti_solver_kind tutti_solver_adams = {
    .name = "adams",
    .title = "Adams methods of SUNDIALS CVODE, for smooth problems that are not stiff",
    .order = 12,
    .multistep = true,
    .size = sizeof(struct cvode),
    .start = start,
    .finish = finish,
    .restart = restart,
    .resume = resume,
    .step = step,
    .interpolate = interpolate,
};
