/* SPDX-License-Identifier: MIT */
#include "run/node/keeper.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child_signals.h"
#include "run/orphans.h"

static bool is_any_process(void *context, pid_t pid)
{
    (void)context, (void)pid;
    return true;
}

/* All children, and what they leave in turn, unless the system is in the way. */
static void keeper_end_children(void)
{
    for (int i = 0; i < 100 && tt_fmu_process_signal_orphans(SIGKILL, is_any_process, NULL) > 0; i++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* As the worker did. */
static void exit_like_worker(int status)
{
    sigset_t one;
    if (WIFSIGNALED(status)) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(WTERMSIG(status), SIG_DFL);
        sigemptyset(&one);
        sigaddset(&one, WTERMSIG(status));
        raise(WTERMSIG(status));
        sigprocmask(SIG_UNBLOCK, &one, NULL);
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* All signals are blocked. */
static void keeper_reap(pid_t worker, const sigset_t *all)
{
    int status = 0;
    for (;;) {
        int number = sigwaitinfo(all, NULL);
        if (number == SIGQUIT)
            (void)tt_child_kill(worker, SIGQUIT);
        else if (number == SIGTERM) /* the daemon has ended */
            (void)tt_child_kill(worker, SIGKILL);
        for (pid_t ended; number == SIGCHLD && (ended = waitpid(-1, &status, WNOHANG)) > 0;)
            if (ended == worker) {
                keeper_end_children();
                exit_like_worker(status);
            }
    }
}

void tt_worker_process_fork_supervised(void)
{
    pid_t daemon = getppid(), keeper = getpid();
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t worker = fork();
    if (worker > 0) {
        (void)close_range(STDERR_FILENO + 1, ~0U, 0); /* the daemon sees when the worker closes its end of the socket */
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != daemon)
            raise(SIGTERM); /* is taken by keeper_reap() */
        keeper_reap(worker, &all);
    }
    if (worker == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != keeper))
        raise(SIGKILL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}
