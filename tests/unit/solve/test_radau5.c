/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <float.h>
#include <stdlib.h>

#include "solve/pattern.h"
#include "solve/radau5.h"
#include "solve/solver.h"

enum { N_MAX = 200 };

static const struct tt_solver_kind *const kind = &tt_solver_radau5;
static double ones[N_MAX];

static struct tt_solver *solver_of(struct tt_ode *ode, enum tt_jacobian_mode mode)
{
    struct tt_solver *solver;
    for (size_t i = 0; i < N_MAX; i++)
        ones[i] = 1;
    ode->nominals = ones;
    assert_ok(tt_solver_new(&solver, kind, ode, &(struct tt_solver_options){.jacobian = mode}));
    return solver;
}

static void run_to(struct tt_solver *solver, double end, double *x)
{
    while (solver->t < end)
        assert_ok(solver->kind->step(solver, end, x));
    assert_same_double(solver->t, end);
}

/* ---- the numbers of the method ---- */

static void multiply(const double a[3][3], const double b[3][3], double out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

static void test_method(void **state)
{
    (void)state;
    const struct tt_radau5_method *m = &tt_radau5_method;
    for (int i = 0; i < 3; i++) {
        double c = m->c[i];
        assert_near(((c - 1.8) * c + 0.9) * c - 0.1, 0, 1e-16);
        for (int k = 1; k <= 3; k++) { /* sum_j a_ij c_j^(k-1) = c_i^k / k */
            double sum = 0;
            for (int j = 0; j < 3; j++)
                sum += m->a[i][j] * pow(m->c[j], k - 1);
            assert_near(sum, pow(c, k) / k, 1e-16);
        }
    }
    for (int k = 1; k <= 5; k++) { /* the quadrature is of order 5, and not of order 6 */
        double sum = 0;
        for (int j = 0; j < 3; j++)
            sum += m->a[2][j] * pow(m->c[j], k - 1);
        assert_near(sum, 1.0 / k, 1e-16);
    }
    assert_near(m->gamma, 3 + cbrt(9) - cbrt(3), 1e-15);
    assert_near(m->alpha, 3 - (cbrt(9) - cbrt(3)) / 2, 1e-15);
    assert_near(m->beta, sqrt(3) * (cbrt(9) + cbrt(3)) / 2, 1e-15);

    const double blocks[3][3] = {{m->gamma, 0, 0}, {0, m->alpha, -m->beta}, {0, m->beta, m->alpha}};
    double product[3][3], other[3][3];
    multiply(m->t, m->t_inverse, product);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_near(product[i][j], i == j, 1e-15);
    multiply(m->t, blocks, other); /* A T blocks = T */
    multiply(m->a, other, product);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_near(product[i][j], m->t[i][j], 1e-15);

    /* The embedded formula is of order 3: the estimate, h f(x) + e_1 z_1 + e_2 z_2 + e_3 z_3 over gamma if J is 0,
     * vanishes for solutions s, s^2, s^3, with f(x) = 1, 0, 0 at s = 0. */
    for (int k = 1; k <= 3; k++) {
        double sum = k == 1;
        for (int j = 0; j < 3; j++)
            sum += m->e[j] * pow(m->c[j], k);
        assert_near(sum, 0, 1e-14);
    }
}

static void test_weights(void **state)
{
    (void)state;
    static const double points[] = {0, 0.3, 1, 2.5};
    for (size_t p = 0; p < 4; p++) {
        double weights[3], s = points[p];
        tt_radau5_weights(s, weights);
        for (int k = 1; k <= 3; k++) {
            double sum = 0;
            for (int i = 0; i < 3; i++)
                sum += weights[i] * pow(tt_radau5_method.c[i], k);
            assert_near(sum, pow(s, k), 1e-13);
        }
    }
}

/* ---- order ---- */

/* Prothero and Robinson: x' = lambda (x - phi) + phi', phi = sin(t + 1/4). With a large lambda it is stiff. */
static enum tt_eval prothero(void *context, double t, const double *x, double *dx)
{
    double lambda = *(const double *)context;
    dx[0] = lambda * (x[0] - sin(t + 0.25)) + cos(t + 0.25);
    return TUTTI_EVAL_OK;
}

static enum tt_eval prothero_directional(void *context, double t, const double *x, const double *seed, double *out)
{
    (void)t, (void)x;
    out[0] = *(const double *)context * seed[0];
    return TUTTI_EVAL_OK;
}

/* The largest errors of steps of 2 / count, for which the tolerance leaves room, from t = 0 on: the steps up to there
 * are shorter ones. Newton's method is exact, the problem being linear. */
static void prothero_errors(double lambda, int count, double *at_steps, double *between)
{
    struct tt_ode ode = {
        .count = 1, .context = &lambda, .rhs = prothero, .directional = prothero_directional, .rtol = 1, .atol = 1e6};
    struct tt_solver *solver = solver_of(&ode, TUTTI_JACOBIAN_AUTO);
    double x[1] = {sin(-1 + 0.25)}, inside[1];
    assert_ok(tt_solver_restart(solver, -1, x));
    run_to(solver, 0, x);
    double off = x[0] - sin(0.25); /* the solution through this point is phi + off exp(lambda t) */
    *at_steps = *between = 0;
    for (int step = 1; step <= count; step++) {
        assert_ok(kind->step(solver, step * 2.0 / count, x));
        assert_same_double(solver->t, step * 2.0 / count);
        *at_steps = fmax(*at_steps, fabs(x[0] - sin(solver->t + 0.25) - off * exp(lambda * solver->t)));
        for (int i = 1; i < 10; i++) {
            double t = solver->before + i / 10.0 * (solver->t - solver->before);
            assert_ok(kind->interpolate(solver, t, inside));
            *between = fmax(*between, fabs(inside[0] - sin(t + 0.25) - off * exp(lambda * t)));
        }
    }
    tt_solver_free(solver);
}

static void test_order(void **state)
{
    (void)state;
    double coarse, fine, coarse_between, fine_between;
    prothero_errors(-1, 10, &coarse, &coarse_between);
    prothero_errors(-1, 20, &fine, &fine_between);
    assert_near(log2(coarse / fine), 5, 0.2);
    assert_near(log2(coarse_between / fine_between), 4, 0.2); /* 3 and one: a polynomial of degree 3 */
}

/* IV.15, table 15.1: the global error is O(h^s / lambda), s = 3 (z^-1 h^(s+1), z = h lambda). */
static void test_stiff_order(void **state)
{
    (void)state;
    double coarse, fine, stiffer, between, stiffer_between;
    prothero_errors(-1e6, 10, &coarse, &between);
    prothero_errors(-1e6, 20, &fine, &between);
    prothero_errors(-1e8, 10, &stiffer, &stiffer_between);
    assert_near(log2(coarse / fine), 3, 0.3);
    assert_near(coarse / stiffer, 100, 10);
    assert_true(coarse < 1e-10);
    assert_true(stiffer_between < 1e-5); /* the collocation polynomial's own error */
}

/* A nonlinear problem, where the tolerance finds the steps: error over steps. x = (exp(sin t), cos t). */
static enum tt_eval smooth(void *context, double t, const double *x, double *dx)
{
    (void)context;
    dx[0] = x[1] * x[0] - 2 * x[0] * (x[0] - exp(sin(t)));
    dx[1] = -sin(t) - 2 * x[0] * (x[1] - cos(t));
    return TUTTI_EVAL_OK;
}

static double smooth_error(double tolerance, unsigned long *steps)
{
    struct tt_ode ode = {.count = 2, .rhs = smooth, .rtol = tolerance, .atol = tolerance};
    struct tt_solver *solver = solver_of(&ode, TUTTI_JACOBIAN_AUTO);
    double x[2] = {1, 1}, worst = 0;
    assert_ok(tt_solver_restart(solver, 0, x));
    while (solver->t < 10) {
        assert_ok(kind->step(solver, 10, x));
        worst = fmax(worst, fmax(fabs(x[0] - exp(sin(solver->t))), fabs(x[1] - cos(solver->t))));
    }
    *steps = solver->counts.steps;
    tt_solver_free(solver);
    return worst;
}

static void test_tolerance(void **state)
{
    (void)state;
    unsigned long few, many;
    double coarse = smooth_error(1e-5, &few), fine = smooth_error(1e-10, &many);
    assert_true(log(coarse / fine) / log((double)many / (double)few) > 4.5);
    assert_true(coarse < 50 * 1e-5);
    assert_true(fine < 50 * 1e-10);
    assert_true(many < 300);
}

/* ---- stiff problems ---- */

/* Andersson 2016 eq. 8.9 */
static enum tt_eval van_der_pol(void *context, double t, const double *x, double *dx)
{
    (void)context, (void)t;
    dx[0] = x[1];
    dx[1] = 2000 * ((1 - x[0] * x[0]) * x[1] - x[0]);
    return TUTTI_EVAL_OK;
}

static void test_van_der_pol(void **state)
{
    (void)state;
    struct tt_ode ode = {.count = 2, .rhs = van_der_pol, .rtol = 1e-4, .atol = 1e-4, .nominals = ones};
    struct tt_solver *solver;
    double reference[2], x[2] = {2, -0.6};
    ones[0] = ones[1] = 1;
    /* Another method, a million small steps: right to about 1e-10. */
    assert_ok(tt_solver_new(&solver, &tt_solver_rk4, &ode, &(struct tt_solver_options){.h_fixed = 2e-6}));
    assert_ok(tt_solver_restart(solver, 0, x));
    run_to(solver, 2, reference);
    tt_solver_free(solver);

    static const struct {
        double tolerance, error;
        unsigned long steps, jacobians;
    } cases[] = {{1e-4, 1e-4, 200, 150}, {1e-6, 1e-6, 400, 280}, {1e-8, 1e-7, 800, 400}};
    for (size_t i = 0; i < 3; i++) {
        ode.rtol = ode.atol = cases[i].tolerance;
        solver = solver_of(&ode, TUTTI_JACOBIAN_AUTO);
        assert_ok(tt_solver_restart(solver, 0, (double[]){2, -0.6}));
        run_to(solver, 2, x);
        assert_near(x[0], reference[0], cases[i].error);
        assert_near(x[1], reference[1], cases[i].error);
        assert_true(solver->counts.steps < cases[i].steps);
        assert_true(solver->counts.jacobians < cases[i].jacobians);
        assert_true(solver->counts.error_failures < solver->counts.steps / 10);
        tt_solver_free(solver);
    }
}

static enum tt_eval robertson(void *context, double t, const double *x, double *dx)
{
    (void)context, (void)t;
    dx[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
    dx[2] = 3e7 * x[1] * x[1];
    dx[1] = -dx[0] - dx[2];
    return TUTTI_EVAL_OK;
}

/* Reference: Mazzia, Magherini, Test Set for Initial Value Problem Solvers, problem ROBER. */
static void test_robertson(void **state)
{
    (void)state;
    struct tt_ode ode = {.count = 3, .rhs = robertson, .rtol = 1e-8, .atol = 1e-18};
    struct tt_solver *solver = solver_of(&ode, TUTTI_JACOBIAN_AUTO);
    double x[3] = {1, 0, 0};
    assert_ok(tt_solver_restart(solver, 0, x));
    run_to(solver, 1e11, x);
    assert_near(x[0] / 0.2083340149701255e-7, 1, 1e-6);
    assert_near(x[1] / 0.8333360770334713e-13, 1, 1e-6);
    assert_near(x[2], 0.9999999791665050, 1e-8);
    assert_true(solver->counts.steps < 700);
    tt_solver_free(solver);
}

/* ---- Jacobians ---- */

/* A chain: x_i' = 100 (x_(i-1) - 2 x_i + x_(i+1)) - x_i^3 + sin(t), zero at both ends. */
static enum tt_eval chain(void *context, double t, const double *x, double *dx)
{
    (void)context;
    for (size_t i = 0; i < N_MAX; i++) {
        double left = i ? x[i - 1] : 0, right = i + 1 < N_MAX ? x[i + 1] : 0;
        dx[i] = 100 * (left - 2 * x[i] + right) - x[i] * x[i] * x[i] + sin(t);
    }
    return TUTTI_EVAL_OK;
}

static void chain_pattern(struct tt_pattern *pattern)
{
    static struct tt_pattern_place places[3 * N_MAX];
    size_t count = 0;
    for (int32_t i = 0; i < N_MAX; i++)
        for (int32_t j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < N_MAX)
                places[count++] = (struct tt_pattern_place){i, j};
    assert_ok(tt_pattern_init(pattern, N_MAX, N_MAX, places, count));
}

static void test_sparse(void **state)
{
    (void)state;
    static const enum tt_jacobian_mode modes[] = {TUTTI_JACOBIAN_SPARSE, TUTTI_JACOBIAN_DENSE, TUTTI_JACOBIAN_PLAIN,
                                                  TUTTI_JACOBIAN_AUTO};
    struct tt_pattern pattern;
    chain_pattern(&pattern);
    static double x[4][N_MAX];
    struct tt_solver_counts counts[4];
    for (size_t m = 0; m < 4; m++) {
        struct tt_ode ode = {.count = N_MAX, .rhs = chain, .rtol = 1e-6, .atol = 1e-6, .pattern = &pattern};
        struct tt_solver *solver = solver_of(&ode, modes[m]);
        for (size_t i = 0; i < N_MAX; i++)
            x[m][i] = (double)(i % 2);
        assert_ok(tt_solver_restart(solver, 0, x[m]));
        run_to(solver, 5, x[m]);
        counts[m] = solver->counts;
        tt_solver_free(solver);
    }
    for (size_t m = 1; m < 4; m++) {
        assert_int_equal(counts[m].steps, counts[0].steps);
        assert_int_equal(counts[m].jacobians, counts[0].jacobians);
        for (size_t i = 0; i < N_MAX; i++)
            assert_near(x[m][i], x[0][i], 1e-10);
    }
    assert_int_equal(counts[1].rhs, counts[0].rhs);
    assert_int_equal(counts[2].rhs, counts[0].rhs + counts[0].jacobians * (N_MAX - 3)); /* three colours */
    tt_pattern_fini(&pattern);
}

static enum tt_eval linear(void *context, double t, const double *x, double *dx)
{
    (void)context;
    dx[0] = -1000 * x[0] + 999 * x[1] + sin(t);
    dx[1] = x[0] - 2 * x[1] + t;
    return TUTTI_EVAL_OK;
}

static enum tt_eval linear_directional(void *context, double t, const double *x, const double *seed, double *out)
{
    (void)context, (void)t, (void)x;
    out[0] = -1000 * seed[0] + 999 * seed[1];
    out[1] = seed[0] - 2 * seed[1];
    return TUTTI_EVAL_OK;
}

/* One iteration, but for those that look whether it is still so. */
static void test_linear(void **state)
{
    (void)state;
    struct tt_ode ode = {.count = 2, .rhs = linear, .directional = linear_directional, .rtol = 1e-8, .atol = 1e-8};
    struct tt_solver *solver = solver_of(&ode, TUTTI_JACOBIAN_AUTO);
    double x[2] = {1, 2};
    assert_ok(tt_solver_restart(solver, 0, x));
    run_to(solver, 20, x);
    const struct tt_solver_counts *counts = &solver->counts;
    assert_int_equal(counts->jacobians, 1);
    assert_int_equal(counts->directional, 2);
    assert_int_equal(counts->other_failures, 0);
    unsigned long solutions = counts->steps + counts->error_failures;
    assert_true(counts->iterations < solutions + solutions / 4);
    assert_true(counts->factorisations < 2 * counts->steps); /* real and complex ones */
    tt_solver_free(solver);
}

/* ---- as unit/me.c drives it ---- */

struct watched {
    double latest;    /* time that f was asked for */
    double wall;      /* f has no value for x[0] beyond it */
    double amplitude; /* of an input that jumps */
    bool fails;
};

static enum tt_eval watch(void *context, double t, const double *x, double *dx)
{
    struct watched *watched = context;
    watched->latest = fmax(watched->latest, t);
    if (watched->fails)
        return TUTTI_EVAL_FAILED;
    if (x[0] > watched->wall)
        return TUTTI_EVAL_NO_VALUE;
    dx[0] = -500 * (x[0] - x[1]) + watched->amplitude;
    dx[1] = cos(t) - 0.1 * x[1] * x[1] * x[0];
    return TUTTI_EVAL_OK;
}

static void test_limit(void **state)
{
    (void)state;
    struct watched watched = {.latest = -1, .wall = INFINITY};
    struct tt_ode ode = {.count = 2, .context = &watched, .rhs = watch, .rtol = 1e-6, .atol = 1e-6};
    struct tt_solver *solver = solver_of(&ode, TUTTI_JACOBIAN_AUTO);
    double x[2] = {1, 1}, free_run[2] = {1, 1}, again[2];
    assert_ok(tt_solver_restart(solver, 0, free_run));
    run_to(solver, 5, free_run);
    watched.latest = 0;
    assert_ok(tt_solver_restart(solver, 0, x));
    unsigned long steps = solver->counts.steps, factorisations = solver->counts.factorisations;
    for (int i = 1; i <= 500; i++) {
        double limit = i * 0.01;
        while (solver->t < limit) {
            double from = solver->t;
            assert_ok(kind->step(solver, limit, x));
            assert_same_double(solver->before, from);
            assert_true(solver->t > from && solver->t <= limit && watched.latest <= limit);
            assert_ok(kind->interpolate(solver, solver->t, again));
            assert_memory_equal(again, x, sizeof x);
        }
    }
    assert_near(x[0], free_run[0], 1e-5);
    assert_near(x[1], free_run[1], 1e-5);
    /* No tiny steps at the limits, no slow growth after them, no factorisation because of rounding. */
    assert_true(solver->counts.steps - steps < 600);
    assert_true(solver->counts.factorisations - factorisations < 300);
    /* The smallest step that there is. */
    double limit = nextafter(solver->t, INFINITY);
    assert_ok(kind->step(solver, limit, x));
    assert_same_double(solver->t, limit);
    run_to(solver, 6, x);
    assert_ok(tt_solver_restart(solver, solver->t, x));
    assert_ok(kind->step(solver, nextafter(solver->t, INFINITY), x));
    run_to(solver, 7, x);
    tt_solver_free(solver);
}

static void test_no_value(void **state)
{
    (void)state;
    struct watched watched = {.wall = 1.02};
    struct tt_ode ode = {.count = 2, .context = &watched, .rhs = watch, .rtol = 1e-2, .atol = 1e-2};
    struct tt_solver *solver = solver_of(&ode, TUTTI_JACOBIAN_AUTO);
    double x[2] = {1, 1};
    /* The solution leaves the domain of f. */
    assert_ok(tt_solver_restart(solver, 0, x));
    enum tutti_err err = TUTTI_OK;
    while (!err && solver->t < 1)
        err = kind->step(solver, 1, x);
    assert_int_equal(err, TUTTI_ERR_SOLVER);
    assert_non_null(strstr(tutti_err_message(), "the derivatives have no value"));
    assert_true(x[0] <= watched.wall && x[0] > watched.wall - 1e-6);
    assert_true(solver->counts.other_failures > 5);
    /* and has no value from the beginning on; or f fails for good. */
    assert_ok(tt_solver_restart(solver, 0, (double[]){2, 2}));
    assert_fails(kind->step(solver, 1, x), TUTTI_ERR_SOLVER, "no value");
    watched = (struct watched){.wall = INFINITY};
    assert_ok(tt_solver_restart(solver, 0, x));
    assert_ok(kind->step(solver, 1, x));
    watched.fails = true;
    ode.err = tt_fail(TUTTI_ERR_FMU, "broken");
    assert_fails(kind->step(solver, 1, x), TUTTI_ERR_FMU, "broken");
    tt_solver_free(solver);
}

/* x' = x^2 goes to infinity at t = 1. */
static enum tt_eval explosion(void *context, double t, const double *x, double *dx)
{
    (void)context, (void)t;
    dx[0] = -x[0];
    dx[1] = x[1] * x[1];
    return TUTTI_EVAL_OK;
}

static void test_gives_up(void **state)
{
    (void)state;
    struct tt_ode ode = {.count = 2, .rhs = explosion, .rtol = 1e-6, .atol = 1e-6};
    struct tt_solver *solver = solver_of(&ode, TUTTI_JACOBIAN_AUTO);
    double x[2] = {1, 1};
    assert_ok(tt_solver_restart(solver, 0, x));
    enum tutti_err err = TUTTI_OK;
    while (!err && solver->t < 2)
        err = kind->step(solver, 2, x);
    assert_int_equal(err, TUTTI_ERR_SOLVER);
    assert_non_null(strstr(tutti_err_message(), "x[1]"));
    assert_near(solver->t, 1, 1e-6);
    tt_solver_free(solver);
}

/* An input with ten small jumps: resuming is cheaper than restarting, and as accurate. */
static void test_resume(void **state)
{
    (void)state;
    double x[2][2];
    unsigned long rhs[2], restarts[2];
    for (int anew = 0; anew < 2; anew++) {
        struct watched watched = {.wall = INFINITY};
        struct tt_ode ode = {.count = 2, .context = &watched, .rhs = watch, .rtol = 1e-6, .atol = 1e-6};
        struct tt_solver *solver = solver_of(&ode, TUTTI_JACOBIAN_AUTO);
        assert_ok(tt_solver_restart(solver, 0, (double[]){1, 1}));
        for (int i = 1; i <= 10; i++) {
            while (solver->t < i * 0.4)
                assert_ok(kind->step(solver, i * 0.4 + 0.01, x[anew])); /* beyond, and back */
            watched.amplitude = 0.1 * (i % 3);
            double inside[2], there[2];
            assert_ok(kind->interpolate(solver, i * 0.4, inside));
            if (anew)
                assert_ok(tt_solver_restart(solver, i * 0.4, inside));
            else
                assert_ok(tt_solver_resume(solver, i * 0.4, inside));
            assert_same_double(solver->t, i * 0.4);
            assert_ok(kind->interpolate(solver, solver->t, there));
            assert_memory_equal(there, inside, sizeof inside);
        }
        run_to(solver, 5, x[anew]);
        rhs[anew] = solver->counts.rhs;
        restarts[anew] = solver->counts.restarts;
        tt_solver_free(solver);
    }
    assert_near(x[0][0], x[1][0], 1e-5);
    assert_near(x[0][1], x[1][1], 1e-5);
    assert_true(rhs[0] < rhs[1]);
    assert_int_equal(restarts[0], 0);
    assert_int_equal(restarts[1], 10);
}

/* Twenty steps, taken back and again, from every place of a run: to the bit, in its times, too. */
static void save_and_restore(struct tt_ode *ode, enum tt_jacobian_mode mode, double *x, double end)
{
    struct tt_solver *solver = solver_of(ode, mode);
    size_t n = ode->count, compared = 0;
    void *memory = malloc(kind->saved_size(solver));
    static double after[2][N_MAX], inside[2][N_MAX];
    double t[2];
    assert_ok(tt_solver_restart(solver, 0, x));
    while (solver->t < end) {
        kind->save(solver, memory);
        double from = solver->t, before = solver->before;
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 20; i++)
                assert_ok(kind->step(solver, solver->t + 0.3, after[round]));
            assert_ok(kind->interpolate(solver, 0.5 * (solver->before + solver->t), inside[round]));
            t[round] = solver->t;
            kind->restore(solver, memory);
            assert_same_double(solver->t, from);
            assert_same_double(solver->before, before);
        }
        assert_same_double(t[1], t[0]);
        assert_memory_equal(after[1], after[0], n * sizeof *x);
        assert_memory_equal(inside[1], inside[0], n * sizeof *x);
        compared++;
        assert_ok(kind->step(solver, end, x));
    }
    assert_true(compared > 15);
    free(memory);
    tt_solver_free(solver);
}

