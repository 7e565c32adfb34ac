/* SPDX-License-Identifier: MIT */
#include "start/open.h"

#include <math.h>

#include "rank/ticks.h"
#include "start/members.h"

static void set_times(struct tutti_rank *rank)
{
    rank->t = rank->target = rank->times.start;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        rank->members[m].now.t = rank->t;
        rank->members[m].now.next_event = INFINITY;
    }
}

/* Which members have to be looked at between steps. */
static enum tutti_err choose_watched(struct tutti_rank *rank)
{
    rank->watched = tutti_arena_array(&rank->arena, rank->member_count, sizeof(struct tutti_member *));
    if (!rank->watched)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < rank->member_count; m++) {
        struct tutti_member *member = &rank->members[m];
        bool ticks = rank->ticks && rank->ticks->units[m].clock_count > 0;
        bool watched = member->unit->has_events || member->driven || member->wires->held_count > 0 || ticks;
        if (watched && tutti_rank_owns(rank, m))
            rank->watched[rank->watched_count++] = member;
        rank->watches = rank->watches || watched;
        rank->has_grids = rank->has_grids || member->has_grid;
    }
    rank->single_unit = !tutti_system_is_coupled(rank->job->system) &&
                        tutti_time_same(rank->members[0].now.grid.step, rank->times.step, 0);
    return TUTTI_OK;
}

enum tutti_err tutti_rank_open(struct tutti_rank *rank)
{
    rank->times = rank->job->times;
    rank->span = rank->times.stop - rank->times.start;
    rank->kept_from = INFINITY;
    if (!rank->fabric) {
        TRY(tutti_fabric_local_new(&rank->fabric));
        rank->owns_fabric = true;
    }
    if (!rank->reports)
        rank->log = rank->unit_log = rank->job->options.log;
    rank->heartbeat = rank->fabric->where;
    tutti_rank_tell_time(rank, rank->times.start);
    TRY(tutti_members_make(rank));
    set_times(rank);
    TRY(tutti_ticks_open(rank));
    return choose_watched(rank);
}

enum tutti_err tutti_rank_terminate(struct tutti_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++)
        TRY(rank->own[m]->unit->kind->terminate(rank->own[m]->unit));
    return TUTTI_OK;
}

void tutti_rank_close(struct tutti_rank *rank)
{
    tutti_wires_fini(&rank->wires);
    for (uint32_t m = 0; m < rank->member_count; m++) {
        tutti_unit_free(rank->members[m].unit);
        if (rank->members[m].inputs)
            tutti_inputs_close(rank->members[m].inputs);
    }
    if (rank->owns_fabric)
        rank->fabric->kind->close(rank->fabric);
    tutti_arena_fini(&rank->arena);
    *rank = (struct tutti_rank){0};
}
