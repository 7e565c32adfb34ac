/* SPDX-License-Identifier: MIT */
#include "master/lane.h"

#include <math.h>

/* The only block of Float64, or none; false: there are others. */
static bool only_block(struct tutti_block *blocks, unsigned count, struct tutti_block **only)
{
    *only = count == 1 ? blocks : NULL;
    return count == 0 || (count == 1 && blocks->type == TUTTI_TYPE_FLOAT64);
}

static void make_triple(struct tutti_call_triple *triple, struct tutti_member *member, const struct tutti_wires *all)
{
    const struct tutti_unit_wires *wires = member->wires;
    struct tutti_unit *unit = member->unit;
    struct tutti_block *inputs, *outputs;
    bool plain = only_block(wires->moving, wires->moving_blocks, &inputs) &&
                 only_block(wires->outputs, wires->output_blocks, &outputs) && wires->held_blocks == 0 &&
                 !wires->halves && !wires->slopes;
    bool usual = !member->inputs && !member->has_grid && !unit->has_events && !unit->uniform;
    *triple = (struct tutti_call_triple){0};
    if (!plain || !usual || !unit->kind->make_triple || !unit->kind->make_triple(unit, inputs, outputs, triple))
        return;
    triple->from = all->gather + wires->gather_first;
    triple->staged = all->gathered + wires->gather_first;
    triple->gather_count = wires->gather_count;
    triple->arrived = &member->now.t;
    triple->heartbeat = member->component;
}

/* ---- counts ---- */

/* So many steps, and part of one more. */
static void add_steps(struct tutti_unit *unit, const struct tutti_call_triple *triple, unsigned long steps,
                      enum tutti_triple_stop part)
{
    struct tutti_unit_counts *counts = &unit->counts;
    counts->sets += triple->inputs.count > 0 ? steps + (part >= TUTTI_TRIPLE_SET) : 0;
    counts->do_steps += steps + (part >= TUTTI_TRIPLE_STEP);
    counts->gets += triple->outputs.count > 0 ? steps + (part >= TUTTI_TRIPLE_GET) : 0;
}

void tutti_lane_count(struct tutti_lane *lane)
{
    for (uint32_t i = 0; i < lane->count; i++) {
        add_steps(lane->members[i]->unit, &lane->triples[i], lane->given[i] - lane->triples[i].quiet,
                  TUTTI_TRIPLE_NOWHERE);
        lane->given[i] = lane->triples[i].quiet;
    }
}

