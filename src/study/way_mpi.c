/* SPDX-License-Identifier: MIT */
#include "study/way_mpi.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "fabric/fabric.h"
#include "study/way.h"

enum {
    NAP_MS = 1,
    MOST_WAITING = 4, /* messages of a rank that are not on their way: its deputy waits */
};

/* ---- a rank ---- */

enum tutti_err tutti_sweep_rank_enter(struct tutti_sweep_rank *rank, struct tutti_work *work, enum tutti_err err)
{
    struct tutti_failure failure;
    *rank = (struct tutti_sweep_rank){.deputy = {.fd = -1}};
    tutti_failure_keep(&failure, err ? err : tutti_deputy_start(&rank->deputy, work));
    TRY(tutti_mpi_start(&rank->world, NULL));
    return rank->world.module->agree(tutti_failure_return(&failure));
}

void tutti_sweep_rank_leave(struct tutti_sweep_rank *rank)
{
    const struct tutti_mpi_world *world = &rank->world;
    for (int r = 1; world->module && world->rank == 0 && r < world->ranks; r++)
        (void)!world->module->post(r, NULL, 0);
    tutti_deputy_end(&rank->deputy, true);
    if (world->module)
        world->module->finish();
}

/* What has come from the deputy goes to rank 0; a deputy that has ended is told of once. */
static enum tutti_err pass_on(struct tutti_sweep_rank *rank, struct tutti_parcel *in, bool *open)
{
    tutti_parcel_reset(in);
    TRY(tutti_way_read(rank->deputy.fd, in, open));
    if (in->size > 0)
        TRY(rank->world.module->post(0, in->bytes, in->size));
    return *open ? TUTTI_OK : rank->world.module->post(0, NULL, 0);
}

/* *over: rank 0 has ended the work. */
static enum tutti_err obey(struct tutti_sweep_rank *rank, bool *over)
{
    for (int from = 0; from >= 0 && !*over;) {
        char *bytes = NULL;
        size_t size = 0;
        TRY(rank->world.module->take(&from, &bytes, &size));
        if (from >= 0 && size > 0) /* little at a time: it fits into the socket's room */
            (void)!send(rank->deputy.fd, bytes, size, MSG_NOSIGNAL);
        *over = from >= 0 && size == 0;
        free(bytes);
    }
    return TUTTI_OK;
}

static enum tutti_err follow(struct tutti_sweep_rank *rank, struct tutti_parcel *in)
{
    bool over = false, open = true;
    while (!over) {
        bool room = open && rank->world.module->posted() < MOST_WAITING;
        struct pollfd news = {.fd = room ? rank->deputy.fd : -1, .events = POLLIN};
        (void)poll(&news, 1, NAP_MS);
        if (room && news.revents)
            TRY(pass_on(rank, in, &open));
        TRY(obey(rank, &over));
    }
    return tutti_fabric_stopped();
}

enum tutti_err tutti_sweep_rank_follow(struct tutti_sweep_rank *rank)
{
    struct tutti_parcel in = {0};
    enum tutti_err err = follow(rank, &in);
    tutti_parcel_fini(&in);
    return err;
}

/* ---- the workers, as rank 0 sees them: worker r is that of rank r ---- */

struct inbox {
    struct tutti_parcel came;
    bool closed; /* its deputy has ended */
};

struct fleet {
    struct tutti_sweep_rank *rank;
    struct inbox *inboxes;
    unsigned count;
};

static enum tutti_err open_fleet(void *self, struct tutti_work *work, void *context, unsigned *workers)
{
    struct fleet *fleet = self;
    (void)work;
    fleet->rank = context;
    fleet->count = *workers = (unsigned)fleet->rank->world.ranks;
    fleet->inboxes = calloc(fleet->count, sizeof *fleet->inboxes);
    return fleet->inboxes ? TUTTI_OK : tutti_fail_memory();
}

static void close_fleet(void *self)
{
    struct fleet *fleet = self;
    for (unsigned w = 0; fleet->inboxes && w < fleet->count; w++)
        tutti_parcel_fini(&fleet->inboxes[w].came);
    free(fleet->inboxes);
}

static enum tutti_err start(void *self, unsigned worker)
{
    const struct fleet *fleet = self;
    return fleet->inboxes[worker].closed
               ? tutti_fail(TUTTI_ERR_LOST, "the worker of rank %u has ended, and cannot be replaced", worker)
               : TUTTI_OK;
}

static size_t tell(void *self, unsigned worker, const size_t *runs, size_t count)
{
    const struct fleet *fleet = self;
    if (worker == 0)
        (void)!send(fleet->rank->deputy.fd, runs, count * sizeof *runs, MSG_NOSIGNAL);
    else if (fleet->rank->world.module->post((int)worker, runs, count * sizeof *runs))
        return 0;
    return count;
}

/* Messages of all ranks, each into its inbox. */
static enum tutti_err empty_letter_box(const struct fleet *fleet)
{
    for (int from = 0; from >= 0;) {
        char *bytes = NULL;
        size_t size = 0;
        TRY(fleet->rank->world.module->take(&from, &bytes, &size));
        if (from > 0 && from < (int)fleet->count) {
            tutti_parcel_put_bytes(&fleet->inboxes[from].came, bytes, size);
            fleet->inboxes[from].closed = fleet->inboxes[from].closed || size == 0;
        }
        free(bytes);
    }
    return TUTTI_OK;
}

static enum tutti_err hear(void *self, unsigned worker, struct tutti_parcel *in, bool *open)
{
    const struct fleet *fleet = self;
    struct inbox *inbox = &fleet->inboxes[worker];
    if (worker == 0) {
        TRY(tutti_way_read(fleet->rank->deputy.fd, in, open));
        inbox->closed = !*open;
    } else {
        TRY(empty_letter_box(fleet));
        if (inbox->came.size > 0)
            tutti_parcel_put_bytes(in, inbox->came.bytes, inbox->came.size);
        tutti_parcel_reset(&inbox->came);
        *open = !inbox->closed;
    }
    return inbox->came.failed ? tutti_fail_memory() : TUTTI_OK;
}

/* A deputy tells the end of its worker itself. */
static void end(void *self, unsigned worker, bool by_force, struct tutti_way_ending *ending)
{
    const struct fleet *fleet = self;
    (void)ending;
    if (worker == 0) /* others end with the work (tutti_sweep_rank_leave) */
        tutti_deputy_end(&fleet->rank->deputy, by_force);
}

static int file(const void *self, unsigned worker)
{
    const struct fleet *fleet = self;
    return worker == 0 ? fleet->rank->deputy.fd : -1;
}

const struct tutti_way tutti_way_mpi = {.name = "mpi",
                                        .size = sizeof(struct fleet),
                                        .does_without = true,
                                        .open = open_fleet,
                                        .close = close_fleet,
                                        .start = start,
                                        .tell = tell,
                                        .hear = hear,
                                        .end = end,
                                        .file = file};
