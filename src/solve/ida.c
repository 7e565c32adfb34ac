/* SPDX-License-Identifier: MIT */
/* ida.c - the backward differentiation formulas of SUNDIALS IDA, order 1 to 5, for F(t, Y, Y') = 0 (Hindmarsh et al.,
 * ACM TOMS 31, 2005; Brenan, Campbell, Petzold 1996).
 *
 * With unknowns w that a problem does not eliminate (ode.h, struct tt_dae) Y = (x, w) and
 *     F = (x' - f(t, x, w), w - g(t, x, w)),
 * with w algebraic (IDASetId) and left out of the error test; otherwise Y = x and F = x' - f(t, x). After a restart w
 * and x' are made consistent by IDACalcIC. The Jacobian is c D - H, with H = d(f, g)/d(x, w), D = 1 for states, and c D
 * = 1 for w. */
#include <ida/ida.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include "solve/sundials.h"

struct ida {
    struct tt_sundials sundials;
    struct tt_ode inner; /* (f, g) as a function of (x, w), if there are w: what Jacobians are made of */
    size_t count;        /* of x and w */
    void *memory;
    N_Vector unknowns, slopes, is_state, tolerances, values;
    double *nominals;
};

/* Attempts at a step: its size falls to a quarter or less in each. */
enum { ATTEMPTS_MAX = 20, STANDS_MAX = 50 };

/* (f, g) at a point. */
static enum tt_eval ida_evaluate(void *context, double t, const double *y, double *out)
{
    struct ida *ida = context;
    struct tt_solver *solver = &ida->sundials.base;
    const struct tt_ode *ode = solver->ode;
    const struct tt_dae *dae = ode->dae;
    for (size_t i = 0; i < ida->count; i++)
        if (!isfinite(y[i]))
            return TUTTI_EVAL_NO_VALUE;
    if (!dae)
        return tt_ode_rhs(ode, t, y, out);
    return dae->evaluate(ode->context, ode->origin + t, y, y + ode->count, out, out + ode->count);
}

static enum tt_eval ida_evaluate_counted(struct ida *ida, double t, const double *y, double *out)
{
    struct tt_sundials *sundials = &ida->sundials;
    if (sundials->met == TUTTI_EVAL_FAILED)
        return sundials->met;
    sundials->lost = sundials->lost || !isfinite(t);
    sundials->base.counts.rhs++;
    sundials->met = isfinite(t) ? ida_evaluate(ida, t, y, out) : TUTTI_EVAL_NO_VALUE;
    if (sundials->met == TUTTI_EVAL_NO_VALUE)
        tt_sundials_blame(sundials, y, out);
    return sundials->met;
}

static int ida_residual(realtype t, N_Vector unknowns, N_Vector slopes, N_Vector out, void *data)
{
    struct ida *ida = data;
    size_t states = ida->sundials.base.ode->count;
    const double *y = N_VGetArrayPointer(unknowns), *dy = N_VGetArrayPointer(slopes);
    double *r = N_VGetArrayPointer(out);
    enum tt_eval eval = ida_evaluate_counted(ida, t, y, r);
    if (eval)
        return (int)eval;
    for (size_t i = 0; i < ida->count; i++)
        r[i] = (i < states ? dy[i] : y[i]) - r[i];
    return 0;
}

