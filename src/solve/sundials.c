/* SPDX-License-Identifier: MIT */
#include "solve/sundials.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <arkode/arkode.h>
#include <cvode/cvode.h>
#include <ida/ida.h>
#include <sundials/sundials_version.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

/* CVODE, ARKODE and IDA have the same numbers for the same failures. NOLINTBEGIN(misc-redundant-expression) */
_Static_assert(CV_ERR_FAILURE == ARK_ERR_FAILURE && CV_CONV_FAILURE == ARK_CONV_FAILURE, "shared numbers");
_Static_assert(CV_LSETUP_FAIL == ARK_LSETUP_FAIL && CV_LSOLVE_FAIL == ARK_LSOLVE_FAIL, "shared numbers");
_Static_assert(CV_RHSFUNC_FAIL == ARK_RHSFUNC_FAIL && CV_UNREC_RHSFUNC_ERR == ARK_UNREC_RHSFUNC_ERR, "shared numbers");
_Static_assert(CV_TOO_MUCH_ACC == ARK_TOO_MUCH_ACC && CV_MEM_FAIL == ARK_MEM_FAIL, "shared numbers");
_Static_assert(CV_ERR_FAILURE == IDA_ERR_FAIL && CV_CONV_FAILURE == IDA_CONV_FAIL, "shared numbers");
_Static_assert(CV_LSETUP_FAIL == IDA_LSETUP_FAIL && CV_LSOLVE_FAIL == IDA_LSOLVE_FAIL, "shared numbers");
/* NOLINTEND(misc-redundant-expression) */

/* The number of accepted steps for which a point without a value may still be the cause of vanishing steps. */
enum { WALL = 20 };

void tt_sundials_version(char *out, size_t size)
{
    if (SUNDIALSGetVersion(out, (int)size) != 0)
        out[0] = '\0';
}

enum tutti_err tt_sundials_check(const struct tt_sundials *sundials, int flag)
{
    if (flag == CV_SUCCESS)
        return TUTTI_OK;
    if (flag == CV_MEM_FAIL || flag == SUNLS_MEM_FAIL)
        return tt_fail_memory();
    return tt_fail(TUTTI_ERR_SOLVER, "solver %s: SUNDIALS refuses to begin (%d)", sundials->base.kind->name, flag);
}

enum tutti_err tt_sundials_start(struct tt_sundials *sundials)
{
    size_t n = sundials->base.ode->count;
    sundials->x = calloc(2 * n, sizeof *sundials->x);
    if (!sundials->x || SUNContext_Create(NULL, &sundials->context) != 0)
        return tt_fail_memory();
    sundials->begin = sundials->x + n;
    sundials->states = N_VMake_Serial((sunindextype)n, sundials->x, sundials->context);
    sundials->weights = N_VNew_Serial((sunindextype)n, sundials->context);
    sundials->scratch = N_VNew_Serial((sunindextype)n, sundials->context);
    sundials->more_scratch = N_VNew_Serial((sunindextype)n, sundials->context);
    if (!sundials->states || !sundials->weights || !sundials->scratch || !sundials->more_scratch)
        return tt_fail_memory();
    sundials->fresh = true;
    sundials->stop = NAN;
    sundials->since = ULONG_MAX / 2;
    return TUTTI_OK;
}

void tt_sundials_finish(struct tt_sundials *sundials)
{
    SUNLinSolFree(sundials->linear);
    SUNMatDestroy(sundials->matrix);
    tt_jacobian_fini(&sundials->jacobian);
    tt_pattern_shifted_fini(&sundials->shifted);
    N_VDestroy(sundials->states);
    N_VDestroy(sundials->weights);
    N_VDestroy(sundials->scratch);
    N_VDestroy(sundials->more_scratch);
    SUNContext_Free(&sundials->context);
    free(sundials->x);
}

