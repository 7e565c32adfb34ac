/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "mpi/parts.h"

/* ---- stops ---- */

static void announce(struct mpi_fabric *self, uint64_t step)
{
    struct world *world = self->world;
    struct mpi_notice *notice = malloc(sizeof *notice + (size_t)world->ranks * sizeof(MPI_Request));
    if (!notice) /* the next look tries again */
        return;
    self->told = step;
    notice->step = step;
    notice->next = self->notices;
    self->notices = notice;
    for (int r = 0; r < world->ranks; r++) {
        notice->requests[r] = MPI_REQUEST_NULL;
        if (r == world->rank)
            continue;
        MPI_Isend(&notice->step, 1, MPI_UINT64_T, r, TUTTI_MPI_TAG_STOP, world->control, &notice->requests[r]);
        tutti_bells_ring(&world->bells, world->bell_of[r]);
    }
}

static enum tutti_err hear_stops(struct mpi_fabric *self)
{
    for (int here = self->fabric.ranks > 1; here;) {
        MPI_TRY(MPI_Test(&self->hears, &here, MPI_STATUS_IGNORE));
        if (!here)
            break;
        self->world->host->lower_stop(&self->stop_after, self->heard);
        self->told = self->heard < self->told ? self->heard : self->told;
        MPI_TRY(MPI_Start(&self->hears));
    }
    /* Other code in this process may have lowered it, too: another thread, say. */
    uint64_t now = atomic_load_explicit(&self->stop_after, memory_order_relaxed);
    if (now < self->told)
        announce(self, now);
    return TUTTI_OK;
}

static void stop(struct tutti_fabric *fabric, uint64_t step)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    self->world->host->lower_stop(&self->stop_after, step);
    uint64_t now = atomic_load(&self->stop_after);
    if (now < self->told)
        announce(self, now);
}

enum tutti_err tutti_mpi_look(struct mpi_fabric *self)
{
    atomic_fetch_add_explicit(&self->where.beat, 1, memory_order_relaxed);
    TRY(hear_stops(self));
    return tutti_mpi_reports_move(self);
}

/* ---- from beginning to end ---- */

static bool all_notices_are_gone(struct mpi_fabric *self)
{
    for (struct mpi_notice *notice = self->notices; notice; notice = notice->next) {
        int done = 0;
        if (MPI_Testall(self->world->ranks, notice->requests, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS && !done)
            return false;
    }
    return true;
}

static bool always(void *context)
{
    return context == NULL;
}

enum tutti_err tutti_mpi_fabric_settle(struct tutti_fabric *fabric, bool (*is_done)(void *context), void *context)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    for (uint32_t c = 0; c < self->channel_count; c++) {
        enum tutti_err err = tutti_mpi_channel_settle(self, self->channels[c]);
        if (err && err != TUTTI_ERR_STOPPED)
            return err;
    }
    TRY(tutti_mpi_reports_settle(self));
    if (fabric->rank != 0) {
        is_done = always;
        context = NULL;
    }
    while (!is_done(context) || !all_notices_are_gone(self)) {
        TRY(tutti_mpi_look(self));
        if (self->world->bells.bells) {
            tutti_bells_sleep(&self->world->bells, tutti_bells_lie_down(&self->world->bells));
            tutti_bells_get_up(&self->world->bells);
        } else {
            sched_yield();
        }
    }
    return TUTTI_OK;
}

/* The process is lost, code of an FMU has broken it: it may as well try to speak. What MPI does here is not meant for handlers of
 * signals, and may hang or crash: an alarm ends that. */
void tutti_mpi_fabric_last_words(struct tutti_fabric *fabric, double seconds)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    const struct timespec nap = {.tv_nsec = 1000000};
    double end = tutti_clock_now() + seconds;
    signal(SIGALRM, SIG_DFL);
    alarm((unsigned)seconds + 2);
    enum tutti_err err = tutti_mpi_reports_flush(self);
    while (err == TUTTI_OK && tutti_clock_now() < end) {
        err = tutti_mpi_look(self);
        nanosleep(&nap, NULL);
    }
}

static void close_fabric(struct tutti_fabric *fabric)
{
    if (!fabric)
        return;
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    for (uint32_t c = 0; c < self->channel_count; c++)
        tutti_mpi_channel_free(self->channels[c]);
    free(self->channels);
    for (int p = 0; p < TUTTI_MPI_PLANS; p++)
        tutti_mpi_plan_fini(&self->plans[p]);
    tutti_mpi_reports_fini(self);
    tutti_mpi_drop(&self->hears, true);
    for (struct mpi_notice *next, *notice = self->notices; notice; notice = next) {
        next = notice->next;
        bool gone = true;
        for (int r = 0; r < self->world->ranks; r++)
            gone &= tutti_mpi_drop(&notice->requests[r], false);
        if (gone)
            free(notice);
    }
    free(self);
}

static const struct tutti_fabric_kind kind = {
    .name = "mpi",
    .open = tutti_mpi_open_channel,
    .exchange = tutti_mpi_exchange,
    .reduce = tutti_mpi_reduce,
    .report = tutti_mpi_report,
    .stop = stop,
    .close = close_fabric,
};

static enum tutti_err set_up(struct mpi_fabric *self, const struct tutti_mpi_sink *sink)
{
    /* most reductions are of a few numbers, some of many */
    static const size_t rooms[TUTTI_MPI_PLANS] = {8, 1024};
    struct world *world = self->world;
    for (int p = 0; p < TUTTI_MPI_PLANS; p++)
        TRY(tutti_mpi_plan_init(&self->plans[p], world, rooms[p], p * TUTTI_MPI_PLAN_TAGS));
    TRY(tutti_mpi_reports_init(self, sink));
    if (world->ranks == 1)
        return TUTTI_OK;
    MPI_TRY(
        MPI_Recv_init(&self->heard, 1, MPI_UINT64_T, MPI_ANY_SOURCE, TUTTI_MPI_TAG_STOP, world->control, &self->hears));
    return tutti_mpi_check(MPI_Start(&self->hears));
}

enum tutti_err tutti_mpi_fabric_new(struct tutti_fabric **out, struct world *world, const struct tutti_mpi_sink *sink)
{
    struct mpi_fabric *self = aligned_alloc(_Alignof(struct mpi_fabric), sizeof *self);
    *out = NULL;
    if (!self)
        return world->host->fail_memory();
    *self = (struct mpi_fabric){
        .fabric = {.kind = &kind,
                   .rank = world->rank,
                   .ranks = world->ranks,
                   .stop_after = &self->stop_after,
                   .where = &self->where},
        .world = world,
        .told = UINT64_MAX,
        .hears = MPI_REQUEST_NULL,
    };
    atomic_store(&self->stop_after, UINT64_MAX);
    atomic_store(&self->where.component, UINT32_MAX);
    enum tutti_err err = set_up(self, sink);
    if (err)
        close_fabric(&self->fabric);
    else
        *out = &self->fabric;
    return err;
}
