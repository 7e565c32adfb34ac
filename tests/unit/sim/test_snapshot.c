/* SPDX-License-Identifier: MIT */
/* A point of a run to go back to: everything is as it was, to the bit, any number of times. */
#include "sim/fake_unit.h"

#include "sim/coupling/coupling.h"
#include "sim/events.h"
#include "sim/snapshot.h"

enum { UNITS = 2 };

/* Two units that exchange a value of each kind, with slopes; a text, too, if `texts`. */
static struct fake_world *open_units(struct tt_fabric *fabric, const int32_t *place, bool texts)
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
        if (texts)
            fake_connect(world, 1 - to, FAKE_SAID, to, FAKE_HEARD);
    }
    fake_open(world);
    return world;
}

static struct fake_world *open_pair(struct tt_fabric *fabric, const int32_t *place)
{
    return open_units(fabric, place, true);
}

/* A step, and an event of all units at its end: every signal is another then. */
static void go_on(struct fake_world *world)
{
    struct tt_rank *rank = &world->execution.rank;
    struct tt_sim *master = &world->execution.master;
    struct tt_step_result result;
    double target = rank->t + 0.1;
    bool crossed;
    assert_ok(tt_coupling_step(master, target, &master->rules, &result));
    assert_int_equal(result.end, TUTTI_END_REACHED);
    rank->t = target;
    assert_ok(tt_extrapolation_accept(&master->extrapolation));
    for (uint32_t m = 0; m < rank->own_count; m++) {
        rank->own[m]->now.event = true;
        fake_of(rank->own[m]->unit)->script.counts_up_to += 4;
    }
    assert_ok(tt_events_handle(master, &crossed));
    assert_true(crossed);
}

/* ---- every piece of state.def ---- */

enum { MOST = (1 + 2 * UNITS) * TUTTI_MOST_PIECES };

static size_t list_all(const struct tt_rank *rank, struct tt_state_piece pieces[MOST])
{
    size_t count = tt_snapshot_list(rank, NULL, TUTTI_STATE_OF_RANK, pieces);
    for (uint32_t m = 0; m < rank->member_count; m++)
        count += tt_snapshot_list(rank, &rank->members[m], TUTTI_STATE_OF_UNIT, pieces + count);
    for (uint32_t m = 0; m < rank->own_count; m++)
        count += tt_snapshot_list(rank, rank->own[m], TUTTI_STATE_OF_OWN, pieces + count);
    return count;
}

/* Random bytes in every piece; a copy of them in `saved`, which has room. */
static void fill(const struct tt_state_piece *pieces, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        for (size_t b = 0; b < pieces[i].size; b++) {
            seed = seed * 1664525 + 1013904223;
            ((char *)pieces[i].data)[b] = pieces[i].saved[b] = (char)(seed >> 24);
        }
}

static void pack_all(struct tt_rank *rank, struct tt_byte_writer *parcel)
{
    tt_snapshot_pack(rank, NULL, TUTTI_STATE_OF_RANK, parcel);
    for (uint32_t m = 0; m < UNITS; m++) {
        tt_snapshot_pack(rank, &rank->members[m], TUTTI_STATE_OF_UNIT, parcel);
        tt_snapshot_pack(rank, &rank->members[m], TUTTI_STATE_OF_OWN, parcel);
    }
}

static void unpack_all(struct tt_rank *rank, const struct tt_byte_writer *parcel)
{
    struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(parcel));
    assert_ok(tt_snapshot_unpack(rank, NULL, TUTTI_STATE_OF_RANK, &in));
    for (uint32_t m = 0; m < UNITS; m++) {
        assert_ok(tt_snapshot_unpack(rank, &rank->members[m], TUTTI_STATE_OF_UNIT, &in));
        assert_ok(tt_snapshot_unpack(rank, &rank->members[m], TUTTI_STATE_OF_OWN, &in));
    }
    assert_ptr_equal(in.at, in.end);
}

/* What it restores is as it was; everything else stays spoiled. */
static void every_piece_comes_back(void **state)
{
    (void)state;
    static const enum tt_state_carried ways[] = {TUTTI_STATE_ROLLBACK, TUTTI_STATE_POINT, TUTTI_STATE_CHECKPOINT};
    static char before[MOST][4096], after[MOST][4096];
    struct fake_world *world = open_units(NULL, NULL, false);
    struct tt_rank *rank = &world->execution.rank;
    struct tt_state_piece pieces[MOST];
    size_t count = list_all(rank, pieces);
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        struct tt_snapshot snapshot = {0};
        struct tt_byte_writer parcel = {0};
        for (size_t i = 0; i < count; i++) {
            assert_in_range(pieces[i].size, 0, sizeof before[i]);
            pieces[i].saved = before[i];
        }
        fill(pieces, count, 1);
        assert_ok(tt_snapshot_take(&snapshot, rank));
        pack_all(rank, &parcel);
        for (size_t i = 0; i < count; i++)
            pieces[i].saved = after[i];
        fill(pieces, count, 2);
        if (ways[way] == TUTTI_STATE_CHECKPOINT)
            unpack_all(rank, &parcel);
        else
            assert_ok(tt_snapshot_restore(&snapshot, rank, ways[way]));
        for (size_t i = 0; i < count; i++)
            assert_memory_equal(pieces[i].data, pieces[i].carried & ways[way] ? before[i] : after[i], pieces[i].size);
        tt_bytes_fini(&parcel);
        tt_snapshot_fini(&snapshot, rank);
    }
    fake_close(world);
}

