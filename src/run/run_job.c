/* SPDX-License-Identifier: MIT */
/* A run as a whole: which launcher it goes by, and from a job to what it came to. */
#include <stdlib.h>
#include <string.h>
#include <tutti/run.h>

#include "base/number.h"
#include "run/supervision.h"
#include "run/confined.h"
#include "run/run_identity.h"
#include "run/live/live.h"
#include "run/placement.h"
#include "run/recovery.h"
#include "run/federate/run_federate.h"
#include "run/live/live_control.h"
#include "base/options/options.h"
#include "sim/checkpoint/packed_state.h"
#include "sim/stats.h"

#define LISTED(name) &tt_launcher_##name,
static const struct tt_launcher *const launchers[] = {TUTTI_LAUNCHERS(LISTED)};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

/* FMUs in threads share everything with the run, and MPI's own connections are beyond us. */
static enum tutti_err check_confinement(const struct tutti_run_options *options)
{
    enum tt_confine how;
    TRY(tt_confined_read(options, &how));
    if (how != TUTTI_CONFINE_NONE && options->threads > 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--confine needs processes of their own: use --processes %u instead of "
                       "--threads",
                       options->threads);
    if (how != TUTTI_CONFINE_NONE && options->mpi)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--confine cannot confine processes of mpiexec, which need their "
                                           "connections: use --processes or --nodes, or leave it out");
    return TUTTI_OK;
}

/* Others die with the worker, or with mpiexec; and what has gone down a pipe cannot be taken back. */
static enum tutti_err check_recovery(const struct tutti_run_options *options)
{
    if (options->recover == 0)
        return TUTTI_OK;
    if (options->processes == 0 && !options->nodes)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--recover needs workers that can be replaced: use it with --processes or --nodes; where "
                       "mpiexec starts the run, write checkpoints (--checkpoint) and start it again (--resume)");
    if (options->output && strcmp(options->output, "-") == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--recover needs a result that can be cut: name a file with -o, not -");
    return TUTTI_OK;
}

static enum tutti_err run_job_check_options(const struct tutti_run_options *options)
{
    int ways = 0;
    for (int i = 0; i < LAUNCHERS - 1; i++) /* the last one is the default */
        ways += launchers[i]->is_asked_for(options);
    if (ways > 1)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--threads, --processes, --nodes and mpiexec are ways to run the same "
                                           "units: choose one");
    if (options->has_timeout && !(options->timeout > 0))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--timeout takes a number of seconds greater than 0, not %s",
                       NUMBER(options->timeout));
    if (options->has_timeout && options->processes == 0 && !options->nodes && !options->ends_hangs)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--timeout has no effect here: only processes can be given up, and a program that runs units "
                       "itself, or under mpiexec, cannot end itself; use it with --processes or --nodes, or leave "
                       "it out");
    TRY(check_recovery(options));
    TRY(tt_run_federate_check(options));
    return check_confinement(options);
}

static enum tutti_err run_job_agree(const struct tt_launch *launch, enum tutti_err err)
{
    return launch->launcher->agree ? launch->launcher->agree(launch->self, err) : err;
}

static bool run_job_has_conductor(const struct tt_launch *launch)
{
    const struct tt_launcher *launcher = launch->launcher;
    return !launcher->work || (launcher->has_conductor && launcher->has_conductor(launch->self));
}

static enum tutti_err sync_results(void *context)
{
    return tt_conductor_sync(context);
}

/* Resumes files, and collects checkpoints, as far as the job requests it. */
static enum tutti_err run_job_prepare_conductor(struct tt_conductor *conductor, const struct tt_job *job,
                                                struct tt_collector **collector)
{
    if (job->resume)
        tt_conductor_resume(conductor, job->resume->result, job->resume->step_log,
                            tt_packed_state_count_rows(job->resume));
    if (!job->checkpoint && job->options.recover == 0)
        return TUTTI_OK;
    const struct tt_collector_target target = {.path = job->checkpoint,
                                               .identity = job->identity,
                                               .unit_count = job->system->component_count,
                                               .keeps = job->options.recover > 0,
                                               .log = job->options.log,
                                               .sync = {sync_results, conductor}};
    TRY(tt_collector_new(collector, &target));
    tt_conductor_collect(conductor, *collector);
    return TUTTI_OK;
}

