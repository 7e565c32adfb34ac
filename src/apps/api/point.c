/* SPDX-License-Identifier: MIT */
#include "apps/api/point.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "apps/api/recording.h"
#include "sim/pending_set.h"

struct tt_simulation_point {
    struct tt_simulation_point *next;
    const struct tutti_point *handle; /* what the program has: a number that no other point of the process has had */
    struct tt_snapshot snapshot;
    size_t rows;      /* recorded until then */
    char *remembered; /* by the master and its loop */
    struct tt_pending_sets_saved *pending_sets;
};

/* Programs keep handles of points that are gone: the address of one would soon be that of another point. */
static struct tutti_point *next_handle(void)
{
    static _Atomic uintptr_t last;
    return (struct tutti_point *)(atomic_fetch_add(&last, 1) + 1); /* NOLINT(performance-no-int-to-ptr) */
}

static struct tt_simulation_point *point_find(const struct tt_simulation_points *points,
                                              const struct tutti_point *handle)
{
    struct tt_simulation_point *at = points->first;
    while (at && at->handle != handle)
        at = at->next;
    return at;
}

static enum tutti_err point_save(struct tt_simulation_point *point, struct tt_execution *execution)
{
    const struct tutti_recording *recording = tt_recording_find(&execution->rank.job->options);
    const struct tt_rollback_list *remembered = &execution->master.remembered;
    TRY(tt_snapshot_take(&point->snapshot, &execution->rank));
    TRY(tt_pending_set_save_all(&execution->rank, &point->pending_sets));
    if (!point->remembered)
        point->remembered = malloc(remembered->size + 1);
    if (!point->remembered)
        return tt_fail_memory();
    tt_rollback_list_save(remembered, point->remembered);
    point->rows = recording ? tutti_recording_rows(recording) : 0;
    return TUTTI_OK;
}

/* Units are told how far back they may be taken. */
static void report_earliest_point(const struct tt_simulation_points *points, struct tt_rank *rank)
{
    rank->kept_from = INFINITY;
    for (const struct tt_simulation_point *at = points->first; at; at = at->next)
        rank->kept_from = fmin(rank->kept_from, at->snapshot.t);
    for (uint32_t m = 0; m < rank->own_count; m++)
        rank->own[m]->unit->back_to = rank->kept_from;
}

static void point_release(struct tt_simulation_points *points, struct tt_simulation_point *point,
                          struct tt_execution *execution)
{
    struct tt_simulation_point **at = &points->first;
    while (*at != point)
        at = &(*at)->next;
    *at = point->next;
    tt_snapshot_fini(&point->snapshot, &execution->rank);
    free(point->remembered);
    tt_pending_set_saved_free(point->pending_sets);
    free(point);
    report_earliest_point(points, &execution->rank);
}

enum tutti_err tt_simulation_save_point(struct tt_simulation_points *points, struct tutti_point **point,
                                        struct tt_execution *execution)
{
    struct tt_simulation_point *kept = *point ? point_find(points, *point) : calloc(1, sizeof *kept);
    if (!kept)
        return tt_fail_memory();
    struct tutti_point *handle = *point ? *point : next_handle();
    if (!*point) {
        kept->handle = handle;
        kept->next = points->first;
        points->first = kept;
    }
    enum tutti_err err = point_save(kept, execution);
    if (err && !*point)
        point_release(points, kept, execution);
    if (!err)
        *point = handle;
    report_earliest_point(points, &execution->rank);
    return err;
}

enum tutti_err tt_simulation_restore_point(const struct tt_simulation_points *points, const struct tutti_point *handle,
                                           struct tt_execution *execution)
{
    const struct tt_simulation_point *point = point_find(points, handle);
    struct tutti_recording *recording = tt_recording_find(&execution->rank.job->options);
    struct tt_rank *rank = &execution->rank;
    struct tt_sim *master = &execution->master;
    unsigned long located = rank->stats->events_located, own_events = rank->own_events;
    TRY(tt_snapshot_restore(&point->snapshot, rank));
    rank->stats->events_located = located; /* what was done stays counted */
    rank->own_events = own_events;
    rank->target = rank->t;
    TRY(tt_pending_set_restore_all(rank, point->pending_sets));
    tt_rollback_list_restore(&master->remembered, point->remembered);
    tt_outputs_invalidate(&master->outputs); /* to be read again where the units are */
    tt_detector_invalidate(&master->detector);
    if (recording)
        tt_recording_cut(recording, point->rows);
    return TUTTI_OK;
}

bool tt_simulation_has_point(const struct tt_simulation_points *points, const struct tutti_point *point)
{
    return point_find(points, point) != NULL;
}

void tt_simulation_release_point(struct tt_simulation_points *points, const struct tutti_point *point,
                                 struct tt_execution *execution)
{
    struct tt_simulation_point *kept = point_find(points, point);
    if (kept)
        point_release(points, kept, execution);
}

void tt_simulation_free_points(struct tt_simulation_points *points, struct tt_execution *execution)
{
    while (points->first)
        point_release(points, points->first, execution);
}
