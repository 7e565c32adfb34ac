/* SPDX-License-Identifier: MIT */
/* launcher.h - who started this process: a person, or mpiexec, one of several. */
#ifndef TUTTI_CLI_LAUNCHER_H
#define TUTTI_CLI_LAUNCHER_H

#include <stdbool.h>

/* By MPICH's mpiexec, or another launcher with its process management interface (srun --mpi=pmi2). */
bool launcher_is_mpi(void);
/* ... and it is not the first of those processes, which tells people what there is to tell. */
bool launcher_is_follower(void);
/* By a launcher whose processes cannot find each other here: says so, in the first of them. */
bool launcher_is_foreign(void);
/* Is this the first of several tasks of Slurm's srun that know nothing of each other? Its number of tasks; 0: it is not. */
int launcher_lonely_tasks(void);

/* Of a follower: nothing reaches stderr any more, and does again. What is wrong with the command line, the first one says. */
void launcher_mute(void);
void launcher_unmute(void);

#endif
