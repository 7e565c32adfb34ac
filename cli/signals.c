/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/crash.h"
#include "fmi/instance.h"
#include "launcher.h"
#include "options.h"

volatile sig_atomic_t signals_received;
static volatile bool in_run, quiet;
static volatile int told_status = -1; /* signals_all_told */

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* nothing can be done about it here */
}

/* A signal for the process comes to any thread that does not block it: one of an FMU, or of a library, as soon as the first
 * thread is still at work with the last one. Only the first thread knows which FMU it is in. */
static void on_stop(int number)
{
    if (gettid() != getpid()) {
        tgkill(getpid(), getpid(), number);
        return;
    }
    if (!in_run) { /* nothing to save */
        tutti_crash_run();
        _exit(128 + number);
    }
    if (signals_received) {
        char where[512];
        say("\ntutti: error: stopped at once");
        if (tutti_instance_where(where, sizeof where) > 0) {
            say("; was in ");
            say(where);
        }
        say("; everything recorded so far is kept\n");
        tutti_crash_run();
        _exit(128 + number);
    }
    signals_received = number;
    if (!quiet)
        say("\ntutti: ending at the next communication point (once more: at once)\n");
}

static const char *name_of(int number)
{
    switch (number) {
    case SIGSEGV: return "invalid memory access (SIGSEGV)";
    case SIGBUS: return "bus error (SIGBUS)";
    case SIGFPE: return "arithmetic fault (SIGFPE)";
    case SIGILL: return "illegal instruction (SIGILL)";
    default: return "abort (SIGABRT)";
    }
}

static void install_crash(void);

/* An FMU was freed, and results are written: the process goes on to tell how the run went. If it cannot, because the FMU
 * held what others wait for, it ends. */
static void survive(void)
{
    enum { LAST_SECONDS = 10 };
    install_crash();
    if (gettid() == getpid() && !launcher_is_mpi()) /* else other ranks may have much to do */
        alarm(LAST_SECONDS);
    tutti_crash_escape();
}

/* There is nothing left to do: memory that is damaged does not matter any more. */
static void end_all_told(int number)
{
    char where[512];
    (void)tutti_instance_where(where, sizeof where);
    say("tutti: warning: crash, ");
    say(name_of(number));
    say(", in code of the FMU when its work was done: ");
    say(where);
    say("; results are not concerned. Ask the FMU's author\n");
    tutti_crash_run();
    _exit(told_status);
}

static void on_alarm(int number)
{
    (void)number;
    say("tutti: error: stuck after a crash of an FMU that was freed; everything recorded is kept. Ask the FMU's "
        "author\n");
    tutti_crash_run();
    _exit(EXIT_FAILED);
}

static void on_crash(int number)
{
    char where[512];
    if (tutti_crash_is_guarded() && told_status >= 0 && gettid() == getpid())
        end_all_told(number);
    if (tutti_crash_is_guarded() &&
        number != SIGABRT) /* which mostly means that memory is damaged: nothing works then */
        survive();
    say(isatty(STDERR_FILENO) == 1 ? "\ntutti: error: crash, " : "tutti: error: crash, "); /* off the progress line */
    say(name_of(number));
    if (tutti_instance_where(where, sizeof where) > 0) {
        say(", in code of the FMU: ");
        say(where);
        say("; everything recorded so far is kept. ");
        say(tutti_instance_is_mixed()
                ? "Perhaps it called functions of this program in place of its own: see the warning above\n"
                : "Ask the FMU's author, with its inputs and parameters\n");
    } else if (gettid() != getpid()) { /* threads of our own call FMUs, and would know where they are */
        say(", in a thread that an FMU started; everything recorded so far is kept. Ask the FMU's author\n");
    } else {
        say(" in Tutti itself; everything recorded so far is kept. Please report it\n");
    }
    if (gettid() != getpid()) /* what ranks have reported is written by another thread, which goes on meanwhile */
        (void)nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    tutti_crash_run();
    _exit(EXIT_FAILED);
}

/* Code of an FMU called exit(): the run is lost, but not its rows. */
static void on_exit_in_run(void)
{
    char where[512];
    if (!in_run)
        return;
    say("tutti: error: code of the FMU ended the program (exit)");
    if (tutti_instance_where(where, sizeof where) > 0) {
        say(": ");
        say(where);
    }
    say("; everything recorded so far is kept\n");
    tutti_crash_run();
    _exit(EXIT_FAILED);
}

void signals_keep_quiet(void)
{
    quiet = true;
}

void signals_all_told(int status)
{
    told_status = status;
}

void signals_in_run(bool running)
{
    in_run = running;
}

/* A signal that is ignored on purpose (nohup) stays ignored. */
static void handle_stop(int number)
{
    struct sigaction before, stop = {.sa_handler = on_stop};
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &stop, NULL);
}

static void install_crash(void)
{
    struct sigaction crash = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &crash, NULL);
}

void signals_install(void)
{
    /* A crash may be a stack overflow: the handler needs a stack of its own. */
    static char stack_memory[64 * 1024];
    stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
    sigaltstack(&stack, NULL);

    handle_stop(SIGINT);
    handle_stop(SIGTERM);
    handle_stop(SIGHUP);
    handle_stop(SIGQUIT);

    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL); /* `tutti run -o - | head`: the write fails and says so */
    sigaction(SIGXFSZ, &ignore, NULL);

    install_crash();
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
    atexit(on_exit_in_run);
}
