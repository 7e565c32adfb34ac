/* SPDX-License-Identifier: MIT */
/* Which clocks units have, what makes them tick, and what is set and read at ticks: all that is known before a run begins. */
#include <math.h>

#include "rank/ticks.h"

static uint32_t count_clocks(const struct tutti_desc *desc)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        count += desc->vars[v].type == TUTTI_TYPE_CLOCK && desc->vars[v].causality != TUTTI_LOCAL;
    return count;
}

static uint32_t count_scheduled(const struct tutti_rank *rank, uint32_t component)
{
    uint32_t count = 0;
    for (size_t i = 0; i < rank->job->schedule.count; i++)
        count += rank->job->schedule.lines[i].component == component;
    return count;
}

/* Where an input clock's source counts its ticks. */
static const uint8_t *source_of(const struct tutti_rank *rank, uint32_t node)
{
    const struct tutti_slot *slot = node == TUTTI_NONE ? NULL : &rank->wires.slots[node];
    return slot && slot->wire_count > 0
               ? (const uint8_t *)rank->wires.signals + rank->wires.wires[slot->wire_first].from
               : NULL;
}

static void fill_scheduled(struct tutti_ticking_unit *unit, const struct tutti_scheduled *line)
{
    const struct tutti_var *var = &tutti_ticking_desc(unit)->vars[line->variable];
    unit->clocks[unit->clock_count++] = (struct tutti_ticking_clock){.variable = line->variable,
                                                                     .reference = var->reference,
                                                                     .kind = TUTTI_INTERVAL_TRIGGERED,
                                                                     .input = true,
                                                                     .scheduled = line,
                                                                     .task = TUTTI_NONE};
    unit->states[unit->clock_count - 1] =
        (struct tutti_tick_state){.time = INFINITY, .last_time = NAN, .interval = {0, 1}};
}

static bool is_heard(const struct tutti_ticking_unit *unit, uint32_t variable)
{
    const struct tutti_system *system = unit->rank->job->system;
    for (uint32_t i = 0; i < system->connection_count; i++)
        if (system->connections[i].from.component == unit->member->component &&
            system->connections[i].from.variable == variable)
            return true;
    return false;
}

static void fill_clock(struct tutti_ticking_unit *unit, uint32_t variable)
{
    const struct tutti_structure *structure = &unit->rank->job->structure;
    const struct tutti_var *var = &tutti_ticking_desc(unit)->vars[variable];
    const struct tutti_clock *told = var->more->clock;
    bool input = var->causality == TUTTI_INPUT;
    uint32_t node = tutti_structure_find(structure, unit->member->component, variable, false),
             heard = tutti_structure_find(structure, unit->member->component, variable, true);
    struct tutti_ticking_clock *clock = &unit->clocks[unit->clock_count++];
    *clock = (struct tutti_ticking_clock){
        .variable = variable,
        .reference = var->reference,
        .kind = told->interval_variability,
        .input = input,
        .task = TUTTI_NONE,
        .heard = !input && is_heard(unit, variable),
        .fraction = told->supports_fraction,
        .described = told->interval > 0 || told->interval_counter > 0,
        .source = input ? source_of(unit->rank, node) : NULL,
        .signal = heard == TUTTI_NONE ? NULL : unit->rank->wires.slots[heard].values,
    };
    unit->states[unit->clock_count - 1] =
        (struct tutti_tick_state){.time = INFINITY, .last_time = NAN, .interval = {0, 1}};
}

