/* SPDX-License-Identifier: MIT */
/* Reports of fake ranks: the conductor's handling of errors, messages, counts, and malformed bytes. */
#include "run/conducted.h"

#include "sim/report/reporter.h"

/* ---- errors ---- */

static void test_which_error(void **state)
{
    (void)state;
    static const struct {
        enum tutti_err ends[3], result;
    } cases[] = {
        {{TUTTI_OK, TUTTI_OK, TUTTI_OK}, TUTTI_OK},
        {{TUTTI_ERR_STOPPED, TUTTI_ERR_FMU, TUTTI_ERR_STOPPED}, TUTTI_ERR_FMU},
        {{TUTTI_ERR_STOPPED, TUTTI_ERR_INTERRUPTED, TUTTI_OK}, TUTTI_ERR_INTERRUPTED},
        {{TUTTI_ERR_SOLVER, TUTTI_ERR_FMU, TUTTI_OK}, TUTTI_ERR_SOLVER},
        {{TUTTI_OK, TUTTI_ERR_INTERRUPTED, TUTTI_ERR_LOST}, TUTTI_ERR_INTERRUPTED},
        {{TUTTI_ERR_STOPPED, TUTTI_ERR_STOPPED, TUTTI_OK}, TUTTI_ERR_STOPPED},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct fixture f;
        begin(&f, 3);
        conduct(&f);
        for (int r = 0; r < 3; r++) {
            char message[20];
            snprintf(message, sizeof message, "end %d of %d", (int)cases[c].ends[r], r);
            rank_end(&f.ranks[r], cases[c].ends[r], message, r);
        }
        assert_ok(offer_all(&f));
        enum tutti_err err = tt_conductor_finish(f.conductor, NULL);
        assert_int_equal(err, cases[c].result);
        char expected[20];
        snprintf(expected, sizeof expected, "end %d of", (int)err);
        if (err)
            assert_contains(tutti_err_message(), expected);
        end(&f);
    }
}

/* At equal times, the first of the system's units counts, whichever rank reports first. */
static void test_two_failures(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct fixture f;
        begin(&f, 2);
        conduct(&f);
        for (int i = 0; i < 2; i++) {
            int r = i ^ first;
            rank_end_in(&f.ranks[r], r == 0 ? 5 : 2, TUTTI_ERR_FMU, r == 0 ? "the sixth" : "the third", 1);
            assert_ok(offer_all(&f));
        }
        assert_fails(tt_conductor_finish(f.conductor, NULL), TUTTI_ERR_FMU, "the third");
        end(&f);
    }
}

static void test_result_cannot_be_written(void **state)
{
    (void)state;
    struct fixture f;
    double x;
    begin(&f, 2);
    copy_text(f.result, sizeof f.result, scratch_path(&f.scratch, "nowhere/out.csv"));
    conduct(&f);
    tell_two(&f, &x, 1, 1);
    assert_fails(offer_all(&f), TUTTI_ERR_IO, "there is no folder");
    for (int r = 0; r < 2; r++)
        rank_end(&f.ranks[r], TUTTI_ERR_STOPPED, "stopped", 1);
    assert_ok(offer_all(&f));
    assert_fails(tt_conductor_finish(f.conductor, NULL), TUTTI_ERR_IO, "there is no folder");
    end(&f);
}

/* ---- messages, progress, steps, counts ---- */

