/* SPDX-License-Identifier: MIT */
/* Ranks as threads of this process; the thread that calls is the conductor. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "conduct/launch/crew.h"
#include "conduct/place.h"
#include "fmi/instance.h"
#include "master/conducted.h"

/* FMUs are used to the stack of a main thread; where nothing is written, a large one costs nothing. */
static const size_t STACK = (size_t)16 << 20;
enum { SIGNAL_STACK = 64 * 1024 };

struct worker {
    pthread_t thread;
    bool runs; /* until it is joined */
    const struct tutti_job *job;
    struct tutti_fabric *fabric; /* the thread's from its start on */
    enum tutti_err err;          /* what the rank came to; to be read once the thread has ended */
    char *signal_stack;
    stack_t stack_before; /* the one that the thread had */
    char ended_in[512];   /* where code of an FMU ended the thread, as text; empty: it did not */
};

struct threads {
    struct tutti_crew crew; /* first */
    struct worker *workers;
};

static bool is_asked_for(const struct tutti_run_options *options)
{
    return options->threads > 0;
}

static enum tutti_err place(void *self, const struct tutti_job *job, int32_t *places, int *ranks)
{
    int least;
    (void)self;
    TRY(tutti_place_least_ranks(job->system, job->asked, &least));
    if (least > 1)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "the system has several units of an FMU that can be instantiated only once per process "
                          "(canBeInstantiatedOnlyOncePerProcess), and threads share one: use --processes %d",
                          least);
    *ranks = tutti_place_clamp(job->system, job->asked, job->options.threads, 1);
    return tutti_place(job->system, job->asked, *ranks, places);
}

static enum tutti_err open_all(void *self, const struct tutti_job *job, int ranks)
{
    struct threads *threads = self;
    TRY(tutti_crew_open(&threads->crew, job, ranks, "threads"));
    threads->workers = calloc((size_t)ranks, sizeof *threads->workers);
    return threads->workers ? TUTTI_OK : tutti_fail_memory();
}

static void leave(struct worker *worker)
{
    worker->fabric->kind->close(worker->fabric);
    worker->fabric = NULL;
}

/* Code of an FMU called pthread_exit(). */
static void on_thread_exit(void *context)
{
    struct worker *worker = context;
    if (tutti_instance_where(worker->ended_in, sizeof worker->ended_in) == 0)
        snprintf(worker->ended_in, sizeof worker->ended_in, "code of an FMU");
    sigaltstack(&worker->stack_before, NULL);
    tutti_instance_show_thread(false);
    leave(worker);
}

static void *be_rank(void *context)
{
    struct worker *worker = context;
    tutti_thread_own();
    tutti_instance_show_thread(true);
    /* A program that handles crashes must be able to do so here as well, also after a stack overflow. */
    stack_t stack = {.ss_sp = worker->signal_stack, .ss_size = SIGNAL_STACK};
    sigaltstack(&stack, &worker->stack_before);
    pthread_cleanup_push(on_thread_exit, worker);
    worker->err = tutti_rank_run(worker->job, worker->fabric);
    pthread_cleanup_pop(0);
    sigaltstack(&worker->stack_before, NULL);
    tutti_instance_show_thread(false);
    leave(worker);
    return NULL;
}

/* Signals for the process go to the calling thread: it sleeps most of the time, and no FMU has to cope with them. */
static void choose_signals(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGHUP);
    sigaddset(signals, SIGQUIT);
}

/* An error number. */
static int start_thread(struct worker *worker)
{
    pthread_attr_t attributes;
    sigset_t signals, before;
    int failed = pthread_attr_init(&attributes);
    if (failed)
        return failed;
    choose_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    (void)pthread_attr_setstacksize(&attributes, STACK); /* else it has what the system gives */
    failed = pthread_create(&worker->thread, &attributes, be_rank, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed;
}

static enum tutti_err start(void *self, int rank)
{
    struct threads *threads = self;
    struct worker *worker = &threads->workers[rank];
    worker->job = threads->crew.job;
    worker->signal_stack = malloc(SIGNAL_STACK);
    if (!worker->signal_stack)
        return tutti_fail_memory();
    TRY(tutti_shared_join(threads->crew.area, rank, &worker->fabric));
    int failed = start_thread(worker);
    if (failed)
        return tutti_fail(TUTTI_ERR_LIMIT, "cannot start %d threads: %s; use fewer (--threads)", threads->crew.ranks,
                          strerror(failed));
    worker->runs = true;
    return TUTTI_OK;
}

static void join(struct worker *worker)
{
    if (worker->runs)
        pthread_join(worker->thread, NULL);
    worker->runs = false;
}

static void look(void *self, int rank, struct tutti_rank_status *status)
{
    struct threads *threads = self;
    struct worker *worker = &threads->workers[rank];
    if (!tutti_shared_has_left(threads->crew.area, rank))
        return;
    join(worker);
    status->state = TUTTI_RANK_LEFT;
    if (worker->ended_in[0])
        status->err = tutti_fail(
            TUTTI_ERR_FMU, "code of the FMU ended the thread that called it (pthread_exit): %s; ask the FMU's author",
            worker->ended_in);
    else
        status->err = worker->err ? tutti_fail(worker->err, "rank %d could not tell how it ended: %s", rank,
                                               tutti_err_name(worker->err))
                                  : tutti_fabric_stopped();
}

static void finish(void *self, bool cut)
{
    struct threads *threads = self;
    (void)cut;
    for (int r = 0; r < threads->crew.ranks; r++)
        join(&threads->workers[r]);
}

static void close_all(void *self)
{
    struct threads *threads = self;
    for (int r = 0; threads->workers && r < threads->crew.ranks; r++) {
        if (threads->workers[r].fabric)
            threads->workers[r].fabric->kind->close(threads->workers[r].fabric);
        free(threads->workers[r].signal_stack);
    }
    free(threads->workers);
    tutti_crew_close(&threads->crew);
}

const struct tutti_launcher tutti_launcher_threads = {.name = "threads",
                                                      .size = sizeof(struct threads),
                                                      .grace = INFINITY, /* what hangs cannot be ended */
                                                      .is_asked_for = is_asked_for,
                                                      .place = place,
                                                      .open = open_all,
                                                      .close = close_all,
                                                      .start = start,
                                                      .poll = tutti_crew_poll,
                                                      .look = look,
                                                      .reports = tutti_crew_reports,
                                                      .consume = tutti_crew_consume,
                                                      .interrupt = tutti_crew_interrupt,
                                                      .stop = tutti_crew_stop,
                                                      .finish = finish};
