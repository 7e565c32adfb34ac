/* SPDX-License-Identifier: MIT */
/* Messages between single ranks, as they come up. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim/ranks/mpi/mpi_parts.h"

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
