/* SPDX-License-Identifier: MIT */
#include "master/poke.h"

#include <stdlib.h>

enum tutti_err tutti_poke_new(struct tutti_poke **out, struct tutti_pokes *pokes, struct run *run, uint32_t component,
                              uint32_t variable)
{
    struct tutti_poke *poke = calloc(1, sizeof *poke);
    struct tutti_unit *unit = run->members[component].unit;
    if (!poke)
        return tutti_fail_memory();
    poke->component = component;
    poke->next = pokes->first;
    pokes->first = poke;
    TRY(tutti_unit_signals(unit, &variable, 1, &poke->signals));
    TRY(tutti_unit_get(unit, &poke->signals));
    *out = poke;
    return TUTTI_OK;
}

void tutti_poke_mark(struct tutti_poke *poke, struct run *run)
{
    poke->pending = true;
    run->members[poke->component].poked = true;
}

enum tutti_err tutti_pokes_hand_over(struct tutti_pokes *pokes, struct tutti_member *member)
{
    for (struct tutti_poke *poke = pokes->first; poke; poke = poke->next) {
        if (!poke->pending || poke->component != member->component)
            continue;
        TRY(tutti_unit_set(member->unit, &poke->signals));
        poke->pending = false;
    }
    member->poked = false;
    return TUTTI_OK;
}

enum tutti_err tutti_pokes_bring(struct run *run)
{
    bool any = false, events = false;
    for (uint32_t m = 0; m < run->own_count; m++) {
        struct tutti_member *member = run->own[m];
        if (!member->poked || !tutti_member_present(run, member))
            continue;
        any = true;
        if (member->unit->has_events)
            member->event = events = true;
        else
            TRY(tutti_pokes_hand_over(run->pokes, member));
    }
    if (events)
        TRY(tutti_events_cross_found(run));
    return any ? tutti_loop_begin_anew(run) : TUTTI_OK;
}

void tutti_pokes_forget(struct run *run)
{
    for (struct tutti_poke *poke = run->pokes->first; poke; poke = poke->next) {
        poke->pending = false;
        run->members[poke->component].poked = false;
    }
}

void tutti_pokes_fini(struct tutti_pokes *pokes)
{
    for (struct tutti_poke *poke = pokes->first, *next; poke; poke = next) {
        next = poke->next;
        tutti_signals_fini(&poke->signals);
        free(poke);
    }
    pokes->first = NULL;
}
