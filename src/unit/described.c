/* SPDX-License-Identifier: MIT */
#include "unit/described.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Start values are texts, which tools round: to some digits, or to six decimals, where little is nothing. */
static const double TOLERANCE = 1e-5, LITTLE = 5e-7;

static bool keeps_start(const struct tutti_var *var)
{
    return (var->causality == TUTTI_PARAMETER || var->causality == TUTTI_STRUCTURAL_PARAMETER) &&
           var->initial == TUTTI_EXACT && var->start && !var->alias && !tutti_type_is_text((enum tutti_type)var->type);
}

/* Another name may have been set, and an FMI 1.0 parameter with a start value may follow from others. */
static bool may_be_another(const struct tutti_desc *desc, uint32_t variable, const struct tutti_setting *settings,
                           size_t count)
{
    const struct tutti_var *var = &desc->vars[variable];
    bool another = false;
    for (size_t i = 0; i < count; i++) {
        const struct tutti_var *set = &desc->vars[settings[i].variable];
        if (settings[i].variable == variable)
            return false;
        another = another || (desc->fmi == 1 && set->causality == TUTTI_PARAMETER) ||
                  (set->reference == var->reference && set->type == var->type);
    }
    return another;
}

/* One start value may stand for all elements of an array, and those of an array of another size say nothing. */
static bool says_all(const struct tutti_var *var, size_t extent)
{
    return var->start_count == 1 || var->start_count == extent;
}

static enum tutti_err expect(struct tutti_described *described, const struct tutti_unit *unit,
                             const struct tutti_setting *settings, size_t setting_count)
{
    const struct tutti_signals *expected = &described->expected;
    TRY(tutti_unit_signals(unit, described->variables, described->count, &described->expected));
    TRY(tutti_unit_signals(unit, described->variables, described->count, &described->found));
    for (size_t i = 0; i < described->count; i++) {
        struct tutti_block block = {.type = (enum tutti_type)described->desc->vars[described->variables[i]].type,
                                    .count = 1,
                                    .value_count = expected->extents[i],
                                    .values = expected->slots[i]};
        TRY(tutti_unit_describe_start(unit, described->variables[i], settings, setting_count, &block));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_described_init(struct tutti_described *described, const struct tutti_unit *unit,
                                    const struct tutti_setting *settings, size_t setting_count,
                                    tutti_described_elsewhere *elsewhere, const void *context)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    *described =
        (struct tutti_described){.desc = desc, .variables = calloc((size_t)desc->var_count + 1, sizeof(uint32_t))};
    if (!described->variables)
        return tutti_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (keeps_start(&desc->vars[v]) && !may_be_another(desc, v, settings, setting_count) &&
            !(elsewhere && elsewhere(context, v)))
            described->variables[described->count++] = v;
    enum tutti_err err = expect(described, unit, settings, setting_count);
    if (err)
        tutti_described_fini(described);
    return err;
}

void tutti_described_fini(struct tutti_described *described)
{
    tutti_signals_fini(&described->expected);
    tutti_signals_fini(&described->found);
    free(described->variables);
}

static bool is_near(double found, double expected)
{
    double allowed = expected == 0 ? LITTLE : TOLERANCE * fabs(expected);
    return fabs(found - expected) <= allowed || found == expected || (isnan(found) && isnan(expected));
}

/* FMUs of one tool change parameters to base units in place, and show them so. Where the unit has a name only, a factor is
 * recognised if it is a power of ten. */
static bool is_in_base_unit(const struct tutti_desc *desc, const struct tutti_var *var, double found, double expected)
{
    if (var->unit == TUTTI_NONE || found == 0 || expected == 0 || !isfinite(found))
        return false;
    const struct tutti_unit_def *unit = &desc->units[var->unit];
    double factor = unit->has_base ? unit->factor : pow(10, round(log10(fabs(found / expected))));
    return is_near(found, expected * factor + (unit->has_base ? unit->offset : 0));
}

static bool is_same(const struct tutti_desc *desc, const struct tutti_var *var, const void *found, const void *expected)
{
    if (!tutti_type_is_float((enum tutti_type)var->type))
        return memcmp(found, expected, tutti_type_size((enum tutti_type)var->type)) == 0;
    bool narrow = var->type == TUTTI_TYPE_FLOAT32;
    double x = narrow ? (double)*(const float *)found : *(const double *)found;
    double y = narrow ? (double)*(const float *)expected : *(const double *)expected;
    return is_near(x, y) || is_in_base_unit(desc, var, x, y);
}

static bool departs(const struct tutti_described *described, size_t n, struct tutti_departure *departure)
{
    const struct tutti_var *var = &described->desc->vars[described->variables[n]];
    size_t size = tutti_type_size((enum tutti_type)var->type), extent = described->found.extents[n];
    for (size_t i = 0; says_all(var, extent) && i < extent; i++) {
        const char *found = (const char *)described->found.slots[n] + i * size;
        const char *expected = (const char *)described->expected.slots[n] + i * size;
        if (!is_same(described->desc, var, found, expected)) {
            *departure = (struct tutti_departure){described->variables[n], expected, found};
            return true;
        }
    }
    return false;
}

size_t tutti_described_compare(const struct tutti_described *described, struct tutti_departure *first)
{
    size_t count = 0;
    for (size_t n = 0; n < described->count; n++) {
        struct tutti_departure departure;
        if (departs(described, n, &departure) && count++ == 0)
            *first = departure;
    }
    return count;
}
