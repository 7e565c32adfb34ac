/* SPDX-License-Identifier: MIT */
/* apps/study/worker_backend.h - how the workers of a sweep are had: forked on this machine, as ranks of mpiexec, on nodes. Each way is one file, way_NAME.c, that exports one
 * const struct; the pool (apps/study/worker_pool.h) hands out runs and knows nothing else of workers.
 *
 * A worker makes the runs that it is told of one after the other, in their order, and sends a record of each (apps/study/run_record.h), with a head in front. No code of
 * an FMU runs in the process of the pool. */
#ifndef TT_APPS_STUDY_WORKER_BACKEND_H
#define TT_APPS_STUDY_WORKER_BACKEND_H

#include "apps/study/sweep_worker.h"

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

#endif