/* SUNDIALS' integers are wider than KLU's own. */
static enum tutti_err sundials_start_sparse(struct tt_sundials *sundials, size_t n, N_Vector like)
{
    struct tt_shifted_pattern *shifted = &sundials->shifted;
    TRY(tt_pattern_shifted_init(shifted, tt_jacobian_pattern(&sundials->jacobian)));
    size_t entries = tt_pattern_entries(&shifted->pattern);
    sunindextype size = (sunindextype)n;
    sundials->matrix = SUNSparseMatrix(size, size, (sunindextype)entries, CSC_MAT, sundials->context);
    if (!sundials->matrix)
        return tt_fail_memory();
    for (size_t c = 0; c <= n; c++)
        SM_INDEXPTRS_S(sundials->matrix)[c] = shifted->pattern.starts[c];
    for (size_t k = 0; k < entries; k++)
        SM_INDEXVALS_S(sundials->matrix)[k] = shifted->pattern.rows[k];
    sundials->linear = SUNLinSol_KLU(like, sundials->matrix, sundials->context);
    return sundials->linear ? TUTTI_OK : tt_fail_memory();
}

/* Vectors of a Krylov space at most: what GMRES may take for one linear system. */
enum { KRYLOV_MOST = 30 };

enum tutti_err tt_sundials_start_linear(struct tt_sundials *sundials, struct tt_ode *ode, N_Vector like)
{
    if (sundials->base.options.linear == TUTTI_LINEAR_KRYLOV) {
        int most = ode->count < KRYLOV_MOST ? (int)ode->count : KRYLOV_MOST;
        sundials->linear = SUNLinSol_SPGMR(like, SUN_PREC_NONE, most, sundials->context);
        return sundials->linear ? TUTTI_OK : tt_fail_memory();
    }
    TRY(tt_jacobian_init(&sundials->jacobian, ode, sundials->base.options.jacobian));
    if (sundials->jacobian.sparse)
        return sundials_start_sparse(sundials, ode->count, like);
    sunindextype n = (sunindextype)ode->count;
    sundials->matrix = SUNDenseMatrix(n, n, sundials->context);
    if (sundials->matrix)
        sundials->linear = SUNLinSol_Dense(like, sundials->matrix, sundials->context);
    return sundials->linear ? TUTTI_OK : tt_fail_memory();
}

void tt_sundials_restart(struct tt_sundials *sundials, const double *x)
{
    const struct tt_ode *ode = sundials->base.ode;
    double *weights = N_VGetArrayPointer(sundials->weights);
    for (size_t i = 0; i < ode->count; i++)
        weights[i] = ode->atol * ode->nominals[i];
    memcpy(sundials->x, x, ode->count * sizeof *x);
    sundials->fresh = true;
    sundials->hopped = false;
    sundials->stop = NAN;
}

void tt_sundials_blame(struct tt_sundials *sundials, const double *point, const double *slope)
{
    sundials->blamed = tt_solver_blame(&sundials->base, sundials->begin, point, slope);
    sundials->since = 0;
}

int tt_sundials_rhs(realtype t, N_Vector x, N_Vector dx, void *data)
{
    struct tt_sundials *sundials = data;
    const double *point = N_VGetArrayPointer(x);
    double *slope = N_VGetArrayPointer(dx);
    if (sundials->met == TUTTI_EVAL_FAILED) /* SUNDIALS' fixed-point iteration tries again with a shorter step */
        return (int)sundials->met;
    sundials->lost = sundials->lost || !isfinite(t);
    sundials->met = tt_solver_rhs(&sundials->base, t, point, slope);
    if (sundials->met == TUTTI_EVAL_NO_VALUE)
        tt_sundials_blame(sundials, point, slope);
    return (int)sundials->met;
}

void tt_sundials_ignore_message(int code, const char *module, const char *function, char *message, void *data)
{
    (void)code, (void)module, (void)function, (void)message, (void)data;
}

