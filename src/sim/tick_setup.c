/* SPDX-License-Identifier: MIT */
/* Which clocks units have, what makes them tick, and what is set and read at ticks: all that is known before a run begins. */
#include <math.h>

#include "sim/ticks.h"

static uint32_t count_clocks(const struct tt_description *desc)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        count += desc->vars[v].type == TUTTI_TYPE_CLOCK && desc->vars[v].causality != TUTTI_LOCAL;
    return count;
}

static uint32_t count_scheduled_lines(const struct tt_rank *rank, uint32_t component)
{
    uint32_t count = 0;
    for (size_t i = 0; i < rank->job->schedule.count; i++)
        count += rank->job->schedule.lines[i].component == component;
    return count;
}

/* Where an input clock's source counts its ticks. */
static const uint8_t *tick_source_of(const struct tt_rank *rank, uint32_t node)
{
    const struct tt_slot *slot = node == TUTTI_NONE ? NULL : &rank->wires.slots[node];
    return slot && slot->wire_count > 0
               ? (const uint8_t *)rank->wires.signals + rank->wires.wires[slot->wire_first].from
               : NULL;
}

static void fill_scheduled_clock(struct tt_tick_unit *unit, const struct tt_scheduled *line)
{
    const struct tt_var *var = &tt_ticks_unit_desc(unit)->vars[line->variable];
    unit->clocks[unit->clock_count++] = (struct tt_tick_clock){.variable = line->variable,
                                                               .reference = var->reference,
                                                               .kind = TUTTI_INTERVAL_TRIGGERED,
                                                               .input = true,
                                                               .scheduled = line,
                                                               .task = TUTTI_NONE};
    unit->states[unit->clock_count - 1] =
        (struct tt_tick_state){.time = INFINITY, .last_time = NAN, .interval = {0, 1}};
}

static bool output_clock_is_read(const struct tt_tick_unit *unit, uint32_t variable)
{
    const struct tt_system *system = unit->rank->job->system;
    for (uint32_t i = 0; i < system->connection_count; i++)
        if (system->connections[i].from.component == unit->member->component &&
            system->connections[i].from.variable == variable)
            return true;
    return false;
}

static void fill_tick_clock(struct tt_tick_unit *unit, uint32_t variable)
{
    const struct tt_structure *structure = &unit->rank->job->structure;
    const struct tt_var *var = &tt_ticks_unit_desc(unit)->vars[variable];
    const struct tt_clock *told = var->more->clock;
    bool input = var->causality == TUTTI_INPUT;
    uint32_t node = tt_structure_find(structure, unit->member->component, variable, false),
             heard = tt_structure_find(structure, unit->member->component, variable, true);
    struct tt_tick_clock *clock = &unit->clocks[unit->clock_count++];
    *clock = (struct tt_tick_clock){
        .variable = variable,
        .reference = var->reference,
        .kind = told->interval_variability,
        .input = input,
        .task = TUTTI_NONE,
        .heard = !input && output_clock_is_read(unit, variable),
        .fraction = told->supports_fraction,
        .described = told->interval > 0 || told->interval_counter > 0,
        .source = input ? tick_source_of(unit->rank, node) : NULL,
        .signal = heard == TUTTI_NONE ? NULL : unit->rank->wires.slots[heard].values,
    };
    unit->states[unit->clock_count - 1] =
        (struct tt_tick_state){.time = INFINITY, .last_time = NAN, .interval = {0, 1}};
}

/* Inputs that are set at ticks only, and variables that are read there. */
static enum tutti_err tick_list_variables(struct tt_tick_unit *unit)
{
    struct tt_rank *rank = unit->rank;
    const struct tt_structure *structure = &rank->job->structure;
    const struct tt_description *desc = tt_ticks_unit_desc(unit);
    uint32_t component = unit->member->component, first = structure->component_first[component],
             last = structure->component_first[component + 1];
    unit->inputs = tt_arena_array(&rank->arena, last - first, sizeof *unit->inputs);
    unit->outputs = tt_arena_array(&rank->arena, desc->var_count, sizeof *unit->outputs);
    if (!unit->inputs || !unit->outputs)
        return tt_fail_memory();
    for (uint32_t n = first; n < last; n++) {
        const struct tt_var *var = &desc->vars[structure->nodes[n].variable];
        bool at_ticks = var->clock_count > 0 || tt_ticks_is_scheduled(unit);
        if (!structure->nodes[n].output && var->causality == TUTTI_INPUT && var->type != TUTTI_TYPE_CLOCK && at_ticks)
            unit->inputs[unit->input_count++] = (struct tt_tick_variable){structure->nodes[n].variable, n, 0};
    }
    for (uint32_t v = 0; v < desc->var_count; v++) {
        const struct tt_var *var = &desc->vars[v];
        if (tt_clocked_has_clock(var) && var->causality != TUTTI_INPUT && var->causality != TUTTI_PARAMETER)
            unit->outputs[unit->output_count++] =
                (struct tt_tick_variable){v, tt_structure_find(structure, component, v, true),
                                          tt_clocked_find(unit->member->unit->clocked, var->reference)};
    }
    return TUTTI_OK;
}

