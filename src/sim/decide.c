/* SPDX-License-Identifier: MIT */
#include "sim/decide.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "base/text.h"
#include "model/plan/step_order.h"
#include "sim/choose.h"
#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "sim/coupling/tlm.h"
#include "sim/job/integration.h"
#include "sim/rank.h"
#include "sim/start/init.h"
#include "sim/start/linear_model.h"

/* ---- the choice ---- */

enum tutti_err tt_decide_method(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    struct tt_method *method = &master->chosen;
    TRY(tt_traits_collect(&master->traits, rank, &master->running, &master->sequence));
    tt_choose_method(&rank->job->options, &master->traits, method);
    for (int i = 0; i < TUTTI_CHOICES; i++)
        tt_text_spell_options(method->reasons[i]);
    if (method->warning[0] && (method->is & TUTTI_METHOD_ALWAYS_WARNS))
        tt_log_unfiltered(rank->log, TUTTI_LOG_WARNING, NULL, "%s", method->warning);
    else if (method->warning[0])
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL, "%s", method->warning);
    if (method->is & TUTTI_METHOD_ROWS_BY_STEP)
        rank->times.output_step = rank->times.step;
    return method->error ? tt_fail(method->error, "%s", method->refusal) : TUTTI_OK;
}

enum tutti_err tt_decide_test_rollback(struct tt_sim *master)
{
    bool forgets;
    if (master->rank->ended || !(master->chosen.is & TUTTI_METHOD_RELIES_ON_ROLLBACK))
        return TUTTI_OK;
    TRY(tt_init_test_units(master->rank, &forgets));
    return forgets ? tt_decide_method(master) : TUTTI_OK;
}

void tt_decide_log_method(const struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    const struct tt_method *chosen = &master->chosen;
    struct tt_method_warnings warnings;
    tt_choose_list_warnings(&rank->job->options, &master->traits, chosen, &warnings);
    for (unsigned i = 0; i < warnings.count; i++)
        if (warnings.items[i].always)
            tt_log_unfiltered(rank->log, TUTTI_LOG_WARNING, NULL, "%s", warnings.items[i].text);
    bool coupled = master->traits.is & TUTTI_SYSTEM_COUPLED,
         named = !tt_integration_is_auto(rank->job->options.control);
    for (int i = 0; i < TUTTI_CHOICES && (chosen->is & TUTTI_METHOD_GENERAL); i++)
        if (chosen->reasons[i][0] && !(named && i == TUTTI_CHOICE_CONTROL) &&
            (coupled || i == TUTTI_CHOICE_CONTROL || i == TUTTI_CHOICE_EVENTS))
            tt_log(rank->log, TUTTI_LOG_INFO, NULL, "auto: %s %s: %s", tt_choose_names[i],
                   tt_choose_value(chosen, (enum tt_choice_number)i), chosen->reasons[i]);
    for (unsigned i = 0; i < warnings.count; i++)
        if (!warnings.items[i].always)
            tt_log(rank->log, TUTTI_LOG_WARNING, NULL, "%s", warnings.items[i].text);
}

/* ---- the stability of a coupling with the steps of the run ---- */

/* Beyond these an analysis takes longer than it is worth. */
enum { MOST_STATES = 100, MOST_SIGNALS = 100 };
/* Over a whole run. A smaller growth does not justify the cost of more than one do-step per step. */
static const double MOST_GROWTH = 100;

/* Finds whether there is a feedback path from a unit to itself. Otherwise errors of a coupling do not grow. */
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

/* Returns true for a small system with fixed steps. `twins`: also for units of Co-Simulation, whose states only a
 * second instance of their FMU shows. */
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
    bool known = !((chosen->is & TUTTI_METHOD_CORRECTS) && chosen->coupling->waves);
    return (chosen->is & TUTTI_METHOD_GENERAL) && tt_system_is_coupled(rank->job->system) && !chosen->control->varies &&
           seen && known && states <= MOST_STATES && rank->wires.real_count <= MOST_SIGNALS && !rank->ended;
}

/* The growth of an error per step, and its growth beyond that of the equations themselves plus a tenth. */
struct error_growth {
    bool known, stable;
    double factor, excess;
};

