/* SPDX-License-Identifier: MIT */
/* A run as a whole: which launcher it goes by, and from a job to what it came to. */
#include <stdlib.h>
#include <string.h>
#include <tutti/run.h>

#include "base/number.h"
#include "conduct/conduct.h"
#include "conduct/confined.h"
#include "conduct/identity.h"
#include "conduct/live.h"
#include "conduct/place.h"
#include "conduct/recovery.h"
#include "federation/along.h"
#include "live/pilot.h"
#include "options/options.h"
#include "rank/stats.h"

#define LISTED(name) &tutti_launcher_##name,
static const struct tutti_launcher *const launchers[] = {TUTTI_LAUNCHERS(LISTED)};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

/* FMUs in threads share everything with the run, and MPI's own connections are beyond us. */
static enum tutti_err check_confinement(const struct tutti_run_options *options)
{
    enum tutti_confine how;
    TRY(tutti_confined_read(options, &how));
    if (how != TUTTI_CONFINE_NONE && options->threads > 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--confine needs processes of their own: use --processes %u instead of "
                          "--threads",
                          options->threads);
    if (how != TUTTI_CONFINE_NONE && options->mpi)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--confine cannot confine processes of mpiexec, which need their "
                                              "connections: use --processes or --nodes, or leave it out");
    return TUTTI_OK;
}

/* Others die with the worker, or with mpiexec; and what has gone down a pipe cannot be taken back. */
static enum tutti_err check_recovery(const struct tutti_run_options *options)
{
    if (options->recover == 0)
        return TUTTI_OK;
    if (options->processes == 0 && !options->nodes)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--recover needs workers that can be replaced: use it with --processes or --nodes; where "
                          "mpiexec starts the run, write checkpoints (--checkpoint) and start it again (--resume)");
    if (options->output && strcmp(options->output, "-") == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--recover needs a result that can be cut: name a file with -o, not -");
    return TUTTI_OK;
}

static enum tutti_err check_options(const struct tutti_run_options *options)
{
    int ways = 0;
    for (int i = 0; i < LAUNCHERS - 1; i++) /* the last one serves if there is no other */
        ways += launchers[i]->is_asked_for(options);
    if (ways > 1)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--threads, --processes, --nodes and mpiexec are ways to run the same "
                                              "units: choose one");
    if (options->has_timeout && !(options->timeout > 0))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--timeout takes a number of seconds greater than 0, not %s",
                          NUMBER(options->timeout));
    if (options->has_timeout && options->processes == 0 && !options->nodes && !options->ends_hangs)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--timeout has no effect here: only processes can be given up, and a program that runs units "
                          "itself, or under mpiexec, cannot end itself; use it with --processes or --nodes, or leave "
                          "it out");
    TRY(check_recovery(options));
    TRY(tutti_along_check(options));
    return check_confinement(options);
}

static enum tutti_err agree(const struct tutti_launch *launch, enum tutti_err err)
{
    return launch->launcher->agree ? launch->launcher->agree(launch->self, err) : err;
}

/* Everything is open: the calling thread is the conductor, or a rank. */
static enum tutti_err go(const struct tutti_launch *launch, struct tutti_conductor *conductor,
                         struct tutti_run_stats *stats)
{
    const struct tutti_launcher *launcher = launch->launcher;
    struct tutti_conduct_thread *thread = NULL;
    struct tutti_failure failure;
    if (!launcher->work)
        return tutti_conduct(launch, conductor, stats);
    enum tutti_err err = conductor ? tutti_conduct_beside(&thread, launch, conductor) : TUTTI_OK;
    err = agree(launch, err);
    if (!err)
        err = launcher->work(launch->self, stats);
    tutti_failure_keep(&failure, err);
    if (thread)
        err = tutti_conduct_join(thread, stats);
    return failure.err ? tutti_failure_return(&failure) : err;
}

static bool has_conductor(const struct tutti_launch *launch)
{
    const struct tutti_launcher *launcher = launch->launcher;
    return !launcher->work || (launcher->has_conductor && launcher->has_conductor(launch->self));
}

static enum tutti_err sync_results(void *context)
{
    return tutti_conductor_sync(context);
}

