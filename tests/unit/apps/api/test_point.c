/* SPDX-License-Identifier: MIT */
/* A master's experience with its units belongs to a point: restoring the point restores it. */
#include "sim/fake_unit.h"

#include "apps/api/simulation.h"
#include "sim/pending_set.h"

/* The calls of a unit in a number of steps from the run's point. */
struct calls {
    struct fake_call items[FAKE_MOST_STEPS];
    unsigned count;
    double reached;
};

static struct calls step_on(struct fake_world *world, uint32_t c, int steps)
{
    struct fake_unit *fake = fake_at(world, c);
    struct calls calls;
    fake->step_count = 0;
    for (int n = 0; n < steps; n++)
        assert_ok(tt_run_until_end(&world->execution.loop));
    assert_true(fake->step_count > 0);
    calls.count = fake->step_count;
    memcpy(calls.items, fake->steps, sizeof calls.items);
    calls.reached = world->execution.rank.t;
    return calls;
}

static void assert_same_calls(const struct calls *a, const struct calls *b)
{
    assert_int_equal(a->count, b->count);
    assert_same_double(a->reached, b->reached);
    for (unsigned i = 0; i < a->count && i < FAKE_MOST_STEPS; i++) {
        assert_same_double(a->items[i].t, b->items[i].t);
        assert_same_double(a->items[i].h, b->items[i].h);
        assert_same_double(a->items[i].x, b->items[i].x);
    }
}

/* From a point after each of the first `points` steps `ahead` on, back, and on again, as unit b sees it. */
static void go_back_and_forth(struct fake_world *world, int points, int ahead)
{
    struct tt_simulation_points all = {0};
    struct tt_pending_sets none = {0};
    struct tutti_point *point = NULL;
    world->execution.rank.pending_sets = &none;
    for (int n = 0; n < points; n++) {
        assert_ok(tt_simulation_save_point(&all, &point, &world->execution));
        struct calls once = step_on(world, 1, ahead);
        assert_ok(tt_simulation_restore_point(&all, point, &world->execution));
        struct calls again = step_on(world, 1, ahead);
        assert_same_calls(&once, &again);
        assert_ok(tt_simulation_restore_point(&all, point, &world->execution));
        (void)step_on(world, 1, 1);
    }
    tt_simulation_free_points(&all, &world->execution);
}

static struct fake_world *new_pair(const char *coupling, const char *events)
{
    struct fake_world *world = fake_new(2);
    world->scripts[0].rate = world->scripts[1].rate = 1;
    world->scripts[1].gain = 1;
    fake_connect(world, 0, FAKE_Y, 1, FAKE_U);
    world->options.coupling = coupling;
    world->options.events = events;
    world->times.stop = 4;
    return world;
}

/* An output that changes in every step is ignored after ten of them: to be found out again. */
static void outputs_that_are_ignored(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("jacobi", "output");
    world->scripts[1].flickers = true;
    fake_open(world);
    go_back_and_forth(world, 14, 8);
    fake_close(world);
}

/* A unit that returns early at the start of every step because of its inputs crosses these events alone after some of
 * them. */
static void a_unit_that_takes_its_inputs_as_news(void **state)
{
    (void)state;
    struct fake_world *world = new_pair("seidel", "early");
    world->scripts[1].waits = world->scripts[1].has_events = true;
    fake_open(world);
    go_back_and_forth(world, 7, 6);
    assert_true(fake_at(world, 1)->events > 0);
    fake_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_that_are_ignored),
        cmocka_unit_test(a_unit_that_takes_its_inputs_as_news),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
