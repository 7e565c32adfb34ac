/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/text.h"
#include "run/fmu_process.h"
#include "console.h"
#include "heir.h"
#include "options.h"

enum { SIGNALLED = 128 };

/* In memory of guard, child and heir; NULL: no guard. Code of FMUs can write to it: process IDs are not stored in it,
 * flags are random numbers of this run, and the guard bounds all other values that it reads. */
static struct shared {
    struct heir_page inheritance;
    _Atomic uint64_t announced, told; /* `yes`: so it is */
    _Atomic size_t noted;             /* bytes of `note` */
    char note[2048];
} * shared;
static uint64_t yes; /* in memory of each alone */
static struct {
    void (*function)(void *context, bool interrupted, const char *how);
    void *context;
} loss;
static pid_t guard;
static pid_t child, heir;      /* in the guard; 0: none */
static int will[2] = {-1, -1}; /* a pipe: the child sends the ID of its heir, before FMUs are loaded */

void guard_announce_end(void)
{
    if (shared)
        atomic_store(&shared->announced, yes);
}

bool guard_note(const char *text)
{
    size_t size = strlen(text), at = shared ? atomic_fetch_add(&shared->noted, size) : 0;
    for (size_t i = 0; shared && at < sizeof shared->note && i < size && i < sizeof shared->note - at; i++)
        shared->note[at + i] = text[i];
    return shared != NULL;
}

void guard_tell(void)
{
    if (shared)
        atomic_store(&shared->told, yes);
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

/* ---- in the guard: how the child ended ---- */

static void nap(void)
{
    enum { MOMENT = 5000000 }; /* nanoseconds */
    (void)nanosleep(&(struct timespec){.tv_nsec = MOMENT}, NULL);
}

static void hear_of_heir(void)
{
    pid_t pid;
    if (!heir && read(will[0], &pid, sizeof pid) == (ssize_t)sizeof pid)
        heir = pid;
}

/* Collects who has ended. True: the child has, with this status. */
static bool has_child_ended(int *status)
{
    int how;
    hear_of_heir();
    for (pid_t ended; (ended = waitpid(-1, &how, WNOHANG)) > 0;) {
        if (ended == child) {
            hear_of_heir(); /* it may have sent it right before its end */
            *status = how;
            return true;
        }
        if (ended == heir)
            heir = -1; /* it has ended */
    }
    return false;
}

/* `awaited`, which are blocked, are SIGCHLD and those that are handed on. */
static int await_child(const sigset_t *awaited)
{
    int status = 0;
    while (!has_child_ended(&status)) {
        int number = sigwaitinfo(awaited, NULL);
        if (number > 0 && number != SIGCHLD)
            (void)tt_child_kill(child, number);
    }
    return status;
}

/* True: the heir has reported how the child ended, and what is lost. */
static bool let_heir_settle(int status)
{
    enum { PATIENCE = 2000 }; /* naps; it may wait for ever for a lock that the child took with it */
    pid_t ended = 0;
    bool needed = atomic_load(&shared->announced) != yes;
    int told = 0;
    atomic_store(&shared->inheritance.status, status);
    if (!tt_child_kill(heir, needed ? SIGUSR1 : SIGKILL))
        return false;
    if (!needed)
        ended = waitpid(heir, &told, 0);
    for (int i = 0; i < PATIENCE && ended == 0; i++) {
        ended = waitpid(heir, &told, WNOHANG);
        if (ended == 0)
            nap();
    }
    if (ended == 0)
        (void)tt_child_kill(heir, SIGKILL);
    return ended == heir && WIFEXITED(told) && WEXITSTATUS(told) == 0;
}

/* As the child did. */
static _Noreturn void die_by(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    _exit(SIGNALLED + number);
}

/* Child or heir has written the reason of its end to stderr, or nothing. */
static void tell_noted(int status)
{
    static const char lead[] = "tutti: error: ";
    char note[sizeof shared->note + 1], *how = note;
    memcpy(note, shared->note, sizeof shared->note);
    note[sizeof shared->note] = '\0';
    how += how[0] == '\n';
    how[strcspn(how, "\n")] = '\0';
    tt_text_make_printable(how);
    if (strncmp(how, lead, strlen(lead)) == 0)
        how += strlen(lead);
    if (how[0] && console_is_json())
        console_error(how);
    if (status != EXIT_DONE && status != EXIT_USAGE && loss.function && atomic_load(&shared->told) != yes)
        loss.function(loss.context, status > SIGNALLED, how[0] ? how : "the run ended before its end");
}

/* In place of the heir. */
static void tell_end(int status)
{
    static const char lost[] =
        "what was recorded last is lost, and nothing can tell which FMU it was. With --processes "
        "that is known, and nothing is lost";
    char how[512];
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "tutti: error: the program was ended by signal %d (%s); %s\n", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), lost);
    else
        snprintf(how, sizeof how, "tutti: error: code of an FMU ended the program (_exit, with status %d); %s\n",
                 WEXITSTATUS(status), lost);
    if (!guard_note(how) || !console_is_json())
        fputs(how, stderr);
}

