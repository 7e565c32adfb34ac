/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>

#include "solve/allocations.h"
#include "solve/kinsol.h"
#include "solve/random.h"

static const struct tt_kinsol_options defaults;

/* Records the calls of a problem's functions; `evaluated` is the x of the last evaluation. */
struct seen {
    size_t n;
    double *evaluated;
    unsigned long evaluations, jacobians;
    unsigned long failing; /* the evaluation that is to fail; 0: none */
};

static void note(struct seen *seen, const double *x)
{
    seen->evaluations++;
    memcpy(seen->evaluated, x, seen->n * sizeof *x);
}

static void assert_evaluated_last(const struct seen *seen, const double *x)
{
    assert_memory_equal(seen->evaluated, x, seen->n * sizeof *x);
}

/* g = A x + b, A column-major. */
struct linear {
    struct seen seen;
    double *a, *b;
    bool transposed; /* the Jacobian is wrong */
};

static enum tutti_err linear_evaluate(void *context, const double *x, double *g, bool *outside)
{
    struct linear *linear = context;
    size_t n = linear->seen.n;
    (void)outside;
    note(&linear->seen, x);
    for (size_t i = 0; i < n; i++) {
        g[i] = linear->b[i];
        for (size_t j = 0; j < n; j++)
            g[i] += linear->a[j * n + i] * x[j];
    }
    return TUTTI_OK;
}

static enum tutti_err linear_jacobian(void *context, const double *x, double *jacobian)
{
    struct linear *linear = context;
    size_t n = linear->seen.n;
    linear->seen.jacobians++;
    assert_evaluated_last(&linear->seen, x);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            assert_true(jacobian[j * n + i] == 0);
            jacobian[j * n + i] = linear->transposed ? linear->a[i * n + j] : linear->a[j * n + i];
        }
    return TUTTI_OK;
}

/* A random one with the solution `x`. */
static void make_linear(struct linear *linear, size_t n, double *x)
{
    *linear = (struct linear){.seen = {.n = n, .evaluated = calloc(n, sizeof(double))}};
    linear->a = malloc(n * n * sizeof *linear->a);
    linear->b = malloc(n * sizeof *linear->b);
    for (size_t k = 0; k < n * n; k++)
        linear->a[k] = 2 * random_double() / sqrt((double)n);
    for (size_t i = 0; i < n; i++)
        x[i] = 10 * random_double();
    for (size_t i = 0; i < n; i++) {
        linear->b[i] = x[i];
        for (size_t j = 0; j < n; j++)
            linear->b[i] -= linear->a[j * n + i] * x[j];
    }
}

static void free_linear(struct linear *linear)
{
    free(linear->seen.evaluated);
    free(linear->a);
    free(linear->b);
}

static struct tt_fixed_point linear_problem(struct linear *linear, bool derivatives)
{
    return (struct tt_fixed_point){.n = linear->seen.n,
                                   .context = linear,
                                   .evaluate = linear_evaluate,
                                   .jacobian = derivatives ? linear_jacobian : NULL};
}

static void check_linear(size_t n, bool derivatives, unsigned long iterations)
{
    struct linear linear;
    struct tt_newton_counts counts;
    double *solution = malloc(n * sizeof *solution), *x = calloc(n, sizeof *x), *residuals = malloc(n * sizeof *x);
    make_linear(&linear, n, solution);
    struct tt_fixed_point problem = linear_problem(&linear, derivatives);
    assert_ok(tt_kinsol(&problem, &defaults, x, residuals, &counts));
    for (size_t i = 0; i < n; i++) {
        assert_near(x[i], solution[i], 1e-7);
        assert_near(residuals[i], 0, 1e-9);
    }
    assert_true(counts.iterations <= iterations);
    assert_int_equal(counts.jacobians, counts.iterations);
    assert_int_equal(counts.evaluations, linear.seen.evaluations);
    assert_int_equal(linear.seen.jacobians, derivatives ? counts.jacobians : 0);
    if (!derivatives)
        assert_true(counts.evaluations >= counts.iterations * (n + 1) + 1);
    assert_true(counts.residual <= 1e-10);
    assert_evaluated_last(&linear.seen, x);
    free_linear(&linear);
    free(residuals);
    free(solution);
    free(x);
}

