/* SPDX-License-Identifier: MIT */
/* Reports of made-up ranks on their way through shared memory: frames that are larger than its room or cut at its end, reports
 * that are none, a conductor that fails. */
#include "conduct/conducted.h"

#include <pthread.h>

#include "conduct/drain.h"

struct sender {
    struct tutti_shared *area;
    int rank;
    const struct tutti_parcel *bytes;
    size_t bite; /* bytes that it reports at once */
};

static void *send_all(void *context)
{
    const struct sender *self = context;
    struct tutti_fabric *fabric = NULL;
    if (tutti_shared_join(self->area, self->rank, &fabric))
        return "cannot join";
    for (size_t at = 0, part; at < self->bytes->size; at += part) {
        part = self->bytes->size - at < self->bite ? self->bytes->size - at : self->bite;
        if (fabric->kind->report(fabric, self->bytes->bytes + at, part))
            return "cannot report";
    }
    fabric->kind->close(fabric);
    return NULL;
}

/* Everything that the ranks of the fixture have reported goes through an area; as launchers do it. */
static enum tutti_err drain(struct fixture *f, size_t bite, const volatile sig_atomic_t *interrupt,
                            uint64_t *stop_after)
{
    struct tutti_drain drain;
    struct tutti_shared *area = NULL;
    struct sender senders[RANKS];
    pthread_t threads[RANKS];
    assert_ok(tutti_shared_new(&area, f->count, "test"));
    assert_ok(tutti_drain_init(&drain, area, f->conductor, interrupt, f->count));
    for (int r = 0; r < f->count; r++) {
        senders[r] = (struct sender){area, r, &f->ranks[r].bytes, bite};
        assert_int_equal(pthread_create(&threads[r], NULL, send_all, &senders[r]), 0);
    }
    for (bool left = false; !left;) {
        uint32_t seen = tutti_shared_bell(area);
        left = true;
        for (int r = 0; r < f->count; r++)
            left &= tutti_shared_has_left(area, r);
        tutti_drain_all(&drain);
        if (!left)
            tutti_shared_wait(area, seen, TUTTI_DRAIN_NAP);
    }
    for (int r = 0; r < f->count; r++) {
        void *failed = NULL;
        pthread_join(threads[r], &failed);
        assert_null(failed);
    }
    enum tutti_err err = tutti_drain_finish(&drain);
    assert_true(tutti_conductor_is_done(f->conductor));
    struct tutti_fabric *fabric = NULL;
    assert_ok(tutti_shared_join(area, 0, &fabric));
    *stop_after = atomic_load(fabric->stop_after);
    fabric->kind->close(fabric);
    tutti_drain_fini(&drain);
    tutti_shared_free(area);
    return err;
}

/* Rows whose Strings have these lengths, from two ranks, in bites of many sizes; the file is what it is without the way. */
static void check_rows(const size_t *lengths, int count, size_t bite)
{
    char *files[2];
    char *text = malloc(((size_t)4 << 20) + 1);
    assert_non_null(text);
    for (int way = 0; way < 2; way++) {
        struct fixture f;
        const char *value = text;
        uint64_t stop_after = UINT64_MAX;
        begin(&f, 2);
        conduct(&f);
        for (int r = 0; r < 2; r++) {
            rank_add(&f.ranks[r], (uint32_t)r, 0, r ? "y" : "x", TUTTI_TYPE_STRING, &value);
            rank_tell_columns(&f.ranks[r]);
            for (int k = 0; k < count; k++) {
                memset(text, 'a' + (k + r) % 26, lengths[k]);
                text[lengths[k]] = '\0';
                rank_row(&f.ranks[r], k);
            }
            rank_end(&f.ranks[r], TUTTI_OK, "", count);
        }
        assert_ok(way == 0 ? offer_all(&f) : drain(&f, bite, NULL, &stop_after));
        assert_ok(tutti_conductor_finish(f.conductor, NULL));
        assert_true(stop_after == UINT64_MAX);
        files[way] = slurp_file(f.result, NULL);
        end(&f);
    }
    assert_string_equal(files[0], files[1]);
    free(files[0]);
    free(files[1]);
    free(text);
}

