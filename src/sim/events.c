/* SPDX-License-Identifier: MIT */
#include "sim/events.h"

#include <math.h>

#include "base/number.h"
#include "sim/coupling/correction.h"
#include "sim/pending_set.h"
#include "sim/rank.h"
#include "sim/ticks.h"
#include "sim/report/reporter.h"
#include "sim/report/record.h"

enum { MOST_ROUNDS = 1000 };

/* Discrete inputs of units with event mode are news that only it may take. */
static enum tutti_err check_held_inputs(struct tt_rank *rank, struct tt_member *member)
{
    if (member->wires->held_count == 0)
        return TUTTI_OK;
    TRY(tt_wires_gather_held(&rank->wires, rank->wires.signals, member->wires));
    if (member->wires->held_changed && member->unit->has_events)
        member->now.event = true;
    return TUTTI_OK;
}

static enum tutti_err events_handle(struct tt_rank *rank, struct tt_member *member)
{
    struct tt_unit *unit = member->unit;
    struct tt_unit_wires *wires = member->wires;
    member->now.event = false;
    member->now.staged_at = member->now.t;
    member->now.slopes_at = -INFINITY;
    TRY(unit->kind->enter_event(unit));
    if (member->inputs)
        TRY(tt_inputs_apply_jump(member->inputs, unit));
    if (__builtin_expect(member->now.has_pending, 0))
        TRY(tt_pending_set_apply_all(rank->pending_sets, member));
    for (unsigned b = 0; b < wires->moving_blocks; b++)
        TRY(unit->kind->set(unit, &wires->moving[b]));
    for (unsigned b = 0; b < wires->held_blocks && wires->held_changed; b++)
        TRY(unit->kind->set(unit, &wires->held[b]));
    wires->held_changed = false;
    bool ended = false;
    TRY(tt_rank_finish_event(rank, member, &ended));
    if (ended)
        rank->ended = member;
    return tt_wires_get_outputs(wires, unit);
}

enum tutti_err tt_events_handle_locally(struct tt_rank *rank, struct tt_member *member)
{
    rank->own_events++;
    return events_handle(rank, member);
}

/* `among` (per component; NULL: all): others wait for the next point. */
static bool event_is_pending(const struct tt_rank *rank, const struct tt_member *member, const bool *among)
{
    return member->now.event && tt_rank_member_is_present(rank, member) && (!among || among[member->component]);
}

/* All inputs are staged before the first unit moves on, as in a step: what a unit sees must not depend on its place in the
 * list. */
static enum tutti_err handle_round(struct tt_rank *rank, const bool *among)
{
    for (uint32_t w = 0; w < rank->watched_count; w++)
        if (event_is_pending(rank, rank->watched[w], among))
            TRY(tt_wires_gather(&rank->wires, rank->wires.signals, rank->watched[w]->wires));
    for (uint32_t w = 0; w < rank->watched_count; w++)
        if (event_is_pending(rank, rank->watched[w], among)) {
            TRY(events_handle(rank, rank->watched[w]));
            rank->own_events += among != NULL; /* in the middle of a step */
        }
    return tt_channels_exchange(&rank->channels);
}

static enum tutti_err check_events_among(struct tt_rank *rank, struct tt_point_events *here, const bool *among)
{
    here->pending = here->ticks = false;
    for (uint32_t w = 0; w < rank->watched_count; w++) {
        struct tt_member *member = rank->watched[w];
        if (!tt_rank_member_is_present(rank, member) || (among && !among[member->component]))
            continue;
        TRY(check_held_inputs(rank, member));
        here->pending = here->pending || member->now.event;
    }
    if (!among && rank->ticks)
        TRY(tt_ticks_check_due(rank, &here->ticks));
    return rank->watches ? tt_rank_agree_point(rank, here) : TUTTI_OK;
}

enum tutti_err tt_events_check(struct tt_rank *rank, struct tt_point_events *here)
{
    return check_events_among(rank, here, NULL);
}

/* Collective: names the first unit whose events do not converge. */
static enum tutti_err events_fail_diverge(struct tt_rank *rank, const bool *among)
{
    double first = INFINITY;
    for (uint32_t w = rank->watched_count; w-- > 0;)
        if (event_is_pending(rank, rank->watched[w], among))
            first = rank->watched[w]->component;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &first, 1));
    return tt_fail(TUTTI_ERR_FMU,
                   "%s: the discrete signals between units do not come to rest at t = %s: each round of events "
                   "causes the next",
                   rank->members[(uint32_t)first].unit->name, TIME(rank->members[(uint32_t)first].now.t));
}