/* Collective. Not known: a unit cannot be linearised, or its numbers say nothing. */
static enum tutti_err measure_growth(struct tt_sim *master, enum tt_linear_twins twins, struct error_growth *growth)
{
    const struct tt_method *chosen = &master->chosen;
    struct tt_rank *rank = master->rank;
    struct tt_linear_model model = {0};
    double h = rank->times.step, exact = 1;
    *growth = (struct error_growth){.stable = true, .factor = 1, .excess = 1};
    enum tutti_err err = tt_linear_model_init(&model, rank, &master->running, &master->sequence, twins);
    enum tt_step_method method = chosen->coupling->constrains && model.system.constraints.rows > 0
                                     ? TUTTI_STEP_KINEMATIC
                                 : chosen->coupling->iterates         ? TUTTI_STEP_IMPLICIT
                                 : chosen->is & TUTTI_METHOD_CORRECTS ? TUTTI_STEP_CORRECT
                                 : chosen->is & TUTTI_METHOD_SMOOTHS  ? TUTTI_STEP_SMOOTH
                                 : chosen->coupling->waves            ? TUTTI_STEP_SEIDEL
                                                                      : TUTTI_STEP_JACOBI;
    unsigned order = method == TUTTI_STEP_IMPLICIT ? 0 : chosen->order;
    if (!err && method != TUTTI_STEP_KINEMATIC)
        err = tt_step_operator_exact_radius(&model.system, h, &exact);
    if (!err)
        err = tt_step_operator_is_stable(&model.system, method, order, h, &growth->factor, &growth->stable);
    tt_linear_model_fini(&model);
    growth->excess = growth->factor / pow(fmax(exact, 1), 1.1);
    growth->known = err == TUTTI_OK;
    return err == TUTTI_ERR_MEMORY || err == TUTTI_ERR_STOPPED ? err : TUTTI_OK;
}

enum tutti_err tt_decide_reconsider_coupling(struct tt_sim *master)
{
    const struct tt_method *chosen = &master->chosen;
    const struct tt_coupling *coupling = chosen->coupling;
    struct tt_rank *rank = master->rank;
    const struct tt_system *system = rank->job->system;
    double steps = rank->span / rank->times.step;
    struct error_growth growth;
    bool cycle = false;
    char option[64];

    /* `auto` may select a different coupling. */
    if (can_analyze_stability(master, false) && tt_integration_is_auto(rank->job->options.coupling) &&
        coupling->by_lane && !rank->job->options.correct && !(chosen->is & TUTTI_METHOD_SMOOTHS) &&
        system->fed_count == 0)
        TRY(coupling_has_cycle(master, &cycle));
    if (cycle) {
        TRY(measure_growth(master, TUTTI_TWINS_NONE, &growth));
        bool unstable = growth.known && !growth.stable && log(growth.factor) * steps > log(MOST_GROWTH);
        TRY(tt_rank_agree_any(rank, &unstable));
        if (unstable) {
            master->traits.unstable = (struct tt_unstable_coupling){coupling, growth.factor};
            TRY(tt_decide_method(master));
        }
    }

    /* Where steps have one size, and errors grow in them, there is a warning. */
    coupling = chosen->coupling;
    bool equal = !coupling->federates && !coupling->joins && (system->fed_count == 0 || coupling->constrains) &&
                 !isfinite(tt_tlm_shortest_delay(system));
    if (!can_analyze_stability(master, true) || !equal)
        return TUTTI_OK;
    TRY(coupling_has_cycle(master, &cycle));
    if (!cycle)
        return TUTTI_OK;
    TRY(measure_growth(master, TUTTI_TWINS_BESIDE, &growth));
    if (!growth.known || growth.stable || !(log(growth.excess) * steps > log(MOST_GROWTH)) || rank->fabric->rank > 0)
        return TUTTI_OK;
    snprintf(option, sizeof option, "--coupling %s%s%s", coupling->name,
             chosen->is & TUTTI_METHOD_CORRECTS ? " --correct" : "",
             chosen->is & TUTTI_METHOD_SMOOTHS ? " --smooth" : "");
    tt_log_unfiltered(rank->unit_log, TUTTI_LOG_WARNING, NULL,
                      "%s is not stable with steps of %s: where the run starts, an error grows %.4g times in each of "
                      "its %.0f steps, and the result cannot be trusted; use a smaller --step, another --coupling, "
                      "--correct or error control (--rtol); tutti analyze --step says what is stable",
                      option, NUMBER(rank->times.step), growth.factor, ceil(steps));
    return TUTTI_OK;
}
