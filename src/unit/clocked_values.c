/* SPDX-License-Identifier: MIT */
/* What clocked.h says. */
#include "unit/clocked.h"

#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

static int compare(const void *a, const void *b)
{
    uint32_t x = ((const struct tutti_clocked_var *)a)->reference, y = ((const struct tutti_clocked_var *)b)->reference;
    return x < y ? -1 : x > y;
}

static const struct tutti_clocked_var *look_up(const struct tutti_clocked *clocked, uint32_t reference)
{
    const struct tutti_clocked_var key = {.reference = reference};
    return bsearch(&key, clocked->vars, clocked->count, sizeof key, compare);
}

size_t tutti_clocked_find(const struct tutti_clocked *clocked, uint32_t reference)
{
    const struct tutti_clocked_var *var = clocked ? look_up(clocked, reference) : NULL;
    return var ? var->place : SIZE_MAX;
}

static enum tutti_err lay_out(struct tutti_unit *unit, struct tutti_clocked *clocked)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    uint32_t *variables = calloc(clocked->count, sizeof *variables);
    clocked->vars = calloc(clocked->count, sizeof *clocked->vars);
    size_t n = 0;
    for (uint32_t v = 0; variables && clocked->vars && v < desc->var_count; v++)
        if (tutti_var_is_clocked(&desc->vars[v])) {
            clocked->vars[n] = (struct tutti_clocked_var){desc->vars[v].reference, v, n};
            variables[n++] = v;
        }
    enum tutti_err err = n == clocked->count ? tutti_unit_signals(unit, variables, n, &clocked->signals)
                                             : tutti_fail_memory();
    for (size_t i = 0; !err && i < n; i++) {
        const struct tutti_var *var = &desc->vars[variables[i]];
        size_t size = tutti_type_size(var->type);
        for (size_t e = 0; e < clocked->signals.extents[i] && var->start && !tutti_type_is_text(var->type) &&
                           (var->start_count == 1 || e < var->start_count);
             e++)
            memcpy((char *)clocked->signals.slots[i] + e * size,
                   (const char *)var->start + (var->start_count == 1 ? 0 : e) * size, size);
    }
    if (!err)
        qsort(clocked->vars, n, sizeof *clocked->vars, compare);
    free(variables);
    return err;
}

enum tutti_err tutti_clocked_open(struct tutti_unit *unit)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    size_t count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        count += tutti_var_is_clocked(&desc->vars[v]);
    if (count == 0 || unit->clocked)
        return TUTTI_OK;
    unit->clocked = calloc(1, sizeof *unit->clocked);
    if (!unit->clocked)
        return tutti_fail_memory();
    unit->clocked->count = count;
    return lay_out(unit, unit->clocked);
}

void tutti_clocked_free(struct tutti_clocked *clocked)
{
    if (!clocked)
        return;
    tutti_signals_fini(&clocked->signals);
    free(clocked->vars);
    free(clocked);
}

/* A slot of the signals as a block of its own; its copies of texts lie in the block that it is a part of. */
static struct tutti_block block_of(const struct tutti_signals *signals, size_t place, enum tutti_type type,
                                   uint32_t *reference)
{
    struct tutti_block one = {type, 1, signals->extents[place], reference, signals->slots[place], NULL};
    for (size_t b = 0; b < signals->block_count; b++) {
        const struct tutti_block *block = &signals->blocks[b];
        if (block->type == type && block->owned)
            one.owned = tutti_owned_at(block->owned, (size_t)((const char *)one.values - (const char *)block->values) /
                                                         tutti_type_size(type));
    }
    return one;
}

enum tutti_err tutti_clocked_read(struct tutti_unit *unit, size_t place)
{
    struct tutti_clocked *clocked = unit->clocked;
    const struct tutti_clocked_var *var = NULL;
    for (size_t i = 0; i < clocked->count && !var; i++)
        if (clocked->vars[i].place == place)
            var = &clocked->vars[i];
    if (!var)
        return TUTTI_OK;
    uint32_t reference = var->reference;
    struct tutti_block block =
        block_of(&clocked->signals, place, (enum tutti_type)unit->fmu->desc->vars[var->variable].type, &reference);
    TRY(unit->kind->get(unit, &block));
    return tutti_signals_own(&block);
}

/* Values of a variable that has no clock: an array takes more than one. */
static enum tutti_err extent_of(const struct tutti_unit *unit, uint32_t reference, size_t *extent)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    *extent = 1;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].reference == reference)
            return tutti_unit_extent(unit, v, extent);
    return TUTTI_OK;
}

enum tutti_err tutti_clocked_get(struct tutti_unit *unit, struct tutti_block *block)
{
    const struct tutti_clocked *clocked = unit->clocked;
    size_t size = tutti_type_size(block->type), at = 0;
    bool scalars = block->count == block->value_count;
    for (size_t i = 0; i < block->count; i++) {
        const struct tutti_clocked_var *var = look_up(clocked, block->references[i]);
        size_t extent = var ? clocked->signals.extents[var->place] : 1;
        if (!var && !scalars)
            TRY(extent_of(unit, block->references[i], &extent));
        struct tutti_block one = {block->type,
                                  1,
                                  extent,
                                  &block->references[i],
                                  (char *)block->values + at * size,
                                  block->owned ? tutti_owned_at(block->owned, at) : NULL};
        at += extent;
        if (!var) {
            TRY(unit->kind->get(unit, &one));
            TRY(tutti_signals_own(&one));
        } else if (one.owned)
            TRY(tutti_owned_copy(one.owned, one.type, clocked->signals.slots[var->place], one.values, extent));
        else
            memcpy(one.values, clocked->signals.slots[var->place], extent * size);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_clocked_remember(struct tutti_clocked *clocked, struct tutti_remembered *remembered,
                                      uint32_t component)
{
    for (size_t b = 0; clocked && b < clocked->signals.block_count; b++) {
        struct tutti_block *block = &clocked->signals.blocks[b];
        if (!block->owned)
            TRY(tutti_remember_of(remembered, component, block->values,
                                  block->value_count * tutti_type_size(block->type)));
    }
    return TUTTI_OK;
}
