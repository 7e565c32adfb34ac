/* SPDX-License-Identifier: MIT */
#include "sim/run.h"

#include <limits.h>
#include <math.h>

#include "base/number.h"
#include "base/wall_clock.h"
#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "sim/events.h"
#include "sim/rank.h"
#include "sim/report/record.h"
#include "sim/report/reporter.h"
#include "sim/step.h"
#include "sim/ticks.h"

/* So many steps may go by without a look at the clock: little for a fast FMU, bearable if it becomes slow. */
enum { MOST_BLIND_STEPS = 4096 };
/* The same for looks that ranks take together; seconds, at least and at most, between two of them. */
enum { MOST_TOGETHER = 1 << 20 };
static const double SHORT_LOOK = 0.02, LONG_LOOK = 0.1;

/* ---- getting ready ---- */

/* Collects the units that announce event times. */
static enum tutti_err find_event_sources(struct tt_run *loop)
{
    struct tt_rank *rank = loop->master->rank;
    loop->announcers = tt_arena_array(&rank->arena, rank->member_count, sizeof(struct tt_member *));
    loop->announced = tt_arena_array(&rank->arena, rank->member_count, sizeof *loop->announced);
    if (!loop->announcers || !loop->announced)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->member_count; m++)
        if (rank->members[m].unit->has_events || rank->members[m].driven ||
            (rank->ticks && rank->ticks->units[m].clock_count > 0))
            loop->announcers[loop->announcer_count++] = &rank->members[m];
    return TUTTI_OK;
}

void tt_run_choose_path(struct tt_run *loop)
{
    const struct tt_sim *master = loop->master;
    const struct tt_rank *rank = master->rank;
    bool records = master->observer->records && !master->observer->asleep;
    loop->fast_path = !rank->watches && !records && !rank->job->visit && !rank->job->is_fed &&
                      !(master->chosen.is & TUTTI_METHOD_BY_ATTEMPTS) && !loop->by_halts;
    bool alone = !rank->reports && !rank->job->options.has_realtime;
    loop->runs_ticks = rank->ticks && rank->ticks->runs && alone && rank->fabric->ranks == 1 && !records &&
                       !rank->job->visit && !rank->job->is_fed && !(master->chosen.is & TUTTI_METHOD_BY_ATTEMPTS) &&
                       !master->correction;
    loop->runs_lane = loop->fast_path && alone && master->lane.runs;
}

struct tt_step_hook *tt_run_add_hook(struct tt_run *loop, const struct tt_step_hook *between)
{
    struct tt_step_hook *added = &loop->betweens[loop->between_count++];
    *added = *between;
    loop->minds_interrupt = loop->minds_interrupt && !between->minds_interrupt;
    return added;
}

void tt_run_plan_hook(struct tt_step_hook *between, unsigned long steps, double since)
{
    if (since < SHORT_LOOK && between->interval < MOST_TOGETHER)
        between->interval *= 2;
    else if (since > LONG_LOOK && between->interval > 1)
        between->interval /= 2;
    between->look_at = steps + between->interval;
}

enum tutti_err tt_run_open(struct tt_run *loop, struct tt_sim *master, bool steered)
{
    const struct tt_rank *rank = master->rank;
    const struct tt_times *times = &rank->times;
    *loop = (struct tt_run){.master = master,
                            .steered = steered,
                            .halt_at = INFINITY,
                            .minds_interrupt = true,
                            .watch = {.countdown = 1, .interval = 1}};
    tt_run_choose_path(loop);
    /* One solver for all units has dense output: without --step it advances from row to row. */
    bool to_rows = (master->chosen.is & TUTTI_METHOD_TOGETHER) && times->output_step > times->step &&
                   !rank->job->options.has_step && !steered && !rank->has_grids;
    tt_time_grid_init(&loop->communication, times->start, to_rows ? times->output_step : times->step, times->stop);
    if (times->output_step > 0)
        tt_time_grid_init(&loop->output, times->start, times->output_step, times->stop);
    TRY(find_event_sources(loop));
    TRY(tt_watch_open_finite(&master->finite, master->rank));
    TRY(tt_fast_watch_finite(&master->lane, &master->finite));
    TRY(tt_watch_open_growth(&loop->growth, master->rank));
    TRY(tt_error_estimate_open(&loop->foretold, master));

