/* SPDX-License-Identifier: MIT */
/* The module's one symbol, and MPI from its beginning to its end. */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/parts.h"

static enum tutti_err start_mpi(struct world *world)
{
    int initialised = 0, finalised = 0, level = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (finalised)
        return world->host->fail(TUTTI_ERR_UNSUPPORTED,
                                 "MPI has been left in this process, and cannot be entered again: one run per process");
    world->is_ours = !initialised;
    if (!initialised)
        MPI_TRY(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level));
    MPI_Comm_rank(MPI_COMM_WORLD, &world->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world->ranks);
    return TUTTI_OK;
}

static enum tutti_err start(int *rank, int *ranks)
{
    struct world *world = &tutti_mpi_world;
    MPI_Request requests[2];
    TRY(start_mpi(world));
    MPI_TRY(MPI_Comm_idup(MPI_COMM_WORLD, &world->data, &requests[0]));
    MPI_TRY(MPI_Comm_idup(MPI_COMM_WORLD, &world->control, &requests[1]));
    TRY(tutti_mpi_await(2, requests));
    MPI_Comm_set_errhandler(world->data, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(world->control, MPI_ERRORS_RETURN);
    TRY(tutti_mpi_look_around(world));
    *rank = world->rank;
    *ranks = world->ranks;
    return TUTTI_OK;
}

/* An error as a message. */
struct trouble {
    int err;
    char text[4096];
};

static enum tutti_err agree(enum tutti_err err)
{
    struct world *world = &tutti_mpi_world;
    struct trouble trouble = {.err = (int)err};
    snprintf(trouble.text, sizeof trouble.text, "%s", err ? world->host->err_message() : "");
    int own = err ? world->rank : world->ranks, first = own;
    MPI_Request request;
    MPI_TRY(MPI_Iallreduce(&own, &first, 1, MPI_INT, MPI_MIN, world->control, &request));
    TRY(tutti_mpi_await(1, &request));
    if (first == world->ranks)
        return TUTTI_OK;
    if (first != 0 && world->rank == first) {
        MPI_TRY(MPI_Isend(&trouble, sizeof trouble, MPI_BYTE, 0, 0, world->data, &request));
        TRY(tutti_mpi_await(1, &request));
    }
    if (first != 0 && world->rank == 0) {
        MPI_TRY(MPI_Irecv(&trouble, sizeof trouble, MPI_BYTE, first, 0, world->data, &request));
        TRY(tutti_mpi_await(1, &request));
        trouble.text[sizeof trouble.text - 1] = '\0';
        return world->host->fail((enum tutti_err)trouble.err, "rank %d: %s", first, trouble.text);
    }
    return world->rank == 0 ? world->host->fail(err, "%s", trouble.text) : world->host->stopped();
}

static enum tutti_err share(void *bytes, size_t size)
{
    struct world *world = &tutti_mpi_world;
    MPI_Request request;
    if (size > INT_MAX)
        return world->host->fail(TUTTI_ERR_LIMIT, "%zu bytes are too many for a message of MPI", size);
    MPI_TRY(MPI_Ibcast(bytes, (int)size, MPI_BYTE, 0, world->control, &request));
    return tutti_mpi_await(1, &request);
}

static enum tutti_err open_fabric(struct tutti_fabric **out, const struct tutti_mpi_sink *sink)
{
    return tutti_mpi_fabric_new(out, &tutti_mpi_world, sink);
}

/* Takes messages that no rank wants any more, after a stop. Otherwise UCX complains about each, and one that is large
 * would never be gone at its sender. */
static void sweep(MPI_Comm comm)
{
    for (;;) {
        int here = 0, size = 0;
        MPI_Message message;
        MPI_Status status;
        MPI_Request request;
        if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &here, &message, &status) != MPI_SUCCESS || !here)
            return;
        MPI_Get_count(&status, MPI_BYTE, &size);
        char *bytes = malloc((size_t)size + 1);
        if (!bytes || MPI_Imrecv(bytes, size, MPI_BYTE, &message, &request) != MPI_SUCCESS ||
            tutti_mpi_await(1, &request) != TUTTI_OK)
            return;
        free(bytes);
    }
}

/* After the first barrier no rank sends any more; after the second one no rank has anything to take. */
static void finish(void)
{
    struct world *world = &tutti_mpi_world;
    MPI_Request request;
    while (tutti_mpi_posted() > 0 && tutti_mpi_sort_posted() == TUTTI_OK) { /* who comes here takes what is left */
        sweep(world->control);
        sched_yield();
    }
    for (int barriers = 0; barriers < 2; barriers++) {
        int done = MPI_Ibarrier(world->control, &request) != MPI_SUCCESS;
        while (!done && MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
            sweep(world->data);
            sweep(world->control);
            sched_yield();
        }
    }
    tutti_mpi_world_fini(world);
    MPI_Comm_free(&world->data);
    MPI_Comm_free(&world->control);
    if (world->is_ours)
        MPI_Finalize();
}

static const struct tutti_mpi_module module = {
    .abi = TUTTI_MPI_ABI,
    .start = start,
    .agree = agree,
    .share = share,
    .open = open_fabric,
    .settle = tutti_mpi_fabric_settle,
    .last_words = tutti_mpi_fabric_last_words,
    .post = tutti_mpi_post,
    .posted = tutti_mpi_posted,
    .take = tutti_mpi_take,
    .finish = finish,
};

__attribute__((visibility("default"))) tutti_mpi_entry tutti_mpi_module;

const struct tutti_mpi_module *tutti_mpi_module(const struct tutti_mpi_host *host)
{
    if (host->abi != TUTTI_MPI_ABI || host->fabric_size != sizeof(struct tutti_fabric))
        return NULL;
    tutti_mpi_world.host = host;
    return &module;
}