int tt_sundials_system(struct tt_sundials *sundials, realtype t, N_Vector x, N_Vector dx, booleantype current,
                       booleantype *renewed, realtype gamma)
{
    struct tt_jacobian *jacobian = &sundials->jacobian;
    struct tt_solver *solver = &sundials->base;
    const double *point = N_VGetArrayPointer(x), *slope = N_VGetArrayPointer(dx);
    *renewed = !current;
    if (!current) {
        sundials->met = tt_jacobian_update(jacobian, t, point, slope, fabs(gamma), &solver->counts);
        if (sundials->met == TUTTI_EVAL_NO_VALUE)
            tt_sundials_blame(sundials, point, slope);
        if (sundials->met)
            return (int)sundials->met;
    }
    solver->counts.factorisations++;
    size_t n = solver->ode->count;
    if (!jacobian->sparse) {
        double *data = SUNDenseMatrix_Data(sundials->matrix);
        for (size_t k = 0; k < n * n; k++)
            data[k] = -gamma * jacobian->values[k];
        for (size_t i = 0; i < n; i++)
            data[i * n + i] += 1;
        return 0;
    }
    double *data = SUNSparseMatrix_Data(sundials->matrix);
    size_t entries = tt_pattern_entries(tt_jacobian_pattern(jacobian));
    for (size_t i = 0; i < n; i++)
        data[sundials->shifted.diagonal[i]] = 0;
    for (size_t k = 0; k < entries; k++)
        data[sundials->shifted.places[k]] = -gamma * jacobian->values[k];
    for (size_t i = 0; i < n; i++)
        data[sundials->shifted.diagonal[i]] += 1;
    return 0;
}

/* A difference of length about sqrt(U) in the norm of errors (Brown, Hindmarsh, SIAM J. Numer. Anal. 23, 1986), but at
 * least the resolution of x. */
int tt_sundials_product(struct tt_sundials *sundials, realtype t, N_Vector x, N_Vector vector, N_Vector product,
                        N_Vector scratch)
{
    struct tt_solver *solver = &sundials->base;
    struct tt_ode *ode = solver->ode;
    const double *point = N_VGetArrayPointer(x), *along = N_VGetArrayPointer(vector);
    double *out = N_VGetArrayPointer(product), *beside = N_VGetArrayPointer(scratch);
    if (ode->directional) {
        solver->counts.directional++;
        sundials->met = ode->directional(ode->context, ode->origin + t, point, along, out);
        if (sundials->met != TUTTI_EVAL_NO_VALUE || ode->directional)
            return (int)sundials->met;
    }
    double length = tt_solver_norm(solver, along, point, NULL), size = tt_solver_norm(solver, point, point, NULL);
    double distance = length > 0 ? sqrt(DBL_EPSILON) * fmax(1, size) / length : 0;
    double *here = N_VGetArrayPointer(sundials->more_scratch);
    int flag = tt_sundials_rhs(t, x, sundials->more_scratch, sundials);
    for (size_t i = 0; i < ode->count; i++)
        beside[i] = point[i] + distance * along[i];
    flag = flag ? flag : tt_sundials_rhs(t, scratch, product, sundials);
    for (size_t i = 0; i < ode->count && flag == 0; i++)
        out[i] = distance > 0 ? (out[i] - here[i]) / distance : 0;
    return flag;
}

bool tt_sundials_count(struct tt_sundials *sundials, const struct tt_sundials_counters *now)
{
    struct tt_solver_counts *counts = &sundials->base.counts;
    const struct tt_sundials_counters *seen = &sundials->seen;
    bool stepped = now->steps > seen->steps;
    counts->steps += (unsigned long)(now->steps - seen->steps);
    counts->error_failures += (unsigned long)(now->error_failures - seen->error_failures);
    counts->other_failures += (unsigned long)(now->solve_failures - seen->solve_failures);
    counts->iterations += (unsigned long)(now->iterations - seen->iterations);
    sundials->seen = *now;
    return stepped;
}

bool tt_sundials_is_too_close(const struct tt_sundials *sundials, double limit)
{
    double t = sundials->base.t;
    return limit - t <= 4 * DBL_EPSILON * fmax(fabs(t), fabs(limit));
}

