/* SPDX-License-Identifier: MIT */
/* The inbox brings to the conductor what is laid down, in whatever parts, and holds back who is too far ahead. */
#include "conduct/inbox.h"

#include <sched.h>

#include "conduct/conducted.h"

static _Atomic uint64_t stop_after;

static struct tutti_inbox *open_inbox(struct fixture *f)
{
    struct tutti_inbox *inbox;
    atomic_store(&stop_after, UINT64_MAX);
    conduct(f);
    assert_ok(tutti_inbox_new(&inbox, f->conductor, f->count, &stop_after));
    return inbox;
}

/* Lays down what rank r has reported, in parts of this size, as far as there is room; was it all? */
static bool put(struct fixture *f, struct tutti_inbox *inbox, int r, size_t part)
{
    struct reporting_rank *rank = &f->ranks[r];
    while (rank->taken < rank->bytes.size && tutti_inbox_has_room(inbox, r)) {
        size_t left = rank->bytes.size - rank->taken, size = left < part ? left : part;
        assert_ok(tutti_inbox_put(inbox, r, rank->bytes.bytes + rank->taken, size));
        rank->taken += size;
    }
    return rank->taken == rank->bytes.size;
}

static void put_all(struct fixture *f, struct tutti_inbox *inbox, int r, size_t part)
{
    while (!put(f, inbox, r, part))
        sched_yield();
}

static void finish(struct fixture *f, struct tutti_inbox *inbox)
{
    while (!tutti_inbox_is_done(inbox))
        sched_yield();
    assert_ok(tutti_inbox_free(inbox));
    struct tutti_run_stats stats = {0};
    assert_ok(tutti_conductor_finish(f->conductor, &stats));
    tutti_run_stats_fini(&stats);
}

static void parts_become_frames(void **state)
{
    (void)state;
    static const size_t parts[] = {1, 7, 64, 1000, 1 << 20};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        struct fixture f;
        double x;
        begin(&f, 2);
        tell_two(&f, &x, 3, 3);
        for (int r = 0; r < 2; r++)
            rank_end(&f.ranks[r], TUTTI_OK, "", 3);
        struct tutti_inbox *inbox = open_inbox(&f);
        put_all(&f, inbox, 1, parts[p]);
        put_all(&f, inbox, 0, parts[p]);
        finish(&f, inbox);
        assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n3,30,31\n");
        assert_int_equal(atomic_load(&stop_after), UINT64_MAX);
        end(&f);
    }
}

/* Rank 0 brings megabytes that have to wait for rank 1. */
static void who_is_ahead_has_to_wait(void **state)
{
    (void)state;
    enum { ROWS = 200001 };
    struct fixture f;
    double x;
    begin(&f, 2);
    tell_two(&f, &x, ROWS, ROWS);
    for (int r = 0; r < 2; r++)
        rank_end(&f.ranks[r], TUTTI_OK, "", ROWS);
    assert_true(f.ranks[0].bytes.size > (size_t)6 << 20);
    struct tutti_inbox *inbox = open_inbox(&f);
    for (int i = 0; i < 2000; i++) {
        assert_false(put(&f, inbox, 0, 4096));
        sched_yield();
    }
    assert_true(f.ranks[0].taken < (size_t)5 << 20);
    for (bool one = false, other = false; !one || !other; sched_yield()) {
        one = put(&f, inbox, 1, 65536);
        other = put(&f, inbox, 0, 65536);
    }
    finish(&f, inbox);
    char *text = slurp_file(f.result, NULL);
    const char *last = strstr(text, "\n200001,");
    assert_non_null(last);
    assert_string_equal(last, "\n200001,2000010,2000011\n");
    free(text);
    end(&f);
}

/* A frame that is larger than what a rank may otherwise have lying here. */
static void a_large_frame_comes_through(void **state)
{
    (void)state;
    enum { LENGTH = 5 << 20 };
    struct fixture f;
    char *text = malloc(LENGTH + 1);
    const char *value = text;
    assert_non_null(text);
    memset(text, 'a', LENGTH);
    text[LENGTH] = '\0';
    begin(&f, 1);
    rank_add(&f.ranks[0], 0, 0, "s", TUTTI_TYPE_STRING, &value);
    rank_tell_columns(&f.ranks[0]);
    rank_row(&f.ranks[0], 1);
    rank_end(&f.ranks[0], TUTTI_OK, "", 1);
    struct tutti_inbox *inbox = open_inbox(&f);
    put_all(&f, inbox, 0, 65536);
    finish(&f, inbox);
    size_t size;
    char *bytes = slurp_file(f.result, &size);
    assert_int_equal(size, strlen("time,s\n1,\n") + LENGTH);
    free(bytes);
    free(text);
    end(&f);
}

static void what_is_no_report_stops_the_run(void **state)
{
    (void)state;
    struct fixture f;
    double x;
    begin(&f, 2);
    tell_two(&f, &x, 1, 1);
    for (int r = 0; r < 2; r++)
        rank_end(&f.ranks[r], TUTTI_OK, "", 1);
    struct tutti_inbox *inbox = open_inbox(&f);
    char garbage[64];
    memset(garbage, 0xee, sizeof garbage);
    assert_ok(tutti_inbox_put(inbox, 1, garbage, sizeof garbage));
    put_all(&f, inbox, 0, 64);
    while (!tutti_inbox_is_done(inbox)) /* that rank is not waited for */
        sched_yield();
    assert_int_equal(atomic_load(&stop_after), 0);
    put_all(&f, inbox, 1, 64); /* and what it says is thrown away */
    assert_fails(tutti_inbox_free(inbox), TUTTI_ERR_FORMAT, "no report");
    struct tutti_run_stats stats = {0};
    assert_true(tutti_conductor_finish(f.conductor, &stats) != TUTTI_OK);
    tutti_run_stats_fini(&stats);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_become_frames),
        cmocka_unit_test(who_is_ahead_has_to_wait),
        cmocka_unit_test(a_large_frame_comes_through),
        cmocka_unit_test(what_is_no_report_stops_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