static void test_messages(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 2);
    conduct(&f);
    assert_string_equal(tt_conductor_last_log_lines(f.conductor, 1), "");
    const struct tutti_log *log = tt_reporter_get_log(f.ranks[1].reporter);
    tt_log(log, TUTTI_LOG_WARNING, "ball", "it bounces");
    tt_log(log, TUTTI_LOG_DEBUG, "ball", "beyond the level of the log");
    tt_log(log, TUTTI_LOG_INFO, NULL, "of nobody");
    assert_ok(offer_all(&f));
    assert_string_equal(f.said, "1 ball: it bounces\n2 -: of nobody\n");
    assert_string_equal(tt_conductor_last_log_lines(f.conductor, 1),
                        "ball: it bounces\nball: beyond the level of the log");
    for (int i = 0; i < 9; i++)
        tt_log(log, TUTTI_LOG_DEBUG, "x", "%d", i);
    assert_ok(offer_all(&f));
    assert_string_equal(tt_conductor_last_log_lines(f.conductor, 1), "x: 1\nx: 2\nx: 3\nx: 4\nx: 5\nx: 6\nx: 7\nx: 8");
    assert_string_equal(tt_conductor_last_log_lines(f.conductor, 0), "");
    for (int r = 0; r < 2; r++)
        tt_conductor_mark_lost(f.conductor, r, TUTTI_ERR_LOST);
    assert_int_equal(tt_conductor_finish(f.conductor, NULL), TUTTI_ERR_LOST);
    end(&f);
}

static void test_progress(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 2);
    conduct(&f);
    assert_ok(tt_conductor_update(f.conductor));
    assert_int_equal(f.progress_calls, 0);
    struct tutti_progress ahead = {.start = -1, .stop = 9, .time = 5, .step = 0.5, .steps = 12, .elapsed = 3};
    struct tutti_progress behind = {.start = -1, .stop = 9, .time = 4, .step = 0.25, .steps = 11, .elapsed = 2.5};
    assert_ok(tt_reporter_send_progress(f.ranks[0].reporter, &ahead));
    assert_ok(tt_reporter_send_progress(f.ranks[1].reporter, &behind));
    assert_ok(offer_all(&f));
    assert_near(tt_conductor_time(f.conductor), 4, 0);
    for (int i = 0; i < 5; i++)
        assert_ok(tt_conductor_update(f.conductor)); /* nothing new: shown once */
    assert_int_equal(f.progress_calls, 1);
    assert_near(f.progress.time, 4, 0);
    assert_near(f.progress.start, -1, 0);
    assert_near(f.progress.stop, 9, 0);
    assert_near(f.progress.step, 0.25, 0);
    assert_int_equal(f.progress.steps, 11);
    assert_near(f.progress.elapsed, 2.5, 0);
    for (int r = 0; r < 2; r++)
        rank_end(&f.ranks[r], TUTTI_OK, "", 9);
    assert_ok(offer_all(&f));
    assert_ok(tt_conductor_finish(f.conductor, NULL));
    end(&f);
}

static void tell_step(struct reporting_rank *rank, const char *line)
{
    struct tt_byte_writer parcel = {0};
    tt_fabric_begin_report(&parcel);
    tt_bytes_put_text(&parcel, line);
    assert_ok(tt_fabric_send_report(&rank->fabric, TUTTI_REPORT_STEP, &parcel));
    tt_bytes_fini(&parcel);
}

static void test_step_log(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 1);
    f.options.step_log = f.step_log;
    conduct(&f);
    assert_false(exists(f.step_log));
    tell_step(&f.ranks[0], "t,h\n");
    tell_step(&f.ranks[0], "0,1\n");
    assert_ok(offer_all(&f));
    assert_file(f.step_log, "t,h\n0,1\n"); /* at once: a crash may follow */
    rank_end(&f.ranks[0], TUTTI_OK, "", 1);
    assert_ok(offer_all(&f));
    assert_ok(tt_conductor_finish(f.conductor, NULL));
    end(&f);
    begin(&f, 1);
    f.options.step_log = f.scratch.path; /* a folder */
    conduct(&f);
    tell_step(&f.ranks[0], "t,h\n");
    assert_fails(offer_all(&f), TUTTI_ERR_IO, "step-log: cannot write /tmp/tutti-test-");
    rank_end(&f.ranks[0], TUTTI_OK, "", 1);
    assert_ok(offer_all(&f));
    assert_fails(tt_conductor_finish(f.conductor, NULL), TUTTI_ERR_IO, "it is a folder");
    end(&f);
}