/* Prepares the ticks of its partitions; again for a new instance. */
static enum tutti_err prepare_tick_partitions(struct tt_tick_unit *unit)
{
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        struct tt_tick_clock *clock = &unit->clocks[c];
        if (!clock->input)
            continue;
        if (!clock->partition)
            clock->partition = tt_arena_alloc(&unit->rank->arena, sizeof *clock->partition);
        if (!clock->partition)
            return tt_fail_memory();
        TRY(tt_ticks_partition_init(clock->partition, unit->rank, unit->member, clock->variable, unit->inputs,
                                    unit->input_count, unit->outputs, unit->output_count));
    }
    return TUTTI_OK;
}

/* The unit is looked after: what it has between ticks, and who is called at them. */
static enum tutti_err tick_attach_unit(struct tt_tick_unit *unit)
{
    TRY(tt_clocked_open(unit->member->unit));
    if (!tt_rank_owns(unit->rank, unit->member->component))
        return TUTTI_OK;
    tt_ticks_install_callbacks(unit);
    return tt_ticks_is_scheduled(unit) ? prepare_tick_partitions(unit) : TUTTI_OK;
}

enum tutti_err tt_tick_setup_restart(struct tt_rank *rank, struct tt_member *member)
{
    struct tt_tick_unit *unit = rank->ticks ? &rank->ticks->units[member->component] : NULL;
    return unit && unit->clock_count > 0 ? tick_attach_unit(unit) : TUTTI_OK;
}

static bool clock_has_schedule(const struct tt_tick_unit *unit, uint32_t c)
{
    bool found = false;
    for (uint32_t i = 0; i < unit->clock_count; i++)
        found = found || (unit->clocks[i].scheduled && unit->clocks[i].variable == unit->clocks[c].variable);
    return found;
}

/* A clock that ticks by time is not triggered; a triggered one that nothing triggers never ticks. */
static enum tutti_err check_clock_sources(const struct tt_tick_unit *unit)
{
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        const struct tt_tick_clock *clock = &unit->clocks[c];
        bool triggered = clock->kind == TUTTI_INTERVAL_TRIGGERED;
        if (clock->source && !triggered)
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "%s: a clock is connected to '%s', which ticks by time: only triggered clocks are made to "
                           "tick by others",
                           unit->member->unit->name, tt_ticks_clock_name(unit, c));
        if (clock->input && triggered && !clock->scheduled && !clock->source && !clock_has_schedule(unit, c) &&
            tt_rank_owns(unit->rank, unit->member->component))
            tt_log(unit->rank->unit_log, TUTTI_LOG_INFO, unit->member->unit->name,
                   "nothing makes the clock '%s' tick: --connect an output clock, or --schedule",
                   tt_ticks_clock_name(unit, c));
    }
    return TUTTI_OK;
}

static enum tutti_err open_tick_unit(struct tt_tick_unit *unit, struct tt_tick_state *states)
{
    struct tt_rank *rank = unit->rank;
    const struct tt_description *desc = tt_ticks_unit_desc(unit);
    uint32_t count = count_clocks(desc) + count_scheduled_lines(rank, unit->member->component);
    unit->states = states;
    if (count == 0)
        return TUTTI_OK;
    if (tt_ticks_is_scheduled(unit) && unit->member->driven)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s: a file drives inputs of this unit of Scheduled Execution, which takes inputs from other "
                       "units only; connect a unit that gives them",
                       unit->member->unit->name);
    unit->clocks = tt_arena_array(&rank->arena, count, sizeof *unit->clocks);
    unit->references = tt_arena_array(&rank->arena, count, sizeof *unit->references);
    unit->values = tt_arena_array(&rank->arena, count, sizeof *unit->values);
    if (!unit->clocks || !unit->references || !unit->values)
        return tt_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].type == TUTTI_TYPE_CLOCK && desc->vars[v].causality != TUTTI_LOCAL)
            fill_tick_clock(unit, v);
    for (size_t i = 0; i < rank->job->schedule.count; i++)
        if (rank->job->schedule.lines[i].component == unit->member->component)
            fill_scheduled_clock(unit, &rank->job->schedule.lines[i]);
    TRY(check_clock_sources(unit));
    TRY(tt_clocked_open(unit->member->unit));
    TRY(tick_list_variables(unit));
    return tick_attach_unit(unit);
}

