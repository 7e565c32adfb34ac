/* SPDX-License-Identifier: MIT */
#include "sim/report/reporter.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/ranks/report_frame.h"
#include "sim/report/tally.h"

struct tt_reporter {
    struct tt_fabric *fabric;
    struct tutti_log log;
    pthread_t owner;
    struct tt_byte_writer parcel;
    /* What other threads said. */
    pthread_mutex_t lock;
    struct tt_byte_writer waiting; /* level, origin and text, one message after the other */
    _Atomic bool any_waiting;
};

static void write_message_report(struct tt_byte_writer *parcel, enum tutti_log_level level, const char *origin,
                                 const char *text)
{
    tt_bytes_put_u8(parcel, (uint8_t)level); /* with its mark */
    tt_bytes_put_text(parcel, origin);
    tt_bytes_put_text(parcel, text);
}

static enum tutti_err send_log_message(struct tt_reporter *reporter, enum tutti_log_level level, const char *origin,
                                       const char *text)
{
    tt_fabric_begin_report(&reporter->parcel);
    write_message_report(&reporter->parcel, level, origin, text);
    return tt_fabric_send_report(reporter->fabric, TUTTI_REPORT_LOG, &reporter->parcel);
}

/* Messages of other threads, which must not touch the fabric. */
static enum tutti_err send_queued_messages(struct tt_reporter *reporter)
{
    if (!atomic_load(&reporter->any_waiting))
        return TUTTI_OK;
    pthread_mutex_lock(&reporter->lock);
    struct tt_byte_writer waiting = reporter->waiting;
    reporter->waiting = (struct tt_byte_writer){0};
    atomic_store(&reporter->any_waiting, false);
    pthread_mutex_unlock(&reporter->lock);
    struct tt_byte_reader in = {.at = waiting.bytes, .end = waiting.bytes + waiting.size};
    enum tutti_err err = TUTTI_OK;
    while (!err && in.at < in.end && !in.bad) {
        enum tutti_log_level level = (enum tutti_log_level)tt_bytes_get_u8(&in);
        const char *origin = tt_bytes_get_text(&in), *text = tt_bytes_get_text(&in);
        if (!in.bad) /* for want of memory, half a message */
            err = send_log_message(reporter, level, origin, text);
    }
    tt_bytes_fini(&waiting);
    return err;
}

static enum tutti_err send_direct_message(struct tt_reporter *reporter, enum tutti_log_level level, const char *origin,
                                          const char *text)
{
    TRY(send_queued_messages(reporter));
    return send_log_message(reporter, level, origin, text);
}

static void reporter_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    if (tt_log_is_unfiltered())
        level |= TUTTI_REPORT_INSISTS;
    struct tt_reporter *reporter = context;
    if (!pthread_equal(reporter->owner, pthread_self())) {
        pthread_mutex_lock(&reporter->lock);
        write_message_report(&reporter->waiting, level, origin, text);
        atomic_store(&reporter->any_waiting, true);
        pthread_mutex_unlock(&reporter->lock);
        return;
    }
    /* The caller may be on the way out with an error, whose message must survive that the conductor listens no more. */
    struct tt_failure before;
    tt_fail_save(&before, TUTTI_ERR_STOPPED); /* whatever it is */
    if (send_direct_message(reporter, level, origin, text) != TUTTI_OK)
        (void)tt_fail_restore(&before);
}

enum tutti_err tt_reporter_new(struct tt_reporter **out, struct tt_fabric *fabric, enum tutti_log_level level)
{
    struct tt_reporter *reporter = *out = calloc(1, sizeof *reporter);
    if (!reporter)
        return tt_fail_memory();
    if (pthread_mutex_init(&reporter->lock, NULL) != 0) {
        free(reporter);
        *out = NULL;
        return tt_fail_memory();
    }
    reporter->fabric = fabric;
    reporter->owner = pthread_self();
    reporter->log = (struct tutti_log){.level = level, .write = reporter_log, .context = reporter};
    return TUTTI_OK;
}

void tt_reporter_free(struct tt_reporter *reporter)
{
    if (!reporter)
        return;
    pthread_mutex_destroy(&reporter->lock);
    tt_bytes_fini(&reporter->waiting);
    tt_bytes_fini(&reporter->parcel);
    free(reporter);
}

const struct tutti_log *tt_reporter_get_log(struct tt_reporter *reporter)
{
    return &reporter->log;
}

enum tutti_err tt_reporter_send_progress(struct tt_reporter *reporter, const struct tutti_progress *progress)
{
    TRY(send_queued_messages(reporter));
    struct tt_byte_writer *parcel = &reporter->parcel;
    tt_fabric_begin_report(parcel);
    tt_bytes_put_double(parcel, progress->start);
    tt_bytes_put_double(parcel, progress->stop);
    tt_bytes_put_double(parcel, progress->time);
    tt_bytes_put_double(parcel, progress->step);
    tt_bytes_put_u64(parcel, progress->steps);
    tt_bytes_put_double(parcel, progress->elapsed);
    tt_bytes_put_u8(parcel, progress->paused);
    return tt_fabric_send_report(reporter->fabric, TUTTI_REPORT_PROGRESS, parcel);
}

enum tutti_err tt_reporter_send_load(struct tt_reporter *reporter, const struct tt_rank_load *load)
{
    TRY(send_queued_messages(reporter));
    tt_fabric_begin_report(&reporter->parcel);
    tt_reporter_pack_load(&reporter->parcel, load);
    return tt_fabric_send_report(reporter->fabric, TUTTI_REPORT_LOAD, &reporter->parcel);
}

enum tutti_err tt_reporter_send_tally(struct tt_reporter *reporter, const struct tutti_run_stats *stats)
{
    TRY(send_queued_messages(reporter));
    tt_fabric_begin_report(&reporter->parcel);
    tt_reporter_pack_tally(&reporter->parcel, stats);
    return tt_fabric_send_report(reporter->fabric, TUTTI_REPORT_TALLY, &reporter->parcel);
}

enum tutti_err tt_reporter_send_end(struct tt_reporter *reporter, enum tutti_err err, uint32_t component, double t)
{
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    enum tutti_err told = send_queued_messages(reporter);
    tt_fabric_begin_report(&reporter->parcel);
    tt_bytes_put_u32(&reporter->parcel, (uint32_t)err);
    tt_bytes_put_text(&reporter->parcel, failure.message);
    tt_bytes_put_text(&reporter->parcel, failure.about.unit);
    tt_bytes_put_text(&reporter->parcel, failure.about.variable);
    tt_bytes_put_double(&reporter->parcel, failure.about.time);
    tt_bytes_put_u32(&reporter->parcel, component);
    tt_bytes_put_double(&reporter->parcel, t);
    if (!told)
        told = tt_fabric_send_report(reporter->fabric, TUTTI_REPORT_END, &reporter->parcel);
    if (told)
        (void)tt_fail_restore(&failure);
    return told;
}
