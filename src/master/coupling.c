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

/* Inputs of one unit that an output follows: their end counts. */
static void place_unit(struct run *run, uint32_t component, double *where)
{
    const struct tutti_structure *running = &run->master.running;
    const double *first = run->wires.gathered;
    for (uint32_t n = running->component_first[component]; n < running->component_first[component + 1]; n++)
        for (uint32_t k = running->graph.first[n]; running->nodes[n].output && k < running->graph.first[n + 1]; k++) {
            const struct tutti_structure_node *input = &running->nodes[running->graph.needs[k]];
            uint32_t node = tutti_structure_find(&run->structure, input->component, input->variable, false);
            const struct tutti_slot *slot = &run->wires.slots[node];
            const double *values = slot->values;
            if (slot->type != TUTTI_TYPE_FLOAT64 || values < first || values >= first + run->wires.gather_count)
                continue;
            for (uint32_t e = 0; e < slot->count; e++)
                where[values - first + e] = 1;
        }
}

/* What acts on states counts by its mean, what acts on outputs by where it ends. Only told dependencies tell. */
enum tutti_err tutti_coupling_place_held(struct run *run)
{
    double *where = tutti_arena_array(&run->arena, run->wires.gather_count, sizeof *where);
    if (!where)
        return tutti_fail_memory();
    run->master.where = where;
    for (uint32_t i = 0; i < run->wires.gather_count; i++)
        where[i] = 0.5;
    for (uint32_t c = 0; c < run->system->component_count; c++)
        if (!run->wires.units[c].slopes && !tutti_structure_is_assumed(&run->master.running, c))
            place_unit(run, c, where);
    return TUTTI_OK;
}

void tutti_coupling_hold(struct run *run, const struct tutti_member *member, double target)
{
    const struct tutti_unit_wires *wires = member->wires;
    double h = (member->has_grid ? member->grid.next : target) - run->t;
    if (run->wires.order == 0 || wires->slopes)
        return;
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
