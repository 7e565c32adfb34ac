/* SPDX-License-Identifier: MIT */
/* mpi_world.h - all processes of the job, from the side of this process.
 *
 * Invariants:
 *  H1  No call of MPI blocks, except MPI_Init and MPI_Finalize: where ranks outnumber cores, MPICH's blocking calls
 *      spin while the ranks they wait for have no core to run on. All other operations are started and tested, with
 *      pauses between tests.
 *  H2  Only the thread that called `start` calls MPI.
 *  H3  A rank waits on its bell (mpi_world.h) if all its requests depend on this host; otherwise it yields. */
#ifndef TT_SIM_RANKS_MPI_MPI_WORLD_H
#define TT_SIM_RANKS_MPI_MPI_WORLD_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/ranks/mpi_interface.h"

/* A waiting rank sleeps on a futex in memory shared with the ranks of its host, which wake it.
 *
 * Yielding alone suffices if the cores are exclusive. Otherwise a rank that yields is scheduled last, and every message
 * may take a time slice of a different process (measured with 16 ranks on 2 cores that others used, too: 6 ms for a
 * reduction, with bells 0.5 ms). */

struct mpi_bell {
    _Alignas(64) _Atomic uint32_t rings;
    _Atomic uint32_t sleeps; /* its rank does, or is about to */
};

/* The bells of one host; zeroed: none, and waiting is yielding. */
struct mpi_bells {
    struct mpi_bell *bells;
    int count, own;
};

enum { TUTTI_BELLS_NAME = 48 };

/* Creates the memory for `count` bells; `name` (TUTTI_BELLS_NAME bytes) is its name for other ranks. False: impossible. */
bool tt_mpi_world_create_bells(struct mpi_bells *bells, int count, char *name);
bool tt_mpi_world_open_bells(struct mpi_bells *bells, int count, int own, const char *name);
/* Once all have it open: the name is gone, the memory stays. */
void tt_mpi_world_unlink_bells(const char *name);
void tt_mpi_world_close_bells(struct mpi_bells *bells);

/* Wakes a rank if it sleeps; -1: it is on a different host. Called after sending to it. */
static inline void tt_mpi_world_ring(struct mpi_bells *bells, int bell);
/* Sleeping takes two calls, with a last check in between: a message sent after `lie_down` rings. */
static inline uint32_t tt_mpi_world_prepare_sleep(struct mpi_bells *bells);
/* Until a rank rang, or some milliseconds have passed. */
void tt_mpi_world_sleep(struct mpi_bells *bells, uint32_t rings);
static inline void tt_mpi_world_end_sleep(struct mpi_bells *bells);

void tt_mpi_world_wake(struct mpi_bell *bell);

static inline void tt_mpi_world_ring(struct mpi_bells *bells, int bell)
{
    if (!bells->bells || bell < 0)
        return;
    /* the message must be visible before `sleeps` is read */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&bells->bells[bell].sleeps, memory_order_relaxed))
        tt_mpi_world_wake(&bells->bells[bell]);
}

static inline uint32_t tt_mpi_world_prepare_sleep(struct mpi_bells *bells)
{
    struct mpi_bell *own = &bells->bells[bells->own];
    atomic_store_explicit(&own->sleeps, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&own->rings, memory_order_relaxed);
}

static inline void tt_mpi_world_end_sleep(struct mpi_bells *bells)
{
    atomic_store_explicit(&bells->bells[bells->own].sleeps, 0, memory_order_relaxed);
}

struct mpi_world {
    const struct tt_mpi_host *host;
    MPI_Comm data, control; /* signals and decisions; reports and stops */
    int rank, ranks;
    bool is_ours; /* we called MPI_Init */
    /* This host: its ranks in rising order, and the first rank of every host. */
    int *here, here_count, *leaders, leader_count;
    int *bell_of; /* per rank: its index here, or -1: on a different host */
    bool crowded; /* more ranks than cores */
    struct mpi_bells bells;
};

extern struct mpi_world tt_mpi_world;

/* LOST with MPI's message, unless `code` is success. */
TUTTI_CHECKED enum tutti_err tt_mpi_world_check(int code);
#define MPI_TRY(call) TRY(tt_mpi_world_check(call))

/* Who is where; makes the bells. */
TUTTI_CHECKED enum tutti_err tt_mpi_world_init(struct mpi_world *world);
void tt_mpi_world_fini(struct mpi_world *world);

/* Waits for requests outside a run, where no rank stops another. */
TUTTI_CHECKED enum tutti_err tt_mpi_world_await(int count, MPI_Request *requests);

#endif
