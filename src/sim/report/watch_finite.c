/* SPDX-License-Identifier: MIT */
#include "sim/report/watch_finite.h"

#include <math.h>

#include "base/number.h"

enum tutti_err tt_watch_open_finite(struct tt_finite *finite, struct tt_rank *rank)
{
    const struct tt_wires *wires = &rank->wires;
    finite->parts = tt_arena_array(&rank->arena, wires->real_count, sizeof *finite->parts);
    if (!finite->parts)
        return tt_fail_memory();
    for (uint32_t i = 0; i < wires->real_count; i++) {
        const struct tt_real_signal *real = &wires->reals[i];
        struct tt_gather_part *last = finite->part_count > 0 ? &finite->parts[finite->part_count - 1] : NULL;
        if (!real->smooth || !tt_rank_owns(rank, real->component))
            continue;
        if (last && last->first + last->count == real->place)
            last->count++;
        else
            finite->parts[finite->part_count++] = (struct tt_gather_part){real->place, 1};
    }
    return TUTTI_OK;
}

static double finite_value_at(const struct tt_rank *rank, size_t place)
{
    return ((const double *)(const void *)rank->wires.signals)[place];
}

/* Did the unit get an input that is not finite in its last step? */
static bool had_nonfinite_input(const struct tt_rank *rank, uint32_t component)
{
    const struct tt_unit_wires *unit = &rank->wires.units[component];
    for (uint32_t k = unit->gather_first; k < unit->gather_first + unit->gather_count; k++)
        if (!isfinite(rank->wires.gathered[k]))
            return true;
    return false;
}

/* A continuous signal that the unit reads and that is not finite now; TUTTI_NONE: there is none. */
static uint32_t nonfinite_source(const struct tt_rank *rank, uint32_t component)
{
    const struct tt_wires *wires = &rank->wires;
    const struct tt_unit_wires *unit = &wires->units[component];
    for (uint32_t k = unit->gather_first; k < unit->gather_first + unit->gather_count; k++) {
        uint32_t real = tt_wires_find_real(wires, wires->gather[k]);
        if (real != TUTTI_NONE && !isfinite(finite_value_at(rank, wires->gather[k])))
            return real;
    }
    for (uint32_t w = unit->wire_first; w < unit->wire_first + unit->wire_count; w++) {
        uint32_t real = tt_wires_find_real(wires, wires->wires[w].from / sizeof(double));
        if (real != TUTTI_NONE && !isfinite(finite_value_at(rank, wires->reals[real].place)))
            return real;
    }
    return TUTTI_NONE;
}

/* The signal where it begins: of a unit whose inputs were finite in the step. Where that is none, or several, sources are followed
 * from the first one on, once around a loop at most. */
static uint32_t find_nonfinite_origin(const struct tt_rank *rank)
{
    const struct tt_wires *wires = &rank->wires;
    uint32_t first = TUTTI_NONE, found = TUTTI_NONE;
    for (uint32_t i = 0; i < wires->real_count; i++) {
        if (!wires->reals[i].smooth || isfinite(finite_value_at(rank, wires->reals[i].place)))
            continue;
        first = first == TUTTI_NONE ? i : first;
        if (found == TUTTI_NONE && !had_nonfinite_input(rank, wires->reals[i].component))
            found = i;
    }
    found = found == TUTTI_NONE ? first : found;
    for (uint32_t steps = 0; steps < rank->member_count; steps++) {
        uint32_t source = nonfinite_source(rank, wires->reals[found].component);
        if (source == TUTTI_NONE)
            return found;
        if (had_nonfinite_input(rank, wires->reals[source].component) &&
            !had_nonfinite_input(rank, wires->reals[found].component))
            return found;
        found = source;
    }
    return found;
}

/* An input of the unit that a file or an expression drives, and that is not finite; TUTTI_NONE: there is none. */
static uint32_t find_nonfinite_drive(const struct tt_rank *rank, uint32_t component)
{
    const struct tt_inputs *inputs = rank->members[component].inputs;
    const struct tt_description *desc = rank->members[component].unit->fmu->desc;
    for (uint32_t v = 0; inputs && v < desc->var_count; v++) {
        const void *slot = desc->vars[v].type == TUTTI_TYPE_FLOAT64 ? tt_inputs_slot(inputs, v, 0) : NULL;
        if (slot && !isfinite(*(const double *)slot))
            return v;
    }
    return TUTTI_NONE;
}

enum tutti_err tt_watch_fail_not_finite(const struct tt_rank *rank, double t, const char *why)
{
    const struct tt_real_signal *real = &rank->wires.reals[find_nonfinite_origin(rank)];
    const struct tt_structure_node *node = &rank->job->structure.nodes[real->node];
    const struct tt_component *component = &rank->job->system->components[node->component];
    struct tt_end end = {.component = node->component, .variable = node->variable};
    char name[256];
    uint32_t driven = find_nonfinite_drive(rank, node->component);
    tt_system_name(rank->job->system, &end, name, sizeof name);
    if (driven != TUTTI_NONE)
        tt_fail(TUTTI_ERR_SOLVER,
                "t = %s: '%s' is not finite (%s), and inputs follow it: the input '%s' of '%s' is not finite, which %s "
                "drives",
                TIME(t), name, isnan(finite_value_at(rank, real->place)) ? "NaN" : "infinite",
                component->fmu->desc->vars[driven].name, component->name,
                tt_inputs_file_name(rank->members[node->component].inputs, driven));
    else
        tt_fail(TUTTI_ERR_SOLVER,
                "t = %s: '%s' is not finite (%s)%s, and inputs follow it; if its FMU does not do that by itself, the "
                "coupling is not stable: try another --coupling, --correct or a smaller step (tutti analyze)",
                TIME(t), name, isnan(finite_value_at(rank, real->place)) ? "NaN" : "infinite", why);
    return tt_fail_about(TUTTI_ERR_SOLVER, component->name, component->fmu->desc->vars[node->variable].name, t);
}
