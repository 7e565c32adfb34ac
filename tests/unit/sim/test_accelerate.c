/* SPDX-License-Identifier: MIT */
#include "sim/coupling/accelerator.h"

#include "solve/random.h"
#include "test.h"

enum { MOST = 40 };

/* G(z) = A z + b, with its fixed point. */
struct linear {
    int n;
    double a[MOST][MOST], b[MOST], solution[MOST];
};

static struct linear linear;
static struct tt_accelerator accelerator;
static double guess[MOST], image[MOST], weights[MOST];

static int teardown(void **state)
{
    (void)state;
    tt_accelerator_fini(&accelerator);
    return 0;
}

/* A matrix of random numbers times `size`, and a solution. */
static void make(int n, double size)
{
    linear.n = n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            linear.a[i][j] = size * random_double();
        linear.solution[i] = 10 * random_double();
        weights[i] = 1;
    }
    for (int i = 0; i < n; i++) {
        linear.b[i] = linear.solution[i];
        for (int j = 0; j < n; j++)
            linear.b[i] -= linear.a[i][j] * linear.solution[j];
    }
}

static void begin(enum tt_acceleration kind)
{
    tt_accelerator_fini(&accelerator);
    assert_ok(tt_accelerator_init(&accelerator, kind, (size_t)linear.n));
    tt_accelerator_restart(&accelerator);
    memset(guess, 0, sizeof guess);
}

static double error(void)
{
    double most = 0;
    for (int i = 0; i < linear.n; i++)
        most = fmax(most, fabs(guess[i] - linear.solution[i]));
    return most;
}

/* The error after `iterations` calls of G. */
static double after(int iterations)
{
    for (int k = 0; k < iterations; k++) {
        for (int i = 0; i < linear.n; i++) {
            image[i] = linear.b[i];
            for (int j = 0; j < linear.n; j++)
                image[i] += linear.a[i][j] * guess[j];
        }
        tt_accelerator_next(&accelerator, guess, image, weights);
    }
    return error();
}

static void none_takes_what_comes(void **state)
{
    (void)state;
    make(3, 0.3);
    begin(TUTTI_ACCELERATE_NONE);
    after(1);
    assert_memory_equal(guess, linear.b, 3 * sizeof *guess);
    after(1);
    assert_memory_equal(guess, image, 3 * sizeof *guess);
}

/* z = c z + b: two evaluations determine the solution, even where the plain iteration diverges (|c| >= 1). */
static void aitken_is_exact_for_one_unknown(void **state)
{
    (void)state;
    for (int i = -64; i <= 4; i++) {
        double c = i / 8.0;
        make(1, 1);
        linear.a[0][0] = c;
        linear.b[0] = (1 - c) * linear.solution[0];
        begin(TUTTI_ACCELERATE_AITKEN);
        assert_near(after(2), 0, 1e-12);
    }
}

/* A factor of 1 / (1 - 0.9) = 10 would trust two evaluations too far: 2 is the most, and still faster than none. */
static void aitken_does_not_leap(void **state)
{
    (void)state;
    make(1, 1);
    linear.a[0][0] = 0.9;
    linear.b[0] = 0.1 * linear.solution[0];
    begin(TUTTI_ACCELERATE_AITKEN);
    after(1);
    double before = guess[0], residual = linear.b[0] - 0.1 * before;
    after(1);
    assert_near(guess[0], before + 2 * residual, 1e-14);
    double fast = after(18);
    begin(TUTTI_ACCELERATE_NONE);
    assert_true(fast < after(20));
}

/* By Walker and Ni (2011), theorem 2.2: after as many steps as there are unknowns the residual can be made zero, as by
 * GMRES, and the step after that lands there. */
static void anderson_solves_small_linear_systems(void **state)
{
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        make(1 + trial % TUTTI_ANDERSON_DEPTH, 0.9);
        begin(TUTTI_ACCELERATE_ANDERSON);
        assert_near(after(linear.n + 1), 0, 1e-7);
    }
}

