/* SPDX-License-Identifier: MIT */
#include "live/pilot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/number.h"
#include "fabric/orders.h"
#include "live/gauge.h"
#include "master/events.h"
#include "rank/agree.h"
#include "report/rank_reporter.h"
#include "system/value.h"

enum { MOST = 8 }; /* orders that are taken at once */
/* Seconds: between two looks of a run that pauses, between two signs of life of it. */
static const double NAP = 0.01, SIGN = 0.1;

struct pilot {
    struct tutti_execution *execution;
    struct tutti_rank *rank;
    struct tutti_between *between;
    struct tutti_gauge *gauge;
    double looked_at, told_at; /* on the clock */
    bool pauses, ends;
    bool sets;    /* values are to be taken before the next step */
    double steps; /* that are made before it pauses again */
};

/* What ranks look at together. Numbers, of which the greatest counts: only the first rank has any of orders. */
struct view {
    double since; /* the last look; the rank that is latest */
    double interrupted;
    double count;
    double orders[MOST][4]; /* kind, component, variable, value */
};

static void take_orders(struct pilot *pilot, struct view *view)
{
    struct tutti_run_order orders[MOST];
    size_t count = tutti_orders_take(pilot->rank->job->options.orders, orders, MOST);
    view->count = (double)count;
    for (size_t i = 0; i < count; i++) {
        const double numbers[] = {orders[i].kind, orders[i].component, orders[i].variable, orders[i].value};
        memcpy(view->orders[i], numbers, sizeof numbers);
    }
}

/* Collective. */
static enum tutti_err look_together(struct pilot *pilot, struct view *view)
{
    struct tutti_rank *rank = pilot->rank;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    double now = tutti_clock_now(), *numbers = (double *)view;
    const size_t size = sizeof *view / sizeof *numbers;
    for (size_t i = 0; i < size; i++)
        numbers[i] = -INFINITY;
    view->since = now - pilot->looked_at;
    view->interrupted = interrupt && *interrupt;
    if (rank->fabric->rank == 0)
        take_orders(pilot, view);
    pilot->looked_at = now;
    return tutti_reduce(rank, TUTTI_REDUCE_MAX, numbers, size);
}

/* ---- what is asked for ---- */

/* The variable that an order is about; made once. */
static enum tutti_err find_set(struct pilot *pilot, uint32_t component, uint32_t variable,
                               struct tutti_pending_set **out)
{
    struct tutti_pending_sets *sets = pilot->rank->pending_sets;
    for (*out = sets->first; *out; *out = (*out)->next)
        if ((*out)->component == component && (*out)->variable == variable)
            return TUTTI_OK;
    return tutti_pending_set_new(out, sets, pilot->rank, component, variable);
}

/* It was checked where it was given (conduct/live.c), and has come through memory that FMUs can write since. */
static enum tutti_err set(struct pilot *pilot, uint32_t component, uint32_t variable, double value)
{
    struct tutti_rank *rank = pilot->rank;
    struct tutti_pending_set *found;
    if (component >= rank->member_count || !tutti_rank_owns(rank, component) ||
        variable >= rank->members[component].unit->fmu->desc->var_count)
        return TUTTI_OK;
    TRY(find_set(pilot, component, variable, &found));
    tutti_value_store(&rank->members[component].unit->fmu->desc->vars[variable], value, found->signals.slots[0]);
    tutti_pending_set_mark(found, rank);
    return TUTTI_OK;
}

/* Rows that are recorded anyway go on. */
static void watch(const struct pilot *pilot, bool wanted)
{
    tutti_gauge_watch(pilot->gauge, wanted);
    if (strcmp(pilot->rank->job->options.live, TUTTI_LIVE_WANTED_ROWS) == 0)
        tutti_execution_watch(pilot->execution, wanted);
}

static enum tutti_err obey(struct pilot *pilot, const double order[4])
{
    switch ((enum tutti_run_order_kind)order[0]) {
    case TUTTI_ORDER_WATCH: watch(pilot, order[3] > 0); break;
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
    case TUTTI_ORDER_SET: return set(pilot, (uint32_t)order[1], (uint32_t)order[2], order[3]);
    case TUTTI_ORDER_MAKE: /* of a sweep, and this is none */
    case TUTTI_ORDER_KINDS: break;
    }
    return TUTTI_OK;
}

