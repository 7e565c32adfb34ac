/* SPDX-License-Identifier: MIT */
/* Ranks as threads of this process; the thread that calls is the conductor. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "conduct/drain.h"
#include "conduct/launch.h"

/* FMUs are used to the stack of a main thread; where nothing is written, a large one costs nothing. */
static const size_t STACK = (size_t)16 << 20;
enum { SIGNAL_STACK = 64 * 1024 };

struct worker {
    pthread_t thread;
    const struct tutti_job *job;
    struct tutti_fabric *fabric; /* the thread's from its start on */
    enum tutti_err err;          /* what the rank came to; to be read once the thread has ended */
    char *signal_stack;
};

static void *be_rank(void *context)
{
    struct worker *self = context;
    /* A program that handles crashes must be able to do so here as well, also after a stack overflow. */
    stack_t stack = {.ss_sp = self->signal_stack, .ss_size = SIGNAL_STACK}, before;
    sigaltstack(&stack, &before);
    self->err = tutti_rank_run(self->job, self->fabric);
    sigaltstack(&before, NULL);
    self->fabric->kind->close(self->fabric);
    self->fabric = NULL;
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

/* *started says how many, also after a failure. */
static enum tutti_err start(struct worker *workers, int ranks, int *started)
{
    pthread_attr_t attributes;
    sigset_t signals, before;
    if (pthread_attr_init(&attributes))
        return tutti_fail_memory();
    choose_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    (void)pthread_attr_setstacksize(&attributes, STACK); /* else they have what the system gives */
    int failed = 0;
    while (*started < ranks && !failed) {
        failed = pthread_create(&workers[*started].thread, &attributes, be_rank, &workers[*started]);
        *started += !failed;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed)
        return tutti_fail(TUTTI_ERR_LIMIT, "cannot start %d threads: %s; use fewer (--threads)", ranks,
                          strerror(failed));
    return TUTTI_OK;
}

static bool all_have_left(const struct tutti_shared *area, int count)
{
    for (int r = 0; r < count; r++)
        if (!tutti_shared_has_left(area, r))
            return false;
    return true;
}

static enum tutti_err conduct(struct tutti_drain *drain, struct worker *workers)
{
    int started = 0;
    enum tutti_err err = start(workers, drain->ranks, &started);
    if (err != TUTTI_OK)
        tutti_drain_fail(drain, err);
    for (bool left = false; !left;) {
        uint32_t seen = tutti_shared_bell(drain->area);
        left = all_have_left(drain->area, started); /* before the last look at their reports */
        tutti_drain_all(drain);
        if (!left)
            tutti_shared_wait(drain->area, seen, TUTTI_DRAIN_NAP);
    }
    for (int r = 0; r < started; r++) {
        pthread_join(workers[r].thread, NULL);
        if (workers[r].err && !tutti_conductor_has_ended(drain->conductor, r))
            tutti_conductor_lose(drain->conductor, r,
                                 tutti_fail(workers[r].err, "rank %d could not tell how it ended: %s", r,
                                            tutti_err_name(workers[r].err)));
    }
    return tutti_drain_finish(drain);
}

/* Everything that the workers need; release_all gives it back, also after a failure. */
static enum tutti_err prepare_all(struct worker *workers, const struct tutti_job *job, struct tutti_shared *area,
                                  int ranks)
{
    for (int r = 0; r < ranks; r++) {
        workers[r].job = job;
        workers[r].signal_stack = malloc(SIGNAL_STACK);
        if (!workers[r].signal_stack)
            return tutti_fail_memory();
        TRY(tutti_shared_join(area, r, &workers[r].fabric));
    }
    return TUTTI_OK;
}

static void release_all(struct worker *workers, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        if (workers[r].fabric)
            workers[r].fabric->kind->close(workers[r].fabric);
        free(workers[r].signal_stack);
    }
    free(workers);
}

enum tutti_err tutti_conduct_threads(const struct tutti_job *job, int ranks, struct tutti_conductor *conductor)
{
    struct tutti_shared *area = NULL;
    struct tutti_drain drain = {0};
    struct worker *workers = calloc((size_t)ranks, sizeof *workers);
    if (!workers)
        return tutti_fail_memory();
    enum tutti_err err = tutti_shared_new(&area, ranks, "threads");
    if (err == TUTTI_OK)
        err = tutti_drain_init(&drain, area, conductor, job->options.interrupt, ranks);
    if (err == TUTTI_OK)
        err = prepare_all(workers, job, area, ranks);
    if (err == TUTTI_OK)
        err = conduct(&drain, workers);
    release_all(workers, ranks);
    tutti_drain_fini(&drain);
    tutti_shared_free(area);
    return err;
}
