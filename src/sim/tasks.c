/* SPDX-License-Identifier: MIT */
#include "sim/tasks.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_clock.h"
#include "fmu/instance.h"

/* Below what kernels give to their own threads (50). */
enum { SCHEDULER_PRIORITY = 41, LEAST_PRIORITY = 1 };

struct task_thread {
    struct tt_tasks *tasks;
    pthread_t thread;
    int priority;
    pthread_cond_t posted;
    /* With tasks->mutex. */
    const struct tt_model_partition *partition; /* to be computed; NULL: none */
    double t;
    void *context;
    bool ended;
    double begun_at, ended_at;
    struct tt_failure failure;
};

struct tt_tasks {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a task has ended */
    bool closes;
    struct task_thread *tasks;
    size_t count, started;
    /* The scheduler's earlier settings. */
    int policy;
    struct sched_param parameters;
    cpu_set_t cpus;
};

static _Thread_local void *current_context;

void *tt_tasks_context(void)
{
    return current_context;
}

static void task_compute(struct task_thread *task)
{
    struct tt_fmi_call_modes_watch watch = {0};
    enum tutti_err err;
    current_context = task->context;
    task->begun_at = tt_wall_clock_now();
    struct tt_fmi_call_frame frame = tt_fmi_call_enter_pass(&watch);
    err = tt_instance_clocks_activate_part(task->partition, &watch, task->t);
    tt_fmi_call_leave_pass(&watch, frame);
    task->ended_at = tt_wall_clock_now();
    tt_fail_save(&task->failure, err);
}

static void *task_serve(void *context)
{
    struct task_thread *task = context;
    struct tt_tasks *tasks = task->tasks;
    tt_instance_show_thread(true);
    pthread_mutex_lock(&tasks->mutex);
    while (!tasks->closes || (task->partition && !task->ended)) {
        if (!task->partition || task->ended) {
            pthread_cond_wait(&task->posted, &tasks->mutex);
            continue;
        }
        pthread_mutex_unlock(&tasks->mutex);
        task_compute(task);
        pthread_mutex_lock(&tasks->mutex);
        task->ended = true;
        pthread_cond_signal(&tasks->changed);
    }
    pthread_mutex_unlock(&tasks->mutex);
    tt_instance_show_thread(false);
    return NULL;
}

/* ---- opening ---- */

static enum tutti_err tasks_fail(int number)
{
    char text[128];
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "the system gives no real-time priorities (%s)",
                   strerror_r(number, text, sizeof text));
}

/* TS1: of the CPUs that the thread may run on, one. */
static cpu_set_t choose_task_cpu(const cpu_set_t *allowed, unsigned choice)
{
    unsigned nth = choice % (unsigned)CPU_COUNT(allowed);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && nth-- == 0) {
            CPU_SET(cpu, &one);
            break;
        }
    return one;
}

/* Threads that FMUs start must not inherit this priority (SCHED_RESET_ON_FORK). */
static int raise_scheduler_priority(const cpu_set_t *cpu)
{
    const struct sched_param parameters = {.sched_priority = SCHEDULER_PRIORITY};
    int error = pthread_setschedparam(pthread_self(), SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters);
    return error ? error : pthread_setaffinity_np(pthread_self(), sizeof *cpu, cpu);
}

static int start_task(struct task_thread *task, const cpu_set_t *cpu)
{
    const struct sched_param parameters = {.sched_priority = task->priority};
    pthread_attr_t attributes;
    if (pthread_cond_init(&task->posted, NULL) != 0)
        return EAGAIN;
    int error = pthread_attr_init(&attributes);
    if (!error) {
        error = pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        error = error ? error : pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
        error = error ? error : pthread_attr_setschedparam(&attributes, &parameters);
        error = error ? error : pthread_attr_setaffinity_np(&attributes, sizeof *cpu, cpu);
        error = error ? error : pthread_create(&task->thread, &attributes, task_serve, task);
        pthread_attr_destroy(&attributes);
    }
    if (error)
        pthread_cond_destroy(&task->posted);
    return error;
}

/* The n-th of the existing priorities gets the n-th below the scheduler's; with too many, the lowest share one. */
static int task_priority(const uint32_t *priorities, size_t count, size_t of)
{
    int before = 0;
    for (size_t i = 0; i < count; i++) {
        bool first = priorities[i] < priorities[of];
        for (size_t j = 0; first && j < i; j++)
            first = priorities[j] != priorities[i];
        before += first;
    }
    int priority = SCHEDULER_PRIORITY - 1 - before;
    return priority > LEAST_PRIORITY ? priority : LEAST_PRIORITY;
}

