/* SPDX-License-Identifier: MIT */
#include "run/live/live_control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "base/wall_clock.h"
#include "model/system/setting.h"
#include "sim/events.h"
#include "sim/rank.h"
#include "sim/ranks/command_ring.h"
#include "sim/report/reporter.h"

enum { MOST = 8 }; /* orders that are taken at once */
/* Seconds: between two looks of a run that pauses, between two signs of life of it. */
static const double NAP = 0.01, SIGN = 0.1;

struct live_control {
    struct tt_execution *execution;
    struct tt_rank *rank;
    struct tt_step_hook *between;
    struct tt_live_load *gauge;
    double looked_at, told_at; /* on the clock */
    bool pauses, ends;
    bool sets;    /* values are to be taken before the next step */
    double steps; /* that are made before it pauses again */
};

/* The values on which ranks agree; the greatest of each applies, since only the first rank has any of orders. */
struct live_control_view {
    double since; /* the last look; the rank that is latest */
    double interrupted;
    double count;
    double orders[MOST][4]; /* kind, component, variable, value */
};

/* Collective. */
static enum tutti_err live_control_synchronise(struct live_control *pilot, struct live_control_view *view)
{
    struct tt_rank *rank = pilot->rank;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    double now = tt_wall_clock_now(), *numbers = (double *)view;
    const size_t size = sizeof *view / sizeof *numbers;
    for (size_t i = 0; i < size; i++)
        numbers[i] = -INFINITY;
    view->since = now - pilot->looked_at;
    view->interrupted = interrupt && *interrupt;
    if (rank->fabric->rank == 0) {
        struct tt_run_command orders[MOST];
        size_t count = tt_command_ring_pop(rank->job->options.orders, orders, MOST);
        view->count = (double)count;
        for (size_t i = 0; i < count; i++) {
            const double order[] = {orders[i].kind, orders[i].component, orders[i].variable, orders[i].value};
            memcpy(view->orders[i], order, sizeof order);
        }
    }
    pilot->looked_at = now;
    return tt_rank_reduce(rank, TUTTI_REDUCE_MAX, numbers, size);
}

/* ---- what is asked for ---- */

/* The variable that an order is about; made once. */
static enum tutti_err find_live_set(struct live_control *pilot, uint32_t component, uint32_t variable,
                                    struct tt_pending_set **out)
{
    struct tt_pending_sets *sets = pilot->rank->pending_sets;
    for (*out = sets->first; *out; *out = (*out)->next)
        if ((*out)->component == component && (*out)->variable == variable)
            return TUTTI_OK;
    return tt_pending_set_new(out, sets, pilot->rank, component, variable);
}

/* It was checked where it was given (run/live/live.c), and has come through memory that FMUs can write since. */
static enum tutti_err live_control_set_variable(struct live_control *pilot, uint32_t component, uint32_t variable,
                                                double value)
{
    struct tt_rank *rank = pilot->rank;
    struct tt_pending_set *found;
    if (component >= rank->member_count || !tt_rank_owns(rank, component) ||
        variable >= rank->members[component].unit->fmu->desc->var_count)
        return TUTTI_OK;
    TRY(find_live_set(pilot, component, variable, &found));
    tt_setting_store_number(&rank->members[component].unit->fmu->desc->vars[variable], value, found->signals.slots[0]);
    tt_pending_set_submit(found, rank);
    return TUTTI_OK;
}

/* Recorded rows continue in any case. */
static void live_control_set_watched(const struct live_control *pilot, bool wanted)
{
    tt_live_control_load_watch(pilot->gauge, wanted);
    if (strcmp(pilot->rank->job->options.live, TUTTI_LIVE_WANTED_ROWS) == 0)
        tt_execution_enable_rows(pilot->execution, wanted);
}

