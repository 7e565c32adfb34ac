/* SPDX-License-Identifier: MIT */
#include "conduct/conduct.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/number.h"
#include "base/str.h"
#include "base/thread.h"
#include "conduct/lost.h"
#include "rank/stats.h"

/* Seconds: between looks of the conductor at its clock; that what a lost rank reported may take to be written. */
static const double IDLE_EVERY = 0.05, LEFTOVERS = 0.3;

/* A rank, as it is seen from here. */
struct watched {
    struct tutti_parcel held; /* the beginning of a frame that is not whole where the launcher has it */
    bool closed;              /* what it reports is no report: the rest is thrown away */
    bool over;                /* it has left, or is lost ... */
    bool lost;
    bool is_dry;    /* ... and nothing that it reported is on its way */
    double lost_at; /* on the clock */
    enum tutti_err err;
    char *why; /* NULL if there was no memory for it */
    uint64_t sign;
    double moved; /* when it was last seen to */
};

struct conducting {
    const struct tutti_launcher *launcher;
    void *self;
    const struct tutti_job *job;
    struct tutti_conductor *conductor;
    struct watched *watched;
    int ranks, started;
    uint64_t stopped; /* after so many steps; UINT64_MAX: not */
    int culprit;      /* the lost rank that stopped the others; -1: none */
    bool blamed;      /* the conductor was told of a loss */
    bool interrupted;
    double timeout;  /* seconds; INFINITY: none */
    double looked;   /* when ranks were last looked at */
    double deadline; /* when those that are left are ended; INFINITY: all is well */
    double last_idle;
    bool has_order; /* that waits to be handed on */
    struct tutti_run_order order;
    struct tutti_failure failure; /* the first one of the launcher, or of writing the result */
    pthread_t thread;             /* the conductor's */
    _Atomic unsigned rounds;      /* how often it has taken everything in that ranks had reported */
    atomic_bool taking;           /* it does so */
};

/* ---- stopping ---- */

static void stop(struct conducting *run, uint64_t step)
{
    if (step >= run->stopped)
        return;
    run->stopped = step;
    run->launcher->stop(run->self, step);
}

static void fail(struct conducting *run, enum tutti_err err)
{
    if (!run->failure.err)
        tutti_failure_keep(&run->failure, err);
    stop(run, 0);
}

/* Ranks cannot all come to their end: those that are left have so long. */
static void set_deadline(struct conducting *run)
{
    if (run->deadline == INFINITY)
        run->deadline = tutti_clock_now() + run->launcher->grace;
}

/* ---- the intake ---- */

static void close_stream(struct conducting *run, int rank, enum tutti_err err)
{
    run->watched[rank].closed = true;
    tutti_conductor_lose(run->conductor, rank, err);
    fail(run, err);
}

/* Offers bytes; how many are not needed any more? */
static size_t offer(struct conducting *run, int rank, const char *bytes, size_t count)
{
    size_t taken = 0;
    enum tutti_err err = tutti_conductor_take(run->conductor, rank, bytes, count, &taken);
    if (err && taken == 0) /* and would fail so for ever */
        close_stream(run, rank, err);
    else if (err)
        fail(run, err);
    return taken;
}

/* How many bytes belong to the frame that these are the beginning of? At least the header. */
static size_t frame_size(struct conducting *run, int rank, const char *bytes, size_t count)
{
    enum tutti_report_kind kind;
    size_t size = 0;
    bool whole = false;
    if (count < TUTTI_REPORT_HEADER)
        return TUTTI_REPORT_HEADER;
    enum tutti_err err = tutti_report_find(bytes, count, &kind, &size, &whole);
    if (err)
        close_stream(run, rank, err);
    return TUTTI_REPORT_HEADER + size;
}

/* Adds what there is to the frame that is held, and offers it once it is whole. Did anything move? */
static bool go_on_with_held(struct conducting *run, int rank)
{
    struct tutti_parcel *held = &run->watched[rank].held;
    size_t size = frame_size(run, rank, held->bytes, held->size), count;
    if (held->size < size) {
        const char *bytes = run->launcher->reports(run->self, rank, &count);
        size_t part = size - held->size < count ? size - held->size : count;
        if (part == 0)
            return false;
        tutti_parcel_put_bytes(held, bytes, part);
        run->launcher->consume(run->self, rank, part);
        if (held->failed)
            close_stream(run, rank, tutti_fail_memory());
        return true;
    }
    if (offer(run, rank, held->bytes, held->size) == 0)
        return false;
    tutti_parcel_reset(held);
    return true;
}