/* Rows 1 ... 4 of two ranks and lines of a step log; those from row `from` on are reported. */
static void tell_from(struct fixture *f, double *x, int from)
{
    static const char *const lines[] = {"0,1\n", "1,1\n", "2,1\n", "3,1\n"};
    tell_step(&f->ranks[0], "t,h\n"); /* always */
    for (int r = 0; r < 2; r++) {
        rank_add(&f->ranks[r], (uint32_t)r, 0, r ? "y" : "x", TUTTI_TYPE_FLOAT64, x);
        rank_tell_columns(&f->ranks[r]);
        for (int k = from; k <= 4; k++) {
            *x = 10 * k + r;
            rank_row(&f->ranks[r], k);
            if (r == 0)
                tell_step(&f->ranks[0], lines[k - 1]);
        }
        rank_end(&f->ranks[r], TUTTI_OK, "", 4);
    }
}

static struct tt_bytes bytes_of(const struct tt_byte_writer *mark)
{
    return (struct tt_bytes){mark->size, (const uint8_t *)mark->bytes};
}

static void test_interrupted(void **state)
{
    (void)state;
    static const char *const result = "time,x,y\n1,10,11\n2,20,21\n3,30,31\n4,40,41\n";
    static const char *const steps = "t,h\n0,1\n1,1\n2,1\n3,1\n";
    struct tt_byte_writer marks[2] = {{0}, {0}};
    struct tutti_run_stats stats;
    double x;
    struct fixture f, g;
    begin(&f, 2);
    f.options.step_log = f.step_log;
    conduct(&f);
    assert_ok(tt_conductor_mark(f.conductor, &marks[0], &marks[1]));
    assert_int_equal(marks[0].size + marks[1].size, 0); /* nothing is open */
    assert_ok(tt_conductor_sync(f.conductor));
    tell_two(&f, &x, 2, 2);
    tell_step(&f.ranks[0], "t,h\n");
    tell_step(&f.ranks[0], "0,1\n");
    tell_step(&f.ranks[0], "1,1\n");
    assert_ok(offer_all(&f));
    assert_ok(tt_conductor_mark(f.conductor, &marks[0], &marks[1]));
    assert_ok(tt_conductor_sync(f.conductor));
    for (int r = 0; r < 2; r++) {
        rank_row(&f.ranks[r], 2.5);
        tell_step(&f.ranks[0], "2,0.5\n");
        rank_end(&f.ranks[r], TUTTI_ERR_LOST, "lost", 3);
    }
    assert_ok(offer_all(&f));
    assert_fails(tt_conductor_finish(f.conductor, NULL), TUTTI_ERR_LOST, "lost");

    begin(&g, 2);
    copy_text(g.result, sizeof g.result, f.result);
    g.options.step_log = f.step_log;
    conduct(&g);
    tt_conductor_resume(g.conductor, bytes_of(&marks[0]), bytes_of(&marks[1]), 2);
    tell_from(&g, &x, 3);
    assert_ok(offer_all(&g));
    assert_ok(tt_conductor_finish(g.conductor, &stats));
    assert_int_equal(stats.rows, 4);
    tt_stats_fini(&stats);
    assert_file(f.result, result);
    assert_file(f.step_log, steps);
    end(&g);

    /* The files of another run. */
    begin(&g, 2);
    copy_text(g.result, sizeof g.result, f.result);
    g.options.step_log = f.step_log;
    conduct(&g);
    tt_conductor_resume(g.conductor, bytes_of(&marks[0]), bytes_of(&marks[1]), 2);
    assert_non_null(scratch_write(&f.scratch, "steps.csv", "t,h\n7,7\n8,8\n", 12));
    tell_from(&g, &x, 3);
    assert_fails(offer_all(&g), TUTTI_ERR_FORMAT, "step-log: cannot go on with");
    for (int r = 0; r < 2; r++)
        tt_conductor_mark_lost(g.conductor, r, TUTTI_ERR_STOPPED);
    assert_fails(tt_conductor_finish(g.conductor, NULL), TUTTI_ERR_FORMAT, "cannot go on with");
    end(&g);
    end(&f);
    tt_bytes_fini(&marks[0]);
    tt_bytes_fini(&marks[1]);
}

