/* SPDX-License-Identifier: MIT */
#include "live/gauge.h"

#include <stdlib.h>

#include "base/clock.h"
#include "report/load.h"
#include "report/rank_reporter.h"

static const double PAUSE = 0.2; /* seconds between two times that it tells */

struct tutti_gauge {
    struct tutti_execution *execution;
    struct tutti_steps_made made; /* since it told */
    unsigned long steps;          /* of the run, when it told */
    bool watched;
    double told_at; /* on the clock */
    struct tutti_unit_load *units;
};

enum tutti_err tutti_gauge_new(struct tutti_gauge **out, struct tutti_execution *execution)
{
    struct tutti_gauge *gauge = calloc(1, sizeof *gauge);
    struct tutti_unit_load *units = calloc((size_t)execution->rank.own_count + 1, sizeof *units);
    if (!gauge || !units) {
        free(gauge);
        free(units);
        return tutti_fail_memory();
    }
    gauge->execution = execution;
    gauge->units = units;
    *out = gauge;
    return TUTTI_OK;
}

void tutti_gauge_free(struct tutti_gauge *gauge)
{
    if (!gauge)
        return;
    gauge->execution->master.made = NULL;
    free(gauge->units);
    free(gauge);
}

static void begin(struct tutti_gauge *gauge)
{
    const struct tutti_rank *rank = &gauge->execution->rank;
    tutti_steps_made_begin(&gauge->made, rank->t);
    gauge->steps = rank->stats->steps;
    gauge->told_at = tutti_clock_now();
}

void tutti_gauge_watch(struct tutti_gauge *gauge, bool wanted)
{
    struct tutti_master *master = &gauge->execution->master;
    if (wanted && !gauge->watched)
        begin(gauge);
    gauge->watched = wanted;
    master->made = wanted ? &gauge->made : NULL;
}

/* Steps that were tried out have been noted one by one; of others there is the mean. */
static void settle_steps(struct tutti_gauge *gauge)
{
    const struct tutti_rank *rank = &gauge->execution->rank;
    struct tutti_steps_made *made = &gauge->made;
    made->to = rank->t;
    made->count = rank->stats->steps - gauge->steps;
    made->rejected = rank->stats->rejected + rank->own_rejected;
    made->located = rank->stats->events_located + rank->own_events;
    if (made->greatest == 0 && made->count > 0)
        made->least = made->greatest = (made->to - made->from) / (double)made->count;
}

static size_t weigh_units(struct tutti_gauge *gauge)
{
    const struct tutti_rank *rank = &gauge->execution->rank;
    tutti_lane_count(&gauge->execution->master.lane);
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tutti_unit *unit = rank->own[m]->unit;
        gauge->units[m] = (struct tutti_unit_load){.component = rank->own[m]->component,
                                                   .seconds = tutti_unit_seconds(unit),
                                                   .do_steps = unit->counts.do_steps};
    }
    return rank->own_count;
}

static enum tutti_err tell(struct tutti_gauge *gauge)
{
    const struct tutti_execution *execution = gauge->execution;
    const struct tutti_run_options *options = &execution->rank.job->options;
    settle_steps(gauge);
    const struct tutti_load load = {.elapsed = tutti_clock_now() - execution->loop.watch.loop_start,
                                    .steps = gauge->made,
                                    .units = gauge->units,
                                    .unit_count = weigh_units(gauge)};
    if (execution->rank.reports)
        return tutti_rank_reporter_tell_load(execution->master.reporter, &load);
    if (options->load)
        options->load(options->load_context, 0, &load);
    return TUTTI_OK;
}

enum tutti_err tutti_gauge_tell(struct tutti_gauge *gauge)
{
    if (!gauge->watched || tutti_clock_now() - gauge->told_at < PAUSE)
        return TUTTI_OK;
    TRY(tell(gauge));
    begin(gauge);
    return TUTTI_OK;
}
