/* SPDX-License-Identifier: MIT */
/* Inputs that move inside a step. */
#include <string.h>

#include "signals/wires.h"

/* Does the unit take slopes of all its moving inputs? Of arrays only in Model Exchange. */
static bool takes_slopes(const struct tutti_unit_wires *wired, const struct tutti_unit *unit)
{
    bool all = wired->moving_blocks > 0 && (unit->can & TUTTI_CAN_INPUT_DERIVATIVES);
    for (unsigned b = 0; b < wired->moving_blocks; b++)
        all = all && (wired->moving[b].count == wired->moving[b].value_count || unit->kind->interface == TUTTI_ME);
    return all;
}

/* The number of values of an input. */
static enum tutti_err extent_of(const struct tutti_unit *unit, uint32_t reference, size_t *extent)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    *extent = 1;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tutti_var *var = &desc->vars[i];
        if (var->reference == reference && tutti_type_is_float((enum tutti_type)var->type) && var->dimension_count > 0)
            return tutti_unit_extent(unit, i, extent);
    }
    return TUTTI_OK;
}

/* Those of one order of a block, from number *at on. */
static enum tutti_err lay_out_block(const struct tutti_slopes *slopes, const struct tutti_block *block, unsigned order,
                                    const struct tutti_unit *unit, size_t *at)
{
    for (size_t i = 0; i < block->count; i++) {
        size_t extent;
        TRY(extent_of(unit, block->references[i], &extent));
        for (size_t e = 0; e < extent && *at < slopes->count; e++, ++*at) {
            slopes->references[*at] = block->references[i];
            slopes->elements[*at] = e;
            slopes->orders[*at] = (int32_t)order;
        }
    }
    return TUTTI_OK;
}

/* As `gathered` has them: block after block. */
static enum tutti_err lay_out(const struct tutti_slopes *slopes, const struct tutti_unit_wires *wired, unsigned order,
                              const struct tutti_unit *unit)
{
    size_t at = 0;
    for (unsigned o = 1; o <= order; o++)
        for (unsigned b = 0; b < wired->moving_blocks; b++)
            TRY(lay_out_block(slopes, &wired->moving[b], o, unit, &at));
    return TUTTI_OK;
}

static enum tutti_err prepare(struct tutti_wires *wires, struct tutti_unit_wires *wired, const struct tutti_unit *unit)
{
    bool taken = takes_slopes(wired, unit);
    if (!unit->asks_for_inputs && !taken)
        return TUTTI_OK;
    struct tutti_slopes *slopes = tutti_arena_alloc(&wires->arena, sizeof *slopes);
    if (!slopes)
        return tutti_fail_memory();
    wired->slopes = slopes;
    if (!taken)
        return TUTTI_OK;
    slopes->count = (size_t)wires->order * wired->gather_count;
    slopes->references = tutti_arena_array(&wires->arena, slopes->count, sizeof *slopes->references);
    slopes->elements = tutti_arena_array(&wires->arena, slopes->count, sizeof *slopes->elements);
    slopes->orders = tutti_arena_array(&wires->arena, slopes->count, sizeof *slopes->orders);
    slopes->values = tutti_arena_array(&wires->arena, slopes->count, sizeof *slopes->values);
    if (!slopes->references || !slopes->elements || !slopes->orders || !slopes->values)
        return tutti_fail_memory();
    return lay_out(slopes, wired, wires->order, unit);
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
    if (wires->order >= 3)
        value += elapsed * elapsed * elapsed / 6 * wires->gathered_slopes[2][place];
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
    return unit->kind->set_input_derivatives(unit, slopes->references, slopes->elements, slopes->count, slopes->orders,
                                             slopes->values);
}

void tutti_wires_take_reals(const struct tutti_wires *wires, const char *signals, double *out)
{
    for (uint32_t i = 0; i < wires->real_count; i++)
        out[i] = ((const double *)(const void *)signals)[wires->reals[i].place];
}

enum tutti_err tutti_wires_remember(const struct tutti_wires *wires, struct tutti_remembered *remembered,
                                    double *values)
{
    const uint32_t *first = wires->real_first;
    for (uint32_t c = 0; c < wires->structure->system->component_count; c++)
        TRY(tutti_remember_of(remembered, c, values + first[c], (first[c + 1] - first[c]) * sizeof *values));
    return TUTTI_OK;
}

/* Discrete signals stand still between events. */
void tutti_wires_put_slopes(struct tutti_wires *wires, unsigned order, const double *values)
{
    for (uint32_t i = 0; i < wires->real_count; i++)
        wires->slopes[order - 1][wires->reals[i].place] = wires->reals[i].smooth ? values[i] : 0;
}
