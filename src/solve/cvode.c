/* SPDX-License-Identifier: MIT */
/* cvode.c - the multistep methods of SUNDIALS CVODE: `cvode` (backward differentiation formulas, order 1 to 5, Newton's
 * method) and `adams` (Adams-Moulton, order 1 to 12, fixed-point iteration).
 *
 * Hindmarsh et al., SUNDIALS: Suite of Nonlinear and Differential/Algebraic Equation Solvers, ACM TOMS 31 (2005). Dense
 * output is the polynomial of the method, of the order of the step. CVODE does not expose its history: when the
 * right-hand side changes it can restart or continue unchanged, but not correct its predictor. */
#include <cvode/cvode.h>
#include <math.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "solve/cvode.h"
#include "solve/sundials.h"

struct cvode {
    struct tt_sundials sundials;
    void *memory;
    SUNNonlinearSolver iteration; /* of adams; cvode has CVODE's own Newton */
};

/* Attempts at a step: its size falls to a quarter or less in each. */
enum { ATTEMPTS_MAX = 20, STANDS_MAX = 50 };

static int cvode_linear_system(realtype t, N_Vector x, N_Vector dx, SUNMatrix matrix, booleantype current,
                               booleantype *renewed, realtype gamma, void *data, N_Vector one, N_Vector two,
                               N_Vector three)
{
    (void)matrix, (void)one, (void)two, (void)three;
    return tt_sundials_system(data, t, x, dx, current, renewed, gamma);
}

static int cvode_jacobian_product(N_Vector vector, N_Vector product, realtype t, N_Vector x, N_Vector dx, void *data,
                                  N_Vector scratch)
{
    (void)dx;
    return tt_sundials_product(data, t, x, vector, product, scratch);
}

enum tutti_err tt_cvode_check_predictor(const struct tt_solver *solver)
{
    if (solver->options.predictor < TUTTI_PREDICTOR_CORRECT_1)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "solver %s cannot correct its predictor: CVODE gives no access to its history; use --solver "
                   "bdf, or --predictor restart or proceed",
                   solver->name);
}

static enum tutti_err cvode_start(struct tt_solver *solver)
{
    struct cvode *cvode = (struct cvode *)solver;
    struct tt_sundials *sundials = &cvode->sundials;
    TRY(tt_cvode_check_predictor(solver));
    TRY(tt_sundials_start(sundials));
    bool stiff = solver->kind->stiff;
    cvode->memory = CVodeCreate(stiff ? CV_BDF : CV_ADAMS, sundials->context);
    if (!cvode->memory)
        return tt_fail_memory();
    int flag = CVodeSetErrHandlerFn(cvode->memory, tt_sundials_ignore_message, NULL);
    flag = flag ? flag : CVodeInit(cvode->memory, tt_sundials_rhs, 0, sundials->states);
    flag = flag ? flag : CVodeSetUserData(cvode->memory, sundials);
    flag = flag ? flag : CVodeSetMaxStep(cvode->memory, solver->options.h_max);
    flag = flag ? flag : CVodeSetInitStep(cvode->memory, solver->options.h_first);
    if (solver->options.max_order > 0)
        flag = flag ? flag : CVodeSetMaxOrd(cvode->memory, solver->options.max_order);
    flag = flag ? flag : CVodeSetMaxErrTestFails(cvode->memory, ATTEMPTS_MAX);
    flag = flag ? flag : CVodeSetMaxConvFails(cvode->memory, ATTEMPTS_MAX);
    TRY(tt_sundials_check(sundials, flag));
    if (!stiff) {
        cvode->iteration = SUNNonlinSol_FixedPoint(sundials->states, 0, sundials->context);
        if (!cvode->iteration)
            return tt_fail_memory();
        return tt_sundials_check(sundials, CVodeSetNonlinearSolver(cvode->memory, cvode->iteration));
    }

    TRY(tt_sundials_start_linear(sundials, sundials->base.ode, sundials->states));
    TRY(tt_sundials_check(sundials, CVodeSetLinearSolver(cvode->memory, sundials->linear, sundials->matrix)));
    if (sundials->matrix)
        return tt_sundials_check(sundials, CVodeSetLinSysFn(cvode->memory, cvode_linear_system));
    return tt_sundials_check(sundials, CVodeSetJacTimes(cvode->memory, NULL, cvode_jacobian_product));
}

