/* SPDX-License-Identifier: MIT */
/* shared_parts.h - what lies in the area of fabric/shared.h, and how its ranks wait. Only for files shared_*.c.
 *
 * Invariants:
 *  S1  The area has the same address for all ranks (threads, or forks of the process that mapped it): pointers into it are
 *      good everywhere.
 *  S2  Every word has one writer, except counts of those who wait, the count of arrivals, the bell and stop_after. What
 *      different ranks write lies on different cache lines.
 *  S3  Whoever changes a word that others may wait for stores it, then looks whether somebody waits; whoever waits says so,
 *      then looks at the word. All four are sequentially consistent, so one of the two sees the other. */
#ifndef TUTTI_FABRIC_SHARED_PARTS_H
#define TUTTI_FABRIC_SHARED_PARTS_H

#include "fabric/shared.h"

enum {
    SHARED_LINE = 64,            /* bytes of a cache line */
    SHARED_RING = 1 << 20,       /* bytes of reports that nobody has taken */
    SHARED_VECTOR = 1024,        /* doubles that are reduced at once */
    SHARED_SLOTS = 2,            /* messages of a mailbox; a power of two */
    SHARED_TEXT_ROOM = 16 << 20, /* bytes of a message with texts */
};

/* One message. It is there once `stamp` is its number, counted from 1. Short ones lie on the line of their stamp. */
struct shared_slot {
    _Alignas(SHARED_LINE) _Atomic uint32_t stamp;
    size_t size;
    char bytes[];
};

/* Where the address of a mailbox is told. */
struct shared_cell {
    _Atomic uint32_t made, waiting;
    struct shared_mailbox *box;
};

/* Messages of one channel from one rank to another. */
struct shared_mailbox {
    _Alignas(SHARED_LINE) _Atomic uint32_t taken; /* messages, by the reader */
    _Alignas(SHARED_LINE) _Atomic uint32_t reader_waiting, writer_waiting;
    struct shared_slot *slots[SHARED_SLOTS];
    size_t room;             /* bytes of a slot */
    struct shared_cell next; /* of the same two ranks, for a later channel */
};

struct shared_ring {
    _Alignas(SHARED_LINE) _Atomic uint64_t written; /* bytes, by the rank */
    _Alignas(SHARED_LINE) _Atomic uint64_t taken;   /* bytes, by the conductor */
    _Atomic uint32_t turns;                         /* how often it took some */
    _Alignas(SHARED_LINE) _Atomic uint32_t waiting;
    _Alignas(SHARED_LINE) char bytes[SHARED_RING];
};

/* What belongs to one rank. */
struct shared_seat {
    struct tutti_whereabouts where;
    _Atomic bool left;
    _Alignas(SHARED_LINE) double vectors[2][SHARED_VECTOR]; /* of this reduction and of the one before */
    struct shared_ring ring;
};

/* The head of the area. */
struct tutti_shared {
    struct tutti_fabric_kind kind;
    int ranks;
    bool crowded; /* more ranks than cores */
    size_t size;  /* of the area */
    char *rooms;  /* per rank, memory for its mailboxes */
    size_t room;  /* ... so much */
    struct shared_seat *seats;
    struct shared_cell *cells; /* by writer, then reader */
    _Alignas(SHARED_LINE) _Atomic uint64_t stop_after;
    volatile sig_atomic_t interrupt;
    _Alignas(SHARED_LINE) _Atomic uint32_t arrived; /* at reductions, all ranks together */
    _Atomic uint32_t reductions;                    /* that all have arrived at */
    _Alignas(SHARED_LINE) _Atomic uint32_t reductions_waiting;
    _Alignas(SHARED_LINE) _Atomic uint32_t bell, dozing;
};

/* A mailbox from one of its ends. */
struct shared_end {
    struct shared_mailbox *box;
    const struct tutti_cargo *cargo;
    uint32_t count; /* messages so far */
    uint32_t taken; /* writer: of these, when it last looked */
    int peer;
};

struct shared_channel {
    struct shared_end *outs, *ins;
    uint32_t out_count, in_count;
};

/* A rank's fabric. */
struct shared_rank {
    struct tutti_fabric fabric;
    struct tutti_shared *area;
    struct shared_channel *channels;
    uint32_t channel_count;
    struct shared_cell **next_out, **next_in; /* per peer: where its next mailbox is told */
    size_t used;                              /* of its room */
    uint32_t reductions;
    double patience; /* seconds to spin before it parks */
};

/* Waits while *word is `old`; `waiting` counts those who do. STOPPED if a stop comes first, unless `always`. */
TUTTI_CHECKED enum tutti_err tutti_shared_wait(struct shared_rank *self, _Atomic uint32_t *word, uint32_t old,
                                               _Atomic uint32_t *waiting, bool always);
/* Wakes all who wait for `word`. */
void tutti_shared_wake(_Atomic uint32_t *word);
/* Sleeps while *word is `old`, at most so long. */
void tutti_shared_sleep(_Atomic uint32_t *word, uint32_t old, double seconds);

/* Changes a word that others may wait for (S3). */
static inline void tutti_shared_publish(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *waiting)
{
    atomic_store(word, value);
    if (__builtin_expect(atomic_load(waiting) != 0, 0))
        tutti_shared_wake(word);
}

void tutti_shared_ring_bell(struct tutti_shared *area);

/* Slots of the kind: shared_mail.c, shared_reduce.c, shared_report.c. */
enum tutti_err tutti_shared_open(struct tutti_fabric *fabric, const struct tutti_channel *channel);
enum tutti_err tutti_shared_exchange(struct tutti_fabric *fabric, uint32_t channel, char *base);
enum tutti_err tutti_shared_reduce(struct tutti_fabric *fabric, enum tutti_reduction reduction, double *values,
                                   size_t count);
enum tutti_err tutti_shared_report(struct tutti_fabric *fabric, const void *bytes, size_t size);

#endif
