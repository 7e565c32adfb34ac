/* SPDX-License-Identifier: MIT */
#include "api/point.h"

#include <math.h>
#include <stdlib.h>

#include "master/coupling/correct.h"
#include "rank/pending_set.h"

struct tutti_point {
    struct tutti_point *next;
    struct tutti_snapshot snapshot;
    struct tutti_grid communication, output;
    struct tutti_memory memory;
    struct tutti_history history, rates[TUTTI_MOST_ORDER]; /* empty where the master keeps none */
    double *scale;                                         /* NULL: none */
    bool per_time;
    unsigned since;
    struct tutti_correction_kept *correction;
    struct tutti_pending_sets_kept *pending_sets;
};

static enum tutti_err keep_history(struct tutti_history *to, const struct tutti_history *from)
{
    if (!from->values[0])
        return TUTTI_OK;
    if (!to->values[0])
        TRY(tutti_history_init(to, from->count));
    tutti_history_copy(to, from);
    return TUTTI_OK;
}

static enum tutti_err take(struct tutti_point *point, struct tutti_execution *execution)
{
    struct tutti_rank *rank = &execution->rank;
    const struct tutti_master *master = &execution->master;
    TRY(tutti_snapshot_take(&point->snapshot, rank));
    TRY(keep_history(&point->history, &master->extrapolation.history));
    for (int o = 0; o < TUTTI_MOST_ORDER; o++)
        TRY(keep_history(&point->rates[o], &master->extrapolation.rates[o]));
    TRY(tutti_scale_keep(&master->norm.scale, &point->scale));
    TRY(tutti_correction_keep(master->correction, &point->correction));
    TRY(tutti_pending_sets_keep(rank, &point->pending_sets));
    point->communication = execution->loop.communication;
    point->output = execution->loop.output;
    point->memory = master->memory;
    point->per_time = master->norm.per_time;
    point->since = master->extrapolation.since;
    return TUTTI_OK;
}

/* Units are told how far back they may be taken. */
static void tell_earliest(const struct tutti_points *points, struct tutti_rank *rank)
{
    rank->kept_from = INFINITY;
    for (const struct tutti_point *at = points->first; at; at = at->next)
        rank->kept_from = fmin(rank->kept_from, at->snapshot.t);
    for (uint32_t m = 0; m < rank->own_count; m++)
        rank->own[m]->unit->back_to = rank->kept_from;
}

enum tutti_err tutti_point_take(struct tutti_points *points, struct tutti_point **point,
                                struct tutti_execution *execution)
{
    if (*point) {
        enum tutti_err err = take(*point, execution);
        tell_earliest(points, &execution->rank);
        return err;
    }
    struct tutti_point *made = calloc(1, sizeof *made);
    if (!made)
        return tutti_fail_memory();
    made->next = points->first;
    points->first = made;
    enum tutti_err err = take(made, execution);
    if (err)
        tutti_point_release(points, made, execution);
    else
        *point = made;
    tell_earliest(points, &execution->rank);
    return err;
}

static void bring_back_history(struct tutti_history *to, const struct tutti_history *from)
{
    if (from->values[0])
        tutti_history_copy(to, from);
}

enum tutti_err tutti_point_restore(const struct tutti_point *point, struct tutti_execution *execution)
{
    struct tutti_rank *rank = &execution->rank;
    struct tutti_master *master = &execution->master;
    unsigned long located = rank->stats->events_located, own_events = rank->own_events;
    TRY(tutti_snapshot_restore(&point->snapshot, rank));
    rank->stats->events_located = located; /* what was done stays counted */
    rank->own_events = own_events;
    TRY(tutti_pending_sets_bring_back(rank, point->pending_sets));
    bring_back_history(&master->extrapolation.history, &point->history);
    for (int o = 0; o < TUTTI_MOST_ORDER; o++)
        bring_back_history(&master->extrapolation.rates[o], &point->rates[o]);
    tutti_scale_bring_back(&master->norm.scale, point->scale);
    tutti_correction_bring_back(master->correction, point->correction);
    tutti_outputs_forget(&master->outputs);
    tutti_detector_forget(&master->detector);
    execution->loop.communication = point->communication;
    execution->loop.output = point->output;
    execution->loop.standstills = 0;
    rank->target = rank->t;
    master->memory = point->memory;
    master->norm.per_time = point->per_time;
    master->extrapolation.since = point->since;
    return TUTTI_OK;
}

bool tutti_points_have(const struct tutti_points *points, const struct tutti_point *point)
{
    const struct tutti_point *at = points->first;
    while (at && at != point)
        at = at->next;
    return at != NULL;
}

void tutti_point_release(struct tutti_points *points, struct tutti_point *point, struct tutti_execution *execution)
{
    struct tutti_point **at = &points->first;
    while (*at && *at != point)
        at = &(*at)->next;
    if (!point || !*at)
        return;
    *at = point->next;
    tutti_snapshot_fini(&point->snapshot, &execution->rank);
    tutti_history_fini(&point->history);
    for (int o = 0; o < TUTTI_MOST_ORDER; o++)
        tutti_history_fini(&point->rates[o]);
    free(point->scale);
    tutti_correction_kept_free(point->correction);
    tutti_pending_sets_kept_free(point->pending_sets);
    free(point);
    tell_earliest(points, &execution->rank);
}

void tutti_points_fini(struct tutti_points *points, struct tutti_execution *execution)
{
    while (points->first)
        tutti_point_release(points, points->first, execution);
}
