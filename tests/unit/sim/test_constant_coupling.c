/* SPDX-License-Identifier: MIT */
/* A coupling that only this file knows of: what is written here, and its name in TUTTI_COUPLINGS (coupling.h), is all that a new one takes
 * (docs/extending.md). Everything else goes by its flags and functions. */
#include "fake_unit.h"

#include "sim/coupling/coupling.h"
#include "sim/step.h"

/* ---- the coupling: every unit sees what the others were at the first point, for ever ---- */

struct constant {
    char *first; /* the signals there */
};

static _Thread_local unsigned opened, closed;

static enum tutti_err open_constant(struct tt_sim *master, void *self)
{
    struct constant *constant = self;
    const struct tt_wires *wires = &master->rank->wires;
    opened++;
    assert_null(constant->first);
    constant->first = malloc(wires->signal_size + 1);
    if (!constant->first)
        return tt_fail_memory();
    memcpy(constant->first, wires->signals, wires->signal_size);
    return TUTTI_OK;
}

static void close_constant(struct tt_sim *master, void *self)
{
    struct constant *constant = self;
    (void)master;
    closed++;
    free(constant->first);
}

static enum tutti_err step_constant(struct tt_sim *master, void *self, double target, const struct tt_step_rules *rules,
                                    struct tt_step_result *result)
{
    const struct constant *constant = self;
    struct tt_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->own_count; m++)
        TRY(tt_wires_gather(&rank->wires, constant->first, rank->own[m]->wires));
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (tt_rank_member_is_due(rank, rank->own[m], target))
            TRY(tt_component_step(rank, rules, rank->own[m], target, result));
    return tt_channels_exchange(&rank->channels);
}

static unsigned order_of_constant(unsigned extrapolation)
{
    (void)extrapolation;
    return 0;
}

static const struct tt_coupling constant = {.name = "constant",
                                            .size = sizeof(struct constant),
                                            .open = open_constant,
                                            .close = close_constant,
                                            .step = step_constant,
                                            .order = order_of_constant};

/* ---- units that are coupled by it ---- */

static const double x_of[] = {1, 2, 4}, rate[] = {0.5, -1, 2}, gain[] = {0.25, 3, -0.5};

enum { UNITS = 3 };

/* In a circle. */
static struct fake_world *new_circle(const char *events)
{
    struct fake_world *world = fake_new(UNITS);
    world->coupling = &constant;
    world->options.events = events;
    for (uint32_t c = 0; c < UNITS; c++) {
        world->scripts[c] = (struct fake_script){.x = x_of[c], .rate = rate[c], .gain = gain[c]};
        fake_connect(world, (c + 1) % UNITS, FAKE_Y, c, FAKE_U);
    }
    opened = closed = 0;
    return world;
}

static double exactly(uint32_t c, double t)
{
    return x_of[c] + t * (rate[c] + gain[c] * x_of[(c + 1) % UNITS]);
}

static void close_circle(struct fake_world *world)
{
    assert_int_equal(opened, 1);
    assert_int_equal(closed, 0);
    fake_close(world);
    assert_int_equal(closed, 1);
}

static void couple_steps_it(void **state)
{
    (void)state;
    struct fake_world *world = new_circle("none");
    fake_open(world);
    for (int n = 1; n <= 5; n++) {
        struct tt_step_result result;
        assert_ok(tt_coupling_step(&world->execution.master, n * 0.1, &world->execution.master.rules, &result));
        assert_int_equal(result.end, TUTTI_END_REACHED);
        assert_int_equal(result.iterations, 0);
        assert_true(result.converged);
        world->execution.rank.t = n * 0.1;
        for (uint32_t c = 0; c < UNITS; c++)
            assert_near(fake_at(world, c)->state.x, exactly(c, n * 0.1), 1e-14);
    }
    assert_int_equal(world->stats.iterations, 0);
    close_circle(world);
}

/* The loop from beginning to end. */
static void the_loop_runs_it(void **state)
{
    (void)state;
    struct fake_world *world = new_circle("none");
    fake_open(world);
    world->execution.loop.steered = false;
    assert_ok(tt_run_until_end(&world->execution.loop));
    assert_same_double(world->execution.rank.t, 1);
    for (uint32_t c = 0; c < UNITS; c++)
        assert_near(fake_at(world, c)->state.x, exactly(c, 1), 1e-13);
    close_circle(world);
}

/* An event of one unit, and a change to be located in another: steps are taken back, and it need not know. */
static void steps_of_it_are_taken_back(void **state)
{
    (void)state;
    struct fake_world *world = new_circle("output");
    world->scripts[0].event_at = 0.03;
    world->scripts[0].has_events = true;
    world->scripts[2].changes_at = 0.17;
    fake_open(world);
    world->execution.loop.steered = false;
    assert_ok(tt_run_until_end(&world->execution.loop));
    assert_int_equal(fake_at(world, 0)->events, 1);
    assert_true(world->stats.rejected > 2);
    assert_int_equal(world->stats.events_located, 2);
    for (uint32_t c = 0; c < UNITS; c++)
        assert_near(fake_at(world, c)->state.x, exactly(c, 1), 1e-13);
    close_circle(world);
}

static double alone[UNITS];

/* Ranks come to the same bits as one rank alone, which is first. */
static void run_apart(struct tt_fabric *fabric, const int32_t *place)
{
    struct fake_world *world = new_circle("early");
    world->fabric = fabric;
    world->place = place;
    world->scripts[1].longest = 0.03;
    fake_open(world);
    world->execution.loop.steered = false;
    assert_ok(tt_run_until_end(&world->execution.loop));
    for (uint32_t c = 0; c < UNITS; c++) {
        if (!place)
            alone[c] = fake_at(world, c)->state.x;
        if (tt_rank_owns(&world->execution.rank, c))
            assert_same_double(fake_at(world, c)->state.x, alone[c]);
    }
    close_circle(world);
}

static void ranks_run_it(void **state)
{
    (void)state;
    run_apart(NULL, NULL);
    fake_run_ranks(2, (const int32_t[]){0, 1, 1}, run_apart);
    fake_run_ranks(3, (const int32_t[]){1, 2, 0}, run_apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(couple_steps_it),
        cmocka_unit_test(the_loop_runs_it),
        cmocka_unit_test(steps_of_it_are_taken_back),
        cmocka_unit_test(ranks_run_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
