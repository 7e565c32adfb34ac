/* SPDX-License-Identifier: MIT */
#include "master/rank.h"

#include <stdio.h>

#include "fabric/report.h"
#include "master/tally.h"

enum tutti_err tutti_job_open(struct tutti_job *job, const struct tutti_run_options *options)
{
    *job = (struct tutti_job){.prepared = {.asked = options, .options = options}};
    enum tutti_err err = tutti_run_prepare(&job->prepared);
    if (err) {
        char message[4096];
        snprintf(message, sizeof message, "%s", tutti_err_message());
        tutti_job_close(job);
        return tutti_fail(err, "%s", message);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_job_unpack(const struct tutti_job *job)
{
    for (uint32_t f = 0; f < job->prepared.system->fmu_count; f++)
        TRY(tutti_fmu_unpack(job->prepared.system->fmus[f]));
    return TUTTI_OK;
}

void tutti_job_close(struct tutti_job *job)
{
    tutti_run_let_go(&job->prepared);
    tutti_arena_fini(&job->prepared.arena);
}

/* ---- reports ---- */

/* What a rank says goes out by this. */
struct voice {
    struct tutti_fabric *fabric;
    struct tutti_parcel parcel;
    struct tutti_log log;
};

/* A message that cannot be told is lost; whatever is wrong will show up elsewhere, too. */
static void tell(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct voice *voice = context;
    tutti_report_begin(&voice->parcel);
    tutti_parcel_put_u8(&voice->parcel, (uint8_t)level);
    tutti_parcel_put_text(&voice->parcel, origin);
    tutti_parcel_put_text(&voice->parcel, text);
    (void)!tutti_report_send(voice->fabric, TUTTI_REPORT_LOG, &voice->parcel);
}

enum tutti_err tutti_rank_progress(struct run *run, const struct tutti_progress *progress)
{
    struct tutti_parcel parcel = {0};
    tutti_report_begin(&parcel);
    tutti_parcel_put_double(&parcel, progress->time);
    tutti_parcel_put_double(&parcel, progress->step);
    tutti_parcel_put_u64(&parcel, progress->steps);
    tutti_parcel_put_double(&parcel, progress->elapsed);
    enum tutti_err err = tutti_report_send(run->fabric, TUTTI_REPORT_PROGRESS, &parcel);
    tutti_parcel_fini(&parcel);
    return err;
}

static void report_end(struct voice *voice, const struct run *run, enum tutti_err err, const char *message)
{
    tutti_report_begin(&voice->parcel);
    tutti_tally_pack(&voice->parcel, run->stats);
    (void)!tutti_report_send(voice->fabric, TUTTI_REPORT_TALLY, &voice->parcel);
    tutti_report_begin(&voice->parcel);
    tutti_parcel_put_u32(&voice->parcel, (uint32_t)err);
    tutti_parcel_put_text(&voice->parcel, err ? message : NULL);
    tutti_parcel_put_double(&voice->parcel, run->t);
    (void)!tutti_report_send(voice->fabric, TUTTI_REPORT_END, &voice->parcel);
}

/* ---- the rank ---- */

/* What all ranks would say alike, the first one says; of its units each says everything. */
static struct run make_run(const struct tutti_job *job, struct tutti_fabric *fabric, struct tutti_run_stats *stats)
{
    struct run run = job->prepared;
    run.stats = stats;
    run.fabric = fabric;
    run.place = fabric->ranks > 1 ? job->place : NULL;
    run.reports = run.borrows = true;
    run.countdown = run.interval = 1;
    run.arena = (struct tutti_arena){0};
    run.merged.progress = NULL;
    return run;
}

enum tutti_err tutti_rank(const struct tutti_job *job, struct tutti_fabric *fabric)
{
    struct tutti_run_stats stats = {0};
    struct run run = make_run(job, fabric, &stats);
    const struct tutti_log *asked = job->prepared.options->log;
    struct voice voice = {.fabric = fabric,
                          .log = {.level = asked ? asked->level : TUTTI_LOG_ERROR, .write = tell, .context = &voice}};
    char message[4096];
    run.options = &run.merged;
    run.unit_log = &voice.log;
    run.merged.log = fabric->rank == 0 ? &voice.log : NULL;
    enum tutti_err err = tutti_run_go(&run);
    if (err && err != TUTTI_ERR_STOPPED)
        fabric->kind->stop(fabric, 0);
    snprintf(message, sizeof message, "%s", tutti_err_message());
    tutti_tally_count(&run);
    /* Units may have something to say at their end; so the rank's end comes behind theirs. */
    enum tutti_err closing = tutti_run_tear_down(&run, TUTTI_OK);
    if (closing && !err) {
        err = closing;
        snprintf(message, sizeof message, "%s", tutti_err_message());
    }
    report_end(&voice, &run, err, message);
    tutti_parcel_fini(&voice.parcel);
    tutti_run_stats_fini(&stats);
    return err ? tutti_fail(err, "%s", message) : TUTTI_OK;
}
