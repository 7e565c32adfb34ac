/* SPDX-License-Identifier: MIT */
#include <sched.h>

#include "mpi/parts.h"

/* Polls before a rank rests, and rests that are yields before it sleeps. A poll takes some 50 ns, waking a rank some
 * microseconds: with a core of its own a rank polls for about ten times as long. */
struct patience {
    unsigned polls, yields;
};
static const struct patience alone = {2000, 20}, crowded = {2, 0};

enum { LOOK = 256 }; /* polls between two looks around */

static enum tutti_err rest(struct mpi_fabric *self, int count, MPI_Request *requests, bool sleeps, int *done)
{
    struct bells *bells = &self->world->bells;
    if (!sleeps || !bells->bells) {
        sched_yield();
        return TUTTI_OK;
    }
    uint32_t rings = tutti_bells_lie_down(bells);
    int code = MPI_Testall(count, requests, done, MPI_STATUSES_IGNORE);
    if (code == MPI_SUCCESS && !*done)
        tutti_bells_sleep(bells, rings);
    tutti_bells_get_up(bells);
    return tutti_mpi_check(code);
}

enum tutti_err tutti_mpi_wait(struct mpi_fabric *self, int count, MPI_Request *requests, bool local)
{
    const struct patience *patience = self->world->crowded ? &crowded : &alone;
    int done = 0;
    for (unsigned polls = 1; !done; polls++) {
        MPI_TRY(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
        if (done || (polls < patience->polls && polls % LOOK != 0))
            continue;
        TRY(tutti_mpi_look(self));
        if (tutti_fabric_is_stopped(&self->fabric)) {
            /* what was sent before the stop is here by now */
            MPI_TRY(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
            return done ? TUTTI_OK : self->world->host->stopped();
        }
        if (polls >= patience->polls)
            TRY(rest(self, count, requests, local && polls >= patience->polls + patience->yields, &done));
    }
    return TUTTI_OK;
}

bool tutti_mpi_drop(MPI_Request *request, bool is_receive)
{
    if (*request == MPI_REQUEST_NULL)
        return true;
    int done = 0;
    MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    if (!done && is_receive && MPI_Cancel(request) == MPI_SUCCESS)
        MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    MPI_Request_free(request);
    return done;
}
