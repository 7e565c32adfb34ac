/* SPDX-License-Identifier: MIT */
/* Ranks that mpiexec started. Each process loads the job; that of rank 0 also runs the conductor, in a thread beside
 * the rank, which only stores received reports. Only rank 0 writes and logs, and returns the outcome of the run; other
 * ranks return STOPPED for errors that rank 0 reports, so that a process with a different error must report it.
 *
 * MPI is in a module, tutti_mpi.so, so that a library or a command that never meets mpiexec needs no MPI. */
#include "run/launch/launch_mpi.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crash.h"
#include "base/module.h"
#include "base/bytes.h"
#include "run/launch/launcher.h"
#include "run/placement.h"
#include "sim/ranks/fabric.h"
#include "sim/execution_run.h"

static const size_t FULL = (size_t)1 << 20;  /* bytes of a rank that are enough for now */
static const size_t MANY = (size_t)64 << 10; /* bytes for which the conductor is woken; less waits for its next check */

struct report_box {
    struct tt_byte_writer came; /* by the lock */
    struct tt_byte_writer shown;
    size_t consumed; /* of `shown` */
};

struct launch_mpi {
    struct tt_mpi_world world;
    struct tutti_run_options options; /* this process's: ranks other than 0 are silent */
    struct tutti_log silent;
    const struct tt_job *job;
    struct tt_mpi_sink sink;
    struct tt_fabric *fabric;
    bool broken; /* a function of MPI failed: ranks may wait for each other in vain */
    /* In rank 0. */
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct report_box *boxes;
    atomic_bool done; /* the conductor has the end of every rank */
    atomic_bool over; /* no rank continues */
};

static const struct tt_mpi_host host = {
    .abi = TUTTI_MPI_ABI,
    .fabric_size = sizeof(struct tt_fabric),
    .fail = tt_fail,
    .fail_memory = tt_fail_memory,
    .err_message = tutti_err_message,
    .cargo_size = tt_fabric_cargo_size,
    .cargo_pack = tt_fabric_cargo_pack,
    .cargo_unpack = tt_fabric_cargo_unpack,
    .lower_stop = tt_fabric_lower_stop,
    .stopped = tt_fabric_fail_stopped,
    .combine = tt_fabric_combine,
};

/* ---- the module ---- */

/* Libraries that MPI uses (UCX) handle faults by printing useless messages: the earlier handlers are kept. */
static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { FAULT_COUNT = sizeof FAULTS / sizeof *FAULTS };

static enum tutti_err launch_mpi_load_module(const char *path, const struct tt_mpi_module **module)
{
    static const struct tt_module mpi = {"tutti_mpi.so", "tt_mpi_module", "MPICH", "libmpich-dev", "libmpich12"};
    void *symbol;
    tt_mpi_entry *entry = NULL;
    TRY(tt_fail_context(tt_module_load(&symbol, &mpi, path), "started by mpiexec"));
    *(void **)&entry = symbol; /* the way that POSIX shows for functions */
    *module = entry(&host);
    if (*module && (*module)->abi == TUTTI_MPI_ABI)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_LOAD, "%s is of another version of Tutti", mpi.file);
}

enum tutti_err tt_launch_mpi_start(struct tt_mpi_world *world, const char *path)
{
    struct sigaction kept[FAULT_COUNT];
    *world = (struct tt_mpi_world){0};
    for (int i = 0; i < FAULT_COUNT; i++)
        sigaction(FAULTS[i], NULL, &kept[i]);
    enum tutti_err err = launch_mpi_load_module(path, &world->module);
    if (!err)
        err = world->module->start(&world->rank, &world->ranks);
    for (int i = 0; i < FAULT_COUNT; i++)
        sigaction(FAULTS[i], &kept[i], NULL);
    return err;
}

/* ---- reports, in rank 0 ---- */

/* Called by the rank, as are all functions up to is_mpi_run_done: returns false if too much of this rank is unread. */
static bool launch_mpi_has_room(void *context, int rank)
{
    struct launch_mpi *mpi = context;
    pthread_mutex_lock(&mpi->lock);
    bool room = mpi->boxes[rank].came.size < FULL;
    pthread_mutex_unlock(&mpi->lock);
    return room;
}

