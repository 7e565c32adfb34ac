/* SPDX-License-Identifier: MIT */
#include "sim/snapshot.h"

#include <string.h>

#include "base/wall_clock.h"
#include "sim/ticks.h"
#include "sim/signals/wires.h"

/* ---- the list ---- */

_Static_assert(TUTTI_MOST_ORDER == 3, "state.def lists the slopes of each order");

#define ROLLBACK TUTTI_STATE_ROLLBACK
#define POINT TUTTI_STATE_POINT
#define CHECKPOINT TUTTI_STATE_CHECKPOINT

size_t tt_snapshot_list(const struct tt_rank *rank, const struct tt_member *member, enum tt_state_owner owner,
                        struct tt_state_piece pieces[TUTTI_MOST_PIECES])
{
    struct tt_state_piece *end = pieces;
#define STATE(owner_, data, count, carried)                                                                            \
    if (owner == TUTTI_STATE_OF_##owner_)                                                                              \
        *end++ = (struct tt_state_piece){(void *)(data), (count) * sizeof *(data), carried, NULL};
#include "sim/state.def"
    return (size_t)(end - pieces);
}

/* ---- a point in this process ---- */

static enum tutti_err snapshot_allocate(struct tt_snapshot *snapshot, const struct tt_rank *rank)
{
    struct tt_arena *arena = &snapshot->arena;
    uint32_t count = rank->member_count;
    snapshot->saved = tt_arena_array(arena, count, sizeof(struct tt_unit_saved *));
    snapshot->own_first = tt_arena_array(arena, (size_t)count + 1, sizeof *snapshot->own_first);
    struct tt_state_piece *at = snapshot->pieces =
        tt_arena_array(arena, (2 * (size_t)count + 1) * TUTTI_MOST_PIECES, sizeof *snapshot->pieces);
    if (!snapshot->saved || !snapshot->own_first || !at)
        return tt_fail_memory();
    at += tt_snapshot_list(rank, NULL, TUTTI_STATE_OF_RANK, at);
    for (uint32_t m = 0; m < count; m++)
        at += tt_snapshot_list(rank, &rank->members[m], TUTTI_STATE_OF_UNIT, at);
    for (uint32_t m = 0; m < count; m++) {
        snapshot->own_first[m] = (size_t)(at - snapshot->pieces);
        at += tt_rank_owns(rank, m) ? tt_snapshot_list(rank, &rank->members[m], TUTTI_STATE_OF_OWN, at) : 0;
    }
    snapshot->piece_count = snapshot->own_first[count] = (size_t)(at - snapshot->pieces);
    for (struct tt_state_piece *piece = snapshot->pieces; piece < at; piece++) {
        piece->saved = tt_arena_alloc(arena, piece->size);
        if (!piece->saved)
            return tt_fail_memory();
        if (piece->data == rank->wires.signals)
            snapshot->signals = piece->saved;
    }
    TRY(tt_wires_texts_init(&snapshot->texts, &rank->wires, arena));
    snapshot->member_count = count;
    snapshot->made = true;
    return TUTTI_OK;
}

/* Where a member was, as saved: the only piece of a unit. */
const struct tt_member_state *tt_snapshot_member(const struct tt_snapshot *snapshot, uint32_t component)
{
    size_t before = snapshot->own_first[0] - (size_t)snapshot->member_count + component;
    return (const struct tt_member_state *)(const void *)snapshot->pieces[before].saved;
}

enum tutti_err tt_snapshot_take(struct tt_snapshot *snapshot, struct tt_rank *rank)
{
    if (!snapshot->made)
        TRY(snapshot_allocate(snapshot, rank));
    for (uint32_t i = 0; i < rank->own_count; i++) {
        struct tt_unit *unit = rank->own[i]->unit;
        double before = tt_wall_clock_now();
        TRY(unit->kind->save(unit, &snapshot->saved[rank->own[i]->component]));
        unit->times.save_seconds += tt_wall_clock_now() - before;
        unit->counts.points++;
    }
    for (size_t i = 0; i < snapshot->piece_count; i++)
        if (snapshot->pieces[i].size > 0)
            memcpy(snapshot->pieces[i].saved, snapshot->pieces[i].data, snapshot->pieces[i].size);
    snapshot->t = rank->t;
    return tt_wires_texts_save(snapshot->texts, &rank->wires);
}

static void snapshot_restore_pieces(const struct tt_snapshot *snapshot, size_t first, size_t end,
                                    enum tt_state_carried what)
{
    for (const struct tt_state_piece *piece = snapshot->pieces + first; piece < snapshot->pieces + end; piece++)
        if (piece->size > 0 && piece->carried & what)
            memcpy(piece->data, piece->saved, piece->size);
}

static enum tutti_err restore_unit(const struct tt_snapshot *snapshot, struct tt_unit *unit, uint32_t component)
{
    double before = tt_wall_clock_now();
    TRY(unit->kind->restore(unit, snapshot->saved[component]));
    unit->times.restore_seconds += tt_wall_clock_now() - before;
    return TUTTI_OK;
}

enum tutti_err tt_snapshot_restore(const struct tt_snapshot *snapshot, struct tt_rank *rank, enum tt_state_carried what)
{
    snapshot_restore_pieces(snapshot, 0, snapshot->piece_count, what);
    for (uint32_t i = 0; i < rank->own_count; i++)
        TRY(restore_unit(snapshot, rank->own[i]->unit, rank->own[i]->component));
    TRY(tt_wires_reread_texts(&rank->wires, rank->units));
    if (rank->channels.texts) /* those of other ranks are pointers, too */
        TRY(tt_channels_exchange(&rank->channels));
    TRY(tt_wires_texts_restore(snapshot->texts, &rank->wires));
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
    uint32_t m = member->component;
    snapshot_restore_pieces(snapshot, snapshot->own_first[m], snapshot->own_first[m + 1], TUTTI_STATE_ROLLBACK);
    member->now = *tt_snapshot_member(snapshot, m);
    TRY(restore_unit(snapshot, member->unit, m));
    /* Gathered values may be newer than those of the unit. */
    wires->held_changed = wires->held_changed || (wires->held_blocks > 0 && !member->unit->has_events);
    snapshot_restore_signals(snapshot, rank, m);
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

/* ---- for another process ---- */

void tt_snapshot_pack(const struct tt_rank *rank, const struct tt_member *member, enum tt_state_owner owner,
                      struct tt_byte_writer *parcel)
{
    struct tt_state_piece pieces[TUTTI_MOST_PIECES];
    size_t count = tt_snapshot_list(rank, member, owner, pieces);
    for (size_t i = 0; i < count; i++)
        if (pieces[i].carried & CHECKPOINT)
            tt_bytes_put_block(parcel, pieces[i].data, pieces[i].size);
}

enum tutti_err tt_snapshot_unpack(struct tt_rank *rank, struct tt_member *member, enum tt_state_owner owner,
                                  struct tt_byte_reader *in)
{
    struct tt_state_piece pieces[TUTTI_MOST_PIECES];
    size_t count = tt_snapshot_list(rank, member, owner, pieces);
    for (size_t i = 0; i < count && !in->bad; i++)
        if (pieces[i].carried & CHECKPOINT)
            (void)tt_bytes_get_copy(in, pieces[i].data, pieces[i].size);
    return in->bad ? tt_fail(TUTTI_ERR_FORMAT, "the checkpoint is not one of this run") : TUTTI_OK;
}
