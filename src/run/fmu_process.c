/* SPDX-License-Identifier: MIT */
#include "run/fmu_process.h"

#include <dirent.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/crash.h"

static void fmu_process_on_crash(int number)
{
    if (tt_crash_is_guarded() && number != SIGABRT) { /* which mostly means that memory is damaged */
        alarm(TUTTI_SETTLE_LAST_SECONDS);
        tt_crash_escape();
    }
    signal(number, SIG_DFL);
    raise(number);
}

void tt_fmu_process_install_signals(pid_t parent)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static const int usual[] = {SIGSYS, SIGTRAP, SIGCHLD, SIGALRM};
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = fmu_process_on_crash};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &action, NULL);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        signal(usual[i], SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* large, and not asked for */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it has died before that */
        raise(SIGKILL);
}

/* 0: not a process, or gone. */
static pid_t orphans_parent(const char *name)
{
    char path[300], line[512];
    snprintf(path, sizeof path, "/proc/%s/stat", name);
    FILE *file = name[0] >= '1' && name[0] <= '9' ? fopen(path, "re") : NULL;
    /* "NUMBER (NAME) STATE PARENT ...", and a name may hold anything */
    const char *rest = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (file)
        fclose(file);
    return rest && strlen(rest) > strlen(") S ") ? (pid_t)strtol(rest + strlen(") S "), NULL, 10) : 0;
}

size_t tt_fmu_process_signal_orphans(int number, bool (*judge)(void *context, pid_t pid), void *context)
{
    size_t count = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (orphans_parent(entry->d_name) != getpid() || !judge(context, pid) || !tt_child_kill(pid, number))
            continue;
        (void)waitpid(pid, NULL, WNOHANG);
        count++;
    }
    if (dir)
        closedir(dir);
    return count;
}