/* The next do-step that is measured goes another way (member.h). */
static void plan_measurement(struct tutti_lane *lane, uint32_t i)
{
    const struct tutti_unit_counts *counts = &lane->members[i]->unit->counts;
    unsigned long left = counts->time_next > counts->do_steps ? counts->time_next - counts->do_steps : 1;
    lane->given[i] = lane->triples[i].quiet = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

/* ---- steps ---- */

/* What the unit reads, unless it is staged already. */
static enum tutti_err gather(struct tutti_lane *lane, const struct tutti_member *member)
{
    return lane->pass.one_by_one ? tutti_wires_gather(&lane->rank->wires, member->wires) : TUTTI_OK;
}

/* The step of a member whose triple the pass stopped at. */
static enum tutti_err finish(struct tutti_lane *lane, uint32_t i, struct tutti_outcome *outcome)
{
    struct tutti_member *member = lane->members[i];
    struct tutti_triples_pass *pass = &lane->pass;
    double target = pass->aim.arrival;
    if (pass->at == TUTTI_TRIPLE_BEFORE) {
        TRY(gather(lane, member));
        return tutti_member_due(lane->rank, member, target)
                   ? tutti_member_step(lane->rank, lane->rules, member, target, outcome)
                   : TUTTI_OK;
    }
    TRY(tutti_triple_conclude(&lane->triples[i], pass));
    if (pass->at == TUTTI_TRIPLE_GET)
        return TUTTI_OK;
    return tutti_member_finish(lane->rank, lane->rules, member, target,
                               pass->at == TUTTI_TRIPLE_STEP ? &pass->step : NULL, outcome);
}

static enum tutti_err look_after(struct tutti_lane *lane, uint32_t i, struct tutti_outcome *outcome)
{
    struct tutti_call_triple *triple = &lane->triples[i];
    enum tutti_err err;
    if (triple->fmi == 0)
        return finish(lane, i, outcome);
    add_steps(lane->members[i]->unit, triple, lane->given[i] - triple->quiet - 1, lane->pass.at);
    lane->given[i] = triple->quiet;
    err = finish(lane, i, outcome);
    plan_measurement(lane, i);
    lane->pass.step = (struct tutti_step){0};
    return err;
}

/* Where steps may be taken back, or one does not lead to where it should by more than rounding, all go the other way. */
static enum tutti_err step_ordinarily(struct tutti_lane *lane, uint32_t first, uint32_t end, double target,
                                      struct tutti_outcome *outcome)
{
    tutti_lane_count(lane);
    for (uint32_t i = first; i < end; i++) {
        if (tutti_member_due(lane->rank, lane->members[i], target))
            TRY(tutti_member_step(lane->rank, lane->rules, lane->members[i], target, outcome));
        if (lane->triples[i].fmi != 0)
            plan_measurement(lane, i);
    }
    return TUTTI_OK;
}

static bool begin(struct tutti_lane *lane, double target)
{
    const struct tutti_rank *rank = lane->rank;
    return tutti_triples_aim(&lane->pass, rank->t, target, rank->span) && !(rank->kept_from < INFINITY);
}

static enum tutti_err pass_from(struct tutti_lane *lane, uint32_t first, uint32_t end, struct tutti_outcome *outcome)
{
    for (uint32_t i = first; i < end; i++) {
        i = tutti_triples_step(lane->triples, i, end, &lane->pass);
        if (__builtin_expect(i < end, 0))
            TRY(look_after(lane, i, outcome));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_lane_step(struct tutti_lane *lane, uint32_t first, uint32_t end, double target,
                               struct tutti_outcome *outcome)
{
    if (__builtin_expect(!begin(lane, target), 0))
        return step_ordinarily(lane, first, end, target, outcome);
    bool one_by_one = lane->pass.one_by_one;
    lane->pass.one_by_one = false; /* inputs are staged */
    enum tutti_err err = pass_from(lane, first, end, outcome);
    lane->pass.one_by_one = one_by_one;
    return err;
}

/* ---- many steps ---- */

unsigned long tutti_lane_run(struct tutti_lane *lane, struct tutti_grid *grid, unsigned long most,
                             const volatile sig_atomic_t *interrupt)
{
    struct tutti_rank *rank = lane->rank;
    const struct tutti_wires *wires = &rank->wires;
    struct tutti_triples_many many = {.grid = grid,
                                      .t = rank->t,
                                      .span = rank->span,
                                      .most = most,
                                      .interrupt = interrupt,
                                      .pieces = lane->pieces,
                                      .piece_count = lane->piece_count};
    if (wires->part_count > 0) {
        many.from = wires->gather + wires->parts[0].first;
        many.staged = wires->gathered + wires->parts[0].first;
        many.gather_count = wires->parts[0].count;
    }
    lane->stopped_at = tutti_triples_run(lane->triples, lane->count, &lane->pass, &many);
    lane->stopped = lane->stopped_at < lane->count;
    rank->t = rank->target = many.t;
    return many.made;
}

bool tutti_lane_hop(struct tutti_lane *lane, struct tutti_grid *grid)
{
    struct tutti_rank *rank = lane->rank;
    const struct tutti_wires *wires = &rank->wires;
    struct tutti_triples_pass *pass = &lane->pass;
    double target = grid->next;
    if (!tutti_triples_aim(pass, rank->t, target, rank->span))
        return false;
    if (!pass->one_by_one && wires->part_count > 0)
        for (uint32_t k = wires->parts[0].first, end = k + wires->parts[0].count; k < end; k++)
            wires->gathered[k] = pass->source[wires->gather[k]];
    lane->stopped_at = tutti_triples_hop(lane->triples, lane->count, pass);
    lane->stopped = lane->stopped_at < lane->count;
    if (__builtin_expect(lane->stopped, 0))
        return false;
    rank->t = rank->target = target;
    tutti_grid_pass(grid, target);
    return true;
}

enum tutti_err tutti_lane_finish(struct tutti_lane *lane, struct tutti_outcome *outcome)
{
    lane->stopped = false;
    TRY(look_after(lane, lane->stopped_at, outcome));
    return pass_from(lane, lane->stopped_at + 1, lane->count, outcome);
}

enum tutti_err tutti_lane_watch(struct tutti_lane *lane, const struct tutti_finite *finite)
{
    if (!lane->members)
        return TUTTI_OK;
    const double *signals = (const double *)(const void *)lane->rank->wires.signals;
    lane->pieces = tutti_arena_array(&lane->rank->arena, finite->part_count, sizeof *lane->pieces);
    if (!lane->pieces)
        return tutti_fail_memory();
    for (uint32_t p = 0; p < finite->part_count; p++)
        lane->pieces[p] = (struct tutti_triples_piece){signals + finite->parts[p].first, finite->parts[p].count};
    lane->piece_count = finite->part_count;
    return TUTTI_OK;
}

void tutti_lane_let_run(struct tutti_lane *lane, bool one_by_one)
{
    const struct tutti_wires *wires = &lane->rank->wires;
    const struct tutti_rank *rank = lane->rank;
    lane->runs = lane->count > 0 && wires->plain && wires->part_count <= 1 && wires->order == 0 && !rank->has_grids;
    lane->pass.source = (const double *)(const void *)wires->signals;
    lane->pass.one_by_one = one_by_one && lane->runs;
}

enum tutti_err tutti_lane_open(struct tutti_lane *lane, struct tutti_rank *rank, const struct tutti_step_rules *rules,
                               struct tutti_member **members, uint32_t count)
{
    *lane = (struct tutti_lane){.rank = rank, .rules = rules, .members = members};
    lane->pass.heartbeat = &rank->heartbeat->component;
    lane->triples = tutti_arena_array(&rank->arena, count, sizeof *lane->triples);
    lane->given = tutti_arena_array(&rank->arena, count, sizeof *lane->given);
    if (!lane->triples || !lane->given)
        return tutti_fail_memory();
    lane->count = count;
    for (uint32_t i = 0; i < count; i++) {
        make_triple(&lane->triples[i], members[i], &rank->wires);
        if (lane->triples[i].fmi != 0)
            plan_measurement(lane, i);
    }
    return TUTTI_OK;
}
