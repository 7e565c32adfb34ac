/* SPDX-License-Identifier: MIT */
#include "master/snapshot.h"

#include <string.h>

#include "base/clock.h"
#include "master/loop.h"
#include "master/texts.h"

static enum tutti_err make(struct tutti_snapshot *snapshot, const struct run *run)
{
    struct tutti_arena *arena = &snapshot->arena;
    uint32_t count = run->member_count;
    snapshot->saved = tutti_arena_array(arena, count, sizeof(struct tutti_unit_saved *));
    snapshot->members = tutti_arena_array(arena, count, sizeof *snapshot->members);
    snapshot->inputs = run->table_count > 0 ? tutti_arena_array(arena, count, sizeof *snapshot->inputs) : NULL;
    snapshot->signals = tutti_arena_alloc(arena, run->wires.signal_size);
    snapshot->staged = tutti_arena_alloc(arena, run->wires.staged_size);
    snapshot->gathered = tutti_arena_array(arena, run->wires.gather_count, sizeof *snapshot->gathered);
    snapshot->held_changed = tutti_arena_array(arena, count, sizeof *snapshot->held_changed);
    bool all = snapshot->saved && snapshot->members && (run->table_count == 0 || snapshot->inputs) &&
               snapshot->signals && snapshot->staged && snapshot->gathered && snapshot->held_changed;
    for (unsigned o = 0; o < run->wires.order; o++) {
        snapshot->gathered_slopes[o] = tutti_arena_array(arena, run->wires.gather_count, sizeof(double));
        all = all && snapshot->gathered_slopes[o];
    }
    if (!all)
        return tutti_fail_memory();
    TRY(tutti_texts_init(&snapshot->texts, &run->wires, arena));
    snapshot->made = true;
    return TUTTI_OK;
}

enum tutti_err tutti_snapshot_take(struct tutti_snapshot *snapshot, struct run *run)
{
    if (!snapshot->made)
        TRY(make(snapshot, run));
    for (uint32_t i = 0; i < run->own_count; i++) {
        struct tutti_member *member = run->own[i];
        uint32_t m = member->component;
        double before = tutti_clock_now();
        TRY(member->unit->kind->save(member->unit, &snapshot->saved[m]));
        member->unit->counts.save_seconds += tutti_clock_now() - before;
        if (snapshot->inputs && member->inputs)
            snapshot->inputs[m] = *member->inputs;
        snapshot->held_changed[m] = member->wires->held_changed;
    }
    memcpy(snapshot->members, run->members, run->member_count * sizeof *run->members);
    memcpy(snapshot->signals, run->wires.signals, run->wires.signal_size);
    memcpy(snapshot->staged, run->wires.staged, run->wires.staged_size);
    memcpy(snapshot->gathered, run->wires.gathered, run->wires.gather_count * sizeof(double));
    for (unsigned o = 0; o < run->wires.order; o++)
        memcpy(snapshot->gathered_slopes[o], run->wires.gathered_slopes[o], run->wires.gather_count * sizeof(double));
    TRY(tutti_texts_keep(snapshot->texts, &run->wires));
    snapshot->t = run->t;
    snapshot->events_located = run->stats->events_located;
    snapshot->own_events = run->own_events;
    return TUTTI_OK;
}

enum tutti_err tutti_snapshot_restore(const struct tutti_snapshot *snapshot, struct run *run)
{
    memcpy(run->wires.signals, snapshot->signals, run->wires.signal_size);
    memcpy(run->wires.staged, snapshot->staged, run->wires.staged_size);
    memcpy(run->wires.gathered, snapshot->gathered, run->wires.gather_count * sizeof(double));
    for (unsigned o = 0; o < run->wires.order; o++)
        memcpy(run->wires.gathered_slopes[o], snapshot->gathered_slopes[o], run->wires.gather_count * sizeof(double));
    memcpy(run->members, snapshot->members, run->member_count * sizeof *run->members);
    for (uint32_t i = 0; i < run->own_count; i++) {
        struct tutti_member *member = run->own[i];
        uint32_t m = member->component;
        double before = tutti_clock_now();
        TRY(member->unit->kind->restore(member->unit, snapshot->saved[m]));
        member->unit->counts.restore_seconds += tutti_clock_now() - before;
        if (member->inputs)
            *member->inputs = snapshot->inputs[m];
        member->wires->held_changed = snapshot->held_changed[m];
    }
    TRY(tutti_wires_renew(&run->wires, run->units));
    if (run->channels.texts) /* those of other ranks are pointers, too */
        TRY(tutti_channels_exchange(run));
    TRY(tutti_texts_bring_back(snapshot->texts, &run->wires));
    run->t = snapshot->t;
    run->stats->events_located = snapshot->events_located;
    run->own_events = snapshot->own_events;
    run->ended = NULL;
    return TUTTI_OK;
}

void tutti_snapshot_fini(struct tutti_snapshot *snapshot, struct run *run)
{
    for (uint32_t m = 0; snapshot->made && m < run->member_count; m++)
        if (run->members[m].unit)
            run->members[m].unit->kind->discard(run->members[m].unit, snapshot->saved[m]);
    tutti_texts_fini(snapshot->texts);
    tutti_arena_fini(&snapshot->arena);
    *snapshot = (struct tutti_snapshot){0};
}
