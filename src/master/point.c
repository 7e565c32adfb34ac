/* SPDX-License-Identifier: MIT */
#include "master/point.h"

#include <math.h>
#include <stdlib.h>

#include "master/correct.h"
#include "master/detect.h"
#include "master/poke.h"

struct tutti_point {
    struct tutti_point *next;
    struct tutti_snapshot snapshot;
    struct tutti_grid communication, output;
    struct tutti_stepper stepper;
    struct tutti_history history, rates[TUTTI_MOST_ORDER]; /* empty where the master keeps none */
    struct tutti_learned learned;
    double *scale; /* NULL: none */
    bool per_time;
    unsigned since;
    struct tutti_correction_kept *correction;
    struct tutti_pokes_kept *pokes;
    double owed_at, paid_at, cross_at, crossed_here;
    uint32_t owed_by, crossed_member;
    bool event;
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

static enum tutti_err take(struct tutti_point *point, struct run *run)
{
    const struct tutti_master *master = &run->master;
    TRY(tutti_snapshot_take(&point->snapshot, run));
    TRY(keep_history(&point->history, &master->extrapolation.history));
    for (int o = 0; o < TUTTI_MOST_ORDER; o++)
        TRY(keep_history(&point->rates[o], &master->extrapolation.rates[o]));
    TRY(tutti_scale_keep(run, &point->scale));
    TRY(tutti_correction_keep(run, &point->correction));
    TRY(tutti_pokes_keep(run, &point->pokes));
    point->communication = run->communication;
    point->output = run->output;
    point->stepper = master->stepper;
    point->learned = master->learned;
    point->per_time = master->per_time;
    point->since = master->extrapolation.since;
    point->owed_at = master->owed_at;
    point->owed_by = master->owed_by;
    point->paid_at = master->paid_at;
    point->cross_at = master->cross_at;
    point->crossed_here = master->crossed_here;
    point->crossed_member = master->crossed_member;
    point->event = master->event;
    return TUTTI_OK;
}

/* Units are told how far back they may be taken. */
static void tell_earliest(const struct tutti_points *points, struct run *run)
{
    run->kept_from = INFINITY;
    for (const struct tutti_point *at = points->first; at; at = at->next)
        run->kept_from = fmin(run->kept_from, at->snapshot.t);
    for (uint32_t m = 0; m < run->own_count; m++)
        run->own[m]->unit->back_to = run->kept_from;
}

enum tutti_err tutti_point_take(struct tutti_points *points, struct tutti_point **point, struct run *run)
{
    if (*point) {
        enum tutti_err err = take(*point, run);
        tell_earliest(points, run);
        return err;
    }
    struct tutti_point *made = calloc(1, sizeof *made);
    if (!made)
        return tutti_fail_memory();
    made->next = points->first;
    points->first = made;
    enum tutti_err err = take(made, run);
    if (err)
        tutti_point_release(points, made, run);
    else
        *point = made;
    tell_earliest(points, run);
    return err;
}

static void bring_back_history(struct tutti_history *to, const struct tutti_history *from)
{
    if (from->values[0])
        tutti_history_copy(to, from);
}

enum tutti_err tutti_point_restore(const struct tutti_point *point, struct run *run)
{
    struct tutti_master *master = &run->master;
    unsigned long located = run->stats->events_located, own_events = run->own_events;
    TRY(tutti_snapshot_restore(&point->snapshot, run));
    run->stats->events_located = located; /* what was done stays counted */
    run->own_events = own_events;
    TRY(tutti_pokes_bring_back(run, point->pokes));
    bring_back_history(&master->extrapolation.history, &point->history);
    for (int o = 0; o < TUTTI_MOST_ORDER; o++)
        bring_back_history(&master->extrapolation.rates[o], &point->rates[o]);
    tutti_scale_bring_back(run, point->scale);
    tutti_correction_bring_back(run, point->correction);
    tutti_outputs_forget(run);
    tutti_detect_forget(run);
    run->communication = point->communication;
    run->output = point->output;
    run->target = run->t;
    run->standstills = 0;
    master->stepper = point->stepper;
    master->learned = point->learned;
    master->per_time = point->per_time;
    master->extrapolation.since = point->since;
    master->owed_at = point->owed_at;
    master->owed_by = point->owed_by;
    master->paid_at = point->paid_at;
    master->cross_at = point->cross_at;
    master->crossed_here = point->crossed_here;
    master->crossed_member = point->crossed_member;
    master->event = point->event;
    return TUTTI_OK;
}

bool tutti_points_have(const struct tutti_points *points, const struct tutti_point *point)
{
    const struct tutti_point *at = points->first;
    while (at && at != point)
        at = at->next;
    return at != NULL;
}

void tutti_point_release(struct tutti_points *points, struct tutti_point *point, struct run *run)
{
    struct tutti_point **at = &points->first;
    while (*at && *at != point)
        at = &(*at)->next;
    if (!point || !*at)
        return;
    *at = point->next;
    tutti_snapshot_fini(&point->snapshot, run);
    tutti_history_fini(&point->history);
    for (int o = 0; o < TUTTI_MOST_ORDER; o++)
        tutti_history_fini(&point->rates[o]);
    free(point->scale);
    tutti_correction_kept_free(point->correction);
    tutti_pokes_kept_free(point->pokes);
    free(point);
    tell_earliest(points, run);
}

void tutti_points_fini(struct tutti_points *points, struct run *run)
{
    while (points->first)
        tutti_point_release(points, points->first, run);
}
