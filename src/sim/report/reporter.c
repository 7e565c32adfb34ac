/* SPDX-License-Identifier: MIT */
#include "sim/report/reporter.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "sim/ranks/fabric.h"

struct tt_reporter {
    struct tt_fabric *fabric;
    struct tutti_log log;
    pthread_t owner;
    struct tt_byte_writer parcel;
    /* Messages from other threads. */
    pthread_mutex_t lock;
    struct tt_byte_writer waiting; /* level, origin and text of each message in sequence */
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
    /* The caller may be ending with an error, whose message must survive a conductor that no longer receives. */
    struct tt_failure before;
    tt_fail_save(&before, TUTTI_ERR_STOPPED); /* whatever it is */
    if (send_queued_messages(reporter) != TUTTI_OK || send_log_message(reporter, level, origin, text) != TUTTI_OK)
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

void tt_reporter_begin_steps(struct tt_step_counts *made, double t)
{
    *made = (struct tt_step_counts){.from = t, .to = t, .least = INFINITY, .greatest = 0, .error = NAN};
}

void tt_reporter_add_step(struct tt_step_counts *made, double size, double error)
{
    if (!made)
        return;
    made->least = fmin(made->least, size);
    made->greatest = fmax(made->greatest, size);
    made->error = fmax(made->error, error);
}

void tt_reporter_add_event(struct tt_step_counts *made, double t)
{
    if (made && made->event_count < TUTTI_LOAD_EVENTS)
        made->events[made->event_count++] = t;
}

void tt_reporter_pack_load(struct tt_byte_writer *parcel, const struct tt_rank_load *load)
{
    const struct tt_step_counts *steps = &load->steps;
    const double numbers[] = {load->elapsed, steps->from, steps->to, steps->least, steps->greatest, steps->error};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        tt_bytes_put_double(parcel, numbers[i]);
    tt_bytes_put_u64(parcel, steps->count);
    tt_bytes_put_u64(parcel, steps->rejected);
    tt_bytes_put_u64(parcel, steps->located);
    tt_bytes_put_u64(parcel, steps->event_count);
    for (uint64_t i = 0; i < steps->event_count; i++)
        tt_bytes_put_double(parcel, steps->events[i]);
    tt_bytes_put_u64(parcel, load->unit_count);
    for (size_t i = 0; i < load->unit_count; i++) {
        tt_bytes_put_u32(parcel, load->units[i].component);
        tt_bytes_put_double(parcel, load->units[i].seconds);
        tt_bytes_put_u64(parcel, load->units[i].do_steps);
    }
}

static void unpack_load_steps(struct tt_byte_reader *in, struct tt_rank_load *load)
{
    struct tt_step_counts *steps = &load->steps;
    double *const numbers[] = {&load->elapsed, &steps->from,     &steps->to,
                               &steps->least,  &steps->greatest, &steps->error};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = tt_bytes_get_double(in);
    steps->count = tt_bytes_get_u64(in);
    steps->rejected = tt_bytes_get_u64(in);
    steps->located = tt_bytes_get_u64(in);
    steps->event_count = tt_bytes_get_u64(in);
    in->bad = in->bad || steps->event_count > TUTTI_LOAD_EVENTS;
    for (uint64_t i = 0; !in->bad && i < steps->event_count; i++)
        steps->events[i] = tt_bytes_get_double(in);
}

enum tutti_err tt_reporter_unpack_load(struct tt_byte_reader *in, struct tt_rank_load *load)
{
    enum { UNIT_SIZE = 20 }; /* bytes of a unit: a number out of the air costs no memory */
    *load = (struct tt_rank_load){0};
    unpack_load_steps(in, load);
    uint64_t count = tt_bytes_get_u64(in);
    in->bad = in->bad || count > (uint64_t)(in->end - in->at) / UNIT_SIZE;
    if (in->bad)
        return tt_fail(TUTTI_ERR_FORMAT, "the load of a rank cannot be read");
    load->units = calloc(count + 1, sizeof *load->units);
    if (!load->units)
        return tt_fail_memory();
    load->unit_count = count;
    for (size_t i = 0; i < count; i++) {
        load->units[i].component = tt_bytes_get_u32(in);
        load->units[i].seconds = tt_bytes_get_double(in);
        load->units[i].do_steps = tt_bytes_get_u64(in);
    }
    return TUTTI_OK;
}

static void pack_statistics(struct tt_byte_writer *parcel, const void *stats, const struct tt_stat *table)
{
    for (; table->name; table++)
        tt_stats_pack(stats, table, parcel);
}

void tt_reporter_pack_tally(struct tt_byte_writer *parcel, const struct tutti_run_stats *stats)
{
    pack_statistics(parcel, stats, tt_stats_of_run);
    tt_bytes_put_u64(parcel, stats->unit_count);
    for (size_t i = 0; i < stats->unit_count; i++) {
        tt_bytes_put_u64(parcel, stats->units[i].name != NULL); /* else it is a hole */
        if (stats->units[i].name)
            pack_statistics(parcel, &stats->units[i], tt_stats_of_unit);
    }
}

static void unpack_statistics(struct tt_byte_reader *in, void *stats, const struct tt_stat *table, bool *failed)
{
    for (; table->name; table++)
        tt_stats_unpack(stats, table, in, failed);
}

enum tutti_err tt_reporter_unpack_tally(struct tt_byte_reader *in, struct tutti_run_stats *stats)
{
    bool failed = false;
    *stats = (struct tutti_run_stats){0};
    unpack_statistics(in, stats, tt_stats_of_run, &failed);
    uint64_t count = tt_bytes_get_u64(in);
    /* Every unit takes its 8 bytes at least, so that a number out of the air costs no memory. */
    in->bad = in->bad || count > (uint64_t)(in->end - in->at) / 8;
    if (!in->bad && !failed && count > 0) {
        stats->units = calloc(count, sizeof *stats->units);
        failed = !stats->units;
        stats->unit_count = stats->units ? count : 0;
    }
    for (size_t i = 0; i < stats->unit_count && !in->bad && !failed; i++) {
        struct tt_unit_stats *unit = &stats->units[i];
        if (tt_bytes_get_u64(in) == 0) /* a hole */
            continue;
        unpack_statistics(in, unit, tt_stats_of_unit, &failed);
        in->bad = in->bad || !unit->name || !unit->fmu || !unit->fmi || !unit->interface;
    }
    if (failed)
        return tt_fail_memory();
    return in->bad || in->at != in->end ? tt_fail(TUTTI_ERR_FORMAT, "what a rank counted is malformed") : TUTTI_OK;
}
