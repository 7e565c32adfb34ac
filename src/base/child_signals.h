/* SPDX-License-Identifier: MIT */
/* child_signals.h - signals for processes that this one has started, and for no others.
 *
 * kill(2) takes any number: 0 is the own process group, -1 is every process of the user. All signals to other processes therefore go
 * through here, and tools/layers.py refuses kill() elsewhere. Numbers of processes are kept in memory that is the parent's alone, never in
 * memory that is shared. */
#ifndef TT_BASE_CHILD_SIGNALS_H
#define TT_BASE_CHILD_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

/* Sends a signal to a child of this process that is not collected yet, so that its number is no other process's. False: `pid` is not the
 * number of such a child, and nothing was sent; or the signal is forbidden. Async-signal-safe. */
bool tt_child_kill(pid_t pid, int number);
/* Sends a signal to the process group that such a child has made. */
bool tt_child_kill_group(pid_t pid, int number);

#endif