static enum tutti_err live_control_apply_order(struct live_control *pilot, const double order[4])
{
    switch ((enum tt_run_command_kind)order[0]) {
    case TUTTI_ORDER_WATCH: live_control_set_watched(pilot, order[3] > 0); break;
    case TUTTI_ORDER_PAUSE: pilot->pauses = true; break;
    case TUTTI_ORDER_GO:
        pilot->pauses = false;
        pilot->steps = 0;
        break;
    case TUTTI_ORDER_STEP:
        pilot->pauses = true;
        pilot->steps += order[3];
        break;
    case TUTTI_ORDER_STOP: pilot->ends = true; break;
    case TUTTI_ORDER_SET: return live_control_set_variable(pilot, (uint32_t)order[1], (uint32_t)order[2], order[3]);
    case TUTTI_ORDER_MAKE: /* of a sweep, and this is none */
    case TUTTI_ORDER_KINDS: break;
    }
    return TUTTI_OK;
}

static enum tutti_err apply_live_orders(struct live_control *pilot, const struct live_control_view *view)
{
    for (size_t i = 0; (double)i < view->count; i++) {
        TRY(live_control_apply_order(pilot, view->orders[i]));
        pilot->sets = pilot->sets || view->orders[i][0] == TUTTI_ORDER_SET;
    }
    return TUTTI_OK;
}

/* ---- pausing ---- */

/* Viewers get heartbeats, and the information that the run is paused. */
static enum tutti_err live_control_report(struct live_control *pilot, bool paused)
{
    struct tt_rank *rank = pilot->rank;
    atomic_fetch_add(&rank->fabric->where->beat, 1);
    pilot->told_at = tt_wall_clock_now();
    return tt_run_report_progress(&pilot->execution->loop, 0, paused);
}

/* Collective: waits until the run is resumed. The pause does not count for --realtime. */
static enum tutti_err pause_live_run(struct live_control *pilot)
{
    struct live_control_view view = {0};
    double begin = tt_wall_clock_now();
    TRY(live_control_report(pilot, true));
    while (pilot->pauses && pilot->steps == 0 && !pilot->ends && view.interrupted <= 0) {
        (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * NAP)}, NULL);
        if (tt_wall_clock_now() - pilot->told_at > SIGN)
            TRY(live_control_report(pilot, true));
        TRY(live_control_synchronise(pilot, &view));
        TRY(apply_live_orders(pilot, &view));
        TRY(tt_live_control_load_report(pilot->gauge));
    }
    pilot->execution->loop.watch.loop_start += tt_wall_clock_now() - begin;
    return pilot->pauses ? TUTTI_OK : live_control_report(pilot, false);
}

/* ---- between steps ---- */

static enum tutti_err live_control_poll(void *context)
{
    struct live_control *pilot = context;
    const struct tt_rank *rank = pilot->rank;
    struct live_control_view view;
    if (pilot->steps > 0)
        pilot->steps--;
    TRY(live_control_synchronise(pilot, &view));
    TRY(apply_live_orders(pilot, &view));
    TRY(tt_live_control_load_report(pilot->gauge));
    if (pilot->pauses && pilot->steps == 0 && !pilot->ends)
        TRY(pause_live_run(pilot));
    if (pilot->ends)
        return tt_fail(TUTTI_ERR_INTERRUPTED,
                       "stopped at t = %s by one who watches the run; everything up to there is kept", TIME(rank->t));

    /* Once between two steps, when nothing is read any more: neither by further orders nor by a pause (R3). */
    if (pilot->sets) {
        pilot->sets = false;
        TRY(tt_events_apply_pending(&pilot->execution->master));
    }

    tt_run_plan_hook(pilot->between, rank->stats->steps, view.since);
    if (pilot->pauses)
        pilot->between->look_at = rank->stats->steps + 1;
    return TUTTI_OK;
}

static enum tutti_err open_live_control(const void *context, struct tt_execution *execution, void **self)
{
    struct live_control *pilot = *self = calloc(1, sizeof *pilot);
    (void)context;
    if (!pilot)
        return tt_fail_memory();
    *pilot = (struct live_control){.execution = execution, .rank = &execution->rank, .looked_at = tt_wall_clock_now()};
    pilot->between = tt_run_add_hook(
        &execution->loop,
        &(struct tt_step_hook){.interval = 1, .due = INFINITY, .look = live_control_poll, .context = pilot});
    return tt_live_control_load_new(&pilot->gauge, execution);
}

