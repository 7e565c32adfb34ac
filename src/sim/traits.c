/* SPDX-License-Identifier: MIT */
#include "sim/traits.h"

#include <math.h>

#include "sim/coupling/tlm.h"
#include "sim/detector.h"
#include "sim/extrapolation.h"
#include "sim/job/annotation.h"
#include "sim/job/integration.h"
#include "sim/start/feedthrough.h"
#include "sim/ticks.h"

/* ---- before components are opened ---- */

/* What the system's files and the options say, whatever its components turn out to be. */
static unsigned system_traits(const struct tt_job *job)
{
    const struct tt_system *system = job->system;
    return (tt_system_is_coupled(system) ? TUTTI_SYSTEM_COUPLED : 0u) |
           (system->constraint_count > 0 ? TUTTI_SYSTEM_CONSTRAINED : 0u) |
           (system->fed_count > 0 ? TUTTI_SYSTEM_FED : 0u) | (system->read_count > 0 ? TUTTI_SYSTEM_READ : 0u) |
           (isfinite(tt_tlm_shortest_delay(system)) ? TUTTI_SYSTEM_DELAYED : 0u) |
           (job->times.step_proposed ? TUTTI_SYSTEM_STEP_PROPOSED : 0u) | (job->is_fed ? TUTTI_SYSTEM_FEDERATE : 0u);
}

enum tutti_err tt_traits_describe(struct tt_traits *traits, const struct tt_job *job, struct tt_arena *arena)
{
    const struct tt_system *system = job->system;
    struct tt_component_traits *components = tt_arena_array(arena, system->component_count, sizeof *components);
    if (!components)
        return tt_fail_memory();
    for (uint32_t c = 0; c < system->component_count; c++) {
        const struct tt_component *component = &system->components[c];
        struct tutti_run_options own = job->options;
        const struct tt_unit_kind *kind = NULL;
        double step;
        bool exchange = job->joins;
        if (!exchange && component->fmu && !tt_annotation_apply_component(&own, system, component, &step))
            exchange = !tt_integration_find_interface(&own, component->fmu, tt_system_is_alone(system), &kind) &&
                       kind->interface == TUTTI_ME;
        components[c] = (struct tt_component_traits){
            .name = component->name,
            .path = component->fmu ? component->fmu->path : "",
            .is = TUTTI_TRAIT_ROLLBACK | TUTTI_TRAIT_FOLLOWS | (exchange ? TUTTI_TRAIT_EXCHANGE : 0u),
        };
    }
    *traits = (struct tt_traits){
        .components = components,
        .count = system->component_count,
        .is = system_traits(job) | TUTTI_SYSTEM_SAME_SOLVER | TUTTI_SYSTEM_CONTINUOUS |
              (job->joins ? TUTTI_SYSTEM_JOINED : 0u),
        .foreign = system->foreign,
        .table_order = 2,
        .step = job->times.step,
        .radii.known = true,
    };
    return TUTTI_OK;
}

/* ---- of opened components ---- */

/* Model Exchange goes back by its states; Co-Simulation needs an FMU that saves its own. */
static bool can_roll_back(const struct tt_unit *unit)
{
    return unit->kind->interface == TUTTI_ME || (unit->can & TUTTI_CAN_STATE);
}

/* `running`: NULL for one component. */
static unsigned component_traits(const struct tt_rank *rank, const struct tt_member *member,
                                 const struct tt_structure *running)
{
    const struct tt_unit *unit = member->unit;
    const struct tt_description *desc = unit->fmu->desc;
    enum tt_interface_kind interface = unit->kind->interface;
    bool follows = (unit->can & TUTTI_CAN_INPUT_DERIVATIVES) || unit->asks_for_inputs,
         connected = member->wires->gather_count > 0;
    /* What a loop needs depends on the components in it alone. */
    bool opaque = running && !can_roll_back(unit) && !(unit->can & TUTTI_CAN_DIRECTIONAL) &&
                  tt_structure_is_in_loop(running, member->component);
    bool crosses = unit->has_events && desc->event_indicator_count > 0; /* in the middle of a step */
    /* It may return from the middle of a step. Announced events, and events at its end, need no step to be taken back. */
    uint32_t flags = desc->interfaces[interface].flags;
    bool early = interface == TUTTI_CS ? (flags & TUTTI_CAN_EARLY_RETURN) != 0 && !unit->uniform
                                       : desc->event_indicator_count > 0 || (flags & TUTTI_NEEDS_COMPLETED_STEP) != 0;
    const struct {
        bool has;
        enum tt_component_trait trait;
    } all[] = {
        {interface == TUTTI_ME, TUTTI_TRAIT_EXCHANGE},
        {interface == TUTTI_CS && desc->interfaces[TUTTI_ME].present, TUTTI_TRAIT_OFFERS_EXCHANGE},
        {can_roll_back(unit), TUTTI_TRAIT_ROLLBACK},
        {can_roll_back(unit) && !(unit->can & TUTTI_CAN_STATE) && crosses, TUTTI_TRAIT_FRAGILE},
        {unit->forgets, TUTTI_TRAIT_FORGETS},
        {member->has_grid, TUTTI_TRAIT_OWN_STEP},
        {unit->uniform, TUTTI_TRAIT_UNIFORM},
        {desc->interfaces[interface].fixed_step > 0, TUTTI_TRAIT_STAIRS},
        {member->setup.integration.average, TUTTI_TRAIT_AVERAGES},
        {connected && follows, TUTTI_TRAIT_FOLLOWS},
        {connected && !follows, TUTTI_TRAIT_HOLDS},
        {unit->has_events && early, TUTTI_TRAIT_EVENTS},
        {opaque, TUTTI_TRAIT_OPAQUE},
        {interface == TUTTI_CS && !(unit->can & TUTTI_CAN_DIRECTIONAL), TUTTI_TRAIT_TRIALS},
        {rank->ticks && rank->ticks->units[member->component].clock_count > 0, TUTTI_TRAIT_CLOCKS},
    };
    unsigned traits = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        traits |= all[i].has ? all[i].trait : 0u;
    return traits;
}

