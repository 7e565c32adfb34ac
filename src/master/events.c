/* SPDX-License-Identifier: MIT */
/* Events at a point that all units have reached: what one of them changes there may be an event for the next, so they are
 * crossed round by round until all rest. */
#include <math.h>

#include "base/number.h"
#include "master/agree.h"
#include "master/correct.h"
#include "master/loop.h"
#include "master/poke.h"

enum { MOST_ROUNDS = 1000 };

/* Discrete inputs of units with event mode are news that only it may take. */
static enum tutti_err look_at_held(struct run *run, struct tutti_member *member)
{
    if (member->wires->held_count == 0)
        return TUTTI_OK;
    TRY(tutti_wires_gather_held(&run->wires, member->wires));
    if (member->wires->held_changed && member->unit->has_events)
        member->event = true;
    return TUTTI_OK;
}

static enum tutti_err cross(struct run *run, struct tutti_member *member)
{
    struct tutti_unit *unit = member->unit;
    struct tutti_unit_wires *wires = member->wires;
    member->event = false;
    member->staged_at = member->t;
    TRY(unit->kind->enter_event(unit));
    if (member->inputs)
        TRY(tutti_inputs_cross(member->inputs, unit));
    if (__builtin_expect(member->poked, 0))
        TRY(tutti_pokes_hand_over(run->pokes, member));
    for (unsigned b = 0; b < wires->moving_blocks; b++)
        TRY(unit->kind->set(unit, &wires->moving[b]));
    for (unsigned b = 0; b < wires->held_blocks && wires->held_changed; b++)
        TRY(unit->kind->set(unit, &wires->held[b]));
    wires->held_changed = false;
    TRY(tutti_member_settle(run, member));
    return tutti_wires_get(wires, unit);
}

static bool is_pending(const struct run *run, const struct tutti_member *member)
{
    return member->event && tutti_member_present(run, member);
}

/* All inputs are staged before the first unit moves on, as in a step: what a unit sees must not depend on its place in the
 * list. */
static enum tutti_err cross_all(struct run *run)
{
    for (uint32_t w = 0; w < run->watched_count; w++)
        if (is_pending(run, run->watched[w]))
            TRY(tutti_wires_gather(&run->wires, run->watched[w]->wires));
    for (uint32_t w = 0; w < run->watched_count; w++)
        if (is_pending(run, run->watched[w]))
            TRY(cross(run, run->watched[w]));
    return tutti_channels_exchange(run);
}

enum tutti_err tutti_events_look(struct run *run, bool *jumped, bool *pending)
{
    *pending = false;
    for (uint32_t w = 0; w < run->watched_count; w++) {
        struct tutti_member *member = run->watched[w];
        if (!tutti_member_present(run, member))
            continue;
        TRY(look_at_held(run, member));
        *pending = *pending || member->event;
    }
    return run->watches ? tutti_agree_point(run, pending, jumped) : TUTTI_OK;
}

/* Collective: names the first of those whose events do not come to rest. */
static enum tutti_err do_not_rest(struct run *run)
{
    double first = INFINITY;
    for (uint32_t w = run->watched_count; w-- > 0;)
        if (is_pending(run, run->watched[w]))
            first = run->watched[w]->component;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MIN, &first, 1));
    return tutti_fail(TUTTI_ERR_FMU,
                      "%s: the discrete signals between units do not come to rest at t = %s: each round of events "
                      "causes the next",
                      run->members[(uint32_t)first].unit->name, TIME(run->t));
}

enum tutti_err tutti_events_cross_found(struct run *run)
{
    TRY(tutti_observer_row(&run->observer, run->t));
    return tutti_events_cross_shown(run);
}

enum tutti_err tutti_events_cross_shown(struct run *run)
{
    bool pending = true, jumped = false;
    for (int round = 0; pending && !run->ended; round++) { /* a unit that ended the run crosses nothing more */
        if (round == MOST_ROUNDS)
            return do_not_rest(run);
        TRY(cross_all(run));
        TRY(tutti_events_look(run, &jumped, &pending));
    }
    run->stats->events_located++;
    TRY(tutti_correction_restart(run));
    return tutti_observer_row(&run->observer, run->t);
}

enum tutti_err tutti_events_cross(struct run *run, bool *crossed)
{
    bool pending, jumped = false;
    TRY(tutti_events_look(run, &jumped, &pending));
    *crossed = pending && !run->ended;
    return *crossed ? tutti_events_cross_found(run) : TUTTI_OK;
}