enum tutti_err tt_events_handle_among(struct tt_rank *rank, const bool *among)
{
    struct tt_point_events here = {.pending = true};
    if (rank->ticks && !among)
        TRY(check_events_among(rank, &here, NULL));
    for (int round = 0; (here.pending || here.ticks) && !rank->ended;
         round++) { /* a unit that ended the run crosses nothing more */
        if (round == MOST_ROUNDS)
            return here.pending ? events_fail_diverge(rank, among) : tt_ticks_fail_diverge(rank);
        TRY(here.pending ? handle_round(rank, among) : tt_ticks_handle_due(rank)); /* CK3 */
        TRY(check_events_among(rank, &here, among));
    }
    return TUTTI_OK;
}

/* Where the row before is recorded. */
static enum tutti_err handle_with_rows(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    TRY(tt_events_handle_among(rank, NULL));
    const struct tt_step_history *memory = &master->memory;
    bool follows = memory->located_in > 0 && memory->located_in == memory->steps; /* from an event that is counted */
    rank->stats->events_located += !follows;
    tt_reporter_add_event(master->made, rank->t);
    TRY(tt_correction_restart(master->correction));
    return tt_record_write_row(master->observer, rank->t);
}

enum tutti_err tt_events_handle_found(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    TRY(tt_record_write_row(master->observer, rank->t));
    return handle_with_rows(master);
}

enum tutti_err tt_events_handle(struct tt_sim *master, bool *crossed)
{
    struct tt_rank *rank = master->rank;
    struct tt_point_events here = {0};
    TRY(tt_events_check(rank, &here));
    *crossed = (here.pending || here.ticks) && !rank->ended;
    return *crossed ? tt_events_handle_found(master) : TUTTI_OK;
}

enum tutti_err tt_events_restart_signals(struct tt_sim *master)
{
    if (!(master->chosen.is & TUTTI_METHOD_BY_ATTEMPTS))
        return TUTTI_OK;
    tt_outputs_invalidate(&master->outputs);
    tt_detector_invalidate(&master->detector);
    tt_step_size_restart(&master->memory.stepper);
    tt_tlm_record(master->tlm);
    return tt_extrapolation_restart(&master->extrapolation);
}

/* A summary of pending values for units. */
struct pending_summary {
    bool any, news, events;
};

/* Of own units. */
static void check_pending_sets(struct tt_rank *rank, struct pending_summary *taken)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_member *member = rank->own[m];
        if (!member->now.has_pending || !tt_rank_member_is_present(rank, member))
            continue;
        taken->any = true;
        if (!tt_pending_set_any_event(rank->pending_sets, member))
            continue;
        taken->news = true;
        if (member->unit->has_events)
            member->now.event = taken->events = true;
    }
}

static enum tutti_err agree_on_pending_sets(struct tt_rank *rank, struct pending_summary *taken)
{
    double most[] = {taken->any, taken->news, taken->events};
    if (rank->fabric->ranks == 1)
        return TUTTI_OK;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, most, sizeof most / sizeof *most));
    *taken = (struct pending_summary){.any = most[0] > 0, .news = most[1] > 0, .events = most[2] > 0};
    return TUTTI_OK;
}

/* Units without event mode take theirs last: nothing is read of them between that and the step (R3). */
enum tutti_err tt_events_apply_pending(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    struct pending_summary taken = {0};
    check_pending_sets(rank, &taken);
    TRY(agree_on_pending_sets(rank, &taken));
    if (!taken.any)
        return TUTTI_OK;
    bool shown = master->observer->rows > 0 && master->observer->last_row == rank->t; /* by the step that led here */
    if (taken.events)
        TRY(shown ? handle_with_rows(master) : tt_events_handle_found(master));
    if (taken.news)
        TRY(tt_events_restart_signals(master));

    /* The next step compares with these values (step.c): here units may still be read. */
    if (master->chosen.is & TUTTI_METHOD_BY_ATTEMPTS) {
        TRY(tt_outputs_read(&master->outputs, master->norm.before));
        if (master->detector.discretes)
            TRY(tt_detector_save_start(&master->detector));
    }

    for (uint32_t m = 0; m < rank->own_count; m++)
        if (rank->own[m]->now.has_pending && tt_rank_member_is_present(rank, rank->own[m]))
            TRY(tt_pending_set_apply_all(rank->pending_sets, rank->own[m]));
    return TUTTI_OK;
}
