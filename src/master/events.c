/* SPDX-License-Identifier: MIT */
#include "master/events.h"

#include <math.h>

#include "base/number.h"
#include "master/coupling/correct.h"
#include "rank/pending_set.h"
#include "rank/settle.h"
#include "rank/ticks.h"
#include "report/load.h"
#include "report/observer.h"

enum { MOST_ROUNDS = 1000 };

/* Discrete inputs of units with event mode are news that only it may take. */
static enum tutti_err look_at_held(struct tutti_rank *rank, struct tutti_member *member)
{
    if (member->wires->held_count == 0)
        return TUTTI_OK;
    TRY(tutti_wires_gather_held(&rank->wires, member->wires));
    if (member->wires->held_changed && member->unit->has_events)
        member->now.event = true;
    return TUTTI_OK;
}

static enum tutti_err cross(struct tutti_rank *rank, struct tutti_member *member)
{
    struct tutti_unit *unit = member->unit;
    struct tutti_unit_wires *wires = member->wires;
    member->now.event = false;
    member->now.staged_at = member->now.t;
    member->now.slopes_at = -INFINITY;
    TRY(unit->kind->enter_event(unit));
    if (member->inputs)
        TRY(tutti_inputs_cross(member->inputs, unit));
    if (__builtin_expect(member->now.has_pending, 0))
        TRY(tutti_pending_sets_hand_over(rank->pending_sets, member));
    for (unsigned b = 0; b < wires->moving_blocks; b++)
        TRY(unit->kind->set(unit, &wires->moving[b]));
    for (unsigned b = 0; b < wires->held_blocks && wires->held_changed; b++)
        TRY(unit->kind->set(unit, &wires->held[b]));
    wires->held_changed = false;
    bool ended = false;
    TRY(tutti_member_settle(rank, member, &ended));
    if (ended)
        rank->ended = member;
    return tutti_wires_get(wires, unit);
}

enum tutti_err tutti_events_cross_alone(struct tutti_rank *rank, struct tutti_member *member)
{
    rank->own_events++;
    return cross(rank, member);
}

/* `among` (per component; NULL: all): others wait for the next point. */
static bool is_pending(const struct tutti_rank *rank, const struct tutti_member *member, const bool *among)
{
    return member->now.event && tutti_member_present(rank, member) && (!among || among[member->component]);
}

/* All inputs are staged before the first unit moves on, as in a step: what a unit sees must not depend on its place in the
 * list. */
static enum tutti_err cross_all(struct tutti_rank *rank, const bool *among)
{
    for (uint32_t w = 0; w < rank->watched_count; w++)
        if (is_pending(rank, rank->watched[w], among))
            TRY(tutti_wires_gather(&rank->wires, rank->watched[w]->wires));
    for (uint32_t w = 0; w < rank->watched_count; w++)
        if (is_pending(rank, rank->watched[w], among)) {
            TRY(cross(rank, rank->watched[w]));
            rank->own_events += among != NULL; /* in the middle of a step */
        }
    return tutti_channels_exchange(&rank->channels);
}

static enum tutti_err look_among(struct tutti_rank *rank, struct tutti_at_point *here, const bool *among)
{
    here->pending = here->ticks = false;
    for (uint32_t w = 0; w < rank->watched_count; w++) {
        struct tutti_member *member = rank->watched[w];
        if (!tutti_member_present(rank, member) || (among && !among[member->component]))
            continue;
        TRY(look_at_held(rank, member));
        here->pending = here->pending || member->now.event;
    }
    if (!among)
        TRY(tutti_ticks_look(rank, &here->ticks));
    return rank->watches ? tutti_agree_point(rank, here) : TUTTI_OK;
}

enum tutti_err tutti_events_look(struct tutti_rank *rank, struct tutti_at_point *here)
{
    return look_among(rank, here, NULL);
}

/* Collective: names the first of those whose events do not come to rest. */
static enum tutti_err do_not_rest(struct tutti_rank *rank, const bool *among)
{
    double first = INFINITY;
    for (uint32_t w = rank->watched_count; w-- > 0;)
        if (is_pending(rank, rank->watched[w], among))
            first = rank->watched[w]->component;
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MIN, &first, 1));
    return tutti_fail(TUTTI_ERR_FMU,
                      "%s: the discrete signals between units do not come to rest at t = %s: each round of events "
                      "causes the next",
                      rank->members[(uint32_t)first].unit->name, TIME(rank->members[(uint32_t)first].now.t));
}

