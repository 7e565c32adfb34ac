/* SPDX-License-Identifier: MIT */
/* Each variable: causality, variability, initial, start, bounds, type, dimensions, clocks. */
#include <stdlib.h>
#include <string.h>

#include "description/desc_check.h"

enum { E = 1 << TUTTI_EXACT, A = 1 << TUTTI_APPROX, C = 1 << TUTTI_CALCULATED, NO_INITIAL = 1 << TUTTI_INITIAL_NONE };

/* clang-format off */
/* The tables of 2.0 (section 2.2.7) and 3.0 (2.4.7.5): which `initial` a combination may have; 0 is no combination. */
static const uint8_t allowed[TUTTI_INDEPENDENT + 1][TUTTI_CONSTANT + 1] = {
    /*                              continuous  discrete    tunable fixed  constant */
    [TUTTI_LOCAL] =                {E | A | C,  E | A | C,  A | C,  A | C, E},
    [TUTTI_INPUT] =                {NO_INITIAL, NO_INITIAL, 0,      0,     0},
    [TUTTI_OUTPUT] =               {E | A | C,  E | A | C,  0,      0,     E},
    [TUTTI_PARAMETER] =            {0,          0,          E,      E,     0},
    [TUTTI_CALCULATED_PARAMETER] = {0,          0,          A | C,  A | C, 0},
    [TUTTI_STRUCTURAL_PARAMETER] = {0,          0,          E,      E,     0},
    [TUTTI_INDEPENDENT] =          {NO_INITIAL, 0,          0,      0,     0},
};
/* clang-format on */

/* Says which variability the causality allows. */
static const char *allowed_variability(enum tutti_causality causality)
{
    switch (causality) {
    case TUTTI_LOCAL: return "any variability";
    case TUTTI_INPUT: return "discrete or continuous";
    case TUTTI_OUTPUT: return "constant, discrete or continuous";
    case TUTTI_INDEPENDENT: return "continuous";
    default: return "fixed or tunable";
    }
}

static bool check_combination(struct tutti_check *check, const struct tutti_var *var)
{
    uint8_t may = allowed[var->causality][var->variability];
    if (!may) {
        tutti_check_error(check, var, "causality %s does not go with variability %s, expected %s",
                          tutti_causality_name(var->causality), tutti_variability_name(var->variability),
                          allowed_variability(var->causality));
        return false;
    }
    if (!var->initial_given)
        return true;
    bool input3 = check->desc->fmi == 3 && var->causality == TUTTI_INPUT;
    if (input3 ? var->initial != TUTTI_EXACT : !(may & 1 << var->initial)) {
        tutti_check_error(check, var, "initial %s does not go with causality %s and variability %s, expected %s",
                          tutti_initial_name(var->initial), tutti_causality_name(var->causality),
                          tutti_variability_name(var->variability),
                          input3             ? "exact or none"
                          : may & NO_INITIAL ? "none"
                          : may == E         ? "exact"
                                             : "approx or calculated");
        return false;
    }
    return true;
}

static void check_start(struct tutti_check *check, const struct tutti_var *var)
{
    if (var->type == TUTTI_TYPE_CLOCK)
        return;
    bool given_by_environment = var->causality == TUTTI_INPUT || var->causality == TUTTI_PARAMETER ||
                                var->causality == TUTTI_STRUCTURAL_PARAMETER;
    if (check->desc->fmi == 1) {
        if (!var->start && var->variability == TUTTI_CONSTANT)
            tutti_check_error(check, var, "found no start value, expected one because it is constant");
        else if (!var->start && var->causality == TUTTI_INPUT)
            tutti_check_warning(check, var, "found no start value, expected one because it is an input");
        return;
    }
    if (var->start) {
        if (var->causality == TUTTI_INDEPENDENT)
            tutti_check_error(check, var, "found a start value, expected none because it is the independent variable");
        else if (var->initial == TUTTI_CALCULATED && !given_by_environment && var->variability != TUTTI_CONSTANT)
            tutti_check_error(check, var, "found a start value, expected none because initial is calculated%s",
                              var->initial_given ? "" : " by default");
        return;
    }
    if (given_by_environment)
        tutti_check_error(check, var, "found no start value, expected one because causality is %s",
                          tutti_causality_name(var->causality));
    else if (var->variability == TUTTI_CONSTANT)
        tutti_check_error(check, var, "found no start value, expected one because it is constant");
    else if (var->initial == TUTTI_EXACT || var->initial == TUTTI_APPROX)
        tutti_check_error(check, var, "found no start value, expected one because initial is %s",
                          tutti_initial_name(var->initial));
}