static void test_linear(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 3, 10, 57, 400};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check_linear(sizes[k], true, 1);
        check_linear(sizes[k], false, 2);
    }
}

/* If rows and columns were mixed up, the first step would not lead to the solution. */
static void test_transposed(void **state)
{
    (void)state;
    double a[] = {0.5, 0.25, 0.125, 0.25}, b[] = {1, 2}, evaluated[2], x[2] = {0};
    struct linear linear = {.seen = {.n = 2, .evaluated = evaluated}, .a = a, .b = b};
    struct tt_newton_counts counts;
    struct tt_fixed_point problem = linear_problem(&linear, true);
    assert_ok(tt_kinsol(&problem, &defaults, x, NULL, &counts));
    assert_int_equal(counts.iterations, 1);
    /* 0.5 x0 - 0.125 x1 = 1, -0.25 x0 + 0.75 x1 = 2 */
    assert_near(x[0], 32. / 11, 1e-14);
    assert_near(x[1], 40. / 11, 1e-14);
    linear.transposed = true;
    x[0] = x[1] = 0;
    assert_ok(tt_kinsol(&problem, &defaults, x, NULL, &counts));
    assert_true(counts.iterations > 1);
    assert_near(x[0], 32. / 11, 1e-9);
}

/* Far away and from zero: no limit on the length of a step may get in the way. Sizes that differ neither. */
static void test_sizes(void **state)
{
    (void)state;
    double a[] = {0.5, 0.75e-15, -0.25e15, 0.125}, b[] = {1e9, 2e-6}, scale[] = {1e9, 1e-6}, evaluated[2], x[2] = {0};
    struct linear linear = {.seen = {.n = 2, .evaluated = evaluated}, .a = a, .b = b};
    struct tt_newton_counts counts;
    struct tt_fixed_point problem = linear_problem(&linear, true);
    problem.scale = scale;
    assert_ok(tt_kinsol(&problem, &defaults, x, NULL, &counts));
    assert_int_equal(counts.iterations, 1);
    assert_near(x[0], 0.6e9, 1e-5);
    assert_near(x[1], 2.8e-6, 1e-20);
    problem.jacobian = NULL;
    x[0] = x[1] = 0;
    assert_ok(tt_kinsol(&problem, &defaults, x, NULL, &counts));
    assert_true(counts.iterations <= 2);
    assert_near(x[0], 0.6e9, 1);
    assert_near(x[1], 2.8e-6, 1e-15);
    problem.scale = NULL; /* relative to |x| where that is large */
    problem.jacobian = linear_jacobian;
    x[0] = x[1] = 0;
    assert_ok(tt_kinsol(&problem, &defaults, x, NULL, &counts));
    assert_int_equal(counts.iterations, 1);
    assert_near(x[0], 0.6e9, 0.1);
}

static void test_guess_is_solution(void **state)
{
    (void)state;
    double a[] = {0.5}, b[] = {1}, evaluated[1], x[] = {2}, residual[] = {NAN};
    struct linear linear = {.seen = {.n = 1, .evaluated = evaluated}, .a = a, .b = b};
    struct tt_newton_counts counts = {0};
    struct tt_fixed_point problem = linear_problem(&linear, true);
    assert_ok(tt_kinsol(&problem, &defaults, x, residual, &counts));
    assert_int_equal(counts.iterations, 0);
    assert_int_equal(counts.evaluations, 1);
    assert_true(x[0] == 2 && residual[0] == 0);
    x[0] += 1e-11; /* not exactly, but near enough */
    assert_ok(tt_kinsol(&problem, &defaults, x, residual, &counts));
    assert_int_equal(counts.iterations, 0);
    assert_near(residual[0], 0.5e-11, 1e-15);
    struct tt_kinsol_options strict = {.tolerance = 1e-15};
    assert_ok(tt_kinsol(&problem, &strict, x, residual, &counts));
    assert_int_equal(counts.iterations, 1);
    assert_near(x[0], 2, 1e-15);
}

