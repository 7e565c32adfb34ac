/* SPDX-License-Identifier: MIT */
#include "unit/output_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum tutti_err tt_output_check_init(struct tt_output_check *sampling, struct tt_unit *unit, double tolerance)
{
    const struct tt_description *desc = unit->fmu->desc;
    *sampling = (struct tt_output_check){.desc = desc, .tolerance = tolerance};
    sampling->variables = calloc((size_t)desc->var_count + 1, sizeof *sampling->variables);
    if (!sampling->variables)
        return tt_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++) {
        const struct tt_var *var = &desc->vars[v];
        if (var->causality == TUTTI_OUTPUT && var->type != TUTTI_TYPE_CLOCK && var->clock_count == 0 &&
            !tt_type_is_text(var->type))
            sampling->variables[sampling->count++] = v;
    }
    TRY(tt_output_check_lay_out(sampling, unit, &sampling->scale));
    TRY(tt_unit_get(unit, &sampling->scale));
    tt_output_check_update_scale(sampling, &sampling->scale);
    return TUTTI_OK;
}

void tt_output_check_fini(struct tt_output_check *sampling)
{
    tt_signals_fini(&sampling->scale);
    free(sampling->variables);
    *sampling = (struct tt_output_check){0};
}

enum tutti_err tt_output_check_lay_out(const struct tt_output_check *sampling, const struct tt_unit *unit,
                                       struct tt_signals *point)
{
    return tt_unit_signals(unit, sampling->variables, sampling->count, point);
}

static bool output_is_real(const struct tt_output_check *sampling, size_t variable)
{
    return sampling->desc->vars[sampling->variables[variable]].type == TUTTI_TYPE_FLOAT64;
}

void tt_output_check_update_scale(struct tt_output_check *sampling, const struct tt_signals *point)
{
    for (size_t v = 0; v < sampling->count; v++) {
        const double *values = point->slots[v];
        double *scale = sampling->scale.slots[v];
        for (size_t i = 0; output_is_real(sampling, v) && i < point->extents[v]; i++)
            scale[i] = fmax(isfinite(scale[i]) ? fabs(scale[i]) : 0, isfinite(values[i]) ? fabs(values[i]) : 0);
    }
}

static bool output_is_same(const struct tt_output_check *sampling, size_t variable, const struct tt_signals *a,
                           const struct tt_signals *b)
{
    const double *x = a->slots[variable], *y = b->slots[variable], *scale = sampling->scale.slots[variable];
    if (!output_is_real(sampling, variable))
        return memcmp(a->slots[variable], b->slots[variable], a->extents[variable] * a->sizes[variable]) == 0;
    for (size_t i = 0; i < a->extents[variable]; i++)
        if (x[i] != y[i] && !(isnan(x[i]) && isnan(y[i])) && !(fabs(x[i] - y[i]) <= sampling->tolerance * scale[i]))
            return false;
    return true;
}

const char *tt_output_check_find_difference(const struct tt_output_check *sampling, const struct tt_signals *a,
                                            const struct tt_signals *b)
{
    for (size_t v = 0; v < sampling->count; v++)
        if (!output_is_same(sampling, v, a, b))
            return sampling->desc->vars[sampling->variables[v]].name;
    return NULL;
}
