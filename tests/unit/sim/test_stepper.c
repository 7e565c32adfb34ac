/* SPDX-License-Identifier: MIT */
#include "sim/step_size.h"

#include "test.h"

static struct tt_step_size stepper;

static int setup(void **state)
{
    (void)state;
    tt_step_size_init(&stepper, 0.1, 1e-3, 1);
    return 0;
}

/* The error of a step that needs no change: SAFETY^q. */
static double aim(unsigned order)
{
    return pow(0.92, order + 1);
}

static void the_constants_are_those_of_the_header(void **state)
{
    (void)state;
    assert_same_double(TUTTI_STEPPER_SAFETY, 0.92);
    assert_same_double(TUTTI_STEPPER_SHRINK, 0.2);
    assert_same_double(TUTTI_STEPPER_GROW, 2.0);
    assert_same_double(stepper.h, 0.1);
    assert_same_double(stepper.first, 0.1);
}

/* h_next = h e^(-1/q) at first, then h e^(-0.7/q) e_before^(0.4/q), with q = order + 1 and e = error / 0.92^q. */
static void accepted_steps(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 4; order++) {
        double q = order + 1;
        tt_step_size_init(&stepper, 0.1, 1e-3, 1);
        tt_step_size_accept(&stepper, 0.1, 0.5 * aim(order), order);
        assert_near(stepper.h, 0.1 * pow(0.5, -1 / q), 1e-15);
        double h = stepper.h;
        tt_step_size_accept(&stepper, h, 0.8 * aim(order), order);
        assert_near(stepper.h, h * pow(0.8, -0.7 / q) * pow(0.5, 0.4 / q), 1e-15);
        h = stepper.h;
        tt_step_size_accept(&stepper, h, 1.05 * aim(order), order);
        assert_near(stepper.h, h * pow(1.05, -0.7 / q) * pow(0.8, 0.4 / q), 1e-15);
    }
}

static void rejected_steps(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 4; order++) {
        double q = order + 1;
        tt_step_size_init(&stepper, 0.1, 1e-3, 1);
        tt_step_size_reject(&stepper, 0.1, 3, order);
        assert_near(stepper.h, 0.1 * fmax(pow(3 / aim(order), -1 / q), 0.2), 1e-15);
        assert_true(stepper.h < 0.1);
    }
}

/* Whatever is said of the error, a rejected step gets shorter: by a little at least, by 5 at most. */
static void rejected_steps_get_shorter(void **state)
{
    (void)state;
    const double errors[] = {0, 0.5, 1, 1.0000001, 1e3, 1e300, INFINITY, NAN};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        tt_step_size_init(&stepper, 0.1, 1e-3, 1);
        tt_step_size_reject(&stepper, 0.1, errors[i], 1);
        assert_true(stepper.h >= 0.1 * 0.2 && stepper.h <= 0.1 * 0.92);
        if (!isfinite(errors[i]))
            assert_near(stepper.h, 0.1 * 0.2, 1e-16);
    }
}

static void the_factor_is_bounded(void **state)
{
    (void)state;
    tt_step_size_accept(&stepper, 0.1, 0, 1);
    assert_near(stepper.h, 0.2, 1e-15);
    tt_step_size_init(&stepper, 0.1, 1e-3, 1);
    tt_step_size_accept(&stepper, 0.1, 1e-30, 3);
    assert_near(stepper.h, 0.2, 1e-15);
    tt_step_size_init(&stepper, 0.1, 1e-3, 1);
    tt_step_size_accept(&stepper, 0.1, 1e6, 0); /* accepted all the same: it was the shortest one */
    assert_near(stepper.h, 0.02, 1e-15);
}

/* An error next to none, once, must not make the controller cautious or bold for long. */
static void a_tiny_error_is_not_held_against_the_next_step(void **state)
{
    (void)state;
    tt_step_size_accept(&stepper, 0.1, 1e-12, 1);
    double h = stepper.h;
    tt_step_size_accept(&stepper, h, aim(1), 1);
    assert_near(stepper.h, h * pow(0.1, 0.4 / 2), 1e-15);
}

static void the_step_behind_a_rejected_one_does_not_grow(void **state)
{
    (void)state;
    tt_step_size_reject(&stepper, 0.1, 2, 1);
    double h = stepper.h;
    tt_step_size_accept(&stepper, h, 1e-6, 1);
    assert_near(stepper.h, h, 1e-15);
    tt_step_size_accept(&stepper, h, 1e-6, 1);
    assert_near(stepper.h, 2 * h, 1e-15);
}

