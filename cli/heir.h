/* SPDX-License-Identifier: MIT */
/* heir.h - a sleeping process that shares the memory and the open files of this one. When this process has ended in any
 * way, with all its threads, the heir still has its memory: it can write the recorded rows, and report which FMU was
 * called. */
#ifndef TUTTI_CLI_HEIR_H
#define TUTTI_CLI_HEIR_H

#include <stdatomic.h>
#include <sys/types.h>

/* Memory that the process, its heir, and the parent of both share. Code of FMUs can write to it. */
struct heir_page {
    _Atomic int status; /* how the process ended, as of waitpid */
};

/* Makes an heir, a child of this process's parent, which shares the page. It waits for the parent's SIGUSR1, then calls
 * settle(PID of this process, status) and exits with its return value: all other threads are gone, and locks that they
 * held stay locked. It is killed when the parent ends. Returns its PID; 0: no memory or no permission. */
pid_t heir_leave(struct heir_page *page, int (*settle)(pid_t ended, int status));

#endif
