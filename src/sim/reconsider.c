/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "sim/requested.h"
#include "sim/choose.h"
#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "sim/coupling/tlm.h"
#include "model/plan/stages.h"
#include "sim/rank_agree.h"
#include "sim/start/linear_model.h"

/* Beyond these an analysis takes longer than it is worth. */
enum { MOST_STATES = 100, MOST_SIGNALS = 100 };
/* In a whole run. What grows less is no reason to pay for more than one do-step per step. */
static const double MOST_GROWTH = 100;

/* Is there a way back from a unit to itself? Else errors of a coupling are handed on, and do not grow. */
static enum tutti_err coupling_has_cycle(const struct tt_sim *master, bool *cycle)
{
    struct tt_step_stages stages;
    *cycle = false;
    TRY(tt_step_order_init_stages(&stages, &master->running));
    for (uint32_t i = 0; i < stages.count; i++)
        *cycle = *cycle || stages.items[i].cyclic;
    tt_step_order_fini_stages(&stages);
    return TUTTI_OK;
}

/* A small system whose coupling makes steps of one size. `twins`: also of units for Co-Simulation, whose states only a second unit of
 * their FMU shows. */
static bool can_analyze_stability(const struct tt_sim *master, bool twins)
{
    const struct tt_rank *rank = master->rank;
    const struct tt_method *chosen = &master->chosen;
    size_t states = 0;
    bool seen = true;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_unit *unit = rank->units[m];
        const struct tt_interface *me = &unit->fmu->desc->interfaces[TUTTI_ME];
        bool has_twin = twins && me->present && !(me->flags & (TUTTI_ONCE_PER_PROCESS | TUTTI_NEEDS_TOOL));
        states += unit->fmu->desc->state_count;
        seen = seen && (unit->kind->interface == TUTTI_ME || has_twin) && !rank->members[m].has_grid &&
               !rank->members[m].setup.integration.average;
    }
    bool known = !(chosen->corrects && chosen->coupling->waves);
    return chosen->general && tt_system_is_coupled(rank->job->system) && !chosen->control->varies && seen && known &&
           states <= MOST_STATES && rank->wires.real_count <= MOST_SIGNALS && !rank->ended;
}

/* Is `auto` free to take another coupling? */
static bool may_change_coupling(const struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    return can_analyze_stability(master, false) && tt_choose_is_auto(rank->job->options.coupling) &&
           master->chosen.coupling->by_lane && !rank->job->options.correct && !master->chosen.smooths &&
           rank->job->system->fed_count == 0;
}

/* What is to be known of the steps of a run: how many times an error grows in each, and how many times beyond what the equations
 * themselves, and a tenth of that, let it. */
struct error_growth {
    bool known, stable;
    double factor, excess;
};

static enum tutti_err measure_step_growth(const struct tt_sim *master, const struct tt_linear_system *system,
                                          struct error_growth *growth)
{
    const struct tt_method *chosen = &master->chosen;
    enum tt_step_method method = chosen->coupling->constrains && system->constraints.rows > 0 ? TUTTI_STEP_KINEMATIC
                                 : chosen->coupling->iterates                                 ? TUTTI_STEP_IMPLICIT
                                 : chosen->corrects                                           ? TUTTI_STEP_CORRECT
                                 : chosen->smooths                                            ? TUTTI_STEP_SMOOTH
                                 : chosen->coupling->waves                                    ? TUTTI_STEP_SEIDEL
                                                                                              : TUTTI_STEP_JACOBI;
    double h = master->rank->times.step, exact = 1;
    unsigned order = method == TUTTI_STEP_IMPLICIT ? 0 : chosen->order;
    if (method != TUTTI_STEP_KINEMATIC)
        TRY(tt_step_operator_exact_radius(system, h, &exact));
    TRY(tt_step_operator_is_stable(system, method, order, h, &growth->factor, &growth->stable));
    growth->excess = growth->factor / pow(fmax(exact, 1), 1.1);
    return TUTTI_OK;
}

/* Collective. Not known: a unit cannot be linearised, or its numbers say nothing. */
static enum tutti_err measure_growth(struct tt_sim *master, enum tt_linear_twins twins, struct error_growth *growth)
{
    struct tt_rank *rank = master->rank;
    struct tt_linear_model model = {0};
    *growth = (struct error_growth){.stable = true, .factor = 1, .excess = 1};
    enum tutti_err err = tt_linear_model_init(&model, rank, &master->running, &master->sequence, twins);
    if (!err)
        err = measure_step_growth(master, &model.system, growth);
    tt_linear_model_fini(&model);
    growth->known = err == TUTTI_OK;
    return err == TUTTI_ERR_MEMORY || err == TUTTI_ERR_STOPPED ? err : TUTTI_OK;
}

/* ---- another coupling ---- */

static enum tutti_err reconsider_coupling(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    struct error_growth growth;
    TRY(measure_growth(master, TUTTI_TWINS_NONE, &growth));
    bool unstable = growth.known && !growth.stable &&
                    log(growth.factor) * rank->span / rank->times.step > log(MOST_GROWTH);
    TRY(tt_rank_agree_any(rank, &unstable));
    if (!unstable)
        return TUTTI_OK;
    master->unstable = (struct tt_unstable_coupling){master->chosen.coupling, growth.factor};
    return tt_choose_method(master);
}

/* ---- a warning ---- */

static bool makes_equal_steps(const struct tt_sim *master)
{
    const struct tt_coupling *coupling = master->chosen.coupling;
    return !coupling->federates && !coupling->joins &&
           (master->rank->job->system->fed_count == 0 || coupling->constrains) &&
           !isfinite(tt_tlm_shortest_delay(master->rank->job->system));
}

static enum tutti_err warn_unstable_coupling(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    double steps = rank->span / rank->times.step;
    struct error_growth growth;
    char option[64];
    TRY(measure_growth(master, TUTTI_TWINS_BESIDE, &growth));
    if (!growth.known || growth.stable || !(log(growth.excess) * steps > log(MOST_GROWTH)) || rank->fabric->rank > 0)
        return TUTTI_OK;
    snprintf(option, sizeof option, "--coupling %s%s%s", master->chosen.coupling->name,
             master->chosen.corrects ? " --correct" : "", master->chosen.smooths ? " --smooth" : "");
    tt_log_unfiltered(
        rank->unit_log, TUTTI_LOG_WARNING, NULL,
        "%s is not stable with steps of %s: where the run starts, an error grows %.4g times in each of its %.0f steps, "
        "and "
        "the result cannot be trusted; use a smaller --step, another --coupling, --correct or error control "
        "(--rtol); tutti analyze --step says what is stable",
        option, NUMBER(rank->times.step), growth.factor, ceil(steps));
    return TUTTI_OK;
}

enum tutti_err tt_choose_reconsider_coupling(struct tt_sim *master)
{
    bool cycle = false;
    if (may_change_coupling(master)) {
        TRY(coupling_has_cycle(master, &cycle));
        TRY(cycle ? reconsider_coupling(master) : TUTTI_OK);
    }
    if (!can_analyze_stability(master, true) || !makes_equal_steps(master))
        return TUTTI_OK;
    TRY(coupling_has_cycle(master, &cycle));
    return cycle ? warn_unstable_coupling(master) : TUTTI_OK;
}