static int ida_jacobian(realtype t, realtype c, N_Vector unknowns, N_Vector slopes, N_Vector residuals,
                        SUNMatrix matrix, void *data, N_Vector one, N_Vector two, N_Vector three)
{
    (void)slopes, (void)residuals, (void)matrix, (void)one, (void)two, (void)three;
    struct ida *ida = data;
    struct tt_sundials *sundials = &ida->sundials;
    struct tt_jacobian *jacobian = &sundials->jacobian;
    size_t n = ida->count, states = sundials->base.ode->count;
    const double *y = N_VGetArrayPointer(unknowns);
    double *here = N_VGetArrayPointer(ida->values);
    enum tt_eval eval = ida_evaluate_counted(ida, t, y, here);
    if (!eval)
        eval = sundials->met =
            tt_jacobian_update(jacobian, t, y, here, c != 0 ? fabs(1 / c) : 0, &sundials->base.counts);
    if (eval)
        return (int)eval;
    sundials->base.counts.factorisations++;
    if (!jacobian->sparse) {
        double *values = SUNDenseMatrix_Data(sundials->matrix);
        for (size_t k = 0; k < n * n; k++)
            values[k] = -jacobian->values[k];
        for (size_t i = 0; i < n; i++)
            values[i * n + i] += i < states ? c : 1;
        return 0;
    }
    double *values = SUNSparseMatrix_Data(sundials->matrix);
    size_t entries = tt_pattern_entries(tt_jacobian_pattern(jacobian));
    for (size_t k = 0; k < tt_pattern_entries(&sundials->shifted.pattern); k++)
        values[k] = 0;
    for (size_t k = 0; k < entries; k++)
        values[sundials->shifted.places[k]] = -jacobian->values[k];
    for (size_t i = 0; i < n; i++)
        values[sundials->shifted.diagonal[i]] += i < states ? c : 1;
    for (size_t k = 0; k <= n; k++) /* IDA empties the matrix before, its pattern, too */
        SM_INDEXPTRS_S(sundials->matrix)[k] = sundials->shifted.pattern.starts[k];
    for (size_t k = 0; k < tt_pattern_entries(&sundials->shifted.pattern); k++)
        SM_INDEXVALS_S(sundials->matrix)[k] = sundials->shifted.pattern.rows[k];
    return 0;
}

static enum tutti_err ida_make_vectors(struct ida *ida)
{
    struct tt_sundials *sundials = &ida->sundials;
    const struct tt_ode *ode = sundials->base.ode;
    N_Vector *const all[] = {&ida->unknowns, &ida->slopes, &ida->is_state, &ida->tolerances, &ida->values};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i] = N_VNew_Serial((sunindextype)ida->count, sundials->context);
        if (!*all[i])
            return tt_fail_memory();
        N_VConst(0, *all[i]);
    }
    ida->nominals = calloc(ida->count, sizeof *ida->nominals);
    if (!ida->nominals)
        return tt_fail_memory();
    for (size_t i = 0; i < ida->count; i++)
        N_VGetArrayPointer(ida->is_state)[i] = i < ode->count;
    return TUTTI_OK;
}

static enum tutti_err ida_make_memory(struct ida *ida)
{
    struct tt_sundials *sundials = &ida->sundials;
    const struct tt_solver *solver = &sundials->base;
    ida->memory = IDACreate(sundials->context);
    if (!ida->memory)
        return tt_fail_memory();
    int flag = IDASetErrHandlerFn(ida->memory, tt_sundials_ignore_message, NULL);
    flag = flag ? flag : IDAInit(ida->memory, ida_residual, 0, ida->unknowns, ida->slopes);
    flag = flag ? flag : IDASetUserData(ida->memory, ida);
    flag = flag ? flag : IDASetId(ida->memory, ida->is_state);
    flag = flag ? flag : IDASetSuppressAlg(ida->memory, solver->ode->dae != NULL);
    flag = flag ? flag : IDASetMaxStep(ida->memory, solver->options.h_max);
    flag = flag ? flag : IDASetInitStep(ida->memory, solver->options.h_first);
    if (solver->options.max_order > 0)
        flag = flag ? flag : IDASetMaxOrd(ida->memory, solver->options.max_order);
    flag = flag ? flag : IDASetMaxErrTestFails(ida->memory, ATTEMPTS_MAX);
    flag = flag ? flag : IDASetMaxConvFails(ida->memory, ATTEMPTS_MAX);
    flag = flag ? flag : IDASetLinearSolver(ida->memory, sundials->linear, sundials->matrix);
    if (sundials->matrix) /* else GMRES with IDA's own differences of the residual */
        flag = flag ? flag : IDASetJacFn(ida->memory, ida_jacobian);
    return tt_sundials_check(sundials, flag);
}

