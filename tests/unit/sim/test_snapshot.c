/* SPDX-License-Identifier: MIT */
/* A point of a run to go back to: everything is as it was, to the bit, any number of times. */
#include "sim/fake_unit.h"

#include "sim/coupling/coupling.h"
#include "sim/events.h"
#include "sim/snapshot.h"

enum { UNITS = 2 };

/* Two units that exchange a value of each kind, with slopes. */
static struct fake_world *open_pair(struct tt_fabric *fabric, const int32_t *place)
{
    struct fake_world *world = fake_new(UNITS);
    world->fabric = fabric;
    world->place = place;
    world->options.extrapolate = "1";
    for (uint32_t c = 0; c < UNITS; c++)
        world->scripts[c] = (struct fake_script){
            .rate = 1 + c, .gain = 0.3, .x = 2 - (double)c, .has_events = true, .counts_up_to = 3 + (int32_t)c};
    for (uint32_t to = 0; to < UNITS; to++) {
        fake_connect(world, 1 - to, FAKE_Y, to, FAKE_U);
        fake_connect(world, 1 - to, FAKE_N, to, FAKE_K);
        fake_connect(world, 1 - to, FAKE_SAID, to, FAKE_HEARD);
    }
    fake_open(world);
    return world;
}

/* A step, and an event of all units at its end: every signal is another then. */
static void go_on(struct fake_world *world)
{
    struct tt_rank *rank = &world->execution.rank;
    struct tt_sim *master = &world->execution.master;
    struct tt_outcome outcome;
    double target = rank->t + 0.1;
    bool crossed;
    assert_ok(tt_coupling_step(master, target, &outcome));
    assert_int_equal(outcome.why, TUTTI_REACHED);
    rank->t = target;
    assert_ok(tt_extrapolation_accept(&master->extrapolation));
    for (uint32_t m = 0; m < rank->own_count; m++) {
        rank->own[m]->now.event = true;
        fake_of(rank->own[m]->unit)->script.counts_up_to += 4;
    }
    assert_ok(tt_events_handle(master, &crossed));
    assert_true(crossed);
}

/* What a rank is made of, copied: the texts by content, since their places are used again. */
struct picture {
    struct fake_state states[UNITS];
    struct tt_member members[UNITS];
    bool held_changed[UNITS];
    double y[UNITS], gathered[UNITS], slopes[UNITS], t;
    int32_t n[UNITS], k[UNITS];
    char said[UNITS][16], heard[UNITS][16];
    unsigned long events_located, own_events;
};

static const void *slot_of(const struct tt_rank *rank, uint32_t c, enum fake_variable variable)
{
    uint32_t node = tt_structure_find(&rank->job->structure, c, variable, variable >= FAKE_Y);
    assert_int_not_equal(node, TUTTI_NONE);
    return rank->wires.slots[node].values;
}

static void look(struct fake_world *world, struct picture *picture)
{
    const struct tt_rank *rank = &world->execution.rank;
    memset(picture, 0, sizeof *picture);
    picture->t = rank->t;
    picture->events_located = world->stats.events_located;
    picture->own_events = rank->own_events;
    assert_int_equal(rank->wires.gather_count, UNITS);
    for (uint32_t c = 0; c < UNITS; c++) {
        if (tt_rank_owns(rank, c)) {
            picture->states[c] = fake_at(world, c)->state;
            picture->held_changed[c] = rank->members[c].wires->held_changed;
        }
        memcpy(&picture->members[c], &rank->members[c], sizeof *rank->members);
        picture->y[c] = *(const double *)slot_of(rank, c, FAKE_Y);
        picture->n[c] = *(const int32_t *)slot_of(rank, c, FAKE_N);
        picture->k[c] = *(const int32_t *)slot_of(rank, c, FAKE_K);
        snprintf(picture->said[c], sizeof picture->said[c], "%s", *(const char *const *)slot_of(rank, c, FAKE_SAID));
        snprintf(picture->heard[c], sizeof picture->heard[c], "%s", *(const char *const *)slot_of(rank, c, FAKE_HEARD));
        picture->gathered[c] = rank->wires.gathered[c];
        picture->slopes[c] = rank->wires.gathered_slopes[0][c];
    }
}

