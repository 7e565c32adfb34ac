/* SPDX-License-Identifier: MIT */
/* Everything that a description can have wrong with itself: variables, references, model structure, units, types, names. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "base/time.h"
#include "fmu/description/description.h"
#include "base/findings.h"

/* Roles of a variable that other parts of the file define. */
enum {
    ROLE_STATE = 1 << 0,          /* the derivative of some variable is listed */
    ROLE_DERIVATIVE = 1 << 1,     /* it is listed among the derivatives */
    ROLE_OUTPUT = 1 << 2,         /* listed among the outputs */
    ROLE_INITIAL = 1 << 3,        /* listed among the initial unknowns */
    ROLE_DIFFERENTIATED = 1 << 4, /* a variable declares itself the derivative of this variable */
};

struct description_checking {
    const struct tt_description *desc;
    struct tt_limited_findings report;
    struct tt_arena arena; /* what the checks need for themselves */
    uint8_t *roles;        /* of each variable, ROLE_* */
    int64_t **items;       /* of each type: the values of its items in order, NULL if it has none */
};

/* Findings about a variable, at its line. The format must be a literal. */
TUTTI_PRINTF(3, 4)
static void check_error(struct description_checking *check, const struct tt_var *var, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tt_findings_limited_add_v(&check->report, TUTTI_FINDING_ERROR, var->line, "variable", var->name, format, args);
    va_end(args);
}

TUTTI_PRINTF(3, 4)
static void check_warning(struct description_checking *check, const struct tt_var *var, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tt_findings_limited_add_v(&check->report, TUTTI_FINDING_WARNING, var->line, "variable", var->name, format, args);
    va_end(args);
}

/* Each variable: causality, variability, initial, start, bounds, type, dimensions, clocks. */

enum { E = 1 << TUTTI_EXACT, A = 1 << TUTTI_APPROX, C = 1 << TUTTI_CALCULATED, NO_INITIAL = 1 << TUTTI_INITIAL_NONE };

/* clang-format off */
/* The tables of 2.0 (section 2.2.7) and 3.0 (2.4.7.5): the permitted values of `initial`; 0 marks a forbidden
 * combination. */
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
static const char *allowed_variability(enum tt_causality causality)
{
    switch (causality) {
    case TUTTI_LOCAL: return "any variability";
    case TUTTI_INPUT: return "discrete or continuous";
    case TUTTI_OUTPUT: return "constant, discrete or continuous";
    case TUTTI_INDEPENDENT: return "continuous";
    default: return "fixed or tunable";
    }
}

static bool check_combination(struct description_checking *check, const struct tt_var *var)
{
    uint8_t may = allowed[var->causality][var->variability];
    if (!may) {
        check_error(check, var, "causality %s does not go with variability %s, expected %s",
                    tt_description_causality_name(var->causality), tt_description_variability_name(var->variability),
                    allowed_variability(var->causality));
        return false;
    }
    if (!var->initial_given)
        return true;
    bool input3 = check->desc->fmi == 3 && var->causality == TUTTI_INPUT;
    if (input3 ? var->initial != TUTTI_EXACT : !(may & 1 << var->initial)) {
        check_error(check, var, "initial %s does not go with causality %s and variability %s, expected %s",
                    tt_description_initial_name(var->initial), tt_description_causality_name(var->causality),
                    tt_description_variability_name(var->variability),
                    input3             ? "exact or none"
                    : may & NO_INITIAL ? "none"
                    : may == E         ? "exact"
                                       : "approx or calculated");
        return false;
    }
    return true;
}

static void check_start_value(struct description_checking *check, const struct tt_var *var)
{
    if (var->type == TUTTI_TYPE_CLOCK)
        return;
    bool given_by_environment = var->causality == TUTTI_INPUT || var->causality == TUTTI_PARAMETER ||
                                var->causality == TUTTI_STRUCTURAL_PARAMETER;
    if (check->desc->fmi == 1) {
        if (!var->start && var->variability == TUTTI_CONSTANT)
            check_error(check, var, "found no start value, expected one because it is constant");
        else if (!var->start && var->causality == TUTTI_INPUT)
            check_warning(check, var, "found no start value, expected one because it is an input");
        return;
    }
    if (var->start) {
        if (var->causality == TUTTI_INDEPENDENT)
            check_error(check, var, "found a start value, expected none because it is the independent variable");
        else if (var->initial == TUTTI_CALCULATED && !given_by_environment && var->variability != TUTTI_CONSTANT)
            check_error(check, var, "found a start value, expected none because initial is calculated%s",
                        var->initial_given ? "" : " by default");
        return;
    }
    if (given_by_environment)
        check_error(check, var, "found no start value, expected one because causality is %s",
                    tt_description_causality_name(var->causality));
    else if (var->variability == TUTTI_CONSTANT)
        check_error(check, var, "found no start value, expected one because it is constant");
    else if (var->initial == TUTTI_EXACT || var->initial == TUTTI_APPROX)
        check_error(check, var, "found no start value, expected one because initial is %s",
                    tt_description_initial_name(var->initial));
}