    struct tt_rollback_list *remembered = &master->remembered;
    TRY(tt_rollback_list_add(remembered, &loop->communication, sizeof loop->communication));
    TRY(tt_rollback_list_add(remembered, &loop->output, sizeof loop->output));
    TRY(tt_rollback_list_add(remembered, &loop->standstills, sizeof loop->standstills));
    TRY(tt_ticks_register(master->rank, remembered));
    TRY(tt_error_estimate_register(&loop->foretold, remembered));
    return tt_watch_register_growth(&loop->growth, remembered);
}

void tt_run_start_clock(struct tt_run *loop)
{
    loop->watch.loop_start = loop->watch.last_look = loop->watch.last_flush = tt_wall_clock_now();
}

/* ---- where the next step ends ---- */

/* The earlier of a and b; b, to the bit, if both mean the same point. */
static double earlier_time(double a, double b, double span)
{
    return b < a || (b < INFINITY && tt_time_same(a, b, span)) ? b : a;
}

/* The same among what is announced; of the same point the last name, at which it has come for all units. */
static double earlier_event_time(double a, double b, double span)
{
    return b < INFINITY && tt_time_same(a, b, span) ? fmax(a, b) : fmin(a, b);
}

/* Returns the next time that a unit or its inputs announce. A unit with separate steps reaches it alone (component.c). */
static double announced_event_time(struct tt_rank *rank, struct tt_member *member)
{
    struct tt_inputs *inputs = member->inputs;
    double event = rank->ticks ? tt_ticks_next(rank, member) : INFINITY;
    if (inputs)
        tt_inputs_find_next(inputs, member->unit);
    if (member->has_grid)
        return event;
    if (inputs && isfinite(inputs->now.kink))
        event = earlier_event_time(event, inputs->now.kink, rank->span);
    if (inputs)
        event = earlier_event_time(event, fmin(inputs->now.row, inputs->now.event), rank->span);
    return earlier_event_time(event, member->now.next_event, rank->span);
}

/* All of them in their order, since times that mean the same point are not compared to the bit. */
enum tutti_err tt_run_find_event(struct tt_run *loop, double *event)
{
    struct tt_rank *rank = loop->master->rank;
    *event = INFINITY;
    for (uint32_t a = 0; a < loop->announcer_count; a++) {
        struct tt_member *member = loop->announcers[a];
        loop->announced[a] = tt_rank_owns(rank, member->component) ? announced_event_time(rank, member) : INFINITY;
    }
    if (loop->announcer_count > 0)
        TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, loop->announced, loop->announcer_count));
    for (uint32_t a = 0; a < loop->announcer_count; a++)
        *event = earlier_event_time(*event, loop->announced[a], rank->span);
    return TUTTI_OK;
}

/* Hard ends are not approached in a step that leaves a splinter of one after it. */
static double stretch_to_hard_end(const struct tt_run *loop, double end)
{
    const struct tt_sim *master = loop->master;
    const struct tt_rank *rank = loop->master->rank;
    double h = master->memory.stepper.h, left = end - rank->t;
    if (left <= h * (1 + 1e-9))
        return end;
    return left < 2 * h ? rank->t + left / 2 : rank->t + h;
}

/* R2; the exact times of later lines win over those of earlier ones. */
static enum tutti_err find_step_end_once(struct tt_run *loop, double *next, bool *again)
{
    struct tt_sim *master = loop->master;
    struct tt_rank *rank = loop->master->rank;
    double target = loop->communication.next, event;
    *next = target;
    if (loop->fast_path && !loop->steered)
        return TUTTI_OK;
    bool varies = master->chosen.is & TUTTI_METHOD_VARIES;
    const struct tt_step_event *located = &master->memory.located, *pending = &master->memory.pending;
    if (located->kind != TUTTI_EVENT_NONE && located->at > rank->t) {
        *next = located->at;
        return TUTTI_OK;
    }
    if (varies || loop->by_halts)
        target = rank->times.stop;
    if (rank->times.output_step > 0)
        target = earlier_time(target, loop->output.next, rank->span);
    if (rank->job->visit)
        target = earlier_time(target, rank->job->visit_at, rank->span);
    if (loop->steered)
        target = earlier_time(target, loop->halt_at, rank->span);
    TRY(tt_run_find_event(loop, &event));
    struct tt_error_model *learned = &master->memory.learned;
    if (tt_time_same(learned->announced, rank->t, rank->span))
        learned->bent_at = rank->t;
    learned->announced = event;
    target = earlier_time(target, event, rank->span);
    if (pending->kind != TUTTI_EVENT_NONE && pending->at > rank->t)
        target = fmin(target, pending->at);
    if (varies)
        target = stretch_to_hard_end(loop, target);
    for (size_t i = 0; i < loop->between_count; i++)
        if (loop->betweens[i].bound)
            TRY(loop->betweens[i].bound(loop->betweens[i].context, &target, again));
    *next = tt_time_same(target, rank->times.stop, rank->span) ? rank->times.stop : target; /* which is never passed */
    return TUTTI_OK;
}

