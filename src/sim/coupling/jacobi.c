/* SPDX-License-Identifier: MIT */
/* Explicit Jacobi (Awais 2015 section 4.2, Andersson 2016 Alg. 3): all units step at once, each with the others'
 * outputs from the beginning of the step: held, or extrapolated. */
#include "sim/coupling/coupling.h"
#include "sim/coupling/correction.h"

/* All inputs are gathered before the first unit steps: units use each other's state at the beginning. A unit in the
 * middle of a separate step keeps the inputs from its beginning. */
static enum tutti_err jacobi_gather_inputs(struct tt_rank *rank)
{
    if (rank->wires.plain && rank->wires.part_count == 0)
        return TUTTI_OK; /* nothing is read: a single FMU */
    if (__builtin_expect(!rank->has_grids, 1))
        return tt_wires_gather_all(&rank->wires);
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (tt_rank_member_is_present(rank, rank->own[m]))
            TRY(tt_wires_gather(&rank->wires, rank->wires.signals, rank->own[m]->wires));
    return TUTTI_OK;
}

static enum tutti_err jacobi_step_units(struct tt_sim *master, double target, const struct tt_step_rules *rules,
                                        struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    if (__builtin_expect(master->lane.members != NULL, 1))
        return tt_fast_step(&master->lane, 0, master->lane.count, target, result);
    if (__builtin_expect(rank->overlaps, 0))
        TRY(tt_component_step_overlapped(rank, NULL, rank->own_count, target));
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (tt_rank_member_is_due(rank, rank->own[m], target))
            TRY(tt_component_step(rank, rules, rank->own[m], target, result));
    return TUTTI_OK;
}

static enum tutti_err jacobi_step(struct tt_sim *master, void *self, double target, const struct tt_step_rules *rules,
                                  struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    (void)self;
    TRY(jacobi_gather_inputs(rank));
    for (uint32_t m = 0; __builtin_expect(rank->wires.order > 0, 0) && m < rank->own_count; m++)
        if (tt_rank_member_is_present(rank, rank->own[m]))
            tt_coupled_inputs_hold(&master->staging, rank->own[m], target);
    if (__builtin_expect(master->correction != NULL, 0))
        TRY(tt_correction_begin_step(master->correction, target));
    TRY(jacobi_step_units(master, target, rules, result));
    if (__builtin_expect(master->chosen.is & TUTTI_METHOD_DEFERS_EXCHANGE, 0)) {
        master->exchange_deferred = true; /* sent if the step is good: tt_coupling_send_deferred */
        return TUTTI_OK;
    }
    TRY(tt_channels_exchange(&rank->channels));
    if (__builtin_expect(master->correction == NULL, 1))
        return TUTTI_OK;
    TRY(tt_coupling_agree(master, result));
    return tt_correction_end_step(master->correction, result);
}

static unsigned jacobi_order(unsigned extrapolation)
{
    return extrapolation + 1;
}

const struct tt_coupling tt_coupling_jacobi = {.name = "jacobi",
                                               .by_lane = true,
                                               .takes_correction = true,
                                               .takes_smoothing = true,
                                               .may_defer_exchange = true,
                                               .step = jacobi_step,
                                               .order = jacobi_order};
