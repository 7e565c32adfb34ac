/* SPDX-License-Identifier: MIT */
/* Sums of squares: against minima in closed form, with analytic derivatives and by differences, in bounds; singular
 * values; Student's quantiles. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "solve/fit.h"
#include "solve/matrix.h"

/* Rosenbrock: r = (10 (x1 - x0^2), 1 - x0), least at (1, 1). */
struct banana {
    unsigned evaluations, jacobians;
    double wall; /* undefined for greater x0 */
};

static enum tutti_err evaluate(void *context, const double *x, double *r, bool *good)
{
    struct banana *banana = context;
    banana->evaluations++;
    r[0] = 10 * (x[1] - x[0] * x[0]);
    r[1] = 1 - x[0];
    *good = banana->wall == 0 || x[0] < banana->wall;
    return TUTTI_OK;
}

static enum tutti_err find_jacobian(void *context, const double *x, const double *r, double *jacobian,
                                    size_t *evaluations, bool *good)
{
    struct banana *banana = context;
    (void)r;
    banana->jacobians++;
    ++*evaluations;
    jacobian[0] = -20 * x[0]; /* column by column */
    jacobian[1] = -1;
    jacobian[2] = 10;
    jacobian[3] = 0;
    *good = true;
    return TUTTI_OK;
}

static const double none_below[] = {-INFINITY, -INFINITY}, none_above[] = {INFINITY, INFINITY};

static struct tt_fit_problem make_problem(struct banana *banana)
{
    return (struct tt_fit_problem){.unknowns = 2,
                                   .residuals = 2,
                                   .low = none_below,
                                   .high = none_above,
                                   .difference = 1e-5,
                                   .most = 1000,
                                   .context = banana,
                                   .evaluate = evaluate};
}

static void test_least_squares(void **state)
{
    (void)state;
    unsigned runs[2];
    for (int own = 0; own < 2; own++) {
        struct banana banana = {0};
        struct tt_fit_problem problem = make_problem(&banana);
        struct tt_fit_result result = {0};
        double x[] = {-1.2, 1};
        problem.jacobian = own ? find_jacobian : NULL;
        assert_ok(tt_fit_least_squares(&problem, x, &result));
        assert_int_equal(result.end, TUTTI_FIT_CONVERGED);
        assert_near(x[0], 1, 1e-7);
        assert_near(x[1], 1, 1e-7);
        assert_near(result.cost, 0, 1e-13);
        assert_int_equal(result.evaluations, banana.evaluations + banana.jacobians);
        assert_true((banana.jacobians > 0) == (own == 1));
        runs[own] = banana.evaluations + banana.jacobians;
    }
    assert_true(2 * runs[1] < runs[0]);
}

/* x1 <= 0.5 and x0 >= 0: with x1 = 0.5 the rest is least where 200 (x0^2 - 0.5) x0 = 1 - x0. */
static void test_bounds(void **state)
{
    (void)state;
    const double low[] = {0, -1}, high[] = {2, 0.5};
    struct banana banana = {0};
    struct tt_fit_problem problem = make_problem(&banana);
    struct tt_fit_result result = {0};
    double x[] = {0.1, 0.1};
    problem.low = low;
    problem.high = high;
    assert_ok(tt_fit_least_squares(&problem, x, &result));
    assert_near(x[1], 0.5, 0);
    assert_near(200 * (x[0] * x[0] - 0.5) * x[0], 1 - x[0], 1e-4);
}

/* Places without values are bad ones; there is a minimum before them, or not. */
static void test_bad_places(void **state)
{
    (void)state;
    struct banana banana = {.wall = 1.5};
    struct tt_fit_problem problem = make_problem(&banana);
    struct tt_fit_result result = {0};
    double x[] = {-1.2, 1};
    assert_ok(tt_fit_least_squares(&problem, x, &result));
    assert_near(x[0], 1, 1e-7);
    x[0] = 2; /* where it begins */
    assert_fails(tt_fit_least_squares(&problem, x, &result), TUTTI_ERR_ARGUMENT,
                 "not a number where the search begins");
    struct tt_fit_result few = {0};
    problem.most = 5;
    x[0] = -1.2;
    assert_ok(tt_fit_least_squares(&problem, x, &few));
    assert_int_equal(few.end, TUTTI_FIT_GAVE_UP);
}

