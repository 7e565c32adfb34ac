/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <float.h>
#include <stdlib.h>

#include "solve/allocations.h"
#include "solve/jacobian.h"

/* x_i' = x_{i-1} x_i - 2 x_i^2 + sin(x_{i+1}) + t: a chain, whose Jacobian has three diagonals. */
enum { N = 20 };

struct chain {
    struct tt_ode ode;
    struct tt_pattern pattern;
    double nominals[N];
    double lowest[N], highest[N]; /* f is undefined outside these bounds */
    unsigned long rhs, directional, jacobians;
    unsigned long fail_at; /* the number of the call that fails for good; 0: none */
};

static enum tt_eval call(struct chain *chain, const double *x)
{
    if (chain->rhs + chain->directional + chain->jacobians == chain->fail_at) {
        chain->ode.err = tt_fail(TUTTI_ERR_FMU, "broken");
        return TUTTI_EVAL_FAILED;
    }
    for (size_t i = 0; i < N; i++)
        if (x[i] < chain->lowest[i] || x[i] > chain->highest[i])
            return TUTTI_EVAL_NO_VALUE;
    return TUTTI_EVAL_OK;
}

static enum tt_eval rhs(void *context, double t, const double *x, double *dx)
{
    struct chain *chain = context;
    chain->rhs++;
    enum tt_eval eval = call(chain, x);
    for (size_t i = 0; i < N && eval == TUTTI_EVAL_OK; i++)
        dx[i] = (i > 0 ? x[i - 1] * x[i] : 0) - 2 * x[i] * x[i] + (i + 1 < N ? sin(x[i + 1]) : 0) + t;
    return eval;
}

/* df_row / dx_column; the true one. */
static double derivative(const double *x, size_t row, size_t column)
{
    if (row == column)
        return (row > 0 ? x[row - 1] : 0) - 4 * x[row];
    if (column + 1 == row)
        return x[row];
    return row + 1 == column ? cos(x[column]) : 0;
}

static enum tt_eval directional(void *context, double t, const double *x, const double *seed, double *out)
{
    (void)t;
    struct chain *chain = context;
    chain->directional++;
    for (size_t row = 0; row < N; row++) {
        out[row] = 0;
        for (size_t column = 0; column < N; column++)
            out[row] += derivative(x, row, column) * seed[column];
    }
    return call(chain, x);
}

static enum tt_eval jacobian_of_chain(void *context, double t, const double *x, double *values)
{
    (void)t;
    struct chain *chain = context;
    chain->jacobians++;
    for (size_t c = 0; c < N; c++)
        for (int32_t k = chain->pattern.starts[c]; k < chain->pattern.starts[c + 1]; k++)
            values[k] = derivative(x, (size_t)chain->pattern.rows[k], c);
    return call(chain, x);
}

static void chain_init(struct chain *chain)
{
    struct tt_pattern_place places[3 * N];
    size_t count = 0;
    for (int32_t c = 0; c < N; c++)
        for (int32_t row = c - 1; row <= c + 1; row++)
            if (row >= 0 && row < N)
                places[count++] = (struct tt_pattern_place){row, c};
    *chain = (struct chain){.ode = {.count = N, .context = chain, .rhs = rhs, .rtol = 1e-6, .atol = 1e-6}};
    assert_ok(tt_pattern_init(&chain->pattern, N, N, places, count));
    chain->ode.pattern = &chain->pattern;
    chain->ode.nominals = chain->nominals;
    for (size_t i = 0; i < N; i++) {
        chain->nominals[i] = 1;
        chain->lowest[i] = -INFINITY;
        chain->highest[i] = INFINITY;
    }
}

static void set_point(double *x)
{
    for (size_t i = 0; i < N; i++)
        x[i] = i % 5 == 3 ? 0 : cos((double)i) * (i % 2 ? 1 : 5);
}

static double value_of(const struct tt_jacobian *jacobian, size_t row, size_t column)
{
    const struct tt_pattern *pattern = tt_jacobian_pattern(jacobian);
    assert_int_equal(pattern != NULL, jacobian->sparse);
    if (!pattern)
        return jacobian->values[column * N + row];
    for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++)
        if ((size_t)pattern->rows[k] == row)
            return jacobian->values[k];
    return 0;
}

static void check_values(const struct tt_jacobian *jacobian, const double *x, double tolerance)
{
    for (size_t row = 0; row < N; row++)
        for (size_t column = 0; column < N; column++) {
            double expected = derivative(x, row, column);
            assert_near(value_of(jacobian, row, column), expected, tolerance * (1 + fabs(expected)));
        }
}

