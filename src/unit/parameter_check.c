/* SPDX-License-Identifier: MIT */
#include "unit/parameter_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Start values are texts, which tools round: to some digits, or to six decimals, where little is nothing. */
static const double TOLERANCE = 1e-5, LITTLE = 5e-7;

static bool is_fixed_by_start(const struct tt_var *var)
{
    return (var->causality == TUTTI_PARAMETER || var->causality == TUTTI_STRUCTURAL_PARAMETER) &&
           var->initial == TUTTI_EXACT && var->start && !var->alias && !tt_type_is_text((enum tt_type)var->type);
}

/* Another name may have been set, and an FMI 1.0 parameter with a start value may follow from others. */
static bool may_have_other_source(const struct tt_description *desc, uint32_t variable,
                                  const struct tt_setting *settings, size_t count)
{
    const struct tt_var *var = &desc->vars[variable];
    bool another = false;
    for (size_t i = 0; i < count; i++) {
        const struct tt_var *set = &desc->vars[settings[i].variable];
        if (settings[i].variable == variable)
            return false;
        another = another || (desc->fmi == 1 && set->causality == TUTTI_PARAMETER) ||
                  (set->reference == var->reference && set->type == var->type);
    }
    return another;
}

static enum tutti_err parameter_expect(struct tt_parameter_check *described, const struct tt_unit *unit,
                                       const struct tt_setting *settings, size_t setting_count)
{
    const struct tt_signals *expected = &described->expected;
    TRY(tt_unit_signals(unit, described->variables, described->count, &described->expected));
    TRY(tt_unit_signals(unit, described->variables, described->count, &described->found));
    for (size_t i = 0; i < described->count; i++) {
        struct tt_block block = {.type = (enum tt_type)described->desc->vars[described->variables[i]].type,
                                 .count = 1,
                                 .value_count = expected->extents[i],
                                 .values = expected->slots[i]};
        TRY(tt_unit_describe_start(unit, described->variables[i], settings, setting_count, &block));
    }
    return TUTTI_OK;
}

enum tutti_err tt_parameter_check_init(struct tt_parameter_check *described, const struct tt_unit *unit,
                                       const struct tt_setting *settings, size_t setting_count,
                                       tt_parameter_check_elsewhere *elsewhere, const void *context)
{
    const struct tt_description *desc = unit->fmu->desc;
    *described =
        (struct tt_parameter_check){.desc = desc, .variables = calloc((size_t)desc->var_count + 1, sizeof(uint32_t))};
    if (!described->variables)
        return tt_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (is_fixed_by_start(&desc->vars[v]) && !may_have_other_source(desc, v, settings, setting_count) &&
            !(elsewhere && elsewhere(context, v)))
            described->variables[described->count++] = v;
    enum tutti_err err = parameter_expect(described, unit, settings, setting_count);
    if (err)
        tt_parameter_check_fini(described);
    return err;
}

void tt_parameter_check_fini(struct tt_parameter_check *described)
{
    tt_signals_fini(&described->expected);
    tt_signals_fini(&described->found);
    free(described->variables);
}

static bool is_nearly_equal(double found, double expected)
{
    double allowed = expected == 0 ? LITTLE : TOLERANCE * fabs(expected);
    return fabs(found - expected) <= allowed || found == expected || (isnan(found) && isnan(expected));
}

/* FMUs of one tool change parameters to base units in place, and show them so. Where the unit has a name only, a factor is
 * recognised if it is a power of ten. */
static bool is_in_base_unit(const struct tt_description *desc, const struct tt_var *var, double found, double expected)
{
    if (var->unit == TUTTI_NONE || found == 0 || expected == 0 || !isfinite(found))
        return false;
    const struct tt_unit_def *unit = &desc->units[var->unit];
    double factor = unit->has_base ? unit->factor : pow(10, round(log10(fabs(found / expected))));
    return is_nearly_equal(found, expected * factor + (unit->has_base ? unit->offset : 0));
}

static bool parameter_is_same(const struct tt_description *desc, const struct tt_var *var, const void *found,
                              const void *expected)
{
    if (!tt_type_is_float((enum tt_type)var->type))
        return memcmp(found, expected, tt_type_size((enum tt_type)var->type)) == 0;
    bool narrow = var->type == TUTTI_TYPE_FLOAT32;
    double x = narrow ? (double)*(const float *)found : *(const double *)found;
    double y = narrow ? (double)*(const float *)expected : *(const double *)expected;
    return is_nearly_equal(x, y) || is_in_base_unit(desc, var, x, y);
}

static bool parameter_differs(const struct tt_parameter_check *described, size_t n,
                              struct tt_parameter_difference *departure)
{
    const struct tt_var *var = &described->desc->vars[described->variables[n]];
    size_t size = tt_type_size((enum tt_type)var->type), extent = described->found.extents[n];
    /* One start value may stand for all elements of an array; the values of an array of another size say nothing. */
    bool covered = var->start_count == 1 || var->start_count == extent;
    for (size_t i = 0; covered && i < extent; i++) {
        const char *found = (const char *)described->found.slots[n] + i * size;
        const char *expected = (const char *)described->expected.slots[n] + i * size;
        if (!parameter_is_same(described->desc, var, found, expected)) {
            *departure = (struct tt_parameter_difference){described->variables[n], expected, found};
            return true;
        }
    }
    return false;
}

size_t tt_parameter_check_compare(const struct tt_parameter_check *described, struct tt_parameter_difference *first)
{
    size_t count = 0;
    for (size_t n = 0; n < described->count; n++) {
        struct tt_parameter_difference departure;
        if (parameter_differs(described, n, &departure) && count++ == 0)
            *first = departure;
    }
    return count;
}
