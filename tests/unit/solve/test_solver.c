/* SPDX-License-Identifier: MIT */
/* What all solvers have in common. */
#include "test.h"

#include "solve/solver.h"

static const double nominals[] = {1, 100};

/* x' = -x, which has a value up to `highest` only. */
struct decay {
    struct tt_ode ode;
    struct tt_solver solver;
    double lowest, highest;
    double latest; /* t of an evaluation */
    enum tt_eval otherwise;
};

static enum tt_eval rhs(void *context, double t, const double *x, double *dx)
{
    struct decay *decay = context;
    decay->latest = fmax(decay->latest, t);
    for (size_t i = 0; i < 2; i++) {
        if (x[i] < decay->lowest || x[i] > decay->highest)
            return decay->otherwise;
        dx[i] = -x[i];
    }
    return TUTTI_EVAL_OK;
}

static const char *long_name(void *context, size_t i)
{
    (void)context, (void)i;
    return "plant.cooling.secondary.circuit.heat_exchanger.tube_side.segments[17].volume.medium.specific_enthalpy."
           "averaged."
           "over_all_passages_of_the_bundle";
}

static const char *state_name(void *context, size_t i)
{
    (void)context;
    return i ? "tank.level" : "tank.mass";
}

static const struct tt_solver_kind kind = {.name = "mine"};

static void decay_init(struct decay *decay)
{
    *decay = (struct decay){
        .ode = {.count = 2, .context = decay, .rhs = rhs, .rtol = 0.01, .atol = 0.1, .nominals = nominals},
        .solver = {.kind = &kind, .name = "mine", .ode = &decay->ode, .t = 3},
        .lowest = -INFINITY,
        .highest = INFINITY,
        .otherwise = TUTTI_EVAL_NO_VALUE,
    };
}

static void test_find(void **state)
{
    (void)state;
    const struct tt_solver_kind *found = NULL;
    assert_fails(tt_solver_find("magic", &found), TUTTI_ERR_ARGUMENT, "solver takes cvode, ");
    assert_null(found);
    for (size_t i = 0; tt_solver_kinds[i]; i++) { /* all are named, and found by their name */
        assert_non_null(strstr(tutti_err_message(), tt_solver_kinds[i]->name));
        assert_ok(tt_solver_find(tt_solver_kinds[i]->name, &found));
        assert_ptr_equal(found, tt_solver_kinds[i]);
    }
}

static void test_norm(void **state)
{
    (void)state;
    struct decay decay;
    decay_init(&decay);
    const double x[] = {-90, 0}; /* may be wrong by 0.01 * 90 + 0.1 * 1 = 1, and by 0.1 * 100 = 10 */
    const double error[] = {3, -40};
    size_t worst = 7;
    assert_near(tt_solver_norm(&decay.solver, error, x, &worst), sqrt((9 + 16) / 2.0), 1e-14);
    assert_int_equal(worst, 1);
    assert_near(tt_solver_norm(&decay.solver, x, x, NULL), sqrt(8100 / 2.0), 1e-12);
    const double broken[] = {NAN, 1e300};
    assert_true(isnan(tt_solver_norm(&decay.solver, broken, x, NULL)));
}

static void test_first_step(void **state)
{
    (void)state;
    struct decay decay;
    decay_init(&decay);
    const double x[] = {50, 1}, dx[] = {-50, -1};
    double h = 0, scratch[4];
    assert_ok(tt_solver_first_step(&decay.solver, x, dx, 4, 1000, scratch, &h));
    assert_true(h > 1e-3 && h < 1); /* the time constant is 1 */
    assert_int_equal(decay.solver.counts.rhs, 1);
    double wide = h;
    assert_ok(tt_solver_first_step(&decay.solver, x, dx, 4, 3 + wide / 10, scratch, &h));
    assert_true(h <= wide / 10);
    decay.latest = 0;
    assert_ok(tt_solver_first_step(&decay.solver, x, dx, 4, 3 + 1e-9, scratch, &h));
    assert_true(h > 0 && h <= (3 + 1e-9) - 3);
    assert_true(decay.latest <= 3 + 1e-9); /* no look beyond the limit */
    double limit = 0x1.8p-53;              /* which -1 + (limit + 1) passes, by rounding */
    decay.latest = decay.solver.t = -1;
    const double slow[] = {1e-4, 1e-4};
    assert_ok(tt_solver_first_step(&decay.solver, x, slow, 4, limit, scratch, &h));
    assert_true(decay.latest <= limit && decay.latest > -0.5);
}