/* Evaluates twice, at a step and without one, and checks all counts against `calls` of the one way used. */
static void check_mode(struct chain *chain, enum tt_jacobian_mode mode, bool sparse, unsigned long calls,
                       double tolerance)
{
    double x[N], dx[N];
    const double steps[] = {1e-3, 0};
    set_point(x);
    assert_int_equal(rhs(chain, 2, x, dx), TUTTI_EVAL_OK);
    struct tt_jacobian jacobian;
    assert_ok(tt_jacobian_init(&jacobian, &chain->ode, mode));
    assert_int_equal(jacobian.sparse, sparse);
    for (size_t i = 0; i < 2; i++) {
        struct tt_solver_counts counts = {0};
        chain->rhs = chain->directional = chain->jacobians = 0;
        allocations = 0;
        assert_int_equal(tt_jacobian_update(&jacobian, 2, x, dx, steps[i], &counts), TUTTI_EVAL_OK);
        assert_int_equal(allocations, 0);
        check_values(&jacobian, x, tolerance);
        assert_int_equal(counts.jacobians, 1);
        assert_int_equal(counts.directional, chain->directional);
        assert_int_equal(counts.rhs, chain->rhs);
        assert_int_equal(chain->rhs + chain->directional + chain->jacobians, calls);
        assert_int_equal(chain->ode.directional && !chain->jacobians, chain->directional > 0);
    }
    tt_jacobian_fini(&jacobian);
    tt_jacobian_fini(&jacobian);
}

static void test_directional(void **state)
{
    (void)state;
    struct chain chain;
    chain_init(&chain);
    chain.ode.directional = directional;
    check_mode(&chain, TUTTI_JACOBIAN_AUTO, true, 3, 1e-15);
    check_mode(&chain, TUTTI_JACOBIAN_SPARSE, true, 3, 1e-15);
    check_mode(&chain, TUTTI_JACOBIAN_DENSE, false, 3, 1e-15);
    check_mode(&chain, TUTTI_JACOBIAN_PLAIN, false, N, 1e-15);
    chain.ode.pattern = NULL;
    check_mode(&chain, TUTTI_JACOBIAN_AUTO, false, N, 1e-15);
    check_mode(&chain, TUTTI_JACOBIAN_SPARSE, true, N, 1e-15);
    check_mode(&chain, TUTTI_JACOBIAN_PLAIN, false, N, 1e-15);
    tt_pattern_fini(&chain.pattern);
}

static void test_differences(void **state)
{
    (void)state;
    struct chain chain;
    chain_init(&chain);
    check_mode(&chain, TUTTI_JACOBIAN_AUTO, true, 3, 1e-5);
    check_mode(&chain, TUTTI_JACOBIAN_SPARSE, true, 3, 1e-5);
    check_mode(&chain, TUTTI_JACOBIAN_DENSE, false, 3, 1e-5);
    check_mode(&chain, TUTTI_JACOBIAN_PLAIN, false, N, 1e-5);
    chain.ode.pattern = NULL;
    check_mode(&chain, TUTTI_JACOBIAN_AUTO, false, N, 1e-5);
    check_mode(&chain, TUTTI_JACOBIAN_SPARSE, true, N, 1e-5);
    tt_pattern_fini(&chain.pattern);
}

static void test_own_jacobian(void **state)
{
    (void)state;
    struct chain chain;
    chain_init(&chain);
    chain.ode.jacobian = jacobian_of_chain;
    check_mode(&chain, TUTTI_JACOBIAN_AUTO, true, 1, 0);
    check_mode(&chain, TUTTI_JACOBIAN_DENSE, false, 1, 0);
    check_mode(&chain, TUTTI_JACOBIAN_PLAIN, false, 1, 0);
    chain.ode.directional = directional;
    check_mode(&chain, TUTTI_JACOBIAN_SPARSE, true, 1, 0);
    tt_pattern_fini(&chain.pattern);
}

