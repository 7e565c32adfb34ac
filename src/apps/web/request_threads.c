/* SPDX-License-Identifier: MIT */
/* A task goes from the loop to a thread and back:
 *
 *  W1. The loop makes and frees tasks; a thread owns a task from the moment it takes it out of the queue until it sets `done`.
 *  W2. `done` is set and read under the mutex, after and before all else of the task. */
#include "apps/web/request_threads.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"

enum { MOST_WAITING = 256 };

struct web_task {
    struct tt_request_threads *work;
    struct tt_http_request request;
    struct tt_http_response answer;
    bool done;
    struct web_task *next;
};

struct tt_request_threads {
    struct tt_request_threads_plan plan;
    pthread_t *threads;
    unsigned thread_count, waiting;
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    struct web_task *first, *last; /* that wait for a thread */
    bool over;
};

static struct web_task *next_web_task(struct tt_request_threads *work)
{
    pthread_mutex_lock(&work->mutex);
    while (!work->first && !work->over)
        pthread_cond_wait(&work->wanted, &work->mutex);
    struct web_task *task = work->over ? NULL : work->first;
    if (task) {
        work->first = task->next;
        work->waiting--;
    }
    pthread_mutex_unlock(&work->mutex);
    return task;
}

static void *request_threads_serve(void *context)
{
    struct tt_request_threads *work = context;
    struct web_task *task;
    while ((task = next_web_task(work))) {
        const uint64_t one = 1;
        work->plan.answer(work->plan.context, &task->request, &task->answer);
        pthread_mutex_lock(&work->mutex);
        task->done = true;
        pthread_mutex_unlock(&work->mutex);
        if (write(work->plan.bell, &one, sizeof one) < 0) { /* it rings already */
        }
    }
    return NULL;
}

enum tutti_err tt_request_threads_new(struct tt_request_threads **out, const struct tt_request_threads_plan *plan)
{
    struct tt_request_threads *work = calloc(1, sizeof *work);
    if (!work)
        return tt_fail_memory();
    work->plan = *plan;
    pthread_mutex_init(&work->mutex, NULL);
    pthread_cond_init(&work->wanted, NULL);
    work->threads = calloc(plan->threads, sizeof *work->threads);
    enum tutti_err err = work->threads ? TUTTI_OK : tt_fail_memory();
    for (unsigned i = 0; i < plan->threads && !err; i++) {
        int error = tt_thread_start(&work->threads[i], request_threads_serve, work);
        err = error ? tt_fail(TUTTI_ERR_LIMIT, "a thread cannot be started: %s", strerror(error)) : TUTTI_OK;
        work->thread_count += !err;
    }
    if (err) {
        tt_request_threads_stop(work);
        tt_request_threads_free(work);
        return err;
    }
    *out = work;
    return TUTTI_OK;
}

void tt_request_threads_stop(struct tt_request_threads *work)
{
    if (!work)
        return;
    pthread_mutex_lock(&work->mutex);
    work->over = true;
    pthread_cond_broadcast(&work->wanted);
    pthread_mutex_unlock(&work->mutex);
    for (unsigned i = 0; i < work->thread_count; i++)
        pthread_join(work->threads[i], NULL);
    work->thread_count = 0;
}

void tt_request_threads_free(struct tt_request_threads *work)
{
    if (!work)
        return;
    pthread_mutex_destroy(&work->mutex);
    pthread_cond_destroy(&work->wanted);
    free(work->threads);
    free(work);
}

/* ---- the loop's side ---- */

static bool request_threads_take_answer(void *context, struct tt_http_response *answer)
{
    struct web_task *task = context;
    pthread_mutex_lock(&task->work->mutex);
    bool done = task->done;
    pthread_mutex_unlock(&task->work->mutex);
    if (done) {
        *answer = task->answer;
        free(task);
    }
    return done;
}

/* The threads have ended: a task that still waits is dropped. */
static void request_threads_drop_task(void *context)
{
    free(context);
}

bool tt_request_threads_add(struct tt_request_threads *work, const struct tt_http_request *request,
                            struct tt_http_response *answer)
{
    struct web_task *task = calloc(1, sizeof *task);
    if (!task)
        return false;
    *task = (struct web_task){.work = work, .request = *request};
    pthread_mutex_lock(&work->mutex);
    bool fits = work->waiting < MOST_WAITING && !work->over;
    if (fits) {
        *(work->first ? &work->last->next : &work->first) = task;
        work->last = task;
        work->waiting++;
        pthread_cond_signal(&work->wanted);
    }
    pthread_mutex_unlock(&work->mutex);
    if (!fits) {
        free(task);
        return false;
    }
    *answer = (struct tt_http_response){.pending = {request_threads_take_answer, request_threads_drop_task, task}};
    return true;
}