static void frames_of_all_sizes_come_through(void **state)
{
    (void)state;
    static const size_t large[] = {10, 1 << 20, 0, 4 << 20, 5, (1 << 20) - 100, 1 << 19, 3 << 20, 7};
    static const size_t bites[] = {1, 13, 4096, 1 << 20, (size_t)1 << 30};
    check_rows(large, 9, (size_t)1 << 30);
    check_rows(large, 9, 65537);
    size_t small[2000];
    for (size_t i = 0; i < 2000; i++)
        small[i] = i * 7919 % 3001;
    for (size_t b = 0; b < sizeof bites / sizeof *bites; b++)
        check_rows(small, b == 0 ? 200 : 2000, bites[b]);
}

static void what_is_no_report_ends_the_run(void **state)
{
    (void)state;
    struct fixture f;
    double x;
    uint64_t stop_after;
    begin(&f, 2);
    conduct(&f);
    tell_two(&f, &x, 3, 2);
    rank_end(&f.ranks[0], TUTTI_OK, "", 3);
    for (int i = 0; i < 300000; i++)
        tutti_parcel_put_bytes(&f.ranks[1].bytes, "garbage", 7);
    assert_fails(drain(&f, 4096, NULL, &stop_after), TUTTI_ERR_FORMAT, "no report");
    assert_true(stop_after == 0);
    assert_fails(tutti_conductor_finish(f.conductor, NULL), TUTTI_ERR_FORMAT, "no report");
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

static void a_rank_that_says_no_end_is_stopped(void **state)
{
    (void)state;
    struct fixture f;
    double x;
    uint64_t stop_after;
    begin(&f, 2);
    conduct(&f);
    tell_two(&f, &x, 3, 2);
    rank_end(&f.ranks[0], TUTTI_OK, "", 3);
    f.ranks[1].bytes.size -= 5; /* in the middle of a row */
    assert_ok(drain(&f, 4096, NULL, &stop_after));
    assert_fails(tutti_conductor_finish(f.conductor, NULL), TUTTI_ERR_STOPPED, "");
    assert_file(f.result, "time,x,y\n1,10,11\n");
    end(&f);
}

static void a_result_that_cannot_be_written_ends_the_run(void **state)
{
    (void)state;
    struct fixture f;
    double x;
    uint64_t stop_after;
    begin(&f, 2);
    copy_text(f.result, sizeof f.result, scratch_path(&f.scratch, "nowhere/out.csv"));
    conduct(&f);
    tell_two(&f, &x, 3, 3);
    for (int r = 0; r < 2; r++)
        rank_end(&f.ranks[r], TUTTI_ERR_STOPPED, "stopped", 3);
    assert_fails(drain(&f, 100, NULL, &stop_after), TUTTI_ERR_IO, "there is no folder");
    assert_true(stop_after == 0);
    assert_fails(tutti_conductor_finish(f.conductor, NULL), TUTTI_ERR_IO, "there is no folder");
    end(&f);
}

static void an_interrupt_stops_all(void **state)
{
    (void)state;
    struct fixture f;
    double x;
    uint64_t stop_after;
    const volatile sig_atomic_t interrupt = 2;
    begin(&f, 2);
    conduct(&f);
    tell_two(&f, &x, 2, 2);
    for (int r = 0; r < 2; r++)
        rank_end(&f.ranks[r], TUTTI_OK, "", 2);
    assert_ok(drain(&f, 100, &interrupt, &stop_after));
    assert_true(stop_after == 0);
    assert_ok(tutti_conductor_finish(f.conductor, NULL));
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_all_sizes_come_through),
        cmocka_unit_test(what_is_no_report_ends_the_run),
        cmocka_unit_test(a_rank_that_says_no_end_is_stopped),
        cmocka_unit_test(a_result_that_cannot_be_written_ends_the_run),
        cmocka_unit_test(an_interrupt_stops_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
