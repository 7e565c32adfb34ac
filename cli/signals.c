/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <string.h>
#include <unistd.h>

#include "base/crash.h"
#include "fmi/instance.h"
#include "options.h"

volatile sig_atomic_t signals_received;

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* nothing can be done about it here */
}

static void on_stop(int number)
{
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

static void on_crash(int number)
{
    char where[512];
    say("\ntutti: error: crash, ");
    say(name_of(number));
    if (tutti_instance_where(where, sizeof where) > 0) {
        say(", in code of the FMU: ");
        say(where);
        say("; everything recorded so far is kept. Ask the FMU's author, with its inputs and parameters\n");
    } else {
        say(" in Tutti itself; everything recorded so far is kept. Please report it\n");
    }
    tutti_crash_run();
    _exit(EXIT_FAILED);
}

void signals_install(void)
{
    /* A crash may be a stack overflow: the handler needs a stack of its own. */
    static char stack_memory[64 * 1024];
    stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
    sigaltstack(&stack, NULL);

    struct sigaction stop = {.sa_handler = on_stop};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGHUP, &stop, NULL);

    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL); /* `tutti run -o - | head`: the write fails and says so */
    sigaction(SIGXFSZ, &ignore, NULL);

    struct sigaction crash = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &crash, NULL);
}
