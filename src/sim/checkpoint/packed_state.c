/* SPDX-License-Identifier: MIT */
#include "sim/checkpoint/packed_state.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/text.h"
#include "sim/coupling/coupling.h"
#include "sim/rank.h"
#include "sim/pending_set.h"
#include "sim/ticks.h"
#include "unit/replay.h"

/* ---- which units can be packed ---- */

bool tt_packed_state_uses_replay(const struct tt_rank *rank, const struct tt_unit *unit)
{
    return rank->job->options.checkpoint_replay && (!(unit->can & TUTTI_CAN_SERIALIZE) || unit->forgets);
}

/* A Model Exchange FMU without event indicators needs no saved state before its first event: time, states, inputs
 * suffice. */
bool tt_packed_state_serializes(const struct tt_unit *unit)
{
    return unit->can & TUTTI_CAN_SERIALIZE ||
           (unit->kind->interface == TUTTI_ME && unit->fmu->desc->event_indicator_count == 0);
}

enum tutti_err tt_packed_state_check_units(struct tt_execution *execution)
{
    struct tt_rank *rank = &execution->rank;
    struct tt_text names = {0};
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_unit *unit = rank->members[m].unit;
        if (!tt_packed_state_serializes(unit) && !tt_packed_state_uses_replay(rank, unit))
            tt_text_printf(&names, "%s%s", names.length > 0 ? ", " : "", unit->name);
    }
    enum tutti_err err =
        names.length == 0
            ? TUTTI_OK
            : tt_fail(
                  TUTTI_ERR_UNSUPPORTED,
                  "no checkpoint can be taken of %s: an FMU that cannot serialise its state "
                  "(canSerializeFMUstate) cannot "
                  "go on in another process; export it with that, let what it was told be replayed "
                  "(--checkpoint-replay), or, if it has Model Exchange without event indicators, try --interface me",
                  names.failed ? "some units" : names.text);
    tt_text_fini(&names);
    return err;
}

/* ---- units restored by repeating their calls ---- */

/* All records of a rank come into one frame, and into its memory. */
static const size_t MOST_RECORDED = (size_t)3 << 30;

/* A solver that all units share calls their FMUs in ways that no record of one unit holds. */
static enum tutti_err check_joint_solver(const struct tt_execution *execution)
{
    const struct tt_rank *rank = &execution->rank;
    const struct tt_coupling *coupling = execution->master.chosen.coupling;
    for (uint32_t m = 0; m < rank->member_count && coupling && coupling->joins; m++)
        if (tt_packed_state_uses_replay(rank, rank->members[m].unit))
            return tt_fail(TUTTI_ERR_UNSUPPORTED,
                           "%s: --checkpoint-replay cannot record what an FMU is told with --coupling %s; use another "
                           "coupling, or an FMU that can serialise its state (canSerializeFMUstate)",
                           rank->members[m].unit->name, coupling->name);
    return TUTTI_OK;
}

enum tutti_err tt_packed_state_attach_replay(struct tt_execution *execution)
{
    struct tt_rank *rank = &execution->rank;
    uint32_t count = 0;
    TRY(check_joint_solver(execution));
    for (uint32_t i = 0; i < rank->own_count; i++)
        count += tt_packed_state_uses_replay(rank, rank->own[i]->unit);
    for (uint32_t i = 0; i < rank->own_count; i++)
        if (tt_packed_state_uses_replay(rank, rank->own[i]->unit))
            TRY(tt_replay_attach(rank->own[i]->unit, MOST_RECORDED / count));
    return TUTTI_OK;
}

void tt_packed_state_record_replay(struct tt_execution *execution)
{
    for (uint32_t i = 0; i < execution->rank.own_count; i++)
        if (execution->rank.own[i]->unit->replay)
            tt_replay_start(execution->rank.own[i]->unit);
}

/* A replay may be slow: the rank sends heartbeats, and ends on request. */
static enum tutti_err packed_state_check_alive(void *context, double t)
{
    struct tt_rank *rank = context;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    tt_rank_publish_time(rank, t);
    return interrupt && *interrupt
               ? tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted while units were brought back to where they were")
               : TUTTI_OK;
}

/* ---- packing ---- */

