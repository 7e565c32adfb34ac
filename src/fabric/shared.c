/* SPDX-License-Identifier: MIT */
/* The area: how it is laid out, and who joins it. */
#include "fabric/shared.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fabric/shared_parts.h"

/* Addresses per rank for its mailboxes; memory is used where something is written. Less will do where a limit on addresses
 * (ulimit -v) does not allow the most. */
static const size_t MOST_ROOM = (size_t)1 << 35, LEAST_ROOM = (size_t)1 << 22;

static size_t whole_pages(size_t size)
{
    return (size + 4095) & ~(size_t)4095;
}

static void stop(struct tutti_fabric *fabric, uint64_t step)
{
    tutti_shared_stop(((struct shared_rank *)fabric)->area, step);
}

static void release(struct shared_rank *self)
{
    for (uint32_t i = 0; i < self->channel_count; i++) {
        free(self->channels[i].outs);
        free(self->channels[i].ins);
    }
    free(self->channels);
    free(self->next_out);
    free(self->next_in);
    free(self);
}

static void leave(struct tutti_fabric *fabric)
{
    if (!fabric)
        return;
    struct tutti_shared *area = ((struct shared_rank *)fabric)->area;
    atomic_store(&area->seats[fabric->rank].left, true);
    release((struct shared_rank *)fabric);
    tutti_shared_ring_bell(area);
}

static bool outnumber_cores(int ranks)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 && ranks > CPU_COUNT(&cores);
}

enum tutti_err tutti_shared_new(struct tutti_shared **out, int ranks, const char *name)
{
    size_t count = (size_t)ranks, head = whole_pages(sizeof **out);
    size_t seats = whole_pages(count * sizeof(struct shared_seat));
    size_t cells = whole_pages(count * count * sizeof(struct shared_cell));
    size_t room = MOST_ROOM;
    char *base = MAP_FAILED;
    *out = NULL;
    for (; base == MAP_FAILED && room >= LEAST_ROOM; room /= 4)
        base = mmap(NULL, head + seats + cells + count * room, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return tutti_fail(TUTTI_ERR_MEMORY, "no memory that %d ranks could share: %s; use fewer ranks", ranks,
                          strerror(errno));
    room *= 4;
    struct tutti_shared *area = (struct tutti_shared *)(void *)base;
    *area = (struct tutti_shared){
        .kind = {.name = name,
                 .open = tutti_shared_open,
                 .exchange = tutti_shared_exchange,
                 .reduce = tutti_shared_reduce,
                 .report = tutti_shared_report,
                 .stop = stop,
                 .close = leave},
        .ranks = ranks,
        .crowded = outnumber_cores(ranks),
        .size = head + seats + cells + count * room,
        .seats = (struct shared_seat *)(void *)(base + head),
        .cells = (struct shared_cell *)(void *)(base + head + seats),
        .rooms = base + head + seats + cells,
        .room = room,
    };
    atomic_store(&area->stop_after, UINT64_MAX);
    for (int r = 0; r < ranks; r++)
        atomic_store(&area->seats[r].where.component, UINT32_MAX);
    /* A core file of a crash has no use for it; where the system does not know this advice, it is larger. */
    (void)madvise(base, area->size, MADV_DONTDUMP);
    *out = area;
    return TUTTI_OK;
}

void tutti_shared_free(struct tutti_shared *area)
{
    if (area)
        munmap(area, area->size);
}

enum tutti_err tutti_shared_join(struct tutti_shared *area, int rank, struct tutti_fabric **out)
{
    size_t ranks = (size_t)area->ranks;
    struct shared_rank *self = calloc(1, sizeof *self);
    *out = NULL;
    if (!self)
        return tutti_fail_memory();
    self->next_out = calloc(ranks, sizeof *self->next_out);
    self->next_in = calloc(ranks, sizeof *self->next_in);
    if (!self->next_out || !self->next_in) {
        release(self);
        return tutti_fail_memory();
    }
    for (size_t peer = 0; peer < ranks; peer++) {
        self->next_out[peer] = &area->cells[(size_t)rank * ranks + peer];
        self->next_in[peer] = &area->cells[peer * ranks + (size_t)rank];
    }
    self->area = area;
    self->fabric = (struct tutti_fabric){.kind = &area->kind,
                                         .rank = rank,
                                         .ranks = area->ranks,
                                         .stop_after = &area->stop_after,
                                         .where = &area->seats[rank].where};
    *out = &self->fabric;
    return TUTTI_OK;
}

const struct tutti_whereabouts *tutti_shared_whereabouts(const struct tutti_shared *area, int rank)
{
    return &area->seats[rank].where;
}

bool tutti_shared_has_left(const struct tutti_shared *area, int rank)
{
    return atomic_load(&area->seats[rank].left);
}

void tutti_shared_stop(struct tutti_shared *area, uint64_t step)
{
    tutti_fabric_lower_stop(&area->stop_after, step);
    tutti_shared_ring_bell(area);
}

volatile sig_atomic_t *tutti_shared_interrupt(struct tutti_shared *area)
{
    return &area->interrupt;
}
