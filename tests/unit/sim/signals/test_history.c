/* SPDX-License-Identifier: MIT */
#include "sim/signals/signal_history.h"

#include "test.h"

enum { SIGNALS = 3 };

static struct tt_signal_history history;

static int setup(void **state)
{
    (void)state;
    assert_ok(tt_signal_history_init(&history, SIGNALS));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tt_signal_history_fini(&history);
    return 0;
}

/* Signal i at t: a polynomial of this degree, another one for each signal; with its derivatives. */
static void polynomial(unsigned degree, double t, size_t i, double *p)
{
    static const double factors[SIGNALS][TUTTI_HISTORY_POINTS] = {
        {1, -2, 0.5, 3}, {-7, 0.25, -1, 0.125}, {0, 1, 4, -2}};
    p[0] = p[1] = p[2] = 0;
    for (unsigned k = degree + 1; k-- > 0;) {
        p[2] = p[2] * t + 2 * p[1];
        p[1] = p[1] * t + p[0];
        p[0] = p[0] * t + factors[i][k];
    }
}

static void push(unsigned degree, double t)
{
    double values[SIGNALS];
    for (size_t i = 0; i < SIGNALS; i++) {
        double p[3];
        polynomial(degree, t, i, p);
        values[i] = p[0];
    }
    tt_signal_history_push(&history, t, values);
}

static void expect(unsigned degree, double t)
{
    double value[SIGNALS], first[SIGNALS], second[SIGNALS], alone[SIGNALS];
    tt_signal_history_evaluate(&history, degree, t, value, first, second);
    for (size_t i = 0; i < SIGNALS; i++) {
        double p[3];
        polynomial(degree, t, i, p);
        assert_near(value[i], p[0], 1e-10);
        assert_near(first[i], p[1], 1e-10);
        assert_near(second[i], p[2], 1e-9);
    }
    tt_signal_history_evaluate(&history, degree, t, alone, NULL, NULL);
    assert_memory_equal(alone, value, sizeof value);
    tt_signal_history_evaluate(&history, degree, t, NULL, alone, NULL);
    assert_memory_equal(alone, first, sizeof first);
    tt_signal_history_evaluate(&history, degree, t, NULL, NULL, alone);
    assert_memory_equal(alone, second, sizeof second);
}

/* A polynomial through degree + 1 points, however far they are apart, is that polynomial: before, between and after
 * them. */
static void polynomials_are_met(void **state)
{
    (void)state;
    static const double times[] = {0.5, 0.5625, 1.25, 1.375, 2.5, 2.75, 2.76, 4};
    for (unsigned degree = 0; degree <= TUTTI_HISTORY_DEGREE; degree++) {
        tt_signal_history_restart(&history);
        for (size_t n = 0; n < sizeof times / sizeof *times; n++) {
            push(degree, times[n]);
            if (history.points <= degree)
                continue;
            expect(degree, times[n]);
            expect(degree, times[n] + 1);
            expect(degree, times[n] - 0.3);
        }
        assert_int_equal(history.points, TUTTI_HISTORY_POINTS);
    }
}

/* Of a lower degree than the signals: through the newest points only. */
static void lower_degrees_take_the_newest(void **state)
{
    (void)state;
    double value[SIGNALS], first[SIGNALS], second[SIGNALS], a[3], b[3];
    for (int n = 0; n < 6; n++)
        push(3, n * 0.5);
    tt_signal_history_evaluate(&history, 0, 9, value, first, second);
    for (size_t i = 0; i < SIGNALS; i++) {
        polynomial(3, 2.5, i, b);
        assert_same_double(value[i], b[0]);
        assert_true(first[i] == 0 && second[i] == 0);
    }
    tt_signal_history_evaluate(&history, 1, 3, value, first, second);
    for (size_t i = 0; i < SIGNALS; i++) {
        polynomial(3, 2, i, a);
        polynomial(3, 2.5, i, b);
        assert_near(value[i], 2 * b[0] - a[0], 1e-12);
        assert_near(first[i], 2 * (b[0] - a[0]), 1e-12);
        assert_true(second[i] == 0);
    }
}

static void a_point_for_the_same_time_takes_its_place(void **state)
{
    (void)state;
    double value[SIGNALS], slope[SIGNALS];
    tt_signal_history_push(&history, 0, (double[]){1, 1, 1});
    tt_signal_history_push(&history, 1, (double[]){5, 5, 5});
    tt_signal_history_push(&history, 1, (double[]){2, 3, 4});
    assert_int_equal(history.points, 2);
    tt_signal_history_evaluate(&history, 1, 2, value, slope, NULL);
    assert_memory_equal(value, ((double[]){3, 5, 7}), sizeof value);
    assert_memory_equal(slope, ((double[]){1, 2, 3}), sizeof slope);
}

/* A step that is taken back leaves everything as it was, to the bit: also the oldest point, which the push had put out
 * of sight. */
static void pop_brings_back_the_oldest(void **state)
{
    (void)state;
    double before[3][SIGNALS], after[3][SIGNALS];
    for (unsigned known = 1; known < 8; known++) {
        unsigned points = known < TUTTI_HISTORY_POINTS ? known : TUTTI_HISTORY_POINTS;
        push(3, known * known * 0.1);
        assert_int_equal(history.points, points);
        tt_signal_history_evaluate(&history, points - 1, 7, before[0], before[1], before[2]);
        for (int attempt = 0; attempt < 3; attempt++) {
            tt_signal_history_push(&history, known * known * 0.1 + 0.15 / (attempt + 1), (double[]){9, attempt, -9});
            tt_signal_history_pop(&history);
            assert_int_equal(history.points, points);
            tt_signal_history_evaluate(&history, points - 1, 7, after[0], after[1], after[2]);
            assert_memory_equal(after, before, sizeof before);
        }
    }
}

static void nothing_is_known_after_a_restart(void **state)
{
    (void)state;
    double value[SIGNALS];
    for (int n = 0; n < 6; n++)
        push(3, n);
    tt_signal_history_restart(&history);
    assert_int_equal(history.points, 0);
    tt_signal_history_push(&history, 5, (double[]){4, 5, 6}); /* at the time of the last one from before */
    assert_int_equal(history.points, 1);
    tt_signal_history_evaluate(&history, 0, 7, value, NULL, NULL);
    assert_memory_equal(value, ((double[]){4, 5, 6}), sizeof value);
    /* Taken back, nothing from before the restart comes up. */
    tt_signal_history_push(&history, 6, (double[]){0, 0, 0});
    tt_signal_history_pop(&history);
    assert_int_equal(history.points, 1);
    tt_signal_history_pop(&history);
    assert_int_equal(history.points, 0);
}

static void no_signals(void **state)
{
    (void)state;
    struct tt_signal_history empty;
    double none;
    assert_ok(tt_signal_history_init(&empty, 0));
    tt_signal_history_push(&empty, 0, &none);
    tt_signal_history_push(&empty, 1, &none);
    tt_signal_history_evaluate(&empty, 1, 2, &none, NULL, NULL);
    assert_int_equal(empty.points, 2);
    tt_signal_history_fini(&empty);
    tt_signal_history_fini(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(polynomials_are_met, setup, teardown),
        cmocka_unit_test_setup_teardown(lower_degrees_take_the_newest, setup, teardown),
        cmocka_unit_test_setup_teardown(a_point_for_the_same_time_takes_its_place, setup, teardown),
        cmocka_unit_test_setup_teardown(pop_brings_back_the_oldest, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_known_after_a_restart, setup, teardown),
        cmocka_unit_test(no_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
