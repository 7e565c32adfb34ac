/* SPDX-License-Identifier: MIT */
/* Ranks that mpiexec started. Each process loads the job for itself; that of rank 0 is the conductor's as well, which is a thread
 * beside the rank: the rank only lays down what came. Rank 0 alone writes and logs, and returns what the run came to; others return
 * STOPPED for whatever rank 0 tells of, so that a process that gets another error has to tell it.
 *
 * MPI is in a module, tutti_mpi.so, so that a library or a command that never meets mpiexec needs no MPI. */
#include "conduct/launch/mpi.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crash.h"
#include "base/module.h"
#include "base/parcel.h"
#include "conduct/launch/launcher.h"
#include "conduct/place.h"
#include "fabric/report.h"
#include "master/conducted.h"

static const size_t FULL = (size_t)1 << 20;  /* bytes of a rank that are enough for now */
static const size_t MANY = (size_t)64 << 10; /* ... for which the conductor is woken; less can wait until it looks */

/* What one rank reported. */
struct box {
    struct tutti_parcel came; /* by the lock */
    struct tutti_parcel shown;
    size_t consumed; /* of `shown` */
};

struct mpi {
    struct tutti_mpi_world world;
    struct tutti_run_options options; /* this process's: ranks other than 0 are silent */
    struct tutti_log silent;
    const struct tutti_job *job;
    struct tutti_mpi_sink sink;
    struct tutti_fabric *fabric;
    bool broken; /* a function of MPI failed: ranks may wait for each other in vain */
    /* In rank 0. */
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct box *boxes;
    atomic_bool done; /* the conductor knows the end of every rank */
    atomic_bool over; /* no rank goes on */
};

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

/* ---- reports, in rank 0 ---- */

/* Called by the rank, as are those up to is_done: is there not too much of this one yet? */
static bool has_room(void *context, int rank)
{
    struct mpi *mpi = context;
    pthread_mutex_lock(&mpi->lock);
    bool room = mpi->boxes[rank].came.size < FULL;
    pthread_mutex_unlock(&mpi->lock);
    return room;
}

static enum tutti_err put(void *context, int rank, const char *bytes, size_t size)
{
    struct mpi *mpi = context;
    struct tutti_parcel *came = &mpi->boxes[rank].came;
    uint64_t kind = 0;
    memcpy(&kind, bytes, size < sizeof kind ? size : sizeof kind);
    pthread_mutex_lock(&mpi->lock);
    tutti_parcel_put_bytes(came, bytes, size);
    bool failed = came->failed, enough = came->size >= MANY || kind == TUTTI_REPORT_END;
    pthread_mutex_unlock(&mpi->lock);
    if (enough)
        pthread_cond_signal(&mpi->more);
    return failed ? tutti_fail_memory() : TUTTI_OK;
}

static bool is_done(void *context)
{
    const struct mpi *mpi = context;
    return atomic_load(&mpi->done);
}

