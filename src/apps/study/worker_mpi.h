/* SPDX-License-Identifier: MIT */
/* apps/study/worker_mpi.h - a sweep in processes started by mpiexec: each rank has a worker, and rank 0 assigns runs.
 * mpiexec ends all ranks if one of them ends. So a rank does not run code of FMUs but has a deputy
 * (apps/study/worker_mpi.h), which is forked before MPI is initialised; rank 0 exchanges MPI messages with the deputies
 * of all ranks, which the ranks forward. An empty message ends a rank's work; from a rank it reports that its deputy
 * has ended. */
#ifndef TT_APPS_STUDY_WORKER_MPI_H
#define TT_APPS_STUDY_WORKER_MPI_H

#include <sys/types.h>

#include "apps/study/sweep_worker.h"
#include "run/launch/launch_mpi.h"

/* A process with one worker, which it replaces when that ends. It receives run numbers by its socket, has the runs
 * made, and returns their records. For a process that must not fork while workers come and go: the deputy is forked
 * earlier. */

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

/* Forks the deputy if `err` is OK, and initialises MPI. All ranks agree on the returned error: rank 0 returns the error
 * of the failed rank, other ranks STOPPED. tt_worker_mpi_leave follows in any case. */
TUTTI_CHECKED enum tutti_err tt_worker_mpi_enter(struct tt_sweep_rank *rank, struct tt_sweep_worker *work,
                                                 enum tutti_err err);
/* Of ranks other than 0: works until rank 0 ends it. Returns STOPPED, since rank 0 reports the outcome. */
TUTTI_CHECKED enum tutti_err tt_worker_mpi_serve(struct tt_sweep_rank *rank);
void tt_worker_mpi_leave(struct tt_sweep_rank *rank);

#endif