/* Inputs that are set at ticks only, and variables that are read there. */
static enum tutti_err list_variables(struct tutti_ticking_unit *unit)
{
    struct tutti_rank *rank = unit->rank;
    const struct tutti_structure *structure = &rank->job->structure;
    const struct tutti_desc *desc = tutti_ticking_desc(unit);
    uint32_t component = unit->member->component, first = structure->component_first[component],
             last = structure->component_first[component + 1];
    unit->inputs = tutti_arena_array(&rank->arena, last - first, sizeof *unit->inputs);
    unit->outputs = tutti_arena_array(&rank->arena, desc->var_count, sizeof *unit->outputs);
    if (!unit->inputs || !unit->outputs)
        return tutti_fail_memory();
    for (uint32_t n = first; n < last; n++) {
        const struct tutti_var *var = &desc->vars[structure->nodes[n].variable];
        bool at_ticks = var->clock_count > 0 || tutti_ticking_is_scheduled(unit);
        if (!structure->nodes[n].output && var->causality == TUTTI_INPUT && var->type != TUTTI_TYPE_CLOCK && at_ticks)
            unit->inputs[unit->input_count++] = (struct tutti_partition_variable){structure->nodes[n].variable, n, 0};
    }
    for (uint32_t v = 0; v < desc->var_count; v++) {
        const struct tutti_var *var = &desc->vars[v];
        if (tutti_var_is_clocked(var) && var->causality != TUTTI_INPUT && var->causality != TUTTI_PARAMETER)
            unit->outputs[unit->output_count++] =
                (struct tutti_partition_variable){v, tutti_structure_find(structure, component, v, true),
                                                  tutti_clocked_find(unit->member->unit->clocked, var->reference)};
    }
    return TUTTI_OK;
}

/* What ticks of its partitions do; anew for an instance that is. */
static enum tutti_err prepare_partitions(struct tutti_ticking_unit *unit)
{
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        struct tutti_ticking_clock *clock = &unit->clocks[c];
        if (!clock->input)
            continue;
        if (!clock->partition)
            clock->partition = tutti_arena_alloc(&unit->rank->arena, sizeof *clock->partition);
        if (!clock->partition)
            return tutti_fail_memory();
        TRY(tutti_rank_partition_init(clock->partition, unit->rank, unit->member, clock->variable, unit->inputs,
                                      unit->input_count, unit->outputs, unit->output_count));
    }
    return TUTTI_OK;
}

/* The unit is looked after: what it has between ticks, and who is called at them. */
static enum tutti_err look_after(struct tutti_ticking_unit *unit)
{
    TRY(tutti_clocked_open(unit->member->unit));
    if (!tutti_rank_owns(unit->rank, unit->member->component))
        return TUTTI_OK;
    tutti_ticks_listen(unit);
    return tutti_ticking_is_scheduled(unit) ? prepare_partitions(unit) : TUTTI_OK;
}

enum tutti_err tutti_ticks_renew(struct tutti_rank *rank, struct tutti_member *member)
{
    struct tutti_ticking_unit *unit = rank->ticks ? &rank->ticks->units[member->component] : NULL;
    return unit && unit->clock_count > 0 ? look_after(unit) : TUTTI_OK;
}

static bool has_schedule(const struct tutti_ticking_unit *unit, uint32_t c)
{
    bool found = false;
    for (uint32_t i = 0; i < unit->clock_count; i++)
        found = found || (unit->clocks[i].scheduled && unit->clocks[i].variable == unit->clocks[c].variable);
    return found;
}

/* A clock that ticks by time is not triggered; a triggered one that nothing triggers never ticks. */
static enum tutti_err check_sources(const struct tutti_ticking_unit *unit)
{
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        const struct tutti_ticking_clock *clock = &unit->clocks[c];
        bool triggered = clock->kind == TUTTI_INTERVAL_TRIGGERED;
        if (clock->source && !triggered)
            return tutti_fail(
                TUTTI_ERR_ARGUMENT,
                "%s: a clock is connected to '%s', which ticks by time: only triggered clocks are made to "
                "tick by others",
                unit->member->unit->name, tutti_ticking_name(unit, c));
        if (clock->input && triggered && !clock->scheduled && !clock->source && !has_schedule(unit, c) &&
            tutti_rank_owns(unit->rank, unit->member->component))
            tutti_log_printf(unit->rank->unit_log, TUTTI_LOG_INFO, unit->member->unit->name,
                             "nothing makes the clock '%s' tick: --connect an output clock, or --schedule",
                             tutti_ticking_name(unit, c));
    }
    return TUTTI_OK;
}