static enum tutti_err launch_mpi_write_report(void *context, int rank, const char *bytes, size_t size)
{
    struct launch_mpi *mpi = context;
    struct tt_byte_writer *came = &mpi->boxes[rank].came;
    uint64_t kind = 0;
    memcpy(&kind, bytes, size < sizeof kind ? size : sizeof kind);
    pthread_mutex_lock(&mpi->lock);
    tt_bytes_put_bytes(came, bytes, size);
    bool failed = came->failed, enough = came->size >= MANY || kind == TUTTI_REPORT_END;
    pthread_mutex_unlock(&mpi->lock);
    if (enough)
        pthread_cond_signal(&mpi->more);
    return failed ? tt_fail_memory() : TUTTI_OK;
}

static bool is_mpi_run_done(void *context)
{
    const struct launch_mpi *mpi = context;
    return atomic_load(&mpi->done);
}

/* Until the rank wakes the conductor, or so long. */
static enum tutti_err wait_for_mpi_reports(void *self, int milliseconds)
{
    struct launch_mpi *mpi = self;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += milliseconds * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&mpi->lock);
    if (!atomic_load(&mpi->over))
        pthread_cond_timedwait(&mpi->more, &mpi->lock, &until);
    pthread_mutex_unlock(&mpi->lock);
    return TUTTI_OK;
}

static const char *launch_mpi_reports(void *self, int rank, size_t *count)
{
    struct launch_mpi *mpi = self;
    struct report_box *box = &mpi->boxes[rank];
    if (box->consumed == box->shown.size) { /* the second buffer has the data that arrived meanwhile */
        struct tt_byte_writer done = box->shown;
        tt_bytes_reset(&done);
        pthread_mutex_lock(&mpi->lock);
        box->shown = box->came;
        box->came = done;
        pthread_mutex_unlock(&mpi->lock);
        box->consumed = 0;
    }
    *count = box->shown.size - box->consumed;
    return *count > 0 ? box->shown.bytes + box->consumed : NULL;
}

static void launch_mpi_consume(void *self, int rank, size_t count)
{
    struct launch_mpi *mpi = self;
    mpi->boxes[rank].consumed += count;
}

static void launch_mpi_status(void *self, int rank, struct tt_rank_status *status)
{
    const struct launch_mpi *mpi = self;
    (void)rank; /* mpiexec detects a lost rank, and ends all */
    if (atomic_load(&mpi->over))
        *status = (struct tt_rank_status){.state = TUTTI_RANK_LEFT, .err = tt_fabric_fail_stopped()};
}

/* The rank notifies all other ranks. */
static void launch_mpi_stop(void *self, uint64_t step)
{
    const struct launch_mpi *mpi = self;
    tt_fabric_lower_stop(mpi->fabric->stop_after, step);
}

static void launch_mpi_finish(void *self, bool cut)
{
    struct launch_mpi *mpi = self;
    (void)cut;
    atomic_store(&mpi->done, true);
}

static void launch_mpi_abort(struct launch_mpi *mpi)
{
    pthread_mutex_lock(&mpi->lock);
    atomic_store(&mpi->over, true);
    pthread_mutex_unlock(&mpi->lock);
    pthread_cond_signal(&mpi->more);
}

static enum tutti_err create_report_boxes(struct launch_mpi *mpi)
{
    pthread_condattr_t attributes;
    mpi->boxes = calloc((size_t)mpi->world.ranks, sizeof *mpi->boxes);
    if (!mpi->boxes)
        return tt_fail_memory();
    pthread_mutex_init(&mpi->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&mpi->more, &attributes);
    pthread_condattr_destroy(&attributes);
    return TUTTI_OK;
}

/* ---- a run ---- */

static bool launch_mpi_is_requested(const struct tutti_run_options *options)
{
    return options->mpi;
}

static void discard_message(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level, (void)origin, (void)text;
}

/* Messages that are equal on all ranks are logged by the first one. */
static enum tutti_err launch_mpi_prepare(void *self, const struct tutti_run_options *options,
                                         const struct tutti_run_options **prepared)
{
    struct launch_mpi *mpi = self;
    TRY(tt_launch_mpi_start(&mpi->world, NULL));
    mpi->options = *options;
    mpi->silent =
        (struct tutti_log){.level = options->log ? options->log->level : TUTTI_LOG_ERROR, .write = discard_message};
    if (mpi->world.rank != 0) {
        mpi->options.log = &mpi->silent;
        mpi->options.progress = NULL;
    }
    *prepared = &mpi->options;
    return TUTTI_OK;
}

