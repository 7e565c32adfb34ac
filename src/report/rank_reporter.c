/* SPDX-License-Identifier: MIT */
#include "report/rank_reporter.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/report.h"
#include "report/tally.h"

struct tutti_rank_reporter {
    struct tutti_fabric *fabric;
    struct tutti_log log;
    pthread_t owner;
    struct tutti_parcel parcel;
    /* What other threads said. */
    pthread_mutex_t lock;
    struct tutti_parcel waiting; /* level, origin and text, one message after the other */
    _Atomic bool any_waiting;
};

static void put_message(struct tutti_parcel *parcel, enum tutti_log_level level, const char *origin, const char *text)
{
    tutti_parcel_put_u8(parcel, (uint8_t)level); /* with its mark */
    tutti_parcel_put_text(parcel, origin);
    tutti_parcel_put_text(parcel, text);
}

static enum tutti_err tell_message(struct tutti_rank_reporter *reporter, enum tutti_log_level level, const char *origin,
                                   const char *text)
{
    tutti_report_begin(&reporter->parcel);
    put_message(&reporter->parcel, level, origin, text);
    return tutti_report_send(reporter->fabric, TUTTI_REPORT_LOG, &reporter->parcel);
}

/* Messages of other threads, which must not touch the fabric. */
static enum tutti_err tell_waiting(struct tutti_rank_reporter *reporter)
{
    if (!atomic_load(&reporter->any_waiting))
        return TUTTI_OK;
    pthread_mutex_lock(&reporter->lock);
    struct tutti_parcel waiting = reporter->waiting;
    reporter->waiting = (struct tutti_parcel){0};
    atomic_store(&reporter->any_waiting, false);
    pthread_mutex_unlock(&reporter->lock);
    struct tutti_unparcel in = {.at = waiting.bytes, .end = waiting.bytes + waiting.size};
    enum tutti_err err = TUTTI_OK;
    while (!err && in.at < in.end && !in.bad) {
        enum tutti_log_level level = (enum tutti_log_level)tutti_unparcel_u8(&in);
        const char *origin = tutti_unparcel_text(&in), *text = tutti_unparcel_text(&in);
        if (!in.bad) /* for want of memory, half a message */
            err = tell_message(reporter, level, origin, text);
    }
    tutti_parcel_fini(&waiting);
    return err;
}

static enum tutti_err tell_own(struct tutti_rank_reporter *reporter, enum tutti_log_level level, const char *origin,
                               const char *text)
{
    TRY(tell_waiting(reporter));
    return tell_message(reporter, level, origin, text);
}

static void write_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    if (tutti_log_insists())
        level |= TUTTI_REPORT_INSISTS;
    struct tutti_rank_reporter *reporter = context;
    if (!pthread_equal(reporter->owner, pthread_self())) {
        pthread_mutex_lock(&reporter->lock);
        put_message(&reporter->waiting, level, origin, text);
        atomic_store(&reporter->any_waiting, true);
        pthread_mutex_unlock(&reporter->lock);
        return;
    }
    /* The caller may be on the way out with an error, whose message must survive that the conductor listens no more. */
    struct tutti_failure before;
    tutti_failure_keep(&before, TUTTI_ERR_STOPPED); /* whatever it is */
    if (tell_own(reporter, level, origin, text) != TUTTI_OK)
        (void)tutti_failure_return(&before);
}

enum tutti_err tutti_rank_reporter_new(struct tutti_rank_reporter **out, struct tutti_fabric *fabric,
                                       enum tutti_log_level level)
{
    struct tutti_rank_reporter *reporter = *out = calloc(1, sizeof *reporter);
    if (!reporter)
        return tutti_fail_memory();
    if (pthread_mutex_init(&reporter->lock, NULL) != 0) {
        free(reporter);
        *out = NULL;
        return tutti_fail_memory();
    }
    reporter->fabric = fabric;
    reporter->owner = pthread_self();
    reporter->log = (struct tutti_log){.level = level, .write = write_log, .context = reporter};
    return TUTTI_OK;
}

void tutti_rank_reporter_free(struct tutti_rank_reporter *reporter)
{
    if (!reporter)
        return;
    pthread_mutex_destroy(&reporter->lock);
    tutti_parcel_fini(&reporter->waiting);
    tutti_parcel_fini(&reporter->parcel);
    free(reporter);
}

const struct tutti_log *tutti_rank_reporter_log(struct tutti_rank_reporter *reporter)
{
    return &reporter->log;
}

enum tutti_err tutti_rank_reporter_tell_progress(struct tutti_rank_reporter *reporter,
                                                 const struct tutti_progress *progress)
{
    TRY(tell_waiting(reporter));
    struct tutti_parcel *parcel = &reporter->parcel;
    tutti_report_begin(parcel);
    tutti_parcel_put_double(parcel, progress->start);
    tutti_parcel_put_double(parcel, progress->stop);
    tutti_parcel_put_double(parcel, progress->time);
    tutti_parcel_put_double(parcel, progress->step);
    tutti_parcel_put_u64(parcel, progress->steps);
    tutti_parcel_put_double(parcel, progress->elapsed);
    tutti_parcel_put_u8(parcel, progress->paused);
    return tutti_report_send(reporter->fabric, TUTTI_REPORT_PROGRESS, parcel);
}

enum tutti_err tutti_rank_reporter_tell_load(struct tutti_rank_reporter *reporter, const struct tutti_load *load)
{
    TRY(tell_waiting(reporter));
    tutti_report_begin(&reporter->parcel);
    tutti_load_pack(&reporter->parcel, load);
    return tutti_report_send(reporter->fabric, TUTTI_REPORT_LOAD, &reporter->parcel);
}

enum tutti_err tutti_rank_reporter_tell_tally(struct tutti_rank_reporter *reporter, const struct tutti_run_stats *stats)
{
    TRY(tell_waiting(reporter));
    tutti_report_begin(&reporter->parcel);
    tutti_tally_pack(&reporter->parcel, stats);
    return tutti_report_send(reporter->fabric, TUTTI_REPORT_TALLY, &reporter->parcel);
}

enum tutti_err tutti_rank_reporter_tell_end(struct tutti_rank_reporter *reporter, enum tutti_err err,
                                            uint32_t component, double t)
{
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    enum tutti_err told = tell_waiting(reporter);
    tutti_report_begin(&reporter->parcel);
    tutti_parcel_put_u32(&reporter->parcel, (uint32_t)err);
    tutti_parcel_put_text(&reporter->parcel, failure.message);
    tutti_parcel_put_text(&reporter->parcel, failure.about.unit);
    tutti_parcel_put_text(&reporter->parcel, failure.about.variable);
    tutti_parcel_put_double(&reporter->parcel, failure.about.time);
    tutti_parcel_put_u32(&reporter->parcel, component);
    tutti_parcel_put_double(&reporter->parcel, t);
    if (!told)
        told = tutti_report_send(reporter->fabric, TUTTI_REPORT_END, &reporter->parcel);
    if (told)
        (void)tutti_failure_return(&failure);
    return told;
}