/* A start value as a number; false for types that have no order. */
static bool start_number(const struct tt_var *var, uint32_t i, double *out)
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

static void check_var_bounds(struct description_checking *check, const struct tt_var *var)
{
    const struct tt_bounds *bounds = var->bounds;
    if (!bounds)
        return;
    if (bounds->min > bounds->max) {
        const struct tt_type_def *type = var->type_def == TUTTI_NONE ? NULL : &check->desc->types[var->type_def];
        if (!type || type->bounds != bounds)
            check_error(check, var, "min %g is greater than max %g", bounds->min, bounds->max);
        return;
    }
    double value;
    for (uint32_t i = 0; i < var->start_count && start_number(var, i, &value); i++)
        if (value < bounds->min || value > bounds->max) {
            check_error(check, var, "start value %g is outside of min %g and max %g", value, bounds->min, bounds->max);
            return;
        }
}

static bool description_has_item(const int64_t *values, uint32_t count, int64_t wanted)
{
    size_t at;
    TUTTI_SEARCH(at, count, values[at] < wanted);
    return at < count && values[at] == wanted;
}

static void check_var_type(struct description_checking *check, const struct tt_var *var)
{
    const struct tt_description *desc = check->desc;
    const struct tt_type_def *type = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    if (!type) {
        if (var->type == TUTTI_TYPE_ENUMERATION)
            check_error(check, var, "found no declared type, expected one with the items of the enumeration");
    } else if (type->type != var->type) {
        check_error(check, var, "its declared type \"%.200s\" (line %u) is %s, expected %s", type->name, type->line,
                    tt_type_name(type->type), tt_type_name(var->type));
    } else if (var->type == TUTTI_TYPE_ENUMERATION && var->start && check->items[var->type_def]) {
        for (uint32_t i = 0; i < var->start_count; i++) {
            int64_t value = ((const int64_t *)var->start)[i];
            if (description_has_item(check->items[var->type_def], type->item_count, value))
                continue;
            check_error(check, var, "start value %lld is none of the items of \"%.200s\" (line %u)", (long long)value,
                        type->name, type->line);
            break;
        }
    }
    bool own_unit = var->unit != TUTTI_NONE && (!type || type->unit != var->unit);
    if (own_unit && !desc->units[var->unit].defined && desc->fmi > 1)
        check_error(check, var, "unit is \"%.200s\", expected one that UnitDefinitions defines",
                    desc->units[var->unit].name);
}

static void check_dimensions(struct description_checking *check, const struct tt_var *var)
{
    const struct tt_description *desc = check->desc;
    uint64_t size = tt_description_var_size(var);
    if (var->dimension_count && var->causality == TUTTI_STRUCTURAL_PARAMETER)
        check_error(check, var, "found <Dimension>, expected none for a structural parameter");
    for (unsigned i = 0; i < var->dimension_count; i++) {
        const struct tt_dimension *dimension = &var->dimensions[i];
        if (dimension->start == 0)
            check_error(check, var, "dimension %u is 0 at the start, expected a positive number", i + 1);
        if (dimension->variable == TUTTI_NONE)
            continue;
        const struct tt_var *extent = &desc->vars[dimension->variable];
        if (extent->type != TUTTI_TYPE_UINT64 ||
            (extent->causality != TUTTI_STRUCTURAL_PARAMETER && extent->variability != TUTTI_CONSTANT))
            check_error(check, var,
                        "dimension %u is \"%.200s\" (line %u), expected a UInt64 that is a structural parameter "
                        "or constant",
                        i + 1, extent->name, extent->line);
    }
    if (size == UINT64_MAX)
        check_error(check, var, "it has more elements than 64 bits can count");
    else if (var->start && var->start_count != 1 && var->start_count != size)
        check_error(check, var, "found %u start values, expected 1 or %llu", var->start_count,
                    (unsigned long long)size);
}

static void check_derivative(struct description_checking *check, uint32_t index)
{
    const struct tt_var *var = &check->desc->vars[index];
    if (var->reinit && !(check->roles[index] & ROLE_DIFFERENTIATED))
        check_error(check, var, "found reinit, expected a state: no variable is its derivative");
    if (var->derivative_of == TUTTI_NONE)
        return;
    const struct tt_var *state = &check->desc->vars[var->derivative_of];
    if (state == var)
        check_error(check, var, "it is the derivative of itself, expected another variable");
    else if (!tt_type_is_float(state->type) || state->variability != TUTTI_CONTINUOUS)
        check_error(check, var, "it is the derivative of \"%.200s\" (line %u), expected a continuous %s", state->name,
                    state->line, check->desc->fmi == 3 ? "Float32 or Float64" : "Real");
    else if (tt_description_var_size(state) != tt_description_var_size(var))
        check_error(check, var, "it has %llu elements and its state \"%.200s\" (line %u) has %llu",
                    (unsigned long long)tt_description_var_size(var), state->name, state->line,
                    (unsigned long long)tt_description_var_size(state));
    if (var->variability != TUTTI_CONTINUOUS)
        check_error(check, var, "it is a derivative and %s, expected continuous",
                    tt_description_variability_name(var->variability));
}