/* A scalar problem. */
struct scalar {
    struct seen seen;
    double (*g)(double x), (*slope)(double x);
    double low, high; /* undefined outside */
    bool says_so;     /* or is silent, and gives a NaN */
    double iterates[200];
};

static enum tutti_err scalar_evaluate(void *context, const double *x, double *g, bool *outside)
{
    struct scalar *scalar = context;
    note(&scalar->seen, x);
    if (scalar->seen.evaluations == scalar->seen.failing)
        return tt_fail(TUTTI_ERR_FMU, "unit 'a' said no");
    bool beyond = *x < scalar->low || *x > scalar->high;
    *outside = beyond && scalar->says_so;
    *g = beyond ? NAN : scalar->g(*x);
    return TUTTI_OK;
}

static enum tutti_err scalar_jacobian(void *context, const double *x, double *jacobian)
{
    struct scalar *scalar = context;
    scalar->iterates[scalar->seen.jacobians++] = *x;
    assert_evaluated_last(&scalar->seen, x);
    *jacobian = scalar->slope(*x);
    return TUTTI_OK;
}

static enum tutti_err solve_scalar(struct scalar *scalar, bool derivatives, double *x, double *residual,
                                   struct tt_newton_counts *counts)
{
    double evaluated;
    scalar->seen = (struct seen){.n = 1, .evaluated = &evaluated, .failing = scalar->seen.failing};
    struct tt_fixed_point problem = {
        .n = 1, .context = scalar, .evaluate = scalar_evaluate, .jacobian = derivatives ? scalar_jacobian : NULL};
    enum tutti_err err = tt_kinsol(&problem, &defaults, x, residual, counts);
    scalar->seen.evaluated = NULL;
    return err;
}

/* x = x - (x^2 - 2): the error of an iterate is e^2 / (2 x), exactly (Heron). */
static double heron(double x)
{
    return x - (x * x - 2);
}

static double heron_slope(double x)
{
    return 1 - 2 * x;
}

static void test_quadratic(void **state)
{
    (void)state;
    struct scalar scalar = {.g = heron, .slope = heron_slope, .low = -INFINITY, .high = INFINITY};
    struct tt_newton_counts counts;
    double x = 2;
    assert_ok(solve_scalar(&scalar, true, &x, NULL, &counts));
    assert_near(x, sqrt(2), 1e-10);
    assert_true(counts.iterations <= 5);
    for (unsigned long k = 0; k + 1 < counts.iterations; k++) {
        double error = scalar.iterates[k] - sqrt(2);
        assert_near(scalar.iterates[k + 1] - sqrt(2), error * error / (2 * scalar.iterates[k]), 1e-15);
    }
    x = 2;
    assert_ok(solve_scalar(&scalar, false, &x, NULL, &counts));
    assert_near(x, sqrt(2), 1e-10);
    assert_true(counts.iterations <= 6);
    x = -30;
    assert_ok(solve_scalar(&scalar, true, &x, NULL, &counts));
    assert_near(x, -sqrt(2), 1e-10);
}

/* x = x - atan(x): Newton's method without a line search runs away from |x| > 1.3917. */
static double arctangent(double x)
{
    return x - atan(x);
}

static double arctangent_slope(double x)
{
    return 1 - 1 / (1 + x * x);
}

static void test_line_search(void **state)
{
    (void)state;
    struct scalar scalar = {.g = arctangent, .slope = arctangent_slope, .low = -INFINITY, .high = INFINITY};
    const double guesses[] = {3, -20, 1000};
    for (size_t k = 0; k < 3; k++) {
        double x = guesses[k];
        assert_ok(solve_scalar(&scalar, true, &x, NULL, NULL));
        assert_near(x, 0, 1e-10);
        x = guesses[k];
        assert_ok(solve_scalar(&scalar, false, &x, NULL, NULL));
        assert_near(x, 0, 1e-10);
    }
}

/* x = x - (log(x) + 1), for x > 0 only: the first steps from the right lead beyond. */
static double logarithm(double x)
{
    return x - (log(x) + 1);
}

