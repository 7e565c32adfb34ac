/* SPDX-License-Identifier: MIT */
/* Messages between single ranks, as they come up. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/parts.h"

/* A message that is being sent, with its bytes. */
struct letter {
    struct letter *next;
    MPI_Request request;
    char bytes[];
};

static struct letter *letters; /* the oldest first */
static unsigned count;

unsigned tutti_mpi_posted(void)
{
    return count;
}

enum tutti_err tutti_mpi_sort_posted(void)
{
    for (struct letter **at = &letters; *at;) {
        struct letter *letter = *at;
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

enum tutti_err tutti_mpi_post(int rank, const void *bytes, size_t size)
{
    struct world *world = &tutti_mpi_world;
    struct letter **last = &letters, *letter = malloc(sizeof *letter + size);
    if (!letter)
        return world->host->fail_memory();
    if (size > 0)
        memcpy(letter->bytes, bytes, size);
    letter->next = NULL;
    enum tutti_err err = size > INT_MAX
                             ? world->host->fail(TUTTI_ERR_LIMIT, "%zu bytes are too many for a message of MPI", size)
                             : tutti_mpi_check(MPI_Isend(letter->bytes, (int)size, MPI_BYTE, rank, TUTTI_MPI_TAG_POST,
                                                         world->control, &letter->request));
    if (err) {
        free(letter);
        return err;
    }
    while (*last)
        last = &(*last)->next;
    *last = letter;
    count++;
    return tutti_mpi_sort_posted();
}

enum tutti_err tutti_mpi_take(int *rank, char **bytes, size_t *size)
{
    struct world *world = &tutti_mpi_world;
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    int here = 0, length = 0;
    *rank = -1;
    MPI_TRY(MPI_Improbe(MPI_ANY_SOURCE, TUTTI_MPI_TAG_POST, world->control, &here, &message, &status));
    if (!here)
        return tutti_mpi_sort_posted();
    MPI_TRY(MPI_Get_count(&status, MPI_BYTE, &length));
    *size = (size_t)length;
    *bytes = malloc(*size + 1);
    if (!*bytes)
        return world->host->fail_memory();
    enum tutti_err err = tutti_mpi_check(MPI_Imrecv(*bytes, length, MPI_BYTE, &message, &request));
    if (!err)
        err = tutti_mpi_await(1, &request);
    if (err)
        free(*bytes);
    else
        *rank = status.MPI_SOURCE;
    return err;
}
