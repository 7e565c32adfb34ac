/* SPDX-License-Identifier: MIT */
/* Actions that crash (base/crash.h): the guarding caller continues. */
#include "test.h"

#include <pthread.h>
#include <signal.h>

#include "base/crash.h"

static void on_crash(int number)
{
    /* NOLINTBEGIN(bugprone-signal-handler): they are made for it */
    if (tt_crash_is_guarded())
        tt_crash_escape();
    /* NOLINTEND(bugprone-signal-handler) */
    signal(number, SIG_DFL);
    raise(number);
}

static void count(void *calls)
{
    ++*(int *)calls;
}

static void crash(void *calls)
{
    ++*(int *)calls;
    raise(SIGSEGV);
}

/* One that is guarded itself, and crashes after it. */
static void crash_twice(void *calls)
{
    assert_false(tt_crash_guard(crash, calls));
    crash(calls);
}

static void test_guard(void **state)
{
    (void)state;
    int calls = 0;
    signal(SIGSEGV, on_crash); /* cmocka installs a handler, too */
    assert_false(tt_crash_is_guarded());
    assert_true(tt_crash_guard(count, &calls));
    for (int i = 0; i < 3; i++) { /* the signal is not left blocked */
        assert_false(tt_crash_guard(crash, &calls));
        assert_false(tt_crash_is_guarded());
    }
    assert_int_equal(calls, 4);
    assert_false(tt_crash_guard(crash_twice, &calls));
    assert_int_equal(calls, 6);
    assert_false(tt_crash_is_guarded());
}

static void *in_thread(void *calls)
{
    return tt_crash_guard(crash, calls) ? calls : NULL;
}

static void test_threads(void **state)
{
    (void)state;
    int calls = 0;
    signal(SIGSEGV, on_crash);
    void *wrong = &calls;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, in_thread, &calls), 0);
    pthread_join(thread, &wrong);
    assert_null(wrong);
    assert_int_equal(calls, 1);
}

static void save(void *alone)
{
    *(bool *)alone = tt_crash_is_last_thread();
}

static void lose(void *unused)
{
    (void)unused;
    tt_crash_report_loss();
}

/* In the place of a process that is gone. */
static void test_run_for(void **state)
{
    (void)state;
    bool alone = false;
    assert_int_equal(tt_crash_add(save, &alone), TUTTI_OK);
    assert_true(tt_crash_run_for_process(1));
    assert_true(alone);
    assert_int_equal(tt_crash_add(lose, NULL), TUTTI_OK);
    assert_false(tt_crash_run_for_process(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guard),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_run_for),
    };
    return cmocka_run_group_tests_name("base/crash, guards", tests, NULL, NULL);
}
