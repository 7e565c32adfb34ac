/* SPDX-License-Identifier: MIT */
/* apps/study/worker_pool.h - the runs of a sweep, handed out to workers (apps/study/worker_pool.h). A run that ends its
 * worker's process affects no other run: the worker is replaced. If a worker is lost otherwise, other workers make its
 * runs.
 *
 * Each worker has a few runs ahead, so that it never waits for the next. */
#ifndef TT_APPS_STUDY_WORKER_POOL_H
#define TT_APPS_STUDY_WORKER_POOL_H

#include "apps/study/sweep_worker.h"

/* Kinds of workers of a sweep: forked on this machine, as ranks of mpiexec, on nodes. Each kind is one file,
 * worker_NAME.c, that exports one const struct; the pool (apps/study/worker_pool.h) assigns runs and is otherwise
 * independent of the kind.
 *
 * A worker makes its assigned runs one after the other, in their order, and sends a record of each
 * (apps/study/sweep_worker.h), preceded by a head. No code of an FMU runs in the process of the pool. */

/* In front of every record. */
struct tt_worker_record_head {
    uint64_t size;
    uint64_t leaves; /* the worker makes no further runs, even if some are assigned */
};

/* How a worker has come to its end. */
struct tt_worker_ending {
    char
        how[256]; /* describes the end of its process in a run, "was ended by signal 11 ..."; empty: no process ended */
    size_t run;   /* the run; SIZE_MAX: the oldest of its assigned runs */
};

/* Workers are numbered from 0 on. */
struct tt_worker_backend {
    const char *name;
    size_t size; /* size of the kind's state, `self`, zeroed before open */
    /* The pool continues without a worker that cannot be started or is lost, as long as one remains. */
    bool does_without;
    /* `context` is that of the pool's order; *workers: how many were asked for, and how many there are. close follows in any case. */
    enum tutti_err (*open)(void *self, struct tt_sweep_worker *work, void *context, unsigned *workers);
    void (*close)(void *self);
    /* Starts or replaces a worker. */
    enum tutti_err (*start)(void *self, unsigned worker);
    /* Assigns further runs; returns how many it accepts now. A worker that has ended may accept all. */
    size_t (*tell)(void *self, unsigned worker, const size_t *runs, size_t count);
    /* Appends received data to `in`: records with their heads, cut anywhere. *open: more may follow. An error concerns
     * only this worker, which is lost. */
    enum tutti_err (*hear)(void *self, unsigned worker, struct tt_byte_writer *in, bool *open);
    /* Called now and then while it works. NULL: not needed. */
    void (*watch)(void *self, unsigned worker);
    /* Ends it: by force, or once it has nothing to do, or after it has ended. *ending is empty before. */
    void (*end)(void *self, unsigned worker, bool by_force, struct tt_worker_ending *ending);
    /* Returns a descriptor for poll(); -1: none, and it is checked frequently. */
    int (*file)(const void *self, unsigned worker);
};

extern const struct tt_worker_backend tt_worker_forked, tt_worker_mpi, tt_worker_nodes;

/* Sends a record by a socket, with its head. False: the peer is gone. */
bool tt_worker_pool_send_record(int fd, struct tt_bytes record, bool leaves);
/* Writes a record with its head into a parcel. */
void tt_worker_pool_write_record(struct tt_byte_writer *parcel, struct tt_bytes record, bool leaves);
/* Appends the available bytes of a non-blocking socket. *open: more may follow later. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_worker_pool_receive(int fd, struct tt_byte_writer *in, bool *open);

struct tt_worker_pool_plan {
    const struct tt_worker_backend *way;
    void *way_context;
    unsigned workers;
    void *context;
    /* Returns the next run; false: none. */
    bool (*next)(void *context, size_t *run);
    /* A run is over, with its record (apps/study/sweep_worker.h); in any order. An error ends all. */
    enum tutti_err (*done)(void *context, struct tt_bytes record);
    /* Now and then, and after each round of records. An error ends all. */
    enum tutti_err (*idle)(void *context);
    /* Returns true if `next` may have a run later although it has none now; the pool then waits for *file. NULL: never. */
    bool (*waits)(void *context, int *file);
};

/* Makes all runs. INTERRUPTED (options.interrupt), LIMIT if no process can be started, LOST if the last worker is lost,
 * MEMORY, and errors of `done`. When it returns, all workers have ended. */
TUTTI_CHECKED enum tutti_err tt_worker_pool_run(struct tt_sweep_worker *work, const struct tt_worker_pool_plan *order);

/* Returns the number of cores available to this process. */
unsigned tt_worker_pool_count_cores(void);

#endif
