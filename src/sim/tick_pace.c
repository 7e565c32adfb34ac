/* SPDX-License-Identifier: MIT */
/* Partitions in real time (CK7): how late they begin, and tasks that compute them. */
#include <math.h>

#include "base/wall_clock.h"
#include "sim/ticks.h"

/* So long does it sleep at most before it looks whether the run is interrupted. */
#define LONGEST_SLEEP 0.1

static struct tt_tick_update *pace_update_of(const struct tt_tick_unit *unit, uint32_t c)
{
    const struct tt_ticks *ticks = unit->rank->ticks;
    return &ticks->pace.news[unit->states + c - ticks->states];
}

/* In the thread of a task, which uses the instance: stored for the scheduler, which owns the states of clocks. */
enum tutti_err tt_tick_pace_store_update(const struct tt_running_partition *running)
{
    const struct tt_tick_unit *unit = running->unit;
    struct tt_instance *instance = unit->member->unit->instance;
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        const struct tt_tick_clock *clock = &unit->clocks[c];
        struct tt_tick_update *news = pace_update_of(unit, c);
        const struct tt_var *var = &tt_ticks_unit_desc(unit)->vars[clock->variable];
        bool ticks = false, counts_down = clock->input && clock->kind == TUTTI_INTERVAL_COUNTDOWN && !clock->scheduled;
        if (!clock->input && tt_ticks_has_clock(var, unit->clocks[running->clock].variable))
            TRY(tt_instance_clocks_get(instance, &clock->reference, 1, &ticks));
        news->ticks += ticks;
        if (!counts_down)
            continue;
        struct tt_clock_timing timing = {.fraction = clock->fraction};
        TRY(tt_instance_clocks_get_interval(instance, clock->reference, &timing));
        if (timing.qualifier == TUTTI_TIMING_UNCHANGED)
            continue;
        news->told = true;
        news->timing = timing;
        news->from = running->now;
    }
    return TUTTI_OK;
}

static double due_wall_clock_time(const struct tt_tick_pace *pace, double t)
{
    return pace->begin + (t - pace->from) / pace->rate;
}

void tt_tick_pace_count_latency(const struct tt_tick_unit *unit, double begun, double due)
{
    struct tutti_run_stats *stats = unit->rank->stats;
    double late = begun - due_wall_clock_time(&unit->rank->ticks->pace, due);
    const struct {
        double most;
        unsigned long *count;
    } bins[] = {{10e-6, &stats->latency_10us},   {30e-6, &stats->latency_30us}, {100e-6, &stats->latency_100us},
                {300e-6, &stats->latency_300us}, {1e-3, &stats->latency_1ms},   {3e-3, &stats->latency_3ms},
                {10e-3, &stats->latency_10ms},   {0.1, &stats->latency_100ms},  {INFINITY, &stats->latency_more}};
    size_t bin = 0;
    while (late > bins[bin].most)
        bin++;
    ++*bins[bin].count;
    stats->latency_most = fmax(stats->latency_most, late);
}

/* Applies the updates stored by callbacks of tasks. */
static enum tutti_err pace_apply_updates(struct tt_tick_unit *unit)
{
    struct tt_instance *instance = unit->member->unit->instance;
    enum tutti_err err = TUTTI_OK;
    tt_instance_clocks_lock(instance);
    for (uint32_t c = 0; c < unit->clock_count && !err; c++) {
        struct tt_tick_update news = *pace_update_of(unit, c);
        *pace_update_of(unit, c) = (struct tt_tick_update){0};
        if (news.ticks > 0) {
            unit->states[c].ticks += news.ticks;
            unit->states[c].last_time = unit->member->now.t;
            if (unit->clocks[c].signal)
                *unit->clocks[c].signal = (uint8_t)(*unit->clocks[c].signal + news.ticks);
        }
        unit->now = news.told ? news.from : unit->now;
        if (news.told)
            err = tt_ticks_accept_timing(unit, c, &news.timing);
    }
    tt_instance_clocks_unlock(instance);
    return err;
}

static enum tutti_err finish_partition_task(struct tt_rank *rank, uint32_t task)
{
    struct tt_tick_pace *pace = &rank->ticks->pace;
    struct tt_running_partition *running = &pace->running[task];
    struct tt_tick_unit *unit = running->unit;
    const struct tt_tick_clock *clock = &unit->clocks[running->clock];
    struct tt_task_end end;
    tt_tasks_collect(pace->tasks, task, &end);
    running->busy = false;
    tt_tick_pace_count_latency(unit, end.begun, tt_time_of_instant(&running->now));
    unit->member->unit->kind->note_activation(unit->member->unit, &clock->partition->calls, end.ended - end.begun);
    TRY(end.err);
    TRY(pace_apply_updates(unit));
    TRY(tt_ticks_partition_read(clock->partition, rank, unit->member, &rank->ticks->watch));
    unit->now = running->now;
    return tt_ticks_query_interval(unit, running->clock);
}

