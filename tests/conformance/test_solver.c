/* SPDX-License-Identifier: MIT */
/* What solver.h promises of every solver, whatever its method is. */
#include "solver.h"

#include <fcntl.h>
#include <float.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/number.h"

/* Errors that are fine: of a solver with tolerance 1e-6, and of one with steps of 0.01. */
static double fine(void)
{
    return the_kind()->fixed ? the_kind()->order > 2 ? 1e-7 : the_kind()->order == 2 ? 1e-3 : 0.1 : 5e-5;
}

/* x' = input - x */
static enum tt_eval lag_rhs(void *context, double t, const double *x, double *dx)
{
    struct problem *problem = context;
    enum tt_eval eval = watch(problem, t, x);
    dx[0] = eval ? NAN : problem->input - x[0];
    return eval;
}

static void test_it_says_what_it_is(void **state)
{
    (void)state;
    const struct tt_solver_kind *kind = the_kind();
    assert_string_equal(kind->name, KIND);
    assert_true(strlen(kind->title) > 10);
    assert_in_range(kind->order, 1, 13);
    assert_true(kind->size >= sizeof(struct tt_solver));
    assert_true(!kind->saved_size == !kind->save && !kind->save == !kind->restore);
}

/* Whatever the limits are, each is hit to the bit, and f is not asked for anything after it. */
static void test_limits(void **state)
{
    (void)state;
    struct problem problem;
    smooth_init(&problem, 1e-6);
    problem_start(&problem);
    struct tt_solver *solver = problem.solver;
    double limit = 0;
    for (int i = 0; i < 200; i++) {
        static const double ways[] = {0.01, 1.0 / 3, 1e-3, 0.1, 1e-9, 0.07, 1e-14, 0.02, 1e-5};
        limit += ways[i % 9];
        while (solver->t < limit) {
            step(&problem, limit);
            assert_true(problem.latest <= limit);
        }
        assert_same_double(solver->t, limit);
    }
    assert_near(error_now(&problem), 0, 2 * fine() + 1e-12);
    problem_stop(&problem);
}

/* A few bits away: from the beginning, where the method knows nothing yet, and later. */
static void test_close_limits(void **state)
{
    (void)state;
    static const double begins[] = {0, 1, 1e6};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        struct problem problem;
        smooth_init(&problem, 1e-6);
        problem.begin = begins[i];
        smooth_exact(&problem, problem.begin, problem.x);
        problem_start(&problem);
        struct tt_solver *solver = problem.solver;
        for (int bits = 1; bits < 200; bits += 1 + bits / 3) {
            double limit = solver->t + bits * DBL_EPSILON * fmax(1, begins[i]);
            while (solver->t < limit)
                step(&problem, limit);
            assert_same_double(solver->t, limit);
            assert_true(problem.latest <= limit);
            if (bits % 2)
                assert_ok(tt_solver_resume(solver, solver->t, problem.x));
        }
        run_to(&problem, begins[i] + 0.5);
        assert_near(error_now(&problem), 0, fine());
        problem_stop(&problem);
    }
}

/* Steps never exceed the given maximum; for fixed steps, it is the only size. */
static void test_longest_step(void **state)
{
    (void)state;
    struct problem problem;
    smooth_init(&problem, 1e-3);
    if (!the_kind()->fixed)
        problem.options.h_max = 0.01;
    problem_start(&problem);
    struct tt_solver *solver = problem.solver;
    while (solver->t < 2) {
        step(&problem, 2);
        assert_true(solver->t - solver->before <= 0.01 * (1 + 1e-12));
        assert_true(!the_kind()->fixed || solver->t - solver->before >= 0.01 * (1 - 1e-12));
    }
    problem_stop(&problem);
}

