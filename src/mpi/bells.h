/* SPDX-License-Identifier: MIT */
/* bells.h - how a rank that waits sleeps, and is woken by ranks on the same host: a futex per rank in memory that they share.
 *
 * Yielding alone will do as well where the cores are ours. Where they are not, a rank that yields is last in the scheduler's
 * eyes, and every message may take a time slice of another process (measured with 16 ranks on 2 cores that others used,
 * too: 6 ms for a reduction, with bells 0.5 ms). */
#ifndef TUTTI_MPI_BELLS_H
#define TUTTI_MPI_BELLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct bell {
    _Alignas(64) _Atomic uint32_t rings;
    _Atomic uint32_t sleeps; /* its rank does, or is about to */
};

/* Those of one host; zeroed: there are none, and resting is yielding. */
struct bells {
    struct bell *bells;
    int count, own;
};

enum { TUTTI_BELLS_NAME = 48 };

/* Makes the memory for `count` bells; `name` (TUTTI_BELLS_NAME bytes) is then what the others open it by. False: it cannot be
 * had. */
bool tutti_bells_make(struct bells *bells, int count, char *name);
bool tutti_bells_open(struct bells *bells, int count, int own, const char *name);
/* Once all have it open: the name is gone, the memory stays. */
void tutti_bells_forget(const char *name);
void tutti_bells_fini(struct bells *bells);

/* Wakes a rank if it sleeps; -1: it is on another host. To be called after what it waits for was sent. */
static inline void tutti_bells_ring(struct bells *bells, int bell);
/* Sleeping takes two calls, with a last look between them at what is waited for: a send after `lie_down` rings. */
static inline uint32_t tutti_bells_lie_down(struct bells *bells);
/* Until a rank rang, or some milliseconds have passed. */
void tutti_bells_sleep(struct bells *bells, uint32_t rings);
static inline void tutti_bells_get_up(struct bells *bells);

void tutti_bells_wake(struct bell *bell);

static inline void tutti_bells_ring(struct bells *bells, int bell)
{
    if (!bells->bells || bell < 0)
        return;
    /* what was sent must be seen before `sleeps` is read */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&bells->bells[bell].sleeps, memory_order_relaxed))
        tutti_bells_wake(&bells->bells[bell]);
}

static inline uint32_t tutti_bells_lie_down(struct bells *bells)
{
    struct bell *own = &bells->bells[bells->own];
    atomic_store_explicit(&own->sleeps, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&own->rings, memory_order_relaxed);
}

static inline void tutti_bells_get_up(struct bells *bells)
{
    atomic_store_explicit(&bells->bells[bells->own].sleeps, 0, memory_order_relaxed);
}

#endif
