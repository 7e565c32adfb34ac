/* SPDX-License-Identifier: MIT */
/* The explicit methods with a fixed step: rk4, heun, euler. */
#include "test.h"

#include <stdlib.h>

#include "solve/solver.h"

static const double nominals[] = {1, 1};

/* x' = (cos t) x, so x = exp(sin t); y' = x - y + t. */
struct problem {
    struct tt_ode ode;
    double latest; /* of all times asked for */
    double no_value_from;
};

static enum tt_eval rhs(void *context, double t, const double *x, double *dx)
{
    struct problem *problem = context;
    problem->latest = fmax(problem->latest, t);
    dx[0] = cos(t) * x[0];
    dx[1] = x[0] - x[1] + t;
    return t >= problem->no_value_from ? TUTTI_EVAL_NO_VALUE : TUTTI_EVAL_OK;
}

static const struct tt_solver_kind *const kinds[] = {&tt_solver_rk4, &tt_solver_heun, &tt_solver_euler};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static struct problem problem_at(double t)
{
    return (struct problem){
        .ode = {.count = 2, .rhs = rhs, .rtol = 1e-6, .atol = 1e-6, .nominals = nominals},
        .latest = t,
        .no_value_from = INFINITY,
    };
}

static struct tt_solver *solver_of(const struct tt_solver_kind *kind, struct problem *problem, double h, double t)
{
    struct tt_solver *solver;
    struct tt_solver_options options = {.h_fixed = h};
    problem->ode.context = problem;
    assert_ok(tt_solver_new(&solver, kind, &problem->ode, &options));
    assert_ok(tt_solver_restart(solver, t, (double[]){exp(sin(t)), 0}));
    return solver;
}

/* The largest errors of x at the steps' ends and between them. */
static void errors_of(const struct tt_solver_kind *kind, double h, double *at_steps, double *between)
{
    struct problem problem = problem_at(0);
    struct tt_solver *solver = solver_of(kind, &problem, h, 0);
    *at_steps = *between = 0;
    while (solver->t < 2) {
        double x[2], inside[2];
        assert_ok(kind->step(solver, 2, x));
        *at_steps = fmax(*at_steps, fabs(x[0] - exp(sin(solver->t))));
        for (int i = 1; i < 8; i++) {
            double t = solver->before + i / 8.0 * (solver->t - solver->before);
            assert_ok(kind->interpolate(solver, t, inside));
            *between = fmax(*between, fabs(inside[0] - exp(sin(t))));
        }
    }
    assert_same_double(solver->t, 2);
    tt_solver_free(solver);
}

static void test_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        double coarse, fine, coarse_between, fine_between;
        errors_of(kinds[i], 0.02, &coarse, &coarse_between);
        errors_of(kinds[i], 0.01, &fine, &fine_between);
        assert_near(log2(coarse / fine), kinds[i]->order, 0.2);
        assert_true(log2(coarse_between / fine_between) > fmax(kinds[i]->order - 1, 1) - 0.2);
        /* and the dense output is not worse than the method by much */
        assert_true(fine_between < 10 * fine || kinds[i]->order == 4);
    }
}

static void test_evaluations(void **state)
{
    (void)state;
    static const unsigned stages[KINDS] = {4, 2, 1};
    for (size_t i = 0; i < KINDS; i++) {
        struct problem problem = problem_at(0);
        struct tt_solver *solver = solver_of(kinds[i], &problem, 0.125, 0);
        double x[2];
        while (solver->t < 1) {
            assert_ok(kinds[i]->step(solver, 1, x));
            assert_ok(kinds[i]->interpolate(solver, 0.3 * solver->before + 0.7 * solver->t, x));
        }
        assert_int_equal(solver->counts.steps, 8);
        assert_int_equal(solver->counts.rhs, 8 * stages[i]);
        tt_solver_free(solver);
    }
}

