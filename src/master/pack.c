/* SPDX-License-Identifier: MIT */
#include "master/pack.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/str.h"
#include "master/coupling/coupling.h"
#include "rank/agree.h"
#include "rank/pending_set.h"
#include "rank/ticks.h"
#include "unit/replay.h"

/* ---- which units can be packed ---- */

bool tutti_pack_replays(const struct tutti_rank *rank, const struct tutti_unit *unit)
{
    return rank->job->options.checkpoint_replay && (!(unit->can & TUTTI_CAN_SERIALIZE) || unit->forgets);
}

/* Without event indicators a Model Exchange FMU may do without: time, states and inputs are all there is until its first event. */
bool tutti_pack_serialises(const struct tutti_unit *unit)
{
    return unit->can & TUTTI_CAN_SERIALIZE ||
           (unit->kind->interface == TUTTI_ME && unit->fmu->desc->event_indicator_count == 0);
}

static bool may_be_packed(const struct tutti_rank *rank, const struct tutti_unit *unit)
{
    return tutti_pack_serialises(unit) || tutti_pack_replays(rank, unit);
}

enum tutti_err tutti_pack_check(struct tutti_execution *execution)
{
    struct tutti_rank *rank = &execution->rank;
    struct tutti_text names = {0};
    for (uint32_t m = 0; m < rank->member_count; m++)
        if (!may_be_packed(rank, rank->members[m].unit))
            tutti_text_printf(&names, "%s%s", names.length > 0 ? ", " : "", rank->members[m].unit->name);
    enum tutti_err err =
        names.length == 0
            ? TUTTI_OK
            : tutti_fail(
                  TUTTI_ERR_UNSUPPORTED,
                  "no checkpoint can be taken of %s: an FMU that cannot serialise its state "
                  "(canSerializeFMUstate) cannot "
                  "go on in another process; export it with that, let what it was told be replayed "
                  "(--checkpoint-replay), or, if it has Model Exchange without event indicators, try --interface me",
                  names.failed ? "some units" : names.text);
    tutti_text_fini(&names);
    return err;
}

/* ---- units that are told again what they were told ---- */

/* All records of a rank come into one frame, and into its memory. */
static const size_t MOST_RECORDED = (size_t)3 << 30;

/* A solver that all units share calls their FMUs in ways that no record of one unit holds. */
static enum tutti_err check_joined(const struct tutti_execution *execution)
{
    const struct tutti_rank *rank = &execution->rank;
    const struct tutti_coupling *coupling = execution->master.chosen.coupling;
    for (uint32_t m = 0; m < rank->member_count && coupling && coupling->joins; m++)
        if (tutti_pack_replays(rank, rank->members[m].unit))
            return tutti_fail(
                TUTTI_ERR_UNSUPPORTED,
                "%s: --checkpoint-replay cannot record what an FMU is told with --coupling %s; use another "
                "coupling, or an FMU that can serialise its state (canSerializeFMUstate)",
                rank->members[m].unit->name, coupling->name);
    return TUTTI_OK;
}

enum tutti_err tutti_pack_attach(struct tutti_execution *execution)
{
    struct tutti_rank *rank = &execution->rank;
    uint32_t count = 0;
    TRY(check_joined(execution));
    for (uint32_t i = 0; i < rank->own_count; i++)
        count += tutti_pack_replays(rank, rank->own[i]->unit);
    for (uint32_t i = 0; i < rank->own_count; i++)
        if (tutti_pack_replays(rank, rank->own[i]->unit))
            TRY(tutti_replay_attach(rank->own[i]->unit, MOST_RECORDED / count));
    return TUTTI_OK;
}

void tutti_pack_record(struct tutti_execution *execution)
{
    for (uint32_t i = 0; i < execution->rank.own_count; i++)
        if (execution->rank.own[i]->unit->replay)
            tutti_replay_begin(execution->rank.own[i]->unit);
}

/* It may take long: the rank shows that it lives, and ends when it is told to. */
static enum tutti_err pass(void *context, double t)
{
    struct tutti_rank *rank = context;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    tutti_rank_tell_time(rank, t);
    return interrupt && *interrupt
               ? tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted while units were brought back to where they were")
               : TUTTI_OK;
}

/* ---- packing ---- */

void tutti_packer_fini(struct tutti_packer *packer, struct tutti_execution *execution)
{
    const struct tutti_rank *rank = &execution->rank;
    for (uint32_t i = 0; packer->saved && i < rank->own_count; i++)
        rank->own[i]->unit->kind->discard(rank->own[i]->unit, packer->saved[i]);
    free(packer->saved);
    packer->saved = NULL;
}

/* Counts of the run that all ranks have alike. */
static void pack_counts(const struct tutti_execution *execution, struct tutti_parcel *parcel)
{
    const struct tutti_run_stats *stats = execution->rank.stats;
    const unsigned long counts[] = {stats->steps,
                                    stats->rejected,
                                    stats->iterations,
                                    stats->events_located,
                                    execution->master.not_converged,
                                    execution->master.forced,
                                    execution->observer.rows};
    tutti_parcel_put_block(parcel, counts, sizeof counts);
}

