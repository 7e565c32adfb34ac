/* SPDX-License-Identifier: MIT */
#include "master/coupling.h"

#include <string.h>

#include "base/str.h"

static const struct tutti_coupling *const couplings[] = {&tutti_coupling_jacobi, &tutti_coupling_seidel,
                                                         &tutti_coupling_relax};

enum tutti_err tutti_coupling_find(const char *name, const struct tutti_coupling **out)
{
    struct tutti_text all = {0};
    for (size_t i = 0; i < sizeof couplings / sizeof *couplings; i++) {
        *out = couplings[i];
        if (strcmp(name, couplings[i]->name) == 0) {
            tutti_text_fini(&all);
            return TUTTI_OK;
        }
        tutti_text_printf(&all, ", %s", couplings[i]->name);
    }
    enum tutti_err err =
        tutti_fail(TUTTI_ERR_ARGUMENT, "--coupling takes auto%s, not '%s'", all.text ? all.text : "", name);
    tutti_text_fini(&all);
    return err;
}

/* The end of this input counts. */
static void place_input(struct run *run, uint32_t component, uint32_t variable)
{
    const double *first = run->wires.gathered;
    uint32_t node = tutti_structure_find(&run->structure, component, variable, false);
    if (node == TUTTI_NONE)
        return;
    const struct tutti_slot *slot = &run->wires.slots[node];
    const double *values = slot->values;
    if (slot->type != TUTTI_TYPE_FLOAT64 || values < first || values >= first + run->wires.gather_count)
        return;
    for (uint32_t e = 0; e < slot->count; e++)
        run->master.where[values - first + e] = 1;
}

/* Inputs of one unit that a connected output follows. */
static void place_unit(struct run *run, uint32_t component)
{
    const struct tutti_structure *running = &run->master.running;
    for (uint32_t n = running->component_first[component]; n < running->component_first[component + 1]; n++)
        for (uint32_t k = running->graph.first[n]; running->nodes[n].output && k < running->graph.first[n + 1]; k++)
            place_input(run, component, running->nodes[running->graph.needs[k]].variable);
}

/* ... or any output: it is to be as right as all others. Of which nothing is told may follow anything. */
static void place_with_unread(struct run *run, uint32_t component)
{
    const struct tutti_desc *desc = run->system->components[component].fmu->desc;
    struct tutti_unit_wires *unit = &run->wires.units[component];
    uint32_t end = unit->gather_first + unit->gather_count;
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        const struct tutti_unknown *output = &desc->outputs.items[i];
        for (uint32_t g = unit->gather_first; !output->has_dependencies && g < end; g++)
            run->master.where[g] = 1;
        for (uint32_t d = 0; d < output->dependency_count; d++)
            place_input(run, component, output->dependencies[d]);
    }
    for (uint32_t g = unit->gather_first; g < end; g++)
        unit->halves = unit->halves || run->master.where[g] == 1;
    run->master.holds = run->master.holds || unit->gather_count > 0;
}

/* What acts on states counts by its mean, what acts on outputs by where it ends. Only told dependencies tell. */
enum tutti_err tutti_coupling_place_held(struct run *run)
{
    double *where = tutti_arena_array(&run->arena, run->wires.gather_count, sizeof *where);
    double *second = tutti_arena_array(&run->arena, run->wires.gather_count, sizeof *second);
    if (!where || !second)
        return tutti_fail_memory();
    run->master.where = where;
    run->master.second = second;
    for (uint32_t i = 0; i < run->wires.gather_count; i++)
        where[i] = 0.5;
    for (uint32_t c = 0; c < run->system->component_count; c++)
        if (!run->wires.units[c].slopes && run->master.by_means)
            place_with_unread(run, c);
        else if (!run->wires.units[c].slopes && !tutti_structure_is_assumed(&run->master.running, c))
            place_unit(run, c);
    return TUTTI_OK;
}

/* The mean of a moving input from `a` to `b` of the step. */
static double mean(const struct tutti_wires *wires, uint32_t place, double a, double b)
{
    double value = wires->gathered[place] + wires->gathered_slopes[0][place] * (a + b) / 2;
    return wires->order < 2 ? value : value + wires->gathered_slopes[1][place] * (a * a + a * b + b * b) / 6;
}

/* With the right mean in every step, and the right end where outputs follow: both halves together have that mean. */
static void hold_means(struct run *run, const struct tutti_unit_wires *unit, double h)
{
    struct tutti_wires *wires = &run->wires;
    for (uint32_t i = unit->gather_first; i < unit->gather_first + unit->gather_count; i++) {
        double whole = mean(wires, i, 0, h), first = mean(wires, i, 0, h / 2), second = mean(wires, i, h / 2, h);
        if (run->master.where[i] == 1) {
            second = tutti_wires_moved(wires, i, h);
            first = 2 * whole - second;
        }
        run->master.second[i] = second;
        wires->gathered[i] = unit->halves ? first : whole;
    }
}

void tutti_coupling_hold(struct run *run, const struct tutti_member *member, double target)
{
    const struct tutti_unit_wires *wires = member->wires;
    double h = (member->has_grid ? member->grid.next : target) - run->t;
    if (run->wires.order == 0 || wires->slopes)
        return;
    if (run->master.by_means) {
        hold_means(run, wires, h);
        return;
    }
    for (uint32_t i = wires->gather_first; i < wires->gather_first + wires->gather_count; i++)
        run->wires.gathered[i] = tutti_wires_moved(&run->wires, i, run->master.where[i] * h);
}

enum tutti_err tutti_coupling_stage(struct run *run, struct tutti_member *member, double target)
{
    TRY(tutti_wires_gather(&run->wires, member->wires));
    tutti_coupling_hold(run, member, target);
    return member->unit->has_events || member->wires->held_count == 0
               ? TUTTI_OK
               : tutti_wires_gather_held(&run->wires, member->wires);
}

/* A line between both ends; where a slope at the beginning is known to order 2, the parabola with that slope. */
void tutti_coupling_pass_on(struct run *run, uint32_t component, double h)
{
    const struct tutti_wires *wires = &run->wires;
    const double *now = (const void *)wires->signals;
    double *begin = (void *)run->master.begin;
    for (unsigned b = 0; b < wires->units[component].output_blocks; b++) { /* what cannot move has moved */
        const struct tutti_block *block = &wires->units[component].outputs[b];
        if (block->type != TUTTI_TYPE_FLOAT64 && !block->owned)
            memcpy(run->master.begin + ((const char *)block->values - wires->signals), block->values,
                   block->value_count * tutti_type_size(block->type));
    }
    bool parabola = wires->order == 2 && tutti_extrapolation_order(&run->master.extrapolation) == 2;
    for (uint32_t i = wires->real_first[component]; i < wires->real_first[component + 1]; i++) {
        const struct tutti_real *real = &wires->reals[i];
        double *slope = &wires->slopes[0][real->place], move = now[real->place] - begin[real->place];
        if (!real->smooth) {
            begin[real->place] = now[real->place];
            continue;
        }
        if (parabola)
            wires->slopes[1][real->place] = 2 * (move - h * *slope) / (h * h);
        else
            *slope = move / h;
        if (!parabola && wires->order == 2)
            wires->slopes[1][real->place] = 0;
    }
}

enum tutti_err tutti_coupling_pay(struct run *run)
{
    if (!run->master.owes_exchange)
        return TUTTI_OK;
    run->master.owes_exchange = false;
    return tutti_channels_exchange(run);
}
