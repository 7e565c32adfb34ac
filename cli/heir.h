/* SPDX-License-Identifier: MIT */
/* heir.h - a process that shares the memory and the open files of this one, and sleeps. When this one is gone, with all its threads,
 * whatever ended it, its memory is still there: the heir can write what was recorded, and tell which FMU was called. */
#ifndef TUTTI_CLI_HEIR_H
#define TUTTI_CLI_HEIR_H

#include <stdatomic.h>
#include <sys/types.h>

/* Memory that the process, its heir, and the parent of both share. Code of FMUs can write to it. */
struct heir_page {
    _Atomic int status; /* how the process ended, as of waitpid */
};

/* Makes an heir, a child of this process's parent, for whom the page is, too. It has the parent's SIGUSR1 to wait for, and calls
 * settle(PID of this process, status) then, whose return value is its exit status: there are no other threads any more, and locks
 * that they held stay closed. It is killed when the parent ends. Returns its PID; 0: without memory or permission there is no heir. */
pid_t heir_leave(struct heir_page *page, int (*settle)(pid_t ended, int status));

#endif