static void test_save_restore(void **state)
{
    (void)state;
    struct tt_ode ode = {.count = 2, .rhs = van_der_pol, .rtol = 1e-4, .atol = 1e-4};
    save_and_restore(&ode, TUTTI_JACOBIAN_AUTO, (double[]){2, -0.6}, 2);
    struct tt_pattern pattern;
    chain_pattern(&pattern);
    static double x[N_MAX];
    ode = (struct tt_ode){.count = N_MAX, .rhs = chain, .rtol = 1e-5, .atol = 1e-5, .pattern = &pattern};
    for (size_t i = 0; i < N_MAX; i++)
        x[i] = (double)(i % 7);
    save_and_restore(&ode, TUTTI_JACOBIAN_SPARSE, x, 5);
    tt_pattern_fini(&pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_method),      cmocka_unit_test(test_weights),      cmocka_unit_test(test_order),
        cmocka_unit_test(test_stiff_order), cmocka_unit_test(test_tolerance),    cmocka_unit_test(test_van_der_pol),
        cmocka_unit_test(test_robertson),   cmocka_unit_test(test_sparse),       cmocka_unit_test(test_linear),
        cmocka_unit_test(test_limit),       cmocka_unit_test(test_no_value),     cmocka_unit_test(test_gives_up),
        cmocka_unit_test(test_resume),      cmocka_unit_test(test_save_restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
