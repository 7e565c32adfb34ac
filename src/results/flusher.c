/* SPDX-License-Identifier: MIT */
#include "results/flusher.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/crash.h"
#include "base/thread.h"

enum { INTERVAL = 250000000, SECOND = 1000000000 }; /* nanoseconds */

struct tt_output_flusher {
    const struct tt_record_format *format;
    struct tt_recorder *recorder;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, and of the recorder */
    pthread_cond_t end;
    bool used; /* the recorder was, since it was flushed */
    bool over;
};

static struct timespec output_flusher_next_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += INTERVAL;
    t.tv_sec += t.tv_nsec / SECOND;
    t.tv_nsec %= SECOND;
    return t;
}

static void *output_flusher_run(void *context)
{
    struct tt_output_flusher *flusher = context;
    pthread_mutex_lock(&flusher->lock);
    while (!flusher->over) {
        struct timespec until = output_flusher_next_time();
        pthread_cond_timedwait(&flusher->end, &flusher->lock, &until);
        if (!flusher->used || flusher->over)
            continue;
        flusher->used = false;
        (void)flusher->format->flush(flusher->recorder); /* a failure is the next row's, too */
    }
    pthread_mutex_unlock(&flusher->lock);
    return NULL;
}

struct tt_output_flusher *tt_output_flusher_new(const struct tt_record_format *format, struct tt_recorder *recorder)
{
    struct tt_output_flusher *flusher = calloc(1, sizeof *flusher);
    pthread_condattr_t monotonic;
    if (!flusher)
        return NULL;
    flusher->format = format;
    flusher->recorder = recorder;
    pthread_mutex_init(&flusher->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&flusher->end, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (tt_thread_start(&flusher->thread, output_flusher_run, flusher) == 0)
        return flusher;
    pthread_cond_destroy(&flusher->end);
    pthread_mutex_destroy(&flusher->lock);
    free(flusher);
    return NULL;
}

void tt_output_flusher_lock(struct tt_output_flusher *flusher)
{
    if (flusher)
        pthread_mutex_lock(&flusher->lock);
}

void tt_output_flusher_unlock(struct tt_output_flusher *flusher)
{
    if (!flusher)
        return;
    flusher->used = true;
    pthread_mutex_unlock(&flusher->lock);
}

void tt_output_flusher_halt(struct tt_output_flusher *flusher)
{
    enum { MOST_TRIES = 200 };
    const struct timespec moment = {.tv_nsec = 1000000};
    if (!flusher || tt_crash_is_last_thread())
        return;
    for (int i = 0; i < MOST_TRIES && pthread_mutex_trylock(&flusher->lock) != 0;
         i++) /* perhaps it is this thread's own */
        nanosleep(&moment, NULL);
}

void tt_output_flusher_free(struct tt_output_flusher *flusher)
{
    if (!flusher)
        return;
    pthread_mutex_lock(&flusher->lock);
    flusher->over = true;
    pthread_cond_signal(&flusher->end);
    pthread_mutex_unlock(&flusher->lock);
    pthread_join(flusher->thread, NULL);
    pthread_cond_destroy(&flusher->end);
    pthread_mutex_destroy(&flusher->lock);
    free(flusher);
}
