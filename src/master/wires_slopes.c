/* SPDX-License-Identifier: MIT */
/* Inputs that move inside a step. */
#include <string.h>

#include "master/wires.h"

/* The Float64 inputs of a unit, all scalars, or NULL. */
static const struct tutti_block *scalars_of(const struct tutti_unit_wires *unit)
{
    for (unsigned b = 0; b < unit->moving_blocks; b++)
        if (unit->moving[b].type == TUTTI_TYPE_FLOAT64)
            return unit->moving[b].count == unit->moving[b].value_count ? &unit->moving[b] : NULL;
    return NULL;
}

static enum tutti_err prepare(struct tutti_wires *wires, struct tutti_unit_wires *wired, const struct tutti_unit *unit)
{
    const struct tutti_block *block = scalars_of(wired);
    bool asks = unit->asks_for_inputs, told = (unit->can & TUTTI_CAN_INPUT_DERIVATIVES) && block;
    if (!asks && !told)
        return TUTTI_OK;
    struct tutti_slopes *slopes = tutti_arena_alloc(&wires->arena, sizeof *slopes);
    if (!slopes)
        return tutti_fail_memory();
    wired->slopes = slopes;
    if (!told)
        return TUTTI_OK;
    slopes->count = wires->order * block->count;
    slopes->references = tutti_arena_array(&wires->arena, slopes->count, sizeof *slopes->references);
    slopes->orders = tutti_arena_array(&wires->arena, slopes->count, sizeof *slopes->orders);
    slopes->values = tutti_arena_array(&wires->arena, slopes->count, sizeof *slopes->values);
    if (!slopes->references || !slopes->orders || !slopes->values)
        return tutti_fail_memory();
    for (size_t i = 0; i < slopes->count; i++) {
        slopes->references[i] = block->references[i % block->count];
        slopes->orders[i] = (int32_t)(i / block->count) + 1;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_wires_let_move(struct tutti_wires *wires, unsigned order, struct tutti_unit *const *units)
{
    wires->order = order;
    for (unsigned o = 0; o < order; o++) {
        wires->slopes[o] = tutti_arena_alloc(&wires->arena, wires->signal_size);
        wires->gathered_slopes[o] = tutti_arena_array(&wires->arena, wires->gather_count, sizeof(double));
        if (!wires->slopes[o] || !wires->gathered_slopes[o])
            return tutti_fail_memory();
    }
    for (uint32_t c = 0; order > 0 && c < wires->structure->system->component_count; c++)
        if (units[c])
            TRY(prepare(wires, &wires->units[c], units[c]));
    return TUTTI_OK;
}

double tutti_wires_moved(const struct tutti_wires *wires, size_t place, double elapsed)
{
    double value = wires->gathered[place];
    if (wires->order >= 1)
        value += elapsed * wires->gathered_slopes[0][place];
    if (wires->order >= 2)
        value += elapsed * elapsed / 2 * wires->gathered_slopes[1][place];
    return value;
}

enum tutti_err tutti_wires_set_slopes(const struct tutti_wires *wires, const struct tutti_unit_wires *wired,
                                      struct tutti_unit *unit)
{
    const struct tutti_slopes *slopes = wired->slopes;
    if (!slopes || slopes->count == 0)
        return TUTTI_OK;
    for (unsigned o = 0; o < wires->order; o++)
        memcpy(slopes->values + o * wired->gather_count, wires->gathered_slopes[o] + wired->gather_first,
               wired->gather_count * sizeof(double));
    return unit->kind->set_input_derivatives(unit, slopes->references, slopes->count, slopes->orders, slopes->values);
}

void tutti_wires_take_reals(const struct tutti_wires *wires, const char *signals, double *out)
{
    for (uint32_t i = 0; i < wires->real_count; i++)
        out[i] = ((const double *)(const void *)signals)[wires->reals[i].place];
}

/* Discrete signals stand still between events. */
void tutti_wires_put_slopes(struct tutti_wires *wires, unsigned order, const double *values)
{
    for (uint32_t i = 0; i < wires->real_count; i++)
        wires->slopes[order - 1][wires->reals[i].place] = wires->reals[i].smooth ? values[i] : 0;
}
