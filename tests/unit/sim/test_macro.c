/* SPDX-License-Identifier: MIT */
/* A macro step whose size has to be found: events, refusals, steps that are not good. */
#include "fake_unit.h"

#include "sim/control/control.h"
#include "sim/step.h"

/* Two units that see each other, with a look at events of this kind. Room for a third one. */
static struct fake_world *new_pair(const char *events)
{
    struct fake_world *world = fake_new(2);
    world->options.events = events;
    for (uint32_t c = 0; c < 2; c++)
        world->scripts[c] = (struct fake_script){.rate = 1 + c, .gain = 0.5, .x = 1};
    fake_connect(world, 1, FAKE_Y, 0, FAKE_U);
    fake_connect(world, 0, FAKE_Y, 1, FAKE_U);
    return world;
}

/* To `target` or as far as it goes; all units are there, and every do-step is counted (M3). */
static double step(struct fake_world *world, double target)
{
    struct tt_rank *rank = &world->execution.rank;
    assert_ok(tt_step_macro(&world->execution.master, &target));
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tt_unit_counts *counts = &rank->own[m]->unit->counts;
        assert_same_double(rank->own[m]->now.t, target);
        assert_int_equal(counts->attributed, counts->do_steps);
    }
    assert_same_double(rank->t, target);
    return target;
}

/* All attempts from 0 on begin with everything as it was there (M1). */
static void assert_attempts_begin_at_0(struct fake_world *world, unsigned attempts)
{
    for (uint32_t c = 0; c < world->count; c++)
        for (unsigned i = 0; i < attempts; i++) {
            assert_same_double(fake_at(world, c)->steps[i].t, 0);
            assert_same_double(fake_at(world, c)->steps[i].x, world->scripts[c].x);
        }
}

static void a_good_step_is_made_once(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("early");
    fake_open(world);
    assert_same_double(step(world, 0.1), 0.1);
    assert_int_equal(fake_at(world, 0)->step_count, 1);
    assert_same_double(fake_at(world, 0)->state.x, 1 + 0.1 * (1 + 0.5));
    assert_int_equal(world->stats.rejected, 0);
    assert_false(world->execution.master.memory.event);
    fake_close(world);
}

/* a comes back at 0.03: all are taken back, and go there; a has its event to cross. */
static void all_go_where_one_came_back(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("early");
    world->scripts[0].event_at = 0.03;
    world->scripts[0].has_events = true;
    fake_open(world);
    assert_same_double(step(world, 0.1), 0.03);
    assert_attempts_begin_at_0(world, 2);
    assert_true(fake_member(world, 0)->now.event);
    assert_false(fake_member(world, 1)->now.event);
    assert_same_double(fake_at(world, 1)->state.x, 1 + 0.03 * (2 + 0.5));
    assert_int_equal(world->stats.rejected, 1);
    assert_int_equal(fake_at(world, 1)->unit.counts.rejected, 1);
    assert_int_equal(fake_at(world, 0)->events, 0);
    fake_close(world);
}

/* A step that ends just there does not show the event again: it is to be crossed nevertheless. */
static void an_event_is_not_forgotten(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("early");
    world->scripts[0].event_at = 0.03;
    world->scripts[0].has_events = world->scripts[0].silent_at_end = true;
    fake_open(world);
    assert_same_double(step(world, 0.1), 0.03);
    assert_true(fake_member(world, 0)->now.event);
    fake_close(world);
}

/* A unit that does not leave the start of a step crosses its event there, with a step to the end after it. */
static void an_event_at_the_start_is_crossed_there(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("early");
    world->scripts[0].has_events = true;
    fake_open(world);
    step(world, 0.1);
    fake_at(world, 0)->script.event_at = 0.1;
    assert_same_double(step(world, 0.2), 0.2);
    assert_int_equal(fake_at(world, 0)->events, 1);
    assert_int_equal(world->stats.rejected, 1);
    assert_int_equal(world->stats.events_located, 1);
    fake_close(world);
}

/* n of b changes at 0.0371: one step ends before that, a short one leads across, both within the tolerance. */
static void a_change_is_located_to_the_tolerance(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-2, 1e-4, 1e-9}, at = 0.0371;
    for (size_t i = 0; i < 3; i++) {
        struct fake_world *world = new_pair("output");
        world->options.has_event_tolerance = true;
        world->options.event_tolerance = tolerances[i];
        world->scripts[1].changes_at = at;
        fake_open(world);
        double before = step(world, 0.1), after = world->execution.master.memory.located.at;
        assert_true(before < at && at <= after && after - before <= tolerances[i]);
        assert_int_equal(fake_n(fake_at(world, 1)), 0); /* M2 */
        assert_attempts_begin_at_0(world, (unsigned)world->stats.rejected + 1);
        assert_true(world->execution.master.memory.event); /* a row on this side, too */
        assert_same_double(step(world, after), after);
        assert_int_equal(fake_n(fake_at(world, 1)), 1);
        assert_int_equal(world->stats.events_located, 1);
        assert_true(world->execution.master.memory.event);
        assert_same_double(step(world, 0.1), 0.1); /* nothing follows */
        assert_int_equal(world->stats.events_located, 1);
        fake_close(world);
    }
}