static double logarithm_slope(double x)
{
    return 1 - 1 / x;
}

static void test_wall(void **state)
{
    (void)state;
    struct scalar scalar = {.g = logarithm, .slope = logarithm_slope, .low = 1e-300, .high = INFINITY};
    const double guesses[] = {1, 5, 3000, 1e-9};
    for (int variant = 0; variant < 4; variant++)
        for (size_t k = 0; k < 4; k++) {
            double x = guesses[k];
            scalar.says_so = variant & 1;
            assert_ok(solve_scalar(&scalar, variant & 2, &x, NULL, NULL));
            assert_near(x, exp(-1), 1e-9);
        }
}

/* The wall is much nearer than five halvings of the first step of 9, and just beyond the solution. */
static double shallow(double x)
{
    return x - (1e-8 * x + 1e-12 * sinh(1e3 * x) - 1e-7);
}

static double shallow_slope(double x)
{
    return 1 - (1e-8 + 1e-9 * cosh(1e3 * x));
}

static void test_near_wall(void **state)
{
    (void)state;
    struct scalar scalar = {.g = shallow, .slope = shallow_slope, .low = -0.1, .high = 0.0125};
    for (int derivatives = 0; derivatives < 2; derivatives++) {
        double x = 0, residual;
        assert_ok(solve_scalar(&scalar, derivatives, &x, &residual, NULL));
        assert_near(residual, 0, 1e-10);
        assert_near(x, 0.012205, 2e-6);
    }
}

/* The solution is beyond the wall: the iteration ends before it, and says so. */
static void test_beyond_wall(void **state)
{
    (void)state;
    struct scalar scalar = {.g = heron, .slope = heron_slope, .low = -INFINITY, .high = 1.25, .says_so = true};
    double x = 1, residual;
    assert_fails(solve_scalar(&scalar, true, &x, &residual, NULL), TUTTI_ERR_SOLVER, "no value");
    assert_true(x > 1.2 && x <= 1.25);
    assert_same_double(residual, x - heron(x));
    x = 2;
    assert_fails(solve_scalar(&scalar, true, &x, &residual, NULL), TUTTI_ERR_SOLVER, "no value at the start values");
    assert_true(x == 2 && isnan(residual));
}

/* The guess is at the edge: one side of a difference has no value, or both. */
static void test_difference_at_edge(void **state)
{
    (void)state;
    struct scalar scalar = {.g = heron, .slope = heron_slope, .low = -INFINITY, .high = 3, .says_so = true};
    double x = 3;
    assert_ok(solve_scalar(&scalar, false, &x, NULL, NULL));
    assert_near(x, sqrt(2), 1e-10);
    scalar.low = -3;
    x = -3;
    assert_ok(solve_scalar(&scalar, false, &x, NULL, NULL));
    assert_near(x, -sqrt(2), 1e-10);
    scalar.low = scalar.high = x = 1;
    double residual;
    assert_fails(solve_scalar(&scalar, false, &x, &residual, NULL), TUTTI_ERR_SOLVER,
                 "no derivative with respect to unknown 0");
    assert_true(x == 1 && residual == -1);
}

/* x = x + x^2 + 1: no solution. */
static double parabola(double x)
{
    return x + x * x + 1;
}

static double parabola_slope(double x)
{
    return 1 + 2 * x;
}

static double next(double x)
{
    return x + 1;
}

static double one(double x)
{
    (void)x;
    return 1;
}

static double not_a_number(double x)
{
    (void)x;
    return NAN;
}