void tt_packed_state_fini_packer(struct tt_state_packer *packer, struct tt_execution *execution)
{
    const struct tt_rank *rank = &execution->rank;
    for (uint32_t i = 0; packer->saved && i < rank->own_count; i++)
        rank->own[i]->unit->kind->discard(rank->own[i]->unit, packer->saved[i]);
    free(packer->saved);
    packer->saved = NULL;
}

/* What the rank alone knows: counts, and what is of use to a rank with the same units. */
static void pack_rank(struct tt_execution *execution, struct tt_byte_writer *parcel)
{
    const struct tt_rank *rank = &execution->rank;
    tt_execution_gather_counts(&execution->master);
    tt_stats_pack_kept(rank->stats, TUTTI_STAT_OWN, parcel);
    tt_bytes_put_u64(parcel, rank->own_rejected);
    tt_bytes_put_u64(parcel, rank->own_events);
    tt_bytes_put_u32(parcel, rank->own_count);
    for (uint32_t i = 0; i < rank->own_count; i++)
        tt_bytes_put_u32(parcel, rank->own[i]->component);
    tt_rollback_list_pack(&execution->master.remembered, TUTTI_OF_RANK, parcel);
}

/* Counts of several ranks add up if their units have come together. */
static enum tutti_err unpack_rank(struct tt_execution *execution, struct tt_byte_reader *in)
{
    struct tt_rank *rank = &execution->rank;
    const struct tt_rollback_list *remembered = &execution->master.remembered;
    TRY(tt_stats_unpack_kept(rank->stats, TUTTI_STAT_OWN, in));
    rank->own_rejected += (unsigned long)tt_bytes_get_u64(in);
    rank->own_events += (unsigned long)tt_bytes_get_u64(in);
    uint32_t count = tt_bytes_get_u32(in);
    bool same = count == rank->own_count;
    for (uint32_t i = 0; i < count && !in->bad; i++) {
        uint32_t component = tt_bytes_get_u32(in);
        same = same && component == rank->own[i]->component;
    }
    struct tt_byte_reader pieces = *in;
    size_t size = 0;
    (void)tt_bytes_get_block(in, &size);
    return same && !in->bad && size == tt_rollback_list_size(remembered, TUTTI_OF_RANK)
               ? tt_rollback_list_unpack(remembered, TUTTI_OF_RANK, &pieces)
               : TUTTI_OK;
}

enum tutti_err tt_packed_state_pack_common(struct tt_execution *execution, struct tt_byte_writer *parcel)
{
    const struct tt_rank *rank = &execution->rank;
    tt_execution_gather_counts(&execution->master);
    tt_stats_pack_kept(rank->stats, TUTTI_STAT_SHARED, parcel);
    tt_pending_set_pack_all(rank->pending_sets, parcel);
    tt_snapshot_pack(rank, NULL, TUTTI_STATE_OF_RANK, parcel);
    tt_bytes_put_u8(parcel, execution->master.outputs.fresh);
    tt_bytes_put_u8(parcel, execution->master.detector.known);
    tt_rollback_list_pack(&execution->master.remembered, TUTTI_OF_ALL, parcel);
    tt_bytes_put_u8(parcel, rank->own_count == 0); /* otherwise its first unit brings it */
    if (rank->own_count == 0)
        pack_rank(execution, parcel);
    return parcel->failed ? tt_fail_memory() : TUTTI_OK;
}

static void pack_blocks(const struct tt_block *blocks, unsigned count, struct tt_byte_writer *parcel)
{
    for (unsigned b = 0; b < count; b++)
        tt_signals_block_pack(&blocks[b], parcel);
}

/* Packs the state of a unit that other ranks use, too. */
static void pack_shared_state(const struct tt_execution *execution, const struct tt_member *member,
                              struct tt_byte_writer *parcel)
{
    tt_snapshot_pack(&execution->rank, member, TUTTI_STATE_OF_UNIT, parcel);
    pack_blocks(member->wires->outputs, member->wires->output_blocks, parcel);
    tt_rollback_list_pack(&execution->master.remembered, member->component, parcel);
    tt_ticks_pack(&execution->rank, member, parcel);
}

