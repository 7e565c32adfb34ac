/* SPDX-License-Identifier: MIT */
/* Discrete outputs that change: seen, named, and given up where they do nothing else. */
#include "fake_unit.h"

/* Three units on their own, of which two have something discrete to say. */
static struct fake_world *open_three(struct tt_fabric *fabric, const int32_t *place)
{
    struct fake_world *world = fake_new(3);
    world->fabric = fabric;
    world->place = place;
    world->options.events = "output";
    fake_connect(world, 0, FAKE_Y, 1, FAKE_U);
    fake_open(world);
    return world;
}

static _Thread_local struct tt_step_result seen; /* the last change; ranks are threads */

static bool look(struct fake_world *world)
{
    struct tt_step_result result = tt_step_result_begin(0, 1);
    assert_ok(tt_detector_detect(&world->execution.master.detector, 1, &result));
    if (result.end == TUTTI_END_OUTPUT_CHANGED)
        seen = result;
    return result.end == TUTTI_END_OUTPUT_CHANGED;
}

static void assert_changed(struct fake_world *world, uint32_t member, uint32_t variable)
{
    assert_true(look(world));
    assert_int_equal(seen.component, member);
    assert_int_equal(seen.variable, variable);
}

static void changes_are_those_since_the_mark(void **state)
{
    (void)state;
    struct fake_world *world = open_three(NULL, NULL);
    struct tt_detector *detector = &world->execution.master.detector;
    assert_true(tt_detector_has_outputs(&world->execution.rank));
    assert_ok(tt_detector_save_start(detector));
    assert_false(look(world));
    fake_at(world, 1)->state.x = 7; /* continuous */
    fake_at(world, 1)->state.k = 7; /* no output */
    assert_false(look(world));
    fake_at(world, 1)->state.n = 1;
    assert_changed(world, 1, FAKE_N);
    assert_changed(world, 1, FAKE_N); /* the mark is where it was */
    fake_at(world, 1)->state.n = 0;
    assert_false(look(world));
    fake_at(world, 2)->state.said[0] = 'x';
    assert_changed(world, 2, FAKE_SAID);
    fake_at(world, 0)->state.n = -1; /* of several, the first unit's */
    assert_changed(world, 0, FAKE_N);
    tt_detector_invalidate(detector);
    assert_ok(tt_detector_save_start(detector));
    assert_false(look(world));
    fake_close(world);
}

/* Outputs that have not changed are not read again. */
static void a_mark_that_is_known_costs_nothing(void **state)
{
    (void)state;
    struct fake_world *world = open_three(NULL, NULL);
    struct tt_detector *detector = &world->execution.master.detector;
    assert_ok(tt_detector_save_start(detector));
    unsigned long gets = fake_at(world, 1)->unit.counts.gets;
    assert_ok(tt_detector_save_start(detector));
    assert_int_equal(fake_at(world, 1)->unit.counts.gets, gets);
    tt_detector_invalidate(detector);
    assert_ok(tt_detector_save_start(detector));
    assert_true(fake_at(world, 1)->unit.counts.gets > gets);
    fake_close(world);
}

/* Ten consecutive changes at the very start of a step are not events; a later one ends the sequence. */
static void a_unit_that_does_nothing_else_is_ignored(void **state)
{
    (void)state;
    struct fake_world *world = open_three(NULL, NULL);
    struct tt_detector *detector = &world->execution.master.detector;
    assert_ok(tt_detector_save_start(detector));
    fake_at(world, 1)->state.n = 1;
    for (int i = 0; i < 19; i++) {
        assert_changed(world, 1, FAKE_N);
        tt_detector_count_change(detector, &seen, i != 9);
    }
    assert_changed(world, 1, FAKE_N); /* nine, one later, nine */
    tt_detector_count_change(detector, &seen, true);
    assert_false(look(world));
    fake_at(world, 2)->state.n = 1; /* others are still looked at */
    assert_changed(world, 2, FAKE_N);
    fake_close(world);
}

/* All ranks hear of the first unit with a change, whichever rank has it. */
static void look_apart(struct tt_fabric *fabric, const int32_t *place)
{
    struct fake_world *world = open_three(fabric, place);
    assert_ok(tt_detector_save_start(&world->execution.master.detector));
    assert_false(look(world));
    for (uint32_t c = 1; c < 3; c++)
        if (place[c] == fabric->rank)
            fake_at(world, c)->state.n = 1;
    assert_changed(world, 1, FAKE_N);
    if (place[1] == fabric->rank)
        fake_at(world, 1)->state.n = 0;
    assert_changed(world, 2, FAKE_N);
    fake_close(world);
}

static void ranks_see_the_same_change(void **state)
{
    (void)state;
    fake_run_ranks(2, (const int32_t[]){0, 1, 0}, look_apart);
    fake_run_ranks(2, (const int32_t[]){1, 0, 1}, look_apart);
    fake_run_ranks(3, (const int32_t[]){1, 2, 0}, look_apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_those_since_the_mark),
        cmocka_unit_test(a_mark_that_is_known_costs_nothing),
        cmocka_unit_test(a_unit_that_does_nothing_else_is_ignored),
        cmocka_unit_test(ranks_see_the_same_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
