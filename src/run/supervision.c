/* SPDX-License-Identifier: MIT */
#include "run/supervision.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crash.h"
#include "base/number.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/wall_clock.h"
#include "sim/stats.h"

/* Seconds: between looks of the conductor at its clock; that what a lost rank reported may take to be written. */
static const double IDLE_EVERY = 0.05, LEFTOVERS = 0.3;

struct supervised_rank {
    struct tt_byte_writer held; /* the beginning of a frame that is not whole where the launcher has it */
    bool closed;                /* its stream is malformed: the rest is discarded */
    bool over;                  /* it has left, or is lost */
    bool lost;
    bool is_dry;    /* and none of its reports is pending */
    double lost_at; /* on the clock */
    enum tutti_err err;
    char *why; /* NULL if memory was out */
    uint64_t sign;
    double moved; /* when it was last seen to */
};

struct supervision {
    const struct tt_launcher *launcher;
    void *self;
    const struct tt_job *job;
    struct tt_conductor *conductor;
    struct supervised_rank *watched;
    int ranks, started;
    uint64_t stopped; /* the step after which ranks stop; UINT64_MAX: they do not */
    int culprit;      /* the lost rank that stopped all others; -1: none */
    bool blamed;      /* the loss was reported to the conductor */
    bool interrupted;
    double timeout;  /* seconds; INFINITY: none */
    double looked;   /* when ranks were last looked at */
    double deadline; /* when those that are left are ended; INFINITY: all is well */
    double last_idle;
    bool has_order; /* that waits to be handed on */
    struct tt_run_command order;
    struct tt_failure failure; /* the first one of the launcher, or of writing the result */
    pthread_t thread;          /* the conductor's */
    _Atomic unsigned rounds;   /* how often it has taken everything in that ranks had reported */
    atomic_bool taking;        /* it does so */
};

/* ---- stopping ---- */

static void supervision_stop_ranks(struct supervision *run, uint64_t step)
{
    if (step >= run->stopped)
        return;
    run->stopped = step;
    run->launcher->stop(run->self, step);
}

static void supervision_fail(struct supervision *run, enum tutti_err err)
{
    if (!run->failure.err)
        tt_fail_save(&run->failure, err);
    supervision_stop_ranks(run, 0);
}

/* Ranks cannot all come to their end: those that are left have so long. */
static void set_end_deadline(struct supervision *run)
{
    if (run->deadline == INFINITY)
        run->deadline = tt_wall_clock_now() + run->launcher->grace;
}

/* ---- the intake ---- */

static void close_stream(struct supervision *run, int rank, enum tutti_err err)
{
    run->watched[rank].closed = true;
    tt_conductor_mark_lost(run->conductor, rank, err);
    supervision_fail(run, err);
}

/* Offers bytes; returns the number of bytes that are consumed. */
static size_t supervision_offer(struct supervision *run, int rank, const char *bytes, size_t count)
{
    size_t taken = 0;
    enum tutti_err err = tt_conductor_receive(run->conductor, rank, bytes, count, &taken);
    if (err && taken == 0) /* and would fail so for ever */
        close_stream(run, rank, err);
    else if (err)
        supervision_fail(run, err);
    return taken;
}

/* Returns the size of the frame that begins here; at least that of the header. */
static size_t frame_size(struct supervision *run, int rank, const char *bytes, size_t count)
{
    enum tt_report_kind kind;
    size_t size = 0;
    bool whole = false;
    if (count < TUTTI_REPORT_HEADER)
        return TUTTI_REPORT_HEADER;
    enum tutti_err err = tt_fabric_find_report(bytes, count, &kind, &size, &whole);
    if (err)
        close_stream(run, rank, err);
    return TUTTI_REPORT_HEADER + size;
}

