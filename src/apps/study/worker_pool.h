/* SPDX-License-Identifier: MIT */
/* apps/study/worker_pool.h - the runs of a sweep, handed out to workers (apps/study/worker_pool.h). A run that ends the process of its worker costs that run alone: another takes its
 * place. A worker that is lost for another reason costs nothing: its runs are made by others.
 *
 * Each worker has a few runs ahead, so that it never waits for the next. */
#ifndef TT_APPS_STUDY_WORKER_POOL_H
#define TT_APPS_STUDY_WORKER_POOL_H

#include "apps/study/sweep_worker.h"

/* How the workers of a sweep are had: forked on this machine, as ranks of mpiexec, on nodes. Each way is one file, worker_NAME.c, that exports one
 * const struct; the pool (apps/study/worker_pool.h) hands out runs and knows nothing else of workers.
 *
 * A worker makes the runs that it is told of one after the other, in their order, and sends a record of each (apps/study/sweep_worker.h), with a head in front. No code of
 * an FMU runs in the process of the pool. */

/* In front of every record. */
struct tt_worker_record_head {
    uint64_t size;
    uint64_t leaves; /* the worker makes no further run, though it was told of some */
};

/* How a worker has come to its end. */
struct tt_worker_ending {
    char how
        [256]; /* the words about a process of its that ended in a run, "was ended by signal 11 ..."; empty: none did */
    size_t run; /* which one; SIZE_MAX: the oldest of those that it was told of */
};

/* Workers are numbered from 0 on. */
struct tt_worker_backend {
    const char *name;
    size_t size; /* of its own state, `self`, zeroed before open */
    /* A worker that cannot be had, or is lost, is done without, as long as there is another. */
    bool does_without;
    /* `context` is that of the pool's order; *workers: how many were asked for, and how many there are. close follows in any case. */
    enum tutti_err (*open)(void *self, struct tt_sweep_worker *work, void *context, unsigned *workers);
    void (*close)(void *self);
    /* Starts a worker, or another in its place. */
    enum tutti_err (*start)(void *self, unsigned worker);
    /* Tells it of further runs; returns how many it could be told of now. One that has ended may be told of all. */
    size_t (*tell)(void *self, unsigned worker, const size_t *runs, size_t count);
    /* Puts what has come from it into `in`: records with their heads, cut anywhere. *open: more may come. An error is the worker's own, which is lost. */
    enum tutti_err (*hear)(void *self, unsigned worker, struct tt_byte_writer *in, bool *open);
    /* Now and then, while it works. NULL: there is nothing to be seen to. */
    void (*watch)(void *self, unsigned worker);
    /* Ends it: by force, or once it has nothing to do, or after it has ended. *ending is empty before. */
    void (*end)(void *self, unsigned worker, bool by_force, struct tt_worker_ending *ending);
    /* What can be waited for, as of poll(); -1: nothing, and it is looked at often. */
    int (*file)(const void *self, unsigned worker);
};

extern const struct tt_worker_backend tt_worker_forked, tt_worker_mpi, tt_worker_nodes;

/* Sends a record by a socket, with its head. False: the other end is gone. */
bool tt_worker_pool_send_record(int fd, struct tt_bytes record, bool leaves);
/* The same into a parcel. */
void tt_worker_pool_write_record(struct tt_byte_writer *parcel, struct tt_bytes record, bool leaves);
/* Appends what there is to be read from a socket that does not wait. *open: there may be more later. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_worker_pool_receive(int fd, struct tt_byte_writer *in, bool *open);

struct tt_worker_pool_plan {
    const struct tt_worker_backend *way;
    void *way_context;
    unsigned workers;
    void *context;
    /* The next run that is to be made; false: there is none. */
    bool (*next)(void *context, size_t *run);
    /* A run is over, with its record (apps/study/sweep_worker.h); in any order. An error ends all. */
    enum tutti_err (*done)(void *context, struct tt_bytes record);
    /* Now and then, and after each round of records. An error ends all. */
    enum tutti_err (*idle)(void *context);
    /* May `next` have another later, though there is none now? Then it is waited for, by this file. NULL: no. */
    bool (*waits)(void *context, int *file);
};

/* Makes all runs that there are. INTERRUPTED (options.interrupt), LIMIT if no process can be had, LOST if the last worker is, MEMORY, and what `done` fails
 * with. Whatever it returns, there are no workers any more. */
TUTTI_CHECKED enum tutti_err tt_worker_pool_run(struct tt_sweep_worker *work, const struct tt_worker_pool_plan *order);

/* How many cores there are for this process. */
unsigned tt_worker_pool_count_cores(void);

#endif
