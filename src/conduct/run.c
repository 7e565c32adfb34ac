/* SPDX-License-Identifier: MIT */
/* A run as a whole: where its units run, and what becomes of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/run.h>

#include "base/log.h"
#include "base/number.h"
#include "conduct/launch.h"
#include "conduct/place.h"
#include "master/run.h"

typedef enum tutti_err launcher(const struct tutti_job *job, int ranks, struct tutti_conductor *conductor);

static enum tutti_err check_options(const struct tutti_run_options *options)
{
    int ways = (options->threads > 0) + (options->processes > 0) + (options->nodes != NULL) + options->mpi;
    if (ways > 1)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--threads, --processes, --nodes and mpiexec are ways to run the same "
                                              "units: choose one");
    if (options->has_timeout && !(options->timeout > 0))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--timeout takes a number of seconds greater than 0, not %s",
                          NUMBER(options->timeout));
    return TUTTI_OK;
}

/* The greatest rank that was asked for, and one more: so many there must be. */
static unsigned count_placed(const struct tutti_run_options *options)
{
    unsigned most = 0;
    for (size_t i = 0; i < options->place_count; i++) {
        const char *equals = strrchr(options->place[i], '=');
        uint64_t rank = 0;
        if (equals && tutti_number_read_uint(equals + 1, strlen(equals + 1), &rank) && rank < UINT32_MAX)
            most = rank + 1 > most ? (unsigned)rank + 1 : most;
    }
    return most;
}

/* More ranks than units would have nothing to do, unless options place them so. */
static int clamp(const struct tutti_job *job, unsigned wanted, int least)
{
    uint32_t units = job->system->component_count, placed = count_placed(job->asked);
    uint32_t most = units > placed ? units : placed;
    if (wanted > most)
        tutti_log_printf(job->options.log, TUTTI_LOG_INFO, NULL, "there are %u units: running on %u ranks, not on %u",
                         units, most, wanted);
    int ranks = (int)(wanted > most ? most : wanted);
    if (ranks < least)
        tutti_log_printf(job->options.log, TUTTI_LOG_INFO, NULL,
                         "FMUs that can be instantiated only once per process get a worker each: running on %d", least);
    return ranks < least ? least : ranks;
}

/* Ranks that were stopped have nothing to say; why they were, the person knows. */
static enum tutti_err judge(const struct tutti_job *job, enum tutti_err err, const struct tutti_run_stats *stats,
                            double t)
{
    const volatile sig_atomic_t *interrupt = job->options.interrupt;
    bool short_of = !err && stats->stop < job->times.stop && !stats->terminated_by_fmu;
    if (interrupt && *interrupt && (err == TUTTI_ERR_STOPPED || err == TUTTI_ERR_INTERRUPTED || short_of))
        return tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept", TIME(t));
    return err;
}

/* By `launch`; without one, on nodes. */
static enum tutti_err conduct(struct tutti_job *job, int ranks, launcher *launch, struct tutti_nodes *nodes,
                              struct tutti_run_stats *stats)
{
    struct tutti_conductor *conductor;
    struct tutti_run_stats unused = {0};
    TRY(tutti_conductor_new(&conductor, &job->options, job->result, ranks));
    enum tutti_err launched = launch ? launch(job, ranks, conductor) : tutti_conduct_nodes(job, nodes, conductor);
    double t = fmax(tutti_conductor_time(conductor), job->times.start); /* no rank may have told any */
    struct tutti_failure failure;
    tutti_failure_keep(&failure, launched);
    stats = stats ? stats : &unused;
    enum tutti_err err = judge(job, tutti_conductor_finish(conductor, stats), stats, t);
    tutti_run_stats_fini(&unused);
    return launched ? tutti_failure_return(&failure) : err;
}

static enum tutti_err run_on(struct tutti_job *job, int ranks, launcher *launch, struct tutti_nodes *nodes,
                             struct tutti_run_stats *stats)
{
    int32_t *place = calloc(job->system->component_count, sizeof *place);
    if (!place)
        return tutti_fail_memory();
    enum tutti_err err = tutti_place(job->system, job->asked, ranks, place);
    if (!err && nodes)
        err = tutti_nodes_trim(nodes, job->system, place);
    ranks = nodes ? tutti_nodes_ranks(nodes) : ranks;
    job->place = place;
    if (!err)
        err = conduct(job, ranks, launch, nodes, stats);
    job->place = NULL;
    free(place);
    return err;
}

/* On one rank there is nothing to place, but what people say must make sense. */
static enum tutti_err check_place(const struct tutti_job *job)
{
    if (job->asked->place_count == 0)
        return TUTTI_OK;
    int32_t *place = calloc(job->system->component_count, sizeof *place);
    if (!place)
        return tutti_fail_memory();
    enum tutti_err err = tutti_place(job->system, job->asked, 1, place);
    free(place);
    return err;
}

static enum tutti_err run_job(struct tutti_job *job, struct tutti_run_stats *stats)
{
    const struct tutti_run_options *options = &job->options;
    int least;
    TRY(tutti_place_least_ranks(job->system, job->asked, &least));
    if (options->threads > 0 && least > 1)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "the system has several units of an FMU that can be instantiated only once per process "
                          "(canBeInstantiatedOnlyOncePerProcess), and threads share one: use --processes %d",
                          least);
    if (options->threads > 0)
        return run_on(job, clamp(job, options->threads, 1), tutti_conduct_threads, NULL, stats);
    TRY(tutti_job_unpack(job));
    return run_on(job, clamp(job, options->processes, least), tutti_conduct_processes, NULL, stats);
}

static enum tutti_err run_on_nodes(const struct tutti_run_options *options, struct tutti_run_stats *stats)
{
    struct tutti_nodes *nodes;
    struct tutti_job job;
    struct tutti_failure failure;
    TRY(tutti_nodes_open(&nodes, options));
    enum tutti_err err = tutti_job_open(&job, tutti_nodes_options(nodes), NULL);
    if (!err)
        err = tutti_nodes_fix(nodes, job.system);
    if (!err)
        err = run_on(&job, tutti_nodes_ranks(nodes), NULL, nodes, stats);
    tutti_failure_keep(&failure, err);
    tutti_job_close(&job);
    tutti_nodes_close(nodes);
    return tutti_failure_return(&failure);
}

enum tutti_err tutti_run(const struct tutti_run_options *options, struct tutti_run_stats *stats)
{
    struct tutti_job job;
    int least;
    if (stats)
        *stats = (struct tutti_run_stats){0};
    TRY(check_options(options));
    if (options->nodes)
        return run_on_nodes(options, stats);
    if (options->mpi)
        return tutti_run_mpi(options, stats);
    TRY(tutti_job_open(&job, options, NULL));
    enum tutti_err err = tutti_place_least_ranks(job.system, options, &least);
    if (!err && options->threads == 0 && options->processes == 0 && least == 1) {
        err = check_place(&job);
        if (!err)
            err = tutti_run_job(&job, stats);
    } else if (!err)
        err = run_job(&job, stats);
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    tutti_job_close(&job);
    return tutti_failure_return(&failure);
}