/* The dense output ends where the step does, to the bit, and begins where it began. */
static void test_ends_of_dense_output(void **state)
{
    (void)state;
    struct problem problem;
    smooth_init(&problem, 1e-6);
    problem_start(&problem);
    struct tt_solver *solver = problem.solver;
    double before[2], x[2];
    while (solver->t < 2) {
        memcpy(before, problem.x, sizeof before);
        step(&problem, 2);
        assert_ok(solver->kind->interpolate(solver, solver->t, x));
        assert_memory_equal(x, problem.x, sizeof x);
        assert_ok(solver->kind->interpolate(solver, solver->before, x));
        for (int i = 0; i < 2; i++)
            assert_near(x[i], before[i], 1e-5);
        double close = solver->t - 1e-9 * (solver->t - solver->before); /* no jump */
        assert_ok(solver->kind->interpolate(solver, close, x));
        for (int i = 0; i < 2; i++)
            assert_near(x[i], problem.x[i], 1e-6);
        assert_ok(solver->kind->interpolate(solver, solver->t, x)); /* whatever was asked before */
        assert_memory_equal(x, problem.x, sizeof x);
    }
    problem_stop(&problem);
}

/* Looking into a step does not change what follows. */
static void test_looking_changes_nothing(void **state)
{
    (void)state;
    double ends[2][2];
    for (int look = 0; look < 2; look++) {
        struct problem problem;
        smooth_init(&problem, 1e-6);
        problem_start(&problem);
        struct tt_solver *solver = problem.solver;
        while (solver->t < 2) {
            double x[2];
            step(&problem, 2);
            for (int i = 0; i < 5 && look; i++)
                assert_ok(solver->kind->interpolate(solver, solver->before + i * (solver->t - solver->before) / 5, x));
        }
        memcpy(ends[look], problem.x, sizeof ends[look]);
        problem_stop(&problem);
    }
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
}

static void test_restart(void **state)
{
    (void)state;
    struct problem problem;
    smooth_init(&problem, 1e-6);
    problem_start(&problem);
    struct tt_solver *solver = problem.solver;
    static const double begins[] = {0.25, 5, 0, 0};
    for (int i = 0; i < 4; i++) {
        run_to(&problem, solver->t + 1);
        assert_near(error_now(&problem), 0, fine());
        /* elsewhere, and in other units */
        problem.nominals[0] = i % 2 ? 1 : 1e3;
        smooth_exact(&problem, begins[i], problem.x);
        assert_ok(tt_solver_restart(solver, begins[i], problem.x));
        assert_same_double(solver->t, begins[i]);
        assert_same_double(solver->before, begins[i]);
        double x[2]; /* at once */
        assert_ok(solver->kind->interpolate(solver, solver->t, x));
        assert_memory_equal(x, problem.x, sizeof x);
        assert_int_equal(solver->counts.restarts, i + 1);
    }
    run_to(&problem, 2);
    assert_near(error_now(&problem), 0, fine());
    problem_stop(&problem);
}

/* Inputs that jump at communication points, under every predictor that the method has. */
static void test_resume_at_the_end(void **state)
{
    (void)state;
    for (int predictor = 0; predictor < TUTTI_PREDICTOR_COUNT; predictor++) {
        struct problem problem;
        double exact = 0;
        problem_init(&problem, 1, 1e-6, lag_rhs);
        problem.options.predictor = (enum tt_predictor)predictor;
        enum tutti_err err = tt_solver_new(&problem.solver, the_kind(), &problem.ode, &problem.options);
        if (err) { /* refused, in words */
            assert_int_equal(err, TUTTI_ERR_ARGUMENT);
            assert_non_null(strstr(tutti_err_message(), "bdf"));
            assert_true(predictor >= TUTTI_PREDICTOR_CORRECT_1 || !the_kind()->multistep);
            continue;
        }
        struct tt_solver *solver = problem.solver;
        assert_ok(tt_solver_restart(solver, 0, problem.x));
        for (int i = 0; i < 40; i++) {
            double end = (i + 1) * 0.25;
            problem.input = i % 4 == 3 ? -1 : i % 3;
            if (i)
                assert_ok(tt_solver_resume(solver, solver->t, problem.x));
            exact = problem.input + (exact - problem.input) * exp(-0.25);
            run_to(&problem, end);
            /* a method that ignores the change is inaccurate */
            if (!(fabs(problem.x[0] - exact) <= (predictor == TUTTI_PREDICTOR_PROCEED ? 1e-3 : fine())))
                fail_msg("predictor %d, t = %g: %g, not %g", predictor, end, problem.x[0], exact);
        }
        problem_stop(&problem);
    }
}