/* A rank's counts: it has some of four units. */
static struct tutti_run_stats make_tally(char *names[4])
{
    struct tutti_run_stats tally = {.coupling = (char *)"jacobi",
                                    .control = (char *)"slope",
                                    .events = (char *)"early",
                                    .fabric = (char *)"threads"};
    tally.units = calloc(4, sizeof *tally.units);
    assert_non_null(tally.units);
    tally.unit_count = 4;
    for (int i = 0; i < 4; i++)
        tally.units[i] = (struct tt_unit_stats){.name = names[i],
                                                .fmu = (char *)"u.fmu",
                                                .fmi = (char *)"3.0",
                                                .interface = (char *)"cs",
                                                .do_steps = (unsigned long)i};
    return tally;
}

static void test_counts(void **state)
{
    (void)state;
    struct fixture f;
    char *names[3][4] = {
        {NULL, (char *)"b", NULL, NULL}, {(char *)"a", NULL, NULL, (char *)"d"}, {NULL, NULL, (char *)"lost", NULL}};
    begin(&f, 3);
    conduct(&f);
    for (int r = 0; r < 2; r++) {
        struct tutti_run_stats tally = make_tally(names[r]);
        bool first = r == 0;
        tally.steps = first ? 100 : 99;
        tally.rejected = first ? 1 : 7;
        tally.exchanges = first ? 5 : 6;
        tally.events_located = first ? 4 : 3;
        tally.init_iterations = first ? 2 : 3;
        tally.overruns = first ? 0 : 2;
        tally.most_late = first ? 0 : 0.5;
        tally.setup_seconds = first ? 2 : 1;
        tally.loop_seconds = first ? 1 : 3;
        tally.stop = first ? 10 : 9;
        tally.uses_events = !first;
        tally.ranks = 3;
        tally.rows = 77;
        assert_ok(tt_reporter_send_tally(f.ranks[r].reporter, &tally));
        free(tally.units);
        rank_end(&f.ranks[r], TUTTI_OK, "", 10);
    }
    assert_ok(offer_all(&f));
    tt_conductor_mark_lost(f.conductor, 2, TUTTI_ERR_LOST);
    struct tutti_run_stats stats;
    assert_int_equal(tt_conductor_finish(f.conductor, &stats), TUTTI_ERR_LOST);
    assert_int_equal(stats.steps, 99); /* the least: another may have been ahead */
    assert_int_equal(stats.rejected, 8);
    assert_int_equal(stats.exchanges, 6);
    assert_int_equal(stats.events_located, 7);
    assert_int_equal(stats.init_iterations, 5);
    assert_int_equal(stats.overruns, 2);
    assert_near(stats.most_late, 0.5, 0);
    assert_near(stats.setup_seconds, 2, 0);
    assert_near(stats.loop_seconds, 3, 0);
    assert_near(stats.stop, 9, 0);
    assert_true(stats.uses_events);
    assert_int_equal(stats.ranks, 3);
    assert_int_equal(stats.rows, 0); /* that were written */
    assert_string_equal(stats.coupling, "jacobi");
    assert_string_equal(stats.fabric, "threads");
    assert_int_equal(stats.unit_count, 3);
    static const char *const order[] = {"a", "b", "d"};
    static const int where[] = {1, 0, 1}, steps[] = {0, 1, 3};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(stats.units[i].name, order[i]);
        assert_int_equal(stats.units[i].rank, where[i]);
        assert_int_equal(stats.units[i].do_steps, steps[i]);
    }
    tt_stats_fini(&stats);
    end(&f);
}

/* ---- bytes ---- */

