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

#include "console.h"
#include "options.h"

enum { SIGNALLED = 128 };

/* In memory of both processes; NULL: there is no guard. */
static struct shared {
    atomic_bool announced, told;
    _Atomic size_t noted; /* bytes of `note` */
    char note[2048];
} * shared;
static struct {
    void (*function)(void *context, bool interrupted, const char *how);
    void *context;
} loss;
static pid_t guard;
static volatile pid_t child; /* in the guard */

void guard_announce_end(void)
{
    if (shared)
        atomic_store(&shared->announced, true);
}

bool guard_note(const char *text)
{
    size_t size = strlen(text), at = shared ? atomic_fetch_add(&shared->noted, size) : 0;
    for (size_t i = 0; shared && i < size && at + i < sizeof shared->note - 1; i++)
        shared->note[at + i] = text[i];
    return shared != NULL;
}

void guard_tell(void)
{
    if (shared)
        atomic_store(&shared->told, true);
}

void guard_on_loss(void (*function)(void *context, bool interrupted, const char *how), void *context)
{
    loss.function = function;
    loss.context = context;
}

bool guard_is_echo(const siginfo_t *info)
{
    static _Atomic unsigned handed_on, others;
    if (!shared || info->si_pid == getpid())
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
    _exit(SIGNALLED + number);
}

static void tell_loss(bool interrupted, const char *how)
{
    if (loss.function && !atomic_load(&shared->told))
        loss.function(loss.context, interrupted, how);
}

/* The child said on stderr why it ends, or nothing. */
static void tell_noted(int status)
{
    static const char lead[] = "tutti: error: ";
    char *how = shared->note;
    how += how[0] == '\n';
    how[strcspn(how, "\n")] = '\0';
    if (strncmp(how, lead, strlen(lead)) == 0)
        how += strlen(lead);
    if (how[0] && console_is_json())
        console_error(how);
    if (status != EXIT_DONE && status != EXIT_USAGE)
        tell_loss(status > SIGNALLED, how[0] ? how : "the run ended before its end");
}

static _Noreturn void end_as(int status)
{
    static const char lost[] =
        "rows of the last milliseconds are lost. With --processes none is, and it is told which FMU it was";
    bool meant = atomic_load(&shared->announced);
    char how[512] = "";
    if (meant && !WIFSIGNALED(status)) {
        tell_noted(WEXITSTATUS(status));
        _exit(WEXITSTATUS(status));
    }
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "the run was ended by signal %d (%s); %s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), lost);
    else
        snprintf(how, sizeof how, "code of an FMU ended the program (_exit, with status %d); %s", WEXITSTATUS(status),
                 lost);
    if (!meant)
        console_error(how);
    tell_loss(false, how);
    if (WIFSIGNALED(status))
        die_by(WTERMSIG(status));
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
    void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    guard = getpid();
    fflush(NULL); /* or both would write it */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* none is lost between the two */
    shared = memory;
    child = fork();
    if (child > 0)
        watch_over_child(signals, count, &before);
    if (child < 0)
        shared = NULL;
    else if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != guard)
        _exit(EXIT_FAILED);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child == 0;
}