/* An event inside a step: the states are those of the dense output there. */
static void test_resume_inside(void **state)
{
    (void)state;
    for (int predictor = 0; predictor < TUTTI_PREDICTOR_COUNT; predictor++) {
        struct problem problem;
        problem_init(&problem, 1, 1e-6, lag_rhs);
        problem.options.predictor = (enum tt_predictor)predictor;
        if (tt_solver_new(&problem.solver, the_kind(), &problem.ode, &problem.options))
            continue;
        struct tt_solver *solver = problem.solver;
        problem.input = 1;
        assert_ok(tt_solver_restart(solver, 0, problem.x));
        while (solver->t < 0.5)
            step(&problem, 10);
        double t = 0.5 * (solver->before + solver->t), x = 0;
        assert_ok(solver->kind->interpolate(solver, t, &x));
        assert_near(x, 1 - exp(-t), fine());
        problem.input = -2;
        assert_ok(tt_solver_resume(solver, t, &x));
        assert_same_double(solver->t, t);
        double again = 0;
        assert_ok(solver->kind->interpolate(solver, t, &again));
        assert_near(again, x, 1e-12);
        problem.x[0] = again;
        run_to(&problem, 2);
        assert_near(problem.x[0], -2 + (1 - exp(-t) + 2) * exp(t - 2), fine());
        problem_stop(&problem);
    }
}

/* Repeated announcements of a changed right-hand side at one point have no further effect. */
static void test_resume_again(void **state)
{
    (void)state;
    enum { STEPS = 10 };
    double seen[STEPS][2];
    for (int times = 1; times <= 3; times++) {
        struct problem problem;
        problem_init(&problem, 1, 1e-6, lag_rhs);
        problem.input = 1;
        problem_start(&problem);
        struct tt_solver *solver = problem.solver;
        run_to(&problem, 3);
        problem.input = 1.5;
        for (int k = 0; k < times; k++)
            assert_ok(tt_solver_resume(solver, solver->t, problem.x));
        for (int i = 0; i < STEPS; i++) {
            step(&problem, 20);
            if (times == 1) {
                seen[i][0] = solver->t;
                seen[i][1] = problem.x[0];
            }
            assert_same_double(solver->t, seen[i][0]);
            assert_same_double(problem.x[0], seen[i][1]);
        }
        problem_stop(&problem);
    }
}

/* x' = 1e5 (input - x) */
static enum tt_eval fast_rhs(void *context, double t, const double *x, double *dx)
{
    struct problem *problem = context;
    enum tt_eval eval = watch(problem, t, x);
    dx[0] = eval ? NAN : 1e5 * (problem->input - x[0]);
    return eval;
}

/* A jump that a long step passes over: who looks into the step sees nothing far off. */
static void test_inside_behind_a_jump(void **state)
{
    (void)state;
    if (!the_kind()->stiff)
        skip(); /* it would have to resolve the transient */
    struct problem problem;
    problem_init(&problem, 1, 1e-3, fast_rhs);
    problem_start(&problem);
    struct tt_solver *solver = problem.solver;
    for (int i = 1; i < 40; i++) {
        while (solver->t < 2 * i) {
            step(&problem, 2 * i);
            for (int k = 0; k <= 10; k++) {
                double x = 0;
                assert_ok(
                    solver->kind->interpolate(solver, solver->before + k * (solver->t - solver->before) / 10, &x));
                assert_true(x > -6 && x < 6);
            }
        }
        problem.input = i % 3 - 1;
        assert_ok(tt_solver_resume(solver, solver->t, problem.x));
    }
    problem_stop(&problem);
}