/* Adds bytes to the held frame, and offers it once it is complete. Returns true on any progress. */
static bool offer_held_frame(struct supervision *run, int rank)
{
    struct tt_byte_writer *held = &run->watched[rank].held;
    size_t size = frame_size(run, rank, held->bytes, held->size), count;
    if (held->size < size) {
        const char *bytes = run->launcher->reports(run->self, rank, &count);
        size_t part = size - held->size < count ? size - held->size : count;
        if (part == 0)
            return false;
        tt_bytes_put_bytes(held, bytes, part);
        run->launcher->consume(run->self, rank, part);
        if (held->failed)
            close_stream(run, rank, tt_fail_memory());
        return true;
    }
    if (supervision_offer(run, rank, held->bytes, held->size) == 0)
        return false;
    tt_bytes_reset(held);
    return true;
}

/* Offers the available bytes. The beginning of an incomplete frame is held here, because the launcher may be full. */
static bool supervision_offer_reports(struct supervision *run, int rank)
{
    struct supervised_rank *watched = &run->watched[rank];
    size_t count;
    const char *bytes = run->launcher->reports(run->self, rank, &count);
    if (count == 0)
        return false;
    size_t taken = supervision_offer(run, rank, bytes, count);
    if (taken == 0 && !watched->closed && frame_size(run, rank, bytes, count) > count) {
        tt_bytes_put_bytes(&watched->held, bytes, count);
        if (watched->held.failed)
            close_stream(run, rank, tt_fail_memory());
        taken = count;
    }
    if (taken > 0)
        run->launcher->consume(run->self, rank, taken);
    return taken > 0; /* else a row that has to wait */
}

/* Passes reports of one rank to the conductor, as far as that accepts them. Returns true if there were any. */
static bool supervision_read_reports(struct supervision *run, int rank)
{
    if (run->watched[rank].closed) {
        size_t count;
        (void)run->launcher->reports(run->self, rank, &count);
        if (count > 0)
            run->launcher->consume(run->self, rank, count);
        return count > 0;
    }
    return run->watched[rank].held.size > 0 ? offer_held_frame(run, rank) : supervision_offer_reports(run, rank);
}

/* One that cannot go now is kept until the next time. */
static void forward_orders(struct supervision *run)
{
    struct tt_command_ring *orders = run->job->options.orders;
    if (!orders || !run->launcher->order)
        return;
    while ((run->has_order || tt_command_ring_pop(orders, &run->order, 1) == 1)) {
        run->has_order = !run->launcher->order(run->self, &run->order);
        if (run->has_order)
            return;
    }
}

/* Progress, rows to the disk, orders, an interrupt: now and then, also while ranks report without end. */
static void run_periodic_tasks(struct supervision *run)
{
    const volatile sig_atomic_t *interrupt = run->job->options.interrupt;
    double now = tt_wall_clock_now();
    if (now - run->last_idle >= IDLE_EVERY) {
        run->last_idle = now;
        enum tutti_err err = tt_conductor_update(run->conductor);
        if (err)
            supervision_fail(run, err);
        forward_orders(run);
    }
    if (run->launcher->interrupt && interrupt && *interrupt && !run->interrupted) {
        run->interrupted = true;
        run->launcher->interrupt(run->self);
        if (!run->job->checkpoint) /* else ranks come to an end together, with a checkpoint */
            supervision_stop_ranks(run, 0);
    }
}

/* Until none has any more: a row of one may have waited for that of another. */
static void supervision_read_all_reports(struct supervision *run)
{
    run->taking = true;
    for (bool moving = true; moving;) {
        moving = false;
        for (int r = 0; r < run->started; r++)
            moving |= supervision_read_reports(run, r);
        run_periodic_tasks(run);
    }
    run->taking = false;
}

/* Returns true if nothing is left to take from a rank that reports no more. */
static bool is_drained(struct supervision *run, int rank)
{
    const struct supervised_rank *watched = &run->watched[rank];
    size_t count;
    (void)run->launcher->reports(run->self, rank, &count);
    return watched->is_dry && count == 0 &&
           (watched->held.size == 0 ||
            watched->held.size < frame_size(run, rank, watched->held.bytes, watched->held.size));
}

/* In a handler: a rank's thread ends the process. The conductor's thread first takes all reports; the current round may
 * have passed a rank already, so that one more round is needed. */
