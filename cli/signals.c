/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "base/crash.h"
#include "base/thread.h"
#include "fmu/crash_origin.h"
#include "fmu/instance.h"
#include "console.h"
#include "guard.h"
#include "launcher.h"
#include "options.h"

volatile sig_atomic_t signals_received;
static atomic_bool in_run, quiet; /* the watcher looks at them, too */
static bool in_fmus;              /* code of FMUs may be running */
static bool records;              /* the run has rows */
static pid_t process; /* the one that signals_install was called in: code of an FMU may fork it, and so do we */
static volatile int told_status = -1; /* signals_all_told */
static atomic_bool ending;            /* the present message is the reason why the process ends */

static void say(const char *text)
{
    if (ending && guard_note(text) && console_is_json())
        return; /* the guard makes a line of it */
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* nothing can be done about it here */
}

/* The process ends once, by the thread that comes first. Those that crash or leave meanwhile wait for that: they may be ranks. */
static void claim_end(void)
{
    static _Atomic pid_t claimed;
    pid_t first = 0, self = gettid();
    guard_announce_end();
    if (atomic_compare_exchange_strong(&claimed, &first, self)) {
        ending = true;
        return;
    }
    if (first == self) /* a crash on the way to the end */
        _exit(EXIT_FAILED);
    for (;;)
        pause();
}

static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { STOPS = sizeof stops / sizeof *stops, FAULTS = sizeof faults / sizeof *faults };
static bool handled[STOPS]; /* not those that are ignored on purpose (nohup) */

/* A thread that runs no code of FMUs. FMUs may block signals in the first thread, or install handlers: then this thread
 * receives them, and ends the process if the first thread cannot. */
static struct {
    _Atomic pid_t process, thread; /* a process that was forked has none */
    _Atomic int pressed;           /* the signal that asked for the end once more */
} watcher;

static double timeout; /* of the run whose FMUs run here; 0: none. Set before the watcher starts */

/* A call of a thread, as it was seen last. */
struct seen_call {
    struct tt_shown_call call;
    double since, looked;
};

static bool has_watcher(void)
{
    return atomic_load(&watcher.process) == getpid();
}

/* The text about saved results of a run; other commands have none. */
static const char *kept(void)
{
    return in_run && records ? "; everything recorded so far is kept" : "";
}

static void stop_at_once(int number)
{
    static atomic_bool begun; /* by the first thread, perhaps, for which the watcher would not wait any longer */
    char where[512];
    if (atomic_exchange(&begun, true))
        return;
    claim_end();
    say("\ntutti: error: stopped at once");
    if (tt_instance_describe_call(where, sizeof where) > 0) {
        say("; was in ");
        say(where);
    }
    say(kept());
    say("\n");
    tt_crash_run();
    _exit(128 + number);
}

static bool is_in_fmu(void)
{
    char where[2];
    return tt_instance_describe_call(where, sizeof where) > 0;
}

/* A signal for the process is delivered to any thread that does not block it, possibly one of an FMU or a library. Only
 * the first thread can identify its FMU. */
static void heed(int number)
{
    pid_t self = gettid(), first = getpid();
    bool watches = has_watcher() && self == atomic_load(&watcher.thread);
    if (self != first && !watches) {
        tgkill(first, has_watcher() ? atomic_load(&watcher.thread) : first, number);
    } else if (!in_run) { /* nothing to save */
        guard_announce_end();
        tt_crash_run();
        _exit(128 + number);
    } else if (!signals_received) {
        signals_received = number;
        if (!quiet)
            say("\ntutti: ending at the next communication point (once more: at once)\n");
    } else if (watches) {
        atomic_store(&watcher.pressed, number);
        tgkill(first, first, number);
    } else if (has_watcher() && !is_in_fmu()) { /* perhaps the conductor, which has rows to take in meanwhile */
        atomic_store(&watcher.pressed, number);
    } else {
        stop_at_once(number);
    }
}

static void on_stop(int number, siginfo_t *info, void *unused)
{
    int error = errno; /* of what is interrupted */
    (void)unused;
    if (!guard_is_echo(info))
        heed(number);
    errno = error;
}

static void handle_stops(void)
{
    for (int i = 0; i < STOPS; i++) {
        struct sigaction now, stop = {.sa_sigaction = on_stop, .sa_flags = SA_SIGINFO};
        if (handled[i] && sigaction(stops[i], NULL, &now) == 0 && now.sa_sigaction != on_stop)
            sigaction(stops[i], &stop, NULL);
    }
}

/* A call that may never end: the run is lost, but not its rows. */
static void end_hung(size_t thread)
{
    char where[1024], seconds[32];
    size_t length = tt_instance_describe_thread(thread, where, sizeof where);
    snprintf(seconds, sizeof seconds, "%g", timeout);
    claim_end();
    say("tutti: error: a call of an FMU has not come back for ");
    say(seconds);
    say(" s (--timeout): ");
    say(length > 0 ? where : "it has by now");
    say(kept());
    say(". Raise --timeout if it may take that long, or ask the FMU's author\n");
    tt_crash_run();
    _exit(EXIT_FAILED);
}

