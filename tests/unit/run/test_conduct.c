/* SPDX-License-Identifier: MIT */
/* The conductor's loop on made-up ranks: what they report comes through in whatever pieces and order; ranks that are lost, silent or
 * cut off, interrupts, launchers that fail. */
#include "run/fake_launcher.h"

/* ---- the intake ---- */

/* Rows whose Strings have these lengths, from two ranks, in pieces of any size; the file is what it is without the way. */
static void check_rows(const size_t *lengths, int count, size_t bite)
{
    char *files[2];
    char *text = malloc(((size_t)4 << 20) + 1);
    assert_non_null(text);
    for (int way = 0; way < 2; way++) {
        struct fixture f;
        struct fake fake = {.f = &f, .bite = bite};
        const char *value = text;
        begin(&f, 2);
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
        if (way == 0) {
            conduct(&f);
            assert_ok(offer_all(&f));
            assert_ok(tt_conductor_finish(f.conductor, NULL));
        } else {
            assert_ok(fake_run(&fake, 0, 0));
            assert_int_equal(fake.stop_count, 0);
            assert_false(fake.cut);
        }
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
    static const size_t bites[] = {1, 13, 4096, 1 << 20, 0};
    check_rows(large, 9, 0);
    check_rows(large, 9, 65537);
    size_t small[2000];
    for (size_t i = 0; i < 2000; i++)
        small[i] = i * 7919 % 3001;
    for (size_t b = 0; b < sizeof bites / sizeof *bites; b++)
        check_rows(small, b == 0 ? 200 : 2000, bites[b]);
}

/* What has to wait for others stays with the launcher, so that the rank waits there. */
static void a_rank_that_is_ahead_has_to_wait(void **state)
{
    (void)state;
    enum { ROWS = 20001 };
    struct fixture f;
    struct fake fake = {.f = &f, .script = {[1] = {.from = 20}}, .bite = 4096};
    double x;
    begin(&f, 2);
    tell_two(&f, &x, ROWS, ROWS);
    for (int r = 0; r < 2; r++)
        rank_end(&f.ranks[r], TUTTI_OK, "", ROWS);
    assert_ok(fake_run(&fake, 0, 0));
    assert_true(fake.most_waiting > 0 && fake.most_waiting < 4096);
    char *text = slurp_file(f.result, NULL);
    const char *last = strstr(text, "\n20001,");
    assert_non_null(last);
    assert_string_equal(last, "\n20001,200010,200011\n");
    free(text);
    end(&f);
}

static void what_is_no_report_ends_the_run(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake = {.f = &f, .bite = 4096};
    double x;
    begin(&f, 2);
    tell_two(&f, &x, 3, 2);
    rank_end(&f.ranks[0], TUTTI_OK, "", 3);
    for (int i = 0; i < 300000; i++)
        tt_bytes_put_bytes(&f.ranks[1].bytes, "garbage", 7);
    assert_fails(fake_run(&fake, 0, 0), TUTTI_ERR_FORMAT, "invalid report");
    assert_int_equal(fake.stop_count, 1);
    assert_int_equal(fake.stops[0], 0);
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

static void a_rank_that_leaves_without_its_end_is_stopped(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake = {.f = &f, .bite = 100};
    double x;
    begin(&f, 2);
    tell_two(&f, &x, 3, 2);
    rank_end(&f.ranks[0], TUTTI_OK, "", 3);
    f.ranks[1].bytes.size -= 5; /* in the middle of a row */
    assert_fails(fake_run(&fake, 0, 0), TUTTI_ERR_STOPPED, "");
    assert_file(f.result, "time,x,y\n1,10,11\n");
    end(&f);
}

static void a_result_that_cannot_be_written_ends_the_run(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake = {.f = &f, .bite = 100};
    double x;
    begin(&f, 2);
    copy_text(f.result, sizeof f.result, scratch_path(&f.scratch, "nowhere/out.csv"));
    tell_two(&f, &x, 3, 3);
    for (int r = 0; r < 2; r++)
        rank_end(&f.ranks[r], TUTTI_ERR_STOPPED, "stopped", 3);
    assert_fails(fake_run(&fake, 0, 0), TUTTI_ERR_IO, "there is no folder");
    assert_int_equal(fake.stops[0], 0);
    end(&f);
}

/* ---- interrupts ---- */

static void an_interrupt_is_handed_on_and_stops_all(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake = {.f = &f, .interrupt_at = 3};
    double x;
    begin(&f, 2);
    tell_two(&f, &x, 2, 2);
    for (int r = 0; r < 2; r++)
        fake.script[r] = (struct fake_rank){
            .at_first = f.ranks[r].bytes.size, .then = FAKE_LIVES, .heeds_stop = true, .stopped_as = TUTTI_ERR_STOPPED};
    assert_fails(fake_run(&fake, 0, 9), TUTTI_ERR_INTERRUPTED, "interrupted at t = 0; everything up to there is kept");
    assert_int_equal(fake.interrupts, 1);
    assert_int_equal(fake.stop_count, 1);
    assert_int_equal(fake.stops[0], 0);
    assert_false(fake.cut);
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

/* ---- losses ---- */

/* Two ranks with `rows` rows each; then the second one does this, after `step` steps. The first one is stopped there. */
static void tell_loss(struct fixture *f, struct fake *fake, int rows0, int rows1, enum fake_end then)
{
    static double x;
    begin(f, 2);
    *fake = (struct fake){.f = f};
    tell_two(f, &x, rows0, rows1);
    const struct tutti_log *log = tt_reporter_get_log(f->ranks[1].reporter);
    tt_log(log, TUTTI_LOG_DEBUG, "ball", "it hurts");
    fake->script[0] = (struct fake_rank){
        .at_first = f->ranks[0].bytes.size, .then = FAKE_LIVES, .heeds_stop = true, .stopped_as = TUTTI_ERR_STOPPED};
    fake->script[1] = (struct fake_rank){.then = then, .step = 2};
}

static void a_rank_that_dies_stops_the_others_where_it_stood(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake;
    tell_loss(&f, &fake, 5, 2, FAKE_DIES);
    assert_fails(fake_run(&fake, 0, 9), TUTTI_ERR_LOST, "rank 1 is gone; its last words: ball: it hurts");
    assert_int_equal(fake.stop_count, 1);
    assert_int_equal(fake.stops[0], 2);
    assert_false(fake.ended[0]);
    assert_false(fake.cut);
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

/* Rows of the lost one wait for another, which brings them later. */
static void what_a_lost_rank_reported_is_in_the_result(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake;
    tell_loss(&f, &fake, 3, 3, FAKE_DIES);
    fake.script[0].from = 2;
    assert_fails(fake_run(&fake, 0, 9), TUTTI_ERR_LOST, "rank 1 is gone");
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n3,30,31\n");
    end(&f);
}

static void ranks_that_do_not_stop_are_ended(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake;
    tell_loss(&f, &fake, 5, 2, FAKE_DIES);
    fake.script[0].then = FAKE_HANGS;
    fake.script[0].heeds_stop = false;
    assert_fails(fake_run(&fake, 0, 9), TUTTI_ERR_LOST, "rank 1 is gone");
    assert_true(fake.ended[0]);
    assert_false(fake.ended[1]);
    assert_true(fake.cut);
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

static void the_first_loss_is_the_error(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake;
    tell_loss(&f, &fake, 5, 2, FAKE_DIES);
    fake.script[0] = (struct fake_rank){.from = 2, .then = FAKE_DIES, .step = 5};
    assert_fails(fake_run(&fake, 0, 9), TUTTI_ERR_LOST, "rank 1 is gone");
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

static void a_rank_that_gives_no_sign_of_life_is_ended(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake;
    tell_loss(&f, &fake, 5, 2, FAKE_HANGS);
    fake.heartbeats[1].step = 7;
    assert_fails(fake_run(&fake, 0.2, 9), TUTTI_ERR_LOST,
                 "worker 1 (in no FMU, t = 0) has given no sign of life for 0.2 s");
    assert_contains(tutti_err_message(), "its last words: ball: it hurts");
    assert_true(fake.ended[1]);
    assert_false(fake.ended[0]);
    assert_int_equal(fake.stops[0], 7);
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

/* It has heard the stop, and ended as it should; but the run is not where it was to be. */
static void a_rank_that_was_only_cut_off_is_a_loss(void **state)
{
    (void)state;
    for (int fine = 0; fine < 2; fine++) {
        struct fixture f;
        struct fake fake;
        tell_loss(&f, &fake, 2, 2, FAKE_IS_CUT_OFF);
        fake.script[1].at_first = f.ranks[1].bytes.size;
        fake.script[1].heeds_stop = true;
        fake.script[0].stopped_as = TUTTI_OK;
        enum tutti_err err = fake_run(&fake, 0, fine ? 0 : 9); /* made-up ranks count nothing: they came to 0 */
        if (fine)
            assert_ok(err);
        else
            assert_fails(err, TUTTI_ERR_LOST, "rank 1 is gone");
        assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
        end(&f);
    }
}

static void a_rank_that_dies_after_its_end_is_no_loss(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake;
    tell_loss(&f, &fake, 2, 2, FAKE_DIES);
    rank_end(&f.ranks[1], TUTTI_OK, "", 2);
    rank_end(&f.ranks[0], TUTTI_OK, "", 2);
    fake.script[0] = (struct fake_rank){0};
    assert_ok(fake_run(&fake, 0, 9));
    assert_int_equal(fake.stop_count, 0);
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

static void a_conductor_in_a_thread_comes_to_the_same(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake;
    tell_loss(&f, &fake, 5, 2, FAKE_DIES);
    fake.beside = true;
    assert_fails(fake_run(&fake, 0, 9), TUTTI_ERR_LOST, "rank 1 is gone; its last words: ball: it hurts");
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

/* ---- launchers that fail ---- */

static void a_rank_that_cannot_be_started_stops_the_others(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake;
    tell_loss(&f, &fake, 2, 2, FAKE_LEAVES);
    fake.fails_start = 1;
    assert_fails(fake_run(&fake, 0, 9), TUTTI_ERR_LIMIT, "rank 1 cannot be started");
    assert_int_equal(fake.started, 1);
    assert_int_equal(fake.stops[0], 0);
    assert_false(exists(f.result));
    end(&f);
}

static void a_launcher_that_fails_ends_the_run(void **state)
{
    (void)state;
    struct fixture f;
    struct fake fake;
    tell_loss(&f, &fake, 2, 2, FAKE_LIVES);
    fake.script[1].at_first = f.ranks[1].bytes.size;
    fake.script[1].heeds_stop = true;
    fake.fails_poll = 3;
    assert_fails(fake_run(&fake, 0, 9), TUTTI_ERR_IO, "the wire broke");
    assert_int_equal(fake.stops[0], 0);
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

/* The slots that the loop calls without a check. */
static void every_launcher_has_what_the_conductor_calls(void **state)
{
    (void)state;
#define LISTED(name) &tt_launcher_##name,
    static const struct tt_launcher *const launchers[] = {TUTTI_LAUNCHERS(LISTED)};
#undef LISTED
    const size_t count = sizeof launchers / sizeof *launchers;
    for (size_t i = 0; i < count; i++) {
        const struct tt_launcher *launcher = launchers[i];
        assert_non_null(launcher->name);
        assert_true(launcher->is_asked_for && launcher->place);
        assert_true(launcher->is_asked_for(&(struct tutti_run_options){0}) == (i == count - 1));
        if (launcher->work && !launcher->has_conductor)
            continue;
        assert_true(launcher->poll && launcher->look && launcher->reports && launcher->consume && launcher->stop &&
                    launcher->finish && launcher->grace > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_all_sizes_come_through),
        cmocka_unit_test(a_rank_that_is_ahead_has_to_wait),
        cmocka_unit_test(what_is_no_report_ends_the_run),
        cmocka_unit_test(a_rank_that_leaves_without_its_end_is_stopped),
        cmocka_unit_test(a_result_that_cannot_be_written_ends_the_run),
        cmocka_unit_test(an_interrupt_is_handed_on_and_stops_all),
        cmocka_unit_test(a_rank_that_dies_stops_the_others_where_it_stood),
        cmocka_unit_test(what_a_lost_rank_reported_is_in_the_result),
        cmocka_unit_test(ranks_that_do_not_stop_are_ended),
        cmocka_unit_test(the_first_loss_is_the_error),
        cmocka_unit_test(a_rank_that_gives_no_sign_of_life_is_ended),
        cmocka_unit_test(a_rank_that_was_only_cut_off_is_a_loss),
        cmocka_unit_test(a_rank_that_dies_after_its_end_is_no_loss),
        cmocka_unit_test(a_conductor_in_a_thread_comes_to_the_same),
        cmocka_unit_test(a_rank_that_cannot_be_started_stops_the_others),
        cmocka_unit_test(a_launcher_that_fails_ends_the_run),
        cmocka_unit_test(every_launcher_has_what_the_conductor_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