static enum tutti_err launch_mpi_agree(void *self, enum tutti_err err)
{
    struct launch_mpi *mpi = self;
    err = mpi->world.module->agree(err);
    if (err && mpi->boxes)
        launch_mpi_abort(mpi);
    return err;
}

/* All ranks get the places that rank 0 found: another version of METIS elsewhere may find others. */
static enum tutti_err launch_mpi_place(void *self, const struct tt_job *job, int32_t *places, int *ranks)
{
    const struct tt_mpi_world *world = &((struct launch_mpi *)self)->world;
    enum tutti_err err = world->rank == 0 ? tt_placement_compute(job->system, job->asked, world->ranks, places)
                                          : TUTTI_OK;
    *ranks = world->ranks;
    TRY(world->module->agree(err));
    return world->module->share(places, job->system->component_count * sizeof *places);
}

static enum tutti_err launch_mpi_open_run(void *self, const struct tt_job *job, int ranks)
{
    struct launch_mpi *mpi = self;
    (void)ranks;
    mpi->job = job;
    mpi->sink = (struct tt_mpi_sink){mpi, launch_mpi_has_room, launch_mpi_write_report};
    if (mpi->world.rank == 0)
        TRY(create_report_boxes(mpi));
    return mpi->world.module->open(&mpi->fabric, &mpi->sink);
}

static bool launch_mpi_has_conductor(const void *self)
{
    const struct launch_mpi *mpi = self;
    return mpi->world.rank == 0;
}

/* When a process ends, mpiexec kills all others at once, and unwritten data of rank 0 is lost. Ranks send their data
 * within 0.2 s, and rank 0 writes every second: so a rank delays its end. */
static void wait_before_exit(void *context)
{
    const struct launch_mpi *mpi = context;
    mpi->world.module->last_words(mpi->fabric, 2);
}

/* The outcome of the rank is in its report. */
static enum tutti_err launch_mpi_run(void *self, struct tutti_run_stats *stats)
{
    struct launch_mpi *mpi = self;
    (void)stats;                                                    /* the conductor fills them */
    bool lingers = tt_crash_add(wait_before_exit, mpi) == TUTTI_OK; /* first of all, before a result is open */
    (void)!tt_execution_run_rank(mpi->job, mpi->fabric);
    enum tutti_err err = mpi->world.module->settle(mpi->fabric, is_mpi_run_done, mpi);
    if (lingers)
        tt_crash_remove(wait_before_exit, mpi);
    mpi->broken = err == TUTTI_ERR_LOST;
    if (mpi->boxes)
        launch_mpi_abort(mpi);
    return err;
}

static void launch_mpi_close_all(void *self)
{
    struct launch_mpi *mpi = self;
    if (mpi->fabric)
        mpi->fabric->kind->close(mpi->fabric);
    if (mpi->boxes) {
        for (int r = 0; r < mpi->world.ranks; r++) {
            tt_bytes_fini(&mpi->boxes[r].came);
            tt_bytes_fini(&mpi->boxes[r].shown);
        }
        pthread_cond_destroy(&mpi->more);
        pthread_mutex_destroy(&mpi->lock);
        free(mpi->boxes);
    }
    if (mpi->world.module && !mpi->broken) /* otherwise leaving without MPI_Finalize makes mpiexec end all ranks */
        mpi->world.module->finish();
}

const struct tt_launcher tt_launcher_mpi = {.name = "mpi",
                                            .size = sizeof(struct launch_mpi),
                                            .grace = INFINITY, /* mpiexec ends ranks */
                                            .is_asked_for = launch_mpi_is_requested,
                                            .prepare = launch_mpi_prepare,
                                            .agree = launch_mpi_agree,
                                            .place = launch_mpi_place,
                                            .open = launch_mpi_open_run,
                                            .close = launch_mpi_close_all,
                                            .work = launch_mpi_run,
                                            .has_conductor = launch_mpi_has_conductor,
                                            .poll = wait_for_mpi_reports,
                                            .look = launch_mpi_status,
                                            .reports = launch_mpi_reports,
                                            .consume = launch_mpi_consume,
                                            .stop = launch_mpi_stop,
                                            .finish = launch_mpi_finish};