static bool unpack_counts(struct tutti_execution *execution, struct tutti_unparcel *in)
{
    struct tutti_run_stats *stats = execution->rank.stats;
    unsigned long counts[7];
    if (!tutti_unparcel_into(in, counts, sizeof counts))
        return false;
    stats->steps = counts[0];
    stats->rejected = counts[1];
    stats->iterations = counts[2];
    stats->events_located = counts[3];
    execution->master.not_converged = counts[4];
    execution->master.forced = counts[5];
    execution->observer.rows = counts[6];
    return true;
}

enum tutti_err tutti_pack_common(struct tutti_execution *execution, struct tutti_parcel *parcel)
{
    tutti_pending_sets_pack(execution->rank.pending_sets, parcel);
    tutti_parcel_put_double(parcel, execution->rank.t);
    pack_counts(execution, parcel);
    tutti_remembered_pack(&execution->master.remembered, TUTTI_OF_ALL, parcel);
    return parcel->failed ? tutti_fail_memory() : TUTTI_OK;
}

static void pack_blocks(const struct tutti_block *blocks, unsigned count, struct tutti_parcel *parcel)
{
    for (unsigned b = 0; b < count; b++)
        tutti_block_pack(&blocks[b], parcel);
}

/* What other ranks need to know of a unit, too. */
static void pack_shared(const struct tutti_execution *execution, const struct tutti_member *member,
                        struct tutti_parcel *parcel)
{
    tutti_parcel_put_block(parcel, &member->now, sizeof member->now);
    pack_blocks(member->wires->outputs, member->wires->output_blocks, parcel);
    tutti_remembered_pack(&execution->master.remembered, member->component, parcel);
    tutti_ticks_pack(&execution->rank, member, parcel);
}

/* What it was told. */
static void pack_inputs(const struct tutti_execution *execution, const struct tutti_member *member,
                        struct tutti_parcel *parcel)
{
    const struct tutti_wires *wires = &execution->rank.wires;
    const struct tutti_unit_wires *own = member->wires;
    pack_blocks(own->moving, own->moving_blocks, parcel);
    pack_blocks(own->held, own->held_blocks, parcel);
    for (unsigned o = 0; o < wires->order; o++)
        tutti_parcel_put_block(parcel, wires->gathered_slopes[o] + own->gather_first,
                               own->gather_count * sizeof(double));
    tutti_parcel_put_u8(parcel, own->held_changed);
    if (member->inputs)
        tutti_inputs_pack(member->inputs, parcel);
}

/* With the first unit of a rank goes what the rank has counted for all of its own. */
static void pack_unit_counts(const struct tutti_rank *rank, uint32_t own, struct tutti_parcel *parcel)
{
    const struct tutti_unit *unit = rank->own[own]->unit;
    tutti_parcel_put_block(parcel, &unit->counts, sizeof unit->counts);
    tutti_parcel_put_u32(parcel, unit->directional_tests);
    tutti_parcel_put_u64(parcel, own == 0 ? rank->own_rejected : 0);
    tutti_parcel_put_u64(parcel, own == 0 ? rank->own_events : 0);
}

void tutti_pack_begin(struct tutti_execution *execution)
{
    tutti_lane_count(&execution->master.lane);
}

enum tutti_err tutti_pack_unit_at(struct tutti_execution *execution, uint32_t own, const struct tutti_unit_saved *saved,
                                  struct tutti_parcel *parcel)
{
    struct tutti_rank *rank = &execution->rank;
    struct tutti_member *member = rank->own[own];
    struct tutti_unit *unit = member->unit;
    pack_shared(execution, member, parcel);
    pack_inputs(execution, member, parcel);
    tutti_parcel_put_u8(parcel, unit->replay != NULL);
    TRY(unit->replay ? tutti_replay_pack(unit, parcel) : unit->kind->pack(unit, saved, parcel));
    pack_unit_counts(rank, own, parcel);
    return TUTTI_OK;
}

enum tutti_err tutti_pack_unit(struct tutti_packer *packer, struct tutti_execution *execution, uint32_t own,
                               struct tutti_parcel *parcel)
{
    struct tutti_rank *rank = &execution->rank;
    struct tutti_unit *unit = rank->own[own]->unit;
    if (!packer->saved)
        packer->saved = calloc((size_t)rank->own_count + 1, sizeof(struct tutti_unit_saved *));
    if (!packer->saved)
        return tutti_fail_memory();
    if (!unit->replay)
        TRY(unit->kind->save(unit, &packer->saved[own]));
    return tutti_pack_unit_at(execution, own, packer->saved[own], parcel);
}

void tutti_pack_other(const struct tutti_execution *execution, uint32_t component, struct tutti_parcel *parcel)
{
    pack_shared(execution, &execution->rank.members[component], parcel);
}

/* ---- unpacking ---- */

static enum tutti_err another(const char *unit)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "%s%sthe checkpoint is not one of this run", unit, unit[0] ? ": " : "");
}

