/* SPDX-License-Identifier: MIT */
/* Partitions in real time (CK7): how late they begin, and tasks that compute them. */
#include <math.h>

#include "base/clock.h"
#include "rank/ticks.h"

/* So long does it sleep at most before it looks whether the run is interrupted. */
#define LONGEST_SLEEP 0.1

static struct tutti_tick_news *news_of(const struct tutti_ticking_unit *unit, uint32_t c)
{
    const struct tutti_ticks *ticks = unit->rank->ticks;
    return &ticks->pace.news[unit->states + c - ticks->states];
}

/* In the thread of a task, which holds the instance: kept for the scheduler, whose the states of clocks are. */
enum tutti_err tutti_ticks_note_news(const struct tutti_running *running)
{
    const struct tutti_ticking_unit *unit = running->unit;
    struct tutti_instance *instance = unit->member->unit->instance;
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        const struct tutti_ticking_clock *clock = &unit->clocks[c];
        struct tutti_tick_news *news = news_of(unit, c);
        const struct tutti_var *var = &tutti_ticking_desc(unit)->vars[clock->variable];
        bool ticks = false, counts_down = clock->input && clock->kind == TUTTI_INTERVAL_COUNTDOWN && !clock->scheduled;
        if (!clock->input && tutti_ticks_is_of_clock(var, unit->clocks[running->clock].variable))
            TRY(tutti_instance_get_clocks(instance, &clock->reference, 1, &ticks));
        news->ticks += ticks;
        if (!counts_down)
            continue;
        struct tutti_timing timing = {.fraction = clock->fraction};
        TRY(tutti_instance_get_interval(instance, clock->reference, &timing));
        if (timing.qualifier == TUTTI_TIMING_UNCHANGED)
            continue;
        news->told = true;
        news->timing = timing;
        news->from = running->now;
    }
    return TUTTI_OK;
}

static double due_on_clock(const struct tutti_ticks_pace *pace, double t)
{
    return pace->begin + (t - pace->from) / pace->rate;
}

