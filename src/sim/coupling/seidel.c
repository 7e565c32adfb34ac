/* SPDX-License-Identifier: MIT */
/* Explicit Gauss-Seidel (Awais 2015 Alg. 1, Nicolai 2019 section 3.1): units step sequentially, each with the outputs
 * of earlier units at the end of the step, and with those of later units at its beginning. The order is that of
 * model/plan/step_order.h; units that do not wait for each other step at once.
 *
 * With extrapolation, outputs of earlier units move from the beginning of the step to its end (interpolation), and
 * outputs of later units are extrapolated. */
#include <string.h>

#include "sim/coupling/coupling.h"
#include "sim/coupling/correction.h"

static bool seidel_is_own(const struct tt_sim *master, uint32_t i)
{
    const struct tt_rank *rank = master->rank;
    return tt_rank_owns(rank, master->sequence.components[i]);
}

static enum tutti_err seidel_step_units(struct tt_sim *master, uint32_t wave, double target, struct tt_outcome *outcome)
{
    struct tt_rank *rank = master->rank;
    const struct tt_step_sequence *sequence = &master->sequence;
    if (master->lane_first)
        return tt_fast_step(&master->lane, master->lane_first[wave], master->lane_first[wave + 1], target, outcome);
    uint32_t first = sequence->wave_first[wave], end = sequence->wave_first[wave + 1];
    if (__builtin_expect(rank->overlaps, 0))
        TRY(tt_component_step_overlapped(rank, sequence->components + first, end - first, target));
    for (uint32_t i = first; i < end; i++)
        if (seidel_is_own(master, i) && tt_rank_member_is_due(rank, &rank->members[sequence->components[i]], target))
            TRY(tt_component_step(rank, &master->rules, &rank->members[sequence->components[i]], target, outcome));
    return TUTTI_OK;
}

static enum tutti_err step_seidel_wave(struct tt_sim *master, uint32_t wave, double target, struct tt_outcome *outcome)
{
    struct tt_rank *rank = master->rank;
    const struct tt_step_sequence *sequence = &master->sequence;
    uint32_t first = sequence->wave_first[wave], end = sequence->wave_first[wave + 1];
    double h = target - rank->t;
    rank->wires.source = rank->wires.order > 0 ? master->staging.begin : rank->wires.signals;
    for (uint32_t i = first; i < end; i++)
        if (seidel_is_own(master, i) && tt_rank_member_is_present(rank, &rank->members[sequence->components[i]]))
            TRY(tt_coupled_inputs_gather(&master->staging, &rank->members[sequence->components[i]], target));
    rank->wires.source = rank->wires.signals;
    TRY(seidel_step_units(master, wave, target, outcome));
    TRY(tt_channels_exchange_wave(&rank->channels, wave));
    for (uint32_t i = first; rank->wires.order > 0 && i < end; i++)
        tt_coupled_inputs_interpolate(&master->staging, sequence->components[i], h);
    return TUTTI_OK;
}

static enum tutti_err seidel_step(struct tt_sim *master, void *self, double target, struct tt_outcome *outcome)
{
    struct tt_rank *rank = master->rank;
    (void)self;
    if (rank->wires.order > 0)
        memcpy(master->staging.begin, rank->wires.signals, rank->wires.signal_size);
    if (master->correction)
        TRY(tt_correction_begin_step(master->correction, target));
    for (uint32_t w = 0; w < master->sequence.wave_count; w++)
        TRY(step_seidel_wave(master, w, target, outcome));
    if (!master->correction)
        return TUTTI_OK;
    TRY(tt_coupling_agree(master, outcome));
    return tt_correction_end_step(master->correction, outcome);
}

static unsigned seidel_order(unsigned extrapolation)
{
    return extrapolation + 1;
}

const struct tt_coupling tt_coupling_seidel = {.name = "seidel",
                                               .waves = true,
                                               .by_lane = true,
                                               .takes_correction = true,
                                               .step = seidel_step,
                                               .order = seidel_order};
