/* SPDX-License-Identifier: MIT */
/* One unit from one point to another, over whatever its script puts between them. */
#include "fake_unit.h"

static const struct tt_step_rules alone = {0};
static const struct tt_step_rules together = {.goes_back = true, .stops_at_events = true};

/* Two units: b steps here, with y of a as its u. */
static struct fake_world *open_pair(const struct fake_script *b)
{
    struct fake_world *world = fake_new(2);
    world->scripts[0] = (struct fake_script){.x = 5};
    world->scripts[1] = *b;
    fake_connect(world, 0, FAKE_Y, 1, FAKE_U);
    fake_connect(world, 1, FAKE_Y, 0, FAKE_U);
    fake_open(world);
    assert_ok(tt_wires_gather_all(&world->execution.rank.wires));
    return world;
}

static double signal_of(struct fake_world *world, uint32_t c)
{
    const struct tt_wires *wires = &world->execution.rank.wires;
    return *(const double *)wires->units[c].outputs[0].values;
}

static void a_step_hands_over_inputs_and_reads_outputs(void **state)
{
    (void)state;
    struct fake_world *world = open_pair(&(struct fake_script){.x = 1, .rate = 2, .gain = 3});
    struct tt_step_result result = fake_step_member(world, 1, &alone, 0.25);
    assert_int_equal(result.end, TUTTI_END_REACHED);
    assert_same_double(fake_member(world, 1)->now.t, 0.25);
    assert_same_double(fake_at(world, 1)->state.u, 5);
    assert_same_double(signal_of(world, 1), 1 + 0.25 * (2 + 3 * 5));
    assert_same_double(fake_member(world, 0)->now.t, 0); /* the other one is left alone */
    assert_int_equal(fake_at(world, 0)->step_count, 0);
    fake_close(world);
}

/* Ends of steps are met to the bit, though 0.1 + 0.2 is not 0.3, and whatever the unit makes of them. */
static void times_are_met_to_the_bit(void **state)
{
    (void)state;
    struct fake_world *world = open_pair(&(struct fake_script){.rate = 1, .rounds = true});
    for (int n = 1; n <= 10; n++) {
        (void)fake_step_member(world, 1, &alone, n * 0.1);
        assert_same_double(fake_member(world, 1)->now.t, n * 0.1);
        assert_same_double(fake_at(world, 1)->state.t, n * 0.1);
    }
    assert_int_equal(fake_at(world, 1)->step_count, 10);
    fake_close(world);
}

static void an_event_ends_the_step_for_all(void **state)
{
    (void)state;
    struct fake_world *world = open_pair(&(struct fake_script){.rate = 1, .event_at = 0.3, .has_events = true});
    struct tt_step_result result = fake_step_member(world, 1, &together, 0.5);
    assert_int_equal(result.end, TUTTI_END_EVENT);
    assert_int_equal(result.component, 1);
    assert_same_double(result.at, 0.3);
    assert_same_double(fake_member(world, 1)->now.t, 0.3);
    assert_true(fake_member(world, 1)->now.event);
    assert_int_equal(fake_at(world, 1)->events, 0); /* all are to come there first */
    assert_same_double(signal_of(world, 1), 0.3);
    fake_close(world);
}

static void an_event_is_crossed_alone(void **state)
{
    (void)state;
    struct fake_world *world = open_pair(&(struct fake_script){.rate = 1, .event_at = 0.3, .has_events = true});
    struct tt_step_result result = fake_step_member(world, 1, &alone, 0.5);
    assert_int_equal(result.end, TUTTI_END_REACHED);
    assert_same_double(fake_member(world, 1)->now.t, 0.5);
    assert_false(fake_member(world, 1)->now.event);
    assert_int_equal(fake_at(world, 1)->events, 1);
    assert_int_equal(fake_at(world, 1)->step_count, 2);
    assert_int_equal(world->execution.rank.own_events, 1);
    fake_close(world);
}

/* An announced event ends a step of its unit, also in the middle of a step of all units. */
static void announced_times_are_met(void **state)
{
    (void)state;
    struct fake_world *world = open_pair(&(struct fake_script){.announces = 0.25, .has_events = true});
    (void)fake_step_member(world, 1, &alone, 0.6);
    const struct fake_unit *b = fake_at(world, 1);
    assert_int_equal(b->step_count, 3);
    assert_same_double(b->steps[1].t, 0.25);
    assert_same_double(b->steps[2].t, 0.5);
    assert_int_equal(b->events, 2);
    assert_same_double(fake_member(world, 1)->now.next_event, 0.75);
    fake_close(world);
}

/* Only all units together can be taken back: the step is over at once, and those after it do not step. */
static void a_refused_step_is_left_to_all(void **state)
{
    (void)state;
    struct fake_world *world = open_pair(&(struct fake_script){.rate = 1, .longest = 0.2, .moves = true});
    struct tt_step_result result = fake_step_member(world, 1, &together, 0.5);
    assert_int_equal(result.end, TUTTI_END_REFUSED);
    assert_int_equal(result.component, 1);
    assert_same_double(result.at, 0.25);
    assert_int_equal(fake_at(world, 1)->step_count, 1);
    assert_int_equal(world->execution.rank.own_rejected, 0); /* that is counted where it is taken back */
    assert_ok(tt_component_step(&world->execution.rank, &together, fake_member(world, 0), 0.5, &result));
    assert_int_equal(fake_at(world, 0)->step_count, 0);
    assert_int_equal(result.component, 1);
    fake_close(world);
}

