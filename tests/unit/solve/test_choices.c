/* SPDX-License-Identifier: MIT */
/* Options of solvers that not all of them have (highest order, first step, GMRES), and the solver that changes its method. The rest is in the
 * conformance suite of solvers. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "solve/solver.h"

enum { CELLS = 40 };

struct problem {
    struct tt_ode ode;
    double nominals[CELLS], x[CELLS];
    double stiffness;
    struct tt_solver *solver;
};

/* The pendulum of all books: not stiff. */
static enum tt_eval circle(void *context, double t, const double *x, double *dx)
{
    (void)context, (void)t;
    dx[0] = x[1];
    dx[1] = -x[0];
    return TUTTI_EVAL_OK;
}

/* Van der Pol, in the form of Hairer, Wanner, Solving ODEs II, IV.10: stiff on the slow branches. */
static enum tt_eval pol(void *context, double t, const double *x, double *dx)
{
    const struct problem *problem = context;
    (void)t;
    dx[0] = x[1];
    dx[1] = problem->stiffness * ((1 - x[0] * x[0]) * x[1] - x[0]);
    return TUTTI_EVAL_OK;
}

/* Heat in a rod, which one end keeps at 1. */
static enum tt_eval rod(void *context, double t, const double *x, double *dx)
{
    (void)context, (void)t;
    for (int i = 0; i < CELLS; i++)
        dx[i] = CELLS * CELLS * ((i ? x[i - 1] : 1) - 2 * x[i] + (i + 1 < CELLS ? x[i + 1] : 0));
    return TUTTI_EVAL_OK;
}

static enum tt_eval rod_along(void *context, double t, const double *x, const double *seed, double *out)
{
    (void)context, (void)t, (void)x;
    for (int i = 0; i < CELLS; i++)
        out[i] = CELLS * CELLS * ((i ? seed[i - 1] : 0) - 2 * seed[i] + (i + 1 < CELLS ? seed[i + 1] : 0));
    return TUTTI_EVAL_OK;
}

static void begin(struct problem *problem, size_t count, enum tt_eval (*rhs)(void *, double, const double *, double *),
                  double tolerance, const struct tt_solver_kind *kind, struct tt_solver_options options)
{
    *problem = (struct problem){.ode = {.count = count,
                                        .context = problem,
                                        .rhs = rhs,
                                        .rtol = tolerance,
                                        .atol = tolerance,
                                        .nominals = problem->nominals},
                                .x = {1},
                                .stiffness = 1e6};
    for (size_t i = 0; i < count; i++)
        problem->nominals[i] = 1;
    assert_ok(tt_solver_new(&problem->solver, kind, &problem->ode, &options));
}

static void run(struct problem *problem, double end)
{
    assert_ok(tt_solver_restart(problem->solver, 0, problem->x));
    while (problem->solver->t < end)
        assert_ok(tt_solver_step(problem->solver, end, problem->x));
}

/* With a highest order q the steps that a tolerance asks for grow with its power 1 / (q + 1): per 10^3 in the tolerance by 10^(3 / (q + 1)). */
static void test_highest_order(void **state)
{
    (void)state;
    const struct tt_solver_kind *const kinds[] = {&tt_solver_cvode, &tt_solver_bdf, &tt_solver_ida, &tt_solver_adams,
                                                  &tt_solver_switch};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int order = 1; order <= 3; order++) {
            double steps[2];
            for (int i = 0; i < 2; i++) {
                struct problem problem;
                begin(&problem, 2, circle, i ? 1e-7 : 1e-5, kinds[k], (struct tt_solver_options){.max_order = order});
                run(&problem, 10);
                steps[i] = (double)problem.solver->counts.steps;
                tt_solver_free(problem.solver);
            }
            double power = log10(steps[1] / steps[0]) / 2;
            printf("%s, highest order %d: %g, %g steps\n", kinds[k]->name, order, steps[0], steps[1]);
            assert_near(power, 1.0 / (order + 1), 0.12 / order);
        }
}

