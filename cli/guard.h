/* SPDX-License-Identifier: MIT */
/* guard.h - a process that waits for the one that FMUs run in. Code of an FMU can end that one by _exit() with status 0, as if all
 * were well, and nothing in it would notice; and processes that it started can outlive it. */
#ifndef TUTTI_CLI_GUARD_H
#define TUTTI_CLI_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Before there are threads. Goes on in a child; the process that calls hands the given signals on to it, ends as it ends, and
 * does not come back. A child that ends unannounced is an error with exit status 1: settle(PID, status as of waitpid) says so, in a
 * process that still has the child's memory, and returns 0 (heir.h). Processes that the child, or its workers, started and that
 * outlive them are ended, and named; not so if this process had children before, as one has that a shell script has become (exec).
 * Nothing happens if a debugger watches, which would lose sight of the FMU, or no process can be had. True: this is the child. */
bool guard_fork(const int *signals, size_t count, int (*settle)(pid_t ended, int status));
/* In the child: how the process ends now is up to us. Async-signal-safe; without a guard, too. */
void guard_announce_end(void);
/* In the child: adds to what is told of an end that is not the run's own. Async-signal-safe. False: there is no guard. */
bool guard_note(const char *text);
/* In the child: all that there is to tell of the run has been told. */
void guard_tell(void);
/* Before guard_fork: what the guard calls if the child ends before it has told all (guard_tell) and was no success. `how` is why. */
void guard_on_loss(void (*function)(void *context, bool interrupted, const char *how), void *context);
/* In a handler: does this signal come a second time? What is sent to the whole process group (Ctrl-C) reaches the child, and the
 * guard, which hands it on. Async-signal-safe. */
bool guard_is_echo(const siginfo_t *info);

#endif