static enum tutti_err find_step_end(struct tt_run *loop, double *next)
{
    bool again;
    do {
        again = false;
        TRY(find_step_end_once(loop, next, &again));
    } while (again && !loop->master->rank->ended);
    return TUTTI_OK;
}

/* An FMU that comes back again and again without moving would keep the run here for ever. */
static enum tutti_err check_progress_made(struct tt_run *loop, double before)
{
    struct tt_rank *rank = loop->master->rank;
    const struct tt_unit *unit = rank->members[0].unit;
    if (rank->t > before) {
        loop->standstills = 0;
        return TUTTI_OK;
    }
    if (++loop->standstills < TUTTI_MOST_STANDSTILLS)
        return TUTTI_OK;
    tt_fail(TUTTI_ERR_FMU, "%s (%s): time stands still at t = %s: the FMU came back %d times from there", unit->name,
            unit->fmu->path, TIME(rank->t), TUTTI_MOST_STANDSTILLS);
    return tt_fail_about(TUTTI_ERR_FMU, unit->name, NULL, rank->t);
}

/* At the point reached: handles events first, then makes a row if one is due. */
static enum tutti_err run_handle_point(struct tt_run *loop)
{
    struct tt_sim *master = loop->master;
    struct tt_rank *rank = loop->master->rank;
    struct tt_point_events here = {0};
    bool due = true;
    for (uint32_t w = 0; w < rank->watched_count; w++)
        if (tt_rank_member_is_present(rank, rank->watched[w])) {
            tt_component_check_events(rank, rank->watched[w]);
            here.jumped = here.jumped || (rank->watched[w]->inputs && rank->watched[w]->inputs->now.jumped);
        }
    if (rank->times.output_step > 0) {
        double next = loop->output.next;
        due = tt_time_reached(rank->t, next, rank->span);
        tt_time_grid_pass(&loop->output, rank->t);
    }
    due = due || master->memory.event;
    if (!due && !rank->watches &&
        !(master->chosen.is & TUTTI_METHOD_BY_ATTEMPTS)) /* the end of the run brings a row: all have to know of it */
        TRY(tt_rank_agree_point(rank, &here));
    if (rank->ticks)
        rank->ticks->pace.next_point =
            fmin(loop->communication.next, rank->times.output_step > 0 ? loop->output.next : INFINITY);
    TRY(tt_events_check(rank, &here));
    bool crossed = (here.pending || here.ticks) && !rank->ended;
    loop->left_event = crossed && loop->leaves_events;
    if (loop->left_event)
        return TUTTI_OK;
    if (crossed)
        TRY(tt_events_handle_found(master));
    if (crossed || here.jumped)
        TRY(tt_events_restart_signals(master));
    if (!crossed && (due || rank->ended))
        TRY(tt_record_write_row(master->observer, rank->t));
    return TUTTI_OK;
}

enum tutti_err tt_run_handle_events(struct tt_run *loop)
{
    loop->left_event = false;
    TRY(tt_events_handle_found(loop->master));
    TRY(tt_events_restart_signals(loop->master));
    return tt_watch_check_finite(&loop->master->finite, loop->master->rank);
}

/* Now and then: progress for people, rows to the disk. The number of steps between two looks at the clock follows the
 * speed, so that fast FMUs are not slowed down and slow ones are not out of sight. */
static enum tutti_err check_wall_clock(struct tt_run *loop, double h)
{
    double time = tt_wall_clock_now(), since = time - loop->watch.last_look;
    if (since < 0.02 && loop->watch.interval < MOST_BLIND_STEPS)
        loop->watch.interval *= 2;
    else if (since > 0.1 && loop->watch.interval > 1)
        loop->watch.interval /= 2;
    loop->watch.countdown = loop->watch.interval;
    loop->watch.last_look = time;
    if (time - loop->watch.last_flush > 1) {
        loop->watch.last_flush = time;
        TRY(tt_record_flush(loop->master->observer));
    }
    if (time - loop->watch.last_progress < 0.1)
        return TUTTI_OK;
    loop->watch.last_progress = time;
    return tt_run_report_progress(loop, h, false);
}

