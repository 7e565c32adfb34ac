/* SPDX-License-Identifier: MIT */
#include "unit/clocked.h"

#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

static int clocked_compare(const void *a, const void *b)
{
    uint32_t x = ((const struct tt_clocked_var *)a)->reference, y = ((const struct tt_clocked_var *)b)->reference;
    return x < y ? -1 : x > y;
}

static const struct tt_clocked_var *clocked_look_up(const struct tt_clocked *clocked, uint32_t reference)
{
    const struct tt_clocked_var key = {.reference = reference};
    return bsearch(&key, clocked->vars, clocked->count, sizeof key, clocked_compare);
}

size_t tt_clocked_find(const struct tt_clocked *clocked, uint32_t reference)
{
    const struct tt_clocked_var *var = clocked ? clocked_look_up(clocked, reference) : NULL;
    return var ? var->place : SIZE_MAX;
}

static enum tutti_err clocked_lay_out(struct tt_unit *unit, struct tt_clocked *clocked)
{
    const struct tt_description *desc = unit->fmu->desc;
    uint32_t *variables = calloc(clocked->count, sizeof *variables);
    clocked->vars = calloc(clocked->count, sizeof *clocked->vars);
    size_t n = 0;
    for (uint32_t v = 0; variables && clocked->vars && v < desc->var_count; v++)
        if (tt_clocked_has_clock(&desc->vars[v])) {
            clocked->vars[n] = (struct tt_clocked_var){desc->vars[v].reference, v, n};
            variables[n++] = v;
        }
    enum tutti_err err = n == clocked->count ? tt_unit_signals(unit, variables, n, &clocked->signals)
                                             : tt_fail_memory();
    for (size_t i = 0; !err && i < n; i++) {
        const struct tt_var *var = &desc->vars[variables[i]];
        size_t size = tt_type_size(var->type);
        for (size_t e = 0; e < clocked->signals.extents[i] && var->start && !tt_type_is_text(var->type) &&
                           (var->start_count == 1 || e < var->start_count);
             e++)
            memcpy((char *)clocked->signals.slots[i] + e * size,
                   (const char *)var->start + (var->start_count == 1 ? 0 : e) * size, size);
    }
    if (!err)
        qsort(clocked->vars, n, sizeof *clocked->vars, clocked_compare);
    free(variables);
    return err;
}

enum tutti_err tt_clocked_open(struct tt_unit *unit)
{
    const struct tt_description *desc = unit->fmu->desc;
    size_t count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        count += tt_clocked_has_clock(&desc->vars[v]);
    if (count == 0 || unit->clocked)
        return TUTTI_OK;
    unit->clocked = calloc(1, sizeof *unit->clocked);
    if (!unit->clocked)
        return tt_fail_memory();
    unit->clocked->count = count;
    return clocked_lay_out(unit, unit->clocked);
}

void tt_clocked_free(struct tt_clocked *clocked)
{
    if (!clocked)
        return;
    tt_signals_fini(&clocked->signals);
    free(clocked->vars);
    free(clocked);
}

/* Makes a separate block of a slot of the signals; copies of texts stay in the original block. */
static struct tt_block clocked_block_of(const struct tt_signals *signals, size_t place, enum tt_type type,
                                        uint32_t *reference)
{
    struct tt_block one = {type, 1, signals->extents[place], reference, signals->slots[place], NULL};
    for (size_t b = 0; b < signals->block_count; b++) {
        const struct tt_block *block = &signals->blocks[b];
        if (block->type == type && block->owned)
            one.owned = tt_signals_owned_at(
                block->owned, (size_t)((const char *)one.values - (const char *)block->values) / tt_type_size(type));
    }
    return one;
}

enum tutti_err tt_clocked_read(struct tt_unit *unit, size_t place)
{
    struct tt_clocked *clocked = unit->clocked;
    const struct tt_clocked_var *var = NULL;
    for (size_t i = 0; i < clocked->count && !var; i++)
        if (clocked->vars[i].place == place)
            var = &clocked->vars[i];
    if (!var)
        return TUTTI_OK;
    uint32_t reference = var->reference;
    struct tt_block block =
        clocked_block_of(&clocked->signals, place, (enum tt_type)unit->fmu->desc->vars[var->variable].type, &reference);
    TRY(unit->kind->get(unit, &block));
    return tt_signals_own(&block);
}

/* Values of a variable that has no clock: an array takes more than one. */
static enum tutti_err clocked_extent_of(const struct tt_unit *unit, uint32_t reference, size_t *extent)
{
    const struct tt_description *desc = unit->fmu->desc;
    *extent = 1;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].reference == reference)
            return tt_unit_extent(unit, v, extent);
    return TUTTI_OK;
}

enum tutti_err tt_clocked_get(struct tt_unit *unit, struct tt_block *block)
{
    const struct tt_clocked *clocked = unit->clocked;
    size_t size = tt_type_size(block->type), at = 0;
    bool scalars = block->count == block->value_count;
    for (size_t i = 0; i < block->count; i++) {
        const struct tt_clocked_var *var = clocked_look_up(clocked, block->references[i]);
        size_t extent = var ? clocked->signals.extents[var->place] : 1;
        if (!var && !scalars)
            TRY(clocked_extent_of(unit, block->references[i], &extent));
        struct tt_block one = {block->type,
                               1,
                               extent,
                               &block->references[i],
                               (char *)block->values + at * size,
                               block->owned ? tt_signals_owned_at(block->owned, at) : NULL};
        at += extent;
        if (!var) {
            TRY(unit->kind->get(unit, &one));
            TRY(tt_signals_own(&one));
        } else if (one.owned)
            TRY(tt_signals_owned_copy(one.owned, one.type, clocked->signals.slots[var->place], one.values, extent));
        else
            memcpy(one.values, clocked->signals.slots[var->place], extent * size);
    }
    return TUTTI_OK;
}

enum tutti_err tt_clocked_register(struct tt_clocked *clocked, struct tt_rollback_list *remembered, uint32_t component)
{
    for (size_t b = 0; clocked && b < clocked->signals.block_count; b++) {
        struct tt_block *block = &clocked->signals.blocks[b];
        if (!block->owned)
            TRY(tt_rollback_list_add_of(remembered, component, block->values,
                                        block->value_count * tt_type_size(block->type)));
    }
    return TUTTI_OK;
}
