/* SPDX-License-Identifier: MIT */
#include "sim/ranks/mpi/mpi_fabric.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/wall_clock.h"

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

/* The process is lost, broken by code of an FMU: trying to communicate can only help. MPI is not made for signal
 * handlers, and may hang or crash: an alarm ends that. */
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

/* Decisions. Ranks of a host first, then one of each host, then the hosts again.
 *
 * Where every rank has a core, rounds with partners at distances 1, 2, 4, ... (dissemination: Hensgen, Finkel, Manber, Two
 * algorithms for barrier synchronization, 1988): all ranks work in every round. It fits because the least of a number and itself
 * is the number: it does no harm to count one twice. Where ranks share cores, work counts and not rounds: all send to
 * the first one and it answers, 2 (n - 1) messages instead of n log2 n. */

static enum tutti_err init_reduce_stage(struct mpi_stage *stage, const struct mpi_world *world, int to_count,
                                        int from_count, size_t room)
{
    size_t to = (size_t)to_count, from = (size_t)from_count;
    *stage = (struct mpi_stage){.local = true};
    stage->to = calloc(to + 1, sizeof *stage->to);
    stage->sends = calloc(to + 1, sizeof *stage->sends);
    stage->receives = calloc(from + 1, sizeof *stage->receives);
    stage->out = calloc(room, sizeof *stage->out);
    stage->in = calloc(from * room + 1, sizeof *stage->in);
    return stage->to && stage->sends && stage->receives && stage->out && stage->in ? TUTTI_OK
                                                                                   : world->host->fail_memory();
}

static enum tutti_err plan_send(struct mpi_plan *plan, struct mpi_stage *stage, const struct mpi_world *world, int peer,
                                int tag)
{
    int i = stage->to_count;
    MPI_TRY(MPI_Send_init(stage->out, (int)plan->room, MPI_DOUBLE, peer, tag, world->data, &stage->sends[i]));
    stage->to[i] = peer;
    stage->to_count++;
    return TUTTI_OK;
}

static enum tutti_err plan_receive(struct mpi_plan *plan, struct mpi_stage *stage, const struct mpi_world *world,
                                   int peer, int tag)
{
    int i = stage->from_count;
    MPI_TRY(MPI_Recv_init(stage->in + (size_t)i * plan->room, (int)plan->room, MPI_DOUBLE, peer, tag, world->data,
                          &stage->receives[i]));
    stage->from_count++;
    stage->local &= world->bell_of[peer] >= 0;
    return TUTTI_OK;
}

/* Adds rounds among `count` ranks, of which this one is the n-th. */
static enum tutti_err add_reduce_rounds(struct mpi_plan *plan, const struct mpi_world *world, const int *ranks,
                                        int count, int n, int tag)
{
    for (int distance = 1; distance < count; distance *= 2, tag++) {
        struct mpi_stage *stage = &plan->stages[plan->stage_count++];
        TRY(init_reduce_stage(stage, world, 1, 1, plan->room));
        TRY(plan_send(plan, stage, world, ranks[(n + distance) % count], tag));
        TRY(plan_receive(plan, stage, world, ranks[(n + count - distance) % count], tag));
    }
    return TUTTI_OK;
}

/* Adds a round in which the first rank of the host receives from all others of it (up), or sends to them. */
static enum tutti_err add_host_round(struct mpi_plan *plan, const struct mpi_world *world, bool up, int tag)
{
    int others = world->here_count - 1;
    bool first = world->here[0] == world->rank, sends = first != up;
    if (others == 0)
        return TUTTI_OK;
    struct mpi_stage *stage = &plan->stages[plan->stage_count++];
    TRY(init_reduce_stage(stage, world, sends ? others : 0, sends ? 0 : others, plan->room));
    for (int i = first ? 1 : 0; i < (first ? world->here_count : 1); i++)
        TRY(sends ? plan_send(plan, stage, world, world->here[i], tag)
                  : plan_receive(plan, stage, world, world->here[i], tag));
    return TUTTI_OK;
}

static int index_of_rank(const int *ranks, int count, int rank)
{
    int n = 0;
    while (n < count && ranks[n] != rank)
        n++;
    return n < count ? n : -1;
}

enum tutti_err tt_mpi_fabric_init_plan(struct mpi_plan *plan, const struct mpi_world *world, size_t room, int tag)
{
    enum { MOST_STAGES = 2 + 32 };
    *plan = (struct mpi_plan){.room = room, .stages = calloc(MOST_STAGES, sizeof *plan->stages)};
    if (!plan->stages)
        return world->host->fail_memory();
    if (world->leader_count == 1 && !world->crowded)
        return add_reduce_rounds(plan, world, world->here, world->here_count, world->bell_of[world->rank], tag);
    TRY(add_host_round(plan, world, true, tag));
    int n = index_of_rank(world->leaders, world->leader_count, world->rank);
    if (n >= 0)
        TRY(add_reduce_rounds(plan, world, world->leaders, world->leader_count, n, tag + 2));
    return add_host_round(plan, world, false, tag + 1);
}

