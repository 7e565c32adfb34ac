/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/fmu_process.h"
#include "look.h"

static bool is_other(void *context, pid_t pid)
{
    return pid != *(const pid_t *)context;
}

static void sleep_on(void)
{
    for (;;)
        pause();
}

/* A process that starts another one, and ends. */
static void leave_orphan(void)
{
    pid_t parent = fork();
    if (parent == 0) {
        if (fork() == 0)
            sleep_on();
        _exit(0);
    }
    assert_true(parent > 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
}

static void test_orphans(void **state)
{
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t kept = fork();
    if (kept == 0)
        sleep_on();
    leave_orphan();
    assert_int_equal(tt_fmu_process_signal_orphans(SIGKILL, is_other, &kept), 1);
    while (tt_fmu_process_signal_orphans(SIGKILL, is_other, &kept) > 0) /* until it is collected */
        look_again();
    assert_int_equal(kill(kept, 0), 0);
    pid_t none = 0;
    assert_int_equal(tt_fmu_process_signal_orphans(SIGKILL, is_other, &none), 1);
    (void)waitpid(kept, NULL, 0);
    assert_int_equal(tt_fmu_process_signal_orphans(SIGKILL, is_other, &none), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orphans)};
    return cmocka_run_group_tests_name("conduct/orphans", tests, NULL, NULL);
}
