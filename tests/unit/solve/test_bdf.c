/* SPDX-License-Identifier: MIT */
/* bdf as a solver of a problem that stays what it is: against CVODE, against known solutions, and what may go wrong. */
#include <stdlib.h>

#include "driven.h"

static struct driven_result reference, ours, theirs;

/* Van der Pol's oscillator as in Andersson 2016 section 8.6.1. */
static double damping;

static void van_der_pol(double t, const double *x, const double *u, double *dx)
{
    (void)t, (void)u;
    dx[0] = x[1];
    dx[1] = damping * (1 - x[0] * x[0]) * x[1] - x[0];
}

/* Robertson's reaction (Hairer, Wanner, Solving ODEs II, IV.1), in units that make all states about 1. */
static void robertson(double t, const double *x, const double *u, double *dx)
{
    (void)t, (void)u;
    double slow = 0.04 * x[0], middle = x[1] * x[2], fast = 3e3 * x[1] * x[1]; /* x[1] in 1e-4 */
    dx[0] = -slow + middle;
    dx[1] = (slow - middle - fast * 1e-4) * 1e4;
    dx[2] = fast * 1e-4;
}

/* Eigenvalues -1, -100, -10000 and -20 +- 200i, mixed by a rotation. */
static void linear(double t, const double *x, const double *u, double *dx)
{
    (void)u;
    double a = 0.6 * x[0] + 0.8 * x[1], b = -0.8 * x[0] + 0.6 * x[1], force = sin(t);
    double da = -a + force, db = -1e4 * b + force;
    dx[0] = 0.6 * da - 0.8 * db;
    dx[1] = 0.8 * da + 0.6 * db;
    dx[2] = -100 * x[2] + x[0];
    dx[3] = -20 * x[3] + 200 * x[4] + x[2];
    dx[4] = -200 * x[3] - 20 * x[4];
}

/* x = cos t and -sin t, in the way of Prothero and Robinson. */
static void follower(double t, const double *x, const double *u, double *dx)
{
    (void)u;
    dx[0] = -500 * (x[0] - cos(t)) - sin(t);
    dx[1] = -(x[1] + sin(t)) - cos(t);
}

static void oscillator(double t, const double *x, const double *u, double *dx)
{
    (void)t, (void)u;
    dx[0] = x[1];
    dx[1] = -x[0];
}

/* The choices of order and step size go wild ways: one run of Robertson's problem takes a third more or fewer steps than
 * another with a tolerance a hair apart, here and there alike. So runs with many tolerances are taken together. */
static void compare(const struct driven *problem)
{
    double steps = 0, rhs = 0, accuracy = 0;
    struct tt_solver_counts all_ours = {0}, all_theirs = {0};
    const int runs = 9;
    driven_solve_cvode(problem, 1e-12, &reference);
    for (int i = 0; i < runs; i++) {
        double tolerance = 1e-4 * pow(10, -0.5 * i);
        driven_solve_cvode(problem, tolerance, &theirs);
        driven_solve(problem, &tt_solver_bdf, TUTTI_PREDICTOR_AUTO, tolerance, &ours);
        steps += log((double)ours.counts.steps / (double)theirs.counts.steps);
        rhs += log((double)ours.counts.rhs / (double)theirs.counts.rhs);
        accuracy += log((driven_error(problem, &ours, &reference) + 0.1 * tolerance) /
                        (driven_error(problem, &theirs, &reference) + 0.1 * tolerance));
        driven_sum(&all_ours, &ours.counts);
        driven_sum(&all_theirs, &theirs.counts);
    }
    steps = exp(steps / runs), rhs = exp(rhs / runs), accuracy = exp(accuracy / runs);
    driven_heading(problem->name, "1e-4 to 1e-8");
    driven_row("CVODE", &all_theirs, &all_theirs, driven_error(problem, &theirs, &reference));
    driven_row("bdf", &all_ours, &all_theirs, driven_error(problem, &ours, &reference));
    print_message("  bdf of CVODE: steps %.2f, rhs %.2f, error %.2f\n", steps, rhs, accuracy);
    assert_true(steps > 0.85 && steps < 1.15);
    assert_true(rhs > 0.8 && rhs < 1.2);
    assert_true(accuracy < 2);
}