void tt_mpi_fabric_fini_plan(struct mpi_plan *plan)
{
    for (int s = 0; s < plan->stage_count; s++) {
        struct mpi_stage *stage = &plan->stages[s];
        bool gone = true;
        for (int i = 0; i < stage->to_count; i++)
            gone &= tt_mpi_fabric_cancel(&stage->sends[i], false);
        if (gone) /* else MPI may still read it */
            free(stage->out);
        gone = true;
        for (int i = 0; i < stage->from_count; i++)
            gone &= tt_mpi_fabric_cancel(&stage->receives[i], true);
        if (gone)
            free(stage->in);
        free(stage->to);
        free(stage->sends);
        free(stage->receives);
    }
    free(plan->stages);
}

static enum tutti_err run_reduce_stage(struct mpi_fabric *self, struct mpi_stage *stage, size_t room,
                                       enum tt_fabric_reduction reduction, double *values, size_t count)
{
    struct mpi_world *world = self->world;
    if (stage->from_count > 0)
        MPI_TRY(MPI_Startall(stage->from_count, stage->receives));
    if (stage->to_count > 0) {
        TRY(tt_mpi_fabric_wait(self, stage->to_count, stage->sends, false)); /* those of the time before */
        memcpy(stage->out, values, count * sizeof *values);
        MPI_TRY(MPI_Startall(stage->to_count, stage->sends));
        for (int i = 0; i < stage->to_count; i++)
            tt_mpi_world_ring(&world->bells, world->bell_of[stage->to[i]]);
    }
    if (stage->from_count > 0)
        TRY(tt_mpi_fabric_wait(self, stage->from_count, stage->receives, stage->local));
    for (int i = 0; i < stage->from_count; i++)
        world->host->combine(reduction, values, stage->in + (size_t)i * room, count);
    return TUTTI_OK;
}

enum tutti_err tt_mpi_fabric_reduce(struct tt_fabric *fabric, enum tt_fabric_reduction reduction, double *values,
                                    size_t count)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    if (fabric->ranks == 1 || count == 0)
        return TUTTI_OK;
    TRY(tt_mpi_fabric_check_stop(self));
    struct mpi_plan *plan = &self->plans[count > self->plans[0].room];
    for (size_t done = 0; done < count; done += plan->room) {
        size_t part = count - done < plan->room ? count - done : plan->room;
        for (int s = 0; s < plan->stage_count; s++)
            TRY(run_reduce_stage(self, &plan->stages[s], plan->room, reduction, values + done, part));
    }
    return TUTTI_OK;
}

/* Number of polls before a rank waits, and of waits that only yield before it sleeps. A poll takes some 50 ns, waking a
 * rank some microseconds: with a core for each rank it polls for about ten times as long. */
struct mpi_patience {
    unsigned polls, yields;
};
static const struct mpi_patience alone = {2000, 20}, crowded = {2, 0};

enum { LOOK = 256 }; /* polls between two looks around */

static enum tutti_err sleep_until_bell(struct mpi_fabric *self, int count, MPI_Request *requests, bool sleeps,
                                       int *done)
{
    struct mpi_bells *bells = &self->world->bells;
    if (!sleeps || !bells->bells) {
        sched_yield();
        return TUTTI_OK;
    }
    uint32_t rings = tt_mpi_world_prepare_sleep(bells);
    int code = MPI_Testall(count, requests, done, MPI_STATUSES_IGNORE);
    if (code == MPI_SUCCESS && !*done)
        tt_mpi_world_sleep(bells, rings);
    tt_mpi_world_end_sleep(bells);
    return tt_mpi_world_check(code);
}

enum tutti_err tt_mpi_fabric_wait(struct mpi_fabric *self, int count, MPI_Request *requests, bool local)
{
    const struct mpi_patience *patience = self->world->crowded ? &crowded : &alone;
    int done = 0;
    for (unsigned polls = 1; !done; polls++) {
        MPI_TRY(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
        if (done || (polls < patience->polls && polls % LOOK != 0))
            continue;
        TRY(tt_mpi_fabric_poll(self));
        if (tt_fabric_is_stopped(&self->fabric)) {
            /* what was sent before the stop is here by now */
            MPI_TRY(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
            return done ? TUTTI_OK : self->world->host->stopped();
        }
        if (polls >= patience->polls)
            TRY(sleep_until_bell(self, count, requests, local && polls >= patience->polls + patience->yields, &done));
    }
    return TUTTI_OK;
}

bool tt_mpi_fabric_cancel(MPI_Request *request, bool is_receive)
{
    if (*request == MPI_REQUEST_NULL)
        return true;
    int done = 0;
    MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    if (!done && is_receive && MPI_Cancel(request) == MPI_SUCCESS)
        MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    MPI_Request_free(request);
    return done;
}