/* Dense values are all there, whatever was in the memory. */
static void test_into_own_memory(void **state)
{
    (void)state;
    struct chain chain;
    chain_init(&chain);
    chain.ode.directional = directional;
    double x[N], dx[N], values[N * N];
    set_point(x);
    assert_int_equal(rhs(&chain, 0, x, dx), TUTTI_EVAL_OK);
    for (int own = 0; own < 2; own++) {
        chain.ode.jacobian = own ? jacobian_of_chain : NULL;
        struct tt_jacobian jacobian;
        assert_ok(tt_jacobian_init(&jacobian, &chain.ode, TUTTI_JACOBIAN_DENSE));
        struct tt_solver_counts counts = {0};
        memset(values, 0xff, sizeof values);
        assert_int_equal(tt_jacobian_evaluate(&jacobian, 0, x, dx, 0.1, values, &counts), TUTTI_EVAL_OK);
        memcpy(jacobian.values, values, sizeof values);
        check_values(&jacobian, x, 1e-15);
        tt_jacobian_fini(&jacobian);
    }
    tt_pattern_fini(&chain.pattern);
}

/* f' is known to some digits however small the step is, or the state. */
static void test_increments(void **state)
{
    (void)state;
    struct chain chain;
    chain_init(&chain);
    double x[N] = {0}, dx[N];
    const double steps[] = {0, 1e-300, 1e-15, -1e-6, 1, 1e3};
    struct tt_jacobian jacobian;
    assert_ok(tt_jacobian_init(&jacobian, &chain.ode, TUTTI_JACOBIAN_AUTO));
    struct tt_solver_counts counts = {0};
    for (int i = 0; i < 8; i++) { /* f is 0, then 1; also without relative tolerance, and with tight ones */
        double t = i % 2;
        chain.ode.rtol = i & 2 ? 0 : i & 4 ? 1e-9 : 1e-6;
        chain.ode.atol = i & 4 ? 1e-10 : 1e-6;
        assert_int_equal(rhs(&chain, t, x, dx), TUTTI_EVAL_OK);
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            assert_int_equal(tt_jacobian_update(&jacobian, t, x, dx, steps[k], &counts), TUTTI_EVAL_OK);
            check_values(&jacobian, x, 1e-5);
        }
    }
    tt_jacobian_fini(&jacobian);
    tt_pattern_fini(&chain.pattern);
}

static enum tt_eval update(struct chain *chain, enum tt_jacobian_mode mode, double tolerance)
{
    double x[N], dx[N];
    set_point(x);
    unsigned long fail_at = chain->fail_at;
    chain->fail_at = 0;
    assert_int_equal(rhs(chain, 0, x, dx), TUTTI_EVAL_OK);
    chain->fail_at = fail_at;
    chain->rhs = chain->directional = chain->jacobians = 0;
    struct tt_jacobian jacobian;
    assert_ok(tt_jacobian_init(&jacobian, &chain->ode, mode));
    struct tt_solver_counts counts = {0};
    enum tt_eval eval = tt_jacobian_update(&jacobian, 0, x, dx, 1e-3, &counts);
    assert_int_equal(counts.rhs, chain->rhs);
    if (eval == TUTTI_EVAL_OK)
        check_values(&jacobian, x, tolerance);
    else { /* a failure leaves no trace */
        double lowest = chain->lowest[4], highest = chain->highest[4];
        chain->lowest[4] = -INFINITY;
        chain->highest[4] = INFINITY;
        chain->fail_at = 0;
        assert_int_equal(tt_jacobian_update(&jacobian, 0, x, dx, 1e-3, &counts), TUTTI_EVAL_OK);
        check_values(&jacobian, x, tolerance);
        chain->lowest[4] = lowest;
        chain->highest[4] = highest;
        chain->fail_at = fail_at;
    }
    tt_jacobian_fini(&jacobian);
    return eval;
}

static void test_one_side_without_value(void **state)
{
    (void)state;
    struct chain chain;
    chain_init(&chain);
    double x[N];
    set_point(x);
    chain.highest[4] = x[4];
    assert_int_equal(update(&chain, TUTTI_JACOBIAN_PLAIN, 1e-5), TUTTI_EVAL_OK);
    assert_int_equal(chain.rhs, N + 1);
    assert_int_equal(update(&chain, TUTTI_JACOBIAN_AUTO, 1e-5), TUTTI_EVAL_OK);
    assert_int_equal(chain.rhs, 3 + 1);
    chain.lowest[7] = x[7]; /* of the same colour as 4: they cannot go the same way */
    assert_int_equal(update(&chain, TUTTI_JACOBIAN_AUTO, 1e-5), TUTTI_EVAL_OK);
    assert_true(chain.rhs > 3 + 3 && chain.rhs < N);
    chain.lowest[4] = x[4]; /* no way */
    assert_int_equal(update(&chain, TUTTI_JACOBIAN_AUTO, 1e-5), TUTTI_EVAL_NO_VALUE);
    assert_int_equal(update(&chain, TUTTI_JACOBIAN_PLAIN, 1e-5), TUTTI_EVAL_NO_VALUE);
    tt_pattern_fini(&chain.pattern);
}

