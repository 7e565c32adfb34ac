/* SPDX-License-Identifier: MIT */
/* driven.h - problems x' = f(t, x, u) whose inputs u are pieced together of segments, solved by a kind of solver that is
 * resumed at each segment, and by CVODE itself, restarted there. Without inputs a segment is only where results are taken. */
#ifndef TUTTI_TEST_DRIVEN_H
#define TUTTI_TEST_DRIVEN_H

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "solve/solver.h"
#include "test.h"

enum { DRIVEN_STATES = 5, DRIVEN_INPUTS = 3, DRIVEN_SEGMENTS = 1000 };

struct driven {
    const char *name;
    size_t states, inputs;
    void (*f)(double t, const double *x, const double *u, double *dx);
    /* Inputs and their slopes where a segment begins. */
    void (*drive)(double t, double *u, double *du);
    double start[DRIVEN_STATES], stop;
    int segments;
    bool linear; /* u continues with its slope; false: constant */
};

/* A problem in one of its segments: the context of an ode. */
struct driven_segment {
    const struct driven *driven;
    double begin, u[DRIVEN_INPUTS], du[DRIVEN_INPUTS];
    double latest; /* f was evaluated up to here */
};

static const double driven_nominals[DRIVEN_STATES] = {1, 1, 1, 1, 1};

static inline enum tt_eval driven_rhs(void *context, double t, const double *x, double *dx)
{
    struct driven_segment *segment = context;
    double u[DRIVEN_INPUTS];
    segment->latest = fmax(segment->latest, t);
    for (size_t i = 0; i < segment->driven->inputs; i++)
        u[i] = segment->u[i] + (segment->driven->linear ? (t - segment->begin) * segment->du[i] : 0);
    segment->driven->f(t, x, u, dx);
    return TUTTI_EVAL_OK;
}

static inline double driven_time(const struct driven *driven, int segment)
{
    return driven->stop * segment / driven->segments;
}

static inline void driven_enter(struct driven_segment *segment, int index)
{
    segment->begin = driven_time(segment->driven, index);
    segment->latest = segment->begin;
    if (segment->driven->inputs > 0)
        segment->driven->drive(segment->begin, segment->u, segment->du);
}

static inline struct tt_ode driven_ode(struct driven_segment *segment, double tolerance)
{
    return (struct tt_ode){.count = segment->driven->states,
                           .context = segment,
                           .rhs = driven_rhs,
                           .rtol = tolerance,
                           .atol = tolerance,
                           .nominals = driven_nominals};
}

/* States at the ends of all segments, and what it took. */
struct driven_result {
    double x[DRIVEN_SEGMENTS][DRIVEN_STATES];
    struct tt_solver_counts counts;
};

static inline void driven_solve(const struct driven *driven, const struct tt_solver_kind *kind,
                                enum tt_predictor predictor, double tolerance, struct driven_result *result)
{
    struct driven_segment segment = {.driven = driven};
    struct tt_ode ode = driven_ode(&segment, tolerance);
    struct tt_solver_options options = {.predictor = predictor};
    struct tt_solver *solver;
    double x[DRIVEN_STATES];
    memcpy(x, driven->start, sizeof x);
    assert_ok(tt_solver_new(&solver, kind, &ode, &options));
    for (int i = 0; i < driven->segments; i++) {
        double begin = driven_time(driven, i), end = driven_time(driven, i + 1);
        driven_enter(&segment, i);
        if (i == 0)
            assert_ok(tt_solver_restart(solver, begin, x));
        else if (driven->inputs > 0)
            assert_ok(tt_solver_resume(solver, begin, x));
        while (solver->t < end)
            assert_ok(solver->kind->step(solver, end, x));
        assert_same_double(solver->t, end);
        assert_true(segment.latest <= end);
        memcpy(result->x[i], x, sizeof x);
    }
    result->counts = solver->counts;
    tt_solver_free(solver);
}

static inline int driven_cvode_rhs(realtype t, N_Vector x, N_Vector dx, void *context)
{
    return (int)driven_rhs(context, t, N_VGetArrayPointer(x), N_VGetArrayPointer(dx));
}