/* Intervals and shifts are exact, as whole numbers. */
static void check_interval(struct description_checking *check, const struct tt_var *var)
{
    const struct tt_clock *clock = var->more->clock;
    struct tt_fraction fraction;
    bool counted = clock->interval_counter > 0 && clock->resolution > 0;
    if (!counted && clock->interval > 0 && !tt_time_fraction_of(clock->interval, &fraction))
        check_error(check, var, "intervalDecimal is %g, expected a fraction of two 64-bit numbers", clock->interval);
    if (!counted && clock->shift > 0 && !tt_time_fraction_of(clock->shift, &fraction))
        check_error(check, var, "shiftDecimal is %g, expected a fraction of two 64-bit numbers", clock->shift);
    if (!counted || !(clock->interval > 0))
        return;
    double exact = tt_time_fraction_value((struct tt_fraction){clock->interval_counter, clock->resolution});
    if (fabs(exact - clock->interval) > 1e-9 * exact)
        check_error(check, var, "intervalCounter / resolution is %g, expected intervalDecimal, which is %g", exact,
                    clock->interval);
}

static void check_clock_timing(struct description_checking *check, const struct tt_var *var)
{
    const struct tt_clock *clock = var->more->clock;
    if (var->causality != TUTTI_INPUT && var->causality != TUTTI_OUTPUT && var->causality != TUTTI_LOCAL)
        check_error(check, var, "a clock with causality %s, expected input, output or local",
                    tt_description_causality_name(var->causality));
    if (var->variability != TUTTI_DISCRETE)
        check_error(check, var, "a clock with variability %s, expected discrete",
                    tt_description_variability_name(var->variability));
    if (clock->interval_variability == TUTTI_INTERVAL_UNKNOWN) {
        check_error(check, var, "found no intervalVariability, expected one");
        return;
    }
    bool periodic = clock->interval_variability <= TUTTI_INTERVAL_TUNABLE;
    bool constant = clock->interval_variability == TUTTI_INTERVAL_CONSTANT;
    if (constant && !(clock->interval > 0) && clock->interval_counter == 0)
        check_error(check, var, "a constant clock without a positive intervalDecimal, expected one");
    else if (clock->interval < 0)
        check_error(check, var, "intervalDecimal is %g, expected more than 0", clock->interval);
    if (var->causality != TUTTI_INPUT && clock->interval_variability != TUTTI_INTERVAL_TRIGGERED)
        check_error(check, var, "a clock with causality %s that ticks by time, expected intervalVariability triggered",
                    tt_description_causality_name(var->causality));
    if (var->causality == TUTTI_OUTPUT && clock->has_priority)
        check_error(check, var, "found a priority, expected none for an output clock");
    if (var->causality == TUTTI_LOCAL && check->desc->interfaces[TUTTI_SE].present)
        check_error(check, var, "a local clock, expected none in Scheduled Execution");
    check_interval(check, var);
    if (!periodic && (clock->interval != 0 || clock->interval_counter != 0))
        check_error(check, var, "found an interval, expected none because the clock is not periodic");
    if (clock->shift < 0)
        check_error(check, var, "shiftDecimal is %g, expected 0 or more", clock->shift);
    if (clock->interval_counter && clock->resolution == 0)
        check_error(check, var, "found intervalCounter without resolution, expected both");
    if (check->desc->interfaces[TUTTI_SE].present && var->causality == TUTTI_INPUT && !clock->has_priority)
        check_error(check, var, "found no priority, expected one for an input clock in Scheduled Execution");
}

static void check_clocked(struct description_checking *check, const struct tt_var *var)
{
    const struct tt_description *desc = check->desc;
    for (uint32_t i = 0; i < var->clock_count; i++) {
        const struct tt_var *clock = &desc->vars[var->more->clocks[i]];
        if (clock == var)
            check_error(check, var, "it belongs to itself, expected other clocks");
        else if (clock->type != TUTTI_TYPE_CLOCK)
            check_error(check, var, "clocks names \"%.200s\" (line %u), which is no clock", clock->name, clock->line);
    }
    if (var->clock_count && var->variability != TUTTI_DISCRETE && var->variability != TUTTI_TUNABLE)
        check_error(check, var, "a clocked variable with variability %s, expected discrete or tunable",
                    tt_description_variability_name(var->variability));
    if (var->previous == TUTTI_NONE)
        return;
    const struct tt_var *previous = &desc->vars[var->previous];
    if (var->clock_count == 0 || var->variability != TUTTI_DISCRETE)
        check_error(check, var, "found previous, expected it only at a discrete variable with clocks");
    if (previous == var)
        check_error(check, var, "it is its own previous value, expected another variable");
    else if (previous->type != var->type || previous->variability != TUTTI_DISCRETE ||
             previous->causality == TUTTI_INPUT)
        check_error(check, var, "previous is \"%.200s\" (line %u), expected a discrete %s that is no input",
                    previous->name, previous->line, tt_type_name(var->type));
}

