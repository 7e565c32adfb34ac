/* SPDX-License-Identifier: MIT */
/* Ranks that mpiexec started. Each process loads the job for itself; rank 0 is the conductor's process as well.
 *
 * MPI is in a module, tutti_mpi.so, so that a library or a command that never meets mpiexec needs no MPI. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/crash.h"
#include "base/module.h"
#include "conduct/inbox.h"
#include "conduct/launch.h"
#include "conduct/place.h"
#include "fabric/module.h"

static const struct tutti_mpi_host host = {
    .abi = TUTTI_MPI_ABI,
    .fabric_size = sizeof(struct tutti_fabric),
    .fail = tutti_fail,
    .fail_memory = tutti_fail_memory,
    .err_message = tutti_err_message,
    .cargo_size = tutti_cargo_size,
    .cargo_pack = tutti_cargo_pack,
    .cargo_unpack = tutti_cargo_unpack,
    .lower_stop = tutti_fabric_lower_stop,
    .stopped = tutti_fabric_stopped,
    .combine = tutti_fabric_combine,
};

/* ---- the module ---- */

/* Libraries that MPI uses (UCX) handle faults by printing what is of no use here: the handlers set before are kept. */
static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { FAULT_COUNT = sizeof FAULTS / sizeof *FAULTS };

static void keep_handlers(struct sigaction kept[FAULT_COUNT])
{
    for (int i = 0; i < FAULT_COUNT; i++)
        sigaction(FAULTS[i], NULL, &kept[i]);
}

static void put_handlers_back(const struct sigaction kept[FAULT_COUNT])
{
    for (int i = 0; i < FAULT_COUNT; i++)
        sigaction(FAULTS[i], &kept[i], NULL);
}

static enum tutti_err load(const char *path, const struct tutti_mpi_module **module)
{
    static const struct tutti_module mpi = {"tutti_mpi.so", "tutti_mpi_module", "MPICH", "libmpich-dev", "libmpich12"};
    void *symbol;
    tutti_mpi_entry *entry = NULL;
    TRY(tutti_fail_context(tutti_module_load(&symbol, &mpi, path), "started by mpiexec"));
    *(void **)&entry = symbol; /* the way that POSIX shows for functions */
    *module = entry(&host);
    if (*module && (*module)->abi == TUTTI_MPI_ABI)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_LOAD, "%s is of another version of Tutti", mpi.file);
}

enum tutti_err tutti_mpi_start(struct tutti_mpi_world *world, const char *path)
{
    struct sigaction kept[FAULT_COUNT];
    *world = (struct tutti_mpi_world){0};
    keep_handlers(kept);
    enum tutti_err err = load(path, &world->module);
    if (!err)
        err = world->module->start(&world->rank, &world->ranks);
    put_handlers_back(kept);
    return err;
}

/* ---- a run ---- */

static bool has_room(void *context, int rank)
{
    struct tutti_inbox *const *inbox = context;
    return tutti_inbox_has_room(*inbox, rank);
}

static enum tutti_err put(void *context, int rank, const char *bytes, size_t size)
{
    struct tutti_inbox *const *inbox = context;
    return tutti_inbox_put(*inbox, rank, bytes, size);
}

static bool is_done(void *context)
{
    const struct tutti_inbox *inbox = context;
    return tutti_inbox_is_done(inbox);
}

/* When a process is gone, mpiexec kills the others at once, and what rank 0 has not written is lost. Others send what they have
 * within 0.2 s, and it writes every second: so a rank takes its time to die. */
struct dying {
    const struct tutti_mpi_module *module;
    struct tutti_fabric *fabric;
};

static void linger(void *context)
{
    const struct dying *dying = context;
    dying->module->last_words(dying->fabric, 2);
}