/* The end of a recorded interval or an event cuts a step; how long steps may be is known from those before. */
static void a_step_that_was_cut_short_takes_nothing_back(void **state)
{
    (void)state;
    tt_step_size_accept(&stepper, 0.001, 0.9, 1); /* bad for its size */
    assert_near(stepper.h, 0.1, 1e-15);
    tt_step_size_accept(&stepper, 0.09, 1e-8, 1); /* very good */
    assert_near(stepper.h, 0.18, 1e-15);
    /* Rejected, it does: the error is that of the shorter step. */
    tt_step_size_reject(&stepper, 0.01, 1e9, 1);
    assert_near(stepper.h, 0.002, 1e-15);
    tt_step_size_accept(&stepper, 0.002, 0.5, 1);
    assert_true(stepper.h <= 0.002);
}

static void steps_stay_within_their_bounds(void **state)
{
    (void)state;
    tt_step_size_init(&stepper, 5, 1e-3, 1);
    assert_same_double(stepper.h, 1);
    tt_step_size_accept(&stepper, 1, 0, 1);
    assert_same_double(stepper.h, 1);
    tt_step_size_init(&stepper, 1e-9, 1e-3, 1);
    assert_same_double(stepper.h, 1e-3);
    tt_step_size_reject(&stepper, 1e-3, 1e9, 1);
    assert_same_double(stepper.h, 1e-3);
    tt_step_size_multiply(&stepper, 0.1, 3);
    assert_near(stepper.h, 0.3, 1e-15);
    tt_step_size_multiply(&stepper, 0.1, 300);
    assert_same_double(stepper.h, 1);
    tt_step_size_multiply(&stepper, 0.1, 0);
    assert_same_double(stepper.h, 1e-3);
}

static void the_least_step(void **state)
{
    (void)state;
    assert_true(tt_step_size_is_minimum(&stepper, 1e-3));
    assert_true(tt_step_size_is_minimum(&stepper, 1e-4));
    /* (1e6 + 1e-3) - 1e6, as the end of a step would give it */
    double start = 1e6, end = start + 1e-3;
    assert_true(end - start != 1e-3);
    assert_true(tt_step_size_is_minimum(&stepper, end - start));
    assert_false(tt_step_size_is_minimum(&stepper, 1.1e-3));
}

static void events_begin_again(void **state)
{
    (void)state;
    tt_step_size_accept(&stepper, 0.1, 0.01, 1);
    assert_true(stepper.h > 0.1);
    tt_step_size_restart(&stepper);
    assert_same_double(stepper.h, 0.1);
    double q = 2; /* nothing is known of the error before */
    tt_step_size_accept(&stepper, 0.1, 0.9 * aim(1), 1);
    assert_near(stepper.h, 0.1 * pow(0.9, -1 / q), 1e-15);
    /* Steps that were shorter than the first one stay so. */
    tt_step_size_reject(&stepper, stepper.h, 1e9, 1);
    double h = stepper.h;
    assert_true(h < 0.1);
    tt_step_size_restart(&stepper);
    assert_same_double(stepper.h, h);
}

/* Of a method of any order, with the error C h^(order + 1): the steps that it gets are those that meet the tolerance. */
static void steps_settle(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 4; order++) {
        const double factor = 40, best = pow(factor, -1.0 / (order + 1));
        tt_step_size_init(&stepper, 0.001, 1e-6, 1);
        int rejected = 0, steps = 0;
        for (; steps < 60; steps++) {
            double error = factor * pow(stepper.h, order + 1);
            if (error <= 1)
                tt_step_size_accept(&stepper, stepper.h, error, order);
            else {
                tt_step_size_reject(&stepper, stepper.h, error, order);
                rejected++;
            }
        }
        assert_near(stepper.h / best, 0.92, 0.01);
        assert_true(rejected <= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_constants_are_those_of_the_header, setup),
        cmocka_unit_test_setup(accepted_steps, setup),
        cmocka_unit_test_setup(rejected_steps, setup),
        cmocka_unit_test_setup(rejected_steps_get_shorter, setup),
        cmocka_unit_test_setup(the_factor_is_bounded, setup),
        cmocka_unit_test_setup(a_tiny_error_is_not_held_against_the_next_step, setup),
        cmocka_unit_test_setup(the_step_behind_a_rejected_one_does_not_grow, setup),
        cmocka_unit_test_setup(a_step_that_was_cut_short_takes_nothing_back, setup),
        cmocka_unit_test_setup(steps_stay_within_their_bounds, setup),
        cmocka_unit_test_setup(the_least_step, setup),
        cmocka_unit_test_setup(events_begin_again, setup),
        cmocka_unit_test_setup(steps_settle, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