/* Packs the values last set, and those read since. */
static void pack_member_signals(const struct tt_execution *execution, const struct tt_member *member,
                                struct tt_byte_writer *parcel)
{
    const struct tt_sim *master = &execution->master;
    const struct tt_unit_wires *own = member->wires;
    pack_blocks(own->moving, own->moving_blocks, parcel);
    pack_blocks(own->held, own->held_blocks, parcel);
    tt_snapshot_pack(&execution->rank, member, TUTTI_STATE_OF_OWN, parcel);
    if (member->inputs)
        tt_inputs_pack(member->inputs, parcel);
    if (master->outputs.signals)
        tt_signals_pack(&master->outputs.signals[member->component], parcel);
    if (master->detector.discretes)
        tt_signals_pack(&master->detector.discretes[member->component].start, parcel);
}

void tt_packed_state_flush_counts(struct tt_execution *execution)
{
    tt_fast_flush_counts(&execution->master.lane);
}

enum tutti_err tt_packed_state_pack_unit_at(struct tt_execution *execution, uint32_t own,
                                            const struct tt_unit_saved *saved, struct tt_byte_writer *parcel)
{
    struct tt_rank *rank = &execution->rank;
    struct tt_member *member = rank->own[own];
    struct tt_unit *unit = member->unit;
    pack_shared_state(execution, member, parcel);
    pack_member_signals(execution, member, parcel);
    tt_bytes_put_u8(parcel, unit->replay != NULL);
    TRY(unit->replay ? tt_replay_pack(unit, parcel) : unit->kind->pack(unit, saved, parcel));

    tt_bytes_put_block(parcel, &unit->counts, sizeof unit->counts);
    tt_bytes_put_u32(parcel, unit->directional_tests);
    tt_bytes_put_u8(parcel, own == 0);
    if (own == 0)
        pack_rank(execution, parcel);
    return TUTTI_OK;
}

enum tutti_err tt_packed_state_pack_unit(struct tt_state_packer *packer, struct tt_execution *execution, uint32_t own,
                                         struct tt_byte_writer *parcel)
{
    struct tt_rank *rank = &execution->rank;
    struct tt_unit *unit = rank->own[own]->unit;
    if (!packer->saved)
        packer->saved = calloc((size_t)rank->own_count + 1, sizeof(struct tt_unit_saved *));
    if (!packer->saved)
        return tt_fail_memory();
    if (!unit->replay)
        TRY(unit->kind->save(unit, &packer->saved[own]));
    return tt_packed_state_pack_unit_at(execution, own, packer->saved[own], parcel);
}

void tt_packed_state_pack_remote(const struct tt_execution *execution, uint32_t component,
                                 struct tt_byte_writer *parcel)
{
    pack_shared_state(execution, &execution->rank.members[component], parcel);
}

/* ---- unpacking ---- */

static enum tutti_err fail_other_run(const char *unit)
{
    return tt_fail(TUTTI_ERR_FORMAT, "%s%sthe checkpoint is not one of this run", unit, unit[0] ? ": " : "");
}

static enum tutti_err unpack_common(struct tt_execution *execution, struct tt_bytes piece)
{
    struct tt_byte_reader in = tt_bytes_get_begin(piece);
    struct tt_rank *rank = &execution->rank;
    TRY(tt_stats_unpack_kept(rank->stats, TUTTI_STAT_SHARED, &in));
    TRY(tt_pending_set_unpack_all(rank, &in));
    TRY(tt_snapshot_unpack(rank, NULL, TUTTI_STATE_OF_RANK, &in));
    execution->master.outputs.fresh = tt_bytes_get_u8(&in) != 0;
    execution->master.detector.known = tt_bytes_get_u8(&in) != 0;
    TRY(tt_rollback_list_unpack(&execution->master.remembered, TUTTI_OF_ALL, &in));
    if (tt_bytes_get_u8(&in)) {
        if (rank->fabric->rank > 0)
            return TUTTI_OK;
        TRY(unpack_rank(execution, &in));
    }
    return in.bad || in.at != in.end ? fail_other_run("") : TUTTI_OK;
}

static enum tutti_err unpack_blocks(struct tt_block *blocks, unsigned count, struct tt_byte_reader *in)
{
    for (unsigned b = 0; b < count; b++)
        TRY(tt_signals_block_unpack(&blocks[b], in));
    return TUTTI_OK;
}

