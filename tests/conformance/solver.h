/* SPDX-License-Identifier: MIT */
/* solver.h - problems for the solver suites, and a way to run a solver on them. KIND, the name of a solver, is the argument. */
#ifndef TUTTI_TEST_SOLVER_H
#define TUTTI_TEST_SOLVER_H

#include "conformance.h"
#include "test.h"

#include "solve/solver.h"

#define KIND conformance_arguments[1]

enum { STATES_MAX = 60 };

/* A problem that watches its solver. */
struct problem {
    struct tt_ode ode;
    double nominals[STATES_MAX];
    double x[STATES_MAX]; /* at the beginning, then where the solver is */
    double begin;         /* time of the beginning */
    unsigned long calls;  /* of rhs */
    double latest;        /* time of a call */
    double input;         /* of problems that have one */
    double wall;          /* time from which on values are undefined (or evaluation fails) */
    enum tt_eval behind;  /* ... what there is */
    double reach;         /* how far ahead of the solver there is a value */
    double lowest;        /* below this, x[0] has none */
    struct tt_solver *solver;
    struct tt_solver_options options;
    void (*exact)(const struct problem *problem, double t, double *x);
};

/* For x' = f of a problem: what all right-hand sides begin with. */
static inline enum tt_eval watch(struct problem *problem, double t, const double *x)
{
    problem->calls++;
    problem->latest = fmax(problem->latest, t);
    if (t > problem->wall) {
        if (problem->behind == TUTTI_EVAL_FAILED)
            problem->ode.err = tt_fail(TUTTI_ERR_FMU, "the pump has burst");
        return problem->behind;
    }
    if ((problem->solver && t > problem->solver->t + problem->reach) || x[0] < problem->lowest)
        return TUTTI_EVAL_NO_VALUE;
    return TUTTI_EVAL_OK;
}

static inline const char *name_of(void *context, size_t i)
{
    (void)context;
    return i ? "another" : "tank.level";
}

static inline const struct tt_solver_kind *the_kind(void)
{
    const struct tt_solver_kind *kind = NULL;
    assert_ok(tt_solver_find(KIND, &kind));
    return kind;
}

static inline void problem_init(struct problem *problem, size_t count, double tolerance,
                                enum tt_eval (*rhs)(void *context, double t, const double *x, double *dx))
{
    *problem = (struct problem){
        .ode = {.count = count,
                .context = problem,
                .rhs = rhs,
                .rtol = tolerance,
                .atol = tolerance,
                .nominals = problem->nominals,
                .state_name = name_of},
        .latest = -INFINITY,
        .wall = INFINITY,
        .behind = TUTTI_EVAL_NO_VALUE,
        .reach = INFINITY,
        .lowest = -INFINITY,
        .options = {.h_fixed = 0.01},
    };
    for (size_t i = 0; i < count; i++)
        problem->nominals[i] = 1;
}

static inline void problem_start(struct problem *problem)
{
    problem->latest = -INFINITY;
    assert_ok(tt_solver_new(&problem->solver, the_kind(), &problem->ode, &problem->options));
    assert_ok(tt_solver_restart(problem->solver, problem->begin, problem->x));
}

static inline void problem_stop(struct problem *problem)
{
    tt_solver_free(problem->solver);
    problem->solver = NULL;
}

/* One step that must succeed. */
static inline void step(struct problem *problem, double limit)
{
    struct tt_solver *solver = problem->solver;
    double t = solver->t;
    assert_true(t < limit);
    assert_ok(solver->kind->step(solver, limit, problem->x));
    assert_same_double(solver->before, t);
    assert_true(solver->t > t);
    assert_true(solver->t <= limit);
}

static inline void run_to(struct problem *problem, double end)
{
    while (problem->solver->t < end)
        step(problem, end);
    assert_same_double(problem->solver->t, end);
}

/* The largest error of a state at t, relative to 1 or its exact size, in units of its nominal. */
static inline double error_of(const struct problem *problem, double t, const double *x)
{
    double exact[STATES_MAX], largest = 0;
    problem->exact(problem, t, exact);
    for (size_t i = 0; i < problem->ode.count; i++) {
        double nominal = problem->nominals[i];
        double error = fabs(x[i] - exact[i]) / (nominal + fabs(exact[i]));
        largest = error > largest || isnan(error) ? error : largest;
    }
    return largest;
}

static inline double error_now(const struct problem *problem)
{
    return error_of(problem, problem->solver->t, problem->x);
}

/* u = exp(sin t), v = 1 / (1 + t), in units of their nominals; the last term of u' is 0 on the solution. */
static inline enum tt_eval smooth_rhs(void *context, double t, const double *x, double *dx)
{
    struct problem *problem = context;
    double u = x[0] / problem->nominals[0], v = x[1] / problem->nominals[1];
    enum tt_eval eval = watch(problem, t, x);
    dx[0] = problem->nominals[0] * (u * cos(t) + (v * (1 + t) - 1));
    dx[1] = problem->nominals[1] * (-v * v);
    return eval;
}

static inline void smooth_exact(const struct problem *problem, double t, double *x)
{
    x[0] = problem->nominals[0] * exp(sin(t));
    x[1] = problem->nominals[1] / (1 + t);
}

static inline void smooth_init(struct problem *problem, double tolerance)
{
    problem_init(problem, 2, tolerance, smooth_rhs);
    problem->exact = smooth_exact;
    smooth_exact(problem, 0, problem->x);
}

#endif
