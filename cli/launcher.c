/* SPDX-License-Identifier: MIT */
#include "launcher.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int real_stderr = -1; /* while it is muted */

bool launcher_is_mpi(void)
{
    return getenv("PMI_RANK") && getenv("PMI_SIZE");
}

bool launcher_is_follower(void)
{
    const char *rank = getenv("PMI_RANK");
    return launcher_is_mpi() && rank && strcmp(rank, "0") != 0;
}

bool launcher_is_foreign(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (launcher_is_mpi() || !size || strcmp(size, "1") == 0)
        return false;
    if (!rank || strcmp(rank, "0") == 0)
        fputs("tutti run: started by the mpiexec of Open MPI, but Tutti speaks MPICH: use mpiexec.mpich, or "
              "mpiexec.hydra\n",
              stderr);
    return true;
}

int launcher_lonely_tasks(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS"), *task = getenv("SLURM_PROCID");
    int count = tasks && task && strcmp(task, "0") == 0 && !launcher_is_mpi() ? atoi(tasks) : 0;
    return count > 1 ? count : 0;
}

void launcher_mute(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0)
        return;
    real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (real_stderr >= 0)
        dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

void launcher_unmute(void)
{
    if (real_stderr < 0)
        return;
    fflush(stderr);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    real_stderr = -1;
}