/* Until the rank wakes the conductor, or so long. */
static enum tutti_err wait_for_reports(void *self, int milliseconds)
{
    struct mpi *mpi = self;
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

static const char *get_reports(void *self, int rank, size_t *count)
{
    struct mpi *mpi = self;
    struct box *box = &mpi->boxes[rank];
    if (box->consumed == box->shown.size) { /* the other one has what came meanwhile */
        struct tutti_parcel done = box->shown;
        tutti_parcel_reset(&done);
        pthread_mutex_lock(&mpi->lock);
        box->shown = box->came;
        box->came = done;
        pthread_mutex_unlock(&mpi->lock);
        box->consumed = 0;
    }
    *count = box->shown.size - box->consumed;
    return *count > 0 ? box->shown.bytes + box->consumed : NULL;
}

static void consume(void *self, int rank, size_t count)
{
    struct mpi *mpi = self;
    mpi->boxes[rank].consumed += count;
}

static void look(void *self, int rank, struct tutti_rank_status *status)
{
    const struct mpi *mpi = self;
    (void)rank; /* one that is lost, mpiexec knows of, and ends all */
    if (atomic_load(&mpi->over))
        *status = (struct tutti_rank_status){.state = TUTTI_RANK_LEFT, .err = tutti_fabric_stopped()};
}

/* The rank tells the others. */
static void stop(void *self, uint64_t step)
{
    const struct mpi *mpi = self;
    tutti_fabric_lower_stop(mpi->fabric->stop_after, step);
}

static void finish(void *self, bool cut)
{
    struct mpi *mpi = self;
    (void)cut;
    atomic_store(&mpi->done, true);
}

static void give_up(struct mpi *mpi)
{
    pthread_mutex_lock(&mpi->lock);
    atomic_store(&mpi->over, true);
    pthread_mutex_unlock(&mpi->lock);
    pthread_cond_signal(&mpi->more);
}

static enum tutti_err make_boxes(struct mpi *mpi)
{
    pthread_condattr_t attributes;
    mpi->boxes = calloc((size_t)mpi->world.ranks, sizeof *mpi->boxes);
    if (!mpi->boxes)
        return tutti_fail_memory();
    pthread_mutex_init(&mpi->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&mpi->more, &attributes);
    pthread_condattr_destroy(&attributes);
    return TUTTI_OK;
}

static void free_boxes(struct mpi *mpi)
{
    if (!mpi->boxes)
        return;
    for (int r = 0; r < mpi->world.ranks; r++) {
        tutti_parcel_fini(&mpi->boxes[r].came);
        tutti_parcel_fini(&mpi->boxes[r].shown);
    }
    pthread_cond_destroy(&mpi->more);
    pthread_mutex_destroy(&mpi->lock);
    free(mpi->boxes);
}

/* ---- a run ---- */

static bool is_asked_for(const struct tutti_run_options *options)
{
    return options->mpi;
}

static void say_nothing(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level, (void)origin, (void)text;
}

/* What all ranks would say alike, the first one says. */
static enum tutti_err prepare(void *self, const struct tutti_run_options *options,
                              const struct tutti_run_options **prepared)
{
    struct mpi *mpi = self;
    TRY(tutti_mpi_start(&mpi->world, NULL));
    mpi->options = *options;
    mpi->silent =
        (struct tutti_log){.level = options->log ? options->log->level : TUTTI_LOG_ERROR, .write = say_nothing};
    if (mpi->world.rank != 0) {
        mpi->options.log = &mpi->silent;
        mpi->options.progress = NULL;
    }
    *prepared = &mpi->options;
    return TUTTI_OK;
}

static enum tutti_err agree(void *self, enum tutti_err err)
{
    struct mpi *mpi = self;
    err = mpi->world.module->agree(err);
    if (err && mpi->boxes)
        give_up(mpi);
    return err;
}

/* All ranks get the places that rank 0 found: another version of METIS elsewhere may find others. */
static enum tutti_err place(void *self, const struct tutti_job *job, int32_t *places, int *ranks)
{
    const struct tutti_mpi_world *world = &((struct mpi *)self)->world;
    enum tutti_err err = world->rank == 0 ? tutti_place(job->system, job->asked, world->ranks, places) : TUTTI_OK;
    *ranks = world->ranks;
    TRY(world->module->agree(err));
    return world->module->share(places, job->system->component_count * sizeof *places);
}

static enum tutti_err open_run(void *self, const struct tutti_job *job, int ranks)
{
    struct mpi *mpi = self;
    (void)ranks;
    mpi->job = job;
    mpi->sink = (struct tutti_mpi_sink){mpi, has_room, put};
    if (mpi->world.rank == 0)
        TRY(make_boxes(mpi));
    return mpi->world.module->open(&mpi->fabric, &mpi->sink);
}

static bool has_conductor(const void *self)
{
    const struct mpi *mpi = self;
    return mpi->world.rank == 0;
}

/* When a process is gone, mpiexec kills the others at once, and what rank 0 has not written is lost. Others send what they have
 * within 0.2 s, and it writes every second: so a rank takes its time to die. */
static void linger(void *context)
{
    const struct mpi *mpi = context;
    mpi->world.module->last_words(mpi->fabric, 2);
}

/* What the rank came to is in its report. */
static enum tutti_err work(void *self, struct tutti_run_stats *stats)
{
    struct mpi *mpi = self;
    (void)stats;                                             /* the conductor fills them */
    bool lingers = tutti_crash_add(linger, mpi) == TUTTI_OK; /* first of all, before a result is open */
    (void)!tutti_rank_run(mpi->job, mpi->fabric);
    enum tutti_err err = mpi->world.module->settle(mpi->fabric, is_done, mpi);
    if (lingers)
        tutti_crash_remove(linger, mpi);
    mpi->broken = err == TUTTI_ERR_LOST;
    if (mpi->boxes)
        give_up(mpi);
    return err;
}

static void close_all(void *self)
{
    struct mpi *mpi = self;
    if (mpi->fabric)
        mpi->fabric->kind->close(mpi->fabric);
    free_boxes(mpi);
    if (mpi->world.module && !mpi->broken) /* else leaving without a word lets mpiexec end the others */
        mpi->world.module->finish();
}

const struct tutti_launcher tutti_launcher_mpi = {.name = "mpi",
                                                  .size = sizeof(struct mpi),
                                                  .grace = INFINITY, /* mpiexec ends ranks */
                                                  .is_asked_for = is_asked_for,
                                                  .prepare = prepare,
                                                  .agree = agree,
                                                  .place = place,
                                                  .open = open_run,
                                                  .close = close_all,
                                                  .work = work,
                                                  .has_conductor = has_conductor,
                                                  .poll = wait_for_reports,
                                                  .look = look,
                                                  .reports = get_reports,
                                                  .consume = consume,
                                                  .stop = stop,
                                                  .finish = finish};
