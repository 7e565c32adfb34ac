/* SPDX-License-Identifier: MIT */
#include "sim/fast.h"

#include <math.h>

/* Finds the only block of Float64, or none; false if there are others. */
static bool single_float64_block(struct tt_block *blocks, unsigned count, struct tt_block **only)
{
    *only = count == 1 ? blocks : NULL;
    return count == 0 || (count == 1 && blocks->type == TUTTI_TYPE_FLOAT64);
}

static void make_batched_call(struct tt_batched_call *triple, struct tt_member *member, const struct tt_wires *all)
{
    const struct tt_unit_wires *wires = member->wires;
    struct tt_unit *unit = member->unit;
    struct tt_block *inputs, *outputs;
    bool plain = single_float64_block(wires->moving, wires->moving_blocks, &inputs) &&
                 single_float64_block(wires->outputs, wires->output_blocks, &outputs) && wires->held_blocks == 0 &&
                 !wires->halves && !wires->slopes;
    bool usual = !member->inputs && !member->has_grid && !unit->has_events && !unit->uniform;
    *triple = (struct tt_batched_call){0};
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
static void add_batched_steps(struct tt_unit *unit, const struct tt_batched_call *triple, unsigned long steps,
                              enum tt_batched_call_stop part)
{
    struct tt_unit_counts *counts = &unit->counts;
    counts->sets += triple->inputs.count > 0 ? steps + (part >= TUTTI_TRIPLE_SET) : 0;
    counts->do_steps += steps + (part >= TUTTI_TRIPLE_STEP);
    counts->gets += triple->outputs.count > 0 ? steps + (part >= TUTTI_TRIPLE_GET) : 0;
}

void tt_fast_flush_counts(struct tt_fast_path *lane)
{
    for (uint32_t i = 0; i < lane->count; i++) {
        add_batched_steps(lane->members[i]->unit, &lane->triples[i], lane->given[i] - lane->triples[i].quiet,
                          TUTTI_TRIPLE_NOWHERE);
        lane->given[i] = lane->triples[i].quiet;
    }
}

/* The next do-step that is measured goes another way (component.h). */
static void plan_timing(struct tt_fast_path *lane, uint32_t i)
{
    const struct tt_unit *unit = lane->members[i]->unit;
    unsigned long left = unit->times.next > unit->counts.do_steps ? unit->times.next - unit->counts.do_steps : 1;
    lane->given[i] = lane->triples[i].quiet = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

/* ---- steps ---- */

/* Finishes the step of the member whose triple stopped the pass. */
static enum tutti_err fast_finish_step(struct tt_fast_path *lane, uint32_t i, bool one_by_one,
                                       struct tt_step_result *result)
{
    struct tt_member *member = lane->members[i];
    struct tt_batched_call_pass *pass = &lane->pass;
    double target = pass->aim.arrival;
    if (pass->at == TUTTI_TRIPLE_BEFORE) {
        if (one_by_one) /* otherwise the inputs are staged already */
            TRY(tt_wires_gather(&lane->rank->wires, lane->rank->wires.signals, member->wires));
        return tt_rank_member_is_due(lane->rank, member, target)
                   ? tt_component_step(lane->rank, lane->rules, member, target, result)
                   : TUTTI_OK;
    }
    TRY(tt_batched_call_conclude(&lane->triples[i], pass));
    if (pass->at == TUTTI_TRIPLE_GET)
        return TUTTI_OK;
    return tt_component_finish(lane->rank, lane->rules, member, target,
                               pass->at == TUTTI_TRIPLE_STEP ? &pass->step : NULL, result);
}

static enum tutti_err fast_handle_stop(struct tt_fast_path *lane, uint32_t i, bool one_by_one,
                                       struct tt_step_result *result)
{
    struct tt_batched_call *triple = &lane->triples[i];
    enum tutti_err err;
    if (triple->fmi == 0)
        return fast_finish_step(lane, i, one_by_one, result);
    add_batched_steps(lane->members[i]->unit, triple, lane->given[i] - triple->quiet - 1, lane->pass.at);
    lane->given[i] = triple->quiet;
    err = fast_finish_step(lane, i, one_by_one, result);
    plan_timing(lane, i);
    lane->pass.step = (struct tt_fmi_step){0};
    return err;
}

/* If steps may be rolled back, or one misses its target by more than rounding, all steps use the general path. */
static enum tutti_err step_by_components(struct tt_fast_path *lane, uint32_t first, uint32_t end, double target,
                                         struct tt_step_result *result)
{
    tt_fast_flush_counts(lane);
    for (uint32_t i = first; i < end; i++) {
        if (tt_rank_member_is_due(lane->rank, lane->members[i], target))
            TRY(tt_component_step(lane->rank, lane->rules, lane->members[i], target, result));
        if (lane->triples[i].fmi != 0)
            plan_timing(lane, i);
    }
    return TUTTI_OK;
}

static enum tutti_err run_batch_from(struct tt_fast_path *lane, uint32_t first, uint32_t end, bool one_by_one,
                                     struct tt_step_result *result)
{
    for (uint32_t i = first; i < end; i++) {
        i = tt_batched_call_step(lane->triples, i, end, &lane->pass, one_by_one);
        if (__builtin_expect(i < end, 0))
            TRY(fast_handle_stop(lane, i, one_by_one, result));
    }
    return TUTTI_OK;
}

enum tutti_err tt_fast_step(struct tt_fast_path *lane, uint32_t first, uint32_t end, double target,
                            struct tt_step_result *result)
{
    const struct tt_rank *rank = lane->rank;
    if (__builtin_expect(!tt_batched_call_aim(&lane->pass, rank->t, target, rank->span) || rank->kept_from < INFINITY,
                         0))
        return step_by_components(lane, first, end, target, result);
    return run_batch_from(lane, first, end, false, result);
}

/* ---- many steps ---- */

unsigned long tt_fast_run(struct tt_fast_path *lane, struct tt_time_grid *grid, unsigned long most,
                          const volatile sig_atomic_t *interrupt)
{
    struct tt_rank *rank = lane->rank;
    const struct tt_wires *wires = &rank->wires;
    struct tt_batched_call_many many = {.grid = grid,
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
    lane->stopped_at = tt_batched_call_run(lane->triples, lane->count, &lane->pass, lane->one_by_one, &many);
    lane->stopped = lane->stopped_at < lane->count;
    rank->t = rank->target = many.t;
    return many.made;
}

bool tt_fast_step_once(struct tt_fast_path *lane, struct tt_time_grid *grid)
{
    struct tt_rank *rank = lane->rank;
    const struct tt_wires *wires = &rank->wires;
    struct tt_batched_call_pass *pass = &lane->pass;
    double target = grid->next;
    if (!tt_batched_call_aim(pass, rank->t, target, rank->span))
        return false;
    if (!lane->one_by_one && wires->part_count > 0)
        for (uint32_t k = wires->parts[0].first, end = k + wires->parts[0].count; k < end; k++)
            wires->gathered[k] = pass->source[wires->gather[k]];
    lane->stopped_at = tt_batched_call_step_once(lane->triples, lane->count, pass, lane->one_by_one);
    lane->stopped = lane->stopped_at < lane->count;
    if (__builtin_expect(lane->stopped, 0))
        return false;
    rank->t = rank->target = target;
    tt_time_grid_pass(grid, target);
    return true;
}

enum tutti_err tt_fast_finish(struct tt_fast_path *lane, struct tt_step_result *result)
{
    lane->stopped = false;
    TRY(fast_handle_stop(lane, lane->stopped_at, lane->one_by_one, result));
    return run_batch_from(lane, lane->stopped_at + 1, lane->count, lane->one_by_one, result);
}

enum tutti_err tt_fast_watch_finite(struct tt_fast_path *lane, const struct tt_finite *finite)
{
    if (!lane->members)
        return TUTTI_OK;
    const double *signals = (const double *)(const void *)lane->rank->wires.signals;
    lane->pieces = tt_arena_array(&lane->rank->arena, finite->part_count, sizeof *lane->pieces);
    if (!lane->pieces)
        return tt_fail_memory();
    for (uint32_t p = 0; p < finite->part_count; p++)
        lane->pieces[p] = (struct tt_batched_call_piece){signals + finite->parts[p].first, finite->parts[p].count};
    lane->piece_count = finite->part_count;
    return TUTTI_OK;
}

void tt_fast_enable_batches(struct tt_fast_path *lane, bool one_by_one)
{
    const struct tt_wires *wires = &lane->rank->wires;
    const struct tt_rank *rank = lane->rank;
    lane->runs = lane->count > 0 && wires->plain && wires->part_count <= 1 && wires->order == 0 && !rank->has_grids;
    lane->pass.source = (const double *)(const void *)wires->signals;
    lane->one_by_one = one_by_one && lane->runs;
}

enum tutti_err tt_fast_open(struct tt_fast_path *lane, struct tt_rank *rank, const struct tt_step_rules *rules,
                            struct tt_member **members, uint32_t count)
{
    *lane = (struct tt_fast_path){.rank = rank, .rules = rules, .members = members};
    lane->pass.heartbeat = &rank->heartbeat->component;
    lane->triples = tt_arena_array(&rank->arena, count, sizeof *lane->triples);
    lane->given = tt_arena_array(&rank->arena, count, sizeof *lane->given);
    if (!lane->triples || !lane->given)
        return tt_fail_memory();
    lane->count = count;
    for (uint32_t i = 0; i < count; i++) {
        make_batched_call(&lane->triples[i], members[i], &rank->wires);
        if (lane->triples[i].fmi != 0)
            plan_timing(lane, i);
    }
    return TUTTI_OK;
}