static void test_first_step(void **state)
{
    (void)state;
    for (const struct tt_solver_kind *const *kind = tt_solver_kinds; *kind; kind++) {
        struct problem problem;
        if ((*kind)->fixed)
            continue;
        begin(&problem, 2, circle, 1e-3, *kind, (struct tt_solver_options){.h_first = 1.25e-4});
        for (int again = 0; again < 2; again++) { /* after an event, too */
            assert_ok(tt_solver_restart(problem.solver, again, problem.x));
            assert_ok(tt_solver_step(problem.solver, 2, problem.x));
            assert_near((problem.solver->t - problem.solver->before) / 1.25e-4, 1, 1e-9);
        }
        tt_solver_free(problem.solver);
    }
}

/* The same solution with and without a matrix, by directional derivatives or differences. */
static void test_krylov(void **state)
{
    (void)state;
    const struct tt_solver_kind *const kinds[] = {&tt_solver_cvode, &tt_solver_ida, &tt_solver_dirk};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct problem direct;
        begin(&direct, CELLS, rod, 1e-6, kinds[k], (struct tt_solver_options){0});
        run(&direct, 0.5);
        assert_true(direct.solver->counts.jacobians > 0);
        for (int derivatives = 0; derivatives < 2; derivatives++) {
            struct problem problem;
            begin(&problem, CELLS, rod, 1e-6, kinds[k], (struct tt_solver_options){.linear = TUTTI_LINEAR_KRYLOV});
            problem.ode.directional = derivatives ? rod_along : NULL;
            run(&problem, 0.5);
            const struct tt_solver_counts *counts = &problem.solver->counts;
            printf("%s: %lu steps, %lu right-hand sides, %lu directional derivatives; with matrices %lu steps\n",
                   kinds[k]->name, counts->steps, counts->rhs, counts->directional, direct.solver->counts.steps);
            for (int i = 0; i < CELLS; i++)
                assert_near(problem.x[i], direct.x[i], 1e-4);
            assert_int_equal(counts->jacobians, 0);
            assert_int_equal(counts->factorisations, 0);
            assert_true((counts->directional > 0) == (derivatives && kinds[k] != &tt_solver_ida));
            assert_true(counts->steps < 3 * direct.solver->counts.steps);
            tt_solver_free(problem.solver);
        }
        tt_solver_free(direct.solver);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    struct problem problem;
    begin(&problem, 2, circle, 1e-3, &tt_solver_cvode, (struct tt_solver_options){0});
    tt_solver_free(problem.solver);
    static const struct {
        const struct tt_solver_kind *kind;
        struct tt_solver_options options;
        const char *says;
    } cases[] = {
        {&tt_solver_cvode, {.max_order = 6}, "orders 1 to 5, not 6"},
        {&tt_solver_radau5, {.max_order = 2}, "max-order is for multistep methods"},
        {&tt_solver_cvode, {.h_first = -1}, "first step must be positive"},
        {&tt_solver_cvode, {.h_first = INFINITY}, "first step must be positive"},
        {&tt_solver_rk4, {.h_fixed = 1, .h_first = 1}, "h-first is for solvers that choose their steps"},
        {&tt_solver_bdf, {.linear = TUTTI_LINEAR_KRYLOV}, "solver bdf has no Krylov method"},
        {&tt_solver_dopri5, {.linear = TUTTI_LINEAR_KRYLOV}, "solver dopri5 has no Krylov method"},
        {&tt_solver_cvode, {.linear = TUTTI_LINEAR_KRYLOV, .jacobian = TUTTI_JACOBIAN_DENSE}, "takes no matrix"},
        {&tt_solver_switch, {.predictor = TUTTI_PREDICTOR_CORRECT_1}, "solver switch cannot correct"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tt_solver *solver = NULL;
        assert_fails(tt_solver_new(&solver, cases[i].kind, &problem.ode, &cases[i].options), TUTTI_ERR_ARGUMENT,
                     cases[i].says);
        assert_null(solver);
    }
}

/* Where nothing is stiff it is adams, to the bit. */
static void test_not_stiff(void **state)
{
    (void)state;
    struct problem both, adams;
    begin(&both, 2, circle, 1e-6, &tt_solver_switch, (struct tt_solver_options){0});
    begin(&adams, 2, circle, 1e-6, &tt_solver_adams, (struct tt_solver_options){0});
    run(&both, 20);
    run(&adams, 20);
    assert_memory_equal(both.x, adams.x, 2 * sizeof *both.x);
    assert_int_equal(both.solver->counts.rhs, adams.solver->counts.rhs);
    assert_int_equal(both.solver->counts.jacobians, 0);
    tt_solver_free(both.solver);
    tt_solver_free(adams.solver);
}

/* Where it is, hundreds of times less work than with adams; and about that of cvode. On the fast flanks of the oscillation Adams takes over again: of
 * all evaluations more than those of Newton's method. */
static void test_stiff(void **state)
{
    (void)state;
    struct problem both, cvode;
    begin(&both, 2, pol, 1e-6, &tt_solver_switch, (struct tt_solver_options){0});
    begin(&cvode, 2, pol, 1e-6, &tt_solver_cvode, (struct tt_solver_options){0});
    both.x[0] = cvode.x[0] = 2;
    run(&both, 2);
    run(&cvode, 2);
    const struct tt_solver_counts *counts = &both.solver->counts;
    printf("switch: %lu steps, %lu right-hand sides, %lu iterations; cvode: %lu, %lu\n", counts->steps, counts->rhs,
           counts->iterations, cvode.solver->counts.steps, cvode.solver->counts.rhs);
    assert_near(both.x[0], 1.706167732170483, 1e-4);
    assert_true(counts->rhs < 2 * cvode.solver->counts.rhs);
    assert_true(counts->jacobians > 0);
    assert_true(counts->rhs > counts->iterations + 200); /* those of Adams */
    tt_solver_free(both.solver);
    tt_solver_free(cvode.solver);
}

/* Over eight decades of stiffness and five of the tolerance: never more than one and a half times the steps of cvode. A run that stays with Adams on a
 * slow branch, whose noise at its limit of stability hides how smooth the solution is, takes 10^4 times as many. */
static void test_stiff_over_decades(void **state)
{
    (void)state;
    for (double stiffness = 1e2; stiffness < 1e13; stiffness *= 10)
        for (double tolerance = 1e-4; tolerance > 1e-9; tolerance /= 10) {
            struct problem both, cvode;
            begin(&both, 2, pol, tolerance, &tt_solver_switch, (struct tt_solver_options){0});
            begin(&cvode, 2, pol, tolerance, &tt_solver_cvode, (struct tt_solver_options){0});
            both.stiffness = cvode.stiffness = stiffness;
            both.x[0] = cvode.x[0] = 2;
            run(&cvode, 2);
            assert_ok(tt_solver_restart(both.solver, 0, both.x));
            while (both.solver->t < 2 && 2 * both.solver->counts.steps <= 3 * cvode.solver->counts.steps)
                assert_ok(tt_solver_step(both.solver, 2, both.x));
            printf("stiffness %g, tolerance %g: switch %lu steps, cvode %lu\n", stiffness, tolerance,
                   both.solver->counts.steps, cvode.solver->counts.steps);
            assert_true(both.solver->t == 2);
            tt_solver_free(both.solver);
            tt_solver_free(cvode.solver);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_highest_order),      cmocka_unit_test(test_first_step), cmocka_unit_test(test_krylov),
        cmocka_unit_test(test_refusals),           cmocka_unit_test(test_not_stiff),  cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_stiff_over_decades),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