enum tutti_err tt_run_report_progress(const struct tt_run *loop, double h, bool paused)
{
    const struct tt_rank *rank = loop->master->rank;
    struct tutti_progress progress = {rank->times.start,
                                      rank->times.stop,
                                      rank->t,
                                      h,
                                      rank->stats->steps,
                                      tt_wall_clock_now() - loop->watch.loop_start,
                                      paused,
                                      false};
    if (rank->reports)
        return tt_reporter_send_progress(loop->master->reporter, &progress);
    if (rank->job->options.progress)
        rank->job->options.progress(rank->job->options.progress_context, &progress);
    return TUTTI_OK;
}

/* Publishes the time that a step has reached, for other ranks and observers. A single unit may return early: the run is
 * at its time, on all ranks; shadows stay at the start. */
static enum tutti_err publish_time(struct tt_rank *rank)
{
    rank->fabric->step = rank->stats->steps;
    if (rank->single_unit)
        TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &rank->t, 1));
    rank->target = rank->t;
    tt_rank_publish_time(rank, rank->t);
    return TUTTI_OK;
}

static bool callback_due(const struct tt_run *loop)
{
    const struct tt_rank *rank = loop->master->rank;
    return rank->job->visit && !rank->ended && tt_time_reached(rank->t, rank->job->visit_at, rank->span);
}

static bool is_running(const struct tt_run *loop)
{
    const struct tt_rank *rank = loop->master->rank;
    return rank->t < rank->times.stop && !rank->ended && !(rank->reports && tt_fabric_is_stopped(rank->fabric));
}

static enum tutti_err run_call_visitor(const struct tt_run *loop)
{
    struct tt_rank *rank = loop->master->rank;
    return rank->job->visit->visit(rank->job->visit->context, rank);
}

/* A step that is good as it comes. */
static enum tutti_err run_step_plain(struct tt_sim *master, double target)
{
    struct tt_step_result result = tt_step_result_begin(master->rank->t, target);
    master->memory.steps++;
    TRY(master->lane.stopped
            ? tt_fast_finish(&master->lane, &result)
            : master->chosen.coupling->step(master, master->coupling, target, &master->rules, &result));
    if (__builtin_expect(result.end == TUTTI_END_OF_RUN, 0))
        master->rank->ended = &master->rank->members[result.component];
    return TUTTI_OK;
}

static unsigned long steps_until_hook(const struct tt_run *loop, unsigned long most)
{
    const struct tt_rank *rank = loop->master->rank;
    for (size_t i = 0; i < loop->between_count; i++) {
        const struct tt_step_hook *between = &loop->betweens[i];
        unsigned long left = between->look_at > rank->stats->steps ? between->look_at - rank->stats->steps : 0;
        double steps = (between->due - rank->t) / rank->times.step;
        if (steps < (double)left)
            left = steps > 1 ? (unsigned long)steps : 1;
        if (left < most)
            most = left;
    }
    return most;
}

/* Signals are examined in intervals, with pauses: returns the largest number of steps, the last of which ends a pause. */
static unsigned long steps_until_watch(const struct tt_run *loop, unsigned long most)
{
    const struct tt_growth_state *growth = &loop->growth.now;
    const struct tt_error_estimate_state *foretold = &loop->foretold.now;
    most = growth->count > 0 && most > growth->pause ? growth->pause : most;
    return foretold->count > 0 && most > foretold->pause ? foretold->pause : most;
}

static bool watches_signals(const struct tt_run *loop)
{
    return loop->growth.now.count > 0 || loop->foretold.now.count > 0;
}

static void advance_watch_pauses(struct tt_run *loop, unsigned long made)
{
    loop->growth.now.pause -= loop->growth.now.count > 0 ? (uint32_t)made : 0;
    loop->foretold.now.pause -= loop->foretold.now.count > 0 ? (uint32_t)made : 0;
}

static inline void watch_signals(struct tt_run *loop)
{
    const struct tt_rank *rank = loop->master->rank;
    if (tt_watch_growth_is_due(&loop->growth))
        tt_watch_check_growth(&loop->growth, rank);
    if (tt_error_estimate_is_due(&loop->foretold))
        tt_error_estimate_update(&loop->foretold, rank);
}