static enum tutti_err unpack_common(struct tutti_execution *execution, struct tutti_bytes piece)
{
    struct tutti_unparcel in = tutti_unparcel_begin(piece);
    TRY(tutti_pending_sets_unpack(&execution->rank, &in));
    execution->rank.t = tutti_unparcel_double(&in);
    if (!unpack_counts(execution, &in))
        return another("");
    TRY(tutti_remembered_unpack(&execution->master.remembered, TUTTI_OF_ALL, &in));
    return in.bad || in.at != in.end ? another("") : TUTTI_OK;
}

static enum tutti_err unpack_blocks(struct tutti_block *blocks, unsigned count, struct tutti_unparcel *in)
{
    for (unsigned b = 0; b < count; b++)
        TRY(tutti_block_unpack(&blocks[b], in));
    return TUTTI_OK;
}

static enum tutti_err unpack_shared(struct tutti_execution *execution, struct tutti_member *member,
                                    struct tutti_unparcel *in)
{
    if (!tutti_unparcel_into(in, &member->now, sizeof member->now))
        return another(member->unit->name);
    TRY(unpack_blocks(member->wires->outputs, member->wires->output_blocks, in));
    TRY(tutti_remembered_unpack(&execution->master.remembered, member->component, in));
    return tutti_ticks_unpack(&execution->rank, member, in);
}

static enum tutti_err unpack_inputs(struct tutti_execution *execution, struct tutti_member *member,
                                    struct tutti_unparcel *in)
{
    const struct tutti_wires *wires = &execution->rank.wires;
    struct tutti_unit_wires *own = member->wires;
    TRY(unpack_blocks(own->moving, own->moving_blocks, in));
    TRY(unpack_blocks(own->held, own->held_blocks, in));
    for (unsigned o = 0; o < wires->order; o++)
        (void)tutti_unparcel_into(in, wires->gathered_slopes[o] + own->gather_first,
                                  own->gather_count * sizeof(double));
    own->held_changed = tutti_unparcel_u8(in) != 0;
    return member->inputs ? tutti_inputs_unpack(member->inputs, in) : TUTTI_OK;
}

static enum tutti_err unpack_unit(struct tutti_rank *rank, struct tutti_unit *unit, struct tutti_unparcel *in)
{
    struct tutti_unit_saved *saved = NULL;
    const struct tutti_replay_watch watch = {pass, rank};
    bool is_recorded = tutti_unparcel_u8(in) != 0;
    if (is_recorded != (unit->replay != NULL))
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "%s: the checkpoint was taken %s --checkpoint-replay: go on with the same options",
                          unit->name, is_recorded ? "with" : "without");
    if (is_recorded)
        return tutti_replay_unpack(unit, in, &watch);
    enum tutti_err err = unit->kind->unpack(unit, in, &saved);
    if (!err)
        err = unit->kind->restore(unit, saved);
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    unit->kind->discard(unit, saved);
    return tutti_failure_return(&failure);
}

static void unpack_unit_counts(struct tutti_rank *rank, struct tutti_unit *unit, struct tutti_unparcel *in)
{
    (void)tutti_unparcel_into(in, &unit->counts, sizeof unit->counts);
    unit->directional_tests = tutti_unparcel_u32(in);
    rank->own_rejected += (unsigned long)tutti_unparcel_u64(in);
    rank->own_events += (unsigned long)tutti_unparcel_u64(in);
}

/* Of a unit of another rank, what is shared; the rest is that rank's. */
static enum tutti_err unpack_member(struct tutti_execution *execution, struct tutti_member *member,
                                    struct tutti_bytes piece)
{
    struct tutti_unparcel in = tutti_unparcel_begin(piece);
    TRY(unpack_shared(execution, member, &in));
    if (!tutti_rank_owns(&execution->rank, member->component))
        return TUTTI_OK;
    TRY(unpack_inputs(execution, member, &in));
    tutti_rank_tell_unit(&execution->rank, member->component);
    TRY(unpack_unit(&execution->rank, member->unit, &in));
    unpack_unit_counts(&execution->rank, member->unit, &in);
    return in.bad || in.at != in.end ? another(member->unit->name) : TUTTI_OK;
}

enum tutti_err tutti_unpack(struct tutti_execution *execution, const struct tutti_checkpoint *checkpoint)
{
    struct tutti_rank *rank = &execution->rank;
    struct tutti_master *master = &execution->master;
    if (checkpoint->unit_count != rank->member_count)
        return another("");
    tutti_lane_count(&master->lane); /* what was counted so far is not of this run */
    rank->own_rejected = rank->own_events = 0;
    TRY(unpack_common(execution, checkpoint->common));
    for (uint32_t m = 0; m < rank->member_count; m++)
        TRY(unpack_member(execution, &rank->members[m], checkpoint->units[m]));
    rank->target = rank->t;
    rank->fabric->step = rank->stats->steps;
    master->exchange_deferred = false; /* every rank has all signals */
    tutti_outputs_forget(&master->outputs);
    tutti_detector_forget(&master->detector);
    tutti_growth_restart(&execution->loop.growth, rank);
    tutti_rank_tell_time(rank, rank->t);
    return TUTTI_OK;
}
