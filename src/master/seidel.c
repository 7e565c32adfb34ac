/* SPDX-License-Identifier: MIT */
/* Explicit Gauss-Seidel (000 Alg. 1, 002 section 3.1): units step one after the other, each with the outputs that those
 * before it have at the end of the step, and with those that the others had at its beginning. The order is that of
 * plan/sequence.h; units that do not wait for each other step at once.
 *
 * With extrapolation, outputs of those before move from the beginning of the step to its end (interpolation), and outputs of
 * those behind go on as they did. */
#include <string.h>

#include "master/coupling.h"

static bool is_own(const struct run *run, uint32_t i)
{
    return tutti_run_owns(run, run->master.sequence.components[i]);
}

static enum tutti_err step_wave(struct run *run, uint32_t wave, double target)
{
    const struct tutti_sequence *sequence = &run->master.sequence;
    uint32_t first = sequence->wave_first[wave], end = sequence->wave_first[wave + 1];
    double h = target - run->t;
    run->wires.source = run->wires.order > 0 ? run->master.begin : run->wires.signals;
    for (uint32_t i = first; i < end; i++)
        if (is_own(run, i) && tutti_member_present(run, &run->members[sequence->components[i]]))
            TRY(tutti_coupling_stage(run, &run->members[sequence->components[i]], target));
    run->wires.source = run->wires.signals;
    for (uint32_t i = first; i < end; i++)
        if (is_own(run, i) && tutti_member_due(run, &run->members[sequence->components[i]], target))
            TRY(tutti_member_step(run, &run->members[sequence->components[i]], target));
    TRY(tutti_channels_exchange_wave(run, wave));
    for (uint32_t i = first; run->wires.order > 0 && i < end; i++)
        tutti_coupling_pass_on(run, sequence->components[i], h);
    return TUTTI_OK;
}

static enum tutti_err step(struct run *run, double target)
{
    if (run->wires.order > 0)
        memcpy(run->master.begin, run->wires.signals, run->wires.signal_size);
    for (uint32_t w = 0; w < run->master.sequence.wave_count; w++)
        TRY(step_wave(run, w, target));
    return TUTTI_OK;
}

static unsigned order(const struct run *run, unsigned extrapolation)
{
    (void)run;
    return extrapolation + 1;
}

const struct tutti_coupling tutti_coupling_seidel = {.name = "seidel", .step = step, .order = order};
