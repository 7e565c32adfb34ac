/* SPDX-License-Identifier: MIT */
/* Where steps end (run.h R1, R2): at the earliest of all that may end one, by its exact time. */
#include "fake_unit.h"

#include "sim/control/control.h"
#include "scratch.h"

#define TIMES(...)                                                                                                     \
    (const double[])                                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__, INFINITY                                                                                          \
    }

/* Step by step: these are the ends, to the bit. */
static void assert_ends(struct fake_world *world, const double *ends)
{
    const struct tt_rank *rank = &world->execution.rank;
    for (; *ends < INFINITY; ends++) {
        assert_ok(tt_run_until_end(&world->execution.loop));
        assert_same_double(rank->t, *ends);
        for (uint32_t c = 0; c < world->count; c++)
            assert_same_double(fake_at(world, c)->state.t, *ends);
    }
}

static struct fake_world *new_pair(void)
{
    struct fake_world *world = fake_new(2);
    fake_connect(world, 0, FAKE_Y, 1, FAKE_U);
    return world;
}

static void check(struct fake_world *world, const double *ends)
{
    fake_open(world);
    assert_ends(world, ends);
    fake_close(world);
}

/* Multiples of the step, nothing added up; the last one is the stop time. */
static void communication_points(void **state)
{
    (void)state;
    struct fake_world *world = new_pair();
    world->times.stop = 0.75;
    fake_open(world);
    assert_ends(world, TIMES(0.1, 2 * 0.1, 3 * 0.1, 4 * 0.1, 5 * 0.1, 6 * 0.1, 7 * 0.1, 0.75));
    assert_ok(tt_run_until_end(&world->execution.loop)); /* nothing left to do */
    assert_same_double(world->execution.rank.t, 0.75);
    assert_int_equal(world->stats.steps, 8);
    fake_close(world);
}

static void recorded_points(void **state)
{
    (void)state;
    struct fake_world *world = new_pair();
    world->times.output_step = 0.04;
    check(world, TIMES(0.04, 2 * 0.04, 0.1, 3 * 0.04, 4 * 0.04, 5 * 0.04, 6 * 0.04));
}

static void announced_events(void **state)
{
    (void)state;
    struct fake_world *world = new_pair();
    world->scripts[1] = (struct fake_script){.announces = 0.07, .has_events = true};
    check(world, TIMES(0.07, 0.1, 0.07 * 2, 0.1 * 2, 0.07 * 3));
    world = new_pair();
    world->scripts[0] = (struct fake_script){.announces = 0.16, .has_events = true};
    world->scripts[1] = (struct fake_script){.announces = 0.15, .has_events = true};
    check(world, TIMES(0.1, 0.15, 0.16, 0.2, 0.15 * 2));
}

/* Two names of one point: what is announced counts, to the bit, be it the earlier or the later one; and there is one step. */
static void the_exact_time_of_an_event(void **state)
{
    (void)state;
    static const double steps[] = {0.1, 0.15}, events[] = {0.3, 0.45};
    assert_true(3 * 0.1 > 0.3 && 3 * 0.15 < 0.45);
    for (int i = 0; i < 2; i++) {
        struct fake_world *world = new_pair();
        world->times.step = steps[i];
        world->scripts[0] = (struct fake_script){.announces = events[i], .has_events = true};
        fake_open(world);
        assert_ends(world, TIMES(steps[i], 2 * steps[i], events[i], 4 * steps[i]));
        assert_int_equal(fake_at(world, 0)->events, 1);
        fake_close(world);
    }
}

/* A program that steps wants to halt there. */
static void where_a_program_halts(void **state)
{
    (void)state;
    struct fake_world *world = new_pair();
    fake_open(world);
    world->execution.loop.halt_at = 0.13;
    assert_ends(world, TIMES(0.1, 0.13));
    world->execution.loop.halt_at = INFINITY;
    assert_ends(world, TIMES(0.2, 0.1 * 3));
    fake_close(world);
}

static enum tutti_err note_visit(void *context, struct tt_rank *rank)
{
    *(double *)context = rank->t;
    return TUTTI_OK;
}

/* A visit is made where it is asked for. */
static void where_a_visit_is_due(void **state)
{
    (void)state;
    double visited = -1;
    const struct tt_visit visit = {.visit = note_visit, .context = &visited};
    struct fake_world *world = new_pair();
    fake_open(world);
    world->job.visit = &visit;
    world->job.visit_at = 0.17;
    assert_ends(world, TIMES(0.1, 0.17));
    assert_same_double(visited, 0.17);
    fake_close(world);
}

