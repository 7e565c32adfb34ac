/* SPDX-License-Identifier: MIT */
#include "sim/traits.h"

#include <math.h>

#include "sim/job/integration.h"
#include "sim/requested.h"
#include "sim/coupling/coupling.h"
#include "sim/rank.h"
#include "sim/start/feedthrough.h"

bool tt_traits_can_roll_back(const struct tt_unit *unit)
{
    return unit->kind->interface == TUTTI_ME || (unit->can & TUTTI_CAN_STATE);
}

/* Returns true if it may return from the middle of a step, at an event. Announced events, and events at the ends of
 * steps, need no rollback. */
static bool traits_returns_early(const struct tt_unit *unit)
{
    uint32_t flags = unit->fmu->desc->interfaces[unit->kind->interface].flags;
    if (!unit->has_events)
        return false;
    return unit->kind->interface == TUTTI_CS
               ? (flags & TUTTI_CAN_EARLY_RETURN) != 0 && !unit->uniform
               : unit->fmu->desc->event_indicator_count > 0 || (flags & TUTTI_NEEDS_COMPLETED_STEP) != 0;
}

bool tt_traits_follows_inputs(const struct tt_unit *unit)
{
    return (unit->can & TUTTI_CAN_INPUT_DERIVATIVES) || unit->asks_for_inputs;
}

static void collect_member_traits(struct tt_traits *facts, const struct tt_member *member)
{
    const struct tt_unit *unit = member->unit;
    const struct tt_member **sort = unit->kind->interface == TUTTI_ME ? &facts->first_me : &facts->other;
    *sort = *sort ? *sort : member;
    if (member->has_grid && unit->kind->interface == TUTTI_ME && !facts->own_step_me)
        facts->own_step_me = member;
    if (!tt_traits_can_roll_back(unit) && !facts->no_rollback)
        facts->no_rollback = member;
    bool crosses = unit->has_events && unit->fmu->desc->event_indicator_count > 0; /* in the middle of a step */
    if (tt_traits_can_roll_back(unit) && !(unit->can & TUTTI_CAN_STATE) && crosses && !facts->fragile)
        facts->fragile = member;
    if (member->has_grid && !facts->own_step)
        facts->own_step = member;
    if (unit->fmu->desc->interfaces[unit->kind->interface].fixed_step > 0 && !facts->stairs)
        facts->stairs = member;
    if (member->setup.integration.average && !facts->averages)
        facts->averages = member;
    facts->takes_slopes = facts->takes_slopes || (tt_traits_follows_inputs(unit) && member->wires->gather_count > 0);
    facts->has_events = facts->has_events || traits_returns_early(unit);
}

/* The requirements of a loop depend on the units in it alone. */
static void collect_loop_traits(struct tt_sim *master, struct tt_traits *facts)
{
    struct tt_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->member_count && !facts->opaque; m++) {
        const struct tt_unit *unit = rank->members[m].unit;
        bool has_d = unit->kind->interface == TUTTI_ME || (unit->can & TUTTI_CAN_DIRECTIONAL) ||
                     tt_traits_can_roll_back(unit);
        if (!has_d && tt_structure_is_in_loop(&master->running, m))
            facts->opaque = &rank->members[m];
    }
}

/* Own units whose directional derivatives will be used are tested here, before anything depends on these: their kind
 * compares them with differences (unit/cs.c). All ranks are notified of units that lose them. */
static enum tutti_err test_directional_derivatives(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    double *lost = tt_arena_array(&rank->arena, rank->member_count, sizeof *lost);
    if (!lost)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tt_member *member = rank->own[m];
        bool loops = tt_structure_is_in_loop(&master->running, member->component);
        if (member->unit->kind->interface == TUTTI_CS && (loops || rank->job->options.correct))
            TRY(tt_feedthrough_test(&rank->wires, member->unit, member->component));
        lost[member->component] = !(member->unit->can & TUTTI_CAN_DIRECTIONAL);
    }
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, lost, rank->member_count));
    for (uint32_t m = 0; m < rank->member_count; m++)
        if (lost[m] > 0)
            rank->units[m]->can &= ~(uint32_t)TUTTI_CAN_DIRECTIONAL;
    return TUTTI_OK;
}

/* Determines how accurately units receive the tables that drive them, if they do not follow these inside a step. */
static enum tutti_err collect_table_traits(struct tt_sim *master, struct tt_traits *facts)
{
    struct tt_rank *rank = master->rank;
    double worst = -INFINITY;
    if (!tt_job_drives_inputs(rank->job))
        return TUTTI_OK;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tt_inputs *inputs = rank->own[m]->inputs;
        uint32_t can = rank->own[m]->unit->can;
        if (!inputs || !tt_inputs_depend_on_steps(inputs, can))
            continue;
        bool centred = !tt_inputs_are_held(inputs, can) || inputs->choice.at == TUTTI_INPUT_AUTO ||
                       inputs->choice.at == TUTTI_INPUT_MIDDLE;
        worst = fmax(worst, centred ? -2 : -1);
    }
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &worst, 1));
    facts->table_order = isfinite(worst) ? (unsigned)-worst : 0;
    return TUTTI_OK;
}