static void check_independent_variable(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    const struct tt_var *first = NULL;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tt_var *var = &desc->vars[i];
        if (var->causality != TUTTI_INDEPENDENT)
            continue;
        if (first)
            check_error(check, var, "a second independent variable besides \"%.200s\" (line %u), expected one",
                        first->name, first->line);
        else
            first = var;
        if (!tt_type_is_float(var->type))
            check_error(check, var, "the independent variable is %s, expected %s", tt_type_name(var->type),
                        desc->fmi == 3 ? "Float64 or Float32" : "Real");
    }
    if (!first && desc->fmi == 3)
        tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, desc->line, NULL, NULL,
                                "found no variable with causality independent, expected one, usually \"time\"");
}

/* Each variable for itself, against its type, its dimensions and its clocks. */
static void check_vars(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    check_independent_variable(check);
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tt_var *var = &desc->vars[i];
        bool clock = var->type == TUTTI_TYPE_CLOCK;
        if (desc->fmi == 1 || clock || check_combination(check, var))
            check_start_value(check, var);
        check_var_bounds(check, var);
        check_var_type(check, var);
        if (desc->fmi > 1)
            check_derivative(check, i);
        if (desc->fmi == 3) {
            check_dimensions(check, var);
            check_clocked(check, var);
            if (var->type == TUTTI_TYPE_CLOCK)
                check_clock_timing(check, var);
            if (var->intermediate && var->variability != TUTTI_CONTINUOUS)
                check_error(check, var, "found intermediateUpdate, expected it only at a continuous variable");
            if (var->causality == TUTTI_STRUCTURAL_PARAMETER && var->type != TUTTI_TYPE_UINT64 &&
                !tt_type_is_integer(var->type) && var->type != TUTTI_TYPE_BOOLEAN &&
                var->type != TUTTI_TYPE_ENUMERATION)
                check_warning(check, var, "a structural parameter of type %s, expected UInt64",
                              tt_type_name(var->type));
        }
        if (!var->multiple_set && var->causality != TUTTI_INPUT)
            check_warning(check, var, "found canHandleMultipleSetPerTimeInstant, expected it only at inputs");
    }
}

/* Value references and aliases, and the lists of the model structure. */

struct reference_entry {
    uint32_t space, reference, index;
};

/* 1.0 and 2.0: references are unique for each of the four kinds of values only. 3.0: for all. */
static uint32_t space_of(const struct tt_description *desc, const struct tt_var *var)
{
    if (desc->fmi == 3)
        return 0;
    switch (var->type) {
    case TUTTI_TYPE_FLOAT64: return 0;
    case TUTTI_TYPE_BOOLEAN: return 2;
    case TUTTI_TYPE_STRING: return 3;
    default: return 1;
    }
}

static int compare_reference_entries(const void *a, const void *b)
{
    const struct reference_entry *x = a, *y = b;
    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    if (x->reference != y->reference)
        return x->reference < y->reference ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool is_settable(const struct tt_var *var)
{
    return var->causality == TUTTI_INPUT || var->causality == TUTTI_PARAMETER;
}

/* 2.0: variables with one reference are one value under several names. Each is compared with the first, and with the
 * first that can be set or has a start value. */
static void check_aliases2(struct description_checking *check, const struct reference_entry *entries, uint32_t count)
{
    const struct tt_var *vars = check->desc->vars, *first = &vars[entries[0].index];
    const struct tt_var *settable = is_settable(first) ? first : NULL;
    const struct tt_var *started = first->start && first->variability != TUTTI_CONSTANT ? first : NULL;
    for (uint32_t i = 1; i < count; i++) {
        const struct tt_var *var = &vars[entries[i].index];
        if (is_settable(var) && settable) {
            check_error(check, var,
                        "it has the value reference %u of \"%.200s\" (line %u), and both can be set; expected "
                        "different references",
                        var->reference, settable->name, settable->line);
            continue;
        }
        if (is_settable(var))
            settable = var;
        if ((var->variability == TUTTI_CONSTANT) != (first->variability == TUTTI_CONSTANT))
            check_error(check, var,
                        "it has the value reference %u of \"%.200s\" (line %u), and only one of them is constant",
                        var->reference, first->name, first->line);
        if (var->unit != first->unit)
            check_error(check, var, "it has the value reference %u of \"%.200s\" (line %u), expected the same unit",
                        var->reference, first->name, first->line);
        if (var->type != first->type)
            check_warning(check, var, "it has the value reference %u of \"%.200s\" (line %u), expected the same type",
                          var->reference, first->name, first->line);
        if (var->start && var->variability != TUTTI_CONSTANT) {
            if (started)
                check_warning(check, var,
                              "it has the value reference %u of \"%.200s\" (line %u), and both have a start "
                              "value; expected one",
                              var->reference, started->name, started->line);
            else
                started = var;
        }
    }
}

/* 1.0: the file marks aliases; one variable of each group must be the variable itself. */
static void check_aliases1(struct description_checking *check, const struct reference_entry *entries, uint32_t count)
{
    const struct tt_var *vars = check->desc->vars, *base = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct tt_var *var = &vars[entries[i].index];
        if (var->alias)
            continue;
        if (base)
            check_warning(check, var,
                          "it has the value reference %u of \"%.200s\" (line %u), expected alias or negatedAlias",
                          var->reference, base->name, base->line);
        else
            base = var;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct tt_var *var = &vars[entries[i].index];
        if (!base)
            check_error(check, var,
                        "it is an alias, but no variable of its type has the value reference %u without being one",
                        var->reference);
        else if (var->alias && var->type != base->type)
            check_error(check, var, "it is an alias of \"%.200s\" (line %u), expected the same type", base->name,
                        base->line);
        if (var->negated && (var->type == TUTTI_TYPE_BOOLEAN || var->type == TUTTI_TYPE_STRING))
            check_error(check, var, "it is a negated alias of type %s, expected a number", tt_type_name(var->type));
    }
}

