/* SPDX-License-Identifier: MIT */
#include "sim/rank_event.h"

#include "base/number.h"

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