static bool is_one_call(const struct tt_shown_call *a, const struct tt_shown_call *b)
{
    bool same_time = a->time == b->time || (isnan(a->time) && isnan(b->time));
    return a->instance && a->instance == b->instance && a->calls == b->calls && a->call == b->call && same_time;
}

/* Compares the calls with those seen before. */
static void look_for_hangs(struct seen_call *seen)
{
    double now = tt_wall_clock_now();
    for (size_t i = 0; i < TUTTI_SHOWN_THREADS; i++) {
        struct tt_shown_call call = tt_instance_inspect_thread(i);
        bool same = is_one_call(&call, &seen[i].call);
        /* A process that was stopped, and looks rarely, has seen nothing. */
        if (!same || now - seen[i].looked > fmax(timeout / 2, 1))
            seen[i].since = now;
        seen[i].call = call;
        seen[i].looked = now;
        if (same && now - seen[i].since > timeout)
            end_hung(i);
    }
}

static void *watch(void *unused)
{
    static struct seen_call seen[TUTTI_SHOWN_THREADS];
    const struct timespec moment = {.tv_nsec = 200000000};
    tt_thread_mark_own();
    atomic_store(&watcher.thread, gettid());
    atomic_store(&watcher.process, getpid());
    for (double pressed_at = INFINITY;;) {
        (void)nanosleep(&moment, NULL); /* a signal cuts it short */
        if (in_run)
            handle_stops(); /* an FMU may have installed handlers */
        if (in_run && timeout > 0)
            look_for_hangs(seen);
        if (!atomic_load(&watcher.pressed))
            continue;
        pressed_at = fmin(pressed_at, tt_wall_clock_now());
        if (tt_wall_clock_now() - pressed_at > 0.2) /* gives the first thread time, since it can report more */
            stop_at_once(atomic_load(&watcher.pressed));
    }
    return unused;
}