/* Waits until the task has ended, or the clock reaches `until`, or, unless that is infinite, the run is interrupted. */
static enum tutti_err await_partition_task(struct tt_rank *rank, uint32_t task, double until)
{
    const struct tt_tick_pace *pace = &rank->ticks->pace;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    const struct tt_tick_unit *unit = pace->running[task].unit;
    for (;;) {
        double now = tt_wall_clock_now();
        if (tt_tasks_wait(pace->tasks, task, fmin(until, now + LONGEST_SLEEP)))
            return tt_fail_about(finish_partition_task(rank, task), unit->member->unit->name, NULL, rank->t);
        if (now >= until || (until < INFINITY && interrupt && *interrupt))
            return TUTTI_OK;
    }
}

/* At a point of the run: those that have ended meanwhile; at the last one, all. */
enum tutti_err tt_tick_pace_collect(struct tt_rank *rank)
{
    const struct tt_tick_pace *pace = &rank->ticks->pace;
    for (uint32_t task = 0; task < pace->task_count; task++) {
        if (!pace->running[task].busy)
            continue;
        TRY(await_partition_task(rank, task, rank->t >= rank->times.stop ? INFINITY : 0));
        if (pace->running[task].busy)
            TRY(pace_apply_updates(pace->running[task].unit));
    }
    return TUTTI_OK;
}

/* The clock time up to which the run waits for a partition at this point: that of the next one. */
static double next_wait_limit(const struct tt_rank *rank)
{
    const struct tt_ticks *ticks = rank->ticks;
    double next = ticks->pace.next_point;
    for (size_t s = 0; s < ticks->state_count; s++)
        if (ticks->states[s].time > rank->t + ticks->apart)
            next = fmin(next, ticks->states[s].time);
    return rank->t >= rank->times.stop ? INFINITY : due_wall_clock_time(&ticks->pace, next);
}

static uint32_t partition_priority(const struct tt_tick_unit *unit, uint32_t c)
{
    return tt_ticks_unit_desc(unit)->vars[unit->clocks[c].variable].more->clock->priority;
}

static bool interrupts_running_task(const struct tt_tick_unit *unit, uint32_t c)
{
    const struct tt_tick_pace *pace = &unit->rank->ticks->pace;
    for (size_t i = 0; i < pace->task_count; i++) {
        const struct tt_running_partition *other = &pace->running[i];
        if (other->busy && other->unit == unit && partition_priority(unit, other->clock) > partition_priority(unit, c))
            return true;
    }
    return false;
}

/* CK7 */
enum tutti_err tt_tick_pace_run_in_task(struct tt_tick_unit *unit, uint32_t c)
{
    struct tt_rank *rank = unit->rank;
    const struct tt_tick_pace *pace = &rank->ticks->pace;
    const struct tt_tick_clock *clock = &unit->clocks[c];
    struct tt_running_partition *running = &pace->running[clock->task];
    struct tt_instant now = unit->now;
    if (running->busy)
        TRY(await_partition_task(rank, clock->task, INFINITY));
    TRY(tt_ticks_partition_set(clock->partition, rank, unit->member));
    rank->stats->preemptions += interrupts_running_task(unit, c);
    *running = (struct tt_running_partition){unit, c, now, true};
    tt_tasks_post(pace->tasks, clock->task, &clock->partition->calls, unit->member->now.t, running);
    return await_partition_task(rank, clock->task, next_wait_limit(rank));
}

static enum tutti_err wait_for_unit_tasks(void *context)
{
    const struct tt_tick_unit *unit = context;
    const struct tt_tick_pace *pace = &unit->rank->ticks->pace;
    for (uint32_t task = 0; task < pace->task_count; task++)
        if (pace->running[task].busy && pace->running[task].unit == unit)
            TRY(await_partition_task(unit->rank, task, INFINITY));
    return TUTTI_OK;
}

/* ---- begin and end ---- */

static bool clock_has_task(const struct tt_tick_unit *unit, uint32_t c)
{
    return unit->clocks[c].input && unit->clocks[c].partition;
}

/* Returns true if partitions of the unit have different priorities. */
static bool has_several_priorities(const struct tt_tick_unit *unit)
{
    bool differ = false;
    for (uint32_t a = 0; a < unit->clock_count; a++)
        for (uint32_t b = 0; b < a; b++)
            differ = differ || (clock_has_task(unit, a) && clock_has_task(unit, b) &&
                                partition_priority(unit, a) != partition_priority(unit, b));
    return differ;
}

