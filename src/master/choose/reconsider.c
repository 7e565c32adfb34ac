/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "master/choose/asked.h"
#include "master/choose/choose.h"
#include "master/control/control.h"
#include "master/coupling/coupling.h"
#include "master/coupling/tlm.h"
#include "plan/stages.h"
#include "rank/agree.h"
#include "start/linear_system.h"

/* Beyond these an analysis takes longer than it is worth. */
enum { MOST_STATES = 100, MOST_SIGNALS = 100 };
/* In a whole run. What grows less is no reason to pay for more than one do-step per step. */
static const double MOST_GROWTH = 100;

/* Is there a way back from a unit to itself? Else errors of a coupling are handed on, and do not grow. */
static enum tutti_err has_cycle(const struct tutti_master *master, bool *cycle)
{
    struct tutti_stages stages;
    *cycle = false;
    TRY(tutti_stages_init(&stages, &master->running));
    for (uint32_t i = 0; i < stages.count; i++)
        *cycle = *cycle || stages.items[i].cyclic;
    tutti_stages_fini(&stages);
    return TUTTI_OK;
}

/* A small system whose coupling makes steps of one size. `twins`: also of units for Co-Simulation, whose states only a second unit of
 * their FMU shows. */
static bool can_be_analysed(const struct tutti_master *master, bool twins)
{
    const struct tutti_rank *rank = master->rank;
    const struct tutti_chosen *chosen = &master->chosen;
    size_t states = 0;
    bool seen = true;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tutti_unit *unit = rank->units[m];
        const struct tutti_interface *me = &unit->fmu->desc->interfaces[TUTTI_ME];
        bool has_twin = twins && me->present && !(me->flags & (TUTTI_ONCE_PER_PROCESS | TUTTI_NEEDS_TOOL));
        states += unit->fmu->desc->state_count;
        seen = seen && (unit->kind->interface == TUTTI_ME || has_twin) && !rank->members[m].has_grid &&
               !rank->members[m].setup.integration.average;
    }
    bool known = !(chosen->corrects && chosen->coupling->waves);
    return chosen->general && tutti_system_is_coupled(rank->job->system) && !chosen->control->varies && seen && known &&
           states <= MOST_STATES && rank->wires.real_count <= MOST_SIGNALS && !rank->ended;
}

/* Is `auto` free to take another coupling? */
static bool may_change(const struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    return can_be_analysed(master, false) && tutti_asked_auto(rank->job->options.coupling) &&
           master->chosen.coupling->by_lane && !rank->job->options.correct && !master->chosen.smooths &&
           rank->job->system->fed_count == 0;
}

/* What is to be known of the steps of a run: how many times an error grows in each, and how many times beyond what the equations
 * themselves, and a tenth of that, let it. */
struct growth {
    bool known, stable;
    double factor, excess;
};

static enum tutti_err measure_step(const struct tutti_master *master, const struct tutti_linear_system *system,
                                   struct growth *growth)
{
    const struct tutti_chosen *chosen = &master->chosen;
    enum tutti_step_method method = chosen->coupling->constrains && system->constraints.rows > 0 ? TUTTI_STEP_KINEMATIC
                                    : chosen->coupling->iterates                                 ? TUTTI_STEP_IMPLICIT
                                    : chosen->corrects                                           ? TUTTI_STEP_CORRECT
                                    : chosen->smooths                                            ? TUTTI_STEP_SMOOTH
                                    : chosen->coupling->waves                                    ? TUTTI_STEP_SEIDEL
                                                                                                 : TUTTI_STEP_JACOBI;
    double h = master->rank->times.step, exact = 1;
    unsigned order = method == TUTTI_STEP_IMPLICIT ? 0 : chosen->order;
    if (method != TUTTI_STEP_KINEMATIC)
        TRY(tutti_exact_radius(system, h, &exact));
    TRY(tutti_step_is_stable(system, method, order, h, &growth->factor, &growth->stable));
    growth->excess = growth->factor / pow(fmax(exact, 1), 1.1);
    return TUTTI_OK;
}

/* Collective. Not known: a unit cannot be linearised, or its numbers say nothing. */
static enum tutti_err measure_growth(struct tutti_master *master, enum tutti_twins twins, struct growth *growth)
{
    struct tutti_rank *rank = master->rank;
    struct tutti_linear_model model = {0};
    *growth = (struct growth){.stable = true, .factor = 1, .excess = 1};
    enum tutti_err err = tutti_linear_model_init(&model, rank, &master->running, &master->sequence, twins);
    if (!err)
        err = measure_step(master, &model.system, growth);
    tutti_linear_model_fini(&model);
    growth->known = err == TUTTI_OK;
    return err == TUTTI_ERR_MEMORY || err == TUTTI_ERR_STOPPED ? err : TUTTI_OK;
}

/* ---- another coupling ---- */

static enum tutti_err reconsider(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    struct growth growth;
    TRY(measure_growth(master, TUTTI_TWINS_NONE, &growth));
    bool unstable = growth.known && !growth.stable &&
                    log(growth.factor) * rank->span / rank->times.step > log(MOST_GROWTH);
    TRY(tutti_agree_any(rank, &unstable));
    if (!unstable)
        return TUTTI_OK;
    master->unstable = (struct tutti_unstable){master->chosen.coupling, growth.factor};
    return tutti_master_choose(master);
}

/* ---- a warning ---- */

static bool makes_equal_steps(const struct tutti_master *master)
{
    const struct tutti_coupling *coupling = master->chosen.coupling;
    return !coupling->federates && !coupling->joins &&
           (master->rank->job->system->fed_count == 0 || coupling->constrains) &&
           !isfinite(tutti_tlm_shortest(master->rank->job->system));
}

static enum tutti_err warn_of_growth(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    double steps = rank->span / rank->times.step;
    struct growth growth;
    char option[64];
    TRY(measure_growth(master, TUTTI_TWINS_BESIDE, &growth));
    if (!growth.known || growth.stable || !(log(growth.excess) * steps > log(MOST_GROWTH)) || rank->fabric->rank > 0)
        return TUTTI_OK;
    snprintf(option, sizeof option, "--coupling %s%s%s", master->chosen.coupling->name,
             master->chosen.corrects ? " --correct" : "", master->chosen.smooths ? " --smooth" : "");
    tutti_log_insist(
        rank->unit_log, TUTTI_LOG_WARNING, NULL,
        "%s is not stable with steps of %s: where the run starts, an error grows %.4g times in each of its %.0f steps, "
        "and "
        "the result cannot be trusted; use a smaller --step, another --coupling, --correct or error control "
        "(--rtol); tutti analyze --step says what is stable",
        option, NUMBER(rank->times.step), growth.factor, ceil(steps));
    return TUTTI_OK;
}

enum tutti_err tutti_master_reconsider(struct tutti_master *master)
{
    bool cycle = false;
    if (may_change(master)) {
        TRY(has_cycle(master, &cycle));
        TRY(cycle ? reconsider(master) : TUTTI_OK);
    }
    if (!can_be_analysed(master, true) || !makes_equal_steps(master))
        return TUTTI_OK;
    TRY(has_cycle(master, &cycle));
    return cycle ? warn_of_growth(master) : TUTTI_OK;
}