/* Places the units, opens what writes results, and runs: the calling thread is the conductor, or a rank. */
static enum tutti_err run_job_execute(struct tt_launch *launch, struct tt_job *job, struct tutti_run_stats *stats,
                                      struct tt_recovery *recovery)
{
    const struct tt_launcher *launcher = launch->launcher;
    struct tt_conductor *conductor = NULL;
    struct tt_collector *collector = NULL;
    struct tt_supervision_thread *thread = NULL;
    struct tt_failure failure;
    int32_t *place = calloc(job->system->component_count, sizeof *place);
    enum tutti_err err = run_job_agree(launch, place ? TUTTI_OK : tt_fail_memory());
    if (!err)
        err = launcher->place(launch->self, job, place, &launch->ranks);
    if (err == TUTTI_ERR_ARGUMENT && recovery->used > 0) { /* --place names ranks that no longer exist */
        tt_fail_save(&failure, err);
        err =
            tt_fail(TUTTI_ERR_LOST,
                    "%s; the run was to go on after a loss, with the ranks that are left: let it choose where units go "
                    "(without --place), or name more nodes than it needs, so that one can take the place of another",
                    failure.message);
    }
    if (err) {
        free(place);
        return err;
    }

    launch->job = job;
    job->place = place;
    if (run_job_has_conductor(launch))
        err = tt_conductor_new(&conductor, &job->options, job->result, launch->ranks);
    if (!err && conductor)
        err = run_job_prepare_conductor(conductor, job, &collector);
    if (!err && conductor)
        err = tt_conductor_expect_states(conductor, &job->states);
    if (!err && (conductor || !launcher->has_conductor)) /* where files are written */
        err = tt_state_files_check_writable(&job->states);
    if (!err && launcher->open)
        err = launcher->open(launch->self, job, launch->ranks);
    err = run_job_agree(launch, err);
    tt_fail_save(&failure, err);
    recovery->started = !err;

    if (err) {
        if (conductor)
            (void)!tt_conductor_finish(conductor, stats);
    } else if (!launcher->work) {
        tt_fail_save(&failure, tt_supervision_run(launch, conductor, stats));
    } else {
        err = run_job_agree(launch, conductor ? tt_supervision_start(&thread, launch, conductor) : TUTTI_OK);
        if (!err)
            err = launcher->work(launch->self, stats);
        tt_fail_save(&failure, err);
        if (thread)
            err = tt_supervision_join(thread, stats);
        if (!failure.err)
            tt_fail_save(&failure, err);
    }

    err = tt_recovery_store(recovery, collector);
    if (!failure.err)
        tt_fail_save(&failure, err);
    tt_collector_free(collector);
    launch->job = NULL;
    job->place = NULL;
    free(place);
    return tt_fail_restore(&failure);
}

static enum tutti_err run_job_set_launcher(struct tt_launch *launch, const struct tt_launcher *launcher)
{
    free(launch->self);
    launch->launcher = launcher;
    launch->self = calloc(1, launcher->size + 1);
    return launch->self ? TUTTI_OK : tt_fail_memory();
}

/* FMUs that can be instantiated only once per process may need several processes; confined FMUs need a separate one.
 * Second instances need separate ranks. */
static enum tutti_err choose_launcher(struct tt_launch *launch, const struct tt_job *job)
{
    int least = 1;
    enum tt_confine how;
    TRY(tt_confined_read(&job->options, &how));
    if (!launch->launcher->instead)
        return TUTTI_OK;
    TRY(tt_placement_least_ranks(job->system, job->asked, &least));
    if (least > 1 || how != TUTTI_CONFINE_NONE)
        return run_job_set_launcher(launch, launch->launcher->instead);
    return job->options.twin ? run_job_set_launcher(launch, &tt_launcher_threads) : TUTTI_OK;
}

