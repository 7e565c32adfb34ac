/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"

static atomic_bool *announced; /* in memory of both processes; NULL: there is no guard */
static pid_t guard;
static volatile pid_t child; /* in the guard */

void guard_announce_end(void)
{
    if (announced)
        atomic_store(announced, true);
}

bool guard_is_echo(const siginfo_t *info)
{
    static _Atomic unsigned handed_on, others;
    if (!announced || info->si_pid == getpid())
        return false;
    if (info->si_pid == guard)
        return ++handed_on <= others;
    return ++others <= handed_on;
}

static void hand_on(int number)
{
    int error = errno;
    kill(child, number);
    errno = error;
}

static bool is_debugged(void)
{
    char line[256];
    int tracer = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (status)
        fclose(status);
    return tracer != 0;
}

/* In the guard, as the child did. */
static _Noreturn void die_by(int number)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number);
}

static _Noreturn void end_as(int status)
{
    static const char lost[] =
        "rows of the last milliseconds are lost. With --processes none is, and it is told which FMU it was";
    bool meant = atomic_load(announced);
    if (WIFSIGNALED(status)) {
        if (!meant)
            fprintf(stderr, "tutti: error: the run was ended by signal %d (%s); %s\n", WTERMSIG(status),
                    strsignal(WTERMSIG(status)), lost);
        die_by(WTERMSIG(status));
    }
    if (meant)
        _exit(WEXITSTATUS(status));
    fprintf(stderr, "tutti: error: code of an FMU ended the program (_exit, with status %d); %s\n", WEXITSTATUS(status),
            lost);
    _exit(EXIT_FAILED);
}

static _Noreturn void watch_over_child(const int *signals, size_t count, const sigset_t *mask)
{
    int status = 0;
    for (size_t i = 0; i < count; i++)
        sigaction(signals[i], &(struct sigaction){.sa_handler = hand_on, .sa_flags = SA_RESTART}, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    end_as(status);
}

bool guard_fork(const int *signals, size_t count)
{
    sigset_t all, before;
    if (is_debugged())
        return false;
    void *memory = mmap(NULL, sizeof *announced, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    guard = getpid();
    fflush(NULL); /* or both would write it */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* none is lost between the two */
    announced = memory;
    child = fork();
    if (child > 0)
        watch_over_child(signals, count, &before);
    if (child < 0)
        announced = NULL;
    else if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != guard)
        _exit(EXIT_FAILED);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child == 0;
}