/* Sums of h would be off by 1e-10 and more. */
static void test_grid(void **state)
{
    (void)state;
    struct problem problem = problem_at(0);
    struct tt_solver *solver = solver_of(&tt_solver_euler, &problem, 1e-4, 0.3);
    double x[2];
    for (size_t i = 1; i <= 1000000; i++) {
        assert_ok(tt_solver_euler.step(solver, 1e3, x));
        assert_same_double(solver->t, 0.3 + (double)i * 1e-4);
    }
    tt_solver_free(solver);

    /* Limits on a separate grid, 1000 steps each: no additional and no tiny steps. */
    problem = problem_at(0);
    solver = solver_of(&tt_solver_heun, &problem, 1e-4, 0);
    for (size_t i = 1; i <= 1000; i++) {
        double limit = (double)i * 0.1;
        while (solver->t < limit) {
            assert_ok(tt_solver_heun.step(solver, limit, x));
            assert_near(solver->t - solver->before, 1e-4, 1e-12);
        }
        assert_same_double(solver->t, limit);
    }
    assert_int_equal(solver->counts.steps, 1000000);
    tt_solver_free(solver);
}

static void test_limit(void **state)
{
    (void)state;
    static const double ends[] = {1.25, 1.5, 1.6, 1.85, 2.1, 2.1 + 1e-6, 2.3}, limits[] = {1.6, 2.1 + 1e-6, 2.3};
    for (size_t k = 0; k < KINDS; k++) {
        struct problem problem = problem_at(1);
        struct tt_solver *solver = solver_of(kinds[k], &problem, 0.25, 1);
        size_t n = 0;
        for (size_t i = 0; i < 3; i++)
            while (solver->t < limits[i]) {
                double x[2], again[2];
                assert_ok(kinds[k]->step(solver, limits[i], x));
                assert_true(problem.latest <= limits[i]);
                assert_same_double(solver->t, ends[n]);
                assert_same_double(solver->before, n ? ends[n - 1] : 1);
                assert_ok(kinds[k]->interpolate(solver, solver->t, again));
                assert_memory_equal(x, again, sizeof x);
                n++;
            }
        assert_int_equal(n, 7);
        tt_solver_free(solver);
    }
}

static void test_save_restore(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        struct problem problem = problem_at(0);
        struct tt_solver *solver = solver_of(kinds[k], &problem, 0.1, 0);
        void *memory = malloc(kinds[k]->saved_size(solver));
        double x[3][2], inside[3][2], times[3];
        assert_ok(kinds[k]->step(solver, 0.55, x[0]));
        assert_ok(kinds[k]->step(solver, 0.55, x[0]));
        kinds[k]->save(solver, memory);
        for (int round = 0; round < 3; round++) {
            assert_ok(kinds[k]->interpolate(solver, 0.15, inside[round]));
            for (int i = 0; i < 6; i++)
                assert_ok(kinds[k]->step(solver, i < 4 ? 0.55 : 1, x[round]));
            times[round] = solver->t;
            if (round == 1) /* from a state that is quite another */
                assert_ok(tt_solver_restart(solver, 7, (double[]){3, 4}));
            kinds[k]->restore(solver, memory);
            assert_same_double(solver->before, 0.1);
            assert_same_double(solver->t, 0.2);
        }
        for (int round = 1; round < 3; round++) {
            assert_memory_equal(x[round], x[0], sizeof x[0]);
            assert_memory_equal(inside[round], inside[0], sizeof inside[0]);
            assert_same_double(times[round], times[0]);
        }
        free(memory);
        tt_solver_free(solver);
    }
}

static void test_failures(void **state)
{
    (void)state;
    double x[2];
    for (size_t k = 0; k < KINDS; k++) {
        struct problem problem = problem_at(0);
        problem.no_value_from = 0.5;
        struct tt_solver *solver = solver_of(kinds[k], &problem, 0.25, 0);
        assert_ok(kinds[k]->step(solver, 0.25, x));
        assert_ok(tt_solver_restart(solver, 0.5, x));
        assert_fails(kinds[k]->step(solver, 1, x), TUTTI_ERR_SOLVER, "the derivatives have no value");
        problem.no_value_from = INFINITY;
        assert_ok(tt_solver_restart(solver, 0, (double[]){1, 1e308}));
        solver->options.h_fixed = 1e4;
        assert_fails(kinds[k]->step(solver, 1e9, x), TUTTI_ERR_SOLVER, "x[1]");
        solver->options.h_fixed = 1e-17;
        assert_ok(tt_solver_restart(solver, 1, (double[]){1, 1}));
        assert_fails(kinds[k]->step(solver, 2, x), TUTTI_ERR_SOLVER, "lost in rounding");
        tt_solver_free(solver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order), cmocka_unit_test(test_evaluations),  cmocka_unit_test(test_grid),
        cmocka_unit_test(test_limit), cmocka_unit_test(test_save_restore), cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
