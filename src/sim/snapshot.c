/* SPDX-License-Identifier: MIT */
#include "sim/snapshot.h"

#include <string.h>

#include "base/wall_clock.h"
#include "sim/ticks.h"
#include "sim/signals/wires.h"

static enum tutti_err snapshot_allocate(struct tt_snapshot *snapshot, const struct tt_rank *rank)
{
    struct tt_arena *arena = &snapshot->arena;
    uint32_t count = rank->member_count;
    snapshot->saved = tt_arena_array(arena, count, sizeof(struct tt_unit_saved *));
    snapshot->members = tt_arena_array(arena, count, sizeof *snapshot->members);
    bool driven = tt_job_drives_inputs(rank->job);
    snapshot->inputs = driven ? tt_arena_array(arena, count, sizeof *snapshot->inputs) : NULL;
    snapshot->signals = tt_arena_alloc(arena, rank->wires.unit_size);
    snapshot->staged = tt_arena_alloc(arena, rank->wires.staged_size);
    snapshot->gathered = tt_arena_array(arena, rank->wires.gather_count, sizeof *snapshot->gathered);
    snapshot->held_changed = tt_arena_array(arena, count, sizeof *snapshot->held_changed);
    if (rank->ticks)
        snapshot->ticks = tt_arena_array(arena, rank->ticks->state_count, sizeof *snapshot->ticks);
    bool all = (!rank->ticks || snapshot->ticks) && snapshot->saved && snapshot->members &&
               (!driven || snapshot->inputs) && snapshot->signals && snapshot->staged && snapshot->gathered &&
               snapshot->held_changed;
    for (unsigned o = 0; o < rank->wires.order; o++) {
        snapshot->gathered_slopes[o] = tt_arena_array(arena, rank->wires.gather_count, sizeof(double));
        all = all && snapshot->gathered_slopes[o];
    }
    if (!all)
        return tt_fail_memory();
    TRY(tt_wires_texts_init(&snapshot->texts, &rank->wires, arena));
    snapshot->made = true;
    return TUTTI_OK;
}

enum tutti_err tt_snapshot_take(struct tt_snapshot *snapshot, struct tt_rank *rank)
{
    if (!snapshot->made)
        TRY(snapshot_allocate(snapshot, rank));
    for (uint32_t i = 0; i < rank->own_count; i++) {
        struct tt_member *member = rank->own[i];
        uint32_t m = member->component;
        double before = tt_wall_clock_now();
        TRY(member->unit->kind->save(member->unit, &snapshot->saved[m]));
        member->unit->times.save_seconds += tt_wall_clock_now() - before;
        member->unit->counts.points++;
        if (snapshot->inputs && member->inputs)
            snapshot->inputs[m] = member->inputs->now;
        snapshot->held_changed[m] = member->wires->held_changed;
    }
    for (uint32_t m = 0; m < rank->member_count; m++)
        snapshot->members[m] = rank->members[m].now;
    if (rank->ticks)
        memcpy(snapshot->ticks, rank->ticks->states, rank->ticks->state_count * sizeof *snapshot->ticks);
    memcpy(snapshot->signals, rank->wires.signals, rank->wires.unit_size);
    memcpy(snapshot->staged, rank->wires.staged, rank->wires.staged_size);
    memcpy(snapshot->gathered, rank->wires.gathered, rank->wires.gather_count * sizeof(double));
    for (unsigned o = 0; o < rank->wires.order; o++)
        memcpy(snapshot->gathered_slopes[o], rank->wires.gathered_slopes[o], rank->wires.gather_count * sizeof(double));
    TRY(tt_wires_texts_save(snapshot->texts, &rank->wires));
    snapshot->t = rank->t;
    snapshot->events_located = rank->stats->events_located;
    snapshot->own_events = rank->own_events;
    return TUTTI_OK;
}

static enum tutti_err restore_unit(const struct tt_snapshot *snapshot, struct tt_member *member)
{
    uint32_t m = member->component;
    double before = tt_wall_clock_now();
    TRY(member->unit->kind->restore(member->unit, snapshot->saved[m]));
    member->unit->times.restore_seconds += tt_wall_clock_now() - before;
    if (member->inputs)
        member->inputs->now = snapshot->inputs[m];
    member->wires->held_changed = snapshot->held_changed[m];
    return TUTTI_OK;
}

