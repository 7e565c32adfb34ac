/* SPDX-License-Identifier: MIT */
/* Explicit Gauss-Seidel (Awais 2015 Alg. 1, Nicolai 2019 section 3.1): units step one after the other, each with the
 * outputs that those before it have at the end of the step, and with those that the others had at its beginning. The order
 * is that of plan/sequence.h; units that do not wait for each other step at once.
 *
 * With extrapolation, outputs of those before move from the beginning of the step to its end (interpolation), and outputs
 * of those after go on as they did. */
#include <string.h>

#include "master/couple.h"
#include "master/coupling/correct.h"

static bool is_own(const struct tutti_master *master, uint32_t i)
{
    const struct tutti_rank *rank = master->rank;
    return tutti_rank_owns(rank, master->sequence.components[i]);
}

static enum tutti_err step_units(struct tutti_master *master, uint32_t wave, double target,
                                 struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = master->rank;
    const struct tutti_sequence *sequence = &master->sequence;
    if (master->lane_first)
        return tutti_lane_step(&master->lane, master->lane_first[wave], master->lane_first[wave + 1], target, outcome);
    uint32_t first = sequence->wave_first[wave], end = sequence->wave_first[wave + 1];
    if (__builtin_expect(rank->overlaps, 0))
        TRY(tutti_member_overlap(rank, sequence->components + first, end - first, target));
    for (uint32_t i = first; i < end; i++)
        if (is_own(master, i) && tutti_member_due(rank, &rank->members[sequence->components[i]], target))
            TRY(tutti_member_step(rank, &master->rules, &rank->members[sequence->components[i]], target, outcome));
    return TUTTI_OK;
}

static enum tutti_err step_wave(struct tutti_master *master, uint32_t wave, double target,
                                struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = master->rank;
    const struct tutti_sequence *sequence = &master->sequence;
    uint32_t first = sequence->wave_first[wave], end = sequence->wave_first[wave + 1];
    double h = target - rank->t;
    rank->wires.source = rank->wires.order > 0 ? master->staging.begin : rank->wires.signals;
    for (uint32_t i = first; i < end; i++)
        if (is_own(master, i) && tutti_member_present(rank, &rank->members[sequence->components[i]]))
            TRY(tutti_staging_stage(&master->staging, &rank->members[sequence->components[i]], target));
    rank->wires.source = rank->wires.signals;
    TRY(step_units(master, wave, target, outcome));
    TRY(tutti_channels_exchange_wave(&rank->channels, wave));
    for (uint32_t i = first; rank->wires.order > 0 && i < end; i++)
        tutti_staging_pass_on(&master->staging, sequence->components[i], h);
    return TUTTI_OK;
}

static enum tutti_err step(struct tutti_master *master, void *self, double target, struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = master->rank;
    (void)self;
    if (rank->wires.order > 0)
        memcpy(master->staging.begin, rank->wires.signals, rank->wires.signal_size);
    if (master->correction)
        TRY(tutti_correction_before(master->correction, target));
    for (uint32_t w = 0; w < master->sequence.wave_count; w++)
        TRY(step_wave(master, w, target, outcome));
    if (!master->correction)
        return TUTTI_OK;
    TRY(tutti_couple_agree(master, outcome));
    return tutti_correction_after(master->correction, outcome);
}

static unsigned order(unsigned extrapolation)
{
    return extrapolation + 1;
}

const struct tutti_coupling tutti_coupling_seidel =
    {.name = "seidel", .waves = true, .by_lane = true, .takes_correction = true, .step = step, .order = order};