static void close_live_control(void *self)
{
    struct live_control *pilot = self;
    if (pilot)
        tt_live_control_load_free(pilot->gauge);
    free(pilot);
}

void tt_live_control_attach(struct tt_job *job)
{
    static const struct tt_run_extension pilot = {.open = open_live_control, .close = close_live_control};
    tt_options_resolve_live(&job->options); /* where no server has done so */
    if (job->options.live)
        job->companions[job->companions[0] ? 1 : 0] = &pilot;
}

static const double PAUSE = 0.2; /* seconds between two reports */

struct tt_live_load {
    struct tt_execution *execution;
    struct tt_step_counts made; /* since the last report */
    unsigned long steps;        /* of the run, at the last report */
    bool watched;
    double told_at; /* on the clock */
    struct tt_unit_load *units;
};

enum tutti_err tt_live_control_load_new(struct tt_live_load **out, struct tt_execution *execution)
{
    struct tt_live_load *gauge = calloc(1, sizeof *gauge);
    struct tt_unit_load *units = calloc((size_t)execution->rank.own_count + 1, sizeof *units);
    if (!gauge || !units) {
        free(gauge);
        free(units);
        return tt_fail_memory();
    }
    gauge->execution = execution;
    gauge->units = units;
    *out = gauge;
    return TUTTI_OK;
}

void tt_live_control_load_free(struct tt_live_load *gauge)
{
    if (!gauge)
        return;
    gauge->execution->master.made = NULL;
    free(gauge->units);
    free(gauge);
}

static void live_load_start(struct tt_live_load *gauge)
{
    const struct tt_rank *rank = &gauge->execution->rank;
    tt_reporter_begin_steps(&gauge->made, rank->t);
    gauge->steps = rank->stats->steps;
    gauge->told_at = tt_wall_clock_now();
}

void tt_live_control_load_watch(struct tt_live_load *gauge, bool wanted)
{
    struct tt_sim *master = &gauge->execution->master;
    if (wanted && !gauge->watched)
        live_load_start(gauge);
    gauge->watched = wanted;
    master->made = wanted ? &gauge->made : NULL;
}

static size_t measure_units(struct tt_live_load *gauge)
{
    const struct tt_rank *rank = &gauge->execution->rank;
    tt_fast_flush_counts(&gauge->execution->master.lane);
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tt_unit *unit = rank->own[m]->unit;
        gauge->units[m] = (struct tt_unit_load){
            .component = rank->own[m]->component, .seconds = tt_unit_seconds(unit), .do_steps = unit->counts.do_steps};
    }
    return rank->own_count;
}

static enum tutti_err live_load_send(struct tt_live_load *gauge)
{
    const struct tt_execution *execution = gauge->execution;
    const struct tutti_run_options *options = &execution->rank.job->options;

    /* Steps with attempts were counted one by one; all others contribute their mean. */
    const struct tt_rank *rank = &gauge->execution->rank;
    struct tt_step_counts *made = &gauge->made;
    made->to = rank->t;
    made->count = rank->stats->steps - gauge->steps;
    made->rejected = rank->stats->rejected + rank->own_rejected;
    made->located = rank->stats->events_located + rank->own_events;
    if (made->greatest == 0 && made->count > 0)
        made->least = made->greatest = (made->to - made->from) / (double)made->count;

    const struct tt_rank_load load = {.elapsed = tt_wall_clock_now() - execution->loop.watch.loop_start,
                                      .steps = gauge->made,
                                      .units = gauge->units,
                                      .unit_count = measure_units(gauge)};
    if (execution->rank.reports)
        return tt_reporter_send_load(execution->master.reporter, &load);
    if (options->load)
        options->load(options->load_context, 0, &load);
    return TUTTI_OK;
}

enum tutti_err tt_live_control_load_report(struct tt_live_load *gauge)
{
    if (!gauge->watched || tt_wall_clock_now() - gauge->told_at < PAUSE)
        return TUTTI_OK;
    TRY(live_load_send(gauge));
    live_load_start(gauge);
    return TUTTI_OK;
}
