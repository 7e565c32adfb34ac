/* SPDX-License-Identifier: MIT */
/* child.h - runs a function in a child process. Code of an FMU may crash, hang or print there without effect on the parent process. */
#ifndef TT_BASE_CHILD_H
#define TT_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Runs work(context, fd) in a child, a copy of this process without its other threads; `work` writes its answer to
 * `fd`. *answer receives the bytes written until the child has ended, by force after `seconds`; it belongs to the
 * caller (free). False: no answer. A confined process cannot have children. */
bool tt_child_run(void (*work)(void *context, int fd), void *context, unsigned seconds, void **answer, size_t *size);

/* Around each use of a lock that code in the child may take, too: in between no child is made, which would inherit the
 * lock locked. They nest. */
void tt_child_hold(void);
void tt_child_release(void);

/* Sends signals only to processes that this process has started.
 *
 * kill(2) takes any number: 0 is the caller's process group, -1 is every process of the user. All signals to other
 * processes therefore go through here, and tools/layers.py refuses kill() elsewhere. Process IDs are kept in private
 * memory of the parent, never in shared memory. */

/* Sends a signal to a child of this process that is not yet reaped, so that its ID is unambiguous. Returns false if
 * `pid` is not such a child, and nothing was sent; or if the signal is forbidden. Async-signal-safe. */
bool tt_child_kill(pid_t pid, int number);
/* Sends a signal to the process group that such a child has made. */
bool tt_child_kill_group(pid_t pid, int number);

#endif