/* Of more unknowns than it remembers: not at once, but where the plain iteration diverges. */
static void anderson_tames_a_divergent_iteration(void **state)
{
    (void)state;
    for (int trial = 0; trial < 100; trial++) {
        make(6, 0);
        for (int i = 0; i < 6; i++) {
            linear.a[i][i] = i < 2 ? -1.5 - i : 0.05 * random_double();
            linear.b[i] = (1 - linear.a[i][i]) * linear.solution[i];
        }
        begin(TUTTI_ACCELERATE_NONE);
        assert_true(after(40) > 1e3);
        begin(TUTTI_ACCELERATE_ANDERSON);
        assert_near(after(40), 0, 1e-6);
        assert_near(after(60), 0, 1e-6); /* and what rounding leaves does not start it again */
    }
}

/* Heat in a rod, cut into many pieces: a contraction, but a slow one. */
static void anderson_speeds_up_a_slow_one(void **state)
{
    (void)state;
    make(MOST, 0);
    for (int i = 0; i < MOST; i++) {
        if (i > 0)
            linear.a[i][i - 1] = 0.45;
        if (i + 1 < MOST)
            linear.a[i][i + 1] = 0.45;
    }
    for (int i = 0; i < MOST; i++) {
        linear.b[i] = linear.solution[i];
        for (int j = 0; j < MOST; j++)
            linear.b[i] -= linear.a[i][j] * linear.solution[j];
    }
    begin(TUTTI_ACCELERATE_NONE);
    double plain = after(30);
    begin(TUTTI_ACCELERATE_ANDERSON);
    assert_true(after(30) < plain / 10);
}

/* Once there, nothing is left to learn from: differences are zero, or rounding. The guess stays, and stays finite. */
static void the_fixed_point_is_kept(void **state)
{
    (void)state;
    for (int kind = TUTTI_ACCELERATE_NONE; kind <= TUTTI_ACCELERATE_ANDERSON; kind++)
        for (int trial = 0; trial < 50; trial++) {
            make(1 + trial % 5, 0.2);
            begin((enum tt_acceleration)kind);
            assert_near(after(60), 0, 1e-9);
            for (int k = 0; k < 20; k++)
                assert_near(after(1), 0, 1e-9);
        }
}

/* Components that do not matter do not decide: with a weight of next to nothing one that jumps about keeps no other
 * from the solution. */
static void weights_say_what_counts(void **state)
{
    (void)state;
    make(2, 0);
    linear.a[0][0] = -0.5;
    linear.b[0] = 1.5 * linear.solution[0];
    weights[1] = 1e-9;
    begin(TUTTI_ACCELERATE_ANDERSON);
    for (int k = 0; k < 3; k++) {
        image[0] = linear.a[0][0] * guess[0] + linear.b[0];
        image[1] = k % 2 ? -1000 : 1000;
        tt_accelerator_next(&accelerator, guess, image, weights);
    }
    assert_near(guess[0], linear.solution[0], 1e-9);
}

/* A restarted iteration keeps nothing of the previous step. */
static void a_restart_forgets(void **state)
{
    (void)state;
    for (int kind = TUTTI_ACCELERATE_AITKEN; kind <= TUTTI_ACCELERATE_ANDERSON; kind++) {
        double first[MOST];
        make(3, 0.9);
        begin((enum tt_acceleration)kind);
        after(3);
        memcpy(first, guess, sizeof first);
        after(2);
        tt_accelerator_restart(&accelerator);
        memset(guess, 0, sizeof guess);
        after(3);
        assert_memory_equal(guess, first, 3 * sizeof *guess);
    }
}

static void nothing_to_iterate(void **state)
{
    (void)state;
    for (int kind = TUTTI_ACCELERATE_NONE; kind <= TUTTI_ACCELERATE_ANDERSON; kind++) {
        linear.n = 0;
        begin((enum tt_acceleration)kind);
        assert_near(after(5), 0, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(none_takes_what_comes, teardown),
        cmocka_unit_test_teardown(aitken_is_exact_for_one_unknown, teardown),
        cmocka_unit_test_teardown(aitken_does_not_leap, teardown),
        cmocka_unit_test_teardown(anderson_solves_small_linear_systems, teardown),
        cmocka_unit_test_teardown(anderson_tames_a_divergent_iteration, teardown),
        cmocka_unit_test_teardown(anderson_speeds_up_a_slow_one, teardown),
        cmocka_unit_test_teardown(the_fixed_point_is_kept, teardown),
        cmocka_unit_test_teardown(weights_say_what_counts, teardown),
        cmocka_unit_test_teardown(a_restart_forgets, teardown),
        cmocka_unit_test_teardown(nothing_to_iterate, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