/* Offers what there is. The beginning of a frame that is not whole is held here: the launcher may have no room for the rest. */
static bool go_on(struct conducting *run, int rank)
{
    struct watched *watched = &run->watched[rank];
    size_t count;
    const char *bytes = run->launcher->reports(run->self, rank, &count);
    if (count == 0)
        return false;
    size_t taken = offer(run, rank, bytes, count);
    if (taken == 0 && !watched->closed && frame_size(run, rank, bytes, count) > count) {
        tutti_parcel_put_bytes(&watched->held, bytes, count);
        if (watched->held.failed)
            close_stream(run, rank, tutti_fail_memory());
        taken = count;
    }
    if (taken > 0)
        run->launcher->consume(run->self, rank, taken);
    return taken > 0; /* else a row that has to wait */
}

static bool throw_away(struct conducting *run, int rank)
{
    size_t count;
    (void)run->launcher->reports(run->self, rank, &count);
    if (count > 0)
        run->launcher->consume(run->self, rank, count);
    return count > 0;
}

/* Hands over what one rank has reported, as far as the conductor takes it. Was it anything? */
static bool take(struct conducting *run, int rank)
{
    if (run->watched[rank].closed)
        return throw_away(run, rank);
    return run->watched[rank].held.size > 0 ? go_on_with_held(run, rank) : go_on(run, rank);
}

/* One that cannot go now is kept until the next time. */
static void hand_on_orders(struct conducting *run)
{
    struct tutti_orders *orders = run->job->options.orders;
    if (!orders || !run->launcher->order)
        return;
    while ((run->has_order || tutti_orders_take(orders, &run->order, 1) == 1)) {
        run->has_order = !run->launcher->order(run->self, &run->order);
        if (run->has_order)
            return;
    }
}

/* Progress, rows to the disk, orders, an interrupt: now and then, also while ranks report without end. */
static void attend(struct conducting *run)
{
    const volatile sig_atomic_t *interrupt = run->job->options.interrupt;
    double now = tutti_clock_now();
    if (now - run->last_idle >= IDLE_EVERY) {
        run->last_idle = now;
        enum tutti_err err = tutti_conductor_idle(run->conductor);
        if (err)
            fail(run, err);
        hand_on_orders(run);
    }
    if (run->launcher->interrupt && interrupt && *interrupt && !run->interrupted) {
        run->interrupted = true;
        run->launcher->interrupt(run->self);
        if (!run->job->checkpoint) /* else ranks come to an end together, with a checkpoint */
            stop(run, 0);
    }
}

/* Until none has any more: a row of one may have waited for that of another. */
static void take_all(struct conducting *run)
{
    run->taking = true;
    for (bool moving = true; moving;) {
        moving = false;
        for (int r = 0; r < run->started; r++)
            moving |= take(run, r);
        attend(run);
    }
    run->taking = false;
}

/* Is nothing left that could be taken from a rank that reports no more? */
static bool is_drained(struct conducting *run, int rank)
{
    const struct watched *watched = &run->watched[rank];
    size_t count;
    (void)run->launcher->reports(run->self, rank, &count);
    return watched->is_dry && count == 0 &&
           (watched->held.size == 0 ||
            watched->held.size < frame_size(run, rank, watched->held.bytes, watched->held.size));
}

/* The conductor's thread is gone as well; a round that it had under way cannot be taken up. */
static void take_in_place(struct conducting *run)
{
    if (run->taking)
        tutti_crash_admit_loss();
    else
        take_all(run);
}

/* In a handler: a rank's thread ends the process. What ranks have reported is taken in first, by the conductor's thread: the
 * round that is under way may have passed a rank already, so that it takes one more. */