static void await_report_intake(void *context)
{
    enum { PATIENCE = 2000 }; /* ms: the conductor may wait for what the dying thread holds */
    struct supervision *run = context;
    unsigned before = run->rounds;
    if (tt_crash_is_last_thread()) {
        /* The conductor's thread is gone as well; a round that it had under way cannot be taken up. */
        if (run->taking)
            tt_crash_report_loss();
        else
            supervision_read_all_reports(run);
        return;
    }
    if (pthread_equal(pthread_self(), run->thread))
        return;
    for (int i = 0; i < PATIENCE && run->rounds - before < 2; i++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- ranks that are lost ---- */

/* The rank will not report its end, unless it has done so before. This thread's message has the reason. */
static void supervision_record_end(struct supervision *run, int rank, enum tutti_err err)
{
    struct supervised_rank *watched = &run->watched[rank];
    watched->over = true;
    watched->err = err;
    watched->why = tt_text_copy(tutti_err_message());
}

/* The others come as far as it came: so far they have everything that they need, and no row is lost. */
static void supervision_record_loss(struct supervision *run, int rank, enum tutti_err err, uint64_t step)
{
    supervision_record_end(run, rank, err);
    supervision_read_all_reports(run);
    if (tt_conductor_has_ended(run->conductor, rank))
        return; /* it had come to its end before */
    run->watched[rank].lost = true;
    run->watched[rank].lost_at = tt_wall_clock_now();
    if (run->stopped == UINT64_MAX)
        run->culprit = rank;
    supervision_stop_ranks(run, step);
    set_end_deadline(run);
}

/* Checks whether the rank has advanced since the last time. */
static void supervision_check_heartbeat(struct supervision *run, int rank, const struct tt_heartbeat *heartbeat,
                                        double now)
{
    struct supervised_rank *watched = &run->watched[rank];
    uint64_t sign = tt_fabric_heartbeat_sum(heartbeat);
    /* A conductor that looks rarely, because it was stopped itself, has seen nothing. */
    if (sign != watched->sign || now - run->looked > run->timeout / 2) {
        watched->sign = sign;
        watched->moved = now;
    }
    if (now - watched->moved <= run->timeout)
        return;
    char how[256];
    tt_supervision_describe_silence(run->timeout, how, sizeof how);
    uint64_t step = atomic_load(&heartbeat->step);
    supervision_record_loss(run, rank, tt_supervision_describe_loss(run->job->system, rank, heartbeat, how), step);
    watched->is_dry = true;
    run->launcher->end(run->self, rank);
}

static void supervision_check_rank(struct supervision *run, int rank, double now)
{
    struct supervised_rank *watched = &run->watched[rank];
    struct tt_rank_status status = {0};
    if (tt_conductor_has_ended(run->conductor, rank))
        return;
    run->launcher->look(run->self, rank, &status);
    if (status.state != TUTTI_RANK_RUNS)
        watched->is_dry = status.is_dry || status.state == TUTTI_RANK_LEFT;
    if (watched->over)
        return;
    if (status.state == TUTTI_RANK_LOST)
        supervision_record_loss(run, rank, status.err, status.step);
    else if (status.state == TUTTI_RANK_LEFT)
        supervision_record_end(run, rank, status.err);
    else if (status.heartbeat && isfinite(run->timeout))
        supervision_check_heartbeat(run, rank, status.heartbeat, now);
}

/* `at_last`: those that are not drained, too. */
static void lose_rank_if_due(struct supervision *run, int rank, bool at_last)
{
    const struct supervised_rank *watched = &run->watched[rank];
    if (!watched->over || tt_conductor_has_ended(run->conductor, rank))
        return;
    bool late = watched->lost && tt_wall_clock_now() - watched->lost_at > LEFTOVERS;
    if (!at_last && !late && !is_drained(run, rank))
        return;

    /* Reports a rank that cannot report its end to the conductor, with its last log lines. */
    char words[2048] = "";
    if (watched->lost && watched->err == TUTTI_ERR_LOST)
        tt_supervision_last_log_lines(run->conductor, rank, words, sizeof words);
    (void)tt_fail(watched->err, "%s%s", watched->why ? watched->why : tutti_err_name(watched->err), words);
    tt_conductor_mark_lost(run->conductor, rank, watched->err);
    run->blamed = run->blamed || watched->lost;
}

/* The rank that stopped all others first: its error is that of the run. */
static void lose_all_ranks(struct supervision *run, bool at_last)
{
    if (run->culprit >= 0)
        lose_rank_if_due(run, run->culprit, at_last);
    if (run->culprit >= 0 && !tt_conductor_has_ended(run->conductor, run->culprit))
        return;
    for (int r = 0; r < run->started; r++)
        lose_rank_if_due(run, r, at_last);
}

/* ---- from start to end ---- */

static void supervision_start_all(struct supervision *run)
{
    enum tutti_err err = TUTTI_OK;
    while (run->started < run->ranks && !err) {
        err = run->launcher->start ? run->launcher->start(run->self, run->started) : TUTTI_OK;
        run->watched[run->started].moved = run->looked = tt_wall_clock_now();
        run->started += !err;
    }
    if (!err)
        return;
    supervision_fail(run, err);
    set_end_deadline(run);
    for (int r = run->started; r < run->ranks; r++)
        tt_conductor_mark_lost(run->conductor, r, tt_fabric_fail_stopped());
}

/* How long the conductor sleeps if nothing wakes it. Results reach the disk, and progress the people, at least so often. */
enum { NAP_MS = 20 };

static void supervise_ranks(struct supervision *run)
{
    while (!tt_conductor_is_done(run->conductor) && tt_wall_clock_now() < run->deadline) {
        enum tutti_err err = run->launcher->poll(run->self, NAP_MS);
        if (err)
            supervision_fail(run, err);

        double now = tt_wall_clock_now();
        for (int r = 0; r < run->started; r++) /* before the last look at their reports */
            supervision_check_rank(run, r, now);
        run->looked = now;

        supervision_read_all_reports(run);
        lose_all_ranks(run, false);
        run->rounds++;
    }
}

/* Ranks that did not end in time are not lost but stopped. */
static void supervision_end_all(struct supervision *run)
{
    bool cut = !tt_conductor_is_done(run->conductor);
    for (int r = 0; cut && run->launcher->end && r < run->started; r++)
        if (!tt_conductor_has_ended(run->conductor, r))
            run->launcher->end(run->self, r);
    supervision_read_all_reports(run);
    lose_all_ranks(run, true);
    for (int r = 0; r < run->ranks; r++)
        if (!tt_conductor_has_ended(run->conductor, r))
            tt_conductor_mark_lost(run->conductor, r, tt_fabric_fail_stopped());
    supervision_read_all_reports(run); /* rows that waited for them */
    run->launcher->finish(run->self, cut);
}

/* The outcome `err` of the ranks is not always that of the run. */
static enum tutti_err supervision_final_error(const struct supervision *run, enum tutti_err err,
                                              const struct tutti_run_stats *stats, double t)
{
    const volatile sig_atomic_t *interrupt = run->job->options.interrupt;
    const struct supervised_rank *culprit = run->culprit >= 0 ? &run->watched[run->culprit] : NULL;
    bool short_of = !err && stats->stop < run->job->times.stop && !stats->terminated_by_fmu;
    if (run->failure.err)
        return tt_fail_restore(&run->failure);
    /* A rank that was cut off from us may have heard the stop, and have ended as it should. */
    if (culprit && !run->blamed && (err || short_of))
        return tt_fail(culprit->err, "%s", culprit->why ? culprit->why : tutti_err_name(culprit->err));
    /* Stopped ranks have no message; the user knows the reason of an interrupt. */
    if (interrupt && *interrupt && (err == TUTTI_ERR_STOPPED || err == TUTTI_ERR_INTERRUPTED || short_of))
        return run->job->checkpoint && err == TUTTI_ERR_INTERRUPTED
                   ? err
                   : tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept", TIME(t));
    return err;
}

enum tutti_err tt_supervision_run(const struct tt_launch *launch, struct tt_conductor *conductor,
                                  struct tutti_run_stats *stats)
{
    const struct tutti_run_options *options = &launch->job->options;
    struct supervision run = {.launcher = launch->launcher,
                              .self = launch->self,
                              .job = launch->job,
                              .conductor = conductor,
                              .watched = calloc((size_t)launch->ranks, sizeof(struct supervised_rank)),
                              .ranks = launch->ranks,
                              .stopped = UINT64_MAX,
                              .culprit = -1,
                              .timeout = options->has_timeout ? options->timeout : INFINITY,
                              .deadline = INFINITY,
                              .thread = pthread_self()};
    if (run.watched) {
        /* Before the result is opened, and so before its action. */
        enum tutti_err err = tt_crash_add(await_report_intake, &run);
        if (err)
            supervision_fail(&run, err);
        supervision_start_all(&run);
        supervise_ranks(&run);
        tt_crash_remove(await_report_intake, &run);
        supervision_end_all(&run);
    } else
        tt_fail_save(&run.failure, tt_fail_memory());
    double t = fmax(tt_conductor_time(conductor), launch->job->times.start); /* no rank may have reported a time */
    enum tutti_err err = tt_conductor_finish(conductor, stats);
    err = supervision_final_error(&run, err, stats, t);
    for (int r = 0; run.watched && r < run.ranks; r++) {
        tt_bytes_fini(&run.watched[r].held);
        free(run.watched[r].why);
    }
    free(run.watched);
    return err;
}

/* ---- in a thread ---- */

struct tt_supervision_thread {
    pthread_t thread;
    const struct tt_launch *launch;
    struct tt_conductor *conductor;
    struct tutti_run_stats stats;
    struct tt_failure failure;
};

static void *supervision_thread(void *context)
{
    struct tt_supervision_thread *self = context;
    tt_fail_save(&self->failure, tt_supervision_run(self->launch, self->conductor, &self->stats));
    return NULL;
}

enum tutti_err tt_supervision_start(struct tt_supervision_thread **out, const struct tt_launch *launch,
                                    struct tt_conductor *conductor)
{
    struct tt_supervision_thread *self = *out = calloc(1, sizeof *self);
    if (!self)
        return tt_fail_memory();
    self->launch = launch;
    self->conductor = conductor;
    int failed = tt_thread_start(&self->thread, supervision_thread, self);
    if (!failed)
        return TUTTI_OK;
    free(self);
    *out = NULL;
    return tt_fail(TUTTI_ERR_LIMIT, "cannot start a thread: %s", strerror(failed));
}

enum tutti_err tt_supervision_join(struct tt_supervision_thread *thread, struct tutti_run_stats *stats)
{
    pthread_join(thread->thread, NULL);
    *stats = thread->stats;
    enum tutti_err err = tt_fail_restore(&thread->failure);
    free(thread);
    return err;
}

const char *tt_supervision_describe_silence(double seconds, char *out, size_t size)
{
    snprintf(out, size, "has given no sign of life for %s s: raise --timeout if the FMU may take that long",
             NUMBER(seconds));
    return out;
}

enum tutti_err tt_supervision_describe_loss(const struct tt_system *system, int rank,
                                            const struct tt_heartbeat *heartbeat, const char *how)
{
    char where[1024] = "in no FMU";
    uint32_t component = atomic_load(&heartbeat->component);
    double t = atomic_load(&heartbeat->t);
    if (component < system->component_count)
        snprintf(where, sizeof where, "unit '%s', %s", system->components[component].name,
                 system->components[component].fmu->path);
    return tt_fail(TUTTI_ERR_LOST, "worker %d (%s, t = %s) %s; everything computed before is kept", rank, where,
                   TIME(t), how);
}

const char *tt_supervision_last_log_lines(struct tt_conductor *conductor, int rank, char *out, size_t size)
{
    const char *words = tt_conductor_last_log_lines(conductor, rank);
    *out = '\0';
    if (!*words)
        return out;
    snprintf(out, size, "; its last words: %s", words);
    for (char *at = out; *at; at++)
        if (*at == '\n')
            *at = at[1] ? '|' : ' ';
    return out;
}