static void test_without_derivatives(void **state)
{
    (void)state;
    const double low[] = {-2, -2}, high[] = {3, 2.5};
    static const enum tt_minimiser all[] = {TUTTI_MINIMISE_BOBYQA, TUTTI_MINIMISE_NELDER_MEAD, TUTTI_MINIMISE_SUBPLEX,
                                            TUTTI_MINIMISE_DIRECT};
    for (size_t i = 0; i < 4; i++) {
        struct banana banana = {0};
        struct tt_fit_problem problem = make_problem(&banana);
        struct tt_fit_result result = {0};
        double x[] = {-1.2, 1};
        problem.low = low;
        problem.high = high;
        problem.most = 3000;
        assert_ok(tt_fit_minimise(&problem, all[i], x, &result));
        bool is_global = all[i] == TUTTI_MINIMISE_DIRECT; /* which comes near */
        assert_near(x[0], 1, is_global ? 0.1 : 1e-4);
        assert_int_equal(result.evaluations, banana.evaluations);
    }
}

static void test_differences(void **state)
{
    (void)state;
    struct banana banana = {0};
    struct tt_fit_problem problem = make_problem(&banana);
    const double x[] = {0.3, -2};
    double r[2], exact[4], found[4];
    size_t evaluations = 0;
    bool good;
    assert_ok(evaluate(&banana, x, r, &good));
    assert_ok(find_jacobian(&banana, x, r, exact, &evaluations, &good));
    evaluations = 0;
    assert_ok(tt_fit_differences(&problem, x, r, 1e-4, found, &evaluations, &good));
    assert_int_equal(evaluations, 4);
    for (int i = 0; i < 4; i++)
        assert_near(found[i], exact[i], 1e-9); /* central ones of a parabola are exact */
}

/* [3 0; 0 -2; 0 0], and one without rank: [1 1; 1 1]. */
static void test_singular_values(void **state)
{
    (void)state;
    double matrix[] = {3, 0, 0, 0, -2, 0}, flat[] = {1, 1, 1, 1}, values[2], right[4];
    assert_ok(tt_matrix_svd(matrix, 3, 2, values, right));
    assert_near(values[0], 3, 1e-15);
    assert_near(values[1], 2, 1e-15);
    assert_near(fabs(right[0]), 1, 1e-15);
    assert_ok(tt_matrix_svd(flat, 2, 2, values, right));
    assert_near(values[0], 2, 1e-15);
    assert_near(values[1], 0, 1e-15);
    assert_near(right[2], -right[3], 1e-15); /* what it does not see */
    flat[0] = NAN;
    assert_int_equal(tt_matrix_svd(flat, 2, 2, values, right), TUTTI_ERR_ARGUMENT);
}

/* Quantiles of the tables: 0.975, and 0.95 with one degree of freedom, where it is Cauchy's: tan(0.45 pi). */
static void test_student(void **state)
{
    (void)state;
    assert_near(tt_fit_student_interval(0.95, 1), 12.7062047361747, 1e-9);
    assert_near(tt_fit_student_interval(0.95, 10), 2.22813885198627, 1e-9);
    assert_near(tt_fit_student_interval(0.95, 1e7), 1.95996398454, 1e-6);
    assert_near(tt_fit_student_interval(0.9, 1), tan(0.45 * M_PI), 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_squares), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_bad_places),    cmocka_unit_test(test_without_derivatives),
        cmocka_unit_test(test_differences),   cmocka_unit_test(test_singular_values),
        cmocka_unit_test(test_student),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
