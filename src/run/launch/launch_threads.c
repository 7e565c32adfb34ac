/* SPDX-License-Identifier: MIT */
/* Ranks as threads of this process; the thread that calls is the conductor. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "fmu/instance.h"
#include "run/launch/launcher.h"
#include "run/placement.h"
#include "sim/execution_run.h"

/* FMUs are used to the stack of a main thread; where nothing is written, a large one costs nothing. */
static const size_t STACK = (size_t)16 << 20;
enum { SIGNAL_STACK = 64 * 1024 };

struct rank_thread {
    pthread_t thread;
    bool runs; /* until it is joined */
    const struct tt_job *job;
    struct tt_fabric *fabric; /* the thread's from its start on */
    enum tutti_err err;       /* what the rank came to; to be read once the thread has ended */
    char *signal_stack;
    stack_t stack_before; /* the one that the thread had */
    char ended_in[512];   /* where code of an FMU ended the thread, as text; empty: it did not */
};

struct launch_threads {
    struct tt_shared_launcher crew; /* first */
    struct rank_thread *workers;
};

static bool launch_threads_is_requested(const struct tutti_run_options *options)
{
    return options->threads > 0;
}

static enum tutti_err launch_threads_place(void *self, const struct tt_job *job, int32_t *places, int *ranks)
{
    int least;
    (void)self;
    TRY(tt_placement_least_ranks(job->system, job->asked, &least));
    if (least > 1)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "the system has several units of an FMU that can be instantiated only once per process "
                       "(canBeInstantiatedOnlyOncePerProcess), and threads share one: use --processes %d",
                       least);
    *ranks = tt_placement_clamp_ranks(job->system, job->asked, job->options.threads, 1);
    return tt_placement_compute(job->system, job->asked, *ranks, places);
}

static enum tutti_err launch_threads_open_all(void *self, const struct tt_job *job, int ranks)
{
    struct launch_threads *threads = self;
    TRY(tt_launcher_shared_open(&threads->crew, job, ranks, "threads"));
    threads->workers = calloc((size_t)ranks, sizeof *threads->workers);
    return threads->workers ? TUTTI_OK : tt_fail_memory();
}

static void launch_threads_close_fabric(struct rank_thread *worker)
{
    worker->fabric->kind->close(worker->fabric);
    worker->fabric = NULL;
}

/* Code of an FMU called pthread_exit(). */
static void on_thread_exit(void *context)
{
    struct rank_thread *worker = context;
    if (tt_instance_describe_call(worker->ended_in, sizeof worker->ended_in) == 0)
        snprintf(worker->ended_in, sizeof worker->ended_in, "code of an FMU");
    sigaltstack(&worker->stack_before, NULL);
    tt_instance_show_thread(false);
    launch_threads_close_fabric(worker);
}

static void *launch_threads_thread_main(void *context)
{
    struct rank_thread *worker = context;
    tt_thread_mark_own();
    tt_instance_show_thread(true);
    /* A program that handles crashes must be able to do so here as well, also after a stack overflow. */
    stack_t stack = {.ss_sp = worker->signal_stack, .ss_size = SIGNAL_STACK};
    sigaltstack(&stack, &worker->stack_before);
    pthread_cleanup_push(on_thread_exit, worker);
    worker->err = tt_execution_run_rank(worker->job, worker->fabric);
    pthread_cleanup_pop(0);
    sigaltstack(&worker->stack_before, NULL);
    tt_instance_show_thread(false);
    launch_threads_close_fabric(worker);
    return NULL;
}