static void test_save_and_restore(void **state)
{
    (void)state;
    if (!the_kind()->saved_size)
        skip(); /* its memory cannot be had: units restart it */
    enum { STEPS = 20 };
    struct problem problem;
    smooth_init(&problem, 1e-6);
    problem_start(&problem);
    struct tt_solver *solver = problem.solver;
    run_to(&problem, 0.5);
    size_t size = solver->kind->saved_size(solver);
    void *memory = malloc(size);
    assert_non_null(memory);
    solver->kind->save(solver, memory);
    double t = solver->t, before = solver->before, x[STEPS][2], times[STEPS], inside[2], saved[2];
    memcpy(saved, problem.x, sizeof saved);
    assert_ok(solver->kind->interpolate(solver, (before + t) / 2, inside));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < STEPS; i++) {
            step(&problem, 10);
            if (round == 0) {
                memcpy(x[i], problem.x, sizeof x[i]);
                times[i] = solver->t;
            }
            assert_same_double(solver->t, times[i]);
            assert_memory_equal(problem.x, x[i], sizeof x[i]);
        }
        if (round == 1) /* not only along the same way */
            assert_ok(tt_solver_restart(solver, 3, saved));
        solver->kind->restore(solver, memory);
        assert_same_double(solver->t, t);
        assert_same_double(solver->before, before);
        double again[2];
        assert_ok(solver->kind->interpolate(solver, (before + t) / 2, again));
        assert_memory_equal(again, inside, sizeof inside);
        assert_ok(solver->kind->interpolate(solver, t, again));
        assert_memory_equal(again, saved, sizeof saved);
    }
    free(memory);
    problem_stop(&problem);
}

/* Steps until one fails; `calls` is a bound of the evaluations that this takes. */
static enum tutti_err run_until_it_fails(struct problem *problem, double limit, unsigned long calls)
{
    struct tt_solver *solver = problem->solver;
    for (;;) {
        double t = solver->t;
        assert_true(t < limit);
        enum tutti_err err = solver->kind->step(solver, limit, problem->x);
        if (err) {
            assert_same_double(solver->t, t);
            return err;
        }
        assert_true(problem->calls < calls);
    }
}

/* No value farther than 0.05 ahead: steps get shorter. Those of a fixed size do not, and say so. */
static void test_no_value_ahead(void **state)
{
    (void)state;
    struct problem problem;
    smooth_init(&problem, 1e-3);
    problem.options.h_fixed = 0.1;
    problem.reach = 0.05;
    problem_start(&problem);
    if (the_kind()->fixed && (the_kind()->order > 1 || the_kind()->stiff)) { /* who looks ahead */
        assert_fails(run_until_it_fails(&problem, 3, 100), TUTTI_ERR_SOLVER, "no value");
        problem_stop(&problem);
        return;
    }
    run_to(&problem, 3);
    if (!the_kind()->fixed) {
        assert_true(problem.solver->counts.other_failures > 0);
        assert_near(error_now(&problem), 0, 0.05);
    }
    assert_int_equal(problem.solver->counts.rhs, problem.calls);
    problem_stop(&problem);
}

/* x' = -2 sqrt(x), x = (1 - t)^2, up to where it ends. */
static enum tt_eval outflow_rhs(void *context, double t, const double *x, double *dx)
{
    enum tt_eval eval = watch(context, t, x);
    dx[0] = -2 * sqrt(x[0]);
    return eval;
}

static void test_no_value_beside(void **state)
{
    (void)state;
    struct problem problem;
    problem_init(&problem, 1, 1e-2, outflow_rhs);
    problem.lowest = 0;
    problem.x[0] = 1;
    problem_start(&problem);
    run_to(&problem, 0.9);
    assert_near(problem.x[0], 0.01, 0.05);
    problem_stop(&problem);
}

