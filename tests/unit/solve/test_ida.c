/* SPDX-License-Identifier: MIT */
/* The equations with unknowns beside the states: what only ida.c has. The rest is in the conformance suite of solvers. */
#include "test.h"

#include "solve/pattern.h"
#include "solve/solver.h"

/* x' = w, w = -2 x + 0.5 w: an algebraic loop, in which w = -4 x. */
struct problem {
    struct tt_ode ode;
    struct tt_dae dae;
    struct tt_pattern pattern;
    unsigned long wide, eliminated;
    bool no_solution;
};

static enum tt_eval rhs(void *context, double t, const double *x, double *dx)
{
    (void)t;
    ((struct problem *)context)->eliminated++;
    dx[0] = -4 * x[0];
    return TUTTI_EVAL_OK;
}

static enum tt_eval wide(void *context, double t, const double *x, const double *w, double *dx, double *image)
{
    struct problem *problem = context;
    (void)t;
    problem->wide++;
    dx[0] = w[0];
    image[0] = problem->no_solution ? w[0] + 1 : -2 * x[0] + 0.5 * w[0];
    return TUTTI_EVAL_OK;
}

/* Only nearly: IDACalcIC does the rest. */
static enum tt_eval find(void *context, double t, const double *x, double *w)
{
    (void)context;
    (void)t;
    w[0] = -3.9 * x[0];
    return TUTTI_EVAL_OK;
}

static void set_up_problem(struct problem *problem, bool with_pattern)
{
    static const double nominals[] = {1};
    static const struct tt_pattern_place places[] = {{0, 1}, {1, 0}, {1, 1}};
    *problem = (struct problem){
        .ode = {.count = 1, .context = problem, .rhs = rhs, .rtol = 1e-8, .atol = 1e-10, .nominals = nominals},
        .dae = {.count = 1, .evaluate = wide, .find = find, .nominals = nominals}};
    problem->ode.dae = &problem->dae;
    if (with_pattern) {
        assert_ok(tt_pattern_init(&problem->pattern, 2, 2, places, 3));
        problem->dae.pattern = &problem->pattern;
    }
}

static void check_solution(enum tt_jacobian_mode mode)
{
    struct problem problem;
    struct tt_solver *solver;
    double x = 1;
    set_up_problem(&problem, mode == TUTTI_JACOBIAN_SPARSE);
    assert_ok(tt_solver_new(&solver, &tt_solver_ida, &problem.ode, &(struct tt_solver_options){.jacobian = mode}));
    assert_ok(tt_solver_restart(solver, 0, &x));
    while (solver->t < 1) {
        double middle;
        assert_ok(tt_solver_step(solver, 1, &x));
        assert_near(x, exp(-4 * solver->t), 1e-6);
        assert_ok(tt_solver_interpolate(solver, (solver->before + solver->t) / 2, &middle));
        assert_near(middle, exp(-2 * (solver->before + solver->t)), 1e-6);
    }
    assert_same_double(solver->t, 1);
    assert_true(problem.wide > 0);
    assert_int_equal(problem.eliminated, 0);
    tt_solver_free(solver);
    tt_pattern_fini(&problem.pattern);
}

static void unknowns_are_solved_for(void **state)
{
    (void)state;
    check_solution(TUTTI_JACOBIAN_DENSE);
    check_solution(TUTTI_JACOBIAN_SPARSE);
}

static void equations_without_a_solution_are_told(void **state)
{
    (void)state;
    struct problem problem;
    struct tt_solver *solver;
    double x = 1;
    set_up_problem(&problem, false);
    problem.no_solution = true;
    assert_ok(tt_solver_new(&solver, &tt_solver_ida, &problem.ode, &(struct tt_solver_options){0}));
    assert_ok(tt_solver_restart(solver, 0, &x));
    assert_fails(tt_solver_step(solver, 1, &x), TUTTI_ERR_SOLVER, "ida");
    tt_solver_free(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknowns_are_solved_for),
        cmocka_unit_test(equations_without_a_solution_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