void tutti_ticks_note_latency(const struct tutti_ticking_unit *unit, double begun, double due)
{
    struct tutti_run_stats *stats = unit->rank->stats;
    double late = begun - due_on_clock(&unit->rank->ticks->pace, due);
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

/* What callbacks of tasks have left. */
static enum tutti_err take_news(struct tutti_ticking_unit *unit)
{
    struct tutti_instance *instance = unit->member->unit->instance;
    enum tutti_err err = TUTTI_OK;
    tutti_instance_hold(instance);
    for (uint32_t c = 0; c < unit->clock_count && !err; c++) {
        struct tutti_tick_news news = *news_of(unit, c);
        *news_of(unit, c) = (struct tutti_tick_news){0};
        if (news.ticks > 0) {
            unit->states[c].ticks += news.ticks;
            unit->states[c].last_time = unit->member->now.t;
            if (unit->clocks[c].signal)
                *unit->clocks[c].signal = (uint8_t)(*unit->clocks[c].signal + news.ticks);
        }
        unit->now = news.told ? news.from : unit->now;
        if (news.told)
            err = tutti_ticks_take_timing(unit, c, &news.timing);
    }
    tutti_instance_release(instance);
    return err;
}

/* The partition that the task has computed. */
static enum tutti_err conclude_task(struct tutti_rank *rank, uint32_t task)
{
    struct tutti_ticks_pace *pace = &rank->ticks->pace;
    struct tutti_running *running = &pace->running[task];
    struct tutti_ticking_unit *unit = running->unit;
    const struct tutti_ticking_clock *clock = &unit->clocks[running->clock];
    struct tutti_task_end end;
    tutti_tasks_take(pace->tasks, task, &end);
    running->busy = false;
    tutti_ticks_note_latency(unit, end.begun, tutti_instant_time(&running->now));
    unit->member->unit->kind->note_activation(unit->member->unit, &clock->partition->calls, end.ended - end.begun);
    TRY(end.err);
    TRY(take_news(unit));
    TRY(tutti_rank_partition_read(clock->partition, rank, unit->member, &rank->ticks->watch));
    unit->now = running->now;
    return tutti_ticks_follow(unit, running->clock);
}

/* Until the task has ended, or the clock says `until`, or, unless that is for ever, the run is interrupted. */
static enum tutti_err await_task(struct tutti_rank *rank, uint32_t task, double until)
{
    const struct tutti_ticks_pace *pace = &rank->ticks->pace;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    const struct tutti_ticking_unit *unit = pace->running[task].unit;
    for (;;) {
        double now = tutti_clock_now();
        if (tutti_tasks_wait(pace->tasks, task, fmin(until, now + LONGEST_SLEEP)))
            return tutti_fail_about(conclude_task(rank, task), unit->member->unit->name, NULL, rank->t);
        if (now >= until || (until < INFINITY && interrupt && *interrupt))
            return TUTTI_OK;
    }
}

/* At a point of the run: those that have ended meanwhile; at the last one, all. */
enum tutti_err tutti_ticks_collect(struct tutti_rank *rank)
{
    const struct tutti_ticks_pace *pace = &rank->ticks->pace;
    for (uint32_t task = 0; task < pace->task_count; task++) {
        if (!pace->running[task].busy)
            continue;
        TRY(await_task(rank, task, rank->t >= rank->times.stop ? INFINITY : 0));
        if (pace->running[task].busy)
            TRY(take_news(pace->running[task].unit));
    }
    return TUTTI_OK;
}

/* The clock time up to which the run waits for a partition at this point: that of the next one. */
static double bound_wait(const struct tutti_rank *rank)
{
    const struct tutti_ticks *ticks = rank->ticks;
    double next = ticks->pace.next_point;
    for (size_t s = 0; s < ticks->state_count; s++)
        if (ticks->states[s].time > rank->t + ticks->apart)
            next = fmin(next, ticks->states[s].time);
    return rank->t >= rank->times.stop ? INFINITY : due_on_clock(&ticks->pace, next);
}

static uint32_t priority_of(const struct tutti_ticking_unit *unit, uint32_t c)
{
    return tutti_ticking_desc(unit)->vars[unit->clocks[c].variable].more->clock->priority;
}

static bool interrupts_another(const struct tutti_ticking_unit *unit, uint32_t c)
{
    const struct tutti_ticks_pace *pace = &unit->rank->ticks->pace;
    for (size_t i = 0; i < pace->task_count; i++) {
        const struct tutti_running *other = &pace->running[i];
        if (other->busy && other->unit == unit && priority_of(unit, other->clock) > priority_of(unit, c))
            return true;
    }
    return false;
}

/* CK7 */
enum tutti_err tutti_ticks_by_task(struct tutti_ticking_unit *unit, uint32_t c)
{
    struct tutti_rank *rank = unit->rank;
    const struct tutti_ticks_pace *pace = &rank->ticks->pace;
    const struct tutti_ticking_clock *clock = &unit->clocks[c];
    struct tutti_running *running = &pace->running[clock->task];
    struct tutti_instant now = unit->now;
    if (running->busy)
        TRY(await_task(rank, clock->task, INFINITY));
    TRY(tutti_rank_partition_set(clock->partition, rank, unit->member));
    rank->stats->preemptions += interrupts_another(unit, c);
    *running = (struct tutti_running){unit, c, now, true};
    tutti_tasks_post(pace->tasks, clock->task, &clock->partition->calls, unit->member->now.t, running);
    return await_task(rank, clock->task, bound_wait(rank));
}

static enum tutti_err rest(void *context)
{
    const struct tutti_ticking_unit *unit = context;
    const struct tutti_ticks_pace *pace = &unit->rank->ticks->pace;
    for (uint32_t task = 0; task < pace->task_count; task++)
        if (pace->running[task].busy && pace->running[task].unit == unit)
            TRY(await_task(unit->rank, task, INFINITY));
    return TUTTI_OK;
}

/* ---- begin and end ---- */

static bool is_task(const struct tutti_ticking_unit *unit, uint32_t c)
{
    return unit->clocks[c].input && unit->clocks[c].partition;
}

/* Do partitions of the unit differ in priority? */
static bool may_interrupt(const struct tutti_ticking_unit *unit)
{
    bool differ = false;
    for (uint32_t a = 0; a < unit->clock_count; a++)
        for (uint32_t b = 0; b < a; b++)
            differ = differ || (is_task(unit, a) && is_task(unit, b) && priority_of(unit, a) != priority_of(unit, b));
    return differ;
}

/* Gives each priority of the unit a task; priorities[] has room for one per clock. */
static void number_tasks(struct tutti_ticking_unit *unit, uint32_t *priorities, size_t *count)
{
    size_t first = *count;
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        size_t task = first;
        if (!is_task(unit, c))
            continue;
        while (task < *count && priorities[task] != priority_of(unit, c))
            task++;
        if (task == *count)
            priorities[(*count)++] = priority_of(unit, c);
        unit->clocks[c].task = (uint32_t)task;
    }
}