/* Runs `body` and returns how many bytes it wrote to standard error and standard output. */
static off_t bytes_printed(void (*body)(struct problem *problem), struct problem *problem)
{
    char name[] = "/tmp/tutti_solver_XXXXXX";
    int file = mkstemp(name), streams[2];
    assert_true(file >= 0);
    unlink(name);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        streams[i] = dup(i + 1);
        dup2(file, i + 1);
    }
    body(problem);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(streams[i], i + 1);
        close(streams[i]);
    }
    off_t size = lseek(file, 0, SEEK_END);
    close(file);
    return size;
}

static enum tutti_err outcome;

static void run_into_the_wall(struct problem *problem)
{
    outcome = run_until_it_fails(problem, 2, 20000);
}

/* No value at all from some time on: an error with solver, time and state. Libraries that print it are kept from that. */
static void test_no_value_any_more(void **state)
{
    (void)state;
    static const double walls[] = {0.5, 0, -1};
    for (int i = 0; i < 3; i++) {
        struct problem problem;
        problem_init(&problem, 1, 1e-6, lag_rhs);
        problem.input = 1;
        problem.wall = walls[i];
        problem_start(&problem);
        assert_int_equal(bytes_printed(run_into_the_wall, &problem), 0);
        struct tt_solver *solver = problem.solver;
        assert_int_equal(outcome, TUTTI_ERR_SOLVER);
        const char *message = tutti_err_message();
        printf("%s\n", message);
        assert_non_null(strstr(message, conformance_join("solver ", KIND)));
        assert_non_null(strstr(message, "no value"));
        char time[64];
        snprintf(time, sizeof time, "t = %s:", NUMBER(solver->t));
        assert_non_null(strstr(message, time));
        assert_non_null(strstr(message, "tank.level"));
        assert_true(solver->t <= fmax(0, walls[i]) + (the_kind()->fixed ? 0.02 : 0));
        assert_true(solver->t >= walls[i] - 0.02);
        /* It can restart. */
        problem.wall = INFINITY;
        problem.x[0] = 0;
        assert_ok(tt_solver_restart(solver, 1, problem.x));
        run_to(&problem, 2);
        assert_near(problem.x[0], 1 - exp(-1), fine());
        problem_stop(&problem);
    }
}

static enum tt_eval pole_rhs(void *context, double t, const double *x, double *dx)
{
    enum tt_eval eval = watch(context, t, x);
    dx[0] = x[0] * x[0];
    return eval ? eval : isfinite(dx[0]) ? TUTTI_EVAL_OK : TUTTI_EVAL_NO_VALUE;
}

/* x' = x^2 goes to infinity at t = 1: no solver gets past it, and the state is named. */
static void test_pole(void **state)
{
    (void)state;
    struct problem problem;
    problem_init(&problem, 1, 1e-6, pole_rhs);
    problem.x[0] = 1;
    problem_start(&problem);
    assert_int_equal(run_until_it_fails(&problem, 2, 200000), TUTTI_ERR_SOLVER);
    assert_non_null(strstr(tutti_err_message(), conformance_join("solver ", KIND)));
    assert_non_null(strstr(tutti_err_message(), "tank.level"));
    /* A step of a fixed size h = 0.01 may jump over the pole, and then takes some more to overflow; the implicit one has no solution from
     * x = 1 / (4 h) on. */
    assert_near(problem.solver->t, 1, the_kind()->fixed ? 0.2 : 1e-3);
    problem_stop(&problem);
}

static enum tt_eval huge_rhs(void *context, double t, const double *x, double *dx)
{
    struct problem *problem = context;
    enum tt_eval eval = watch(context, t, x);
    assert_true(isfinite(t) && isfinite(x[0])); /* nothing else is shown to a problem */
    assert_true(problem->calls < 1000000);
    dx[0] = problem->input;
    return eval;
}