/* Own components whose directional derivatives will be used are tested here, before anything depends on these: their
 * kind compares them with differences (unit/cs.c). Those that fail lose them on all ranks. */
static enum tutti_err test_directional_derivatives(struct tt_rank *rank, const struct tt_structure *running)
{
    double *lost = tt_arena_array(&rank->arena, rank->member_count, sizeof *lost);
    if (!lost)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tt_member *member = rank->own[m];
        bool loops = tt_structure_is_in_loop(running, member->component);
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

/* Determines how accurately components receive the tables that drive them, if they do not follow these inside a
 * step. */
static enum tutti_err measure_table_order(struct tt_rank *rank, unsigned *order)
{
    double worst = -INFINITY;
    *order = 0;
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
    *order = isfinite(worst) ? (unsigned)-worst : 0;
    return TUTTI_OK;
}

/* Returns true if there is a signal whose error can be estimated: of a single FMU an output. */
static bool has_continuous_signal(const struct tt_rank *rank, bool coupled)
{
    const struct tt_description *desc = rank->job->system->components[0].fmu->desc;
    for (uint32_t i = 0; i < rank->wires.real_count && coupled; i++)
        if (rank->wires.reals[i].smooth)
            return true;
    for (uint32_t i = 0; i < desc->outputs.count && !coupled; i++) {
        const struct tt_var *var = &desc->vars[desc->outputs.items[i].variable];
        if (var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS)
            return true;
    }
    return false;
}

enum tutti_err tt_traits_collect(struct tt_traits *traits, struct tt_rank *rank, struct tt_structure *running,
                                 struct tt_step_sequence *sequence)
{
    const struct tt_wires *wires = &rank->wires;
    bool coupled = tt_system_is_coupled(rank->job->system), same = true;
    struct tt_component_traits *components = tt_arena_array(&rank->arena, rank->member_count, sizeof *components);
    if (!components)
        return tt_fail_memory();
    TRY(measure_table_order(rank, &traits->table_order));
    traits->radii.known = traits->has_radii ? traits->radii.known : true;
    if (coupled && !traits->has_radii) {
        TRY(tt_structure_init(running, rank->job->system, TUTTI_PHASE_RUN));
        TRY(tt_step_order_init_sequence(sequence, running, rank->job->options.order));
        TRY(test_directional_derivatives(rank, running));
        if (rank->expected.is & TUTTI_METHOD_NEEDS_LOOPS)
            TRY(tt_stability_measure(rank, running, sequence, &traits->radii));
        traits->has_radii = true;
    }
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_integration *integration = &rank->members[m].setup.integration;
        same = same && !integration->average && integration->solver == rank->members[0].setup.integration.solver;
        components[m] = (struct tt_component_traits){
            .name = rank->units[m]->name,
            .path = rank->units[m]->fmu->path,
            .is = component_traits(rank, &rank->members[m], coupled ? running : NULL),
            .rollback = rank->members[m].setup.rollback,
        };
    }
    for (uint32_t i = 0; i < wires->real_count; i++)
        if (wires->reals[i].smooth && !tt_extrapolation_provides_rates(rank, i))
            components[wires->reals[i].component].is |= TUTTI_TRAIT_NO_RATES;
    traits->components = components;
    traits->count = rank->member_count;
    traits->is = system_traits(rank->job) | (rank->joins ? TUTTI_SYSTEM_JOINED : 0u) |
                 (same ? TUTTI_SYSTEM_SAME_SOLVER : 0u) | (tt_detector_has_outputs(rank) ? TUTTI_SYSTEM_DISCRETE : 0u) |
                 (has_continuous_signal(rank, coupled) ? TUTTI_SYSTEM_CONTINUOUS : 0u) |
                 (!coupled && rank->members[0].driven ? TUTTI_SYSTEM_DRIVEN : 0u);
    traits->foreign = rank->job->system->foreign;
    traits->step = rank->times.step;
    return TUTTI_OK;
}