static void await_intake(void *context)
{
    enum { PATIENCE = 2000 }; /* ms: the conductor may wait for what the dying thread holds */
    struct conducting *run = context;
    unsigned before = run->rounds;
    if (tutti_crash_is_alone()) {
        take_in_place(run);
        return;
    }
    if (pthread_equal(pthread_self(), run->thread))
        return;
    for (int i = 0; i < PATIENCE && run->rounds - before < 2; i++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- ranks that are lost ---- */

/* It will report no end, unless it has done so before. This thread's message says why. */
static void note_end(struct conducting *run, int rank, enum tutti_err err)
{
    struct watched *watched = &run->watched[rank];
    watched->over = true;
    watched->err = err;
    watched->why = tutti_str_copy(tutti_err_message());
}

/* The others come as far as it came: so far they have everything that they need, and no row is lost. */
static void note_loss(struct conducting *run, int rank, enum tutti_err err, uint64_t step)
{
    note_end(run, rank, err);
    take_all(run);
    if (tutti_conductor_has_ended(run->conductor, rank))
        return; /* it had come to its end before */
    run->watched[rank].lost = true;
    run->watched[rank].lost_at = tutti_clock_now();
    if (run->stopped == UINT64_MAX)
        run->culprit = rank;
    stop(run, step);
    set_deadline(run);
}

/* Has it moved since the last time? */
static void watch(struct conducting *run, int rank, const struct tutti_heartbeat *heartbeat, double now)
{
    struct watched *watched = &run->watched[rank];
    uint64_t sign = tutti_heartbeat_sign(heartbeat);
    /* A conductor that looks rarely, because it was stopped itself, has seen nothing. */
    if (sign != watched->sign || now - run->looked > run->timeout / 2) {
        watched->sign = sign;
        watched->moved = now;
    }
    if (now - watched->moved <= run->timeout)
        return;
    char how[256];
    tutti_lost_by_silence(run->timeout, how, sizeof how);
    uint64_t step = atomic_load(&heartbeat->step);
    note_loss(run, rank, tutti_lost_worker(run->job->system, rank, heartbeat, how), step);
    watched->is_dry = true;
    run->launcher->end(run->self, rank);
}

static void look_at(struct conducting *run, int rank, double now)
{
    struct watched *watched = &run->watched[rank];
    struct tutti_rank_status status = {0};
    if (tutti_conductor_has_ended(run->conductor, rank))
        return;
    run->launcher->look(run->self, rank, &status);
    if (status.state != TUTTI_RANK_RUNS)
        watched->is_dry = status.is_dry || status.state == TUTTI_RANK_LEFT;
    if (watched->over)
        return;
    if (status.state == TUTTI_RANK_LOST)
        note_loss(run, rank, status.err, status.step);
    else if (status.state == TUTTI_RANK_LEFT)
        note_end(run, rank, status.err);
    else if (status.heartbeat && isfinite(run->timeout))
        watch(run, rank, status.heartbeat, now);
}

static void look_at_all(struct conducting *run)
{
    double now = tutti_clock_now();
    for (int r = 0; r < run->started; r++)
        look_at(run, r, now);
    run->looked = now;
}

/* Tells the conductor of a rank that will not tell its end itself, with its last words. */
static void lose(struct conducting *run, int rank)
{
    char words[2048] = "";
    const struct watched *watched = &run->watched[rank];
    if (watched->lost && watched->err == TUTTI_ERR_LOST)
        tutti_lost_last_words(run->conductor, rank, words, sizeof words);
    (void)tutti_fail(watched->err, "%s%s", watched->why ? watched->why : tutti_err_name(watched->err), words);
    tutti_conductor_lose(run->conductor, rank, watched->err);
    run->blamed = run->blamed || watched->lost;
}

/* `at_last`: those that are not drained, too. */
static void lose_if_due(struct conducting *run, int rank, bool at_last)
{
    const struct watched *watched = &run->watched[rank];
    if (!watched->over || tutti_conductor_has_ended(run->conductor, rank))
        return;
    bool late = watched->lost && tutti_clock_now() - watched->lost_at > LEFTOVERS;
    if (at_last || late || is_drained(run, rank))
        lose(run, rank);
}

/* The one that stopped the others first: its error is that of the run. */
static void lose_all(struct conducting *run, bool at_last)
{
    if (run->culprit >= 0)
        lose_if_due(run, run->culprit, at_last);
    if (run->culprit >= 0 && !tutti_conductor_has_ended(run->conductor, run->culprit))
        return;
    for (int r = 0; r < run->started; r++)
        lose_if_due(run, r, at_last);
}

/* ---- from start to end ---- */

static void start_all(struct conducting *run)
{
    enum tutti_err err = TUTTI_OK;
    while (run->started < run->ranks && !err) {
        err = run->launcher->start ? run->launcher->start(run->self, run->started) : TUTTI_OK;
        run->watched[run->started].moved = run->looked = tutti_clock_now();
        run->started += !err;
    }
    if (!err)
        return;
    fail(run, err);
    set_deadline(run);
    for (int r = run->started; r < run->ranks; r++)
        tutti_conductor_lose(run->conductor, r, tutti_fabric_stopped());
}

/* How long the conductor sleeps if nothing wakes it. Results reach the disk, and progress the people, at least so often. */
enum { NAP_MS = 20 };

static void watch_over(struct conducting *run)
{
    while (!tutti_conductor_is_done(run->conductor) && tutti_clock_now() < run->deadline) {
        enum tutti_err err = run->launcher->poll(run->self, NAP_MS);
        if (err)
            fail(run, err);
        look_at_all(run); /* before the last look at their reports */
        take_all(run);
        lose_all(run, false);
        run->rounds++;
    }
}

/* Ranks that did not end in time were told to: they are not lost but stopped. */
static void end_all(struct conducting *run)
{
    bool cut = !tutti_conductor_is_done(run->conductor);
    for (int r = 0; cut && run->launcher->end && r < run->started; r++)
        if (!tutti_conductor_has_ended(run->conductor, r))
            run->launcher->end(run->self, r);
    take_all(run);
    lose_all(run, true);
    for (int r = 0; r < run->ranks; r++)
        if (!tutti_conductor_has_ended(run->conductor, r))
            tutti_conductor_lose(run->conductor, r, tutti_fabric_stopped());
    take_all(run); /* rows that waited for them */
    run->launcher->finish(run->self, cut);
}

/* What the ranks came to, `err`, is not always what the run came to. */
static enum tutti_err judge(const struct conducting *run, enum tutti_err err, const struct tutti_run_stats *stats,
                            double t)
{
    const volatile sig_atomic_t *interrupt = run->job->options.interrupt;
    const struct watched *culprit = run->culprit >= 0 ? &run->watched[run->culprit] : NULL;
    bool short_of = !err && stats->stop < run->job->times.stop && !stats->terminated_by_fmu;
    if (run->failure.err)
        return tutti_failure_return(&run->failure);
    /* A rank that was cut off from us may have heard the stop, and have ended as it should. */
    if (culprit && !run->blamed && (err || short_of))
        return tutti_fail(culprit->err, "%s", culprit->why ? culprit->why : tutti_err_name(culprit->err));
    /* Ranks that were stopped have nothing to say; why they were, the person knows. */
    if (interrupt && *interrupt && (err == TUTTI_ERR_STOPPED || err == TUTTI_ERR_INTERRUPTED || short_of))
        return run->job->checkpoint && err == TUTTI_ERR_INTERRUPTED
                   ? err
                   : tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept",
                                TIME(t));
    return err;
}

enum tutti_err tutti_conduct(const struct tutti_launch *launch, struct tutti_conductor *conductor,
                             struct tutti_run_stats *stats)
{
    const struct tutti_run_options *options = &launch->job->options;
    struct conducting run = {.launcher = launch->launcher,
                             .self = launch->self,
                             .job = launch->job,
                             .conductor = conductor,
                             .watched = calloc((size_t)launch->ranks, sizeof(struct watched)),
                             .ranks = launch->ranks,
                             .stopped = UINT64_MAX,
                             .culprit = -1,
                             .timeout = options->has_timeout ? options->timeout : INFINITY,
                             .deadline = INFINITY,
                             .thread = pthread_self()};
    if (run.watched) {
        /* Before the result is opened, and so before its action. */
        enum tutti_err err = tutti_crash_add(await_intake, &run);
        if (err)
            fail(&run, err);
        start_all(&run);
        watch_over(&run);
        tutti_crash_remove(await_intake, &run);
        end_all(&run);
    } else
        tutti_failure_keep(&run.failure, tutti_fail_memory());
    double t = fmax(tutti_conductor_time(conductor), launch->job->times.start); /* no rank may have told any */
    enum tutti_err err = tutti_conductor_finish(conductor, stats);
    err = judge(&run, err, stats, t);
    for (int r = 0; run.watched && r < run.ranks; r++) {
        tutti_parcel_fini(&run.watched[r].held);
        free(run.watched[r].why);
    }
    free(run.watched);
    return err;
}

/* ---- in a thread ---- */

struct tutti_conduct_thread {
    pthread_t thread;
    const struct tutti_launch *launch;
    struct tutti_conductor *conductor;
    struct tutti_run_stats stats;
    struct tutti_failure failure;
};

static void *conduct(void *context)
{
    struct tutti_conduct_thread *self = context;
    tutti_failure_keep(&self->failure, tutti_conduct(self->launch, self->conductor, &self->stats));
    return NULL;
}

enum tutti_err tutti_conduct_beside(struct tutti_conduct_thread **out, const struct tutti_launch *launch,
                                    struct tutti_conductor *conductor)
{
    struct tutti_conduct_thread *self = *out = calloc(1, sizeof *self);
    if (!self)
        return tutti_fail_memory();
    self->launch = launch;
    self->conductor = conductor;
    int failed = tutti_thread_start(&self->thread, conduct, self);
    if (!failed)
        return TUTTI_OK;
    free(self);
    *out = NULL;
    return tutti_fail(TUTTI_ERR_LIMIT, "cannot start a thread: %s", strerror(failed));
}

enum tutti_err tutti_conduct_join(struct tutti_conduct_thread *thread, struct tutti_run_stats *stats)
{
    pthread_join(thread->thread, NULL);
    *stats = thread->stats;
    enum tutti_err err = tutti_failure_return(&thread->failure);
    free(thread);
    return err;
}