/* Derivatives near overflow: no solver loops forever, or returns a state that is not finite. */
static void test_overflow(void **state)
{
    (void)state;
    static const double slopes[] = {1e308, -1e308, 1.7e308, 1e200};
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
        struct problem problem;
        problem_init(&problem, 1, 1e-6, huge_rhs);
        problem.input = slopes[i];
        problem_start(&problem);
        enum tutti_err err = TUTTI_OK;
        double middle;
        for (int steps = 0; steps < 10000 && !err && problem.solver->t < 3; steps++) {
            err = tt_solver_step(problem.solver, 3, problem.x);
            assert_true(err || isfinite(problem.x[0]));
            if (!err)
                err = tt_solver_interpolate(problem.solver, (problem.solver->before + problem.solver->t) / 2, &middle);
            assert_true(err || isfinite(middle));
        }
        assert_true(err == TUTTI_ERR_SOLVER || slopes[i] == 1e200);
        problem_stop(&problem);
    }
}

/* Far from 0, where times are 1e-7 apart. (tests/system/test_me.py has a first step that is shorter than that.) */
static void test_late_start(void **state)
{
    (void)state;
    struct problem problem;
    problem_init(&problem, 1, 1e-8, lag_rhs);
    problem.input = 2;
    problem_start(&problem);
    problem.x[0] = 0;
    assert_ok(tt_solver_restart(problem.solver, 1e9, problem.x));
    double x[1] = {0};
    while (problem.solver->t < 1e9 + 1)
        assert_ok(the_kind()->step(problem.solver, 1e9 + 1, x));
    assert_near(x[0] / 2, 1 - exp(-1), the_kind()->fixed ? 0.1 : 1e-4);
    problem_stop(&problem);
}

/* The problem's own failure reaches the caller at once. */
static void test_failure(void **state)
{
    (void)state;
    static const double walls[] = {0.5, -1};
    for (int i = 0; i < 2; i++) {
        struct problem problem;
        problem_init(&problem, 1, 1e-6, lag_rhs);
        problem.input = 1;
        problem.wall = walls[i];
        problem.behind = TUTTI_EVAL_FAILED;
        problem_start(&problem);
        assert_int_equal(bytes_printed(run_into_the_wall, &problem), 0);
        assert_int_equal(outcome, TUTTI_ERR_FMU);
        assert_string_equal(tutti_err_message(), "the pump has burst");
        problem_stop(&problem);
    }
}

/* States that are 0 and stay so, with next to no tolerance. */
static enum tt_eval still_rhs(void *context, double t, const double *x, double *dx)
{
    enum tt_eval eval = watch(context, t, x);
    dx[0] = 0;
    dx[1] = 0;
    dx[2] = -x[2];
    return eval;
}

static void test_zero_states(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        struct problem problem;
        problem_init(&problem, 3, 1e-6, still_rhs);
        problem.ode.atol = 1e-14;
        problem.x[2] = all ? 0 : 1;
        problem_start(&problem);
        run_to(&problem, 3);
        assert_same_double(problem.x[0], 0);
        assert_same_double(problem.x[1], 0);
        assert_near(problem.x[2], all ? 0 : exp(-3), fine());
        assert_true(the_kind()->fixed || problem.solver->counts.steps < 1000);
        problem_stop(&problem);
    }
}