/* A start value as a number; false for types that have no order. */
static bool start_number(const struct tutti_var *var, uint32_t i, double *out)
{
    switch (var->type) {
    case TUTTI_TYPE_FLOAT64: *out = ((const double *)var->start)[i]; return true;
    case TUTTI_TYPE_FLOAT32: *out = (double)((const float *)var->start)[i]; return true;
    case TUTTI_TYPE_INT8: *out = ((const int8_t *)var->start)[i]; return true;
    case TUTTI_TYPE_UINT8: *out = ((const uint8_t *)var->start)[i]; return true;
    case TUTTI_TYPE_INT16: *out = ((const int16_t *)var->start)[i]; return true;
    case TUTTI_TYPE_UINT16: *out = ((const uint16_t *)var->start)[i]; return true;
    case TUTTI_TYPE_INT32: *out = ((const int32_t *)var->start)[i]; return true;
    case TUTTI_TYPE_UINT32: *out = ((const uint32_t *)var->start)[i]; return true;
    case TUTTI_TYPE_INT64:
    case TUTTI_TYPE_ENUMERATION: *out = (double)((const int64_t *)var->start)[i]; return true;
    case TUTTI_TYPE_UINT64: *out = (double)((const uint64_t *)var->start)[i]; return true;
    default: return false;
    }
}

static void check_bounds(struct tutti_check *check, const struct tutti_var *var)
{
    const struct tutti_bounds *bounds = var->bounds;
    if (!bounds)
        return;
    if (bounds->min > bounds->max) {
        const struct tutti_type_def *type = var->type_def == TUTTI_NONE ? NULL : &check->desc->types[var->type_def];
        if (!type || type->bounds != bounds)
            tutti_check_error(check, var, "min %g is greater than max %g", bounds->min, bounds->max);
        return;
    }
    double value;
    for (uint32_t i = 0; i < var->start_count && start_number(var, i, &value); i++)
        if (value < bounds->min || value > bounds->max) {
            tutti_check_error(check, var, "start value %g is outside of min %g and max %g", value, bounds->min,
                              bounds->max);
            return;
        }
}