static void cvode_finish(struct tt_solver *solver)
{
    struct cvode *cvode = (struct cvode *)solver;
    if (cvode->memory)
        CVodeFree(&cvode->memory);
    if (cvode->iteration)
        SUNNonlinSolFree(cvode->iteration);
    tt_sundials_finish(&cvode->sundials);
}

static enum tutti_err cvode_restart(struct tt_solver *solver, double t, const double *x)
{
    (void)t;
    tt_sundials_restart(&((struct cvode *)solver)->sundials, x);
    return TUTTI_OK;
}

static enum tutti_err cvode_interpolate(struct tt_solver *solver, double t, double *x)
{
    struct cvode *cvode = (struct cvode *)solver;
    struct tt_sundials *sundials = &cvode->sundials;
    if (tt_sundials_interpolate(sundials, t, x))
        return TUTTI_OK;
    TRY(tt_sundials_check(sundials, CVodeGetDky(cvode->memory, t, 0, sundials->scratch)));
    memcpy(x, N_VGetArrayPointer(sundials->scratch), solver->ode->count * sizeof *x);
    return TUTTI_OK;
}

static enum tutti_err cvode_resume(struct tt_solver *solver, double t)
{
    struct tt_sundials *sundials = &((struct cvode *)solver)->sundials;
    if (solver->options.predictor == TUTTI_PREDICTOR_PROCEED && t == solver->t)
        return TUTTI_OK;
    double *x = N_VGetArrayPointer(sundials->more_scratch);
    TRY(cvode_interpolate(solver, t, x));
    return tt_solver_begin(solver, t, x);
}

/* Chooses the next stop on the way to `limit`: the limit, or half way if a step of size h would leave a shorter one. A
 * multistep method is slow after a short step; with a stop every 0.1 of an oscillation of period 2 pi (tolerance 1e-6)
 * this saves 4 in 10 steps, and 5 in 6 factorisations. */
static double cvode_next_stop(const struct tt_solver *solver, double limit, double h)
{
    double way = limit - solver->t;
    return h * (1 + 1e-9) < way && way < 2 * h ? solver->t + way / 2 : limit;
}

/* Tells CVODE of a restart, and of the next stop. */
static enum tutti_err cvode_prepare(struct cvode *cvode, double limit)
{
    struct tt_sundials *sundials = &cvode->sundials;
    const struct tt_solver *solver = &sundials->base;
    double h = 0;
    if (sundials->fresh) {
        int flag = CVodeReInit(cvode->memory, solver->t, sundials->states);
        flag = flag ? flag : CVodeSVtolerances(cvode->memory, solver->ode->rtol, sundials->weights);
        TRY(tt_sundials_check(sundials, flag));
        sundials->seen = (struct tt_sundials_counters){0};
    } else {
        (void)CVodeGetCurrentStep(cvode->memory, &h);
    }
    double stop = cvode_next_stop(solver, limit, h);
    if (stop != sundials->stop)
        TRY(tt_sundials_check(sundials, CVodeSetStopTime(cvode->memory, stop)));
    sundials->stop = stop;
    return TUTTI_OK;
}

static enum tutti_err cvode_step(struct tt_solver *solver, double limit, double *x)
{
    struct cvode *cvode = (struct cvode *)solver;
    struct tt_sundials *sundials = &cvode->sundials;
    sundials->met = TUTTI_EVAL_OK;
    sundials->lost = false;
    if (sundials->fresh && tt_sundials_is_too_close(sundials, limit))
        return tt_sundials_euler_step(sundials, limit, x);
    memcpy(sundials->begin, sundials->x, solver->ode->count * sizeof *x);
    TRY(cvode_prepare(cvode, limit));
    double t = solver->t, h = 0;
    int flag = CV_SUCCESS;
    /* Far from 0 the first steps may be shorter than the resolution of time; they grow. */
    for (int stands = 0; stands < STANDS_MAX && flag >= 0 && t == solver->t; stands++)
        flag = CVode(cvode->memory, limit, sundials->states, &t, CV_ONE_STEP);

