/* SPDX-License-Identifier: MIT */
/* The module's one symbol, and MPI from its beginning to its end. */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/ranks/mpi/mpi_fabric.h"

static enum tutti_err start_mpi(struct mpi_world *world)
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

static enum tutti_err mpi_module_start(int *rank, int *ranks)
{
    struct mpi_world *world = &tt_mpi_world;
    MPI_Request requests[2];
    TRY(start_mpi(world));
    MPI_TRY(MPI_Comm_idup(MPI_COMM_WORLD, &world->data, &requests[0]));
    MPI_TRY(MPI_Comm_idup(MPI_COMM_WORLD, &world->control, &requests[1]));
    TRY(tt_mpi_world_await(2, requests));
    MPI_Comm_set_errhandler(world->data, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(world->control, MPI_ERRORS_RETURN);
    TRY(tt_mpi_world_init(world));
    *rank = world->rank;
    *ranks = world->ranks;
    return TUTTI_OK;
}

struct mpi_failure {
    int err;
    char text[4096];
};

static enum tutti_err mpi_module_agree(enum tutti_err err)
{
    struct mpi_world *world = &tt_mpi_world;
    struct mpi_failure trouble = {.err = (int)err};
    snprintf(trouble.text, sizeof trouble.text, "%s", err ? world->host->err_message() : "");
    int own = err ? world->rank : world->ranks, first = own;
    MPI_Request request;
    MPI_TRY(MPI_Iallreduce(&own, &first, 1, MPI_INT, MPI_MIN, world->control, &request));
    TRY(tt_mpi_world_await(1, &request));
    if (first == world->ranks)
        return TUTTI_OK;
    if (first != 0 && world->rank == first) {
        MPI_TRY(MPI_Isend(&trouble, sizeof trouble, MPI_BYTE, 0, 0, world->data, &request));
        TRY(tt_mpi_world_await(1, &request));
    }
    if (first != 0 && world->rank == 0) {
        MPI_TRY(MPI_Irecv(&trouble, sizeof trouble, MPI_BYTE, first, 0, world->data, &request));
        TRY(tt_mpi_world_await(1, &request));
        trouble.text[sizeof trouble.text - 1] = '\0';
        return world->host->fail((enum tutti_err)trouble.err, "rank %d: %s", first, trouble.text);
    }
    return world->rank == 0 ? world->host->fail(err, "%s", trouble.text) : world->host->stopped();
}

static enum tutti_err mpi_module_broadcast(void *bytes, size_t size)
{
    struct mpi_world *world = &tt_mpi_world;
    MPI_Request request;
    if (size > INT_MAX)
        return world->host->fail(TUTTI_ERR_LIMIT, "%zu bytes are too many for a message of MPI", size);
    MPI_TRY(MPI_Ibcast(bytes, (int)size, MPI_BYTE, 0, world->control, &request));
    return tt_mpi_world_await(1, &request);
}

static enum tutti_err open_mpi_fabric(struct tt_fabric **out, const struct tt_mpi_sink *sink)
{
    return tt_mpi_fabric_new(out, &tt_mpi_world, sink);
}

/* Receives messages that no rank needs after a stop. Otherwise UCX logs a complaint about each, and a large one would
 * never complete at its sender. */
static void mpi_module_drain_messages(MPI_Comm comm)
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
            tt_mpi_world_await(1, &request) != TUTTI_OK)
            return;
        free(bytes);
    }
}

/* After the first barrier no rank sends any more; after the second one no rank has anything to take. */
static void mpi_module_finish(void)
{
    struct mpi_world *world = &tt_mpi_world;
    MPI_Request request;
    while (tt_mpi_module_count_posted() > 0 &&
           tt_mpi_module_remove_sent() == TUTTI_OK) { /* who comes here takes what is left */
        mpi_module_drain_messages(world->control);
        sched_yield();
    }
    for (int barriers = 0; barriers < 2; barriers++) {
        int done = MPI_Ibarrier(world->control, &request) != MPI_SUCCESS;
        while (!done && MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
            mpi_module_drain_messages(world->data);
            mpi_module_drain_messages(world->control);
            sched_yield();
        }
    }
    tt_mpi_world_fini(world);
    MPI_Comm_free(&world->data);
    MPI_Comm_free(&world->control);
    if (world->is_ours)
        MPI_Finalize();
}

