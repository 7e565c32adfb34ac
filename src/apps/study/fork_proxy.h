/* SPDX-License-Identifier: MIT */
/* apps/study/fork_proxy.h - a process that has a worker of its own, and another if that one ends: what it is told of by its socket (numbers of runs) it has made, and sends
 * the records of. For a process that must not be forked when workers come and go: the deputy is forked before, when it still may be. */
#ifndef TT_APPS_STUDY_FORK_PROXY_H
#define TT_APPS_STUDY_FORK_PROXY_H

#include <sys/types.h>

#include "apps/study/sweep_worker.h"

struct tt_fork_proxy {
    pid_t pid; /* 0: none */
    int fd;    /* does not wait */
};

/* LIMIT if no process can be had. */
TUTTI_CHECKED enum tutti_err tt_worker_mpi_start_proxy(struct tt_fork_proxy *deputy, struct tt_sweep_worker *work);
/* Once it has made all runs, or at once, by force. */
void tt_worker_mpi_stop_proxy(struct tt_fork_proxy *deputy, bool by_force);

#endif
