/* SPDX-License-Identifier: MIT */
/* Signals reach own children only. Forbidden ones are tried with signal 0, which has no effect. */
#include "test.h"

#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"

static void never_anybody_else(void **state)
{
    const pid_t others[] = {0, -1, 1, -2, INT_MIN, INT_MAX, getpid(), getppid(), -getpid(), -getpgrp()};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(tt_child_kill(others[i], 0));
        assert_false(tt_child_kill_group(others[i], 0));
    }
}

static pid_t start_child(bool leads)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (leads && setpgid(0, 0) != 0)
            _exit(1);
        (void)!write(ready[1], "", 1);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void own_children(void **state)
{
    int status;
    (void)state;
    pid_t pid = start_child(false);
    assert_false(tt_child_kill_group(pid, 0)); /* it has made no group */
    assert_true(tt_child_kill(pid, SIGKILL));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_false(tt_child_kill(pid, 0)); /* it is collected: the number is anyone's */
}

static void own_groups(void **state)
{
    int status;
    (void)state;
    pid_t pid = start_child(true);
    assert_true(tt_child_kill_group(pid, SIGTERM));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WTERMSIG(status), SIGTERM);
    assert_false(tt_child_kill_group(pid, 0));
}

/* A grandchild is its parent's to end. */
static void no_grandchildren(void **state)
{
    int told[2], status;
    pid_t grandchild;
    (void)state;
    assert_int_equal(pipe(told), 0);
    pid_t pid = fork();
    if (pid == 0) {
        pid_t one = fork();
        if (one == 0)
            for (;;)
                pause();
        (void)!write(told[1], &one, sizeof one);
        waitpid(one, NULL, 0);
        _exit(0);
    }
    assert_int_equal(read(told[0], &grandchild, sizeof grandchild), sizeof grandchild);
    assert_false(tt_child_kill(grandchild, 0));
    assert_int_equal(kill(grandchild, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(told[0]);
    close(told[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_anybody_else),
        cmocka_unit_test(own_children),
        cmocka_unit_test(own_groups),
        cmocka_unit_test(no_grandchildren),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