/* Rank 0 has the inbox, others have none. What the rank came to is in its report. */
static enum tutti_err run_rank(const struct tutti_job *job, const struct tutti_mpi_world *world,
                               struct tutti_fabric *fabric, struct tutti_inbox *inbox)
{
    struct dying dying = {world->module, fabric};
    bool lingers = tutti_crash_add(linger, &dying) == TUTTI_OK; /* first of all, before a result is open */
    (void)!tutti_rank_run(job, fabric);
    enum tutti_err err = world->module->settle(fabric, is_done, inbox);
    if (lingers)
        tutti_crash_remove(linger, &dying);
    return err;
}

enum tutti_err tutti_conduct_mpi(const struct tutti_job *job, const struct tutti_mpi_world *world,
                                 struct tutti_conductor *conductor)
{
    struct tutti_fabric *fabric;
    struct tutti_inbox *inbox = NULL;
    struct tutti_mpi_sink sink = {&inbox, has_room, put};
    enum tutti_err err = world->module->open(&fabric, &sink);
    if (!err && world->rank == 0)
        err = tutti_inbox_new(&inbox, conductor, world->ranks, fabric->stop_after);
    err = world->module->agree(err);
    if (!err)
        err = run_rank(job, world, fabric, inbox);
    enum tutti_err written = inbox ? tutti_inbox_free(inbox) : TUTTI_OK;
    if (fabric)
        fabric->kind->close(fabric);
    return err ? err : written;
}

static void say_nothing(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level, (void)origin, (void)text;
}

/* All ranks get the places that rank 0 found: another version of METIS elsewhere may find others. */
static enum tutti_err place(const struct tutti_mpi_world *world, struct tutti_job *job, int32_t *places)
{
    enum tutti_err err = TUTTI_OK;
    uint32_t units = job->system->component_count;
    if (!places)
        err = tutti_fail_memory();
    else if (world->rank == 0)
        err = tutti_place(job->system, job->asked, world->ranks, places);
    TRY(world->module->agree(err));
    job->place = places;
    return world->module->share(places, units * sizeof *places);
}

/* *failed: some function of MPI did, so that ranks may wait for each other in vain. */
static enum tutti_err run_job(const struct tutti_mpi_world *world, struct tutti_job *job, struct tutti_run_stats *stats,
                              bool *failed)
{
    struct tutti_conductor *conductor = NULL;
    enum tutti_err err = TUTTI_OK;
    if (world->rank == 0)
        err = tutti_conductor_new(&conductor, &job->options, job->result, world->ranks);
    TRY(world->module->agree(err));
    err = tutti_conduct_mpi(job, world, conductor);
    *failed = err == TUTTI_ERR_LOST;
    if (!conductor)
        return err;
    char why[4096];
    snprintf(why, sizeof why, "%s", tutti_err_message());
    enum tutti_err finished = tutti_conductor_finish(conductor, stats);
    return err ? tutti_fail(err, "%s", why) : finished;
}

enum tutti_err tutti_run_mpi(const struct tutti_run_options *options, struct tutti_run_stats *stats)
{
    struct tutti_mpi_world world;
    struct tutti_job job;
    struct tutti_run_stats unused = {0};
    TRY(tutti_mpi_start(&world, NULL));
    /* What all ranks would say alike, the first one says. */
    struct tutti_log silent = {.level = options->log ? options->log->level : TUTTI_LOG_ERROR, .write = say_nothing};
    struct tutti_run_options own = *options;
    if (world.rank != 0) {
        own.log = &silent;
        own.progress = NULL;
    }
    bool failed = false;
    enum tutti_err opened = tutti_job_open(&job, &own, NULL), err = world.module->agree(opened);
    if (!opened) {
        int32_t *places = calloc(job.system->component_count, sizeof *places);
        if (!err)
            err = place(&world, &job, places);
        if (!err)
            err = run_job(&world, &job, stats ? stats : &unused, &failed);
        char why[4096];
        snprintf(why, sizeof why, "%s", tutti_err_message());
        tutti_job_close(&job);
        free(places);
        err = err ? tutti_fail(err, "%s", why) : TUTTI_OK;
    }
    tutti_run_stats_fini(&unused);
    if (!failed) /* else leaving without a word lets mpiexec end the others */
        world.module->finish();
    return err;
}