/* Events of the run up to now, as its statistics count them (execution.c). */
static unsigned long events_of(const struct fake_world *world)
{
    return world->stats.events_located + world->execution.rank.own_events;
}

/* n of b changes, and a, which reads it, crosses an event where that is seen: one event. */
static void an_event_that_follows_from_a_located_one_is_the_same(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("output");
    world->link_count = 0;
    fake_connect(world, 1, FAKE_Y, 0, FAKE_U);
    fake_connect(world, 1, FAKE_N, 0, FAKE_K);
    fake_connect(world, 0, FAKE_Y, 1, FAKE_U);
    world->scripts[0].has_events = true;
    world->scripts[1].changes_at = 0.0371;
    fake_open(world);
    while (world->execution.rank.t < 0.1)
        assert_ok(tt_run_until_end(&world->execution.loop));
    assert_int_equal(fake_at(world, 0)->events, 1);
    assert_int_equal(events_of(world), 1);
    fake_close(world);
}

/* b, whose inputs are of a later time, does not leave the start of the step: it crosses an event there, in vain, and
 * one alone in a minimal step. */
static void an_event_in_the_step_across_is_counted_once(void **state)
{
    (void)state;
    struct fake_world *world = fake_new(2);
    world->options.coupling = "seidel";
    world->options.events = "early";
    world->scripts[0].rate = 1;
    world->scripts[1].waits = world->scripts[1].has_events = true;
    fake_connect(world, 0, FAKE_Y, 1, FAKE_U);
    fake_open(world);
    assert_ok(tt_run_until_end(&world->execution.loop));
    assert_true(world->execution.rank.t < 0.1);
    assert_int_equal(fake_at(world, 1)->events, 2);
    assert_int_equal(events_of(world), 2);
    fake_close(world);
}

/* Outputs that change in every step are not events: after ten times they are ignored. */
static void what_always_changes_is_no_event(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("output");
    world->scripts[1].flickers = true;
    fake_open(world);
    unsigned steps = 0;
    for (double t = 0; t < 0.1; steps++)
        t = step(world, 0.1);
    assert_int_equal(steps, 11);
    assert_same_double(step(world, 0.2), 0.2);
    fake_close(world);
}

static void a_refused_step_is_halved_for_all(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("early");
    world->scripts[1].longest = 0.03;
    fake_open(world);
    assert_same_double(step(world, 0.1), 0.025);
    assert_attempts_begin_at_0(world, 3);
    assert_int_equal(world->stats.rejected, 2);
    assert_same_double(fake_at(world, 0)->steps[1].h, 0.05);
    fake_close(world);
}

static void steps_that_are_all_refused_are_an_error(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("early");
    double target = 0.1;
    world->scripts[1].longest = 1e-300;
    fake_open(world);
    assert_fails(tt_step_macro(&world->execution.master, &target), TUTTI_ERR_FMU,
                 "b (fake.fmu): the FMU discards every step from t = 0 on, however short");
    fake_close(world);
}

/* One ends the run inside the step: all step to that point. */
static void all_go_where_one_ended_the_run(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("early");
    world->scripts[0].ends_at = 0.04;
    fake_open(world);
    assert_same_double(step(world, 0.1), 0.04);
    assert_ptr_equal(world->execution.rank.ended, fake_member(world, 0));
    assert_same_double(fake_at(world, 1)->state.x, 1 + 0.04 * (2 + 0.5));
    assert_attempts_begin_at_0(world, 2);
    fake_close(world);
}

/* ---- steps that are not good ---- */

/* A control that says of each step that it errs so much. */
static _Thread_local double erring;

static enum tutti_err attempt_badly(struct tt_sim *master, double target, struct tt_step_result *attempt)
{
    TRY(tt_control_attempt_step(master, target, attempt));
    attempt->estimated = true;
    attempt->error = attempt->size = attempt->seen = erring;
    attempt->driver = 0;
    return TUTTI_OK;
}

static const struct tt_control bad = {.name = "bad",
                                      .varies = true,
                                      .rejects = true,
                                      .attempt = attempt_badly,
                                      .judge = tt_control_check_error};

static struct fake_world *new_bad_pair(double error, double h_min)
{
    struct fake_world *world = new_pair("early");
    world->control = &bad;
    world->options.has_h_min = h_min > 0;
    world->options.h_min = h_min;
    erring = error;
    return world;
}