/* Gives each priority of the unit a task; priorities[] has room for one per clock. */
static void number_partition_tasks(struct tt_tick_unit *unit, uint32_t *priorities, size_t *count)
{
    size_t first = *count;
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        size_t task = first;
        if (!clock_has_task(unit, c))
            continue;
        while (task < *count && priorities[task] != partition_priority(unit, c))
            task++;
        if (task == *count)
            priorities[(*count)++] = partition_priority(unit, c);
        unit->clocks[c].task = (uint32_t)task;
    }
}

static void drop_partition_tasks(struct tt_rank *rank)
{
    rank->ticks->pace.tasks = NULL;
    rank->ticks->pace.task_count = 0;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_tick_unit *unit = &rank->ticks->units[rank->own[m]->component];
        unit->member->unit->ticking.rest = NULL;
        for (uint32_t c = 0; c < unit->clock_count; c++)
            unit->clocks[c].task = TUTTI_NONE;
    }
}

static enum tutti_err open_partition_tasks(struct tt_rank *rank)
{
    struct tt_ticks *ticks = rank->ticks;
    struct tt_tick_pace *pace = &ticks->pace;
    uint32_t *priorities = tt_arena_array(&rank->arena, ticks->state_count, sizeof *priorities);
    pace->running = tt_arena_array(&rank->arena, ticks->state_count, sizeof *pace->running);
    pace->news = tt_arena_array(&rank->arena, ticks->state_count, sizeof *pace->news);
    if (!priorities || !pace->running || !pace->news)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_tick_unit *unit = &ticks->units[rank->own[m]->component];
        if (!tt_ticks_is_scheduled(unit) || !has_several_priorities(unit))
            continue;
        TRY(tt_instance_clocks_allow_preempt(unit->member->unit->instance));
        unit->member->unit->ticking.rest = wait_for_unit_tasks;
        number_partition_tasks(unit, priorities, &pace->task_count);
    }
    return pace->task_count > 0
               ? tt_tasks_open(&pace->tasks, priorities, pace->task_count, (unsigned)rank->fabric->rank)
               : TUTTI_OK;
}

/* A partition that is interrupted cannot be taken back. */
static void warn_no_rollback(const struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_tick_unit *unit = &rank->ticks->units[rank->own[m]->component];
        if (!tt_ticks_is_scheduled(unit) || !has_several_priorities(unit))
            continue;
        tt_log_unfiltered(rank->unit_log, TUTTI_LOG_WARNING, unit->member->unit->name,
                          "its partitions do not interrupt each other, but come one after the other: steps may be "
                          "repeated here, or a program makes them; --coupling jacobi or seidel with --control fixed "
                          "repeat none");
    }
}

enum tutti_err tt_tick_pace_start(struct tt_rank *rank, double begin, bool preempts)
{
    if (!rank->ticks || !rank->job->options.has_realtime)
        return TUTTI_OK;
    struct tt_tick_pace *pace = &rank->ticks->pace;
    *pace = (struct tt_tick_pace){
        .on = true, .begin = begin, .from = rank->t, .rate = rank->job->options.realtime, .next_point = INFINITY};
    if (!preempts) {
        warn_no_rollback(rank);
        return TUTTI_OK;
    }
    enum tutti_err err = open_partition_tasks(rank);
    if (err != TUTTI_ERR_UNSUPPORTED && err != TUTTI_ERR_LIMIT)
        return err;
    drop_partition_tasks(rank);
    tt_log_unfiltered(rank->unit_log, TUTTI_LOG_WARNING, NULL,
                      "partitions do not interrupt each other, but come one after the other: %s; --realtime needs "
                      "CAP_SYS_NICE, or a limit of real-time priorities (ulimit -r) of 41 or more, to let them",
                      tutti_err_message());
    return TUTTI_OK;
}

enum tutti_err tt_tick_pace_stop(struct tt_rank *rank)
{
    struct tt_tick_pace *pace = rank->ticks ? &rank->ticks->pace : NULL;
    enum tutti_err err = TUTTI_OK;
    if (!pace || !pace->tasks)
        return TUTTI_OK;
    for (uint32_t task = 0; task < pace->task_count && !err; task++)
        if (pace->running[task].busy)
            err = await_partition_task(rank, task, INFINITY);
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    tt_tasks_close(pace->tasks);
    drop_partition_tasks(rank);
    return tt_fail_restore(&failure);
}