enum tutti_err tt_sundials_euler_step(struct tt_sundials *sundials, double limit, double *x)
{
    struct tt_solver *solver = &sundials->base;
    size_t n = solver->ode->count;
    double h = limit - solver->t, *slope = N_VGetArrayPointer(sundials->scratch);
    memcpy(sundials->begin, sundials->x, n * sizeof *x);
    if (tt_sundials_rhs(solver->t, sundials->states, sundials->scratch, sundials) != 0)
        return tt_sundials_fail(sundials, CV_FIRST_RHSFUNC_ERR, h, NULL);
    for (size_t i = 0; i < n; i++)
        sundials->x[i] += h * slope[i];
    sundials->fresh = sundials->hopped = true;
    sundials->stop = NAN;
    solver->counts.steps++;
    solver->before = solver->t;
    solver->t = limit;
    memcpy(x, sundials->x, n * sizeof *x);
    return TUTTI_OK;
}

enum tutti_err tt_sundials_finish_step(struct tt_sundials *sundials, double t, double h, double *x)
{
    struct tt_solver *solver = &sundials->base;
    if (!(t > solver->t)) {
        /* Steps that had to get shorter and shorter before a wall, or for the sake of their error. */
        bool wall = sundials->since < WALL;
        sundials->met = wall ? TUTTI_EVAL_NO_VALUE : TUTTI_EVAL_OK;
        double *moves = N_VGetArrayPointer(sundials->scratch); /* who moves most is in the way */
        for (size_t i = 0; i < solver->ode->count; i++)
            moves[i] = sundials->x[i] - sundials->begin[i];
        return tt_sundials_fail(sundials, CV_ERR_FAILURE, h, sundials->scratch);
    }
    sundials->since++;
    if (t == sundials->stop)
        sundials->stop = NAN; /* SUNDIALS forgets a stop time once it is there */
    sundials->fresh = sundials->hopped = false;
    solver->before = solver->t;
    solver->t = t;
    memcpy(x, sundials->x, solver->ode->count * sizeof *x);
    return TUTTI_OK;
}

bool tt_sundials_interpolate(const struct tt_sundials *sundials, double t, double *x)
{
    const struct tt_solver *solver = &sundials->base;
    size_t n = solver->ode->count;
    if (t == solver->t) {
        memcpy(x, sundials->x, n * sizeof *x);
        return true;
    }
    if (!sundials->hopped)
        return false;
    double s = (t - solver->before) / (solver->t - solver->before);
    for (size_t i = 0; i < n; i++)
        x[i] = sundials->begin[i] + s * (sundials->x[i] - sundials->begin[i]);
    return true;
}

static const char *sundials_reason(const struct tt_sundials *sundials, int flag)
{
    if (sundials->lost)
        return "its step size is no number any more: the derivatives are too large for the tolerances";
    if (sundials->met == TUTTI_EVAL_NO_VALUE)
        return "the derivatives have no value";
    switch (flag) {
    case CV_TOO_MUCH_ACC: return "the tolerances ask for more digits than a number has";
    case CV_ERR_FAILURE: return "the error test fails however short the step is";
    case CV_CONV_FAILURE:
        return sundials->base.kind->stiff ? "Newton's method does not converge"
                                          : "the iteration of its implicit steps does not converge; the problem may "
                                            "be stiff (--solver cvode)";
    case CV_LSETUP_FAIL:
    case CV_LSOLVE_FAIL: return "the linear equations of Newton's method cannot be solved";
    default: return "SUNDIALS gave up";
    }
}

enum tutti_err tt_sundials_fail(struct tt_sundials *sundials, int flag, double h, N_Vector errors)
{
    struct tt_solver *solver = &sundials->base;
    size_t n = solver->ode->count, worst = SIZE_MAX;
    memcpy(sundials->x, sundials->begin, n * sizeof *sundials->x);
    sundials->fresh = true;
    if (flag == CV_MEM_FAIL)
        return tt_fail_memory();
    if (sundials->met == TUTTI_EVAL_NO_VALUE)
        worst = sundials->blamed;
    else if (errors)
        (void)tt_solver_norm(solver, N_VGetArrayPointer(errors), sundials->x, &worst);
    return tt_solver_fail(solver, sundials->met, h, worst, sundials_reason(sundials, flag));
}