/* Held inputs of a file change at 0.17, in a unit that has events for that. */
static void jumps_of_an_input_file(void **state)
{
    (void)state;
    static const char rows[] = "time,K\n0,1\n0.17,2\n0.5,3\n";
    struct scratch folder;
    struct tt_trajectory_file file = {.name = "input.csv"};
    const struct tt_trajectory_input column = {.column = 0, .variable = FAKE_K};
    struct fake_world *world = new_pair();
    scratch_init(&folder);
    assert_ok(tt_csv_table_read(&file.table, scratch_write(&folder, "input.csv", rows, sizeof rows - 1)));
    world->scripts[0].has_events = true;
    fake_open(world);
    struct tt_rank *rank = &world->execution.rank;
    struct tt_member *member = fake_member(world, 0);
    member->inputs = tt_arena_alloc(&rank->arena, sizeof *member->inputs);
    assert_non_null(member->inputs);
    assert_ok(tt_inputs_open(member->inputs, &file, 1, &world->desc, TUTTI_CS, &column, 1));
    assert_ok(tt_inputs_bind(member->inputs, member->unit, NULL, 0));
    member->driven = true;
    assert_ok(tt_run_open(&world->execution.loop, &world->execution.master, true));
    assert_ends(world, TIMES(0.1, 0.17, 0.2));
    assert_int_equal(fake_at(world, 0)->state.k, 2);
    assert_int_equal(fake_at(world, 0)->events, 1);
    fake_close(world);
    tt_csv_table_free(file.table);
    scratch_fini(&folder);
}

/* ---- steps that vary ---- */

static enum tt_verdict accept(struct tt_sim *master, const struct tt_step_result *attempt)
{
    (void)master;
    (void)attempt;
    return TUTTI_ACCEPT;
}

static const struct tt_control varying = {.name = "varying",
                                          .varies = true,
                                          .attempt = tt_control_attempt_step,
                                          .judge = accept};

/* As the stepper says; hard ends are met without a splinter of a step before them. */
static void steps_of_a_control(void **state)
{
    (void)state;
    struct fake_world *world = new_pair();
    world->control = &varying;
    world->scripts[0] = (struct fake_script){.announces = 0.5, .has_events = true};
    fake_open(world);
    world->execution.master.memory.stepper.h = 0.2;
    assert_ends(world, TIMES(0.2));
    world->execution.master.memory.stepper.h = 0.25;
    assert_ends(world, TIMES(0.2 + (0.5 - 0.2) / 2, 0.5)); /* 0.3 are left: two halves, not 0.25 and 0.05 */
    world->execution.master.memory.stepper.h = 7;
    assert_ends(world, TIMES(1));
    fake_close(world);
}

/* What was located, or is owed to a unit, comes before all else. */
static void ends_that_a_master_remembers(void **state)
{
    (void)state;
    struct fake_world *world = new_pair();
    world->options.events = "output";
    fake_open(world);
    struct tt_step_history *memory = &world->execution.master.memory;
    memory->located = (struct tt_step_event){TUTTI_EVENT_LOCATED, 0, 0.05};
    assert_ends(world, TIMES(0.05));
    memory->pending = (struct tt_step_event){TUTTI_EVENT_ON_THE_WAY, 0, 0.08};
    assert_ends(world, TIMES(0.08, 0.1, 0.2));
    fake_close(world);
}

/* ---- ranks ---- */

/* Whichever rank announces, all end there. */
static void announce_apart(struct tt_fabric *fabric, const int32_t *place)
{
    struct fake_world *world = new_pair();
    const double ends[] = {0.07, 0.1, 0.16, 2 * 0.1};
    world->fabric = fabric;
    world->place = place;
    world->scripts[0] = (struct fake_script){.announces = 0.16, .has_events = true};
    fake_open(world);
    if (place[1] == fabric->rank) /* once */
        fake_member(world, 1)->now.next_event = 0.07;
    fake_member(world, 1)->unit->has_events = true;
    assert_ok(tt_run_open(&world->execution.loop, &world->execution.master, true));
    for (int n = 0; n < 4; n++) {
        assert_ok(tt_run_until_end(&world->execution.loop));
        assert_same_double(world->execution.rank.t, ends[n]);
        if (n == 0)
            fake_member(world, 1)->now.next_event = INFINITY;
    }
    fake_close(world);
}

static void ranks_end_together(void **state)
{
    (void)state;
    fake_run_ranks(2, (const int32_t[]){0, 1}, announce_apart);
    fake_run_ranks(2, (const int32_t[]){1, 0}, announce_apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(communication_points),
        cmocka_unit_test(recorded_points),
        cmocka_unit_test(announced_events),
        cmocka_unit_test(the_exact_time_of_an_event),
        cmocka_unit_test(where_a_program_halts),
        cmocka_unit_test(where_a_visit_is_due),
        cmocka_unit_test(jumps_of_an_input_file),
        cmocka_unit_test(steps_of_a_control),
        cmocka_unit_test(ends_that_a_master_remembers),
        cmocka_unit_test(ranks_end_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
