/* SPDX-License-Identifier: MIT */
/* Reports: a ring of bytes from each rank to the conductor. */
#include <string.h>

#include "fabric/shared_parts.h"

void tutti_shared_ring_bell(struct tutti_shared *area)
{
    atomic_fetch_add(&area->bell, 1);
    if (atomic_load(&area->dozing))
        tutti_shared_wake(&area->bell);
}

uint32_t tutti_shared_bell(const struct tutti_shared *area)
{
    return atomic_load(&area->bell);
}

void tutti_shared_doze(struct tutti_shared *area, uint32_t seen, double seconds)
{
    atomic_store(&area->dozing, 1);
    tutti_shared_sleep(&area->bell, seen, seconds);
    atomic_store(&area->dozing, 0);
}

static void put(struct shared_ring *ring, uint64_t at, const char *bytes, size_t count)
{
    size_t place = (size_t)(at % SHARED_RING), first = SHARED_RING - place < count ? SHARED_RING - place : count;
    memcpy(ring->bytes + place, bytes, first);
    memcpy(ring->bytes, bytes + first, count - first);
}

enum tutti_err tutti_shared_report(struct tutti_fabric *fabric, const void *bytes, size_t size)
{
    struct shared_rank *self = (struct shared_rank *)fabric;
    struct shared_ring *ring = &self->area->seats[fabric->rank].ring;
    uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    for (const char *at = bytes; size > 0;) {
        uint32_t turns = atomic_load(&ring->turns);
        size_t used = (size_t)(written - atomic_load(&ring->taken));
        size_t part = SHARED_RING - used < size ? SHARED_RING - used : size;
        put(ring, written, at, part);
        written += part, at += part, size -= part;
        atomic_store_explicit(&ring->written, written, memory_order_release);
        /* A bell that nobody hears costs the conductor no more than the rest of its nap. */
        if (used + part >= SHARED_RING / 2 && atomic_load_explicit(&self->area->dozing, memory_order_relaxed))
            tutti_shared_ring_bell(self->area);
        if (size > 0)
            TRY(tutti_shared_wait(self, &ring->turns, turns, &ring->waiting, true));
    }
    return TUTTI_OK;
}

const char *tutti_shared_reports(struct tutti_shared *area, int rank, size_t *count)
{
    struct shared_ring *ring = &area->seats[rank].ring;
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    size_t used = (size_t)(atomic_load_explicit(&ring->written, memory_order_acquire) - taken);
    size_t place = (size_t)(taken % SHARED_RING), behind = SHARED_RING - place;
    *count = used < behind ? used : behind;
    return ring->bytes + place;
}

void tutti_shared_consume(struct tutti_shared *area, int rank, size_t count)
{
    struct shared_ring *ring = &area->seats[rank].ring;
    if (count == 0)
        return;
    atomic_store(&ring->taken, atomic_load_explicit(&ring->taken, memory_order_relaxed) + count);
    tutti_shared_publish(&ring->turns, atomic_load_explicit(&ring->turns, memory_order_relaxed) + 1, &ring->waiting);
}
