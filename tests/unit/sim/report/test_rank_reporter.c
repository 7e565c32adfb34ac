/* SPDX-License-Identifier: MIT */
/* The reports of a rank: including messages from other threads, and errors that survive it. */
#include "run/frames.h"

#include <pthread.h>

enum { THREADS = 4, MESSAGES = 200 };

/* Takes the next frame out; it has to be of this kind. */
static struct tt_byte_reader next_frame(struct reporting_rank *rank, enum tt_report_kind expected)
{
    const char *at = rank->bytes.bytes + rank->taken;
    enum tt_report_kind kind;
    size_t size;
    bool whole;
    assert_ok(tt_fabric_find_report(at, rank->bytes.size - rank->taken, &kind, &size, &whole));
    assert_true(whole);
    assert_int_equal(kind, expected);
    rank->taken += TUTTI_REPORT_HEADER + size;
    at += TUTTI_REPORT_HEADER;
    return (struct tt_byte_reader){.at = at, .end = at + size};
}

static void assert_message(struct reporting_rank *rank, enum tutti_log_level level, const char *origin,
                           const char *text)
{
    struct tt_byte_reader in = next_frame(rank, TUTTI_REPORT_LOG);
    assert_int_equal(tt_bytes_get_u8(&in), level);
    const char *from = tt_bytes_get_text(&in), *said = tt_bytes_get_text(&in);
    assert_true(origin ? from && strcmp(from, origin) == 0 : !from);
    assert_string_equal(said, text);
    assert_true(!in.bad && in.at == in.end);
}

static void *chatter(void *context)
{
    const struct tutti_log *log = context;
    for (int i = 0; i < MESSAGES; i++)
        tt_log(log, TUTTI_LOG_INFO, "fmu", "message");
    return NULL;
}

/* FMUs may have threads; the fabric belongs to the rank's. */
static void test_other_threads(void **state)
{
    (void)state;
    struct reporting_rank rank;
    rank_init(&rank, 0, 1);
    const struct tutti_log *log = tt_reporter_get_log(rank.reporter);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, chatter, (void *)log), 0);
    int own = 0;
    for (int i = 0; i < 50; i++, own++)
        tt_log(log, TUTTI_LOG_WARNING, NULL, "own");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    rank_end(&rank, TUTTI_OK, "", 1);
    int others = 0;
    for (int i = 0; i < 50 + THREADS * MESSAGES; i++) {
        struct tt_byte_reader in = next_frame(&rank, TUTTI_REPORT_LOG);
        bool is_own = tt_bytes_get_u8(&in) == TUTTI_LOG_WARNING;
        (void)tt_bytes_get_text(&in);
        assert_string_equal(tt_bytes_get_text(&in), is_own ? "own" : "message");
        own -= is_own;
        others += !is_own;
    }
    assert_int_equal(own, 0);
    assert_int_equal(others, THREADS * MESSAGES);
    (void)next_frame(&rank, TUTTI_REPORT_END);
    assert_int_equal(rank.taken, rank.bytes.size);
    rank_fini(&rank);
}

static enum tutti_err refuse(struct tt_fabric *fabric, const void *bytes, size_t size)
{
    (void)fabric;
    (void)bytes;
    (void)size;
    return tt_fail(TUTTI_ERR_STOPPED, "nobody listens");
}

/* A caller that logs on the way out keeps the message of what went wrong. */
static void test_message_survives(void **state)
{
    (void)state;
    struct reporting_rank rank;
    static const struct tt_fabric_kind deaf = {.name = "deaf", .report = refuse};
    rank_init(&rank, 0, 1);
    rank.fabric.kind = &deaf;
    assert_int_equal(tt_fail(TUTTI_ERR_FMU, "ball: it burst"), TUTTI_ERR_FMU);
    tt_log(tt_reporter_get_log(rank.reporter), TUTTI_LOG_WARNING, "ball", "bang");
    assert_string_equal(tutti_err_message(), "ball: it burst");
    assert_int_equal(tt_reporter_send_end(rank.reporter, TUTTI_ERR_FMU, 2, 1), TUTTI_ERR_STOPPED);
    assert_string_equal(tutti_err_message(), "ball: it burst");
    rank_fini(&rank);
}

static void test_frames(void **state)
{
    (void)state;
    struct reporting_rank rank;
    rank_init(&rank, 0, 1);
    tt_log(tt_reporter_get_log(rank.reporter), TUTTI_LOG_DEBUG, "ball", "b%d", 1);
    struct tutti_progress progress = {
        .start = 1, .stop = 2, .time = 3, .step = 4, .steps = 5, .elapsed = 6, .paused = true};
    assert_ok(tt_reporter_send_progress(rank.reporter, &progress));
    rank_end(&rank, TUTTI_ERR_SOLVER, "no step is small enough", 7);
    assert_message(&rank, TUTTI_LOG_DEBUG, "ball", "b1");
    struct tt_byte_reader in = next_frame(&rank, TUTTI_REPORT_PROGRESS);
    for (int i = 1; i < 5; i++)
        assert_near(tt_bytes_get_double(&in), i, 0);
    assert_int_equal(tt_bytes_get_u64(&in), 5);
    assert_near(tt_bytes_get_double(&in), 6, 0);
    assert_int_equal(tt_bytes_get_u8(&in), 1);
    assert_true(!in.bad && in.at == in.end);
    in = next_frame(&rank, TUTTI_REPORT_END);
    assert_int_equal(tt_bytes_get_u32(&in), TUTTI_ERR_SOLVER);
    assert_string_equal(tt_bytes_get_text(&in), "no step is small enough");
    assert_string_equal(tt_bytes_get_text(&in), "");
    assert_string_equal(tt_bytes_get_text(&in), "");
    assert_true(isnan(tt_bytes_get_double(&in)));
    assert_int_equal(tt_bytes_get_u32(&in), TUTTI_NONE);
    assert_near(tt_bytes_get_double(&in), 7, 0);
    assert_true(!in.bad && in.at == in.end);
    rank_fini(&rank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_threads),
        cmocka_unit_test(test_message_survives),
        cmocka_unit_test(test_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
