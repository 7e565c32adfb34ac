/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "sim/ranks/mpi/mpi_parts.h"

/* ---- stops ---- */

static void mpi_fabric_announce_stop(struct mpi_fabric *self, uint64_t step)
{
    struct mpi_world *world = self->world;
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
        tt_mpi_world_ring(&world->bells, world->bell_of[r]);
    }
}

static enum tutti_err receive_stops(struct mpi_fabric *self)
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
        mpi_fabric_announce_stop(self, now);
    return TUTTI_OK;
}

static void mpi_fabric_stop(struct tt_fabric *fabric, uint64_t step)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    self->world->host->lower_stop(&self->stop_after, step);
    uint64_t now = atomic_load(&self->stop_after);
    if (now < self->told)
        mpi_fabric_announce_stop(self, now);
}

enum tutti_err tt_mpi_fabric_poll(struct mpi_fabric *self)
{
    atomic_fetch_add_explicit(&self->where.beat, 1, memory_order_relaxed);
    TRY(receive_stops(self));
    return tt_mpi_report_progress(self);
}

/* ---- from beginning to end ---- */

static bool all_notices_sent(struct mpi_fabric *self)
{
    for (struct mpi_notice *notice = self->notices; notice; notice = notice->next) {
        int done = 0;
        if (MPI_Testall(self->world->ranks, notice->requests, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS && !done)
            return false;
    }
    return true;
}

static bool always_true(void *context)
{
    return context == NULL;
}

enum tutti_err tt_mpi_fabric_drain(struct tt_fabric *fabric, bool (*is_done)(void *context), void *context)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    for (uint32_t c = 0; c < self->channel_count; c++) {
        enum tutti_err err = tt_mpi_exchange_finish_channel(self, self->channels[c]);
        if (err && err != TUTTI_ERR_STOPPED)
            return err;
    }
    TRY(tt_mpi_report_drain(self));
    if (fabric->rank != 0) {
        is_done = always_true;
        context = NULL;
    }
    while (!is_done(context) || !all_notices_sent(self)) {
        TRY(tt_mpi_fabric_poll(self));
        if (self->world->bells.bells) {
            tt_mpi_world_sleep(&self->world->bells, tt_mpi_world_prepare_sleep(&self->world->bells));
            tt_mpi_world_end_sleep(&self->world->bells);
        } else {
            sched_yield();
        }
    }
    return TUTTI_OK;
}

/* The process is lost, code of an FMU has broken it: it may as well try to speak. What MPI does here is not meant for handlers of
 * signals, and may hang or crash: an alarm ends that. */
void tt_mpi_fabric_flush_on_crash(struct tt_fabric *fabric, double seconds)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    const struct timespec nap = {.tv_nsec = 1000000};
    double end = tt_wall_clock_now() + seconds;
    signal(SIGALRM, SIG_DFL);
    alarm((unsigned)seconds + 2);
    enum tutti_err err = tt_mpi_report_flush(self);
    while (err == TUTTI_OK && tt_wall_clock_now() < end) {
        err = tt_mpi_fabric_poll(self);
        nanosleep(&nap, NULL);
    }
}

static void close_mpi_fabric(struct tt_fabric *fabric)
{
    if (!fabric)
        return;
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    for (uint32_t c = 0; c < self->channel_count; c++)
        tt_mpi_exchange_free_channel(self->channels[c]);
    free(self->channels);
    for (int p = 0; p < TUTTI_MPI_PLANS; p++)
        tt_mpi_fabric_fini_plan(&self->plans[p]);
    tt_mpi_report_fini(self);
    tt_mpi_fabric_cancel(&self->hears, true);
    for (struct mpi_notice *next, *notice = self->notices; notice; notice = next) {
        next = notice->next;
        bool gone = true;
        for (int r = 0; r < self->world->ranks; r++)
            gone &= tt_mpi_fabric_cancel(&notice->requests[r], false);
        if (gone)
            free(notice);
    }
    free(self);
}

static const struct tt_fabric_kind kind = {
    .name = "mpi",
    .open = tt_mpi_exchange_open_channel,
    .exchange = tt_mpi_exchange_run,
    .reduce = tt_mpi_fabric_reduce,
    .report = tt_mpi_report_write,
    .stop = mpi_fabric_stop,
    .close = close_mpi_fabric,
};

static enum tutti_err mpi_fabric_init(struct mpi_fabric *self, const struct tt_mpi_sink *sink)
{
    /* most reductions are of a few numbers, some of many */
    static const size_t rooms[TUTTI_MPI_PLANS] = {8, 1024};
    struct mpi_world *world = self->world;
    for (int p = 0; p < TUTTI_MPI_PLANS; p++)
        TRY(tt_mpi_fabric_init_plan(&self->plans[p], world, rooms[p], p * TUTTI_MPI_PLAN_TAGS));
    TRY(tt_mpi_report_init(self, sink));
    if (world->ranks == 1)
        return TUTTI_OK;
    MPI_TRY(
        MPI_Recv_init(&self->heard, 1, MPI_UINT64_T, MPI_ANY_SOURCE, TUTTI_MPI_TAG_STOP, world->control, &self->hears));
    return tt_mpi_world_check(MPI_Start(&self->hears));
}

enum tutti_err tt_mpi_fabric_new(struct tt_fabric **out, struct mpi_world *world, const struct tt_mpi_sink *sink)
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
    enum tutti_err err = mpi_fabric_init(self, sink);
    if (err)
        close_mpi_fabric(&self->fabric);
    else
        *out = &self->fabric;
    return err;
}