/* Without one, the first thread does what it can. */
static void start_watcher(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t others, before;
    if (has_watcher() || pthread_attr_init(&attributes) != 0)
        return;
    sigfillset(&others);
    for (int i = 0; i < STOPS; i++)
        sigdelset(&others, stops[i]);
    for (int i = 0; i < FAULTS; i++)
        sigdelset(&others, faults[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* Until it has begun: what a thread locks while it begins would stay locked in a process that is forked meanwhile. */
    if (pthread_create(&thread, &attributes, watch, NULL) == 0)
        while (!has_watcher())
            (void)sched_yield();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
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

/* An FMU was freed, and results are written: the process continues in order to report the outcome. If it cannot,
 * because the FMU held a lock, it ends. */
static void survive(void)
{
    enum { LAST_SECONDS = 10 };
    if (gettid() == getpid() && !launcher_is_mpi()) /* else other ranks may have much to do */
        alarm(LAST_SECONDS);
    tt_crash_escape();
}

/* There is nothing left to do: memory that is damaged does not matter any more. */
static void end_all_told(int number)
{
    char where[512];
    claim_end();
    (void)tt_instance_describe_call(where, sizeof where);
    say("tutti: warning: crash, ");
    say(name_of(number));
    say(", in code of the FMU when its work was done: ");
    say(where);
    say("; results are not concerned. Ask the FMU's author\n");
    tt_crash_run();
    _exit(told_status);
}

static void on_alarm(int number)
{
    (void)number;
    claim_end();
    say("tutti: error: stuck after a crash of an FMU that was freed; everything recorded is kept. Ask the FMU's "
        "author\n");
    tt_crash_run();
    _exit(EXIT_FAILED);
}

/* In a process that code of an FMU has forked: neither its end nor our files are its own. */
static void die_of(int number)
{
    signal(number, SIG_DFL);
    raise(number); /* comes when the handler returns */
}

/* Appends "; the instruction is in libm.so.6", unless the message has it already. */
static void say_instruction(const struct tt_crash_origin *blame)
{
    if (blame->whose == TUTTI_WHOSE_LIBRARY) {
        say("; the instruction is in ");
        say(blame->file);
    } else if (blame->whose == TUTTI_WHOSE_NO_CODE) {
        say("; it jumped to an address that has no code");
    }
}

static void say_whose(const struct tt_crash_origin *blame)
{
    char where[512];
    bool calls = tt_instance_describe_call(where, sizeof where) > 0;
    if (calls && blame->is_tuttis) {
        say(", in code of Tutti that the FMU called: ");
        say(where);
        say_instruction(blame);
        say(kept());
        say(". The FMU handed an invalid argument to a callback, or Tutti has a fault: please report it with the "
            "FMU\n");
    } else if (calls) {
        say(", in code of the FMU: ");
        say(where);
        say_instruction(blame);
        say(kept());
        say(". ");
        say(tt_instance_is_mixed()
                ? "Perhaps it called functions of this program in place of its own: see the warning above\n"
                : "Ask the FMU's author, with its inputs and parameters\n");
    } else if (gettid() != getpid() && !tt_thread_is_own()) { /* ours would know which FMU they are in */
        say(", in a thread that an FMU or a library started");
        say_instruction(blame);
        say(kept());
        say(". Ask the FMU's author\n");
    } else if (in_run) {
        say(", outside of the code of FMUs");
        say_instruction(blame);
        say(kept());
        say(". An FMU may have written into memory that is not its own: try --processes with a rank per FMU, and "
            "report it if it crashes there, too\n");
    } else {
        say(" in Tutti itself");
        say_instruction(blame);
        say(". Please report it\n");
    }
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    struct tt_crash_origin blame;
    if (getpid() != process) {
        die_of(number);
        return;
    }
    if (tt_crash_is_guarded() && told_status >= 0 && gettid() == getpid())
        end_all_told(number);
    if (tt_crash_is_guarded() && number != SIGABRT) /* which mostly means that memory is damaged: nothing works then */
        survive();
    claim_end();
    tt_crash_origin_find(&blame, info, context);
    say(isatty(STDERR_FILENO) == 1 ? "\ntutti: error: crash, " : "tutti: error: crash, "); /* off the progress line */
    say(name_of(number));
    say_whose(&blame);
    tt_crash_run();
    _exit(EXIT_FAILED);
}

/* The run is lost, but not its rows. */
static void on_end_in_fmus(const char *how)
{
    char where[512];
    claim_end();
    say("tutti: error: code of the FMU ");
    say(how);
    if (tt_instance_describe_call(where, sizeof where) > 0) {
        say(": ");
        say(where);
    }
    say(kept());
    say("\n");
    tt_crash_run();
    _exit(EXIT_FAILED);
}

/* Code of an FMU called exit(). */
static void on_exit_in_fmus(void)
{
    if (in_fmus && getpid() == process)
        on_end_in_fmus("ended the program (exit)");
}

void signals_keep_quiet(void)
{
    quiet = true;
}

void signals_all_told(int status)
{
    told_status = status;
}

void signals_on_thread_exit(void *unused)
{
    (void)unused;
    if (in_fmus)
        on_end_in_fmus("ended the thread that called it (pthread_exit)");
}

/* In the heir of the process that FMUs ran in, which something ended that runs no handler. */
static int settle(pid_t ended, int status)
{
    char where[1024], number[64];
    ending = true;
    bool saved = tt_crash_run_for_process(ended), is_signal = WIFSIGNALED(status);
    int value = is_signal ? WTERMSIG(status) : WEXITSTATUS(status);
    snprintf(number, sizeof number, is_signal ? "%d (%.40s)" : "%d)", value, is_signal ? strsignal(value) : "");
    say(is_signal ? "tutti: error: the program was ended by signal "
                  : "tutti: error: code of an FMU ended the program (_exit, with status ");
    say(number);
    if (tt_instance_describe_calls(where, sizeof where) > 0) {
        say(": ");
        say(where);
    }
    say(saved ? kept() : "; rows of the last milliseconds are lost. With --processes none is");
    say("\n");
    return 0;
}

static void put_under_guard(void)
{
    int known[STOPS];
    size_t count = 0;
    for (int i = 0; i < STOPS; i++)
        if (handled[i])
            known[count++] = stops[i];
    if (guard_fork(known, count, settle))
        process = getpid();
}

void signals_enter_fmus(void)
{
    if (!launcher_is_mpi()) /* which watches its processes itself */
        put_under_guard();
    tt_instance_show_thread(true);
    in_fmus = true;
}

void signals_leave_fmus(void)
{
    guard_announce_end();
    in_fmus = false;
    tt_instance_show_thread(false);
}

void signals_in_run(bool running)
{
    if (running) {
        signals_enter_fmus();
        in_run = true;
        start_watcher();
    } else {
        signals_leave_fmus();
        in_run = false;
    }
}

void signals_begin_run(const struct tutti_run_options *options)
{
    records = true;
    if (options->has_timeout && options->ends_hangs && options->processes == 0 && !options->nodes)
        timeout = options->timeout;
    if (!options->nodes) /* where that code runs then */
        signals_enter_fmus();
    in_run = true;
    start_watcher();
}

static void install_crash(void)
{
    struct sigaction crash = {.sa_sigaction = on_crash, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    for (int i = 0; i < FAULTS; i++)
        sigaction(faults[i], &crash, NULL);
}

/* Each exit() takes one, and ends the process at once if it finds none: several ranks may call it together. */
static void install_exit(void)
{
    enum { MOST_AT_ONCE = 128 };
    for (int i = 0; i < MOST_AT_ONCE; i++)
        atexit(on_exit_in_fmus);
}

void signals_install(void)
{
    process = getpid();
    /* A crash may be a stack overflow: the handler needs a separate stack. */
    static char stack_memory[64 * 1024];
    stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
    sigaltstack(&stack, NULL);

    for (int i = 0; i < STOPS; i++) {
        struct sigaction before;
        handled[i] = sigaction(stops[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN;
    }
    handle_stops();

    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL); /* `tutti run -o - | head`: the failed write is reported */
    sigaction(SIGXFSZ, &ignore, NULL);

    install_crash();
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
    install_exit();
}
