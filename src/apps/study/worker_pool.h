/* SPDX-License-Identifier: MIT */
/* apps/study/worker_pool.h - the runs of a sweep, handed out to workers (apps/study/worker_backend.h). A run that ends the process of its worker costs that run alone: another takes its
 * place. A worker that is lost for another reason costs nothing: its runs are made by others.
 *
 * Each worker has a few runs ahead, so that it never waits for the next. */
#ifndef TT_APPS_STUDY_WORKER_POOL_H
#define TT_APPS_STUDY_WORKER_POOL_H

#include "apps/study/worker_backend.h"

struct tt_worker_pool_plan {
    const struct tt_worker_backend *way;
    void *way_context;
    unsigned workers;
    void *context;
    /* The next run that is to be made; false: there is none. */
    bool (*next)(void *context, size_t *run);
    /* A run is over, with its record (apps/study/run_record.h); in any order. An error ends all. */
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
