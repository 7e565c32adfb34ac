/* SPDX-License-Identifier: MIT */
/* Programs and copies of this process: what they get, how they end, and numbers that are no child's. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"

/* What the program of a plan writes to its output, up to its end. */
static void run(struct tt_child_plan plan, char *text, size_t size, int *status)
{
    int ends[2];
    pid_t pid;
    size_t length = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    plan.streams[1] = ends[1];
    assert_int_equal(tt_child_start(&pid, &plan), 0);
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], text + length, size - 1 - length)) > 0;)
        length += (size_t)n;
    text[length] = '\0';
    close(ends[0]);
    assert_int_equal(tt_child_wait(pid, INFINITY, status), TUTTI_CHILD_ENDED);
    assert_int_equal(tt_child_wait(pid, 0, NULL), TUTTI_CHILD_UNKNOWN); /* it is collected */
}

static void programs_get_what_the_plan_says(void **state)
{
    (void)state;
    char text[200], variable[] = "KEY=value", *environment[] = {variable, NULL};
    int status, passed[2];
    assert_int_equal(pipe2(passed, O_CLOEXEC), 0);
    int high[] = {fcntl(passed[0], F_DUPFD_CLOEXEC, 20), fcntl(passed[1], F_DUPFD_CLOEXEC, 20)};
    close(passed[1]);
    close(passed[0]);
    const char *const show[] = {"sh", "-c",
                                "echo $KEY; pwd; cat; echo heard >&4; read line <&3; echo $line >&2; exit 3", NULL};
    run((struct tt_child_plan){.words = show,
                               .environment = environment,
                               .folder = "/usr",
                               .streams = {TUTTI_CHILD_NOWHERE, 0, STDOUT_FILENO},
                               .passed = high,
                               .passed_count = 2,
                               .flags = TUTTI_CHILD_IN_PATH | TUTTI_CHILD_GROUP | TUTTI_CHILD_CLEAR_SIGNALS},
        text, sizeof text, &status);
    close(high[0]);
    close(high[1]);
    assert_string_equal(text, "value\n/usr\nheard\n");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void signals_are_cleared(void **state)
{
    (void)state;
    int status;
    char text[10];
    sigset_t some, before;
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    sigprocmask(SIG_BLOCK, &some, &before);
    run((struct tt_child_plan){.words = (const char *const[]){"/bin/sh", "-c", "kill $$; exit 0", NULL},
                               .flags = TUTTI_CHILD_CLEAR_SIGNALS},
        text, sizeof text, &status);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void programs_that_do_not_exist(void **state)
{
    (void)state;
    pid_t pid = 7;
    assert_int_equal(tt_child_start(&pid, &(struct tt_child_plan){.words = (const char *const[]){"/no/such", NULL}}),
                     ENOENT);
    assert_int_equal(pid, 0);
    assert_int_equal(
        tt_child_start(&pid, &(struct tt_child_plan){.words = (const char *const[]){"sh", NULL}, .folder = "/no/such"}),
        ENOENT);
}

/* Sends back what it gets, by the descriptor that comes with it. */
static void answer(void *context, int end, pid_t parent)
{
    int fds[3];
    bool ours = getppid() == parent;
    tt_child_receive_descriptors(end, fds, 3);
    if (ours && fds[0] >= 0 && fds[1] >= 0 && fds[2] == -1)
        (void)!write(fds[1], context, 6);
    tt_child_receive_descriptors(end, fds, 1); /* the end of the stream */
    _exit(fds[0] == -1 ? 5 : 6);
}

static void copies_get_descriptors(void **state)
{
    (void)state;
    int fd, ends[2], status;
    pid_t pid;
    char text[6] = "", words[] = "hello";
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(tt_child_fork(&pid, &fd, SOCK_STREAM, answer, words), 0);
    assert_true(tt_child_send_descriptors(fd, ends, 2));
    assert_int_equal(read(ends[0], text, sizeof text), sizeof text);
    assert_string_equal(text, "hello");
    assert_int_equal(tt_child_wait(pid, 0, &status), TUTTI_CHILD_RUNS);
    close(fd);
    assert_int_equal(tt_child_wait(pid, INFINITY, &status), TUTTI_CHILD_ENDED);
    assert_int_equal(WEXITSTATUS(status), 5);
    close(ends[0]);
    close(ends[1]);
}

static void return_at_once(void *context, int end, pid_t parent)
{
    (void)context, (void)parent;
    if (end != -1)
        _exit(9);
}

static void wait_for_ever(void *context, int end, pid_t parent)
{
    (void)context, (void)end, (void)parent;
    for (;;)
        pause();
}

static void waits_end_with_the_child_or_the_time(void **state)
{
    (void)state;
    pid_t pid;
    int fd, status;
    assert_int_equal(tt_child_fork(&pid, &fd, 0, return_at_once, NULL), 0);
    assert_int_equal(fd, -1);
    assert_int_equal(tt_child_wait(pid, 1e6, &status), TUTTI_CHILD_ENDED); /* its end wakes who waits */
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_int_equal(tt_child_fork(&pid, &fd, 0, wait_for_ever, NULL), 0);
    assert_int_equal(tt_child_wait(pid, 0.01, &status), TUTTI_CHILD_RUNS);
    assert_true(tt_child_kill(pid, SIGKILL));
    assert_int_equal(tt_child_wait(pid, 1e6, &status), TUTTI_CHILD_ENDED);
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void numbers_that_are_no_child(void **state)
{
    (void)state;
    const pid_t others[] = {0, -1, 1, -2, INT_MIN, INT_MAX, getpid(), getppid(), -getpgrp()};
    pid_t child;
    int fd;
    assert_int_equal(tt_child_fork(&child, &fd, 0, wait_for_ever, NULL), 0); /* waitpid(0) and (-1) would find it */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(tt_child_wait(others[i], 0, NULL), TUTTI_CHILD_UNKNOWN);
        assert_int_equal(tt_child_wait(others[i], 0.01, NULL), TUTTI_CHILD_UNKNOWN);
        assert_int_equal(tt_child_wait(others[i], INFINITY, NULL), TUTTI_CHILD_UNKNOWN);
    }
    assert_true(tt_child_kill(child, SIGKILL));
    assert_int_equal(tt_child_wait(child, INFINITY, NULL), TUTTI_CHILD_ENDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_get_what_the_plan_says),      cmocka_unit_test(signals_are_cleared),
        cmocka_unit_test(programs_that_do_not_exist),           cmocka_unit_test(copies_get_descriptors),
        cmocka_unit_test(waits_end_with_the_child_or_the_time), cmocka_unit_test(numbers_that_are_no_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