/* Everything that a rank can say. */
static void say_everything(struct fixture *f)
{
    static double x = 1;
    static const char *text = "hello";
    char *names[4] = {(char *)"a", NULL, NULL, (char *)"b"};
    struct reporting_rank *rank = &f->ranks[0];
    rank_add(rank, 0, 0, "x", TUTTI_TYPE_FLOAT64, &x);
    rank_add(rank, 0, 1, "text", TUTTI_TYPE_STRING, &text);
    rank_tell_columns(rank);
    tell_step(rank, "t,h\n");
    tt_log(tt_reporter_get_log(rank->reporter), TUTTI_LOG_INFO, "u", "words");
    rank_row(rank, 1);
    assert_ok(tt_reporter_send_progress(rank->reporter, &(struct tutti_progress){.time = 1}));
    rank_row(rank, 2);
    struct tutti_run_stats tally = make_tally(names);
    assert_ok(tt_reporter_send_tally(rank->reporter, &tally));
    free(tally.units);
    rank_end(rank, TUTTI_ERR_FMU, "no more", 2);
}

/* As a stream comes in: never a frame before it is whole. */
static void test_byte_by_byte(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 1);
    f.options.step_log = f.step_log;
    conduct(&f);
    say_everything(&f);
    const char *bytes = f.ranks[0].bytes.bytes;
    size_t begin_at = 0, frames = 0;
    for (size_t n = 1; n <= f.ranks[0].bytes.size; n++) {
        /* In memory of the exact size, so that an overread would be detected. */
        char *part = malloc(n - begin_at);
        assert_non_null(part);
        memcpy(part, bytes + begin_at, n - begin_at);
        size_t taken;
        assert_ok(tt_conductor_receive(f.conductor, 0, part, n - begin_at, &taken));
        assert_true(taken == 0 || taken == n - begin_at);
        frames += taken > 0;
        begin_at += taken;
        free(part);
    }
    assert_int_equal(frames, 8);
    assert_int_equal(begin_at, f.ranks[0].bytes.size);
    struct tutti_run_stats stats;
    assert_fails(tt_conductor_finish(f.conductor, &stats), TUTTI_ERR_FMU, "no more");
    assert_int_equal(stats.unit_count, 2);
    tt_stats_fini(&stats);
    assert_file(f.result, "time,x,text\n1,1,hello\n2,1,hello\n");
    end(&f);
}

/* Each byte in turn is another one: the conductor takes it or refuses it, and finishes. */
static void test_spoilt_bytes(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 1);
    f.options.step_log = f.step_log;
    say_everything(&f);
    size_t refused = 0;
    for (size_t i = 0; i < f.ranks[0].bytes.size; i++) {
        size_t size = f.ranks[0].bytes.size, taken;
        char *bytes = malloc(size);
        assert_non_null(bytes);
        memcpy(bytes, f.ranks[0].bytes.bytes, size);
        bytes[i] = (char)(bytes[i] ^ (i % 2 ? 0xff : 0x01));
        conduct(&f);
        refused += tt_conductor_receive(f.conductor, 0, bytes, size, &taken) == TUTTI_ERR_FORMAT;
        assert_true(taken <= size);
        (void)!tt_fail(TUTTI_ERR_LOST, "lost");
        tt_conductor_mark_lost(f.conductor, 0, TUTTI_ERR_LOST);
        struct tutti_run_stats stats;
        assert_int_not_equal(tt_conductor_finish(f.conductor, &stats), TUTTI_OK);
        tt_stats_fini(&stats);
        free(bytes);
    }
    assert_true(refused > 100);
    end(&f);
}

