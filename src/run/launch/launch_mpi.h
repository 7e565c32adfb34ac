/* SPDX-License-Identifier: MIT */
/* launch_mpi.h - the processes started by mpiexec, from the side of this process. */
#ifndef TT_RUN_LAUNCH_LAUNCH_MPI_H
#define TT_RUN_LAUNCH_LAUNCH_MPI_H

#include "sim/ranks/mpi_interface.h"

/* This process is rank `rank` of `ranks`. */
struct tt_mpi_world {
    int rank, ranks;
    const struct tt_mpi_module *module; /* NULL: MPI has not been started */
};

/* Loads the module (`path`; NULL: from its place) and starts MPI; world->module->finish ends it. LOAD if it is missing. */
TUTTI_CHECKED enum tutti_err tt_launch_mpi_start(struct tt_mpi_world *world, const char *path);

#endif
