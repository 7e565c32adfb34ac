/* SPDX-License-Identifier: MIT */
#include "sim/rank_open.h"

#include <math.h>

#include "sim/choose.h"
#include "sim/ticks.h"
#include "sim/start/open.h"

/* Which members have to be looked at between steps. */
static enum tutti_err rank_choose_watched(struct tt_rank *rank)
{
    rank->watched = tt_arena_array(&rank->arena, rank->member_count, sizeof(struct tt_member *));
    if (!rank->watched)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->member_count; m++) {
        struct tt_member *member = &rank->members[m];
        bool ticks = rank->ticks && rank->ticks->units[m].clock_count > 0;
        bool watched = member->unit->has_events || member->driven || member->wires->held_count > 0 || ticks;
        if (watched && tt_rank_owns(rank, m))
            rank->watched[rank->watched_count++] = member;
        rank->watches = rank->watches || watched;
        rank->has_grids = rank->has_grids || member->has_grid;
    }
    rank->single_unit = !tt_system_is_coupled(rank->job->system) &&
                        tt_time_same(rank->members[0].now.grid.step, rank->times.step, 0);
    return TUTTI_OK;
}

enum tutti_err tt_rank_open(struct tt_rank *rank)
{
    struct tt_traits described;
    TRY(tt_traits_describe(&described, rank->job, &rank->arena));
    tt_choose_method(&rank->job->options, &described, &rank->expected); /* whether it is refused, opened units show */
    rank->times = rank->job->times;
    rank->span = rank->times.stop - rank->times.start;
    rank->kept_from = INFINITY;
    if (!rank->fabric) {
        TRY(tt_fabric_new_local(&rank->fabric));
        rank->owns_fabric = true;
    }
    if (!rank->reports)
        rank->log = rank->unit_log = rank->job->options.log;
    rank->heartbeat = rank->fabric->where;
    tt_rank_publish_time(rank, rank->times.start);
    TRY(tt_open_components(rank));
    rank->t = rank->target = rank->times.start;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        rank->members[m].now.t = rank->t;
        rank->members[m].now.next_event = INFINITY;
    }
    TRY(tt_tick_setup_open(rank));
    return rank_choose_watched(rank);
}

enum tutti_err tt_rank_terminate(struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++)
        TRY(rank->own[m]->unit->kind->terminate(rank->own[m]->unit));
    return TUTTI_OK;
}

void tt_rank_close(struct tt_rank *rank)
{
    tt_wires_fini(&rank->wires);
    for (uint32_t m = 0; m < rank->member_count; m++) {
        tt_unit_free(rank->members[m].unit);
        if (rank->members[m].inputs)
            tt_inputs_close(rank->members[m].inputs);
    }
    if (rank->owns_fabric)
        rank->fabric->kind->close(rank->fabric);
    tt_arena_fini(&rank->arena);
    *rank = (struct tt_rank){0};
}