/* A frame of this kind with these bytes alone, after columns: x. */
static enum tutti_err try_frame(enum tt_report_kind kind, const void *bytes, size_t size)
{
    struct fixture f;
    double x = 0;
    begin(&f, 1);
    conduct(&f);
    rank_add(&f.ranks[0], 0, 0, "x", TUTTI_TYPE_FLOAT64, &x);
    rank_tell_columns(&f.ranks[0]);
    struct tt_byte_writer parcel = {0};
    tt_fabric_begin_report(&parcel);
    tt_bytes_put_bytes(&parcel, bytes, size);
    assert_ok(tt_fabric_send_report(&f.ranks[0].fabric, kind, &parcel));
    tt_bytes_fini(&parcel);
    enum tutti_err err = offer_all(&f), expected = err;
    tt_conductor_mark_lost(f.conductor, 0, TUTTI_ERR_STOPPED);
    assert_int_equal(tt_conductor_finish(f.conductor, NULL), expected ? expected : TUTTI_ERR_STOPPED);
    end(&f);
    return err;
}

static void test_malformed(void **state)
{
    (void)state;
    static const char zeros[64];
    for (int kind = TUTTI_REPORT_COLUMNS; kind < TUTTI_REPORT_KINDS; kind++) {
        assert_int_equal(try_frame((enum tt_report_kind)kind, zeros, 0), TUTTI_ERR_FORMAT);
        assert_int_equal(try_frame((enum tt_report_kind)kind, zeros, 3), TUTTI_ERR_FORMAT);
    }
    assert_int_equal(try_frame(TUTTI_REPORT_COLUMNS, zeros, 12), TUTTI_ERR_FORMAT); /* a second time */
    assert_int_equal(try_frame(TUTTI_REPORT_ROW, zeros, 16), TUTTI_OK);
    assert_int_equal(try_frame(TUTTI_REPORT_ROW, zeros, 17), TUTTI_ERR_FORMAT); /* more than there are columns */
    assert_int_equal(try_frame(TUTTI_REPORT_ROW, zeros, 15), TUTTI_ERR_FORMAT);
    assert_int_equal(try_frame(TUTTI_REPORT_END, "\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20), TUTTI_ERR_FORMAT);
    struct fixture f;
    begin(&f, 1);
    conduct(&f);
    size_t taken;
    assert_fails(tt_conductor_receive(f.conductor, 0, "what came here is no report", 27, &taken), TUTTI_ERR_FORMAT,
                 "invalid report");
    assert_int_equal(tt_conductor_finish(f.conductor, NULL), TUTTI_ERR_FORMAT);
    end(&f);
}

/* Columns that no rank can have. */
static void test_hostile_columns(void **state)
{
    (void)state;
    static const struct {
        uint32_t count;
        uint8_t type;
        const char *name;
    } cases[] = {{UINT32_MAX, 0, "x"},       {2, 0, "x"},   {0, 0, "x"},
                 {1, TUTTI_TYPE_COUNT, "x"}, {1, 255, "x"}, {1, 0, NULL}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct fixture f;
        begin(&f, 1);
        conduct(&f);
        struct tt_byte_writer parcel = {0};
        tt_fabric_begin_report(&parcel);
        tt_bytes_put_text(&parcel, "plant");
        tt_bytes_put_u32(&parcel, cases[c].count);
        tt_bytes_put_u32(&parcel, 0);
        tt_bytes_put_u32(&parcel, 0);
        tt_bytes_put_text(&parcel, cases[c].name);
        tt_bytes_put_text(&parcel, NULL);
        tt_bytes_put_text(&parcel, NULL);
        tt_bytes_put_u8(&parcel, cases[c].type);
        tt_bytes_put_u8(&parcel, 0);
        assert_ok(tt_fabric_send_report(&f.ranks[0].fabric, TUTTI_REPORT_COLUMNS, &parcel));
        tt_bytes_fini(&parcel);
        assert_fails(offer_all(&f), TUTTI_ERR_FORMAT, "the columns of rank 0 are malformed");
        assert_false(exists(f.result));
        assert_int_equal(tt_conductor_finish(f.conductor, NULL), TUTTI_ERR_FORMAT);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_error),
        cmocka_unit_test(test_two_failures),
        cmocka_unit_test(test_result_cannot_be_written),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_step_log),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_spoilt_bytes),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_hostile_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
