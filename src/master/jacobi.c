/* SPDX-License-Identifier: MIT */
/* Explicit Jacobi (000 section 4.2, 001 Alg. 3): all units step at once, each with the others' outputs from the beginning of
 * the step: held, or extrapolated. */
#include "master/agree.h"
#include "master/correct.h"
#include "master/coupling.h"

/* All inputs are staged before the first unit moves on: what units see of each other is the state at the beginning. A unit
 * in the middle of a step of its own keeps what it saw at its beginning. */
static enum tutti_err stage(struct run *run)
{
    if (run->wires.plain && run->wires.part_count == 0)
        return TUTTI_OK; /* nobody reads anything: a single FMU */
    if (__builtin_expect(!run->has_grids, 1))
        return tutti_wires_gather_all(&run->wires);
    for (uint32_t m = 0; m < run->own_count; m++)
        if (tutti_member_present(run, run->own[m]))
            TRY(tutti_wires_gather(&run->wires, run->own[m]->wires));
    return TUTTI_OK;
}

static enum tutti_err step(struct run *run, double target)
{
    TRY(stage(run));
    for (uint32_t m = 0; __builtin_expect(run->wires.order > 0, 0) && m < run->own_count; m++)
        if (tutti_member_present(run, run->own[m]))
            tutti_coupling_hold(run, run->own[m], target);
    if (__builtin_expect(run->master.correction != NULL, 0))
        TRY(tutti_correction_before(run, target));
    for (uint32_t m = 0; m < run->own_count; m++)
        if (tutti_member_due(run, run->own[m], target))
            TRY(tutti_member_step(run, run->own[m], target));
    if (__builtin_expect(run->master.prudent, 0)) {
        run->master.owes_exchange = true; /* paid if the step is good: tutti_coupling_pay */
        return TUTTI_OK;
    }
    TRY(tutti_channels_exchange(run));
    if (__builtin_expect(run->master.correction == NULL, 1))
        return TUTTI_OK;
    TRY(tutti_agree_step(run));
    return tutti_correction_after(run, target);
}

static unsigned order(const struct run *run, unsigned extrapolation)
{
    (void)run;
    return extrapolation + 1;
}

const struct tutti_coupling tutti_coupling_jacobi = {.name = "jacobi", .step = step, .order = order};
