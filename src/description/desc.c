/* SPDX-License-Identifier: MIT */
#include "description/desc.h"

#include <string.h>

#include "base/nearest.h"
#include "base/str.h"

const char *const tutti_causality_words[] = {
    "local", "input", "output", "parameter", "calculatedParameter", "structuralParameter", "independent", NULL};
const char *const tutti_interval_words[] = {"constant", "fixed", "tunable", "changing", "countdown", "triggered", NULL};
const char *const tutti_variability_words[] = {"continuous", "discrete", "tunable", "fixed", "constant", NULL};
const char *const tutti_initial_words[] = {"exact", "approx", "calculated", NULL};

uint32_t tutti_desc_find(const struct tutti_desc *desc, const char *name)
{
    return tutti_desc_find_n(desc, name, strlen(name));
}

uint32_t tutti_desc_find_n(const struct tutti_desc *desc, const char *name, size_t length)
{
    int64_t found = tutti_map_find_n(&desc->names, name, length);
    return found == TUTTI_MAP_NONE ? TUTTI_NONE : (uint32_t)found;
}

const char *tutti_desc_nearest(const struct tutti_desc *desc, const char *name)
{
    struct tutti_nearest nearest = {.wanted = name};
    for (uint32_t i = 0; i < desc->var_count; i++)
        tutti_nearest_offer(&nearest, desc->vars[i].name);
    for (uint32_t i = 0; i < desc->alias_count; i++)
        tutti_nearest_offer(&nearest, desc->aliases[i].name);
    return nearest.best;
}

bool tutti_var_moves(const struct tutti_var *var)
{
    return tutti_type_is_float((enum tutti_type)var->type) && var->variability == TUTTI_CONTINUOUS &&
           var->causality == TUTTI_INPUT && var->intermediate;
}

uint64_t tutti_var_size(const struct tutti_var *var)
{
    uint64_t size = 1;
    bool empty = false, overflow = false;
    for (unsigned i = 0; i < var->dimension_count; i++) {
        empty |= var->dimensions[i].start == 0;
        overflow |= __builtin_mul_overflow(size, var->dimensions[i].start, &size);
    }
    return empty ? 0 : overflow ? UINT64_MAX : size;
}

const char *tutti_causality_name(enum tutti_causality causality)
{
    return causality <= TUTTI_INDEPENDENT ? tutti_causality_words[causality] : "dependent";
}

const char *tutti_variability_name(enum tutti_variability variability)
{
    return tutti_variability_words[variability];
}

const char *tutti_interval_name(enum tutti_interval interval)
{
    return interval < TUTTI_INTERVAL_UNKNOWN ? tutti_interval_words[interval] : "unknown";
}

const char *tutti_initial_name(enum tutti_initial initial)
{
    return initial < TUTTI_INITIAL_NONE ? tutti_initial_words[initial] : "none";
}