/* A unit with unchanged state tries half of the step, then half of that, and continues from there. */
static void a_refused_step_is_halved(void **state)
{
    (void)state;
    struct fake_world *world = open_pair(&(struct fake_script){.rate = 1, .longest = 0.3, .retries = true});
    struct tt_step_result result = fake_step_member(world, 1, &alone, 1);
    const struct fake_unit *b = fake_at(world, 1);
    assert_int_equal(result.end, TUTTI_END_REACHED);
    assert_same_double(fake_member(world, 1)->now.t, 1);
    assert_near(b->state.x, 1, 1e-15);
    static const double sizes[] = {1, 0.5, 0.25, 0.75, 0.375, 0.1875};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_same_double(b->steps[i].h, sizes[i]);
    assert_true(world->execution.rank.own_rejected >= 4);
    fake_close(world);
}

static void fails(const struct fake_script *script, const struct tt_step_rules *rules, const char *words)
{
    struct fake_world *world = open_pair(script);
    struct tt_step_result result = tt_step_result_begin(0, 0);
    assert_fails(tt_component_step(&world->execution.rank, rules, fake_member(world, 1), 0.5, &result), TUTTI_ERR_FMU,
                 words);
    assert_non_null(strstr(tutti_err_message(), "b (fake.fmu)"));
    fake_close(world);
}

static void what_leads_nowhere_is_an_error(void **state)
{
    (void)state;
    fails(&(struct fake_script){.longest = 1e-300, .retries = true}, &alone, "discards every step from t = 0 on");
    fails(&(struct fake_script){.longest = 0.1}, &alone, "discarded the step from t = 0 to 0.5");
    fails(&(struct fake_script){.longest = 0.1, .retries = true, .cannot_vary_step = true}, &alone,
          "discards every step");
}

/* At 0.3 it has an event, and never leaves that point. */
static void time_that_stands_still_is_an_error(void **state)
{
    (void)state;
    fails(&(struct fake_script){.event_at = 0.3, .stands_at = 0.3, .has_events = true}, &alone,
          "time stands still at t = 0.3: the FMU came back 1000 times from there");
}

static void a_unit_ends_the_run(void **state)
{
    (void)state;
    for (int by_discard = 0; by_discard < 2; by_discard++)
        for (int rules = 0; rules < 2; rules++) {
            struct fake_world *world =
                open_pair(&(struct fake_script){.rate = 1, .ends_at = 0.3, .ends_by_discard = by_discard});
            struct tt_step_result result = fake_step_member(world, 1, rules ? &together : &alone, 0.5);
            assert_int_equal(result.end, TUTTI_END_OF_RUN);
            assert_int_equal(result.component, 1);
            assert_same_double(result.at, 0.3);
            assert_same_double(fake_member(world, 1)->now.t, 0.3);
            assert_same_double(signal_of(world, 1), 0.3); /* its last outputs count */
            assert_null(world->execution.rank.ended);     /* not before the step is accepted */
            fake_close(world);
        }
}

static void a_unit_ends_the_run_in_an_event(void **state)
{
    (void)state;
    struct fake_world *world =
        open_pair(&(struct fake_script){.event_at = 0.3, .has_events = true, .ends_in_event = true});
    struct tt_step_result result = fake_step_member(world, 1, &alone, 0.5);
    assert_int_equal(result.end, TUTTI_END_OF_RUN);
    assert_same_double(result.at, 0.3);
    assert_int_equal(fake_at(world, 1)->step_count, 1);
    fake_close(world);
}

/* The second half has separate inputs. */
static void a_step_is_made_in_halves(void **state)
{
    (void)state;
    struct fake_world *world = open_pair(&(struct fake_script){.gain = 1});
    struct tt_member *member = fake_member(world, 1);
    double second[2] = {-1, -1};
    struct tt_step_rules rules = {.second = second};
    member->wires->halves = true;
    second[member->wires->gather_first] = 7;
    (void)fake_step_member(world, 1, &rules, 0.5);
    const struct fake_unit *b = fake_at(world, 1);
    assert_int_equal(b->step_count, 2);
    assert_same_double(b->steps[1].t, 0.25);
    assert_same_double(b->steps[1].x, 0.25 * 5);
    assert_same_double(b->state.x, 0.25 * 5 + 0.25 * 7);
    fake_close(world);
}

/* An event in the middle ends the step for all, or is crossed between the halves. */
static void an_event_between_the_halves(void **state)
{
    (void)state;
    for (int rules = 0; rules < 2; rules++) {
        struct fake_world *world = open_pair(&(struct fake_script){.gain = 1, .event_at = 0.25, .has_events = true});
        struct tt_step_rules halves = rules ? together : alone;
        double second[2] = {7, 7};
        halves.second = second;
        fake_member(world, 1)->wires->halves = true;
        struct tt_step_result result = fake_step_member(world, 1, &halves, 0.5);
        assert_int_equal(result.end, rules ? TUTTI_END_EVENT : TUTTI_END_REACHED);
        assert_int_equal(fake_at(world, 1)->events, rules ? 0 : 1);
        assert_same_double(fake_member(world, 1)->now.t, rules ? 0.25 : 0.5);
        fake_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_hands_over_inputs_and_reads_outputs),
        cmocka_unit_test(times_are_met_to_the_bit),
        cmocka_unit_test(an_event_ends_the_step_for_all),
        cmocka_unit_test(an_event_is_crossed_alone),
        cmocka_unit_test(announced_times_are_met),
        cmocka_unit_test(a_refused_step_is_left_to_all),
        cmocka_unit_test(a_refused_step_is_halved),
        cmocka_unit_test(what_leads_nowhere_is_an_error),
        cmocka_unit_test(time_that_stands_still_is_an_error),
        cmocka_unit_test(a_unit_ends_the_run),
        cmocka_unit_test(a_unit_ends_the_run_in_an_event),
        cmocka_unit_test(a_step_is_made_in_halves),
        cmocka_unit_test(an_event_between_the_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
