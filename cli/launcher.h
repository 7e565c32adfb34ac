/* SPDX-License-Identifier: MIT */
/* launcher.h - who started this process: a person, or mpiexec, one of several. */
#ifndef TUTTI_CLI_LAUNCHER_H
#define TUTTI_CLI_LAUNCHER_H

#include <stdbool.h>

/* By MPICH's mpiexec, or another launcher with its process management interface (srun --mpi=pmi2). */
bool launcher_is_mpi(void);
/* Returns true if it is not the first of those processes, which alone writes messages. */
bool launcher_is_follower(void);
/* Detects a launcher whose processes cannot find each other here; the first of them reports it. */
bool launcher_is_foreign(void);
/* Returns the number of tasks if this is the first of several independent tasks of Slurm's srun; otherwise 0. */
int launcher_lonely_tasks(void);

/* For a follower: suppresses stderr, and restores it. The first process reports faults of the command line. */
void launcher_mute(void);
void launcher_unmute(void);

#endif
