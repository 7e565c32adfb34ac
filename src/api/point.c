/* SPDX-License-Identifier: MIT */
#include "api/point.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "api/recording.h"
#include "rank/pending_set.h"

struct tutti_kept_point {
    struct tutti_kept_point *next;
    const struct tutti_point *handle; /* what the program has: a number that no other point of the process has had */
    struct tutti_snapshot snapshot;
    size_t rows;      /* recorded until then */
    char *remembered; /* by the master and its loop */
    struct tutti_pending_sets_kept *pending_sets;
};

/* Programs keep handles of points that are gone: the address of one would soon be that of another point. */
static struct tutti_point *next_handle(void)
{
    static _Atomic uintptr_t last;
    return (struct tutti_point *)(atomic_fetch_add(&last, 1) + 1); /* NOLINT(performance-no-int-to-ptr) */
}

static struct tutti_kept_point *find(const struct tutti_points *points, const struct tutti_point *handle)
{
    struct tutti_kept_point *at = points->first;
    while (at && at->handle != handle)
        at = at->next;
    return at;
}

static enum tutti_err take(struct tutti_kept_point *point, struct tutti_execution *execution)
{
    const struct tutti_recording *recording = tutti_recording_of(&execution->rank.job->options);
    const struct tutti_remembered *remembered = &execution->master.remembered;
    TRY(tutti_snapshot_take(&point->snapshot, &execution->rank));
    TRY(tutti_pending_sets_keep(&execution->rank, &point->pending_sets));
    if (!point->remembered)
        point->remembered = malloc(remembered->size + 1);
    if (!point->remembered)
        return tutti_fail_memory();
    tutti_remembered_save(remembered, point->remembered);
    point->rows = recording ? tutti_recording_rows(recording) : 0;
    return TUTTI_OK;
}

/* Units are told how far back they may be taken. */
static void tell_earliest(const struct tutti_points *points, struct tutti_rank *rank)
{
    rank->kept_from = INFINITY;
    for (const struct tutti_kept_point *at = points->first; at; at = at->next)
        rank->kept_from = fmin(rank->kept_from, at->snapshot.t);
    for (uint32_t m = 0; m < rank->own_count; m++)
        rank->own[m]->unit->back_to = rank->kept_from;
}

static void release(struct tutti_points *points, struct tutti_kept_point *point, struct tutti_execution *execution)
{
    struct tutti_kept_point **at = &points->first;
    while (*at != point)
        at = &(*at)->next;
    *at = point->next;
    tutti_snapshot_fini(&point->snapshot, &execution->rank);
    free(point->remembered);
    tutti_pending_sets_kept_free(point->pending_sets);
    free(point);
    tell_earliest(points, &execution->rank);
}

enum tutti_err tutti_point_take(struct tutti_points *points, struct tutti_point **point,
                                struct tutti_execution *execution)
{
    struct tutti_kept_point *kept = *point ? find(points, *point) : calloc(1, sizeof *kept);
    if (!kept)
        return tutti_fail_memory();
    struct tutti_point *handle = *point ? *point : next_handle();
    if (!*point) {
        kept->handle = handle;
        kept->next = points->first;
        points->first = kept;
    }
    enum tutti_err err = take(kept, execution);
    if (err && !*point)
        release(points, kept, execution);
    if (!err)
        *point = handle;
    tell_earliest(points, &execution->rank);
    return err;
}

enum tutti_err tutti_point_restore(const struct tutti_points *points, const struct tutti_point *handle,
                                   struct tutti_execution *execution)
{
    const struct tutti_kept_point *point = find(points, handle);
    struct tutti_recording *recording = tutti_recording_of(&execution->rank.job->options);
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
    if (recording)
        tutti_recording_cut(recording, point->rows);
    return TUTTI_OK;
}

bool tutti_points_have(const struct tutti_points *points, const struct tutti_point *point)
{
    return find(points, point) != NULL;
}

void tutti_point_release(struct tutti_points *points, const struct tutti_point *point,
                         struct tutti_execution *execution)
{
    struct tutti_kept_point *kept = find(points, point);
    if (kept)
        release(points, kept, execution);
}

void tutti_points_fini(struct tutti_points *points, struct tutti_execution *execution)
{
    while (points->first)
        release(points, points->first, execution);
}
