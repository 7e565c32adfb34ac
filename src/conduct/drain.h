/* SPDX-License-Identifier: MIT */
/* drain.h - what ranks that share memory report, brought to the conductor: for threads.c and processes.c. */
#ifndef TUTTI_CONDUCT_DRAIN_H
#define TUTTI_CONDUCT_DRAIN_H

#include "conduct/conductor.h"
#include "fabric/shared.h"

/* How long a launcher sleeps if nothing wakes it. Results reach the disk, and progress the people, at least so often. */
static const double TUTTI_DRAIN_NAP = 0.05;

struct tutti_drain {
    struct tutti_shared *area;
    struct tutti_conductor *conductor;
    const volatile sig_atomic_t *interrupt; /* of the options; NULL: none */
    int ranks;
    struct tutti_parcel *held; /* per rank: the beginning of a frame that is not whole in the ring */
    bool *closed;              /* per rank: what it reports is no report; the rest is thrown away */
    double last_idle;
    bool interrupted;
    enum tutti_err err; /* the first failure of the conductor or the launcher */
    char *message;      /* ... what it said; NULL if there was no memory for it */
};

/* Everything is borrowed. tutti_drain_fini also after a failure. */
TUTTI_CHECKED enum tutti_err tutti_drain_init(struct tutti_drain *drain, struct tutti_shared *area,
                                              struct tutti_conductor *conductor, const volatile sig_atomic_t *interrupt,
                                              int ranks);
void tutti_drain_fini(struct tutti_drain *drain);

/* Ends the run: tutti_drain_finish returns `err` with this thread's message, unless something failed before. */
void tutti_drain_fail(struct tutti_drain *drain, enum tutti_err err);
/* Hands over what one rank has reported, as far as the conductor takes it. Was it anything? */
bool tutti_drain_rank(struct tutti_drain *drain, int rank);
/* Does so for all of them, again and again until no rank has any more. Stops the run where the conductor failed, or the run
 * was interrupted. */
void tutti_drain_all(struct tutti_drain *drain);
/* The end: what is left, then those who did not come to theirs are lost as STOPPED. Returns the first failure. */
TUTTI_CHECKED enum tutti_err tutti_drain_finish(struct tutti_drain *drain);

#endif
