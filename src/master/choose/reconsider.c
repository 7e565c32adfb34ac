/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "master/choose/asked.h"
#include "master/choose/choose.h"
#include "master/control/control.h"
#include "master/coupling/coupling.h"
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

/* Small systems of Model Exchange units, where `auto` is free to take another coupling. */
static bool can_be_analysed(const struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    const struct tutti_chosen *chosen = &master->chosen;
    size_t states = 0;
    bool seen = true;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        states += rank->units[m]->fmu->desc->state_count;
        seen = seen && rank->units[m]->kind->interface == TUTTI_ME && !rank->members[m].has_grid &&
               !rank->members[m].setup.integration.average;
    }
    return chosen->general && tutti_system_is_coupled(rank->job->system) &&
           tutti_asked_auto(rank->job->options.coupling) && chosen->coupling->by_lane && !chosen->control->varies &&
           !rank->job->options.correct && !chosen->smooths && rank->job->system->fed_count == 0 && seen &&
           states <= MOST_STATES && rank->wires.real_count <= MOST_SIGNALS && !rank->ended;
}

static enum tutti_err measure_growth(struct tutti_master *master, double *factor, bool *stable)
{
    struct tutti_rank *rank = master->rank;
    enum tutti_step_method method = master->chosen.corrects          ? TUTTI_STEP_CORRECT
                                    : master->chosen.coupling->waves ? TUTTI_STEP_SEIDEL
                                                                     : TUTTI_STEP_JACOBI;
    struct tutti_linear_model model = {0};
    enum tutti_err err = tutti_linear_model_init(&model, rank, &master->running, &master->sequence, false);
    if (!err)
        err = tutti_step_is_stable(&model.system, method, master->chosen.order, rank->times.step, factor, stable);
    tutti_linear_model_fini(&model);
    return err;
}

enum tutti_err tutti_master_reconsider(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    bool cycle, stable = true;
    double factor = 1;
    if (!can_be_analysed(master))
        return TUTTI_OK;
    TRY(has_cycle(master, &cycle));
    enum tutti_err err = cycle ? measure_growth(master, &factor, &stable) : TUTTI_OK;
    if (err && err != TUTTI_ERR_UNSUPPORTED && err != TUTTI_ERR_SOLVER && err != TUTTI_ERR_LIMIT)
        return err;
    bool unstable = !err && !stable && log(factor) * rank->span / rank->times.step > log(MOST_GROWTH);
    TRY(tutti_agree_any(rank, &unstable));
    if (!unstable)
        return TUTTI_OK;
    master->unstable = (struct tutti_unstable){master->chosen.coupling, factor};
    return tutti_master_choose(master);
}