static void assert_same(const struct picture *a, const struct picture *b)
{
    assert_memory_equal(a->states, b->states, sizeof a->states);
    assert_memory_equal(a->members, b->members, sizeof a->members);
    assert_memory_equal(a->held_changed, b->held_changed, sizeof a->held_changed);
    assert_memory_equal(a->y, b->y, sizeof a->y);
    assert_memory_equal(a->gathered, b->gathered, sizeof a->gathered);
    assert_memory_equal(a->slopes, b->slopes, sizeof a->slopes);
    assert_same_double(a->t, b->t);
    assert_memory_equal(a->n, b->n, sizeof a->n);
    assert_memory_equal(a->k, b->k, sizeof a->k);
    assert_memory_equal(a->said, b->said, sizeof a->said);
    assert_memory_equal(a->heard, b->heard, sizeof a->heard);
    assert_int_equal(a->events_located, b->events_located);
    assert_int_equal(a->own_events, b->own_events);
}

/* Nothing of a picture is what it was. */
static void assert_all_moved(const struct picture *a, const struct picture *b)
{
    assert_true(a->t != b->t && a->events_located != b->events_located && a->own_events != b->own_events);
    for (uint32_t c = 0; c < UNITS; c++) {
        assert_memory_not_equal(&a->states[c], &b->states[c], sizeof a->states[c]);
        assert_true(a->members[c].now.t != b->members[c].now.t && a->y[c] != b->y[c] &&
                    a->gathered[c] != b->gathered[c] && a->slopes[c] != b->slopes[c] && a->n[c] != b->n[c] &&
                    a->k[c] != b->k[c] && a->held_changed[c] != b->held_changed[c]);
        assert_string_not_equal(a->said[c], b->said[c]);
        assert_string_not_equal(a->heard[c], b->heard[c]);
    }
}

/* What steps alone do not touch, or leave as it was. */
static void touch_the_rest(struct fake_world *world)
{
    struct tt_rank *rank = &world->execution.rank;
    rank->own_events += 3;
    rank->ended = &rank->members[0];
    for (uint32_t c = 0; c < UNITS; c++) {
        rank->members[c].wires->held_changed = true;
        rank->members[c].now.next_event = 0.5;
        rank->members[c].now.staged_at = 7;
        rank->wires.gathered[c] += 1;
        rank->wires.gathered_slopes[0][c] += 1;
    }
}

static void everything_comes_back(void **state)
{
    (void)state;
    struct fake_world *world = open_pair(NULL, NULL);
    struct tt_rank *rank = &world->execution.rank;
    struct tt_snapshot snapshot = {0};
    struct picture before, after;
    go_on(world);
    assert_ok(tt_snapshot_take(&snapshot, rank));
    look(world, &before);
    assert_string_not_equal(before.heard[0], "");
    for (int times = 0; times < 3; times++) {
        go_on(world);
        touch_the_rest(world);
        look(world, &after);
        if (times == 0)
            assert_all_moved(&before, &after);
        assert_ok(tt_snapshot_restore(&snapshot, rank));
        look(world, &after);
        assert_same(&before, &after);
        assert_null(rank->ended);
    }
    assert_int_equal(fake_at(world, 0)->restores, 3);
    tt_snapshot_fini(&snapshot, rank);
    fake_close(world);
}

/* One that is used again is that of the second point. */
static void a_snapshot_is_taken_anew(void **state)
{
    (void)state;
    struct fake_world *world = open_pair(NULL, NULL);
    struct tt_rank *rank = &world->execution.rank;
    struct tt_snapshot snapshot = {0};
    struct picture before, after;
    assert_ok(tt_snapshot_take(&snapshot, rank));
    go_on(world);
    assert_ok(tt_snapshot_take(&snapshot, rank));
    look(world, &before);
    go_on(world);
    assert_ok(tt_snapshot_restore(&snapshot, rank));
    look(world, &after);
    assert_same(&before, &after);
    tt_snapshot_fini(&snapshot, rank);
    fake_close(world);
}

/* Texts of another rank are pointers, too: they are sent again. */
static void go_back_apart(struct tt_fabric *fabric, const int32_t *place)
{
    struct fake_world *world = open_pair(fabric, place);
    struct tt_rank *rank = &world->execution.rank;
    struct tt_snapshot snapshot = {0};
    struct picture before, after;
    go_on(world);
    assert_ok(tt_snapshot_take(&snapshot, rank));
    look(world, &before);
    go_on(world);
    touch_the_rest(world);
    assert_ok(tt_snapshot_restore(&snapshot, rank));
    look(world, &after);
    assert_same(&before, &after);
    tt_snapshot_fini(&snapshot, rank);
    fake_close(world);
}

static void ranks_go_back_together(void **state)
{
    (void)state;
    fake_run_ranks(2, (const int32_t[]){0, 1}, go_back_apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(a_snapshot_is_taken_anew),
        cmocka_unit_test(ranks_go_back_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