/* An error number. */
static int launch_threads_start_thread(struct rank_thread *worker)
{
    pthread_attr_t attributes;
    sigset_t signals, before;
    int failed = pthread_attr_init(&attributes);
    if (failed)
        return failed;

    /* Signals for the process go to the calling thread: it sleeps most of the time, and no FMU has to handle them. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGQUIT);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    (void)pthread_attr_setstacksize(&attributes, STACK); /* else it has what the system gives */
    failed = pthread_create(&worker->thread, &attributes, launch_threads_thread_main, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed;
}

static enum tutti_err launch_threads_start(void *self, int rank)
{
    struct launch_threads *threads = self;
    struct rank_thread *worker = &threads->workers[rank];
    worker->job = threads->crew.job;
    worker->signal_stack = malloc(SIGNAL_STACK);
    if (!worker->signal_stack)
        return tt_fail_memory();
    TRY(tt_shared_fabric_join(threads->crew.area, rank, &worker->fabric));
    int failed = launch_threads_start_thread(worker);
    if (failed)
        return tt_fail(TUTTI_ERR_LIMIT, "cannot start %d threads: %s; use fewer (--threads)", threads->crew.ranks,
                       strerror(failed));
    worker->runs = true;
    return TUTTI_OK;
}

static void launch_threads_join(struct rank_thread *worker)
{
    if (worker->runs)
        pthread_join(worker->thread, NULL);
    worker->runs = false;
}

static void launch_threads_status(void *self, int rank, struct tt_rank_status *status)
{
    struct launch_threads *threads = self;
    struct rank_thread *worker = &threads->workers[rank];
    if (!tt_shared_fabric_has_left(threads->crew.area, rank))
        return;
    launch_threads_join(worker);
    status->state = TUTTI_RANK_LEFT;
    if (worker->ended_in[0])
        status->err = tt_fail(
            TUTTI_ERR_FMU, "code of the FMU ended the thread that called it (pthread_exit): %s; ask the FMU's author",
            worker->ended_in);
    else
        status->err = worker->err ? tt_fail(worker->err, "rank %d could not tell how it ended: %s", rank,
                                            tutti_err_name(worker->err))
                                  : tt_fabric_fail_stopped();
}

static void launch_threads_finish(void *self, bool cut)
{
    struct launch_threads *threads = self;
    (void)cut;
    for (int r = 0; r < threads->crew.ranks; r++)
        launch_threads_join(&threads->workers[r]);
}

static void launch_threads_close_all(void *self)
{
    struct launch_threads *threads = self;
    for (int r = 0; threads->workers && r < threads->crew.ranks; r++) {
        if (threads->workers[r].fabric)
            threads->workers[r].fabric->kind->close(threads->workers[r].fabric);
        free(threads->workers[r].signal_stack);
    }
    free(threads->workers);
    tt_launcher_shared_close(&threads->crew);
}

const struct tt_launcher tt_launcher_threads = {.name = "threads",
                                                .size = sizeof(struct launch_threads),
                                                .grace = INFINITY, /* what hangs cannot be ended */
                                                .is_asked_for = launch_threads_is_requested,
                                                .place = launch_threads_place,
                                                .open = launch_threads_open_all,
                                                .close = launch_threads_close_all,
                                                .start = launch_threads_start,
                                                .poll = tt_launcher_shared_poll,
                                                .look = launch_threads_status,
                                                .reports = tt_launcher_shared_reports,
                                                .consume = tt_launcher_shared_consume,
                                                .interrupt = tt_launcher_shared_interrupt,
                                                .stop = tt_launcher_shared_stop,
                                                .finish = launch_threads_finish};

/* One rank, in the calling thread, which writes its result itself without a conductor. */

struct launch_local {
    const struct tt_job *job;
};

static bool launch_local_is_requested(const struct tutti_run_options *options)
{
    (void)options;
    return true; /* if no other is */
}

/* There is nothing to place, but what people say must make sense. */
static enum tutti_err launch_local_place(void *self, const struct tt_job *job, int32_t *places, int *ranks)
{
    (void)self;
    *ranks = 1;
    return job->asked->place_count > 0 ? tt_placement_compute(job->system, job->asked, 1, places) : TUTTI_OK;
}

static enum tutti_err launch_local_open_job(void *self, const struct tt_job *job, int ranks)
{
    struct launch_local *local = self;
    (void)ranks;
    local->job = job;
    return TUTTI_OK;
}

static enum tutti_err launch_local_run(void *self, struct tutti_run_stats *stats)
{
    const struct launch_local *local = self;
    return tt_execution_run_job(local->job, stats);
}

const struct tt_launcher tt_launcher_local = {.name = "local",
                                              .size = sizeof(struct launch_local),
                                              .instead = &tt_launcher_processes,
                                              .is_asked_for = launch_local_is_requested,
                                              .place = launch_local_place,
                                              .open = launch_local_open_job,
                                              .work = launch_local_run};
