/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(tutti_err_name(TUTTI_OK), "ok");
    assert_string_equal(tutti_err_name(TUTTI_ERR_FORMAT), "malformed file");
    assert_string_equal(tutti_err_name(TUTTI_ERR_INTERRUPTED), "interrupted");
    assert_string_equal(tutti_err_name((enum tutti_err)1000), "unknown error");
    assert_string_equal(tutti_err_name((enum tutti_err) - 1), "unknown error");
}

static void test_message(void **state)
{
    (void)state;
    assert_int_equal(tt_fail(TUTTI_ERR_IO, "no %s at %d", "luck", 7), TUTTI_ERR_IO);
    assert_string_equal(tutti_err_message(), "no luck at 7");
    assert_int_equal(tt_fail_memory(), TUTTI_ERR_MEMORY);
    assert_string_equal(tutti_err_message(), "out of memory");
}

static void test_arguments_may_be_the_old_message(void **state)
{
    (void)state;
    (void)tt_fail(TUTTI_ERR_IO, "inner");
    (void)tt_fail(TUTTI_ERR_IO, "outer (%s)", tutti_err_message());
    assert_string_equal(tutti_err_message(), "outer (inner)");
    (void)tt_fail_context(TUTTI_ERR_IO, "again %s", tutti_err_message());
    assert_string_equal(tutti_err_message(), "again outer (inner): outer (inner)");
}

static void test_context(void **state)
{
    (void)state;
    (void)tt_fail(TUTTI_ERR_FORMAT, "bad number");
    assert_int_equal(tt_fail_context(TUTTI_ERR_FORMAT, "line %d", 3), TUTTI_ERR_FORMAT);
    assert_int_equal(tt_fail_context(TUTTI_ERR_FORMAT, "a.xml"), TUTTI_ERR_FORMAT);
    assert_string_equal(tutti_err_message(), "a.xml: line 3: bad number");
    assert_int_equal(tt_fail_context(TUTTI_OK, "nothing"), TUTTI_OK);
    assert_string_equal(tutti_err_message(), "a.xml: line 3: bad number");
}

static void test_about(void **state)
{
    (void)state;
    struct tt_failure failure;
    char name[2000];
    (void)tt_fail(TUTTI_ERR_FMU, "bad");
    assert_null(tutti_err_unit());
    assert_null(tutti_err_variable());
    assert_true(isnan(tutti_err_time()));
    assert_int_equal(tt_fail_about(TUTTI_ERR_FMU, "wheel", NULL, NAN), TUTTI_ERR_FMU);
    assert_int_equal(tt_fail_about(TUTTI_ERR_FMU, "car", "x", 0.5), TUTTI_ERR_FMU); /* what is known stays */
    assert_int_equal(tt_fail_about(TUTTI_OK, "a", "b", 1), TUTTI_OK);
    (void)tt_fail_context(TUTTI_ERR_FMU, "there");
    assert_string_equal(tutti_err_unit(), "wheel");
    assert_string_equal(tutti_err_variable(), "x");
    assert_true(tutti_err_time() == 0.5);
    tt_fail_save(&failure, TUTTI_ERR_FMU);
    (void)tt_fail(TUTTI_ERR_IO, "other");
    assert_null(tutti_err_unit());
    assert_int_equal(tt_fail_restore(&failure), TUTTI_ERR_FMU);
    assert_string_equal(tutti_err_message(), "there: bad");
    assert_string_equal(tutti_err_unit(), "wheel");
    assert_true(tutti_err_time() == 0.5);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    (void)tt_fail(TUTTI_ERR_IO, "long");
    (void)tt_fail_about(TUTTI_ERR_IO, name, name, 1);
    assert_true(strlen(tutti_err_unit()) < sizeof name && strlen(tutti_err_variable()) < sizeof name);
}

/* Around the end of the buffer, every length of the parts must leave a terminated text. */
static void test_long_messages_are_cut(void **state)
{
    (void)state;
    char text[5000];
    for (size_t length = 4080; length < 4110; length++) {
        memset(text, 'x', length);
        text[length] = '\0';
        (void)tt_fail(TUTTI_ERR_IO, "%s", text);
        assert_int_equal(strlen(tutti_err_message()), length < 4095 ? length : 4095);
        (void)tt_fail(TUTTI_ERR_IO, "inner");
        (void)tt_fail_context(TUTTI_ERR_IO, "%s", text);
        size_t whole = length + strlen(": inner"), cut = strlen(tutti_err_message());
        assert_true(cut == whole || (cut >= 4093 && cut <= 4095));
    }
}

static enum tutti_err fails_third(int *calls)
{
    return ++*calls == 3 ? tt_fail(TUTTI_ERR_STATE, "third") : TUTTI_OK;
}

static enum tutti_err tries(int *calls)
{
    for (;;)
        TRY(fails_third(calls));
}

static void test_try(void **state)
{
    (void)state;
    int calls = 0;
    assert_int_equal(tries(&calls), TUTTI_ERR_STATE);
    assert_int_equal(calls, 3);
}

static void *other_thread(void *before)
{
    *(bool *)before = tutti_err_message()[0] == '\0';
    (void)tt_fail(TUTTI_ERR_IO, "of the other");
    return NULL;
}

static void test_threads_have_their_own(void **state)
{
    (void)state;
    (void)tt_fail(TUTTI_ERR_IO, "mine");
    pthread_t thread;
    bool empty = false;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &empty), 0);
    pthread_join(thread, NULL);
    assert_true(empty);
    assert_string_equal(tutti_err_message(), "mine");
}

/* Foreign code that fails without a message: an earlier message is not used. */
static void test_unsaid(void **state)
{
    (void)state;
    (void)tt_fail(TUTTI_ERR_IO, "long ago");
    unsigned long before = tt_fail_count();
    assert_int_equal(tt_fail_without_message(TUTTI_OK, before, "nothing was said"), TUTTI_OK);
    assert_string_equal(tutti_err_message(), "long ago");
    assert_int_equal(tt_fail_without_message(TUTTI_ERR_FMU, before, "nothing was said"), TUTTI_ERR_FMU);
    assert_string_equal(tutti_err_message(), "nothing was said");
    before = tt_fail_count();
    assert_int_equal(tt_fail_without_message(tt_fail(TUTTI_ERR_FMU, "this"), before, "nothing was said"),
                     TUTTI_ERR_FMU);
    assert_string_equal(tutti_err_message(), "this");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_arguments_may_be_the_old_message),
        cmocka_unit_test(test_context),
        cmocka_unit_test(test_about),
        cmocka_unit_test(test_long_messages_are_cut),
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_threads_have_their_own),
        cmocka_unit_test(test_unsaid),
    };
    return cmocka_run_group_tests_name("base/err", tests, NULL, NULL);
}