static int open_task_locks(struct tt_tasks *tasks)
{
    pthread_mutexattr_t inherits;
    pthread_condattr_t by_clock;
    int error = pthread_mutexattr_init(&inherits);
    if (error)
        return error;
    error = pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
    error = error ? error : pthread_mutex_init(&tasks->mutex, &inherits);
    pthread_mutexattr_destroy(&inherits);
    if (error)
        return error;
    error = pthread_condattr_init(&by_clock);
    error = error ? error : pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    error = error ? error : pthread_cond_init(&tasks->changed, &by_clock);
    if (error)
        pthread_mutex_destroy(&tasks->mutex);
    return error;
}

static enum tutti_err start_tasks(struct tt_tasks *tasks, const uint32_t *priorities, unsigned choice)
{
    cpu_set_t cpu = choose_task_cpu(&tasks->cpus, choice);
    int error = raise_scheduler_priority(&cpu);
    for (size_t i = 0; i < tasks->count && !error; i++) {
        tasks->tasks[i].tasks = tasks;
        tasks->tasks[i].priority = task_priority(priorities, tasks->count, i);
        error = start_task(&tasks->tasks[i], &cpu);
        tasks->started += !error;
    }
    return error ? tasks_fail(error) : TUTTI_OK;
}

enum tutti_err tt_tasks_open(struct tt_tasks **out, const uint32_t *priorities, size_t count, unsigned choice)
{
    struct tt_tasks *tasks = calloc(1, sizeof *tasks);
    struct task_thread *all = calloc(count + 1, sizeof *all);
    if (!tasks || !all) {
        free(tasks);
        free(all);
        return tt_fail_memory();
    }
    tasks->tasks = all;
    tasks->count = count;
    int error = pthread_getschedparam(pthread_self(), &tasks->policy, &tasks->parameters);
    error = error ? error : pthread_getaffinity_np(pthread_self(), sizeof tasks->cpus, &tasks->cpus);
    error = error ? error : open_task_locks(tasks);
    if (error) {
        free(all);
        free(tasks);
        return tasks_fail(error);
    }
    enum tutti_err err = start_tasks(tasks, priorities, choice);
    if (err) {
        tt_tasks_close(tasks);
        return err;
    }
    *out = tasks;
    return TUTTI_OK;
}

void tt_tasks_close(struct tt_tasks *tasks)
{
    if (!tasks)
        return;
    pthread_mutex_lock(&tasks->mutex);
    tasks->closes = true;
    for (size_t i = 0; i < tasks->started; i++)
        pthread_cond_signal(&tasks->tasks[i].posted);
    pthread_mutex_unlock(&tasks->mutex);
    for (size_t i = 0; i < tasks->started; i++) {
        pthread_join(tasks->tasks[i].thread, NULL);
        pthread_cond_destroy(&tasks->tasks[i].posted);
    }
    (void)pthread_setschedparam(pthread_self(), tasks->policy, &tasks->parameters);
    (void)pthread_setaffinity_np(pthread_self(), sizeof tasks->cpus, &tasks->cpus);
    pthread_cond_destroy(&tasks->changed);
    pthread_mutex_destroy(&tasks->mutex);
    free(tasks->tasks);
    free(tasks);
}

/* ---- computing ---- */

void tt_tasks_post(struct tt_tasks *tasks, size_t thread, const struct tt_model_partition *partition, double t,
                   void *context)
{
    struct task_thread *task = &tasks->tasks[thread];
    pthread_mutex_lock(&tasks->mutex);
    task->partition = partition;
    task->t = t;
    task->context = context;
    task->ended = false;
    pthread_cond_signal(&task->posted);
    pthread_mutex_unlock(&tasks->mutex);
}

bool tt_tasks_wait(struct tt_tasks *tasks, size_t thread, double until)
{
    struct task_thread *task = &tasks->tasks[thread];
    double seconds = floor(until);
    const struct timespec at = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (until - seconds))};
    pthread_mutex_lock(&tasks->mutex);
    while (!task->ended)
        if (pthread_cond_timedwait(&tasks->changed, &tasks->mutex, &at) != 0)
            break;
    bool ended = task->ended;
    pthread_mutex_unlock(&tasks->mutex);
    return ended;
}

void tt_tasks_collect(struct tt_tasks *tasks, size_t thread, struct tt_task_end *end)
{
    struct task_thread *task = &tasks->tasks[thread];
    pthread_mutex_lock(&tasks->mutex);
    *end = (struct tt_task_end){task->begun_at, task->ended_at, tt_fail_restore(&task->failure)};
    task->partition = NULL;
    task->ended = false;
    pthread_mutex_unlock(&tasks->mutex);
}
