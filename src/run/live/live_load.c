/* SPDX-License-Identifier: MIT */
#include "run/live/live_load.h"

#include <stdlib.h>

#include "base/wall_clock.h"
#include "sim/report/rank_load.h"
#include "sim/report/reporter.h"

static const double PAUSE = 0.2; /* seconds between two times that it tells */

struct tt_live_load {
    struct tt_execution *execution;
    struct tt_step_counts made; /* since it told */
    unsigned long steps;        /* of the run, when it told */
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

/* Steps that were tried out have been noted one by one; of others there is the mean. */
static void add_mean_steps(struct tt_live_load *gauge)
{
    const struct tt_rank *rank = &gauge->execution->rank;
    struct tt_step_counts *made = &gauge->made;
    made->to = rank->t;
    made->count = rank->stats->steps - gauge->steps;
    made->rejected = rank->stats->rejected + rank->own_rejected;
    made->located = rank->stats->events_located + rank->own_events;
    if (made->greatest == 0 && made->count > 0)
        made->least = made->greatest = (made->to - made->from) / (double)made->count;
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
    add_mean_steps(gauge);
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