/* Shorter and shorter, down to --h-min, which has to do. */
static void the_shortest_step_is_forced(void **state)
{
    (void)state;
    struct fake_world *world = new_bad_pair(1000, 0.01);
    fake_open(world);
    double t = step(world, 0.1);
    assert_near(t, 0.01, 1e-12);
    assert_true(world->stats.rejected >= 2);
    assert_int_equal(world->execution.master.forced, 1);
    assert_attempts_begin_at_0(world, (unsigned)world->stats.rejected + 1);
    erring = 0.5;
    step(world, t + 0.01);
    assert_int_equal(world->execution.master.forced, 1);
    fake_close(world);
}

/* An error that is small and does not fall with the step is noise: it is forced soon, and steps are as before. */
static void noise_is_not_fought(void **state)
{
    (void)state;
    struct fake_world *world = new_bad_pair(2, 1e-9);
    fake_open(world);
    double t = step(world, 0.1);
    assert_true(t <= 0.1 / 8 && t > 1e-4);
    assert_int_equal(world->execution.master.forced, 1);
    assert_near(world->execution.master.memory.stepper.h, 0.1, 1e-12);
    fake_close(world);
}

/* A user who does not ask for a shortest step is not left with a thousand bad ones. */
static void too_many_forced_steps_are_an_error(void **state)
{
    (void)state;
    struct fake_world *world = new_bad_pair(1000, 0);
    enum tutti_err err = TUTTI_OK;
    unsigned steps = 0;
    fake_open(world);
    while (!err && ++steps < 2000) {
        double target = world->execution.rank.t + world->execution.master.memory.stepper.h;
        err = tt_step_macro(&world->execution.master, &target);
    }
    assert_fails(err, TUTTI_ERR_SOLVER, "1000 steps are not good, the last one by 1e+03 times the tolerance in 'a.Y'");
    assert_int_equal(steps, 1000);
    fake_close(world);
}

/* ---- ranks ---- */

enum { RANKS_UNITS = 3, STEPS = 12 };

static double times[STEPS], values[RANKS_UNITS];

/* A bit of everything; on one rank it writes down what it comes to, on several it compares. */
static void go_through_all(struct tt_fabric *fabric, const int32_t *place)
{
    struct fake_world *world = fake_new(RANKS_UNITS);
    world->fabric = fabric;
    world->place = place;
    world->options.events = "output";
    world->scripts[0] = (struct fake_script){.rate = 1, .gain = 0.3, .event_at = 0.13, .has_events = true};
    world->scripts[1] = (struct fake_script){.rate = -2, .gain = 0.7, .changes_at = 0.31};
    world->scripts[2] = (struct fake_script){.x = 1, .gain = -0.4, .longest = 0.07};
    for (uint32_t c = 0; c < RANKS_UNITS; c++)
        fake_connect(world, (c + 1) % RANKS_UNITS, FAKE_Y, c, FAKE_U);
    fake_open(world);
    for (int n = 0; n < STEPS; n++) {
        const struct tt_step_event *located = &world->execution.master.memory.located;
        double t = world->execution.rank.t;
        t = step(world, located->kind != TUTTI_EVENT_NONE && located->at > t + 0.1 ? located->at : t + 0.1);
        if (!place)
            times[n] = t;
        assert_same_double(t, times[n]);
        for (uint32_t c = 0; c < RANKS_UNITS; c++)
            fake_member(world, c)->now.event = false;
        if (world->execution.master.memory.pending.at == t && tt_rank_owns(&world->execution.rank, 0))
            fake_at(world, 0)->state.crossed = true;
    }
    for (uint32_t c = 0; c < RANKS_UNITS; c++) {
        if (!place)
            values[c] = fake_at(world, c)->state.x;
        if (tt_rank_owns(&world->execution.rank, c))
            assert_same_double(fake_at(world, c)->state.x, values[c]);
    }
    fake_close(world);
}

static void ranks_come_to_the_same(void **state)
{
    (void)state;
    go_through_all(NULL, NULL);
    fake_run_ranks(2, (const int32_t[]){0, 1, 0}, go_through_all);
    fake_run_ranks(2, (const int32_t[]){1, 1, 0}, go_through_all);
    fake_run_ranks(3, (const int32_t[]){2, 0, 1}, go_through_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_step_is_made_once),
        cmocka_unit_test(all_go_where_one_came_back),
        cmocka_unit_test(an_event_is_not_forgotten),
        cmocka_unit_test(an_event_at_the_start_is_crossed_there),
        cmocka_unit_test(a_change_is_located_to_the_tolerance),
        cmocka_unit_test(an_event_that_follows_from_a_located_one_is_the_same),
        cmocka_unit_test(an_event_in_the_step_across_is_counted_once),
        cmocka_unit_test(what_always_changes_is_no_event),
        cmocka_unit_test(a_refused_step_is_halved_for_all),
        cmocka_unit_test(steps_that_are_all_refused_are_an_error),
        cmocka_unit_test(all_go_where_one_ended_the_run),
        cmocka_unit_test(the_shortest_step_is_forced),
        cmocka_unit_test(noise_is_not_fought),
        cmocka_unit_test(too_many_forced_steps_are_an_error),
        cmocka_unit_test(ranks_come_to_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