    struct tt_sundials_counters now = {0};
    (void)CVodeGetNumSteps(cvode->memory, &now.steps);
    (void)CVodeGetNumErrTestFails(cvode->memory, &now.error_failures);
    (void)CVodeGetNumStepSolveFails(cvode->memory, &now.solve_failures);
    if (solver->kind->stiff)
        (void)CVodeGetNumNonlinSolvIters(cvode->memory, &now.iterations);
    (void)tt_sundials_count(sundials, &now);

    (void)CVodeGetCurrentStep(cvode->memory, &h);
    if (flag < 0) {
        bool tried = flag == CV_ERR_FAILURE || flag == CV_CONV_FAILURE;
        bool known = tried && CVodeGetEstLocalErrors(cvode->memory, sundials->scratch) == CV_SUCCESS;
        return tt_sundials_fail(sundials, flag, h, known ? sundials->scratch : NULL);
    }
    return tt_sundials_finish_step(sundials, t, h, x);
}

struct tt_cvode_step tt_cvode_last_step(struct tt_solver *solver)
{
    struct cvode *cvode = (struct cvode *)solver;
    struct tt_sundials *sundials = &cvode->sundials;
    struct tt_cvode_step last = {0};
    (void)CVodeGetLastOrder(cvode->memory, &last.order);
    (void)CVodeGetLastStep(cvode->memory, &last.h);
    if (CVodeGetEstLocalErrors(cvode->memory, sundials->scratch) == CV_SUCCESS)
        last.error = tt_solver_norm(solver, N_VGetArrayPointer(sundials->scratch), sundials->x, NULL);
    return last;
}

double tt_cvode_derivative(struct tt_solver *solver, int k)
{
    struct cvode *cvode = (struct cvode *)solver;
    struct tt_sundials *sundials = &cvode->sundials;
    double h = 0;
    (void)CVodeGetLastStep(cvode->memory, &h);
    if (CVodeGetDky(cvode->memory, solver->t, k, sundials->scratch) != CV_SUCCESS)
        return 0;
    return pow(h, k) * tt_solver_norm(solver, N_VGetArrayPointer(sundials->scratch), sundials->x, NULL);
}

/* Sums of rows of |J_ij| w_i / w_j, w = 1 / tolerance. */
double tt_cvode_jacobian_norm(const struct tt_solver *solver)
{
    const struct tt_sundials *sundials = &((const struct cvode *)solver)->sundials;
    const struct tt_jacobian *jacobian = &sundials->jacobian;
    const struct tt_pattern *pattern = tt_jacobian_pattern(jacobian);
    const struct tt_ode *ode = solver->ode;
    double *sums = N_VGetArrayPointer(sundials->scratch), largest = 0;
    N_VConst(0, sundials->scratch);
    for (size_t column = 0; column < ode->count; column++) {
        double by = tt_ode_tolerance(ode, column, sundials->x[column]);
        size_t from = pattern ? (size_t)pattern->starts[column] : column * ode->count;
        size_t to = pattern ? (size_t)pattern->starts[column + 1] : from + ode->count;
        for (size_t k = from; k < to; k++) {
            size_t row = pattern ? (size_t)pattern->rows[k] : k - from;
            sums[row] += fabs(jacobian->values[k]) * by / tt_ode_tolerance(ode, row, sundials->x[row]);
        }
    }
    for (size_t row = 0; row < ode->count; row++)
        largest = fmax(largest, sums[row]);
    return largest;
}

const struct tt_solver_kind tt_solver_cvode = {
    .name = "cvode",
    .title = "backward differentiation formulas of SUNDIALS CVODE, for stiff problems",
    .order = 5,
    .stiff = true,
    .multistep = true,
    .krylov = true,
    .size = sizeof(struct cvode),
    .start = cvode_start,
    .finish = cvode_finish,
    .restart = cvode_restart,
    .resume = cvode_resume,
    .step = cvode_step,
    .interpolate = cvode_interpolate,
};

const struct tt_solver_kind tt_solver_adams = {
    .name = "adams",
    .title = "Adams methods of SUNDIALS CVODE, for smooth problems that are not stiff",
    .order = 12,
    .multistep = true,
    .size = sizeof(struct cvode),
    .start = cvode_start,
    .finish = cvode_finish,
    .restart = cvode_restart,
    .resume = cvode_resume,
    .step = cvode_step,
    .interpolate = cvode_interpolate,
};
