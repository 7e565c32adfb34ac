/* SPDX-License-Identifier: MIT */
#include "api/point.h"

#include <math.h>
#include <stdlib.h>

#include "rank/pending_set.h"

struct tutti_point {
    struct tutti_point *next;
    struct tutti_snapshot snapshot;
    char *remembered; /* by the master and its loop */
    struct tutti_pending_sets_kept *pending_sets;
};

static enum tutti_err take(struct tutti_point *point, struct tutti_execution *execution)
{
    const struct tutti_remembered *remembered = &execution->master.remembered;
    TRY(tutti_snapshot_take(&point->snapshot, &execution->rank));
    TRY(tutti_pending_sets_keep(&execution->rank, &point->pending_sets));
    if (!point->remembered)
        point->remembered = malloc(remembered->size + 1);
    if (!point->remembered)
        return tutti_fail_memory();
    tutti_remembered_save(remembered, point->remembered);
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

enum tutti_err tutti_point_restore(const struct tutti_point *point, struct tutti_execution *execution)
{
    struct tutti_rank *rank = &execution->rank;
    struct tutti_master *master = &execution->master;
    unsigned long located = rank->stats->events_located, own_events = rank->own_events;
    TRY(tutti_snapshot_restore(&point->snapshot, rank));
    rank->stats->events_located = located; /* what was done stays counted */
    rank->own_events = own_events;
    rank->target = rank->t;
    TRY(tutti_pending_sets_bring_back(rank, point->pending_sets));
    tutti_remembered_restore(&master->remembered, point->remembered);
    tutti_outputs_forget(&master->outputs); /* to be read again where the units are */
    tutti_detector_forget(&master->detector);
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
    free(point->remembered);
    tutti_pending_sets_kept_free(point->pending_sets);
    free(point);
    tell_earliest(points, &execution->rank);
}

void tutti_points_fini(struct tutti_points *points, struct tutti_execution *execution)
{
    while (points->first)
        tutti_point_release(points, points->first, execution);
}