/* To a program that keeps account of them. */
static void report_files(const struct tt_job *job)
{
    const struct tutti_run_options *options = job->asked;
    const struct tt_system *system = job->system;
    if (!options->used)
        return;
    for (uint32_t i = 0; i < system->file_count; i++) {
        const struct tt_system_file *file = &system->files[i];
        const char *role = file->package ? "system" : file->fmu ? "fmu" : "resource";
        options->used(options->used_context, &(struct tutti_used_file){role, file->name, file->path});
    }
    for (size_t i = 0; i < options->input_count; i++)
        options->used(options->used_context,
                      &(struct tutti_used_file){"input", options->inputs[i], options->inputs[i]});
    if (options->schedule)
        options->used(options->used_context,
                      &(struct tutti_used_file){"schedule", options->schedule, options->schedule});
    for (uint32_t c = 0; c < job->states.count; c++) {
        const struct tt_initial_state *state = tt_state_files_initial(&job->states, c);
        if (state)
            options->used(options->used_context, &(struct tutti_used_file){"state", state->path, state->path});
    }
}

/* In the process that writes results, which others are to watch. */
static enum tutti_err run_live(const struct tt_launch *launch, struct tt_job *job, struct tt_live **live)
{
    if (!job->asked->live || !(run_job_has_conductor(launch) || !launch->launcher->has_conductor))
        return TUTTI_OK;
    if (!*live)
        TRY(tt_live_open(live, job->asked, job));
    return tt_live_attach(*live, job);
}

/* One try of the run: with the launcher that is requested, from the job to the end. */
static enum tutti_err run_job_attempt(struct tutti_run_stats *stats, struct tt_recovery *recovery)
{
    const struct tutti_run_options *options = &recovery->options;
    struct tt_launch launch = {0};
    struct tt_job job;
    struct tt_byte_writer identity = {0};
    struct tt_run_federate along = {0};
    struct tt_failure failure;
    enum tutti_err err = TUTTI_OK;
    bool has_job = false;
    int i = 0;
    while (i < LAUNCHERS - 1 && !launchers[i]->is_asked_for(recovery->asked))
        i++;
    TRY(run_job_set_launcher(&launch, launchers[i]));
    if (launch.launcher->prepare)
        err = launch.launcher->prepare(launch.self, options, &options);
    if (!err) {
        err = tt_job_open(&job, options, NULL);
        has_job = !err;
        err = run_job_agree(&launch, err);
    }
    if (has_job) {
        report_files(&job);
        if (!err)
            err = run_job_agree(&launch, job.options.key && !job.options.nodes && !job.options.join
                                             ? tt_fail(TUTTI_ERR_ARGUMENT,
                                                       "--key has no effect without --nodes or --join; leave it out")
                                             : TUTTI_OK);
        if (!err)
            err = run_job_agree(&launch, tt_run_federate_open(&along, &job));
        if (!err && (job.checkpoint || job.resume || options->recover > 0))
            err = run_job_agree(&launch, tt_run_identity_check(&job, &identity));
        if (!err)
            err = choose_launcher(&launch, &job);
        if (!err)
            err = run_job_agree(&launch, run_live(&launch, &job, &recovery->live));
        tt_live_control_attach(&job);
        if (!err)
            err = run_job_execute(&launch, &job, stats, recovery);
    }
    tt_fail_save(&failure, err);
    if (has_job) {
        tt_bytes_fini(&identity);
        tt_run_federate_close(&along);
        if (recovery->live)
            tt_live_detach(recovery->live);
        tt_job_close(&job);
    }
    if (launch.self && launch.launcher->close)
        launch.launcher->close(launch.self);
    free(launch.self);
    return tt_fail_restore(&failure);
}

enum tutti_err tutti_run(const struct tutti_run_options *options, struct tutti_run_stats *stats)
{
    struct tutti_run_stats unused = {0}, *counted = stats ? stats : &unused;
    struct tt_recovery recovery;
    struct tt_failure failure;
    *counted = (struct tutti_run_stats){0};
    TRY(run_job_check_options(options));
    tt_recovery_init(&recovery, options);
    do {
        tt_stats_fini(counted);
        tt_fail_save(&failure, run_job_attempt(counted, &recovery));
    } while (tt_recovery_retry(&recovery, &failure));
    counted->recoveries = recovery.used;
    (void)tt_fail_restore(&failure);
    tt_live_close(recovery.live, failure.err, counted->stop);
    tt_recovery_fini(&recovery);
    tt_stats_fini(&unused);
    return tt_fail_restore(&failure);
}