/* Makes at most `most` steps without any work in between, not even checks of the clock or of growing signals. Returns
 * true if there were any, and all were complete. */
static bool run_fast_steps(struct tt_run *loop, unsigned long at_most)
{
    struct tt_sim *master = loop->master;
    unsigned long most = steps_until_hook(loop, steps_until_watch(loop, loop->watch.countdown - 1));
    if (most <= 1 || loop->standstills)
        return false;
    most -= watches_signals(loop); /* the last one of a pause ends it */
    unsigned long made = tt_fast_run(&master->lane, &loop->communication, most < at_most ? most : at_most,
                                     master->rank->job->options.interrupt);
    master->rank->stats->steps += made;
    loop->watch.countdown -= made;
    advance_watch_pauses(loop, made);
    return made > 0 && !master->lane.stopped;
}

/* For steps that are asked for one by one, where none is under way. */
static bool may_run_fast(const struct tt_run *loop)
{
    return loop->runs_lane && !loop->master->lane.stopped && !(loop->master->rank->kept_from < INFINITY) &&
           is_running(loop);
}

/* Returns the time up to which partitions may tick in sequence, without other work; *most: their number. */
static double steps_until_tick_bound(const struct tt_run *loop, unsigned long *most)
{
    const struct tt_rank *rank = loop->master->rank;
    double until = loop->communication.next;
    if (rank->times.output_step > 0)
        until = fmin(until, loop->output.next);
    *most = steps_until_watch(loop, loop->watch.countdown - 1);
    for (size_t i = 0; i < loop->between_count; i++) {
        const struct tt_step_hook *between = &loop->betweens[i];
        unsigned long left = between->look_at > rank->stats->steps ? between->look_at - rank->stats->steps : 0;
        *most = between->bound ? 0 : left < *most ? left : *most;
        until = fmin(until, between->due);
    }
    return until;
}

/* Makes ticks of partitions, each of which is a step and an event; *any: there were some. */
static enum tutti_err run_ticks(struct tt_run *loop, bool *any)
{
    struct tt_sim *master = loop->master;
    struct tt_rank *rank = master->rank;
    unsigned long most, made = 0;
    double until = steps_until_tick_bound(loop, &most);
    *any = false;
    if (most <= 1 || loop->standstills || rank->kept_from < INFINITY)
        return TUTTI_OK;
    most -= watches_signals(loop); /* the last one of a pause ends it */
    enum tutti_err err = tt_ticks_run(rank, until, most, rank->job->options.interrupt, &made);
    *any = made > 0;
    rank->stats->steps += made;
    rank->stats->events_located += made;
    master->memory.steps += made;
    loop->watch.countdown -= made;
    advance_watch_pauses(loop, made);
    return err;
}

static inline enum tutti_err run_call_hooks(struct tt_run *loop)
{
    const struct tt_rank *rank = loop->master->rank;
    for (size_t i = 0; i < loop->between_count; i++) {
        const struct tt_step_hook *between = &loop->betweens[i];
        if (__builtin_expect(rank->stats->steps >= between->look_at || rank->t >= between->due, 0) && is_running(loop))
            TRY(between->look(between->context));
    }
    return TUTTI_OK;
}

bool tt_run_step_fast(struct tt_run *loop)
{
    struct tt_sim *master = loop->master;
    struct tt_rank *rank = master->rank;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    if (!may_run_fast(loop) || loop->watch.countdown <= 1 || loop->between_count > 0 || loop->standstills ||
        (interrupt && *interrupt) || !tt_fast_step_once(&master->lane, &loop->communication))
        return false;
    rank->stats->steps++;
    loop->watch.countdown--;
    watch_signals(loop);
    return true;
}

enum tutti_err tt_run_fast_until(struct tt_run *loop, double t, bool *ran)
{
    const struct tt_time_grid *grid = &loop->communication;
    *ran = false;
    if (!may_run_fast(loop))
        return TUTTI_OK;
    unsigned long most = 1;
    if (grid->next != t || grid->next_index > grid->last) {
        double n = round((t - grid->start) / grid->step);
        if (!(n >= (double)grid->next_index && n <= (double)grid->last) || tt_time_grid_point(grid, (int64_t)n) != t)
            return TUTTI_OK;
        most += (unsigned long)((int64_t)n - grid->next_index);
    }
    *ran = run_fast_steps(loop, most);
    return *ran ? run_call_hooks(loop) : TUTTI_OK;
}