static void test_options_that_make_no_sense(void **state)
{
    (void)state;
    const struct tt_solver_kind *kind = the_kind();
    struct problem problem;
    struct tt_solver *solver = NULL;
    smooth_init(&problem, 1e-6);
    struct tt_solver_options options = problem.options;
    if (kind->fixed) {
        static const double sizes[] = {0, -1, INFINITY, NAN};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            options.h_fixed = sizes[i];
            assert_fails(tt_solver_new(&solver, kind, &problem.ode, &options), TUTTI_ERR_ARGUMENT, "fixed size");
            assert_null(solver);
        }
        options = problem.options;
    } else {
        static const double tolerances[][2] = {{1e-6, 0}, {-1, 1}, {1, -1}, {NAN, 1}, {1, NAN}, {INFINITY, 1}};
        for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; i++) {
            problem.ode.rtol = tolerances[i][0];
            problem.ode.atol = tolerances[i][1];
            assert_fails(tt_solver_new(&solver, kind, &problem.ode, &options), TUTTI_ERR_ARGUMENT, "tolerance");
            assert_null(solver);
        }
        problem.ode.rtol = problem.ode.atol = 1e-6;
    }
    for (int i = 0; i < 2; i++) {
        options.h_max = i ? NAN : -1;
        assert_fails(tt_solver_new(&solver, kind, &problem.ode, &options), TUTTI_ERR_ARGUMENT, "h-max");
        assert_null(solver);
    }
    options.h_max = 0;
    if (!kind->stiff) {
        options.jacobian = TUTTI_JACOBIAN_DENSE;
        assert_fails(tt_solver_new(&solver, kind, &problem.ode, &options), TUTTI_ERR_ARGUMENT, "jacobian");
        assert_null(solver);
        options.jacobian = TUTTI_JACOBIAN_AUTO;
    }
    if (!kind->multistep) {
        options.predictor = TUTTI_PREDICTOR_RESTART;
        assert_fails(tt_solver_new(&solver, kind, &problem.ode, &options), TUTTI_ERR_ARGUMENT, "predictor");
        assert_null(solver);
    }
}

static void test_counts(void **state)
{
    (void)state;
    struct problem problem;
    unsigned long steps = 0;
    smooth_init(&problem, 1e-6);
    problem_start(&problem);
    struct tt_solver *solver = problem.solver;
    const struct tt_solver_counts *counts = &solver->counts;
    for (int i = 1; i <= 4; i++) {
        while (solver->t < i) {
            double x[2];
            step(&problem, i);
            steps++;
            assert_ok(solver->kind->interpolate(solver, (solver->before + solver->t) / 2, x));
            assert_int_equal(counts->steps, steps);
            assert_int_equal(counts->rhs, problem.calls);
        }
        assert_ok(tt_solver_resume(solver, solver->t, problem.x));
    }
    assert_true(counts->rhs >= counts->steps);
    assert_int_equal(counts->directional, 0);
    /* this problem is not stiff, which the solver detects */
    bool implicit = the_kind()->stiff && strcmp(KIND, "switch") != 0;
    bool iterates = implicit && strcmp(KIND, "rodas") != 0; /* whose equations are linear */
    assert_true(implicit ? counts->jacobians > 0 : counts->jacobians == 0);
    assert_true(implicit ? counts->factorisations > 0 : counts->factorisations == 0);
    assert_true(iterates ? counts->iterations >= counts->steps : counts->iterations == 0);
    assert_true(!the_kind()->fixed || counts->error_failures + counts->other_failures == 0);
    problem_stop(&problem);
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 1, "SOLVER");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_says_what_it_is),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_close_limits),
        cmocka_unit_test(test_longest_step),
        cmocka_unit_test(test_ends_of_dense_output),
        cmocka_unit_test(test_looking_changes_nothing),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_resume_at_the_end),
        cmocka_unit_test(test_resume_inside),
        cmocka_unit_test(test_resume_again),
        cmocka_unit_test(test_inside_behind_a_jump),
        cmocka_unit_test(test_save_and_restore),
        cmocka_unit_test(test_no_value_ahead),
        cmocka_unit_test(test_no_value_beside),
        cmocka_unit_test(test_no_value_any_more),
        cmocka_unit_test(test_pole),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_late_start),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_zero_states),
        cmocka_unit_test(test_options_that_make_no_sense),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
