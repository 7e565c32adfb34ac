/* SPDX-License-Identifier: MIT */
/* child.h - runs a function in a child process. Code of an FMU may crash, hang or print there without effect on the parent process. */
#ifndef TT_BASE_CHILD_H
#define TT_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* work(context, fd) runs in a child, a copy of this process without its other threads, and writes its answer to `fd`. What was written until it has
 * ended, after so many seconds by force, is *answer, which is the caller's to free. False: there is no answer. A confined process has no
 * children. */
bool tt_child_run(void (*work)(void *context, int fd), void *context, unsigned seconds, void **answer, size_t *size);

/* Around each use of a lock of this process that code in the child may take, too: between these two, no child is made, in which the lock would stay
 * locked. They nest. */
void tt_child_hold(void);
void tt_child_release(void);

/* Signals for processes that this one has started, and for no others.
 *
 * kill(2) takes any number: 0 is the own process group, -1 is every process of the user. All signals to other processes therefore go
 * through here, and tools/layers.py refuses kill() elsewhere. Numbers of processes are kept in memory that is the parent's alone, never in
 * memory that is shared. */

/* Sends a signal to a child of this process that is not collected yet, so that its number is no other process's. False: `pid` is not the
 * number of such a child, and nothing was sent; or the signal is forbidden. Async-signal-safe. */
bool tt_child_kill(pid_t pid, int number);
/* Sends a signal to the process group that such a child has made. */
bool tt_child_kill_group(pid_t pid, int number);

#endif