static void test_no_solution(void **state)
{
    (void)state;
    struct scalar scalar = {.g = parabola, .slope = parabola_slope, .low = -INFINITY, .high = INFINITY};
    struct tt_newton_counts counts;
    double x = 3, residual;
    assert_fails(solve_scalar(&scalar, true, &x, &residual, &counts), TUTTI_ERR_SOLVER, "local minimum");
    assert_near(x, 0, 1e-3);
    assert_near(residual, -1, 1e-6);
    assert_near(counts.residual, 1, 1e-6);
    x = 0; /* where the Jacobian is singular */
    assert_fails(solve_scalar(&scalar, true, &x, &residual, &counts), TUTTI_ERR_SOLVER, "singular");
    assert_true(x == 0 && residual == -1);
    scalar.g = next; /* everywhere */
    scalar.slope = one;
    x = 0.3;
    assert_fails(solve_scalar(&scalar, true, &x, &residual, &counts), TUTTI_ERR_SOLVER, "singular");
    assert_fails(solve_scalar(&scalar, false, &x, &residual, &counts), TUTTI_ERR_SOLVER, "singular");
    scalar.slope = not_a_number;
    assert_fails(solve_scalar(&scalar, true, &x, &residual, &counts), TUTTI_ERR_SOLVER, "no derivative");
    assert_true(x == 0.3);
}

/* x1 = x2 and x2 = x1: an empty loop, and one that contradicts itself. */
static void test_singular(void **state)
{
    (void)state;
    double a[] = {0, 1, 0, 1, 0, 0, 0.5, 0.25, 0.125}, b[] = {1, 0, 3}, evaluated[3], x[] = {0, 0, 0}, residuals[3];
    struct linear linear = {.seen = {.n = 3, .evaluated = evaluated}, .a = a, .b = b};
    for (int derivatives = 0; derivatives < 2; derivatives++) {
        struct tt_fixed_point problem = linear_problem(&linear, derivatives);
        x[0] = 0.7;
        b[0] = 1;
        assert_fails(tt_kinsol(&problem, &defaults, x, residuals, NULL), TUTTI_ERR_SOLVER, "singular");
        for (size_t i = 0; i < 3; i++)
            assert_near(residuals[i], x[i] - (b[i] + a[i] * x[0] + a[3 + i] * x[1] + a[6 + i] * x[2]), 1e-12);
    }
}

static void test_too_few_iterations(void **state)
{
    (void)state;
    struct scalar scalar = {.g = heron, .slope = heron_slope, .low = -INFINITY, .high = INFINITY};
    double evaluated, x = 1000, residual;
    scalar.seen = (struct seen){.n = 1, .evaluated = &evaluated};
    struct tt_fixed_point problem = {
        .n = 1, .context = &scalar, .evaluate = scalar_evaluate, .jacobian = scalar_jacobian, .scale = NULL};
    struct tt_kinsol_options three = {.iterations = 3};
    struct tt_newton_counts counts;
    assert_fails(tt_kinsol(&problem, &three, &x, &residual, &counts), TUTTI_ERR_SOLVER,
                 "no convergence in 3 iterations");
    assert_int_equal(counts.iterations, 3);
    assert_near(x, 125, 0.1);
    assert_same_double(residual, x - heron(x));
    assert_near(counts.residual, fabs(residual) / x, 1e-12);
}

/* Noise that no tolerance may ask to see through. */
static double noisy(double x)
{
    return 0.5 * x + 1 + 1e-8 * sin(1e12 * x);
}

static double half(double x)
{
    (void)x;
    return 0.5;
}

static void test_noise(void **state)
{
    (void)state;
    struct scalar scalar = {.g = noisy, .slope = half, .low = -INFINITY, .high = INFINITY};
    double evaluated, x = 0, residual;
    scalar.seen = (struct seen){.n = 1, .evaluated = &evaluated};
    struct tt_fixed_point problem = {
        .n = 1, .context = &scalar, .evaluate = scalar_evaluate, .jacobian = scalar_jacobian, .scale = NULL};
    struct tt_kinsol_options strict = {.tolerance = 1e-14};
    assert_fails(tt_kinsol(&problem, &strict, &x, &residual, NULL), TUTTI_ERR_SOLVER, "more digits");
    assert_near(x, 2, 1e-7);
}