static enum tutti_err ida_start(struct tt_solver *solver)
{
    struct ida *ida = (struct ida *)solver;
    const struct tt_dae *dae = solver->ode->dae;
    if (solver->options.predictor >= TUTTI_PREDICTOR_CORRECT_1)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "solver ida cannot correct its predictor: IDA gives no access to its history; use --solver bdf, "
                       "or --predictor restart or proceed");
    TRY(tt_sundials_start(&ida->sundials));
    ida->count = solver->ode->count + (dae ? dae->count : 0);
    TRY(ida_make_vectors(ida));
    if (dae)
        ida->inner = (struct tt_ode){.count = ida->count,
                                     .context = ida,
                                     .rhs = ida_evaluate,
                                     .pattern = dae->pattern,
                                     .rtol = solver->ode->rtol,
                                     .atol = solver->ode->atol,
                                     .nominals = ida->nominals};
    TRY(tt_sundials_start_linear(&ida->sundials, dae ? &ida->inner : solver->ode, ida->unknowns));
    return ida_make_memory(ida);
}

static void ida_finish(struct tt_solver *solver)
{
    struct ida *ida = (struct ida *)solver;
    if (ida->memory)
        IDAFree(&ida->memory);
    N_VDestroy(ida->unknowns);
    N_VDestroy(ida->slopes);
    N_VDestroy(ida->is_state);
    N_VDestroy(ida->tolerances);
    N_VDestroy(ida->values);
    free(ida->nominals);
    tt_sundials_finish(&ida->sundials);
}

static enum tutti_err ida_restart(struct tt_solver *solver, double t, const double *x)
{
    struct ida *ida = (struct ida *)solver;
    const struct tt_ode *ode = solver->ode;
    (void)t;
    tt_sundials_restart(&ida->sundials, x);
    for (size_t i = 0; i < ida->count; i++) {
        ida->nominals[i] = i < ode->count ? ode->nominals[i] : ode->dae->nominals[i - ode->count];
        N_VGetArrayPointer(ida->tolerances)[i] = ode->atol * ida->nominals[i];
    }
    return TUTTI_OK;
}

static enum tutti_err ida_interpolate(struct tt_solver *solver, double t, double *x)
{
    struct ida *ida = (struct ida *)solver;
    if (tt_sundials_interpolate(&ida->sundials, t, x))
        return TUTTI_OK;
    TRY(tt_sundials_check(&ida->sundials, IDAGetDky(ida->memory, t, 0, ida->values)));
    memcpy(x, N_VGetArrayPointer(ida->values), solver->ode->count * sizeof *x);
    return TUTTI_OK;
}

static enum tutti_err ida_resume(struct tt_solver *solver, double t)
{
    struct tt_sundials *sundials = &((struct ida *)solver)->sundials;
    if (solver->options.predictor == TUTTI_PREDICTOR_PROCEED && t == solver->t)
        return TUTTI_OK;
    double *x = N_VGetArrayPointer(sundials->more_scratch);
    TRY(ida_interpolate(solver, t, x));
    return tt_solver_begin(solver, t, x);
}

