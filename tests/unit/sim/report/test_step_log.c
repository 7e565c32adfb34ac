/* SPDX-License-Identifier: MIT */
/* A step log as a separate file, also of an interrupted run. For the conductor's part: run/test_conductor.c. */
#include "sim/report/step_log.h"

#include "own_scratch.h"
#include "test.h"

static char path[128];

static void write_steps(struct tt_step_log *log, int first, int end)
{
    for (int i = first; i < end; i++) {
        struct tt_step_entry entry = {.t = i, .h = 0.5, .verdict = "accepted", .iterations = 2, .unit = "a,b"};
        entry.variable = i % 2 ? "x" : "";
        assert_ok(tt_step_log_write(log, &entry));
    }
}

/* Writes steps up to `end`, with a mark before that of number `at`. */
static void log_steps(struct tt_bytes resume, int first, int at, int end, struct tt_byte_writer *mark)
{
    struct tt_rank rank = {0};
    struct tt_step_log *log = NULL;
    assert_ok(tt_step_log_open(&log, &rank, path, resume));
    write_steps(log, first, at);
    if (mark)
        assert_ok(tt_step_log_pack_position(log, mark));
    assert_ok(tt_step_log_sync(log));
    write_steps(log, at, end);
    assert_ok(tt_step_log_close(log));
    tt_arena_fini(&rank.arena);
}

static void an_interrupted_run_goes_on(void **state)
{
    (void)state;
    static const char *const names[] = {"whole.csv", "steps.csv"};
    const struct tt_bytes none = {0};
    char *texts[2];
    snprintf(path, sizeof path, "%s", scratch_path(&scratch, names[0]));
    log_steps(none, 0, 6, 6, NULL);
    texts[0] = slurp_file(path, NULL);
    assert_contains(texts[0], "t,h,error,verdict,iterations,unit,variable\n0,0.5,,accepted,2,\"a,b\",\n1,0.5");
    snprintf(path, sizeof path, "%s", scratch_path(&scratch, names[1]));
    for (int at = 0; at <= 4; at++) {
        struct tt_byte_writer mark = {0};
        log_steps(none, 0, at, 5, &mark);
        log_steps((struct tt_bytes){mark.size, (const uint8_t *)mark.bytes}, at, 6, 6, NULL);
        texts[1] = slurp_file(path, NULL);
        assert_string_equal(texts[1], texts[0]);
        free(texts[1]);
        tt_bytes_fini(&mark);
    }
    free(texts[0]);
}

static void none_has_no_mark(void **state)
{
    (void)state;
    struct tt_byte_writer mark = {0};
    assert_ok(tt_step_log_pack_position(NULL, &mark));
    assert_ok(tt_step_log_sync(NULL));
    assert_int_equal(mark.size, 0);
}

static void another_file_is_refused(void **state)
{
    (void)state;
    struct tt_byte_writer mark = {0};
    struct tt_rank rank = {0};
    struct tt_step_log *log = NULL;
    snprintf(path, sizeof path, "%s", scratch_path(&scratch, "steps.csv"));
    log_steps((struct tt_bytes){0}, 0, 2, 3, &mark);
    log_steps((struct tt_bytes){0}, 7, 9, 20, NULL);
    const struct tt_bytes resume = {mark.size, (const uint8_t *)mark.bytes};
    assert_fails(tt_step_log_open(&log, &rank, path, resume), TUTTI_ERR_FORMAT, "step-log: cannot go on with");
    assert_null(log);
    tt_arena_fini(&rank.arena);
    tt_bytes_fini(&mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_interrupted_run_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(none_has_no_mark, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_file_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
