/* SPDX-License-Identifier: MIT */
/* guard.h - a process that waits for the one that FMUs run in. Code of an FMU can end that one by _exit() with status 0, as if all
 * were well, and nothing in it would notice; and processes that it started can outlive it. */
#ifndef TUTTI_CLI_GUARD_H
#define TUTTI_CLI_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Must be called before there are threads. Returns in a child; the calling process forwards the given signals to it,
 * ends as it ends, and does not return. A child that ends unexpectedly is an error with exit status 1: settle(PID,
 * status as of waitpid) reports it, in a process that still has the child's memory, and returns 0 (heir.h). Processes
 * that the child, or its workers, started and that outlive them are ended, and named; not so if this process had
 * children before, as one has that a shell script has become (exec). It does nothing under a debugger, which would lose
 * the FMU, or if no process can be created. True: this is the child. */
bool guard_fork(const int *signals, size_t count, int (*settle)(pid_t ended, int status));
/* In the child: how the process ends now is up to us. Async-signal-safe; without a guard, too. */
void guard_announce_end(void);
/* In the child: adds a text to the message about an unexpected end. Async-signal-safe. False: no guard. */
bool guard_note(const char *text);
/* In the child: declares that all messages of the run are written. */
void guard_tell(void);
/* Before guard_fork: sets the function that the guard calls if the child fails before guard_tell. `how` is the reason. */
void guard_on_loss(void (*function)(void *context, bool interrupted, const char *how), void *context);
/* In a handler: returns true if this signal arrives a second time. A signal to the whole process group (Ctrl-C) reaches
 * the child, and the guard, which forwards it. Async-signal-safe. */
bool guard_is_echo(const siginfo_t *info);

#endif