static bool has_item(const int64_t *values, uint32_t count, int64_t wanted)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (values[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && values[low] == wanted;
}

static void check_type(struct tutti_check *check, const struct tutti_var *var)
{
    const struct tutti_desc *desc = check->desc;
    const struct tutti_type_def *type = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    if (!type) {
        if (var->type == TUTTI_TYPE_ENUMERATION)
            tutti_check_error(check, var, "found no declared type, expected one with the items of the enumeration");
    } else if (type->type != var->type) {
        tutti_check_error(check, var, "its declared type \"%.200s\" (line %u) is %s, expected %s", type->name,
                          type->line, tutti_type_name(type->type), tutti_type_name(var->type));
    } else if (var->type == TUTTI_TYPE_ENUMERATION && var->start && check->items[var->type_def]) {
        for (uint32_t i = 0; i < var->start_count; i++) {
            int64_t value = ((const int64_t *)var->start)[i];
            if (has_item(check->items[var->type_def], type->item_count, value))
                continue;
            tutti_check_error(check, var, "start value %lld is none of the items of \"%.200s\" (line %u)",
                              (long long)value, type->name, type->line);
            break;
        }
    }
    bool own_unit = var->unit != TUTTI_NONE && (!type || type->unit != var->unit);
    if (own_unit && !desc->units[var->unit].defined && desc->fmi > 1)
        tutti_check_error(check, var, "unit is \"%.200s\", expected one that UnitDefinitions defines",
                          desc->units[var->unit].name);
}

static void check_dimensions(struct tutti_check *check, const struct tutti_var *var)
{
    const struct tutti_desc *desc = check->desc;
    uint64_t size = tutti_var_size(var);
    if (var->dimension_count && var->causality == TUTTI_STRUCTURAL_PARAMETER)
        tutti_check_error(check, var, "found <Dimension>, expected none for a structural parameter");
    for (unsigned i = 0; i < var->dimension_count; i++) {
        const struct tutti_dimension *dimension = &var->dimensions[i];
        if (dimension->start == 0)
            tutti_check_error(check, var, "dimension %u is 0 at the start, expected a positive number", i + 1);
        if (dimension->variable == TUTTI_NONE)
            continue;
        const struct tutti_var *extent = &desc->vars[dimension->variable];
        if (extent->type != TUTTI_TYPE_UINT64 ||
            (extent->causality != TUTTI_STRUCTURAL_PARAMETER && extent->variability != TUTTI_CONSTANT))
            tutti_check_error(check, var,
                              "dimension %u is \"%.200s\" (line %u), expected a UInt64 that is a structural parameter "
                              "or constant",
                              i + 1, extent->name, extent->line);
    }
    if (size == UINT64_MAX)
        tutti_check_error(check, var, "it has more elements than 64 bits can count");
    else if (var->start && var->start_count != 1 && var->start_count != size)
        tutti_check_error(check, var, "found %u start values, expected 1 or %llu", var->start_count,
                          (unsigned long long)size);
}

static void check_derivative(struct tutti_check *check, uint32_t index)
{
    const struct tutti_var *var = &check->desc->vars[index];
    if (var->reinit && !(check->roles[index] & TUTTI_ROLE_DIFFERENTIATED))
        tutti_check_error(check, var, "found reinit, expected a state: no variable is its derivative");
    if (var->derivative_of == TUTTI_NONE)
        return;
    const struct tutti_var *state = &check->desc->vars[var->derivative_of];
    if (state == var)
        tutti_check_error(check, var, "it is the derivative of itself, expected another variable");
    else if (!tutti_type_is_float(state->type) || state->variability != TUTTI_CONTINUOUS)
        tutti_check_error(check, var, "it is the derivative of \"%.200s\" (line %u), expected a continuous %s",
                          state->name, state->line, check->desc->fmi == 3 ? "Float32 or Float64" : "Real");
    else if (tutti_var_size(state) != tutti_var_size(var))
        tutti_check_error(check, var, "it has %llu elements and its state \"%.200s\" (line %u) has %llu",
                          (unsigned long long)tutti_var_size(var), state->name, state->line,
                          (unsigned long long)tutti_var_size(state));
    if (var->variability != TUTTI_CONTINUOUS)
        tutti_check_error(check, var, "it is a derivative and %s, expected continuous",
                          tutti_variability_name(var->variability));
}

static void check_clock(struct tutti_check *check, const struct tutti_var *var)
{
    const struct tutti_clock *clock = var->more->clock;
    if (var->causality != TUTTI_INPUT && var->causality != TUTTI_OUTPUT && var->causality != TUTTI_LOCAL)
        tutti_check_error(check, var, "a clock with causality %s, expected input, output or local",
                          tutti_causality_name(var->causality));
    if (var->variability != TUTTI_DISCRETE)
        tutti_check_error(check, var, "a clock with variability %s, expected discrete",
                          tutti_variability_name(var->variability));
    if (clock->interval_variability == TUTTI_INTERVAL_UNKNOWN) {
        tutti_check_error(check, var, "found no intervalVariability, expected one");
        return;
    }
    bool periodic = clock->interval_variability <= TUTTI_INTERVAL_TUNABLE;
    if (periodic && !(clock->interval > 0) && clock->interval_counter == 0)
        tutti_check_error(check, var, "a periodic clock without a positive intervalDecimal, expected one");
    if (!periodic && (clock->interval != 0 || clock->interval_counter != 0))
        tutti_check_error(check, var, "found an interval, expected none because the clock is not periodic");
    if (clock->shift < 0)
        tutti_check_error(check, var, "shiftDecimal is %g, expected 0 or more", clock->shift);
    if (clock->interval_counter && clock->resolution == 0)
        tutti_check_error(check, var, "found intervalCounter without resolution, expected both");
    if (check->desc->interfaces[TUTTI_SE].present && var->causality == TUTTI_INPUT && !clock->has_priority)
        tutti_check_error(check, var, "found no priority, expected one for an input clock in Scheduled Execution");
}

static void check_clocked(struct tutti_check *check, const struct tutti_var *var)
{
    const struct tutti_desc *desc = check->desc;
    for (uint32_t i = 0; i < var->clock_count; i++) {
        const struct tutti_var *clock = &desc->vars[var->more->clocks[i]];
        if (clock->type != TUTTI_TYPE_CLOCK)
            tutti_check_error(check, var, "clocks names \"%.200s\" (line %u), which is no clock", clock->name,
                              clock->line);
    }
    if (var->clock_count && var->variability != TUTTI_DISCRETE && var->variability != TUTTI_TUNABLE)
        tutti_check_error(check, var, "a clocked variable with variability %s, expected discrete or tunable",
                          tutti_variability_name(var->variability));
    if (var->previous == TUTTI_NONE)
        return;
    const struct tutti_var *previous = &desc->vars[var->previous];
    if (var->clock_count == 0 || var->variability != TUTTI_DISCRETE)
        tutti_check_error(check, var, "found previous, expected it only at a discrete variable with clocks");
    if (previous == var)
        tutti_check_error(check, var, "it is its own previous value, expected another variable");
    else if (previous->type != var->type || previous->variability != TUTTI_DISCRETE ||
             previous->causality == TUTTI_INPUT)
        tutti_check_error(check, var, "previous is \"%.200s\" (line %u), expected a discrete %s that is no input",
                          previous->name, previous->line, tutti_type_name(var->type));
}

static void check_fmi3(struct tutti_check *check, const struct tutti_var *var)
{
    check_dimensions(check, var);
    check_clocked(check, var);
    if (var->type == TUTTI_TYPE_CLOCK)
        check_clock(check, var);
    if (var->intermediate && var->variability != TUTTI_CONTINUOUS)
        tutti_check_error(check, var, "found intermediateUpdate, expected it only at a continuous variable");
    if (var->causality == TUTTI_STRUCTURAL_PARAMETER && var->type != TUTTI_TYPE_UINT64 &&
        !tutti_type_is_integer(var->type) && var->type != TUTTI_TYPE_BOOLEAN && var->type != TUTTI_TYPE_ENUMERATION)
        tutti_check_warning(check, var, "a structural parameter of type %s, expected UInt64",
                            tutti_type_name(var->type));
}

static void check_independent(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    const struct tutti_var *first = NULL;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tutti_var *var = &desc->vars[i];
        if (var->causality != TUTTI_INDEPENDENT)
            continue;
        if (first)
            tutti_check_error(check, var, "a second independent variable besides \"%.200s\" (line %u), expected one",
                              first->name, first->line);
        else
            first = var;
        if (!tutti_type_is_float(var->type))
            tutti_check_error(check, var, "the independent variable is %s, expected %s", tutti_type_name(var->type),
                              desc->fmi == 3 ? "Float64 or Float32" : "Real");
    }
    if (!first && desc->fmi == 3)
        tutti_report_add(&check->report, TUTTI_FINDING_ERROR, desc->line, NULL, NULL,
                         "found no variable with causality independent, expected one, usually \"time\"");
}

void tutti_check_vars(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    check_independent(check);
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tutti_var *var = &desc->vars[i];
        bool clock = var->type == TUTTI_TYPE_CLOCK;
        if (desc->fmi == 1 || clock || check_combination(check, var))
            check_start(check, var);
        check_bounds(check, var);
        check_type(check, var);
        if (desc->fmi > 1)
            check_derivative(check, i);
        if (desc->fmi == 3)
            check_fmi3(check, var);
        if (!var->multiple_set && var->causality != TUTTI_INPUT)
            tutti_check_warning(check, var, "found canHandleMultipleSetPerTimeInstant, expected it only at inputs");
    }
}
