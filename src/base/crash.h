/* SPDX-License-Identifier: MIT */
/* base/crash.h - what must still happen when the process dies under a foreign fault: results reach the disk. */
#ifndef TT_BASE_CRASH_H
#define TT_BASE_CRASH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fail.h"

/* Registers an async-signal-safe action; TUTTI_ERR_LIMIT if there are too many. Thread-safe. */
TUTTI_CHECKED enum tutti_err tt_crash_add(void (*action)(void *context), void *context);
/* Removes it again (a pair that was never added is ignored). */
void tt_crash_remove(void (*action)(void *context), void *context);

/* Calls action(context). Returns false if a fatal signal was raised in it and a handler left it by tt_crash_escape;
 * locks and memory that it held are lost. Do not continue for long after that: memory may be damaged. */
bool tt_crash_guard(void (*action)(void *context), void *context);
/* For a handler of a fatal signal: returns true if this thread is in an action of tt_crash_guard. */
bool tt_crash_is_guarded(void);
/* Leaves it, and does not return; only where tt_crash_is_guarded. */
void tt_crash_escape(void);

/* For a handler of a fatal signal: runs every registered action once, then removes the temporary folders. */
void tt_crash_run(void);

/* For a process that shares the memory of one that has ended with all its threads: runs that one's actions, as far as
 * one thread can. False: recorded data may be lost. */
bool tt_crash_run_for_process(pid_t ended);
/* For actions: returns true once all other threads have ended. Their unfinished work stays unfinished. */
bool tt_crash_is_last_thread(void);
/* For actions: something cannot be saved. */
void tt_crash_report_loss(void);

#endif
