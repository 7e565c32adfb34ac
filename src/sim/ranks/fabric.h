/* SPDX-License-Identifier: MIT */
/* fabric.h - how ranks hear of each other. Every rank runs the same master over its own units; three things cross ranks:
 * boundary signals (exchange), decisions (reduce), and what the conductor is to know (report). One process is the case of one
 * rank, where all of them are next to nothing.
 *
 * A fabric object belongs to one rank and one thread. The code that starts ranks makes it (conduct/); masters only use it.
 *
 * Invariants:
 *  F1  All ranks open the same channels in the same order, and call exchange and reduce in the same order.
 *  F2  exchange waits for those that this rank reads from, and for no others; a reduction waits for all.
 *  F3  Whatever a rank waits for, it stops waiting once a stop that concerns it is known: STOPPED.
 *  F4  Results do not depend on when messages arrive.
 *
 * To add a kind: docs/extending.md ("A fabric"); `ctest -L fabric`. */
#ifndef TT_SIM_RANKS_FABRIC_H
#define TT_SIM_RANKS_FABRIC_H

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "sim/ranks/channel.h"

struct tt_fabric;

enum tt_fabric_reduction { TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX };

/* What a rank is doing, for those who watch it from outside: written by the rank, read at any time by others. */
struct tt_heartbeat {
    _Atomic uint64_t beat;      /* moves with every macro step, and now and then while the rank waits */
    _Atomic uint32_t component; /* whose FMU it calls; TUTTI_NONE: none */
    _Atomic double t;           /* simulated time there */
    _Atomic uint64_t step;      /* macro steps that it has made */
} __attribute__((aligned(64)));

/* Another number than before: the rank has moved since. */
static inline uint64_t tt_fabric_heartbeat_sum(const struct tt_heartbeat *where)
{
    uint64_t component = atomic_load_explicit(&where->component, memory_order_relaxed);
    return atomic_load_explicit(&where->beat, memory_order_relaxed) ^ (component << 32);
}

struct tt_fabric_kind {
    const char *name; /* "local" */
    /* Collective. Adds a channel, whose number is the count of those before it. `channel` is borrowed until close. */
    enum tutti_err (*open)(struct tt_fabric *fabric, const struct tt_channel *channel);
    /* Collective among neighbours. `base` is an array laid out as the signals are. After it, what this rank reads there by
     * the channel is what its peers had there when they called. */
    enum tutti_err (*exchange)(struct tt_fabric *fabric, uint32_t channel, char *base);
    /* Collective; in place. The same bits on every rank, whatever their number: min and max have no order. */
    enum tutti_err (*reduce)(struct tt_fabric *fabric, enum tt_fabric_reduction reduction, double *values,
                             size_t count);
    /* Bytes for the conductor (sim/ranks/report_frame.h), in order. Returns at once unless what was reported before is not taken. */
    enum tutti_err (*report)(struct tt_fabric *fabric, const void *bytes, size_t size);
    /* Tells all ranks that none is to go beyond `step` macro steps: at once (0), because this rank failed; or where an FMU
     * ended the run. The least of all such numbers counts. Does not wait. */
    void (*stop)(struct tt_fabric *fabric, uint64_t step);
    void (*close)(struct tt_fabric *fabric); /* NULL is fine */
};

struct tt_fabric {
    const struct tt_fabric_kind *kind;
    int rank, ranks;
    unsigned long exchanges;      /* so far */
    uint64_t step;                /* macro steps that this rank has made; kept by the loop */
    _Atomic uint64_t *stop_after; /* the least number that any rank told; UINT64_MAX: none. Never NULL */
    struct tt_heartbeat *where;   /* this rank's. Never NULL */
};

/* Is the rank to make no further step? (F3) */
static inline bool tt_fabric_is_stopped(const struct tt_fabric *fabric)
{
    return atomic_load_explicit(fabric->stop_after, memory_order_relaxed) <= fabric->step;
}

/* For kinds: lowers stop_after to `step`. */
void tt_fabric_lower_stop(_Atomic uint64_t *stop_after, uint64_t step);
/* For kinds: what a wait that is given up returns. */
enum tutti_err tt_fabric_fail_stopped(void);
/* For kinds: into[i] = min or max of into[i] and from[i]. A NaN wins over everything. */
void tt_fabric_combine(enum tt_fabric_reduction reduction, double *into, const double *from, size_t count);

/* One rank that is alone. */
TUTTI_CHECKED enum tutti_err tt_fabric_new_local(struct tt_fabric **out);

#endif