static enum tutti_err unpack_member_signals(struct tt_execution *execution, struct tt_member *member,
                                            struct tt_byte_reader *in)
{
    struct tt_sim *master = &execution->master;
    struct tt_unit_wires *own = member->wires;
    TRY(unpack_blocks(own->moving, own->moving_blocks, in));
    TRY(unpack_blocks(own->held, own->held_blocks, in));
    TRY(tt_snapshot_unpack(&execution->rank, member, TUTTI_STATE_OF_OWN, in));
    if (member->inputs)
        TRY(tt_inputs_unpack(member->inputs, in));
    if (master->outputs.signals)
        TRY(tt_signals_unpack(&master->outputs.signals[member->component], in));
    return master->detector.discretes ? tt_signals_unpack(&master->detector.discretes[member->component].start, in)
                                      : TUTTI_OK;
}

static enum tutti_err packed_state_unpack_unit(struct tt_rank *rank, struct tt_unit *unit, struct tt_byte_reader *in)
{
    struct tt_unit_saved *saved = NULL;
    const struct tt_replay_watch watch = {packed_state_check_alive, rank};
    bool is_recorded = tt_bytes_get_u8(in) != 0;
    if (is_recorded != (unit->replay != NULL))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "%s: the checkpoint was taken %s --checkpoint-replay: go on with the same options", unit->name,
                       is_recorded ? "with" : "without");
    if (is_recorded)
        return tt_replay_unpack(unit, in, &watch);
    enum tutti_err err = unit->kind->unpack(unit, in, &saved);
    if (!err)
        err = unit->kind->restore(unit, saved);
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    unit->kind->discard(unit, saved);
    return tt_fail_restore(&failure);
}

/* For a unit of a different rank, unpacks the shared part; its rank unpacks the rest. */
static enum tutti_err unpack_member(struct tt_execution *execution, struct tt_member *member, struct tt_bytes piece)
{
    struct tt_byte_reader in = tt_bytes_get_begin(piece);
    TRY(tt_snapshot_unpack(&execution->rank, member, TUTTI_STATE_OF_UNIT, &in));
    TRY(unpack_blocks(member->wires->outputs, member->wires->output_blocks, &in));
    TRY(tt_rollback_list_unpack(&execution->master.remembered, member->component, &in));
    TRY(tt_ticks_unpack(&execution->rank, member, &in));
    if (!tt_rank_owns(&execution->rank, member->component))
        return TUTTI_OK;
    TRY(unpack_member_signals(execution, member, &in));
    tt_rank_publish_unit(&execution->rank, member->component);
    TRY(packed_state_unpack_unit(&execution->rank, member->unit, &in));

    (void)tt_bytes_get_copy(&in, &member->unit->counts, sizeof member->unit->counts);
    member->unit->directional_tests = tt_bytes_get_u32(&in);
    tt_unit_restart_times(member->unit);
    if (tt_bytes_get_u8(&in))
        TRY(unpack_rank(execution, &in));
    return in.bad || in.at != in.end ? fail_other_run(member->unit->name) : TUTTI_OK;
}

unsigned long tt_packed_state_count_rows(const struct tt_checkpoint *checkpoint)
{
    struct tt_byte_reader in = tt_bytes_get_begin(checkpoint->common);
    struct tutti_run_stats stats = {0};
    enum tutti_err err = tt_stats_unpack_kept(&stats, TUTTI_STAT_SHARED, &in);
    unsigned long rows = err || in.bad ? 0 : stats.rows; /* the ranks find out, too */
    tt_stats_fini(&stats);
    return rows;
}

enum tutti_err tt_packed_state_unpack(struct tt_execution *execution, const struct tt_checkpoint *checkpoint)
{
    struct tt_rank *rank = &execution->rank;
    struct tt_sim *master = &execution->master;
    if (checkpoint->unit_count != rank->member_count)
        return fail_other_run("");
    tt_fast_flush_counts(&master->lane); /* what was counted so far is not of this run */
    rank->own_rejected = rank->own_events = 0;
    tt_stats_reset_own(rank->stats);
    TRY(unpack_common(execution, checkpoint->common));
    for (uint32_t m = 0; m < rank->member_count; m++)
        TRY(unpack_member(execution, &rank->members[m], checkpoint->units[m]));
    tt_execution_scatter_counts(master);
    rank->target = rank->t;
    rank->fabric->step = rank->stats->steps;
    master->exchange_deferred = false; /* every rank has all signals */
    tt_watch_restart_growth(&execution->loop.growth, rank);
    tt_rank_publish_time(rank, rank->t);
    return TUTTI_OK;
}
