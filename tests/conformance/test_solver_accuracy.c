/* SPDX-License-Identifier: MIT */
/* How good every solver is, as solver.h promises it: orders, tolerances, dense output, stiff problems. */
#include "solver.h"

static const double end = 3;

/* The result of a run. */
struct figures {
    double error; /* largest at the end of a step */
    double dense; /* largest inside a step */
    double steps, calls;
};

/* `h` is the size of fixed steps, and a bound of others. */
static struct figures run(void (*init)(struct problem *problem, double tolerance), double tolerance, double h,
                          double to)
{
    struct problem problem;
    struct figures figures = {0};
    init(&problem, tolerance);
    problem.options.h_fixed = h;
    problem.options.h_max = the_kind()->fixed ? 0 : h;
    problem_start(&problem);
    struct tt_solver *solver = problem.solver;
    while (solver->t < to) {
        step(&problem, to);
        figures.calls = (double)problem.calls;
        figures.error = fmax(figures.error, error_now(&problem));
        unsigned long calls = problem.calls;
        for (int i = 1; i < 8; i++) {
            double x[STATES_MAX], t = solver->before + i * (solver->t - solver->before) / 8;
            assert_ok(solver->kind->interpolate(solver, t, x));
            figures.dense = fmax(figures.dense, error_of(&problem, t, x));
        }
        problem.calls = calls; /* those of the steps, please */
    }
    figures.steps = (double)solver->counts.steps;
    problem_stop(&problem);
    return figures;
}

/* A planet about its sun, numerical eccentricity 0.3; for the exact solution see any book on mechanics. */
static enum tt_eval planet_rhs(void *context, double t, const double *x, double *dx)
{
    enum tt_eval eval = watch(context, t, x);
    double cube = pow(x[0] * x[0] + x[1] * x[1], 1.5);
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = -x[0] / cube;
    dx[3] = -x[1] / cube;
    return eval;
}

static void planet_exact(const struct problem *problem, double t, double *x)
{
    (void)problem;
    double e = 0.3, angle = t, axis = sqrt(1 - e * e);
    for (int i = 0; i < 50; i++) /* Newton on Kepler's equation */
        angle -= (angle - e * sin(angle) - t) / (1 - e * cos(angle));
    double speed = 1 / (1 - e * cos(angle));
    x[0] = cos(angle) - e;
    x[1] = axis * sin(angle);
    x[2] = -sin(angle) * speed;
    x[3] = axis * cos(angle) * speed;
}

static void planet_init(struct problem *problem, double tolerance)
{
    problem_init(problem, 4, tolerance, planet_rhs);
    problem->exact = planet_exact;
    planet_exact(problem, 0, problem->x);
}

/* With fixed steps the error is C h^order: for fixed-step methods, and for explicit ones with h_max as the bound
 * instead of the tolerance. (Implicit methods solve their equations only to the tolerance.) */
static void test_order_of_steps(void **state)
{
    (void)state;
    int order = the_kind()->order;
    if (!the_kind()->fixed && (the_kind()->stiff || the_kind()->multistep))
        skip(); /* test_tolerance measures the order of these */
    void (*init)(struct problem *, double) = the_kind()->fixed ? smooth_init : planet_init;
    double h = order > 5 ? 0.8 : 0.1, to = 6.4;
    struct figures coarse = run(init, 1e6, h, to), fine = run(init, 1e6, h / 2, to), finer = run(init, 1e6, h / 4, to);
    double observed = log2(coarse.error / finer.error) / 2, dense = log2(coarse.dense / finer.dense) / 2;
    printf("order %d: %.2f, inside of steps %.2f (errors %.2e, %.2e, %.2e)\n", order, observed, dense, coarse.error,
           fine.error, finer.error);
    if (!(fabs(observed - order) <= 0.05 * order + 0.05))
        fail_msg("errors %g, %g, %g: order %g, not %d", coarse.error, fine.error, finer.error, observed, order);
    if (!(dense >= order - 1.2)) /* dense output may be of one order less */
        fail_msg("errors inside of steps %g, %g: order %g, not %d", coarse.dense, finer.dense, dense, order - 1);
}