static enum tutti_err obey_all(struct pilot *pilot, const struct view *view)
{
    for (size_t i = 0; (double)i < view->count; i++) {
        TRY(obey(pilot, view->orders[i]));
        pilot->sets = pilot->sets || view->orders[i][0] == TUTTI_ORDER_SET;
    }
    return TUTTI_OK;
}

/* Collective. Once between two steps, when nothing is read any more: neither by further orders nor by a pause (R3). */
static enum tutti_err take_values(struct pilot *pilot)
{
    if (!pilot->sets)
        return TUTTI_OK;
    pilot->sets = false;
    return tutti_events_take_pending(&pilot->execution->master);
}

/* ---- pausing ---- */

/* Those who watch for signs of life see them, and those who watch the run that it pauses. */
static enum tutti_err tell(struct pilot *pilot, bool paused)
{
    struct tutti_rank *rank = pilot->rank;
    atomic_fetch_add(&rank->fabric->where->beat, 1);
    pilot->told_at = tutti_clock_now();
    return tutti_loop_tell_progress(&pilot->execution->loop, 0, paused);
}

static void nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * NAP)}, NULL);
}

/* Collective: until it is to go on. Time that goes by does not count for --realtime. */
static enum tutti_err pause_run(struct pilot *pilot)
{
    struct view view = {0};
    double begin = tutti_clock_now();
    TRY(tell(pilot, true));
    while (pilot->pauses && pilot->steps == 0 && !pilot->ends && view.interrupted <= 0) {
        nap();
        if (tutti_clock_now() - pilot->told_at > SIGN)
            TRY(tell(pilot, true));
        TRY(look_together(pilot, &view));
        TRY(obey_all(pilot, &view));
        TRY(tutti_gauge_tell(pilot->gauge));
    }
    pilot->execution->loop.watch.loop_start += tutti_clock_now() - begin;
    return pilot->pauses ? TUTTI_OK : tell(pilot, false);
}

/* ---- between steps ---- */

static enum tutti_err look(void *context)
{
    struct pilot *pilot = context;
    const struct tutti_rank *rank = pilot->rank;
    struct view view;
    if (pilot->steps > 0)
        pilot->steps--;
    TRY(look_together(pilot, &view));
    TRY(obey_all(pilot, &view));
    TRY(tutti_gauge_tell(pilot->gauge));
    if (pilot->pauses && pilot->steps == 0 && !pilot->ends)
        TRY(pause_run(pilot));
    if (pilot->ends)
        return tutti_fail(TUTTI_ERR_INTERRUPTED,
                          "stopped at t = %s by one who watches the run; everything up to there is kept",
                          TIME(rank->t));
    TRY(take_values(pilot));
    tutti_between_plan(pilot->between, rank->stats->steps, view.since);
    if (pilot->pauses)
        pilot->between->look_at = rank->stats->steps + 1;
    return TUTTI_OK;
}

static enum tutti_err open_pilot(const void *context, struct tutti_execution *execution, void **self)
{
    struct pilot *pilot = *self = calloc(1, sizeof *pilot);
    (void)context;
    if (!pilot)
        return tutti_fail_memory();
    *pilot = (struct pilot){.execution = execution, .rank = &execution->rank, .looked_at = tutti_clock_now()};
    pilot->between = tutti_loop_add_between(
        &execution->loop, &(struct tutti_between){.interval = 1, .due = INFINITY, .look = look, .context = pilot});
    return tutti_gauge_new(&pilot->gauge, execution);
}

static void close_pilot(void *self)
{
    struct pilot *pilot = self;
    if (pilot)
        tutti_gauge_free(pilot->gauge);
    free(pilot);
}

void tutti_pilot_go_along(struct tutti_job *job)
{
    static const struct tutti_companion pilot = {.open = open_pilot, .close = close_pilot};
    tutti_options_settle_live(&job->options); /* where no server has done so */
    if (job->options.live)
        job->companions[job->companions[0] ? 1 : 0] = &pilot;
}