static void check_group(struct description_checking *check, const struct reference_entry *entries, uint32_t count)
{
    const struct tt_var *vars = check->desc->vars;
    if (entries[0].reference == TUTTI_NONE)
        return; /* those have none, which the reader reported */
    if (check->desc->fmi == 1) {
        check_aliases1(check, entries, count);
    } else if (check->desc->fmi == 2) {
        check_aliases2(check, entries, count);
    } else {
        for (uint32_t i = 1; i < count; i++)
            check_error(check, &vars[entries[i].index],
                        "it has the value reference %u of \"%.200s\" (line %u), expected different references",
                        entries[i].reference, vars[entries[0].index].name, vars[entries[0].index].line);
    }
}

/* Value references and aliases; fills `roles`; the lists of the model structure. */
static enum tutti_err check_references(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    uint32_t n = desc->var_count;
    struct reference_entry *entries = malloc(((size_t)n + 1) * sizeof *entries);
    check->roles = tt_arena_alloc(&check->arena, (size_t)n + 1);
    if (!entries || !check->roles) {
        free(entries);
        return tt_fail_memory();
    }
    for (uint32_t i = 0; i < n; i++) {
        entries[i] = (struct reference_entry){space_of(desc, &desc->vars[i]), desc->vars[i].reference, i};
        if (desc->vars[i].derivative_of != TUTTI_NONE)
            check->roles[desc->vars[i].derivative_of] |= ROLE_DIFFERENTIATED;
    }
    qsort(entries, n, sizeof *entries, compare_reference_entries);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1;
             end < n && entries[end].space == entries[i].space && entries[end].reference == entries[i].reference;)
            end++;
        check_group(check, entries + i, end - i);
    }
    free(entries);
    return TUTTI_OK;
}

/* Marks the variables of a list and reports those that are in it twice. */
static void mark_unknowns(struct description_checking *check, const struct tt_unknowns *list, uint8_t role,
                          const char *what)
{
    const struct tt_var *vars = check->desc->vars;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tt_unknown *unknown = &list->items[i];
        if (list->given && (check->roles[unknown->variable] & role))
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, unknown->line, what,
                                    vars[unknown->variable].name, "it is listed twice, expected once");
        check->roles[unknown->variable] |= role;
    }
}

static void check_outputs(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    const char *where = desc->fmi == 3 ? "<ModelStructure>" : "<ModelStructure><Outputs>";
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (desc->vars[i].causality == TUTTI_OUTPUT && (!desc->outputs.given || !(check->roles[i] & ROLE_OUTPUT)))
            check_error(check, &desc->vars[i], "the output is missing in %s, expected all of them there", where);
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        const struct tt_var *var = &desc->vars[desc->outputs.items[i].variable];
        if (var->causality != TUTTI_OUTPUT)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, desc->outputs.items[i].line, "output",
                                    var->name, "the variable (line %u) has causality %s, expected output", var->line,
                                    tt_description_causality_name(var->causality));
    }
}

