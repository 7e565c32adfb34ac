/* SPDX-License-Identifier: MIT */
/* Which losses are recovered from, and what is said. */
#include "test.h"

#include "run/recovery.h"

static char said[1000];

static void note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)origin;
    assert_int_equal(level, TUTTI_LOG_WARNING);
    snprintf(said, sizeof said, "%s", text);
}

/* An attempt came to this; is there another one? */
static bool goes_on(struct tt_recovery *recovery, enum tutti_err err, const char *message, bool started)
{
    struct tt_failure failure;
    said[0] = '\0';
    recovery->started = started;
    tt_fail_save(&failure, tt_fail(err, "%s", message));
    bool again = tt_recovery_retry(recovery, &failure);
    (void)!tt_fail_restore(&failure);
    return again;
}

struct fixture {
    struct tutti_log log;
    struct tutti_run_options options;
    volatile sig_atomic_t interrupt;
    struct tt_recovery recovery;
};

static void begin(struct fixture *f, unsigned recover)
{
    f->log = (struct tutti_log){.level = TUTTI_LOG_INFO, .write = note};
    f->interrupt = 0;
    f->options = (struct tutti_run_options){.recover = recover, .log = &f->log, .interrupt = &f->interrupt};
    tt_recovery_init(&f->recovery, &f->options);
}

static void test_losses(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 2);
    assert_true(goes_on(&f.recovery, TUTTI_ERR_LOST, "rank 1 at t = 1", true));
    assert_string_equal(said, "rank 1 at t = 1. The run goes on from the beginning (recovery 1 of 2)");
    assert_true(f.recovery.options.spares_nodes);
    assert_true(goes_on(&f.recovery, TUTTI_ERR_LOST, "rank 1 at t = 2", true));
    assert_false(goes_on(&f.recovery, TUTTI_ERR_LOST, "rank 1 at t = 3", true));
    assert_string_equal(tutti_err_message(), "rank 1 at t = 3; as many recoveries as recover allows have been made");
    tt_recovery_fini(&f.recovery);
}

static void test_the_same_again(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 9);
    assert_true(goes_on(&f.recovery, TUTTI_ERR_LOST, "rank 1 at t = 1", true));
    assert_false(goes_on(&f.recovery, TUTTI_ERR_LOST, "rank 1 at t = 1", true));
    assert_string_equal(said, "");
    assert_non_null(strstr(tutti_err_message(), "rank 1 at t = 1; the same has happened after a recovery"));
    tt_recovery_fini(&f.recovery);
}

static void test_others(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 9);
    assert_false(goes_on(&f.recovery, TUTTI_ERR_FMU, "an error of an FMU", true));
    assert_string_equal(tutti_err_message(), "an error of an FMU");
    f.interrupt = 1;
    assert_false(goes_on(&f.recovery, TUTTI_ERR_LOST, "lost", true));
    f.interrupt = 0;
    f.options.recover = 0;
    assert_false(goes_on(&f.recovery, TUTTI_ERR_LOST, "lost", true));
    tt_recovery_fini(&f.recovery);
}

/* A node that is unreachable at the start is for the user to fix; later it is one more loss. */
static void test_while_it_is_started(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 9);
    assert_false(goes_on(&f.recovery, TUTTI_ERR_LOST, "no node there", false));
    assert_true(goes_on(&f.recovery, TUTTI_ERR_LOST, "rank 1 is lost", true));
    assert_true(goes_on(&f.recovery, TUTTI_ERR_LOST, "the node is lost while files are sent", false));
    tt_recovery_fini(&f.recovery);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_the_same_again),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_while_it_is_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
