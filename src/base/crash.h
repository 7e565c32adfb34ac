/* SPDX-License-Identifier: MIT */
/* base/crash.h - what must still happen when the process dies under a foreign fault: results reach the disk. */
#ifndef TUTTI_BASE_CRASH_H
#define TUTTI_BASE_CRASH_H

#include "base/err.h"

/* Registers an async-signal-safe action; TUTTI_ERR_LIMIT if there are too many. Thread-safe. */
TUTTI_CHECKED enum tutti_err tutti_crash_add(void (*action)(void *context), void *context);
/* Removes it again (a pair that was never added is ignored). */
void tutti_crash_remove(void (*action)(void *context), void *context);

/* For a handler of a fatal signal: runs every registered action once, then removes the temporary folders. */
void tutti_crash_run(void);

#endif
