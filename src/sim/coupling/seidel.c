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

static enum tutti_err seidel_step(struct tt_sim *master, void *self, double target, const struct tt_step_rules *rules,
                                  struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    const struct tt_step_sequence *sequence = &master->sequence;
    const uint32_t *components = sequence->components;
    double h = target - rank->t;
    (void)self;
    if (rank->wires.order > 0)
        memcpy(master->staging.begin, rank->wires.signals, rank->wires.signal_size);
    if (master->correction)
        TRY(tt_correction_begin_step(master->correction, target));

    for (uint32_t wave = 0; wave < sequence->wave_count; wave++) {
        uint32_t first = sequence->wave_first[wave], end = sequence->wave_first[wave + 1];
        const char *source = rank->wires.order > 0 ? master->staging.begin : rank->wires.signals;
        for (uint32_t i = first; i < end; i++)
            if (tt_rank_owns(rank, components[i]) && tt_rank_member_is_present(rank, &rank->members[components[i]]))
                TRY(tt_coupled_inputs_gather(&master->staging, source, &rank->members[components[i]], target));

        if (master->lane_first)
            TRY(tt_fast_step(&master->lane, master->lane_first[wave], master->lane_first[wave + 1], target, result));
        else if (__builtin_expect(rank->overlaps, 0))
            TRY(tt_component_step_overlapped(rank, components + first, end - first, target));
        for (uint32_t i = first; !master->lane_first && i < end; i++) {
            struct tt_member *member = &rank->members[components[i]];
            if (tt_rank_owns(rank, components[i]) && tt_rank_member_is_due(rank, member, target))
                TRY(tt_component_step(rank, rules, member, target, result));
        }

        TRY(tt_channels_exchange_wave(&rank->channels, wave));
        for (uint32_t i = first; rank->wires.order > 0 && i < end; i++)
            tt_coupled_inputs_interpolate(&master->staging, components[i], h);
    }
    if (!master->correction)
        return TUTTI_OK;
    TRY(tt_coupling_agree(master, result));
    return tt_correction_end_step(master->correction, result);
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
