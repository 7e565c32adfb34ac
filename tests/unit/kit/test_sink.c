/* SPDX-License-Identifier: MIT */
/* The handling of points that the model refuses, and of events at its start, in a do-step; derivatives after it. */
#include "harness.h"

static struct library library2, library3;
static struct fmi2 f2;
static struct fmi3 f3;

enum { X = 1, U = 3, SECONDS = 4, JUMPS = 5, STEPS = 6 };

static int open_libraries(void **state)
{
    (void)state;
    library2 = library_open(LIB_Sink_fmi2);
    library3 = library_open(LIB_Sink_fmi3);
    load2(&f2, &library2);
    load3(&f3, &library3);
    return 0;
}

static int close_libraries(void **state)
{
    (void)state;
    library_close(&library2);
    library_close(&library3);
    return 0;
}

static int count(fmi3Instance c, unsigned vr)
{
    int32_t value = -1;
    assert_int_equal(f3.fmi3GetInt32(c, &vr, 1, &value, 1), fmi3OK);
    return value;
}

struct step {
    bool event, terminate, early;
    double time;
};

static fmi3Status do_step(fmi3Instance c, double t, double h, struct step *step)
{
    return f3.fmi3DoStep(c, t, h, true, &step->event, &step->terminate, &step->early, &step->time);
}

/* The step passes the event at t = 2 before it fails: nothing of it may be left. */
static void a_discarded_step_leaves_no_trace_in_fmi3(void **state)
{
    (void)state;
    fmi3Instance c = start3(&f3, &library3, false, false);
    struct step step;
    double x;
    assert_int_equal(do_step(c, 0, 1.5, &step), fmi3OK);
    int steps = count(c, STEPS);
    assert_int_equal(steps, 15);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(do_step(c, 1.5, 1.5, &step), fmi3Discard);
        assert_int_equal(f3.fmi3GetFloat64(c, (unsigned[]){X}, 1, &x, 1), fmi3OK);
        assert_near(x, 1, 1e-12);
        assert_int_equal(count(c, SECONDS), 1);
        assert_int_equal(count(c, STEPS), steps);
    }
    assert_int_equal(do_step(c, 1.5, 0.8, &step), fmi3OK);
    assert_int_equal(count(c, SECONDS), 2);
    f3.fmi3FreeInstance(c);
}

static void a_discarded_step_says_how_far_it_came_in_fmi2(void **state)
{
    (void)state;
    fmi2Component c = start2(&f2, &library2, fmi2CoSimulation);
    fmi2FMUstate saved = NULL;
    double time, x;
    int terminated = 1;
    assert_int_equal(f2.fmi2GetFMUstate(c, &saved), fmi2OK);
    assert_int_equal(f2.fmi2DoStep(c, 0, 3, fmi2False), fmi2Discard);
    assert_int_equal(f2.fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &time), fmi2OK);
    assert_int_equal(f2.fmi2GetBooleanStatus(c, fmi2Terminated, &terminated), fmi2OK);
    assert_int_equal(f2.fmi2GetReal(c, (unsigned[]){X}, 1, &x), fmi2OK);
    assert_true(time > 2.35 && time <= 2.5 && !terminated);
    assert_near(x, 2.5 - time, 1e-12);
    assert_int_equal(f2.fmi2SetFMUstate(c, saved), fmi2OK);
    assert_int_equal(f2.fmi2DoStep(c, 0, time, fmi2False), fmi2OK);
    f2.fmi2FreeFMUstate(c, &saved);
    f2.fmi2FreeInstance(c);
}