static enum tutti_err open_unit(struct tutti_ticking_unit *unit, struct tutti_tick_state *states)
{
    struct tutti_rank *rank = unit->rank;
    const struct tutti_desc *desc = tutti_ticking_desc(unit);
    uint32_t count = count_clocks(desc) + count_scheduled(rank, unit->member->component);
    unit->states = states;
    if (count == 0)
        return TUTTI_OK;
    if (tutti_ticking_is_scheduled(unit) && unit->member->driven)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s: a file drives inputs of this unit of Scheduled Execution, which takes inputs from other "
                          "units only; connect a unit that gives them",
                          unit->member->unit->name);
    unit->clocks = tutti_arena_array(&rank->arena, count, sizeof *unit->clocks);
    unit->references = tutti_arena_array(&rank->arena, count, sizeof *unit->references);
    unit->values = tutti_arena_array(&rank->arena, count, sizeof *unit->values);
    if (!unit->clocks || !unit->references || !unit->values)
        return tutti_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].type == TUTTI_TYPE_CLOCK && desc->vars[v].causality != TUTTI_LOCAL)
            fill_clock(unit, v);
    for (size_t i = 0; i < rank->job->schedule.count; i++)
        if (rank->job->schedule.lines[i].component == unit->member->component)
            fill_scheduled(unit, &rank->job->schedule.lines[i]);
    TRY(check_sources(unit));
    TRY(tutti_clocked_open(unit->member->unit));
    TRY(list_variables(unit));
    return look_after(unit);
}

static enum tutti_err open_units(struct tutti_rank *rank)
{
    size_t at = 0;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        struct tutti_ticking_unit *unit = &rank->ticks->units[m];
        *unit = (struct tutti_ticking_unit){.rank = rank, .member = &rank->members[m]};
        TRY(open_unit(unit, rank->ticks->states + at));
        for (uint32_t c = 0; c < unit->clock_count; c++)
            rank->ticks->of[at + c] = unit;
        at += unit->clock_count;
    }
    return TUTTI_OK;
}

/* Do ticks of partitions concern nothing but these, so that none has to wait for a look at all units? */
static bool may_run(const struct tutti_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tutti_ticking_unit *unit = &rank->ticks->units[m];
        const struct tutti_unit_wires *wires = unit->member->wires;
        if (!tutti_ticking_is_scheduled(unit) || unit->member->driven || unit->member->has_grid ||
            wires->moving_blocks > 0 || wires->held_blocks > 0 || !tutti_rank_owns(rank, m))
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

/* Do all clocks know their intervals, whatever ticks? */
static bool are_steady(const struct tutti_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++)
        for (uint32_t c = 0; c < rank->ticks->units[m].clock_count; c++) {
            const struct tutti_ticking_clock *clock = &rank->ticks->units[m].clocks[c];
            bool asked = clock->kind == TUTTI_INTERVAL_CHANGING || clock->kind == TUTTI_INTERVAL_COUNTDOWN ||
                         (clock->kind == TUTTI_INTERVAL_TUNABLE && !clock->described);
            if (clock->input && asked && !clock->scheduled)
                return false;
        }
    return true;
}

enum tutti_err tutti_ticks_open(struct tutti_rank *rank)
{
    const struct tutti_system *system = rank->job->system;
    if (!tutti_system_has_clocks(system))
        return TUTTI_OK;
    struct tutti_ticks *ticks = tutti_arena_alloc(&rank->arena, sizeof *ticks);
    bool *scheduled = tutti_arena_array(&rank->arena, rank->member_count, sizeof *scheduled);
    if (!ticks || !scheduled)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < rank->member_count; m++) {
        ticks->state_count += count_clocks(system->components[m].fmu->desc) + count_scheduled(rank, m);
        scheduled[m] = rank->members[m].unit->kind->interface == TUTTI_SE;
    }
    ticks->units = tutti_arena_array(&rank->arena, rank->member_count, sizeof *ticks->units);
    ticks->states = tutti_arena_array(&rank->arena, ticks->state_count, sizeof *ticks->states);
    ticks->of = tutti_arena_array(&rank->arena, ticks->state_count, sizeof(struct tutti_ticking_unit *));
    if (!ticks->units || !ticks->states || !ticks->of)
        return tutti_fail_memory();
    TRY(tutti_ticking_init(&ticks->order, system, scheduled, &rank->arena));
    rank->ticks = ticks;
    TRY(open_units(rank));
    double largest = fmax(fmax(fabs(rank->times.start), fabs(rank->times.stop)), fabs(rank->span));
    ticks->apart = 16 * 2.220446049250313e-16 * largest; /* twice that */
    ticks->runs = may_run(rank);
    ticks->steady = are_steady(rank);
    return TUTTI_OK;
}
