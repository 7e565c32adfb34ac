/* SPDX-License-Identifier: MIT */
#include "master/rank.h"

#include <math.h>
#include <stdio.h>

#include "master/tally.h"
#include "master/tell.h"

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

/* From the first unit to what was counted; `message` is that of the error. */
static enum tutti_err go(struct run *run, char *message, size_t size)
{
    struct tutti_fabric *fabric = run->fabric;
    enum tutti_err err = tutti_run_go(run);
    if (err && err != TUTTI_ERR_STOPPED)
        fabric->kind->stop(fabric, fabric->step); /* others come as far as this one, so that no row is lost */
    snprintf(message, size, "%s", tutti_err_message());
    tutti_tally_count(run);
    /* Units may have something to say at their end; so the rank's end comes behind theirs. */
    enum tutti_err closing = tutti_run_tear_down(run, TUTTI_OK);
    if (closing && !err) {
        err = closing;
        snprintf(message, size, "%s", tutti_err_message());
    }
    return err;
}

enum tutti_err tutti_rank(const struct tutti_job *job, struct tutti_fabric *fabric)
{
    struct tutti_run_stats stats = {0};
    struct run run = make_run(job, fabric, &stats);
    const struct tutti_log *asked = job->prepared.options->log;
    char message[4096];
    /* What nobody asked for is told, too: the conductor keeps it as last words of a rank that is lost. */
    enum tutti_log_level level = asked && asked->level > TUTTI_LOG_INFO ? asked->level : TUTTI_LOG_INFO;
    TRY(tutti_teller_new(&run.teller, fabric, level));
    run.options = &run.merged;
    run.unit_log = tutti_teller_log(run.teller);
    run.merged.log = fabric->rank == 0 ? run.unit_log : NULL;
    enum tutti_err err = go(&run, message, sizeof message);
    /* What cannot be told is lost; whatever is wrong there, the conductor will see. */
    (void)!tutti_tell_tally(run.teller, &stats);
    enum tutti_err result = err ? tutti_fail(err, "%s", message) : TUTTI_OK;
    bool failed = err && err != TUTTI_ERR_STOPPED; /* in the step to `target`, if in one */
    (void)!tutti_tell_end(run.teller, err, failed ? fmax(run.t, run.target) : run.t);
    tutti_teller_free(run.teller);
    tutti_run_stats_fini(&stats);
    return result;
}