static void forget_tasks(struct tutti_rank *rank)
{
    rank->ticks->pace.tasks = NULL;
    rank->ticks->pace.task_count = 0;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_ticking_unit *unit = &rank->ticks->units[rank->own[m]->component];
        unit->member->unit->ticking.rest = NULL;
        for (uint32_t c = 0; c < unit->clock_count; c++)
            unit->clocks[c].task = TUTTI_NONE;
    }
}

static enum tutti_err open_tasks(struct tutti_rank *rank)
{
    struct tutti_ticks *ticks = rank->ticks;
    struct tutti_ticks_pace *pace = &ticks->pace;
    uint32_t *priorities = tutti_arena_array(&rank->arena, ticks->state_count, sizeof *priorities);
    pace->running = tutti_arena_array(&rank->arena, ticks->state_count, sizeof *pace->running);
    pace->news = tutti_arena_array(&rank->arena, ticks->state_count, sizeof *pace->news);
    if (!priorities || !pace->running || !pace->news)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_ticking_unit *unit = &ticks->units[rank->own[m]->component];
        if (!tutti_ticking_is_scheduled(unit) || !may_interrupt(unit))
            continue;
        TRY(tutti_instance_let_preempt(unit->member->unit->instance));
        unit->member->unit->ticking.rest = rest;
        number_tasks(unit, priorities, &pace->task_count);
    }
    return pace->task_count > 0
               ? tutti_tasks_open(&pace->tasks, priorities, pace->task_count, (unsigned)rank->fabric->rank)
               : TUTTI_OK;
}

/* A partition that is interrupted cannot be taken back. */
static void tell_repeating(const struct tutti_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_ticking_unit *unit = &rank->ticks->units[rank->own[m]->component];
        if (!tutti_ticking_is_scheduled(unit) || !may_interrupt(unit))
            continue;
        tutti_log_insist(rank->unit_log, TUTTI_LOG_WARNING, unit->member->unit->name,
                         "its partitions do not interrupt each other, but come one after the other: steps may be "
                         "repeated here, or a program makes them; --coupling jacobi or seidel with --control fixed "
                         "repeat none");
    }
}

enum tutti_err tutti_ticks_start_clock(struct tutti_rank *rank, double begin, bool preempts)
{
    if (!rank->ticks || !rank->job->options.has_realtime)
        return TUTTI_OK;
    struct tutti_ticks_pace *pace = &rank->ticks->pace;
    *pace = (struct tutti_ticks_pace){
        .on = true, .begin = begin, .from = rank->t, .rate = rank->job->options.realtime, .next_point = INFINITY};
    if (!preempts) {
        tell_repeating(rank);
        return TUTTI_OK;
    }
    enum tutti_err err = open_tasks(rank);
    if (err != TUTTI_ERR_UNSUPPORTED && err != TUTTI_ERR_LIMIT)
        return err;
    forget_tasks(rank);
    tutti_log_insist(rank->unit_log, TUTTI_LOG_WARNING, NULL,
                     "partitions do not interrupt each other, but come one after the other: %s; --realtime needs "
                     "CAP_SYS_NICE, or a limit of real-time priorities (ulimit -r) of 41 or more, to let them",
                     tutti_err_message());
    return TUTTI_OK;
}

enum tutti_err tutti_ticks_stop_clock(struct tutti_rank *rank)
{
    struct tutti_ticks_pace *pace = rank->ticks ? &rank->ticks->pace : NULL;
    enum tutti_err err = TUTTI_OK;
    if (!pace || !pace->tasks)
        return TUTTI_OK;
    for (uint32_t task = 0; task < pace->task_count && !err; task++)
        if (pace->running[task].busy)
            err = await_task(rank, task, INFINITY);
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    tutti_tasks_close(pace->tasks);
    forget_tasks(rank);
    return tutti_failure_return(&failure);
}