enum tutti_err tt_snapshot_restore(const struct tt_snapshot *snapshot, struct tt_rank *rank)
{
    if (rank->ticks)
        memcpy(rank->ticks->states, snapshot->ticks, rank->ticks->state_count * sizeof *snapshot->ticks);
    memcpy(rank->wires.signals, snapshot->signals, rank->wires.unit_size);
    memcpy(rank->wires.staged, snapshot->staged, rank->wires.staged_size);
    memcpy(rank->wires.gathered, snapshot->gathered, rank->wires.gather_count * sizeof(double));
    for (unsigned o = 0; o < rank->wires.order; o++)
        memcpy(rank->wires.gathered_slopes[o], snapshot->gathered_slopes[o], rank->wires.gather_count * sizeof(double));
    for (uint32_t m = 0; m < rank->member_count; m++)
        rank->members[m].now = snapshot->members[m];
    for (uint32_t i = 0; i < rank->own_count; i++)
        TRY(restore_unit(snapshot, rank->own[i]));
    TRY(tt_wires_reread_texts(&rank->wires, rank->units));
    if (rank->channels.texts) /* those of other ranks are pointers, too */
        TRY(tt_channels_exchange(&rank->channels));
    TRY(tt_wires_texts_restore(snapshot->texts, &rank->wires));
    rank->t = snapshot->t;
    rank->stats->events_located = snapshot->events_located;
    rank->own_events = snapshot->own_events;
    rank->ended = NULL;
    return TUTTI_OK;
}

static void snapshot_restore_signals(const struct tt_snapshot *snapshot, const struct tt_rank *rank, uint32_t component)
{
    const struct tt_unit_wires *wires = &rank->wires.units[component];
    for (unsigned b = 0; b < wires->output_blocks; b++) {
        const struct tt_block *block = &wires->outputs[b];
        size_t offset = (size_t)((const char *)block->values - rank->wires.signals);
        if (!block->owned)
            memcpy(block->values, snapshot->signals + offset, block->value_count * tt_type_size(block->type));
    }
}

/* Texts are pointers: they are read again. */
static enum tutti_err snapshot_read_texts(const struct tt_member *member)
{
    for (unsigned b = 0; b < member->wires->output_blocks; b++) {
        struct tt_block *block = &member->wires->outputs[b];
        if (!block->owned)
            continue;
        TRY(member->unit->kind->get(member->unit, block));
        TRY(tt_signals_own(block));
    }
    return TUTTI_OK;
}

enum tutti_err tt_snapshot_restore_member(const struct tt_snapshot *snapshot, struct tt_rank *rank,
                                          struct tt_member *member)
{
    struct tt_unit_wires *wires = member->wires;
    size_t first = wires->gather_first, size = wires->gather_count * sizeof(double);
    memcpy(rank->wires.gathered + first, snapshot->gathered + first, size);
    for (unsigned o = 0; o < rank->wires.order; o++)
        memcpy(rank->wires.gathered_slopes[o] + first, snapshot->gathered_slopes[o] + first, size);
    member->now = snapshot->members[member->component];
    TRY(restore_unit(snapshot, member));
    /* Gathered values may be newer than those of the unit. */
    wires->held_changed = wires->held_changed || (wires->held_blocks > 0 && !member->unit->has_events);
    snapshot_restore_signals(snapshot, rank, member->component);
    return snapshot_read_texts(member);
}

enum tutti_err tt_snapshot_restore_members(const struct tt_snapshot *snapshot, struct tt_rank *rank,
                                           const uint32_t *components, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (tt_rank_owns(rank, components[i]))
            TRY(tt_snapshot_restore_member(snapshot, rank, &rank->members[components[i]]));
        else
            snapshot_restore_signals(snapshot, rank, components[i]);
    return rank->channels.texts ? tt_channels_exchange(&rank->channels) : TUTTI_OK;
}

void tt_snapshot_fini(struct tt_snapshot *snapshot, struct tt_rank *rank)
{
    for (uint32_t m = 0; snapshot->made && m < rank->member_count; m++)
        if (rank->members[m].unit)
            rank->members[m].unit->kind->discard(rank->members[m].unit, snapshot->saved[m]);
    tt_wires_texts_fini(snapshot->texts);
    tt_arena_fini(&snapshot->arena);
    *snapshot = (struct tt_snapshot){0};
}
