/* SPDX-License-Identifier: MIT */
/* signals.h - Ctrl-C ends a run cleanly; after a crash inside an FMU the computed rows are kept. */
#ifndef TUTTI_CLI_SIGNALS_H
#define TUTTI_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <tutti/run.h>

/* The signal that asked for the end, or 0. */
extern volatile sig_atomic_t signals_received;

/* SIGINT, SIGTERM, SIGHUP: the first asks the run to end, the second ends the process. SIGSEGV and its kin: one message
 * that names the FMU, results to disk, temporary folders removed, exit status 1. */
void signals_install(void);

/* Between these calls code of FMUs may run, and may end the process: an FMU that calls exit() or _exit() gets a message
 * and exit status 1, and processes that it has left are ended. Returns in a child process (guard.h). */
void signals_enter_fmus(void);
void signals_leave_fmus(void);
/* As signals_install, for work that the first signal ends only at a safe point (tutti_run_options.interrupt). */
void signals_in_run(bool running);
/* Instead of signals_in_run(true), before tutti_run with these options; signals_in_run(false) follows. */
void signals_begin_run(const struct tutti_run_options *options);
/* Cleanup handler of the first thread while a command runs: code of an FMU may call pthread_exit(), and nothing
 * continues without this thread. */
void signals_on_thread_exit(void *unused);
/* In a run: all messages are written, and only FMUs are still to be freed; if one of them crashes then, the process
 * ends with a warning and this exit status. -1: off. */
void signals_all_told(int status);
/* Suppresses messages about the end of the run, which a different process reports. */
void signals_keep_quiet(void);

#endif