/* A continuous input that jumps over the threshold between two steps is an event at the start of the next. */
static void a_jump_of_an_input_is_an_event(void **state)
{
    (void)state;
    struct step step;
    const unsigned u = U;
    fmi3Instance c = start3(&f3, &library3, false, false);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(f3.fmi3SetFloat64(c, &u, 1, (double[]){i % 2}, 1), fmi3OK);
        assert_int_equal(do_step(c, i * 0.25, 0.25, &step), fmi3OK);
        assert_int_equal(count(c, JUMPS), i);
    }
    f3.fmi3FreeInstance(c);

    c = start3(&f3, &library3, true, true);
    bool again, terminate, nominals, values, defined;
    double next;
    do
        assert_int_equal(f3.fmi3UpdateDiscreteStates(c, &again, &terminate, &nominals, &values, &defined, &next),
                         fmi3OK);
    while (again);
    assert_int_equal(f3.fmi3EnterStepMode(c), fmi3OK);
    assert_int_equal(do_step(c, 0, 0.5, &step), fmi3OK);
    assert_int_equal(f3.fmi3SetFloat64(c, &u, 1, (double[]){1}, 1), fmi3OK);
    assert_int_equal(do_step(c, 0.5, 0.5, &step), fmi3OK);
    assert_true(step.event && step.early && step.time == 0.5);
    assert_int_equal(f3.fmi3EnterEventMode(c), fmi3OK);
    int updates = 0;
    do {
        assert_int_equal(f3.fmi3UpdateDiscreteStates(c, &again, &terminate, &nominals, &values, &defined, &next),
                         fmi3OK);
        updates++;
    } while (again);
    assert_int_equal(updates, 2);
    assert_int_equal(count(c, JUMPS), 1);
    assert_int_equal(f3.fmi3EnterStepMode(c), fmi3OK);
    assert_int_equal(do_step(c, 0.5, 0.25, &step), fmi3OK);
    assert_true(!step.event && step.time == 0.75);
    assert_int_equal(do_step(c, 0.75, 0.5, &step), fmi3OK);
    assert_true(step.event && step.early && step.time == 1);
    assert_refused(do_step(c, 1, 0.5, &step), "event mode first");
    f3.fmi3FreeInstance(c);
}

/* Without an explicit function, an output's derivative comes from the partial ones: of y = x - u with x' = x + u. */
static void derivatives_of_outputs_follow_from_partial_ones(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Scaled_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2CoSimulation);
    const unsigned u = 3, y = 4;
    const int first = 1;
    double value, rate = 2;
    assert_int_equal(f.fmi2SetRealInputDerivatives(c, &u, 1, &first, &rate), fmi2OK);
    assert_int_equal(f.fmi2DoStep(c, 0, 0.5, fmi2True), fmi2OK); /* x = 3 exp(t) - 2 t - 2 */
    assert_int_equal(f.fmi2GetRealOutputDerivatives(c, &y, 1, &first, &value), fmi2OK);
    assert_near(value, 3 * exp(0.5) - 2 - rate, 1e-5);
    f.fmi2FreeInstance(c);
    library_close(&library);
}

/* The derivative of a state is the model's own. */
static void derivatives_of_states_are_known(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_VanDerPol_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2CoSimulation);
    const unsigned x0 = 1, x1 = 3;
    double value, derivative;
    assert_int_equal(f.fmi2DoStep(c, 0, 1, fmi2True), fmi2OK);
    assert_int_equal(f.fmi2GetRealOutputDerivatives(c, &x0, 1, (int[]){1}, &derivative), fmi2OK);
    assert_int_equal(f.fmi2GetReal(c, &x1, 1, &value), fmi2OK);
    assert_true(derivative == value && value < -0.1);
    f.fmi2FreeInstance(c);
    library_close(&library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_discarded_step_leaves_no_trace_in_fmi3),
        cmocka_unit_test(a_discarded_step_says_how_far_it_came_in_fmi2),
        cmocka_unit_test(a_jump_of_an_input_is_an_event),
        cmocka_unit_test(derivatives_of_outputs_follow_from_partial_ones),
        cmocka_unit_test(derivatives_of_states_are_known),
    };
    return cmocka_run_group_tests_name("kit: steps", tests, open_libraries, close_libraries);
}