static _Noreturn void end_as(int status, bool settled)
{
    bool meant = atomic_load(&shared->announced) == yes;
    if (!meant && !settled)
        tell_end(status);
    int exit_status = meant && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
    if (shared)
        tell_noted(exit_status);
    if (WIFSIGNALED(status))
        die_by(WTERMSIG(status));
    _exit(exit_status);
}

/* ---- in the guard: processes that outlived the child ---- */

static bool has_children(void)
{
    pid_t ended;
    do
        ended = waitpid(-1, NULL, WNOHANG);
    while (ended > 0);
    return ended == 0;
}

/* Says that it is ended. */
static bool name_orphan(void *context, pid_t pid)
{
    char path[64], name[64] = "", text[256];
    (void)context;
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(name, sizeof name, file))
        name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
    tt_text_make_printable(name);
    snprintf(
        text, sizeof text,
        "process %ld (%s), which an FMU started, was still there after the run, and is ended. If it is to stay, start "
        "it before the run",
        (long)pid, name);
    console_log(NULL, TUTTI_LOG_WARNING, NULL, text);
    return true;
}

static bool is_any(void *context, pid_t pid)
{
    (void)context, (void)pid;
    return true;
}

/* They may be about to end; otherwise they are requested to, and then killed. */
static void end_orphans(void)
{
    enum { ASKED = 100, MADE = 300, GIVEN_UP = 500 }; /* numbers of naps before each stage */
    for (int i = 0; i < GIVEN_UP && has_children(); i++) {
        if (i == ASKED)
            (void)tt_fmu_process_signal_orphans(SIGTERM, name_orphan, NULL);
        if (i >= MADE)
            (void)tt_fmu_process_signal_orphans(SIGKILL, is_any, NULL);
        nap();
    }
}

/* ---- */

static _Noreturn void watch_over_child(const int *signals, size_t count, const sigset_t *mask, bool reaps)
{
    sigset_t awaited, blocked = *mask;
    close(will[1]);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    for (size_t i = 0; i < count; i++)
        sigaddset(&awaited, signals[i]);
    sigorset(&blocked, mask, &awaited);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    int status = await_child(&awaited);
    bool settled = let_heir_settle(status);
    if (reaps)
        end_orphans();
    end_as(status, settled);
}

bool guard_fork(const int *signals, size_t count, int (*settle)(pid_t ended, int status))
{
    sigset_t all, before;
    if (is_debugged())
        return false;
    if (getrandom(&yes, sizeof yes, 0) != sizeof yes || yes == 0 || pipe2(will, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        close(will[0]);
        close(will[1]);
        return false;
    }
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, no child can be waited for */
    bool reaps = waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    guard = getpid();
    fflush(NULL); /* or both would write it */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* none is lost between the two */
    shared = memory;
    child = fork();
    if (child > 0)
        watch_over_child(signals, count, &before, reaps);
    if (child < 0)
        shared = NULL;
    else if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != guard)
        _exit(EXIT_FAILED);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (shared) {
        pid_t mine = heir_leave(&shared->inheritance, settle);
        (void)!write(will[1], &mine, mine > 0 ? sizeof mine : 0);
    }
    close(will[0]);
    close(will[1]);
    return child == 0;
}