static inline void driven_count_cvode(void *cvode, struct tt_solver_counts *counts)
{
    long steps, rhs, jacobian_rhs, jacobians, error_failures;
    CVodeGetNumSteps(cvode, &steps);
    CVodeGetNumRhsEvals(cvode, &rhs);
    CVodeGetNumLinRhsEvals(cvode, &jacobian_rhs);
    CVodeGetNumJacEvals(cvode, &jacobians);
    CVodeGetNumErrTestFails(cvode, &error_failures);
    counts->steps += (unsigned long)steps;
    counts->rhs += (unsigned long)(rhs + jacobian_rhs);
    counts->jacobians += (unsigned long)jacobians;
    counts->error_failures += (unsigned long)error_failures;
}

static inline void driven_sum(struct tt_solver_counts *sum, const struct tt_solver_counts *counts)
{
    sum->steps += counts->steps;
    sum->rhs += counts->rhs;
    sum->jacobians += counts->jacobians;
    sum->error_failures += counts->error_failures;
}

/* CVODE by its own functions, restarted at each segment. */
static inline void driven_solve_cvode(const struct driven *driven, double tolerance, struct driven_result *result)
{
    SUNContext context;
    assert_int_equal(SUNContext_Create(NULL, &context), 0);
    struct driven_segment segment = {.driven = driven};
    N_Vector x = N_VNew_Serial((sunindextype)driven->states, context);
    memcpy(N_VGetArrayPointer(x), driven->start, driven->states * sizeof(double));
    SUNMatrix matrix = SUNDenseMatrix((sunindextype)driven->states, (sunindextype)driven->states, context);
    SUNLinearSolver linear = SUNLinSol_Dense(x, matrix, context);
    void *cvode = CVodeCreate(CV_BDF, context);
    CVodeInit(cvode, driven_cvode_rhs, 0, x);
    CVodeSStolerances(cvode, tolerance, tolerance);
    CVodeSetLinearSolver(cvode, linear, matrix);
    CVodeSetUserData(cvode, &segment);
    CVodeSetMaxNumSteps(cvode, 1000000);
    memset(&result->counts, 0, sizeof result->counts);
    for (int i = 0; i < driven->segments; i++) {
        double t, end = driven_time(driven, i + 1);
        driven_enter(&segment, i);
        if (i > 0 && driven->inputs > 0)
            CVodeReInit(cvode, driven_time(driven, i), x);
        CVodeSetStopTime(cvode, end);
        assert_true(CVode(cvode, end, x, &t, CV_NORMAL) >= 0);
        if (driven->inputs > 0 || i + 1 == driven->segments)
            driven_count_cvode(cvode, &result->counts);
        memcpy(result->x[i], N_VGetArrayPointer(x), driven->states * sizeof(double));
    }
    CVodeFree(&cvode);
    SUNLinSolFree(linear);
    SUNMatDestroy(matrix);
    N_VDestroy(x);
    SUNContext_Free(&context);
}

/* The largest difference of any state at the end of any segment. */
static inline double driven_error(const struct driven *driven, const struct driven_result *a,
                                  const struct driven_result *b)
{
    double largest = 0;
    for (int i = 0; i < driven->segments; i++)
        for (size_t k = 0; k < driven->states; k++)
            largest = fmax(largest, fabs(a->x[i][k] - b->x[i][k]));
    return largest;
}

static inline void driven_row(const char *name, const struct tt_solver_counts *counts,
                              const struct tt_solver_counts *base, double error)
{
    print_message("  %-12s %6lu (%.2f) %6lu %5lu %5lu   %.1e\n", name, counts->steps,
                  (double)counts->steps / (double)base->steps, counts->rhs, counts->jacobians, counts->error_failures,
                  error);
}

static inline void driven_heading(const char *name, const char *tolerance)
{
    print_message("%s, tolerance %s\n  %-12s %6s %6s %6s %5s %5s   %s\n", name, tolerance, "", "steps", "", "rhs",
                  "jac", "fails", "error");
}

#endif