static void test_first_step_at_the_edge(void **state)
{
    (void)state;
    struct decay decay;
    decay_init(&decay);
    const double x[] = {50, 1}, dx[] = {-50, -1};
    double h = 0, scratch[4];
    decay.lowest = 1 - 1e-6; /* of the second state; closer than the first guess goes */
    assert_ok(tt_solver_first_step(&decay.solver, x, dx, 4, 1000, scratch, &h));
    assert_true(h > 0);
    assert_true(decay.solver.counts.rhs > 1);
    decay.highest = 0; /* no value anywhere near */
    assert_fails(tt_solver_first_step(&decay.solver, x, dx, 4, 1000, scratch, &h), TUTTI_ERR_SOLVER,
                 "solver mine cannot go on from t = 3: the derivatives have no value");
    decay.otherwise = TUTTI_EVAL_FAILED;
    decay.ode.err = tt_fail(TUTTI_ERR_FMU, "the tank broke");
    assert_fails(tt_solver_first_step(&decay.solver, x, dx, 4, 1000, scratch, &h), TUTTI_ERR_FMU, "the tank broke");
}

/* A kind that takes steps of 1e-6, in which the second state moves. */
static enum tutti_err crawl(struct tt_solver *solver, double limit, double *x)
{
    solver->before = solver->t;
    solver->t = fmin(solver->t + 1e-6, limit);
    x[1] += 1;
    return TUTTI_OK;
}

static enum tutti_err stand(struct tt_solver *solver, double t, double *x)
{
    (void)solver, (void)t;
    x[0] = x[1] = 0;
    return TUTTI_OK;
}

static enum tutti_err crawl_to(struct decay *decay, double limit)
{
    double x[] = {0, 0};
    enum tutti_err err = TUTTI_OK;
    tt_solver_begin_interval(&decay->solver, decay->solver.t);
    while (!err && decay->solver.t < limit)
        err = tt_solver_step(&decay->solver, limit, x);
    return err;
}

/* The first communication step may be long. A later one may not take a million steps if the others took one: it would have no end. */
static void test_no_end(void **state)
{
    (void)state;
    struct decay decay;
    const struct tt_solver_kind crawling = {.name = "mine", .step = crawl, .interpolate = stand};
    const struct tt_solver_kind fixed = {.name = "mine", .step = crawl, .interpolate = stand, .fixed = true};
    decay_init(&decay);
    decay.solver.kind = &crawling;
    assert_ok(crawl_to(&decay, 3.000001));
    assert_ok(crawl_to(&decay, 3.9));
    assert_ok(crawl_to(&decay, 8)); /* ten times what the last two took on average */
    decay_init(&decay);
    decay.solver.kind = &crawling;
    assert_ok(crawl_to(&decay, 6));
    decay_init(&decay);
    decay.solver.kind = &crawling;
    for (int k = 1; k <= 100; k++)
        assert_ok(crawl_to(&decay, 3 + k * 1e-6));
    assert_fails(crawl_to(&decay, 6), TUTTI_ERR_SOLVER,
                 "it has taken 1000001 steps since t = 3.0001, in one communication step (1 before, on average)");
    assert_non_null(strstr(tutti_err_message(), "the state in the way is x[1]"));
    decay_init(&decay);
    decay.solver.kind = &fixed; /* whose steps the user has chosen */
    for (int k = 1; k <= 100; k++)
        assert_ok(crawl_to(&decay, 3 + k * 1e-6));
    assert_ok(crawl_to(&decay, 6));
}