/* Adaptive methods: the error follows the tolerance, and the work follows the error as the order lets one expect. */
static void test_tolerance(void **state)
{
    (void)state;
    if (the_kind()->fixed)
        skip(); /* it looks at no tolerance; test_order_of_steps is for it */
    double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, count = 0;
    for (int k = 3; k <= 10; k++) {
        double tolerance = pow(10, -k);
        struct figures figures = run(smooth_init, tolerance, 0, end);
        printf("tolerance 1e-%d: error %.2e, %g steps, %g evaluations\n", k, figures.error, figures.steps,
               figures.calls);
        if (!(figures.error <= 100 * tolerance))
            fail_msg("tolerance %g, but an error of %g", tolerance, figures.error);
        double x = log(figures.calls), y = log(figures.error);
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
        count++;
    }
    double slope = -(count * sum_xy - sum_x * sum_y) / (count * sum_xx - sum_x * sum_x);
    double order = fmin(the_kind()->order, 5); /* a variable order is not above that at these tolerances */
    printf("the error falls with the %.1f-th power of evaluations\n", slope);
    if (!(slope >= 0.8 * order))
        fail_msg("the error falls with the %g-th power of evaluations, order %g", slope, order);
}

/* A relative tolerance of next to nothing is as one of nothing: the absolute one counts. */
static void test_unequal_tolerances(void **state)
{
    (void)state;
    double steps[2];
    if (the_kind()->fixed)
        skip(); /* it looks at no tolerance; test_order_of_steps is for it */
    for (int i = 0; i < 2; i++) {
        struct problem problem;
        smooth_init(&problem, 1e-6);
        problem.ode.rtol = i ? 1e-14 : 0;
        problem_start(&problem);
        run_to(&problem, end);
        assert_near(error_now(&problem), 0, 1e-4);
        steps[i] = (double)problem.solver->counts.steps;
        problem_stop(&problem);
    }
    assert_near(steps[1] / steps[0], 1, 0.1);
}

/* Recorded points are within a few times the tolerance as good as the ends of steps. */
static void test_inside_of_steps(void **state)
{
    (void)state;
    if (the_kind()->fixed)
        skip();                                         /* it looks at no tolerance; test_order_of_steps is for it */
    double few = strcmp(KIND, "radau5") == 0 ? 30 : 10; /* the polynomial of radau5 is of order 3 */
    for (int k = 3; k <= 9; k += 3) {
        double tolerance = pow(10, -k);
        struct figures figures = run(smooth_init, tolerance, 0, end);
        printf("tolerance 1e-%d: errors %.2e at the ends of steps, %.2e inside\n", k, figures.error, figures.dense);
        if (!(figures.dense <= 2 * figures.error + few * tolerance))
            fail_msg("errors: %g at the ends of steps, %g inside", figures.error, figures.dense);
    }
}

/* x' = g(t): integrals of inputs. (There are pairs of formulas that see no error here.) */
static enum tt_eval integral_rhs(void *context, double t, const double *x, double *dx)
{
    enum tt_eval eval = watch(context, t, x);
    dx[0] = cos(t) * exp(sin(t));
    return eval;
}

static void integral_exact(const struct problem *problem, double t, double *x)
{
    (void)problem;
    x[0] = exp(sin(t));
}

static void integral_init(struct problem *problem, double tolerance)
{
    problem_init(problem, 1, tolerance, integral_rhs);
    problem->exact = integral_exact;
    problem->x[0] = 1;
}

static void test_integral(void **state)
{
    (void)state;
    if (the_kind()->fixed)
        skip(); /* it looks at no tolerance; test_order_of_steps is for it */
    for (int k = 4; k <= 8; k += 2) {
        double tolerance = pow(10, -k);
        struct figures figures = run(integral_init, tolerance, 0, 20);
        printf("tolerance 1e-%d: error %.2e, inside of steps %.2e, %g steps\n", k, figures.error, figures.dense,
               figures.steps);
        assert_near(figures.error, 0, 300 * tolerance);
        assert_near(figures.dense, 0, 300 * tolerance);
    }
}

/* States of 1e9 and 1e-9, with these nominals, are as accurate as those of 1. */
static void test_nominals(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        struct problem problem;
        smooth_init(&problem, 1e-6);
        problem.ode.rtol = swapped ? 1e-6 : 0; /* the absolute tolerance must do for both */
        problem.nominals[swapped] = 1e9;
        problem.nominals[!swapped] = 1e-9;
        smooth_exact(&problem, 0, problem.x);
        problem_start(&problem);
        run_to(&problem, end);
        assert_near(error_now(&problem), 0, the_kind()->fixed ? 0.02 : 1e-4);
        problem_stop(&problem);
    }
}

