/* SPDX-License-Identifier: MIT */
/* study/pool.h - the runs of a sweep in worker processes of this machine. They are forked from this one, in which no code of an FMU runs: a run that
 * crashes its worker, or ends it, costs that run alone; another worker takes its place.
 *
 * Each worker makes its runs one after the other and has a few ahead, so that it never waits for the next. */
#ifndef TUTTI_STUDY_POOL_H
#define TUTTI_STUDY_POOL_H

#include "study/work.h"

struct tutti_pool_order {
    unsigned workers;
    void *context;
    /* The next run that is to be made; false: there is none. */
    bool (*next)(void *context, size_t *run);
    /* A run is over, with its record (study/record.h); in any order. An error ends all. */
    enum tutti_err (*done)(void *context, struct tutti_bytes record);
    /* Now and then. */
    void (*idle)(void *context);
};

/* Makes all runs that there are. INTERRUPTED (options.interrupt), LIMIT if no process can be had, MEMORY, and what `done` fails with. Whatever it returns,
 * there are no workers any more. */
TUTTI_CHECKED enum tutti_err tutti_pool_run(struct tutti_work *work, const struct tutti_pool_order *order);

/* How many workers there are if none are asked for: the cores that this process may use. */
unsigned tutti_pool_cores(void);

#endif