enum tutti_err tt_run_until_end(struct tt_run *loop)
{
    struct tt_sim *master = loop->master;
    struct tt_rank *rank = loop->master->rank;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    const bool paced = rank->job->options.has_realtime, shared = rank->reports,
               ticks = rank->ticks && rank->ticks->pace.on;
    TRY(tt_watch_check_finite(&master->finite, rank)); /* steps of tt_run_step_fast and run_to are not checked there */
    if (callback_due(loop))
        return run_call_visitor(loop);
    while (is_running(loop)) {
        if (__builtin_expect(interrupt && *interrupt && loop->minds_interrupt, 0))
            return tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept",
                           TIME(rank->t));
        if (loop->runs_lane && !loop->steered && run_fast_steps(loop, ULONG_MAX)) {
            TRY(tt_watch_check_finite(&master->finite, rank));
            TRY(run_call_hooks(loop));
            continue;
        }
        bool ticked = false;
        if (loop->runs_ticks && !loop->steered)
            TRY(run_ticks(loop, &ticked));
        if (ticked) {
            TRY(tt_watch_check_finite(&master->finite, rank));
            TRY(run_call_hooks(loop));
            continue;
        }
        double before = rank->t, target;
        TRY(find_step_end(loop, &target));
        rank->target = target;
        TRY((master->chosen.is & TUTTI_METHOD_BY_ATTEMPTS) ? tt_step_macro(master, &target)
                                                           : run_step_plain(master, target));
        if (__builtin_expect(rank->ended && (master->chosen.is & TUTTI_METHOD_BY_ATTEMPTS) && target <= before, 0))
            break; /* at the start of the step, with its rows written */
        rank->stats->steps++;
        rank->t = rank->target = rank->single_unit ? rank->members[0].now.t : target;
        if (__builtin_expect(shared, 0))
            TRY(publish_time(rank));
        tt_time_grid_pass(&loop->communication, rank->t);
        if (__builtin_expect(paced && ticks, 0)) /* partitions begin when they are due */
            tt_run_wait_for_clock(rank, loop->watch.loop_start);
        TRY(tt_watch_check_finite(&master->finite, rank));
        if (!loop->fast_path || loop->steered)
            TRY(run_handle_point(loop));
        watch_signals(loop);
        if (__builtin_expect(callback_due(loop), 0))
            return run_call_visitor(loop);
        if (__builtin_expect(rank->t <= before, 0) || loop->standstills)
            TRY(check_progress_made(loop, before));
        if (__builtin_expect(paced && !ticks, 0))
            tt_run_wait_for_clock(rank, loop->watch.loop_start);
        if (__builtin_expect(--loop->watch.countdown == 0, 0))
            TRY(check_wall_clock(loop, rank->t - before));
        TRY(run_call_hooks(loop));
        if (__builtin_expect(loop->steered, 0))
            break;
    }
    return TUTTI_OK;
}

/* So late may a point be before it counts: a clock that wakes us, and other work of the machine, cost some of it. */
#define TOLERANCE 1e-3
/* No longer at once: a signal between the look at `interrupt` and the sleep would be slept over. */
#define LONGEST_SLEEP 0.1

void tt_run_wait_for_clock(const struct tt_rank *rank, double loop_start)
{
    double from = rank->job->resume ? rank->job->resume->t : rank->times.start;
    double due = loop_start + (rank->t - from) / rank->job->options.realtime;
    double now = tt_wall_clock_now(), late = now - due;
    if (late > TOLERANCE) {
        rank->stats->overruns++;
        rank->stats->most_late = fmax(rank->stats->most_late, late);
    }
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    while (now < due && !(interrupt && *interrupt)) {
        double until = fmin(due, now + LONGEST_SLEEP), seconds = floor(until);
        struct timespec wake = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (until - seconds))};
        /* A signal wakes us early; the loop then looks whether it means the end. */
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
        now = tt_wall_clock_now();
    }
}

void tt_run_report_lag(const struct tt_rank *rank)
{
    if (rank->stats->overruns > 0)
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "%lu of %lu points came later than --realtime %s asks for, the worst by %.3g s", rank->stats->overruns,
               rank->stats->steps, NUMBER(rank->job->options.realtime), rank->stats->most_late);
}