static void check_derivatives(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    for (uint32_t i = 0; i < desc->derivatives.count; i++) {
        const struct tt_unknown *unknown = &desc->derivatives.items[i];
        const struct tt_var *var = &desc->vars[unknown->variable];
        if (var->derivative_of == TUTTI_NONE) {
            tt_findings_limited_add(
                &check->report, TUTTI_FINDING_ERROR, unknown->line, "derivative", var->name,
                "the variable (line %u) has no derivative attribute, expected one that names its state", var->line);
            continue;
        }
        const struct tt_var *state = &desc->vars[var->derivative_of];
        if (check->roles[var->derivative_of] & ROLE_STATE)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, unknown->line, "derivative", var->name,
                                    "the state \"%.200s\" (line %u) has another derivative in the list, expected one",
                                    state->name, state->line);
        check->roles[var->derivative_of] |= ROLE_STATE;
        if (state->causality != TUTTI_LOCAL && state->causality != TUTTI_OUTPUT)
            check_error(check, state, "a state with causality %s, expected local or output",
                        tt_description_causality_name(state->causality));
    }
}

/* Why a variable must be among the initial unknowns; NULL if it need not. */
static const char *initial_reason(const struct description_checking *check, uint32_t index)
{
    const struct tt_var *var = &check->desc->vars[index];
    bool computed = var->initial == TUTTI_APPROX || var->initial == TUTTI_CALCULATED;
    if (var->clock_count || var->type == TUTTI_TYPE_CLOCK)
        return NULL;
    if (var->causality == TUTTI_CALCULATED_PARAMETER)
        return "a calculated parameter";
    if (!computed)
        return NULL;
    if (var->causality == TUTTI_OUTPUT)
        return "an output that is not initial exact";
    if (check->roles[index] & ROLE_STATE)
        return "a state that is not initial exact";
    return check->roles[index] & ROLE_DERIVATIVE ? "a derivative that is not initial exact" : NULL;
}

static void check_initial(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    bool me = desc->interfaces[TUTTI_ME].present;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const char *reason = initial_reason(check, i);
        if (!reason || (check->roles[i] & ROLE_INITIAL))
            continue;
        if (me || desc->vars[i].causality != TUTTI_LOCAL)
            check_error(check, &desc->vars[i], "it is missing among the initial unknowns, expected there as %s",
                        reason);
        else
            check_warning(check, &desc->vars[i], "it is missing among the initial unknowns, expected there as %s",
                          reason);
    }
    for (uint32_t i = 0; i < desc->initial_unknowns.count; i++) {
        const struct tt_unknown *unknown = &desc->initial_unknowns.items[i];
        const struct tt_var *var = &desc->vars[unknown->variable];
        if (!initial_reason(check, unknown->variable) && var->clock_count == 0)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_WARNING, unknown->line, "initial unknown", var->name,
                                    "the variable (line %u) is not expected there: causality %s, initial %s", var->line,
                                    tt_description_causality_name(var->causality),
                                    tt_description_initial_name(var->initial));
        if (desc->fmi == 2 && i && unknown->variable < desc->initial_unknowns.items[i - 1].variable)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_WARNING, unknown->line, "initial unknown", var->name,
                                    "it comes after a variable with a larger index, expected an ascending order");
    }
}

/* Factors that are known only after the initialisation say nothing about it. (That factors are for real numbers only is
 * not held against other types: even reference FMUs have them there.) */
static void check_initial_kinds(struct description_checking *check)
{
    const struct tt_unknowns *list = &check->desc->initial_unknowns;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tt_unknown *unknown = &list->items[i];
        for (uint32_t k = 0; unknown->kinds && k < unknown->dependency_count; k++) {
            if (unknown->kinds[k] == TUTTI_DEPENDENT || unknown->kinds[k] == TUTTI_DEPENDENCY_CONSTANT)
                continue;
            tt_findings_limited_add(&check->report, TUTTI_FINDING_WARNING, unknown->line, "initial unknown",
                                    check->desc->vars[unknown->variable].name,
                                    "dependenciesKind has fixed, tunable or discrete, expected dependent or constant");
            break;
        }
    }
}

static void check_fmi3_lists(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    for (uint32_t i = 0; i < desc->clocked_states.count; i++) {
        const struct tt_var *var = &desc->vars[desc->clocked_states.items[i].variable];
        if (var->previous == TUTTI_NONE || var->clock_count == 0)
            check_error(check, var, "it is listed as a clocked state, expected the attributes previous and clocks");
    }
    for (uint32_t i = 0; i < desc->event_indicators.count; i++) {
        const struct tt_var *var = &desc->vars[desc->event_indicators.items[i].variable];
        if (!tt_type_is_float(var->type) || var->variability != TUTTI_CONTINUOUS ||
            (var->causality != TUTTI_LOCAL && var->causality != TUTTI_OUTPUT))
            check_error(check, var,
                        "it is listed as an event indicator, expected a continuous Float32 or Float64 that is "
                        "local or output");
    }
}

static void check_structure(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    if (desc->fmi == 1)
        return;
    mark_unknowns(check, &desc->outputs, ROLE_OUTPUT, "output");
    mark_unknowns(check, &desc->derivatives, ROLE_DERIVATIVE, "derivative");
    mark_unknowns(check, &desc->initial_unknowns, ROLE_INITIAL, "initial unknown");
    check_outputs(check);
    check_derivatives(check);
    check_initial(check);
    check_initial_kinds(check);
    check_fmi3_lists(check);
}