/* Prothero, Robinson (1974): x' = lambda (x - sin t) + cos t. */
static enum tt_eval robinson_rhs(void *context, double t, const double *x, double *dx)
{
    enum tt_eval eval = watch(context, t, x);
    dx[0] = -1e6 * (x[0] - sin(t)) + cos(t);
    dx[1] = -x[0] * x[1];
    return eval;
}

static void robinson_exact(const struct problem *problem, double t, double *x)
{
    (void)problem;
    x[0] = sin(t);
    x[1] = exp(cos(t) - 1);
}

static void test_stiff_linear(void **state)
{
    (void)state;
    if (!the_kind()->stiff || the_kind()->fixed)
        skip(); /* test_stiff_of_fixed_size is for the latter */
    for (int k = 4; k <= 8; k += 2) {
        struct problem problem;
        double tolerance = pow(10, -k), dense = 0;
        problem_init(&problem, 2, tolerance, robinson_rhs);
        problem.exact = robinson_exact;
        robinson_exact(&problem, 0, problem.x);
        problem_start(&problem);
        struct tt_solver *solver = problem.solver;
        while (solver->t < 10) {
            double x[2];
            step(&problem, 10);
            double t = 0.4 * solver->before + 0.6 * solver->t;
            assert_ok(solver->kind->interpolate(solver, t, x));
            dense = fmax(dense, error_of(&problem, t, x));
        }
        printf("tolerance 1e-%d: error %.2e, inside of steps %.2e, %lu steps, %lu evaluations\n", k,
               error_now(&problem), dense, solver->counts.steps, problem.calls);
        assert_true(solver->counts.steps < 1000);
        assert_near(error_now(&problem), 0, 100 * tolerance);
        assert_near(dense, 0, 200 * tolerance);
        problem_stop(&problem);
    }
}

/* The same with a hundred steps where an explicit method would take ten million: the error is that of the order. */
static void test_stiff_of_fixed_size(void **state)
{
    (void)state;
    if (!the_kind()->stiff || !the_kind()->fixed)
        skip();
    double errors[2];
    for (int i = 0; i < 2; i++) {
        struct problem problem;
        problem_init(&problem, 2, 1e-6, robinson_rhs);
        problem.exact = robinson_exact;
        problem.options.h_fixed = i ? 0.05 : 0.1;
        robinson_exact(&problem, 0, problem.x);
        problem_start(&problem);
        run_to(&problem, 10);
        errors[i] = error_now(&problem);
        problem_stop(&problem);
    }
    printf("errors %.2e, %.2e\n", errors[0], errors[1]);
    assert_near(log2(errors[0] / errors[1]), the_kind()->order, 0.2);
}

static double stiffness;

static enum tt_eval pol_rhs(void *context, double t, const double *x, double *dx)
{
    enum tt_eval eval = watch(context, t, x);
    dx[0] = x[1];
    dx[1] = stiffness * ((1 - x[0] * x[0]) * x[1] - x[0]);
    return eval;
}

/* Van der Pol's oscillator, mu = 1000, in the form of Hairer, Wanner, Solving ODEs II, IV.10; the reference is of the Test Set
 * for IVP Solvers. And with Andersson 2016 eq. 8.9, mu = 2000: its reference is what cvode, dopri5, dopri8 and dirk agree upon
 * at a tolerance of 1e-12. */
static void test_stiff_oscillator(void **state)
{
    (void)state;
    if (!the_kind()->stiff)
        skip(); /* millions of steps */
    static const struct {
        double stiffness, x[2], end[2];
    } cases[] = {
        {1e6, {2, 0}, {1.706167732170483, -0.8928097010247975}},
        {2e3, {2, -0.6}, {1.74249242754, -0.85551919375}},
    };
    /* Steps of a fixed size that resolve the jumps of the first case would be a hundred million. */
    for (size_t i = the_kind()->fixed ? 1 : 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem problem;
        stiffness = cases[i].stiffness;
        problem_init(&problem, 2, 1e-6, pol_rhs);
        problem.options.h_fixed = 2e-5;
        memcpy(problem.x, cases[i].x, sizeof cases[i].x);
        problem_start(&problem);
        run_to(&problem, 2);
        const struct tt_solver_counts *counts = &problem.solver->counts;
        printf("%g: %lu steps, %lu and %lu failed, %lu evaluations, %lu Jacobians, %lu factorisations, %lu iterations; "
               "errors %.1e, %.1e\n",
               stiffness, counts->steps, counts->error_failures, counts->other_failures, counts->rhs, counts->jacobians,
               counts->factorisations, counts->iterations, problem.x[0] - cases[i].end[0],
               problem.x[1] - cases[i].end[1]);
        assert_near(problem.x[0], cases[i].end[0], the_kind()->fixed ? 0.08 : 1e-3);
        assert_near(problem.x[1], cases[i].end[1], the_kind()->fixed ? 0.08 : 1e-3);
        assert_true(counts->steps < (the_kind()->fixed ? 100001 : 3000));
        assert_true(counts->jacobians <=
                    counts->steps + (the_kind()->fixed ? counts->iterations : 0)); /* rodas: one per step */
        problem_stop(&problem);
    }
}