/* Single FMU: returns true if it has an output whose error can be estimated. */
static bool has_continuous_output(const struct tt_description *desc)
{
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        const struct tt_var *var = &desc->vars[desc->outputs.items[i].variable];
        if (var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS)
            return true;
    }
    return false;
}

/* Single FMU: decides whether it is controlled. If a tolerance cannot be met, it runs without control, with a warning;
 * an explicit control is rejected. */
static void collect_single_traits(const struct tt_sim *master, struct tt_traits *facts)
{
    const struct tt_rank *rank = master->rank;
    bool able = !facts->no_rollback && !facts->own_step && !facts->stairs;
    facts->has_signals = has_continuous_output(rank->job->system->components[0].fmu->desc);
    facts->controlled = facts->table_order > 0 && tt_choose_requests_control(&rank->job->options) &&
                        (!tt_choose_is_auto(rank->job->options.control) || (able && facts->has_signals));
}

enum tutti_err tt_traits_collect(struct tt_sim *master, struct tt_traits *facts)
{
    struct tt_rank *rank = master->rank;
    struct tt_structure *running = &master->running;
    *facts = (struct tt_traits){.coupled = tt_system_is_coupled(rank->job->system)};
    for (uint32_t m = 0; m < rank->member_count; m++)
        collect_member_traits(facts, &rank->members[m]);
    facts->has_outputs = tt_detector_has_outputs(rank);
    for (uint32_t i = 0; i < rank->wires.real_count; i++)
        facts->has_signals = facts->has_signals || rank->wires.reals[i].smooth;
    facts->stability.known = true;
    TRY(collect_table_traits(master, facts));
    if (!facts->coupled) {
        collect_single_traits(master, facts);
        return TUTTI_OK;
    }
    if (master->stability) {
        facts->stability = *master->stability;
        collect_loop_traits(master, facts);
        return TUTTI_OK;
    }
    TRY(tt_structure_init(running, rank->job->system, TUTTI_PHASE_RUN));
    TRY(tt_step_order_init_sequence(&master->sequence, running, rank->job->options.order));
    TRY(test_directional_derivatives(master));
    collect_loop_traits(master, facts);
    const struct tutti_run_options *options = &rank->job->options;
    bool asks = tt_choose_is_auto(options->coupling) || tt_choose_is_auto(options->extrapolate) ||
                tt_choose_may_control(rank->job); /* loops of couplings by name are corrected, too */
    if (asks)
        TRY(tt_stability_measure(rank, running, &master->sequence, &facts->stability));
    struct tt_radii *kept = tt_arena_alloc(&rank->arena, sizeof *kept);
    if (!kept)
        return tt_fail_memory();
    *kept = facts->stability;
    master->stability = kept;
    return TUTTI_OK;
}

/* One solver for all units has their states; returns true if no property of the units prevents it. */
static bool can_join_solver(const struct tt_sim *master, const struct tt_traits *facts)
{
    const struct tt_rank *rank = master->rank;
    bool same = true;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_integration *integration = &rank->members[m].setup.integration;
        same = same && !integration->average && integration->solver == rank->members[0].setup.integration.solver;
    }
    return same && facts->coupled && !facts->other && !facts->own_step && rank->job->system->fed_count == 0;
}

bool tt_traits_should_join(const struct tt_sim *master, const struct tt_traits *facts)
{
    return tt_integration_may_join(&master->rank->job->options) && can_join_solver(master, facts);
}

bool tt_traits_all_join(const struct tt_sim *master, const struct tt_traits *facts)
{
    return master->chosen.coupling->joins && !facts->other;
}

bool tt_traits_will_join_all(const struct tt_sim *master, const struct tt_traits *facts)
{
    const struct tutti_run_options *options = &master->rank->job->options;
    const struct tt_coupling *coupling = NULL;
    if (tt_choose_is_auto(options->coupling))
        return tt_traits_should_join(master, facts);
    return tt_coupling_find(options->coupling, &coupling) == TUTTI_OK && coupling->joins && !facts->other;
}

void tt_traits_detect_cubic(struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    struct tt_method *chosen = &master->chosen;
    const struct tt_wires *wires = &rank->wires;
    chosen->on_lines = chosen->holding = NULL;
    if (chosen->order != TUTTI_CUBIC)
        return;
    for (uint32_t i = 0; i < wires->real_count; i++)
        if (wires->reals[i].smooth && !tt_extrapolation_provides_rates(rank, i)) {
            chosen->on_lines = &rank->members[wires->reals[i].component];
            break;
        }
    for (uint32_t m = 0; m < rank->member_count; m++)
        if (rank->members[m].wires->gather_count > 0 && !tt_traits_follows_inputs(rank->units[m])) {
            chosen->holding = &rank->members[m];
            break;
        }
}