enum tutti_err tutti_events_cross_among(struct tutti_rank *rank, const bool *among)
{
    struct tutti_at_point here = {.pending = true};
    if (rank->ticks && !among)
        TRY(look_among(rank, &here, NULL));
    for (int round = 0; (here.pending || here.ticks) && !rank->ended;
         round++) { /* a unit that ended the run crosses nothing more */
        if (round == MOST_ROUNDS)
            return here.pending ? do_not_rest(rank, among) : tutti_ticks_do_not_rest(rank);
        TRY(here.pending ? cross_all(rank, among) : tutti_ticks_pass(rank)); /* CK3 */
        TRY(look_among(rank, &here, among));
    }
    return TUTTI_OK;
}

/* Where the row before is recorded. */
static enum tutti_err cross_shown(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    TRY(tutti_events_cross_among(rank, NULL));
    const struct tutti_memory *memory = &master->memory;
    bool follows = memory->located_in > 0 && memory->located_in == memory->steps; /* from an event that is counted */
    rank->stats->events_located += !follows;
    tutti_steps_made_add_event(master->made, rank->t);
    TRY(tutti_correction_restart(master->correction));
    return tutti_observer_row(master->observer, rank->t);
}

enum tutti_err tutti_events_cross_found(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    TRY(tutti_observer_row(master->observer, rank->t));
    return cross_shown(master);
}

enum tutti_err tutti_events_cross(struct tutti_master *master, bool *crossed)
{
    struct tutti_rank *rank = master->rank;
    struct tutti_at_point here = {0};
    TRY(tutti_events_look(rank, &here));
    *crossed = (here.pending || here.ticks) && !rank->ended;
    return *crossed ? tutti_events_cross_found(master) : TUTTI_OK;
}

enum tutti_err tutti_events_begin_anew(struct tutti_master *master)
{
    if (!master->chosen.by_attempts)
        return TUTTI_OK;
    tutti_outputs_forget(&master->outputs);
    tutti_detector_forget(&master->detector);
    tutti_stepper_restart(&master->memory.stepper);
    tutti_tlm_note(master->tlm);
    return tutti_extrapolation_restart(&master->extrapolation);
}

/* What units are about to take that others have set. */
struct taken {
    bool any, news, events;
};

/* Of own units. */
static void look_at_pending(struct tutti_rank *rank, struct taken *taken)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_member *member = rank->own[m];
        if (!member->now.has_pending || !tutti_member_present(rank, member))
            continue;
        taken->any = true;
        if (!tutti_pending_sets_are_news(rank->pending_sets, member))
            continue;
        taken->news = true;
        if (member->unit->has_events)
            member->now.event = taken->events = true;
    }
}

static enum tutti_err agree_on_pending(struct tutti_rank *rank, struct taken *taken)
{
    double most[] = {taken->any, taken->news, taken->events};
    if (rank->fabric->ranks == 1)
        return TUTTI_OK;
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MAX, most, sizeof most / sizeof *most));
    *taken = (struct taken){.any = most[0] > 0, .news = most[1] > 0, .events = most[2] > 0};
    return TUTTI_OK;
}

/* What the next step compares with (macro.c) is read while units may still be read. */
static enum tutti_err read_start(struct tutti_master *master)
{
    if (!master->chosen.by_attempts)
        return TUTTI_OK;
    TRY(tutti_outputs_take(&master->outputs, master->norm.before));
    return master->detector.discretes ? tutti_detector_mark(&master->detector) : TUTTI_OK;
}

/* Units without event mode take theirs last: nothing is read of them between that and the step (R3). */
enum tutti_err tutti_events_take_pending(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    struct taken taken = {0};
    look_at_pending(rank, &taken);
    TRY(agree_on_pending(rank, &taken));
    if (!taken.any)
        return TUTTI_OK;
    bool shown = master->observer->rows > 0 && master->observer->last_row == rank->t; /* by the step that led here */
    if (taken.events)
        TRY(shown ? cross_shown(master) : tutti_events_cross_found(master));
    if (taken.news)
        TRY(tutti_events_begin_anew(master));
    TRY(read_start(master));
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (rank->own[m]->now.has_pending && tutti_member_present(rank, rank->own[m]))
            TRY(tutti_pending_sets_hand_over(rank->pending_sets, rank->own[m]));
    return TUTTI_OK;
}