/* Heat in a rod with its ends at 0, in cells: x = sin(pi z) exp(-lambda t). The matrix has three diagonals; the pattern
 * may omit the middle one: the first cell is constant. */
enum { CELLS = 50 };

static double rate(void)
{
    double s = sin(M_PI / (2 * (CELLS + 1)));
    return 4 * s * s * (CELLS + 1) * (CELLS + 1);
}

static enum tt_eval rod_rhs(void *context, double t, const double *x, double *dx)
{
    enum tt_eval eval = watch(context, t, x);
    double square = (CELLS + 1) * (CELLS + 1);
    for (int i = 0; i < CELLS; i++)
        dx[i] = square * ((i ? x[i - 1] : 0) - 2 * x[i] + (i + 1 < CELLS ? x[i + 1] : 0));
    dx[CELLS] = 1 + 0 * x[0];
    return eval;
}

static void rod_exact(const struct problem *problem, double t, double *x)
{
    (void)problem;
    for (int i = 0; i < CELLS; i++)
        x[i] = sin(M_PI * (i + 1) / (CELLS + 1)) * exp(-rate() * t);
    x[CELLS] = t;
}

/* Every way to the Jacobian gives the solution; colours make it cheaper. */
static void test_jacobian_modes(void **state)
{
    (void)state;
    if (!the_kind()->stiff)
        skip();
    int32_t starts[CELLS + 2], rows[3 * CELLS + 1], count = 0;
    for (int32_t c = 0; c < CELLS; c++) {
        starts[c] = count;
        for (int32_t r = c ? c - 1 : 0; r <= c + 1 && r < CELLS; r++)
            rows[count++] = r;
    }
    starts[CELLS] = starts[CELLS + 1] = count; /* the last state has an empty column: no diagonal there */
    struct tt_pattern pattern = {CELLS + 1, CELLS + 1, starts, rows};
    unsigned long calls[TUTTI_JACOBIAN_COUNT];
    for (int mode = 0; mode < TUTTI_JACOBIAN_COUNT; mode++) {
        struct problem problem;
        problem_init(&problem, CELLS + 1, 1e-6, rod_rhs);
        problem.ode.pattern = mode == TUTTI_JACOBIAN_PLAIN ? NULL : &pattern;
        problem.exact = rod_exact;
        problem.options.jacobian = (enum tt_jacobian_mode)mode;
        rod_exact(&problem, 0, problem.x);
        problem_start(&problem);
        run_to(&problem, 0.5);
        assert_near(error_now(&problem), 0, the_kind()->fixed ? 2e-3 : 1e-4);
        assert_true(problem.solver->counts.jacobians > 0);
        assert_true(problem.solver->counts.factorisations >= problem.solver->counts.jacobians);
        assert_int_equal(problem.solver->counts.rhs, problem.calls);
        calls[mode] = problem.calls;
        problem_stop(&problem);
    }
    assert_true(calls[TUTTI_JACOBIAN_SPARSE] < calls[TUTTI_JACOBIAN_PLAIN]);
    assert_true(calls[TUTTI_JACOBIAN_DENSE] < calls[TUTTI_JACOBIAN_PLAIN]);
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 1, "SOLVER");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_steps),     cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_unequal_tolerances), cmocka_unit_test(test_inside_of_steps),
        cmocka_unit_test(test_integral),           cmocka_unit_test(test_nominals),
        cmocka_unit_test(test_stiff_linear),       cmocka_unit_test(test_stiff_oscillator),
        cmocka_unit_test(test_jacobian_modes),     cmocka_unit_test(test_stiff_of_fixed_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