static bool is_identifier(const char *text)
{
    for (const char *c = text; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
        if (!letter && (c == text || *c < '0' || *c > '9'))
            return false;
    }
    return *text != '\0';
}

static void check_interface_element(struct description_checking *check, const struct tt_interface *interface,
                                    const char *name)
{
    if (!interface->present)
        return;
    struct tt_limited_findings *report = &check->report;
    if (!interface->model_identifier)
        tt_findings_limited_add(report, TUTTI_FINDING_ERROR, interface->line, name, NULL,
                                "found no modelIdentifier, expected one: it names the library");
    else if (!is_identifier(interface->model_identifier))
        tt_findings_limited_add(report, TUTTI_FINDING_ERROR, interface->line, name, NULL,
                                "modelIdentifier is \"%.200s\", expected a C identifier (letters, digits and _)",
                                interface->model_identifier);
    if ((interface->flags & TUTTI_CAN_SERIALIZE) && !(interface->flags & TUTTI_CAN_STATE))
        tt_findings_limited_add(report, TUTTI_FINDING_ERROR, interface->line, name, NULL,
                                "it can serialize its state but not get and set it, expected both");
    if (interface->fixed_step < 0)
        tt_findings_limited_add(report, TUTTI_FINDING_ERROR, interface->line, name, NULL,
                                "fixedInternalStepSize is %g, expected a positive number", interface->fixed_step);
}

static void check_root_element(struct description_checking *check)
{
    static const char *const names[] = {"CoSimulation", "ModelExchange", "ScheduledExecution"};
    const struct tt_description *desc = check->desc;
    struct tt_limited_findings *report = &check->report;
    bool any = false;
    for (int i = 0; i < TUTTI_INTERFACE_COUNT; i++) {
        any |= desc->interfaces[i].present;
        check_interface_element(check, &desc->interfaces[i], desc->fmi == 1 ? NULL : names[i]);
    }
    if (!any)
        tt_findings_limited_add(report, TUTTI_FINDING_ERROR, desc->line, NULL, NULL,
                                "found no interface, expected <CoSimulation> or <ModelExchange>%s",
                                desc->fmi == 3 ? " or <ScheduledExecution>" : "");
    if (!desc->token)
        tt_findings_limited_add(report, TUTTI_FINDING_ERROR, desc->line, NULL, NULL, "found no %s, expected one",
                                desc->fmi == 3 ? "instantiationToken" : "guid");
    if (!desc->model_name)
        tt_findings_limited_add(report, TUTTI_FINDING_ERROR, desc->line, NULL, NULL,
                                "found no modelName, expected one");
    const struct tt_experiment *e = &desc->experiment;
    if (e->has_start && e->has_stop && e->stop < e->start)
        tt_findings_limited_add(report, TUTTI_FINDING_WARNING, e->line, "DefaultExperiment", NULL,
                                "stopTime %g is before startTime %g", e->stop, e->start);
    if (e->has_tolerance && !(e->tolerance > 0))
        tt_findings_limited_add(report, TUTTI_FINDING_WARNING, e->line, "DefaultExperiment", NULL,
                                "tolerance is %g, expected a positive number", e->tolerance);
    if (e->has_step && !(e->step > 0))
        tt_findings_limited_add(report, TUTTI_FINDING_WARNING, e->line, "DefaultExperiment", NULL,
                                "stepSize is %g, expected a positive number", e->step);
}

static void check_unit_definitions(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    for (uint32_t i = 0; i < desc->unit_count; i++)
        if (desc->units[i].has_base && desc->units[i].factor == 0)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, desc->units[i].line, "unit",
                                    desc->units[i].name, "factor is 0, expected another number");
    for (uint32_t i = 0; i < desc->display_count; i++) {
        const struct tt_display_unit *display = &desc->displays[i];
        if (display->factor == 0)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, display->line, "display unit", display->name,
                                    "%s is 0, expected another number", desc->fmi == 1 ? "gain" : "factor");
        if (display->inverse && display->offset != 0)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, display->line, "display unit", display->name,
                                    "offset is %g, expected 0 because inverse is true", display->offset);
    }
}

static int compare_item_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The values in order, so that a start value is found quickly and equal ones lie side by side. */
static enum tutti_err check_enumeration_items(struct description_checking *check, uint32_t index)
{
    const struct tt_type_def *type = &check->desc->types[index];
    int64_t *values = tt_arena_array(&check->arena, type->item_count, sizeof *values);
    if (!values)
        return tt_fail_memory();
    struct tt_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (uint32_t i = 0; i < type->item_count && err == TUTTI_OK; i++) {
        int64_t earlier;
        values[i] = type->items[i].value;
        err = tt_map_add(&names, type->items[i].name, i, &earlier);
        if (err == TUTTI_OK && earlier != TUTTI_MAP_NONE)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, type->line, "type", type->name,
                                    "two items are named \"%.200s\", expected different names", type->items[i].name);
    }
    tt_map_fini(&names);
    TRY(err);
    qsort(values, type->item_count, sizeof *values, compare_item_values);
    for (uint32_t i = 1; i < type->item_count; i++)
        if (values[i] == values[i - 1])
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, type->line, "type", type->name,
                                    "two items have the value %lld, expected different values", (long long)values[i]);
    check->items[index] = values;
    return TUTTI_OK;
}