/* An error of the equations' own, in each evaluation in turn: it ends everything, and keeps its message. */
static void test_errors_pass(void **state)
{
    (void)state;
    struct scalar scalar = {.g = arctangent, .slope = arctangent_slope, .low = -INFINITY, .high = INFINITY};
    struct tt_newton_counts counts;
    double x = 3, residual;
    assert_ok(solve_scalar(&scalar, false, &x, &residual, &counts));
    unsigned long evaluations = counts.evaluations;
    assert_true(evaluations > 8);
    for (unsigned long k = 1; k <= evaluations; k++) {
        scalar.seen.failing = k;
        x = 3;
        assert_fails(solve_scalar(&scalar, false, &x, &residual, &counts), TUTTI_ERR_FMU, "unit 'a' said no");
        assert_int_equal(scalar.seen.evaluations, k);
        assert_int_equal(counts.evaluations, k);
        if (k == 1)
            assert_true(x == 3 && isnan(residual));
        else
            assert_same_double(residual, x - arctangent(x)); /* of the iterate that is returned */
    }
}

static enum tutti_err refusing_jacobian(void *context, const double *x, double *jacobian)
{
    (void)context, (void)x, (void)jacobian;
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "no derivatives today");
}

static void test_jacobian_error_passes(void **state)
{
    (void)state;
    struct scalar scalar = {.g = heron, .low = -INFINITY, .high = INFINITY};
    double evaluated, x = 1, residual;
    scalar.seen = (struct seen){.n = 1, .evaluated = &evaluated};
    struct tt_fixed_point problem = {
        .n = 1, .context = &scalar, .evaluate = scalar_evaluate, .jacobian = refusing_jacobian, .scale = NULL};
    assert_fails(tt_kinsol(&problem, &defaults, &x, &residual, NULL), TUTTI_ERR_UNSUPPORTED, "no derivatives today");
    assert_true(x == 1 && residual == -1);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    struct scalar scalar = {.g = heron, .slope = heron_slope, .low = -INFINITY, .high = INFINITY};
    double x = NAN, scale = 0;
    assert_fails(solve_scalar(&scalar, true, &x, NULL, NULL), TUTTI_ERR_ARGUMENT, "unknown 0 is nan");
    assert_int_equal(scalar.seen.evaluations, 0);
    struct tt_fixed_point problem = {
        .n = 1, .context = &scalar, .evaluate = scalar_evaluate, .jacobian = scalar_jacobian, .scale = &scale};
    x = 1;
    assert_fails(tt_kinsol(&problem, &defaults, &x, NULL, NULL), TUTTI_ERR_ARGUMENT, "typical size");
    struct tt_kinsol_options negative = {.tolerance = -1};
    problem.scale = NULL;
    assert_fails(tt_kinsol(&problem, &negative, &x, NULL, NULL), TUTTI_ERR_ARGUMENT, "tolerance");
    problem.n = 1000000;
    assert_fails(tt_kinsol(&problem, &defaults, &x, NULL, NULL), TUTTI_ERR_LIMIT, "1000000 equations");
}

/* A chain of resistors with diodes to ground, all in one loop: many unknowns and a strong nonlinearity. */
struct ladder {
    size_t n;
};

static double ladder_flow(const struct ladder *ladder, const double *x, size_t i)
{
    double left = i ? x[i - 1] : 5, right = i + 1 < ladder->n ? x[i + 1] : 0;
    return left - 2 * x[i] + right - 1e-3 * (exp(x[i] / 0.05) - 1);
}

static enum tutti_err ladder_evaluate(void *context, const double *x, double *g, bool *outside)
{
    const struct ladder *ladder = context;
    (void)outside;
    for (size_t i = 0; i < ladder->n; i++)
        g[i] = x[i] + ladder_flow(ladder, x, i);
    return TUTTI_OK;
}

static void test_large_nonlinear(void **state)
{
    (void)state;
    struct ladder ladder = {200};
    double x[200];
    struct tt_fixed_point problem = {
        .n = ladder.n, .context = &ladder, .evaluate = ladder_evaluate, .jacobian = NULL, .scale = NULL};
    struct tt_newton_counts counts;
    for (size_t i = 0; i < ladder.n; i++)
        x[i] = 2;
    assert_ok(tt_kinsol(&problem, &defaults, x, NULL, &counts));
    for (size_t i = 0; i < ladder.n; i++)
        assert_near(ladder_flow(&ladder, x, i), 0, 2e-10);
    assert_true(x[0] > x[1] && x[0] < 1);
    assert_true(counts.iterations < 100);
}

