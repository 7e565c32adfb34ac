/* SPDX-License-Identifier: MIT */
#include "record/flusher.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/crash.h"
#include "base/thread.h"

enum { INTERVAL = 250000000, SECOND = 1000000000 }; /* nanoseconds */

struct tutti_flusher {
    const struct tutti_record_format *format;
    struct tutti_recorder *recorder;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, and of the recorder */
    pthread_cond_t end;
    bool used; /* the recorder was, since it was flushed */
    bool over;
};

static struct timespec next_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += INTERVAL;
    t.tv_sec += t.tv_nsec / SECOND;
    t.tv_nsec %= SECOND;
    return t;
}

static void *work(void *context)
{
    struct tutti_flusher *flusher = context;
    pthread_mutex_lock(&flusher->lock);
    while (!flusher->over) {
        struct timespec until = next_time();
        pthread_cond_timedwait(&flusher->end, &flusher->lock, &until);
        if (!flusher->used || flusher->over)
            continue;
        flusher->used = false;
        (void)flusher->format->flush(flusher->recorder); /* a failure is the next row's, too */
    }
    pthread_mutex_unlock(&flusher->lock);
    return NULL;
}

struct tutti_flusher *tutti_flusher_new(const struct tutti_record_format *format, struct tutti_recorder *recorder)
{
    struct tutti_flusher *flusher = calloc(1, sizeof *flusher);
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
    if (tutti_thread_start(&flusher->thread, work, flusher) == 0)
        return flusher;
    pthread_cond_destroy(&flusher->end);
    pthread_mutex_destroy(&flusher->lock);
    free(flusher);
    return NULL;
}

void tutti_flusher_hold(struct tutti_flusher *flusher)
{
    if (flusher)
        pthread_mutex_lock(&flusher->lock);
}

void tutti_flusher_release(struct tutti_flusher *flusher)
{
    if (!flusher)
        return;
    flusher->used = true;
    pthread_mutex_unlock(&flusher->lock);
}

void tutti_flusher_halt(struct tutti_flusher *flusher)
{
    enum { MOST_TRIES = 200 };
    const struct timespec moment = {.tv_nsec = 1000000};
    if (!flusher || tutti_crash_is_alone())
        return;
    for (int i = 0; i < MOST_TRIES && pthread_mutex_trylock(&flusher->lock) != 0;
         i++) /* perhaps it is this thread's own */
        nanosleep(&moment, NULL);
}

void tutti_flusher_free(struct tutti_flusher *flusher)
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