static void test_failure(void **state)
{
    (void)state;
    struct chain chain;
    chain_init(&chain);
    for (int way = 0; way < 3; way++) {
        chain.ode.directional = way == 1 ? directional : NULL;
        chain.ode.jacobian = way == 2 ? jacobian_of_chain : NULL;
        chain.fail_at = way == 2 ? 1 : 2;
        chain.ode.err = TUTTI_OK;
        for (int mode = TUTTI_JACOBIAN_SPARSE; mode <= TUTTI_JACOBIAN_DENSE; mode++)
            assert_int_equal(update(&chain, (enum tt_jacobian_mode)mode, 1e-5), TUTTI_EVAL_FAILED);
        assert_int_equal(chain.ode.err, TUTTI_ERR_FMU);
    }
    tt_pattern_fini(&chain.pattern);
}

static void test_no_value_of_problem(void **state)
{
    (void)state;
    struct chain chain;
    chain_init(&chain);
    double x[N], dx[N] = {0};
    set_point(x);
    chain.highest[0] = x[0] - 1;
    for (int way = 0; way < 2; way++) {
        chain.ode.directional = way ? NULL : directional;
        chain.ode.jacobian = way ? jacobian_of_chain : NULL;
        struct tt_jacobian jacobian;
        assert_ok(tt_jacobian_init(&jacobian, &chain.ode, TUTTI_JACOBIAN_AUTO));
        struct tt_solver_counts counts = {0};
        assert_int_equal(tt_jacobian_update(&jacobian, 0, x, dx, 1, &counts), TUTTI_EVAL_NO_VALUE);
        tt_jacobian_fini(&jacobian);
    }
    tt_pattern_fini(&chain.pattern);
}

static void test_refused(void **state)
{
    (void)state;
    struct chain chain;
    chain_init(&chain);
    struct tt_jacobian jacobian;
    struct tt_ode ode = chain.ode;
    ode.count = N - 1;
    assert_fails(tt_jacobian_init(&jacobian, &ode, TUTTI_JACOBIAN_AUTO), TUTTI_ERR_ARGUMENT, "20 rows");
    tt_jacobian_fini(&jacobian); /* harmless */
    ode.pattern = NULL;
    ode.jacobian = jacobian_of_chain;
    assert_fails(tt_jacobian_init(&jacobian, &ode, TUTTI_JACOBIAN_AUTO), TUTTI_ERR_ARGUMENT, "pattern");
    ode.jacobian = NULL;
    ode.count = 40000;
    assert_fails(tt_jacobian_init(&jacobian, &ode, TUTTI_JACOBIAN_DENSE), TUTTI_ERR_LIMIT, "jacobian sparse");
    ode.count = 50000;
    assert_fails(tt_jacobian_init(&jacobian, &ode, TUTTI_JACOBIAN_SPARSE), TUTTI_ERR_LIMIT, "50000 rows");
    ode.count = (size_t)INT32_MAX + 1;
    assert_fails(tt_jacobian_init(&jacobian, &ode, TUTTI_JACOBIAN_AUTO), TUTTI_ERR_LIMIT, "states");
    tt_pattern_fini(&chain.pattern);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct chain chain;
    chain_init(&chain);
    chain.ode.jacobian = jacobian_of_chain;
    struct tt_jacobian jacobian;
    enum tutti_err err;
    assert_survives_each(err, err = tt_jacobian_init(&jacobian, &chain.ode, TUTTI_JACOBIAN_DENSE));
    tt_jacobian_fini(&jacobian);
    chain.ode.jacobian = NULL;
    chain.ode.pattern = NULL;
    assert_survives_each(err, err = tt_jacobian_init(&jacobian, &chain.ode, TUTTI_JACOBIAN_SPARSE));
    tt_jacobian_fini(&jacobian);
    tt_pattern_fini(&chain.pattern);
    const struct tt_pattern_place places[] = {{1, 0}, {0, 1}};
    assert_survives_each(err, err = tt_pattern_init(&chain.pattern, 2, 2, places, 2));
    tt_pattern_fini(&chain.pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directional),  cmocka_unit_test(test_differences),
        cmocka_unit_test(test_own_jacobian), cmocka_unit_test(test_into_own_memory),
        cmocka_unit_test(test_increments),   cmocka_unit_test(test_one_side_without_value),
        cmocka_unit_test(test_failure),      cmocka_unit_test(test_no_value_of_problem),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