/* ---- other ways to solve the linear systems ---- */

static enum tutti_err ladder_entries(void *context, const double *x, double *entries)
{
    const struct ladder *ladder = context;
    for (size_t j = 0; j < ladder->n; j++) {
        if (j > 0)
            *entries++ = 1;
        *entries++ = 1 - 2 - 1e-3 / 0.05 * exp(x[j] / 0.05);
        if (j + 1 < ladder->n)
            *entries++ = 1;
    }
    return TUTTI_OK;
}

/* One object, solved again and again: the same bits each time, and what a new one gives. */
static void test_sparse(void **state)
{
    (void)state;
    struct ladder ladder = {200};
    struct tt_pattern_place places[600];
    struct tt_pattern pattern;
    struct tt_kinsol *newton;
    struct tt_newton_counts counts;
    size_t count = 0;
    double x[200], first[200];
    for (int32_t j = 0; j < 200; j++)
        for (int32_t i = j - 1; i <= j + 1; i++)
            if (i >= 0 && i < 200)
                places[count++] = (struct tt_pattern_place){i, j};
    assert_ok(tt_pattern_init(&pattern, 200, 200, places, count));
    struct tt_fixed_point problem = {
        .n = 200, .context = &ladder, .evaluate = ladder_evaluate, .jacobian = ladder_entries, .pattern = &pattern};
    assert_ok(tt_kinsol_new(&newton, &problem));
    for (int again = 0; again < 3; again++) {
        for (size_t i = 0; i < ladder.n; i++)
            x[i] = again == 1 ? 0.1 : 2;
        assert_ok(tt_kinsol_solve(newton, &defaults, x, NULL, &counts));
        for (size_t i = 0; i < ladder.n; i++)
            assert_near(ladder_flow(&ladder, x, i), 0, 2e-10);
        assert_true(counts.jacobians == counts.iterations && counts.iterations < 100);
        if (again == 0)
            memcpy(first, x, sizeof x);
    }
    assert_memory_equal(first, x, sizeof x);
    tt_kinsol_free(newton);
    tt_pattern_fini(&pattern);
}

/* No Jacobian: products with it, as many as there are unknowns at the most. A linear problem takes one iteration, if the tolerance
 * is one of co-simulation. */
static void test_krylov(void **state)
{
    (void)state;
    struct ladder ladder = {30};
    double x[30], residuals[30];
    struct tt_fixed_point problem = {.n = ladder.n, .context = &ladder, .evaluate = ladder_evaluate, .krylov = true};
    struct tt_newton_counts counts;
    for (size_t i = 0; i < ladder.n; i++)
        x[i] = 0.2;
    assert_ok(tt_kinsol(&problem, &defaults, x, residuals, &counts));
    for (size_t i = 0; i < ladder.n; i++) {
        assert_near(ladder_flow(&ladder, x, i), 0, 2e-10);
        assert_near(ladder_flow(&ladder, x, i), -residuals[i], 1e-14);
    }
    assert_int_equal(counts.jacobians, 0);
    assert_true(counts.evaluations > counts.iterations);

    double a[] = {0.5, 0.25, 0.125, 0.25}, b[] = {1, 2}, evaluated[2];
    struct linear linear = {.seen = {.n = 2, .evaluated = evaluated}, .a = a, .b = b};
    struct tt_kinsol_options loose = {.tolerance = 1e-3};
    struct tt_fixed_point two = linear_problem(&linear, false);
    two.krylov = true;
    two.distance = 1e-4;
    double y[] = {0, 0};
    assert_ok(tt_kinsol(&two, &loose, y, NULL, &counts));
    assert_int_equal(counts.iterations, 1);
    assert_int_equal(counts.evaluations, 4); /* at both ends, and two products */
}

/* Problems that solvers are known to have trouble with (More, Garbow, Hillstrom, ACM TOMS 7, 1981, problems 1, 3, 7, 13
 * and 30), as x = x - f(x). */