static const struct tt_mpi_module module = {
    .abi = TUTTI_MPI_ABI,
    .start = mpi_module_start,
    .agree = mpi_module_agree,
    .share = mpi_module_broadcast,
    .open = open_mpi_fabric,
    .settle = tt_mpi_fabric_drain,
    .last_words = tt_mpi_fabric_flush_on_crash,
    .post = tt_mpi_module_post,
    .posted = tt_mpi_module_count_posted,
    .take = tt_mpi_module_receive,
    .finish = mpi_module_finish,
};

__attribute__((visibility("default"))) tt_mpi_entry tt_mpi_module;

const struct tt_mpi_module *tt_mpi_module(const struct tt_mpi_host *host)
{
    if (host->abi != TUTTI_MPI_ABI || host->fabric_size != sizeof(struct tt_fabric))
        return NULL;
    tt_mpi_world.host = host;
    return &module;
}

/* Messages between single ranks, as they come up. */

/* A message that is being sent, with its bytes. */
struct mpi_message {
    struct mpi_message *next;
    MPI_Request request;
    char bytes[];
};

static struct mpi_message *letters; /* the oldest first */
static unsigned count;

unsigned tt_mpi_module_count_posted(void)
{
    return count;
}

enum tutti_err tt_mpi_module_remove_sent(void)
{
    for (struct mpi_message **at = &letters; *at;) {
        struct mpi_message *letter = *at;
        int gone = 0;
        MPI_TRY(MPI_Test(&letter->request, &gone, MPI_STATUS_IGNORE));
        if (gone) {
            *at = letter->next;
            free(letter);
            count--;
        } else {
            at = &letter->next;
        }
    }
    return TUTTI_OK;
}

enum tutti_err tt_mpi_module_post(int rank, const void *bytes, size_t size)
{
    struct mpi_world *world = &tt_mpi_world;
    struct mpi_message **last = &letters, *letter = malloc(sizeof *letter + size);
    if (!letter)
        return world->host->fail_memory();
    if (size > 0)
        memcpy(letter->bytes, bytes, size);
    letter->next = NULL;
    enum tutti_err err = size > INT_MAX
                             ? world->host->fail(TUTTI_ERR_LIMIT, "%zu bytes are too many for a message of MPI", size)
                             : tt_mpi_world_check(MPI_Isend(letter->bytes, (int)size, MPI_BYTE, rank,
                                                            TUTTI_MPI_TAG_POST, world->control, &letter->request));
    if (err) {
        free(letter);
        return err;
    }
    while (*last)
        last = &(*last)->next;
    *last = letter;
    count++;
    return tt_mpi_module_remove_sent();
}

enum tutti_err tt_mpi_module_receive(int *rank, char **bytes, size_t *size)
{
    struct mpi_world *world = &tt_mpi_world;
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    int here = 0, length = 0;
    *rank = -1;
    MPI_TRY(MPI_Improbe(MPI_ANY_SOURCE, TUTTI_MPI_TAG_POST, world->control, &here, &message, &status));
    if (!here)
        return tt_mpi_module_remove_sent();
    MPI_TRY(MPI_Get_count(&status, MPI_BYTE, &length));
    *size = (size_t)length;
    *bytes = malloc(*size + 1);
    if (!*bytes)
        return world->host->fail_memory();
    enum tutti_err err = tt_mpi_world_check(MPI_Imrecv(*bytes, length, MPI_BYTE, &message, &request));
    if (!err)
        err = tt_mpi_world_await(1, &request);
    if (err)
        free(*bytes);
    else
        *rank = status.MPI_SOURCE;
    return err;
}