/* Files go on, and checkpoints are collected, as far as the job asks for that. */
static enum tutti_err collect(struct tutti_conductor *conductor, const struct tutti_job *job,
                              struct tutti_collector **collector)
{
    if (job->resume)
        tutti_conductor_resume(conductor, job->resume->result, job->resume->step_log);
    if (!job->checkpoint && job->options.recover == 0)
        return TUTTI_OK;
    const struct tutti_collector_target target = {.path = job->checkpoint,
                                                  .identity = job->identity,
                                                  .unit_count = job->system->component_count,
                                                  .keeps = job->options.recover > 0,
                                                  .log = job->options.log,
                                                  .sync = {sync_results, conductor}};
    TRY(tutti_collector_new(collector, &target));
    tutti_conductor_collect(conductor, *collector);
    return TUTTI_OK;
}

/* Units are placed. */
static enum tutti_err open_and_go(const struct tutti_launch *launch, struct tutti_run_stats *stats,
                                  struct tutti_recovery *recovery)
{
    const struct tutti_launcher *launcher = launch->launcher;
    struct tutti_conductor *conductor = NULL;
    struct tutti_collector *collector = NULL;
    enum tutti_err err = TUTTI_OK;
    if (has_conductor(launch))
        err = tutti_conductor_new(&conductor, &launch->job->options, launch->job->result, launch->ranks);
    if (!err && conductor)
        err = collect(conductor, launch->job, &collector);
    if (!err && conductor)
        err = tutti_conductor_keep_states(conductor, &launch->job->states);
    if (!err && (conductor || !launcher->has_conductor)) /* where files are written */
        err = tutti_states_check_places(&launch->job->states);
    if (!err && launcher->open)
        err = launcher->open(launch->self, launch->job, launch->ranks);
    struct tutti_failure failure;
    tutti_failure_keep(&failure, agree(launch, err));
    recovery->started = !failure.err;
    if (!failure.err)
        tutti_failure_keep(&failure, go(launch, conductor, stats));
    else if (conductor)
        (void)!tutti_conductor_finish(conductor, stats);
    err = tutti_recovery_keep(recovery, collector);
    if (!failure.err)
        tutti_failure_keep(&failure, err);
    tutti_collector_free(collector);
    return tutti_failure_return(&failure);
}

/* --place names ranks that there are no more. */
static enum tutti_err fail_recovered(enum tutti_err err)
{
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    return tutti_fail(
        TUTTI_ERR_LOST,
        "%s; the run was to go on after a loss, with the ranks that are left: let it choose where units go "
        "(without --place), or name more nodes than it needs, so that one can take the place of another",
        failure.message);
}

static enum tutti_err place_and_go(struct tutti_launch *launch, struct tutti_job *job, struct tutti_run_stats *stats,
                                   struct tutti_recovery *recovery)
{
    int32_t *place = calloc(job->system->component_count, sizeof *place);
    enum tutti_err err = agree(launch, place ? TUTTI_OK : tutti_fail_memory());
    if (!err)
        err = launch->launcher->place(launch->self, job, place, &launch->ranks);
    if (err == TUTTI_ERR_ARGUMENT && recovery->used > 0)
        err = fail_recovered(err);
    launch->job = job;
    job->place = place;
    if (!err)
        err = open_and_go(launch, stats, recovery);
    launch->job = NULL;
    job->place = NULL;
    free(place);
    return err;
}

static enum tutti_err choose(struct tutti_launch *launch, const struct tutti_launcher *launcher)
{
    free(launch->self);
    launch->launcher = launcher;
    launch->self = calloc(1, launcher->size + 1);
    return launch->self ? TUTTI_OK : tutti_fail_memory();
}

/* FMUs that can be instantiated only once per process may need several; those that are confined need one of their own. Second instances
 * need ranks of their own. */
static enum tutti_err choose_for(struct tutti_launch *launch, const struct tutti_job *job)
{
    int least = 1;
    enum tutti_confine how;
    TRY(tutti_confined_read(&job->options, &how));
    if (!launch->launcher->instead)
        return TUTTI_OK;
    TRY(tutti_place_least_ranks(job->system, job->asked, &least));
    if (least > 1 || how != TUTTI_CONFINE_NONE)
        return choose(launch, launch->launcher->instead);
    return job->options.twin ? choose(launch, &tutti_launcher_threads) : TUTTI_OK;
}

