/* SPDX-License-Identifier: MIT */
#include <sched.h>

#include "sim/ranks/mpi/mpi_parts.h"

/* Polls before a rank rests, and rests that are yields before it sleeps. A poll takes some 50 ns, waking a rank some
 * microseconds: with a core of its own a rank polls for about ten times as long. */
struct mpi_patience {
    unsigned polls, yields;
};
static const struct mpi_patience alone = {2000, 20}, crowded = {2, 0};

enum { LOOK = 256 }; /* polls between two looks around */

static enum tutti_err sleep_until_bell(struct mpi_fabric *self, int count, MPI_Request *requests, bool sleeps,
                                       int *done)
{
    struct mpi_bells *bells = &self->world->bells;
    if (!sleeps || !bells->bells) {
        sched_yield();
        return TUTTI_OK;
    }
    uint32_t rings = tt_mpi_world_prepare_sleep(bells);
    int code = MPI_Testall(count, requests, done, MPI_STATUSES_IGNORE);
    if (code == MPI_SUCCESS && !*done)
        tt_mpi_world_sleep(bells, rings);
    tt_mpi_world_end_sleep(bells);
    return tt_mpi_world_check(code);
}

enum tutti_err tt_mpi_fabric_wait(struct mpi_fabric *self, int count, MPI_Request *requests, bool local)
{
    const struct mpi_patience *patience = self->world->crowded ? &crowded : &alone;
    int done = 0;
    for (unsigned polls = 1; !done; polls++) {
        MPI_TRY(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
        if (done || (polls < patience->polls && polls % LOOK != 0))
            continue;
        TRY(tt_mpi_fabric_poll(self));
        if (tt_fabric_is_stopped(&self->fabric)) {
            /* what was sent before the stop is here by now */
            MPI_TRY(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
            return done ? TUTTI_OK : self->world->host->stopped();
        }
        if (polls >= patience->polls)
            TRY(sleep_until_bell(self, count, requests, local && polls >= patience->polls + patience->yields, &done));
    }
    return TUTTI_OK;
}

bool tt_mpi_fabric_cancel(MPI_Request *request, bool is_receive)
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
