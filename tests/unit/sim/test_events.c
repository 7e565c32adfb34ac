/* SPDX-License-Identifier: MIT */
/* Events at a point that all units have reached: rounds of them, until all rest. */
#include "fake_unit.h"

#include "sim/events.h"

/* Two units that count each other's count on, one event each time, up to a limit. */
static struct fake_world *new_counters(int32_t limit)
{
    struct fake_world *world = fake_new(2);
    for (int c = 0; c < 2; c++)
        world->scripts[c] = (struct fake_script){.has_events = true, .counts_up_to = limit};
    fake_connect(world, 1, FAKE_N, 0, FAKE_K);
    fake_connect(world, 0, FAKE_N, 1, FAKE_K);
    return world;
}

static bool cross(struct fake_world *world)
{
    bool crossed = false;
    assert_ok(tt_events_handle(&world->execution.master, &crossed));
    return crossed;
}

static void nothing_happens_where_nothing_is_due(void **state)
{
    (void)state;
    struct fake_world *world = new_counters(5);
    fake_open(world);
    assert_false(cross(world));
    assert_int_equal(fake_at(world, 0)->events + fake_at(world, 1)->events, 0);
    assert_int_equal(world->stats.events_located, 0);
    fake_close(world);
}

/* a makes 1 of 0, b 2 of that, a 3, b 4, a 5, and b takes note. */
static void rounds_go_on_until_all_rest(void **state)
{
    (void)state;
    struct fake_world *world = new_counters(5);
    fake_open(world);
    fake_member(world, 0)->now.event = true;
    assert_true(cross(world));
    assert_int_equal(fake_at(world, 0)->state.n, 5);
    assert_int_equal(fake_at(world, 1)->state.n, 4);
    assert_int_equal(fake_at(world, 1)->state.k, 5);
    assert_int_equal(fake_at(world, 0)->events, 3);
    assert_int_equal(fake_at(world, 1)->events, 3);
    assert_int_equal(world->stats.events_located, 1); /* one point, however many rounds */
    assert_false(fake_member(world, 0)->now.event || fake_member(world, 1)->now.event);
    assert_false(cross(world));
    fake_close(world);
}

static void rounds_without_rest_are_an_error(void **state)
{
    (void)state;
    struct fake_world *world = new_counters(INT32_MAX);
    bool crossed = false;
    fake_open(world);
    fake_member(world, 1)->now.event = true;
    assert_fails(tt_events_handle(&world->execution.master, &crossed), TUTTI_ERR_FMU,
                 "b: the discrete signals between units do not come to rest at t = 0");
    fake_close(world);
}

/* A unit's inputs do not depend on its place in the list: both jump to each other's earlier value. */
static void all_inputs_are_staged_first(void **state)
{
    (void)state;
    struct fake_world *world = fake_new(2);
    for (int c = 0; c < 2; c++)
        world->scripts[c] = (struct fake_script){.has_events = true, .jumps = true, .x = 10 + c};
    fake_connect(world, 1, FAKE_Y, 0, FAKE_U);
    fake_connect(world, 0, FAKE_Y, 1, FAKE_U);
    fake_open(world);
    fake_member(world, 0)->now.event = fake_member(world, 1)->now.event = true;
    assert_true(cross(world));
    assert_same_double(fake_at(world, 0)->state.x, 11);
    assert_same_double(fake_at(world, 1)->state.x, 10);
    fake_close(world);
}

/* A unit in the middle of a separate step does not take part. */
static void only_units_that_are_there_cross(void **state)
{
    (void)state;
    struct fake_world *world = new_counters(5);
    fake_open(world);
    struct tt_member *away = fake_member(world, 0);
    away->has_grid = away->now.event = true;
    away->now.t = -0.05;
    assert_false(cross(world));
    fake_member(world, 1)->now.event = true;
    assert_true(cross(world));
    assert_int_equal(fake_at(world, 1)->events, 1);
    assert_int_equal(fake_at(world, 0)->events, 0);
    assert_true(away->now.event); /* still to be crossed */
    away->now.t = 0;
    assert_true(cross(world));
    assert_true(fake_at(world, 0)->events > 0);
    fake_close(world);
}

/* In its first event a ends the run: b, which would have one then, crosses nothing more. */
static void the_end_of_the_run_ends_the_rounds(void **state)
{
    (void)state;
    struct fake_world *world = new_counters(5);
    world->scripts[0].ends_in_event = true;
    fake_open(world);
    fake_member(world, 0)->now.event = true;
    assert_true(cross(world));
    assert_ptr_equal(world->execution.rank.ended, fake_member(world, 0));
    assert_int_equal(fake_at(world, 0)->events, 1);
    assert_int_equal(fake_at(world, 1)->events, 0);
    fake_close(world);
}

/* The same rounds with the units on two ranks, of which only one has the first event. */
static void count_apart(struct tt_fabric *fabric, const int32_t *place)
{
    struct fake_world *world = new_counters(5);
    world->fabric = fabric;
    world->place = place;
    fake_open(world);
    if (fabric->rank == place[0])
        fake_member(world, 0)->now.event = true;
    assert_true(cross(world));
    for (uint32_t c = 0; c < 2; c++)
        if (place[c] == fabric->rank) {
            assert_int_equal(fake_at(world, c)->state.n, 5 - c);
            assert_int_equal(fake_at(world, c)->events, 3);
        }
    fake_close(world);
}

static void ranks_cross_together(void **state)
{
    (void)state;
    fake_run_ranks(2, (const int32_t[]){0, 1}, count_apart);
    fake_run_ranks(2, (const int32_t[]){1, 0}, count_apart);
    fake_run_ranks(3, (const int32_t[]){2, 0}, count_apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_happens_where_nothing_is_due),
        cmocka_unit_test(rounds_go_on_until_all_rest),
        cmocka_unit_test(rounds_without_rest_are_an_error),
        cmocka_unit_test(all_inputs_are_staged_first),
        cmocka_unit_test(only_units_that_are_there_cross),
        cmocka_unit_test(the_end_of_the_run_ends_the_rounds),
        cmocka_unit_test(ranks_cross_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