/* Unknowns and slopes at the beginning that fulfil the equations. */
static enum tutti_err ida_make_consistent(struct ida *ida, double limit)
{
    struct tt_sundials *sundials = &ida->sundials;
    struct tt_solver *solver = &sundials->base;
    const struct tt_ode *ode = solver->ode;
    double *y = N_VGetArrayPointer(ida->unknowns), *dy = N_VGetArrayPointer(ida->slopes);
    memcpy(y, sundials->begin, ode->count * sizeof *y);
    if (ode->dae)
        sundials->met = ode->dae->find(ode->context, ode->origin + solver->t, y, y + ode->count);
    if (!sundials->met)
        (void)ida_evaluate_counted(ida, solver->t, y, dy);
    if (sundials->met)
        return tt_sundials_fail(sundials, IDA_REP_RES_ERR, limit - solver->t, NULL);
    for (size_t i = ode->count; i < ida->count; i++)
        dy[i] = 0;
    int flag = IDAReInit(ida->memory, solver->t, ida->unknowns, ida->slopes);
    flag = flag ? flag : IDASVtolerances(ida->memory, ode->rtol, ida->tolerances);
    TRY(tt_sundials_check(sundials, flag));
    sundials->seen = (struct tt_sundials_counters){0};
    if (!ode->dae || ode->dae->count == 0)
        return TUTTI_OK;
    flag = IDACalcIC(ida->memory, IDA_YA_YDP_INIT, limit);
    if (flag < 0)
        return tt_sundials_fail(sundials, IDA_CONV_FAIL, limit - solver->t, NULL);
    return tt_sundials_check(sundials, IDAGetConsistentIC(ida->memory, ida->unknowns, ida->slopes));
}

/* As in cvode.c: half way, if a step would leave a shorter one. */
static double ida_next_stop(const struct tt_solver *solver, double limit, double h)
{
    double way = limit - solver->t;
    return h * (1 + 1e-9) < way && way < 2 * h ? solver->t + way / 2 : limit;
}

static enum tutti_err ida_prepare(struct ida *ida, double limit)
{
    struct tt_sundials *sundials = &ida->sundials;
    double h = 0;
    if (sundials->fresh)
        TRY(ida_make_consistent(ida, limit));
    else
        (void)IDAGetCurrentStep(ida->memory, &h);
    double stop = ida_next_stop(&sundials->base, limit, h);
    if (stop != sundials->stop)
        TRY(tt_sundials_check(sundials, IDASetStopTime(ida->memory, stop)));
    sundials->stop = stop;
    return TUTTI_OK;
}

static enum tutti_err ida_step(struct tt_solver *solver, double limit, double *x)
{
    struct ida *ida = (struct ida *)solver;
    struct tt_sundials *sundials = &ida->sundials;
    sundials->met = TUTTI_EVAL_OK;
    sundials->lost = false;
    if (sundials->fresh && tt_sundials_is_too_close(sundials, limit))
        return tt_sundials_euler_step(sundials, limit, x);
    memcpy(sundials->begin, sundials->x, solver->ode->count * sizeof *x);
    TRY(ida_prepare(ida, limit));
    double t = solver->t, h = 0;
    int flag = IDA_SUCCESS;
    for (int stands = 0; stands < STANDS_MAX && flag >= 0 && t == solver->t; stands++)
        flag = IDASolve(ida->memory, limit, &t, ida->unknowns, ida->slopes, IDA_ONE_STEP);

    struct tt_sundials_counters now = {0};
    (void)IDAGetNumSteps(ida->memory, &now.steps);
    (void)IDAGetNumErrTestFails(ida->memory, &now.error_failures);
    (void)IDAGetNumStepSolveFails(ida->memory, &now.solve_failures);
    (void)IDAGetNumNonlinSolvIters(ida->memory, &now.iterations);
    (void)tt_sundials_count(sundials, &now);

    (void)IDAGetCurrentStep(ida->memory, &h);
    if (flag < 0)
        return tt_sundials_fail(sundials, flag, h, NULL);
    memcpy(sundials->x, N_VGetArrayPointer(ida->unknowns), solver->ode->count * sizeof *x);
    return tt_sundials_finish_step(sundials, t, h, x);
}

const struct tt_solver_kind tt_solver_ida = {
    .name = "ida",
    .title = "backward differentiation formulas of SUNDIALS IDA, for stiff problems with algebraic unknowns",
    .order = 5,
    .stiff = true,
    .multistep = true,
    .algebraic = true,
    .krylov = true,
    .size = sizeof(struct ida),
    .start = ida_start,
    .finish = ida_finish,
    .restart = ida_restart,
    .resume = ida_resume,
    .step = ida_step,
    .interpolate = ida_interpolate,
};
