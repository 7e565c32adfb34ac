/* SPDX-License-Identifier: MIT */
#include "rank/settle.h"

#include "base/number.h"

enum tutti_err tutti_member_stands_still(const struct tutti_member *member, const char *how)
{
    return tutti_fail(TUTTI_ERR_FMU,
                      "%s (%s): time stands still at t = %s: the FMU %s; check its inputs there, or use another of its "
                      "interfaces (--interface)",
                      member->unit->name, member->unit->fmu->path, TIME(member->now.t), how);
}

enum tutti_err tutti_member_settle(const struct tutti_rank *rank, struct tutti_member *member, bool *ended)
{
    struct tutti_unit *unit = member->unit;
    struct tutti_unit_event event;
    double announced = member->now.next_event;
    TRY(unit->kind->settle(unit, &event));
    for (int round = 0; tutti_time_reached(member->now.t, event.next_event, rank->span) && !event.terminate; round++) {
        if (event.next_event > member->now.t && event.next_event == announced)
            break; /* a rounding error too early for it: it gets the time that it insists on */
        if (round == TUTTI_MOST_STANDSTILLS)
            return tutti_member_stands_still(member, "announces one event after another for it");
        TRY(unit->kind->enter_event(unit));
        TRY(unit->kind->settle(unit, &event));
    }
    member->now.next_event = event.next_event;
    if (event.terminate)
        *ended = true;
    return TUTTI_OK;
}