struct field {
    const char *name;
    size_t at, size;
};

/* Every byte of a struct is that of a piece or of a field that is no state, or pads the next one. */
static void check_struct(const void *base, size_t size, const struct field *fields, size_t field_count,
                         const struct tt_state_piece *pieces, size_t count)
{
    static char known[sizeof(struct tt_rank) + sizeof(struct tt_member)];
    assert_in_range(size, 1, sizeof known);
    memset(known, 0, sizeof known);
    for (size_t i = 0; i < field_count; i++)
        memset(known + fields[i].at, 1, fields[i].size);
    for (size_t i = 0; i < count; i++) {
        uintptr_t at = (uintptr_t)pieces[i].data - (uintptr_t)base;
        if (pieces[i].data && at < size)
            memset(known + at, 1, pieces[i].size);
    }
    for (size_t at = 0, run = 0; at < size; at++) {
        run = known[at] ? 0 : run + 1;
        if (run == sizeof(double))
            fail_msg("the field at byte %zu is neither in state.def nor listed as no state", at + 1 - run);
    }
}

static void every_field_is_listed(void **state)
{
    (void)state;
#define OF_RANK(field)                                                                                                 \
    {                                                                                                                  \
#field, offsetof(struct tt_rank, field), sizeof((struct tt_rank *)NULL)->field                                 \
    }
    static const struct field of_rank[] = {
        /* Fixed when the run is opened. */
        OF_RANK(job), OF_RANK(stats), OF_RANK(arena), OF_RANK(fabric), OF_RANK(owns_fabric), OF_RANK(reports),
        OF_RANK(is_twin), OF_RANK(heartbeat), OF_RANK(place), OF_RANK(log), OF_RANK(unit_log), OF_RANK(units),
        OF_RANK(members), OF_RANK(member_count), OF_RANK(own), OF_RANK(own_count), OF_RANK(watched),
        OF_RANK(watched_count), OF_RANK(watches), OF_RANK(has_grids), OF_RANK(overlaps), OF_RANK(single_unit),
        OF_RANK(joins), OF_RANK(expected), OF_RANK(channels), OF_RANK(ticks), OF_RANK(times), OF_RANK(span),
        /* The arrays of the wires are pieces; slopes are set at the beginning of each step. */
        OF_RANK(wires),
        /* Saved by sim/pending_set.h; of the points that there are; `t`, and no member, after a restore. */
        OF_RANK(pending_sets), OF_RANK(kept_from), OF_RANK(target), OF_RANK(ended)};
#define OF_MEMBER(field)                                                                                               \
    {                                                                                                                  \
#field, offsetof(struct tt_member, field), sizeof((struct tt_member *)NULL)->field                             \
    }
    static const struct field of_member[] = {OF_MEMBER(unit), OF_MEMBER(wires), OF_MEMBER(inputs), OF_MEMBER(component),
                                             OF_MEMBER(has_grid), OF_MEMBER(driven), OF_MEMBER(bent), OF_MEMBER(ready),
                                             OF_MEMBER(setup),
                                             /* Only inside a step. */
                                             OF_MEMBER(made), OF_MEMBER(made_h), OF_MEMBER(begun_early),
                                             OF_MEMBER(pending), OF_MEMBER(begun), OF_MEMBER(inputs_begun),
                                             /* Remembered by the master (base/rollback_list.h). */
                                             OF_MEMBER(learned)};
    struct fake_world *world = open_units(NULL, NULL, false);
    const struct tt_rank *rank = &world->execution.rank;
    struct tt_state_piece pieces[MOST];
    size_t count = list_all(rank, pieces);
    check_struct(rank, sizeof *rank, of_rank, sizeof of_rank / sizeof *of_rank, pieces, count);
    check_struct(&rank->members[0], sizeof *rank->members, of_member, sizeof of_member / sizeof *of_member, pieces,
                 count);
    fake_close(world);
}

/* ---- a run ---- */

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
            picture->gathered[c] = rank->wires.gathered[c];
            picture->slopes[c] = rank->wires.gathered_slopes[0][c];
        }
        memcpy(&picture->members[c], &rank->members[c], sizeof *rank->members);
        picture->y[c] = *(const double *)slot_of(rank, c, FAKE_Y);
        picture->n[c] = *(const int32_t *)slot_of(rank, c, FAKE_N);
        picture->k[c] = *(const int32_t *)slot_of(rank, c, FAKE_K);
        snprintf(picture->said[c], sizeof picture->said[c], "%s", *(const char *const *)slot_of(rank, c, FAKE_SAID));
        snprintf(picture->heard[c], sizeof picture->heard[c], "%s", *(const char *const *)slot_of(rank, c, FAKE_HEARD));
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
        assert_ok(tt_snapshot_restore(&snapshot, rank, TUTTI_STATE_ROLLBACK));
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
    assert_ok(tt_snapshot_restore(&snapshot, rank, TUTTI_STATE_ROLLBACK));
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
    assert_ok(tt_snapshot_restore(&snapshot, rank, TUTTI_STATE_ROLLBACK));
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
        cmocka_unit_test(every_piece_comes_back), cmocka_unit_test(every_field_is_listed),
        cmocka_unit_test(everything_comes_back),  cmocka_unit_test(a_snapshot_is_taken_anew),
        cmocka_unit_test(ranks_go_back_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