/* Far from 0 a solver counts time from the origin: to the bit what it finds near 0. */
static void test_origin(void **state)
{
    (void)state;
    assert_true(tt_ode_choose_origin(1e9, 1e9 + 20) == 1e9 && tt_ode_choose_origin(-30, -20) == -30);
    assert_true(tt_ode_choose_origin(0, 20) == 0 && tt_ode_choose_origin(1, 20) == 0);
    for (size_t i = 0; tt_solver_kinds[i]; i++) {
        double x[2][2] = {{90, 1}, {90, 1}};
        for (int far = 0; far < 2; far++) {
            struct decay decay;
            struct tt_solver *solver;
            decay_init(&decay);
            decay.ode.origin = far ? 1e9 : 0;
            decay.latest = -INFINITY;
            assert_ok(
                tt_solver_new(&solver, tt_solver_kinds[i], &decay.ode, &(struct tt_solver_options){.h_fixed = 0.01}));
            assert_ok(tt_solver_restart(solver, decay.ode.origin, x[far]));
            while (tt_solver_time(solver) < decay.ode.origin + 2)
                assert_ok(tt_solver_step(solver, decay.ode.origin + 2, x[far]));
            assert_true(tt_solver_time(solver) == decay.ode.origin + 2);
            assert_true(decay.latest > decay.ode.origin + 1.9);
            double end[2], middle[2];
            assert_ok(tt_solver_interpolate(solver, decay.ode.origin + 2, end));
            assert_ok(tt_solver_interpolate(solver, tt_solver_last_begin(solver), middle));
            assert_true(end[0] == x[far][0] && middle[0] >= end[0]);
            assert_ok(tt_solver_restart(solver, decay.ode.origin + 2, x[far]));
            tt_solver_free(solver);
        }
        assert_near(x[1][0], 90 * exp(-2), 2);
        if (strcmp(tt_solver_kinds[i]->name, "rodas") != 0) /* its derivative by time is a difference */
            assert_true(x[0][0] == x[1][0] && x[0][1] == x[1][1]);
    }
}

static void test_fail(void **state)
{
    (void)state;
    struct decay decay;
    decay_init(&decay);
    assert_fails(tt_solver_fail(&decay.solver, TUTTI_EVAL_OK, 0.5, 1, "it is late"), TUTTI_ERR_SOLVER,
                 "t = 3: it is late (last step size tried: 0.5); the state in the way is x[1]");
    decay.ode.state_name = state_name;
    assert_fails(tt_solver_fail(&decay.solver, TUTTI_EVAL_OK, 0.5, 1, "it is late"), TUTTI_ERR_SOLVER, "'tank.level'");
    decay.ode.state_name = long_name; /* in full */
    assert_fails(tt_solver_fail(&decay.solver, TUTTI_EVAL_OK, 0.5, 1, "it is late"), TUTTI_ERR_SOLVER,
                 "'plant.cooling.secondary");
    assert_non_null(strstr(tutti_err_message(), "passages_of_the_bundle'"));
    assert_fails(tt_solver_fail(&decay.solver, TUTTI_EVAL_OK, 0.5, SIZE_MAX, "it is late"), TUTTI_ERR_SOLVER, "0.5)");
    assert_null(strstr(tutti_err_message(), "tank"));
}

static void test_at_limit(void **state)
{
    (void)state;
    assert_true(tt_solver_at_limit(0, 1, 1));
    assert_true(tt_solver_at_limit(0, 2, 1));
    assert_true(tt_solver_at_limit(0.1, 0.2, 0.3));
    assert_true(tt_solver_at_limit(1e6, 0.1 - 1e-10, 1e6 + 0.1)); /* rounding of 1e6 */
    assert_false(tt_solver_at_limit(0, 0.1 - 1e-10, 0.1));
    assert_false(tt_solver_at_limit(0, 0.5, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),       cmocka_unit_test(test_norm),
        cmocka_unit_test(test_first_step), cmocka_unit_test(test_first_step_at_the_edge),
        cmocka_unit_test(test_no_end),     cmocka_unit_test(test_origin),
        cmocka_unit_test(test_fail),       cmocka_unit_test(test_at_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