static void test_against_cvode(void **state)
{
    (void)state;
    const struct driven problems[] = {
        {"linear, stiff", 5, 0, linear, NULL, {1, 1, 1, 1, 0}, 2, 10, false},
        {"Robertson", 3, 0, robertson, NULL, {1, 0, 0}, 40000, 10, false},
        {"follower", 2, 0, follower, NULL, {1, 0}, 20, 10, false},
        {"oscillator", 2, 0, oscillator, NULL, {1, 0}, 20, 10, false},
    };
    for (size_t k = 0; k < sizeof problems / sizeof problems[0]; k++)
        compare(&problems[k]);
    damping = 5;
    compare(&(struct driven){"van der Pol, 5", 2, 0, van_der_pol, NULL, {2, 0}, 20, 10, false});
    damping = 1000;
    compare(&(struct driven){"van der Pol, 1000", 2, 0, van_der_pol, NULL, {2, 0}, 1500, 10, false});
}

/* The global error follows the tolerance, and the number of steps shows that order 5 is reached: an order p would need
 * 10^(5 / (p + 1)) times the steps for 1e-5 times the tolerance. */
static void test_error_follows_tolerance(void **state)
{
    (void)state;
    const struct driven problem = {"oscillator", 2, 0, oscillator, NULL, {1, 0}, 10, 1, false};
    double error[6], steps[6];
    for (int i = 0; i < 6; i++) {
        driven_solve(&problem, &tt_solver_bdf, TUTTI_PREDICTOR_AUTO, pow(10, -4 - i), &ours);
        error[i] = fmax(fabs(ours.x[0][0] - cos(10.0)), fabs(ours.x[0][1] + sin(10.0)));
        steps[i] = (double)ours.counts.steps;
        print_message("  tolerance 1e%d: %4.0f steps, error %.1e\n", -4 - i, steps[i], error[i]);
        assert_true(error[i] < 300 * pow(10, -4 - i));
    }
    double slope = log10(error[0] / error[5]) / 5;
    assert_true(slope > 0.75 && slope < 1.15);
    assert_true(steps[5] / steps[0] < pow(10, 5 / 5.0));
}

static void test_dense_output(void **state)
{
    (void)state;
    const struct driven problem = {"oscillator", 2, 0, oscillator, NULL, {1, 0}, 10, 1, false};
    struct driven_segment segment = {.driven = &problem};
    struct tt_ode ode = driven_ode(&segment, 1e-7);
    struct tt_solver *solver;
    double x[2] = {1, 0}, last[2] = {1, 0}, y[2];
    assert_ok(tt_solver_new(&solver, &tt_solver_bdf, &ode, &(struct tt_solver_options){0}));
    assert_ok(tt_solver_restart(solver, 0, x));
    while (solver->t < 10) {
        assert_ok(solver->kind->step(solver, 10, x));
        assert_ok(solver->kind->interpolate(solver, solver->t, y));
        assert_same_double(y[0], x[0]);
        assert_same_double(y[1], x[1]);
        assert_ok(solver->kind->interpolate(solver, solver->before, y));
        assert_near(y[0], last[0], 1e-12); /* no jump from one step to the next */
        for (int part = 1; part < 10; part += 2) {
            double t = solver->before + part * (solver->t - solver->before) / 10;
            assert_ok(solver->kind->interpolate(solver, t, y));
            assert_near(y[0], cos(t), 2e-5);
            assert_near(y[1], -sin(t), 2e-5);
        }
        memcpy(last, x, sizeof last);
    }
    tt_solver_free(solver);
}