static enum tutti_err check_type_definitions(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    check->items = tt_arena_array(&check->arena, (size_t)desc->type_count + 1, sizeof *check->items);
    if (!check->items)
        return tt_fail_memory();
    for (uint32_t i = 0; i < desc->type_count; i++) {
        const struct tt_type_def *type = &desc->types[i];
        const struct tt_bounds *bounds = type->bounds;
        if (type->unit != TUTTI_NONE && !desc->units[type->unit].defined && desc->fmi > 1)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, type->line, "type", type->name,
                                    "unit is \"%.200s\", expected one that UnitDefinitions defines",
                                    desc->units[type->unit].name);
        if (bounds && bounds->has_min && bounds->has_max && bounds->min > bounds->max)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, type->line, "type", type->name,
                                    "min %g is greater than max %g", bounds->min, bounds->max);
        if (type->item_count)
            TRY(check_enumeration_items(check, i));
        else if (type->type == TUTTI_TYPE_ENUMERATION)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, type->line, "type", type->name,
                                    "found no <Item>, expected at least one");
    }
    return TUTTI_OK;
}

static enum tutti_err check_categories(struct description_checking *check)
{
    const struct tt_description *desc = check->desc;
    struct tt_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (uint32_t i = 0; i < desc->log_category_count && err == TUTTI_OK; i++) {
        int64_t earlier;
        err = tt_map_add(&names, desc->log_categories[i], i, &earlier);
        if (err == TUTTI_OK && earlier != TUTTI_MAP_NONE)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, desc->line, "log category",
                                    desc->log_categories[i], "defined twice, expected different names");
    }
    tt_map_fini(&names);
    return err;
}

/* Variables and aliases share one space of names; an alias i is known as var_count + i. */
static enum tutti_err check_add_name(struct description_checking *check, struct tt_map *names, uint32_t index)
{
    const struct tt_description *desc = check->desc;
    bool is_alias = index >= desc->var_count;
    const struct tt_alias *alias = is_alias ? &desc->aliases[index - desc->var_count] : NULL;
    const char *name = is_alias ? alias->name : desc->vars[index].name;
    unsigned line = is_alias ? alias->line : desc->vars[index].line;
    const char *what = is_alias ? "alias" : "variable";
    int64_t earlier;
    TRY(tt_map_add(names, name, index, &earlier));
    if (*name == '\0')
        tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, line, what, NULL,
                                "the name is empty, expected a text");
    else if (earlier != TUTTI_MAP_NONE)
        tt_findings_limited_add(&check->report, TUTTI_FINDING_ERROR, line, what, name,
                                "the name is used twice, first in line %u; expected different names",
                                earlier >= desc->var_count ? desc->aliases[earlier - desc->var_count].line
                                                           : desc->vars[earlier].line);
    return TUTTI_OK;
}

static enum tutti_err check_add_names(struct description_checking *check, struct tt_map *names)
{
    const struct tt_description *desc = check->desc;
    uint32_t count = desc->var_count + desc->alias_count;
    TRY(tt_map_reserve(names, count));
    for (uint32_t i = 0; i < count; i++)
        TRY(check_add_name(check, names, i));
    if (desc->fmi == 1)
        return TUTTI_OK;
    for (uint32_t i = 0; i < desc->type_count; i++)
        if (tt_map_find(names, desc->types[i].name) != TUTTI_MAP_NONE)
            tt_findings_limited_add(&check->report, TUTTI_FINDING_WARNING, desc->types[i].line, "type",
                                    desc->types[i].name, "a variable has the same name, expected different names");
    return TUTTI_OK;
}

static enum tutti_err check_all_variables(struct description_checking *check)
{
    check_root_element(check);
    check_unit_definitions(check);
    TRY(check_type_definitions(check));
    TRY(check_categories(check));
    struct tt_map names = {0};
    enum tutti_err err = check_add_names(check, &names);
    tt_map_fini(&names);
    TRY(err);
    TRY(check_references(check));
    check_vars(check);
    check_structure(check);
    return TUTTI_OK;
}

enum tutti_err tt_description_check(struct tt_description *desc, const char *file, struct tt_findings *findings)
{
    struct description_checking check = {.desc = desc, .report = {.file = file, .findings = findings}};
    enum tutti_err err = check_all_variables(&check);
    tt_findings_limited_end(&check.report);
    tt_arena_fini(&check.arena);
    return err;
}