/* To a program that keeps account of them. */
static void tell_files(const struct tutti_job *job)
{
    const struct tutti_run_options *options = job->asked;
    const struct tutti_system *system = job->system;
    if (!options->used)
        return;
    for (uint32_t i = 0; i < system->file_count; i++) {
        const struct tutti_system_file *file = &system->files[i];
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
        const struct tutti_initial_state *state = tutti_states_initial(&job->states, c);
        if (state)
            options->used(options->used_context, &(struct tutti_used_file){"state", state->path, state->path});
    }
}

static enum tutti_err check_key(const struct tutti_run_options *options)
{
    return options->key && !options->nodes && !options->join
               ? tutti_fail(TUTTI_ERR_ARGUMENT, "--key has no effect without --nodes or --join; leave it out")
               : TUTTI_OK;
}

/* In the process that writes results, which others are to watch. */
static enum tutti_err go_live(const struct tutti_launch *launch, struct tutti_job *job, struct tutti_live **live)
{
    if (!job->asked->live || !(has_conductor(launch) || !launch->launcher->has_conductor))
        return TUTTI_OK;
    if (!*live)
        TRY(tutti_live_open(live, job->asked, job));
    return tutti_live_attach(*live, job);
}

static enum tutti_err run(struct tutti_launch *launch, struct tutti_run_stats *stats, struct tutti_recovery *recovery)
{
    const struct tutti_run_options *options = &recovery->options;
    struct tutti_job job;
    if (launch->launcher->prepare)
        TRY(launch->launcher->prepare(launch->self, options, &options));
    enum tutti_err opened = tutti_job_open(&job, options, NULL), err = agree(launch, opened);
    if (opened)
        return err;
    tell_files(&job);
    struct tutti_parcel identity = {0};
    struct tutti_along along = {0};
    if (!err)
        err = agree(launch, check_key(&job.options));
    if (!err)
        err = agree(launch, tutti_along_open(&along, &job));
    if (!err && (job.checkpoint || job.resume || options->recover > 0))
        err = agree(launch, tutti_identity_settle(&job, &identity));
    if (!err)
        err = choose_for(launch, &job);
    if (!err)
        err = agree(launch, go_live(launch, &job, &recovery->live));
    tutti_pilot_go_along(&job);
    if (!err)
        err = place_and_go(launch, &job, stats, recovery);
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    tutti_parcel_fini(&identity);
    tutti_along_close(&along);
    if (recovery->live)
        tutti_live_detach(recovery->live);
    tutti_job_close(&job);
    return tutti_failure_return(&failure);
}

static enum tutti_err attempt(struct tutti_run_stats *stats, struct tutti_recovery *recovery)
{
    struct tutti_launch launch = {0};
    struct tutti_failure failure;
    int i = 0;
    while (i < LAUNCHERS - 1 && !launchers[i]->is_asked_for(recovery->asked))
        i++;
    TRY(choose(&launch, launchers[i]));
    tutti_failure_keep(&failure, run(&launch, stats, recovery));
    if (launch.self && launch.launcher->close)
        launch.launcher->close(launch.self);
    free(launch.self);
    return tutti_failure_return(&failure);
}

enum tutti_err tutti_run(const struct tutti_run_options *options, struct tutti_run_stats *stats)
{
    struct tutti_run_stats unused = {0}, *counted = stats ? stats : &unused;
    struct tutti_recovery recovery;
    struct tutti_failure failure;
    *counted = (struct tutti_run_stats){0};
    TRY(check_options(options));
    tutti_recovery_init(&recovery, options);
    do {
        tutti_run_stats_fini(counted);
        tutti_failure_keep(&failure, attempt(counted, &recovery));
    } while (tutti_recovery_goes_on(&recovery, &failure));
    counted->recoveries = recovery.used;
    (void)tutti_failure_return(&failure);
    tutti_live_close(recovery.live, failure.err, counted->stop);
    tutti_recovery_fini(&recovery);
    tutti_run_stats_fini(&unused);
    return tutti_failure_return(&failure);
}
