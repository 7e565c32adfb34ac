/* SPDX-License-Identifier: MIT */
/* Inputs that move inside a step. */
#include <string.h>

#include "sim/signals/wires.h"

/* Does the unit take slopes of all its moving inputs? Of arrays only in Model Exchange. */
static bool takes_slopes(const struct tt_unit_wires *wired, const struct tt_unit *unit)
{
    bool all = wired->moving_blocks > 0 && (unit->can & TUTTI_CAN_INPUT_DERIVATIVES);
    for (unsigned b = 0; b < wired->moving_blocks; b++)
        all = all && (wired->moving[b].count == wired->moving[b].value_count || unit->kind->interface == TUTTI_ME);
    return all;
}

/* The number of values of an input. */
static enum tutti_err wire_extent_of(const struct tt_unit *unit, uint32_t reference, size_t *extent)
{
    const struct tt_description *desc = unit->fmu->desc;
    *extent = 1;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tt_var *var = &desc->vars[i];
        if (var->reference == reference && tt_type_is_float((enum tt_type)var->type) && var->dimension_count > 0)
            return tt_unit_extent(unit, i, extent);
    }
    return TUTTI_OK;
}

/* Those of one order of a block, from number *at on. */
static enum tutti_err slopes_lay_out_block(const struct tt_slopes *slopes, const struct tt_block *block, unsigned order,
                                           const struct tt_unit *unit, size_t *at)
{
    for (size_t i = 0; i < block->count; i++) {
        size_t extent;
        TRY(wire_extent_of(unit, block->references[i], &extent));
        for (size_t e = 0; e < extent && *at < slopes->count; e++, ++*at) {
            slopes->references[*at] = block->references[i];
            slopes->elements[*at] = e;
            slopes->orders[*at] = (int32_t)order;
        }
    }
    return TUTTI_OK;
}

/* As `gathered` has them: block after block. */
static enum tutti_err slopes_lay_out(const struct tt_slopes *slopes, const struct tt_unit_wires *wired, unsigned order,
                                     const struct tt_unit *unit)
{
    size_t at = 0;
    for (unsigned o = 1; o <= order; o++)
        for (unsigned b = 0; b < wired->moving_blocks; b++)
            TRY(slopes_lay_out_block(slopes, &wired->moving[b], o, unit, &at));
    return TUTTI_OK;
}

static enum tutti_err slopes_prepare(struct tt_wires *wires, struct tt_unit_wires *wired, const struct tt_unit *unit)
{
    bool taken = takes_slopes(wired, unit);
    if (!unit->asks_for_inputs && !taken)
        return TUTTI_OK;
    struct tt_slopes *slopes = tt_arena_alloc(&wires->arena, sizeof *slopes);
    if (!slopes)
        return tt_fail_memory();
    wired->slopes = slopes;
    if (!taken)
        return TUTTI_OK;
    slopes->count = (size_t)wires->order * wired->gather_count;
    slopes->references = tt_arena_array(&wires->arena, slopes->count, sizeof *slopes->references);
    slopes->elements = tt_arena_array(&wires->arena, slopes->count, sizeof *slopes->elements);
    slopes->orders = tt_arena_array(&wires->arena, slopes->count, sizeof *slopes->orders);
    slopes->values = tt_arena_array(&wires->arena, slopes->count, sizeof *slopes->values);
    if (!slopes->references || !slopes->elements || !slopes->orders || !slopes->values)
        return tt_fail_memory();
    return slopes_lay_out(slopes, wired, wires->order, unit);
}

enum tutti_err tt_wires_enable_slopes(struct tt_wires *wires, unsigned order, struct tt_unit *const *units)
{
    wires->order = order;
    for (unsigned o = 0; o < order; o++) {
        wires->slopes[o] = tt_arena_alloc(&wires->arena, wires->signal_size);
        wires->gathered_slopes[o] = tt_arena_array(&wires->arena, wires->gather_count, sizeof(double));
        if (!wires->slopes[o] || !wires->gathered_slopes[o])
            return tt_fail_memory();
    }
    for (uint32_t c = 0; order > 0 && c < wires->structure->system->component_count; c++)
        if (units[c])
            TRY(slopes_prepare(wires, &wires->units[c], units[c]));
    return TUTTI_OK;
}

double tt_wires_extrapolate(const struct tt_wires *wires, size_t place, double elapsed)
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

enum tutti_err tt_wires_set_slopes(const struct tt_wires *wires, const struct tt_unit_wires *wired,
                                   struct tt_unit *unit)
{
    const struct tt_slopes *slopes = wired->slopes;
    if (!slopes || slopes->count == 0)
        return TUTTI_OK;
    for (unsigned o = 0; o < wires->order; o++)
        memcpy(slopes->values + o * wired->gather_count, wires->gathered_slopes[o] + wired->gather_first,
               wired->gather_count * sizeof(double));
    return unit->kind->set_input_derivatives(unit, slopes->references, slopes->elements, slopes->count, slopes->orders,
                                             slopes->values);
}

void tt_wires_get_reals(const struct tt_wires *wires, const char *signals, double *out)
{
    for (uint32_t i = 0; i < wires->real_count; i++)
        out[i] = ((const double *)(const void *)signals)[wires->reals[i].place];
}

enum tutti_err tt_wires_register_reals(const struct tt_wires *wires, struct tt_rollback_list *remembered,
                                       double *values)
{
    const uint32_t *first = wires->real_first;
    for (uint32_t c = 0; c < wires->structure->system->component_count; c++)
        TRY(tt_rollback_list_add_of(remembered, c, values + first[c], (first[c + 1] - first[c]) * sizeof *values));
    return TUTTI_OK;
}

/* Discrete signals stand still between events. */
void tt_wires_store_slopes(struct tt_wires *wires, unsigned order, const double *values)
{
    for (uint32_t i = 0; i < wires->real_count; i++)
        wires->slopes[order - 1][wires->reals[i].place] = wires->reals[i].smooth ? values[i] : 0;
}
