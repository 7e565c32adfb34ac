/* SPDX-License-Identifier: MIT */
#include "unit/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_sampled(const struct tutti_var *var)
{
    return var->causality == TUTTI_OUTPUT && var->type != TUTTI_TYPE_CLOCK && var->clock_count == 0 &&
           !tutti_type_is_text(var->type);
}

enum tutti_err tutti_sampling_init(struct tutti_sampling *sampling, struct tutti_unit *unit, double tolerance)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    *sampling = (struct tutti_sampling){.desc = desc, .tolerance = tolerance};
    sampling->variables = calloc((size_t)desc->var_count + 1, sizeof *sampling->variables);
    if (!sampling->variables)
        return tutti_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (is_sampled(&desc->vars[v]))
            sampling->variables[sampling->count++] = v;
    TRY(tutti_sampling_lay_out(sampling, unit, &sampling->scale));
    TRY(tutti_unit_get(unit, &sampling->scale));
    tutti_sampling_see(sampling, &sampling->scale);
    return TUTTI_OK;
}

void tutti_sampling_fini(struct tutti_sampling *sampling)
{
    tutti_signals_fini(&sampling->scale);
    free(sampling->variables);
    *sampling = (struct tutti_sampling){0};
}

enum tutti_err tutti_sampling_lay_out(const struct tutti_sampling *sampling, const struct tutti_unit *unit,
                                      struct tutti_signals *point)
{
    return tutti_unit_signals(unit, sampling->variables, sampling->count, point);
}

static bool is_real(const struct tutti_sampling *sampling, size_t variable)
{
    return sampling->desc->vars[sampling->variables[variable]].type == TUTTI_TYPE_FLOAT64;
}

void tutti_sampling_see(struct tutti_sampling *sampling, const struct tutti_signals *point)
{
    for (size_t v = 0; v < sampling->count; v++) {
        const double *values = point->slots[v];
        double *scale = sampling->scale.slots[v];
        for (size_t i = 0; is_real(sampling, v) && i < point->extents[v]; i++)
            scale[i] = fmax(isfinite(scale[i]) ? fabs(scale[i]) : 0, isfinite(values[i]) ? fabs(values[i]) : 0);
    }
}

static bool is_same(const struct tutti_sampling *sampling, size_t variable, const struct tutti_signals *a,
                    const struct tutti_signals *b)
{
    const double *x = a->slots[variable], *y = b->slots[variable], *scale = sampling->scale.slots[variable];
    if (!is_real(sampling, variable))
        return memcmp(a->slots[variable], b->slots[variable], a->extents[variable] * a->sizes[variable]) == 0;
    for (size_t i = 0; i < a->extents[variable]; i++)
        if (x[i] != y[i] && !(isnan(x[i]) && isnan(y[i])) && !(fabs(x[i] - y[i]) <= sampling->tolerance * scale[i]))
            return false;
    return true;
}

const char *tutti_sampling_differ(const struct tutti_sampling *sampling, const struct tutti_signals *a,
                                  const struct tutti_signals *b)
{
    for (size_t v = 0; v < sampling->count; v++)
        if (!is_same(sampling, v, a, b))
            return sampling->desc->vars[sampling->variables[v]].name;
    return NULL;
}
