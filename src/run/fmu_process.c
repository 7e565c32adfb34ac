/* SPDX-License-Identifier: MIT */
#include "run/fmu_process.h"

#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

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
