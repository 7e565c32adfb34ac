/* SPDX-License-Identifier: MIT */
#include "fmu/description/description.h"

#include <string.h>

#include "base/text.h"

const char *const tt_description_causality_words[] = {
    "local", "input", "output", "parameter", "calculatedParameter", "structuralParameter", "independent", NULL};
const char *const tt_interval_words[] = {"constant", "fixed", "tunable", "changing", "countdown", "triggered", NULL};
const char *const tt_description_variability_words[] = {"continuous", "discrete", "tunable", "fixed", "constant", NULL};
const char *const tt_description_initial_words[] = {"exact", "approx", "calculated", NULL};

uint32_t tt_description_find(const struct tt_description *desc, const char *name)
{
    return tt_description_find_n(desc, name, strlen(name));
}

uint32_t tt_description_find_n(const struct tt_description *desc, const char *name, size_t length)
{
    int64_t found = tt_map_find_n(&desc->names, name, length);
    return found == TUTTI_MAP_NONE ? TUTTI_NONE : (uint32_t)found;
}

const char *tt_description_nearest(const struct tt_description *desc, const char *name)
{
    struct tt_text_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < desc->var_count; i++)
        tt_text_nearest_offer(&nearest, desc->vars[i].name);
    for (uint32_t i = 0; i < desc->alias_count; i++)
        tt_text_nearest_offer(&nearest, desc->aliases[i].name);
    return nearest.best;
}

bool tt_description_var_moves(const struct tt_var *var)
{
    return tt_type_is_float((enum tt_type)var->type) && var->variability == TUTTI_CONTINUOUS &&
           var->causality == TUTTI_INPUT && var->intermediate;
}

uint64_t tt_description_var_size(const struct tt_var *var)
{
    uint64_t size = 1;
    bool empty = false, overflow = false;
    for (unsigned i = 0; i < var->dimension_count; i++) {
        empty |= var->dimensions[i].start == 0;
        overflow |= __builtin_mul_overflow(size, var->dimensions[i].start, &size);
    }
    return empty ? 0 : overflow ? UINT64_MAX : size;
}

const char *tt_description_causality_name(enum tt_causality causality)
{
    return causality <= TUTTI_INDEPENDENT ? tt_description_causality_words[causality] : "dependent";
}

const char *tt_description_variability_name(enum tt_variability variability)
{
    return tt_description_variability_words[variability];
}

const char *tt_description_interval_name(enum tt_interval interval)
{
    return interval < TUTTI_INTERVAL_UNKNOWN ? tt_interval_words[interval] : "unknown";
}

const char *tt_description_initial_name(enum tt_initial initial)
{
    return initial < TUTTI_INITIAL_NONE ? tt_description_initial_words[initial] : "none";
}