/* Ends of the way at odd places: met to the bit, and without a last step that is much smaller than the others. */
static void test_limits(void **state)
{
    (void)state;
    const struct driven problem = {"oscillator", 2, 0, oscillator, NULL, {1, 0}, 10, 1, false};
    struct driven_segment segment = {.driven = &problem};
    struct tt_ode ode = driven_ode(&segment, 1e-6);
    struct tt_solver *solver;
    double x[2] = {1, 0}, limit = 0, least = 1, usual = 0;
    assert_ok(tt_solver_new(&solver, &tt_solver_bdf, &ode, &(struct tt_solver_options){.h_max = 0.09}));
    assert_ok(tt_solver_restart(solver, 0, x));
    for (int i = 1; i < 300; i++) {
        limit += 0.1 + 0.09 * sin(i * i);
        while (solver->t < limit) {
            assert_ok(solver->kind->step(solver, limit, x));
            assert_true(segment.latest <= limit);
            assert_true(solver->t - solver->before <= 0.09 * (1 + 1e-12));
            if (i > 5)
                least = fmin(least, solver->t - solver->before);
            usual = fmax(usual, solver->t - solver->before);
        }
        assert_same_double(solver->t, limit);
    }
    assert_true(usual > 0.04);
    assert_true(least > 0.009); /* the shortest way is 0.01 */
    assert_near(x[0], cos(limit), 2e-3);
    tt_solver_free(solver);
}

/* Torricelli's tank: sqrt of a level below 0 is undefined. The level is 0 at t = 2, where the solution ends. */
static enum tt_eval tank(void *context, double t, const double *x, double *dx)
{
    const double *bound = context;
    dx[0] = -sqrt(x[0]);
    return isfinite(dx[0]) && t <= *bound ? TUTTI_EVAL_OK : TUTTI_EVAL_NO_VALUE;
}

static const char *tank_name(void *context, size_t i)
{
    (void)context;
    assert_int_equal(i, 0);
    return "tank.level";
}

static void test_no_value(void **state)
{
    (void)state;
    double nominal = 1, bound = 1, x = 1, t = 0;
    struct tt_ode ode = {.count = 1, .rhs = tank, .context = &bound, .rtol = 1e-6, .atol = 1e-8, .nominals = &nominal};
    ode.state_name = tank_name;
    struct tt_solver *solver;
    assert_ok(tt_solver_new(&solver, &tt_solver_bdf, &ode, &(struct tt_solver_options){0}));
    assert_ok(tt_solver_restart(solver, 0, &x));
    enum tutti_err err = TUTTI_OK;
    while (!err && solver->t < 2) /* up to the bound the steps become shorter and shorter */
        err = solver->kind->step(solver, 2, &x);
    t = solver->t;
    assert_near(t, 1, 1e-9);
    assert_near(x, 0.25, 1e-5);
    assert_int_equal(err, TUTTI_ERR_SOLVER);
    assert_non_null(strstr(tutti_err_message(), "bdf"));
    assert_non_null(strstr(tutti_err_message(), "tank.level"));
    assert_true(solver->counts.other_failures > 3);

    bound = 10; /* as far as there is a level at all */
    x = 1;
    assert_ok(tt_solver_restart(solver, 0, &x));
    while (!err && solver->t < 1.99)
        assert_ok(solver->kind->step(solver, 1.99, &x));
    x = -1;
    assert_ok(tt_solver_restart(solver, 0, &x));
    assert_fails(solver->kind->step(solver, 1, &x), TUTTI_ERR_SOLVER, "no value");
    tt_solver_free(solver);
}

static enum tt_eval broken(void *context, double t, const double *x, double *dx)
{
    struct tt_ode *ode = context;
    dx[0] = -x[0];
    if (t <= 0.5)
        return TUTTI_EVAL_OK;
    ode->err = tt_fail(TUTTI_ERR_FMU, "it is broken");
    return TUTTI_EVAL_FAILED;
}

static void test_failed(void **state)
{
    (void)state;
    double nominal = 1, x = 1;
    struct tt_ode ode = {.count = 1, .rhs = broken, .rtol = 1e-6, .atol = 1e-6, .nominals = &nominal};
    ode.context = &ode;
    struct tt_solver *solver;
    assert_ok(tt_solver_new(&solver, &tt_solver_bdf, &ode, &(struct tt_solver_options){0}));
    assert_ok(tt_solver_restart(solver, 0, &x));
    enum tutti_err err = TUTTI_OK;
    while (!err)
        err = solver->kind->step(solver, 2, &x);
    assert_int_equal(err, TUTTI_ERR_FMU);
    assert_string_equal(tutti_err_message(), "it is broken");
    tt_solver_free(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_cvode), cmocka_unit_test(test_error_follows_tolerance),
        cmocka_unit_test(test_dense_output),  cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_value),      cmocka_unit_test(test_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
