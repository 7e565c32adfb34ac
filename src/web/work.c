/* SPDX-License-Identifier: MIT */
/* A task goes from the loop to a thread and back:
 *
 *  W1. The loop makes and frees tasks; a thread owns a task from the moment it takes it out of the queue until it sets `done`.
 *  W2. `done` is set and read under the mutex, after and before all else of the task. */
#include "web/work.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"

enum { MOST_WAITING = 256 };

struct task {
    struct tutti_web_work *work;
    struct tutti_http_request request;
    struct tutti_http_answer answer;
    bool done;
    struct task *next;
};

struct tutti_web_work {
    struct tutti_web_work_plan plan;
    pthread_t *threads;
    unsigned thread_count, waiting;
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    struct task *first, *last; /* that wait for a thread */
    bool over;
};

static struct task *next_task(struct tutti_web_work *work)
{
    pthread_mutex_lock(&work->mutex);
    while (!work->first && !work->over)
        pthread_cond_wait(&work->wanted, &work->mutex);
    struct task *task = work->over ? NULL : work->first;
    if (task) {
        work->first = task->next;
        work->waiting--;
    }
    pthread_mutex_unlock(&work->mutex);
    return task;
}

static void *serve(void *context)
{
    struct tutti_web_work *work = context;
    struct task *task;
    while ((task = next_task(work))) {
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

enum tutti_err tutti_web_work_new(struct tutti_web_work **out, const struct tutti_web_work_plan *plan)
{
    struct tutti_web_work *work = calloc(1, sizeof *work);
    if (!work)
        return tutti_fail_memory();
    work->plan = *plan;
    pthread_mutex_init(&work->mutex, NULL);
    pthread_cond_init(&work->wanted, NULL);
    work->threads = calloc(plan->threads, sizeof *work->threads);
    enum tutti_err err = work->threads ? TUTTI_OK : tutti_fail_memory();
    for (unsigned i = 0; i < plan->threads && !err; i++) {
        int error = tutti_thread_start(&work->threads[i], serve, work);
        err = error ? tutti_fail(TUTTI_ERR_LIMIT, "a thread cannot be started: %s", strerror(error)) : TUTTI_OK;
        work->thread_count += !err;
    }
    if (err) {
        tutti_web_work_end(work);
        tutti_web_work_free(work);
        return err;
    }
    *out = work;
    return TUTTI_OK;
}

void tutti_web_work_end(struct tutti_web_work *work)
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

void tutti_web_work_free(struct tutti_web_work *work)
{
    if (!work)
        return;
    pthread_mutex_destroy(&work->mutex);
    pthread_cond_destroy(&work->wanted);
    free(work->threads);
    free(work);
}

/* ---- the loop's side ---- */

static bool take(void *context, struct tutti_http_answer *answer)
{
    struct task *task = context;
    pthread_mutex_lock(&task->work->mutex);
    bool done = task->done;
    pthread_mutex_unlock(&task->work->mutex);
    if (done) {
        *answer = task->answer;
        free(task);
    }
    return done;
}

/* Threads have ended: the task waits, or nobody has it. */
static void drop(void *context)
{
    free(context);
}

bool tutti_web_work_add(struct tutti_web_work *work, const struct tutti_http_request *request,
                        struct tutti_http_answer *answer)
{
    struct task *task = calloc(1, sizeof *task);
    if (!task)
        return false;
    *task = (struct task){.work = work, .request = *request};
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
    *answer = (struct tutti_http_answer){.pending = {take, drop, task}};
    return true;
}
