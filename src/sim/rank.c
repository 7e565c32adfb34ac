/* SPDX-License-Identifier: MIT */
#include "sim/rank.h"

#include "base/number.h"

enum tutti_err tt_rank_reduce(struct tt_rank *rank, enum tt_fabric_reduction reduction, double *values, size_t count)
{
    return rank->fabric->kind->reduce(rank->fabric, reduction, values, count);
}

enum tutti_err tt_rank_agree_any(struct tt_rank *rank, bool *any)
{
    double value = *any;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &value, 1));
    *any = value > 0;
    return TUTTI_OK;
}

enum tutti_err tt_rank_agree_point(struct tt_rank *rank, struct tt_point_events *here)
{
    double most[] = {here->pending, here->jumped, rank->ended ? (double)rank->ended->component : -1, here->ticks};
    if (rank->fabric->ranks == 1)
        return TUTTI_OK;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, most, 4));
    here->pending = most[0] > 0;
    here->jumped = most[1] > 0;
    here->ticks = most[3] > 0;
    if (most[2] >= 0)
        rank->ended = &rank->members[(uint32_t)most[2]];
    return TUTTI_OK;
}

enum tutti_err tt_rank_fail_no_progress(const struct tt_member *member, const char *how)
{
    return tt_fail(TUTTI_ERR_FMU,
                   "%s (%s): time stands still at t = %s: the FMU %s; check its inputs there, or use another of its "
                   "interfaces (--interface)",
                   member->unit->name, member->unit->fmu->path, TIME(member->now.t), how);
}

enum tutti_err tt_rank_finish_event(const struct tt_rank *rank, struct tt_member *member, bool *ended)
{
    struct tt_unit *unit = member->unit;
    struct tt_unit_event event;
    double announced = member->now.next_event;
    TRY(unit->kind->settle(unit, &event));
    for (int round = 0; tt_time_reached(member->now.t, event.next_event, rank->span) && !event.terminate; round++) {
        if (event.next_event > member->now.t && event.next_event == announced)
            break; /* a rounding error too early for it: it gets the time that it insists on */
        if (round == TUTTI_MOST_STANDSTILLS)
            return tt_rank_fail_no_progress(member, "announces one event after another for it");
        TRY(unit->kind->enter_event(unit));
        TRY(unit->kind->settle(unit, &event));
    }
    member->now.next_event = event.next_event;
    if (event.terminate)
        *ended = true;
    return TUTTI_OK;
}