static enum tutti_err open_tick_units(struct tt_rank *rank)
{
    size_t at = 0;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        struct tt_tick_unit *unit = &rank->ticks->units[m];
        *unit = (struct tt_tick_unit){.rank = rank, .member = &rank->members[m]};
        TRY(open_tick_unit(unit, rank->ticks->states + at));
        for (uint32_t c = 0; c < unit->clock_count; c++)
            rank->ticks->of[at + c] = unit;
        at += unit->clock_count;
    }
    return TUTTI_OK;
}

/* Returns true if ticks of partitions affect only these, so that none must wait for a check of all units. */
static bool may_run_partitions_alone(const struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_tick_unit *unit = &rank->ticks->units[m];
        const struct tt_unit_wires *wires = unit->member->wires;
        if (!tt_ticks_is_scheduled(unit) || unit->member->driven || unit->member->has_grid ||
            wires->moving_blocks > 0 || wires->held_blocks > 0 || !tt_rank_owns(rank, m))
            return false;
        for (uint32_t c = 0; c < unit->clock_count; c++)
            if (unit->clocks[c].source || unit->clocks[c].heard)
                return false;
    }
    for (uint32_t i = 0; i < rank->wires.real_count; i++)
        if (rank->wires.reals[i].smooth)
            return false; /* a look at it at every point */
    return true;
}

/* Returns true if all clocks keep their intervals, whatever ticks. */
static bool intervals_are_constant(const struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++)
        for (uint32_t c = 0; c < rank->ticks->units[m].clock_count; c++) {
            const struct tt_tick_clock *clock = &rank->ticks->units[m].clocks[c];
            bool asked = clock->kind == TUTTI_INTERVAL_CHANGING || clock->kind == TUTTI_INTERVAL_COUNTDOWN ||
                         (clock->kind == TUTTI_INTERVAL_TUNABLE && !clock->described);
            if (clock->input && asked && !clock->scheduled)
                return false;
        }
    return true;
}

enum tutti_err tt_tick_setup_open(struct tt_rank *rank)
{
    const struct tt_system *system = rank->job->system;
    if (!tt_clock_order_has_clocks(system))
        return TUTTI_OK;
    struct tt_ticks *ticks = tt_arena_alloc(&rank->arena, sizeof *ticks);
    bool *scheduled = tt_arena_array(&rank->arena, rank->member_count, sizeof *scheduled);
    if (!ticks || !scheduled)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->member_count; m++) {
        ticks->state_count += count_clocks(system->components[m].fmu->desc) + count_scheduled_lines(rank, m);
        scheduled[m] = rank->members[m].unit->kind->interface == TUTTI_SE;
    }
    ticks->units = tt_arena_array(&rank->arena, rank->member_count, sizeof *ticks->units);
    ticks->states = tt_arena_array(&rank->arena, ticks->state_count, sizeof *ticks->states);
    ticks->of = tt_arena_array(&rank->arena, ticks->state_count, sizeof(struct tt_tick_unit *));
    if (!ticks->units || !ticks->states || !ticks->of)
        return tt_fail_memory();
    TRY(tt_clock_order_init(&ticks->order, system, scheduled, &rank->arena));
    rank->ticks = ticks;
    TRY(open_tick_units(rank));
    double largest = fmax(fmax(fabs(rank->times.start), fabs(rank->times.stop)), fabs(rank->span));
    ticks->apart = 16 * 2.220446049250313e-16 * largest; /* twice that */
    ticks->runs = may_run_partitions_alone(rank);
    ticks->steady = intervals_are_constant(rank);
    return TUTTI_OK;
}
