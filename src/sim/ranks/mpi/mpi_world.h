/* SPDX-License-Identifier: MIT */
/* mpi_world.h - all processes of the job, as this one sees them.
 *
 * Invariants:
 *  H1  No call of MPI blocks, except MPI_Init and MPI_Finalize: where ranks outnumber cores, MPICH's blocking calls spin
 *      while those they wait for have no core to run on. Everything else is started, tested, and rested between tests.
 *  H2  Only the thread that called `start` calls MPI.
 *  H3  Who waits rests on its bell (mpi_bells.h) if all that it waits for comes from this host; else it yields. */
#ifndef TT_SIM_RANKS_MPI_MPI_WORLD_H
#define TT_SIM_RANKS_MPI_MPI_WORLD_H

#include <mpi.h>

#include "sim/ranks/mpi_interface.h"
#include "sim/ranks/mpi/mpi_bells.h"

struct mpi_world {
    const struct tt_mpi_host *host;
    MPI_Comm data, control; /* signals and decisions; reports and stops */
    int rank, ranks;
    bool is_ours; /* we called MPI_Init */
    /* This host: its ranks in rising order, and the first rank of every host. */
    int *here, here_count, *leaders, leader_count;
    int *bell_of; /* per rank: its place in here, or -1: on another host */
    bool crowded; /* more ranks than cores */
    struct mpi_bells bells;
};

extern struct mpi_world tt_mpi_world;

/* LOST with what MPI says, unless `code` is success. */
TUTTI_CHECKED enum tutti_err tt_mpi_world_check(int code);
#define MPI_TRY(call) TRY(tt_mpi_world_check(call))

/* Who is where; makes the bells. */
TUTTI_CHECKED enum tutti_err tt_mpi_world_init(struct mpi_world *world);
void tt_mpi_world_fini(struct mpi_world *world);

/* Waits for requests outside a run, where no rank stops another. */
TUTTI_CHECKED enum tutti_err tt_mpi_world_await(int count, MPI_Request *requests);

#endif
