/* SPDX-License-Identifier: MIT */
/* apps/study/worker_mpi.h - a sweep in processes that mpiexec started: each rank has a worker, and rank 0 hands out runs. mpiexec ends all ranks if one of them ends: so a
 * rank runs no code of FMUs, but has a deputy (apps/study/worker_mpi.h), which is forked before MPI begins; and rank 0 speaks to the deputies of others by messages of
 * MPI, whose bytes they pass on in both directions. An empty message ends a rank's work; from a rank it says that its deputy has ended. */
#ifndef TT_APPS_STUDY_WORKER_MPI_H
#define TT_APPS_STUDY_WORKER_MPI_H

#include <sys/types.h>

#include "apps/study/sweep_worker.h"
#include "run/launch/launch_mpi.h"

/* A process that has a worker of its own, and another if that one ends: what it is told of by its socket (numbers of runs) it has made, and sends
 * the records of. For a process that must not be forked when workers come and go: the deputy is forked before, when it still may be. */

struct tt_fork_proxy {
    pid_t pid; /* 0: none */
    int fd;    /* does not wait */
};

/* LIMIT if no process can be had. */
TUTTI_CHECKED enum tutti_err tt_worker_mpi_start_proxy(struct tt_fork_proxy *deputy, struct tt_sweep_worker *work);
/* Once it has made all runs, or at once, by force. */
void tt_worker_mpi_stop_proxy(struct tt_fork_proxy *deputy, bool by_force);

struct tt_sweep_rank {
    struct tt_mpi_world world;
    struct tt_fork_proxy deputy;
};

/* Forks the deputy if `err` is OK, and enters MPI. What this returns, all ranks agree on: another one's error in rank 0, STOPPED in others.
 * tt_worker_mpi_leave follows in any case. */
TUTTI_CHECKED enum tutti_err tt_worker_mpi_enter(struct tt_sweep_rank *rank, struct tt_sweep_worker *work,
                                                 enum tutti_err err);
/* Of ranks but 0: works until rank 0 ends it. STOPPED, since rank 0 tells the rest. */
TUTTI_CHECKED enum tutti_err tt_worker_mpi_serve(struct tt_sweep_rank *rank);
void tt_worker_mpi_leave(struct tt_sweep_rank *rank);

#endif
