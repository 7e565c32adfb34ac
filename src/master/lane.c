/* SPDX-License-Identifier: MIT */
#include "master/lane.h"

#include <math.h>

/* The only block of Float64, or none; false: there are others. */
static bool only_block(struct tutti_block *blocks, unsigned count, struct tutti_block **only)
{
    *only = count == 1 ? blocks : NULL;
    return count == 0 || (count == 1 && blocks->type == TUTTI_TYPE_FLOAT64);
}

static void make_record(struct tutti_call_record *record, struct tutti_member *member)
{
    const struct tutti_unit_wires *wires = member->wires;
    struct tutti_unit *unit = member->unit;
    struct tutti_block *inputs, *outputs;
    bool plain = only_block(wires->moving, wires->moving_blocks, &inputs) &&
                 only_block(wires->outputs, wires->output_blocks, &outputs) && wires->held_blocks == 0 &&
                 !wires->halves && !wires->slopes;
    bool usual = !member->inputs && !member->has_grid && !unit->has_events && !unit->uniform;
    *record = (struct tutti_call_record){0};
    if (!plain || !usual || !unit->kind->record || !unit->kind->record(unit, inputs, outputs, record))
        return;
    record->arrived = &member->t;
    record->heartbeat = member->component;
}

/* ---- counts ---- */

/* So many steps, and part of one more. */
static void add_steps(struct tutti_unit *unit, const struct tutti_call_record *record, unsigned long steps,
                      enum tutti_lane_stop part)
{
    struct tutti_unit_counts *counts = &unit->counts;
    counts->sets += record->inputs.count > 0 ? steps + (part >= TUTTI_LANE_SET) : 0;
    counts->do_steps += steps + (part >= TUTTI_LANE_STEP);
    counts->gets += record->outputs.count > 0 ? steps + (part >= TUTTI_LANE_GET) : 0;
}

void tutti_lane_count(struct tutti_lane *lane)
{
    for (uint32_t i = 0; i < lane->count; i++) {
        add_steps(lane->members[i]->unit, &lane->records[i], lane->given[i] - lane->records[i].quiet,
                  TUTTI_LANE_NOWHERE);
        lane->given[i] = lane->records[i].quiet;
    }
}

/* The next do-step that is measured goes another way (member.h). */
static void plan_measurement(struct tutti_lane *lane, uint32_t i)
{
    const struct tutti_unit_counts *counts = &lane->members[i]->unit->counts;
    unsigned long left = counts->time_next > counts->do_steps ? counts->time_next - counts->do_steps : 1;
    lane->given[i] = lane->records[i].quiet = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

/* ---- steps ---- */

/* The step of a member whose record the walk stopped at. */
static enum tutti_err finish(struct tutti_lane *lane, uint32_t i, struct tutti_walk *walk, double target,
                             struct tutti_outcome *outcome)
{
    struct tutti_member *member = lane->members[i];
    if (walk->at == TUTTI_LANE_BEFORE)
        return tutti_member_due(lane->rank, member, target)
                   ? tutti_member_step(lane->rank, lane->rules, member, target, outcome)
                   : TUTTI_OK;
    TRY(tutti_lane_conclude(&lane->records[i], walk));
    if (walk->at == TUTTI_LANE_GET)
        return TUTTI_OK;
    return tutti_member_finish(lane->rank, lane->rules, member, target,
                               walk->at == TUTTI_LANE_STEP ? &walk->step : NULL, outcome);
}

static enum tutti_err leave_walk(struct tutti_lane *lane, uint32_t i, struct tutti_walk *walk, double target,
                                 struct tutti_outcome *outcome)
{
    struct tutti_call_record *record = &lane->records[i];
    if (record->fmi == 0)
        return finish(lane, i, walk, target, outcome);
    add_steps(lane->members[i]->unit, record, lane->given[i] - record->quiet - 1, walk->at);
    lane->given[i] = record->quiet;
    TRY(finish(lane, i, walk, target, outcome));
    plan_measurement(lane, i);
    return TUTTI_OK;
}

/* Where steps may be taken back, or times are no multiples of anything, all go the other way. */
static enum tutti_err step_ordinarily(struct tutti_lane *lane, uint32_t first, uint32_t end, double target,
                                      struct tutti_outcome *outcome)
{
    tutti_lane_count(lane);
    for (uint32_t i = first; i < end; i++) {
        if (tutti_member_due(lane->rank, lane->members[i], target))
            TRY(tutti_member_step(lane->rank, lane->rules, lane->members[i], target, outcome));
        if (lane->records[i].fmi != 0)
            plan_measurement(lane, i);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_lane_step(struct tutti_lane *lane, uint32_t first, uint32_t end, double target,
                               struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = lane->rank;
    double t = rank->t, h = tutti_time_step(t, target);
    struct tutti_walk walk = {
        .t = t, .h = h, .end = t + h, .arrival = target, .heartbeat = &rank->heartbeat->component};
    bool arrives = walk.end == target || tutti_time_same(walk.end, target, rank->span);
    if (__builtin_expect(!arrives || rank->kept_from < INFINITY, 0))
        return step_ordinarily(lane, first, end, target, outcome);
    for (uint32_t i = first; i < end; i++) {
        i = tutti_lane_walk(lane->records, i, end, &walk);
        if (__builtin_expect(i < end, 0))
            TRY(leave_walk(lane, i, &walk, target, outcome));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_lane_open(struct tutti_lane *lane, struct tutti_rank *rank, const struct tutti_step_rules *rules,
                               struct tutti_member **members, uint32_t count)
{
    *lane = (struct tutti_lane){.rank = rank, .rules = rules, .members = members};
    lane->records = tutti_arena_array(&rank->arena, count, sizeof *lane->records);
    lane->given = tutti_arena_array(&rank->arena, count, sizeof *lane->given);
    if (!lane->records || !lane->given)
        return tutti_fail_memory();
    lane->count = count;
    for (uint32_t i = 0; i < count; i++) {
        make_record(&lane->records[i], members[i]);
        if (lane->records[i].fmi != 0)
            plan_measurement(lane, i);
    }
    return TUTTI_OK;
}