struct known {
    size_t n;
    void (*f)(const double *x, double *f);
    double guess[10], solution[10];
    double within; /* of the solution */
};

static void rosenbrock(const double *x, double *f)
{
    f[0] = 10 * (x[1] - x[0] * x[0]);
    f[1] = 1 - x[0];
}

static void badly_scaled(const double *x, double *f)
{
    f[0] = 1e4 * x[0] * x[1] - 1;
    f[1] = exp(-x[0]) + exp(-x[1]) - 1.0001;
}

static void helical_valley(const double *x, double *f)
{
    double angle = atan2(x[1], x[0]) / (2 * acos(-1));
    f[0] = 10 * (x[2] - 10 * (angle < -0.25 ? angle + 1 : angle));
    f[1] = 10 * (hypot(x[0], x[1]) - 1);
    f[2] = x[2];
}

static void powell_singular(const double *x, double *f)
{
    f[0] = x[0] + 10 * x[1];
    f[1] = sqrt(5) * (x[2] - x[3]);
    f[2] = (x[1] - 2 * x[2]) * (x[1] - 2 * x[2]);
    f[3] = sqrt(10) * (x[0] - x[3]) * (x[0] - x[3]);
}

static void broyden_tridiagonal(const double *x, double *f)
{
    for (size_t i = 0; i < 10; i++)
        f[i] = (3 - 2 * x[i]) * x[i] - (i > 0 ? x[i - 1] : 0) - 2 * (i < 9 ? x[i + 1] : 0) + 1;
}

static enum tutti_err known_evaluate(void *context, const double *x, double *g, bool *outside)
{
    const struct known *known = context;
    (void)outside;
    known->f(x, g);
    for (size_t i = 0; i < known->n; i++)
        g[i] = x[i] - g[i];
    return TUTTI_OK;
}

static void test_known_problems(void **state)
{
    (void)state;
    static const struct known problems[] = {
        {2, rosenbrock, {-1.2, 1}, {1, 1}, 1e-9},
        {2, badly_scaled, {0, 1}, {1.098159329699e-5, 9.106146739867}, 1e-5},
        {3, helical_valley, {-1, 0, 0}, {1, 0, 0}, 1e-9},
        {4, powell_singular, {3, -1, 0, 1}, {0}, 1e-4}, /* its Jacobian is singular at the solution */
        {10, broyden_tridiagonal, {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, {NAN}, 0},
    };
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        struct known known = problems[k];
        struct tt_fixed_point problem = {
            .n = known.n, .context = &known, .evaluate = known_evaluate, .jacobian = NULL, .scale = NULL};
        double x[10], residuals[10];
        memcpy(x, known.guess, sizeof x);
        assert_ok(tt_kinsol(&problem, &defaults, x, residuals, NULL));
        for (size_t i = 0; i < known.n; i++) {
            assert_near(residuals[i], 0, 1e-10 * fmax(1, fabs(x[i])));
            if (!isnan(known.solution[0]))
                assert_near(x[i], known.solution[i], known.within);
        }
    }
}

static void test_memory(void **state)
{
    (void)state;
    struct scalar scalar = {.g = heron, .slope = heron_slope, .low = -INFINITY, .high = INFINITY};
    enum tutti_err err;
    double x = 1;
    assert_survives_each(err, (x = 1, err = solve_scalar(&scalar, true, &x, NULL, NULL)));
    assert_near(x, sqrt(2), 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_transposed),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_guess_is_solution),
        cmocka_unit_test(test_quadratic),
        cmocka_unit_test(test_line_search),
        cmocka_unit_test(test_wall),
        cmocka_unit_test(test_near_wall),
        cmocka_unit_test(test_beyond_wall),
        cmocka_unit_test(test_difference_at_edge),
        cmocka_unit_test(test_no_solution),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_too_few_iterations),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_errors_pass),
        cmocka_unit_test(test_jacobian_error_passes),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_large_nonlinear),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_krylov),
        cmocka_unit_test(test_known_problems),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
