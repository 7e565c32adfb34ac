/* SPDX-License-Identifier: MIT */
#include "solve/matrix.h"
#include "test.h"

#include <math.h>

static void assert_exponential(const double *matrix, size_t n, const double *expected, double within)
{
    double found[16];
    assert_ok(tt_matrix_exponential(matrix, n, found));
    for (size_t i = 0; i < n * n; i++)
        assert_near(found[i], expected[i], within * (1 + fabs(expected[i])));
}

/* Column-major: a rotation, a Jordan block, and both far from and near to 0. */
static void closed_forms(void **state)
{
    (void)state;
    static const double sizes[] = {1e-9, 0.1, 1, 7, 60};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        double a = sizes[k];
        assert_exponential((double[]){0, a, -a, 0}, 2, (double[]){cos(a), sin(a), -sin(a), cos(a)}, 1e-13);
        assert_exponential((double[]){-a, 0, 1, -a}, 2, (double[]){exp(-a), 0, exp(-a), exp(-a)}, 1e-13);
        assert_exponential((double[]){-a, 0, 0, 2 * a}, 2, (double[]){exp(-a), 0, 0, exp(2 * a)}, 1e-12);
    }
    assert_exponential((double[]){0, 0, 0, 0}, 2, (double[]){1, 0, 0, 1}, 0);
    assert_ok(tt_matrix_exponential(NULL, 0, NULL));
}

static void what_is_not_finite_is_refused(void **state)
{
    (void)state;
    double out[1];
    assert_fails(tt_matrix_exponential((double[]){NAN}, 1, out), TUTTI_ERR_SOLVER, "not finite");
    assert_fails(tt_matrix_exponential((double[]){1e5}, 1, out), TUTTI_ERR_SOLVER, "not finite");
    assert_ok(tt_matrix_exponential((double[]){-1e5}, 1, out));
    assert_near(out[0], 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(closed_forms), cmocka_unit_test(what_is_not_finite_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
