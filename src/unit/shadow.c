/* SPDX-License-Identifier: MIT */
#include "unit/shadow.h"

#include <math.h>
#include <stdlib.h>

static enum tutti_err start(struct tutti_unit *unit, const struct tutti_unit_options *options)
{
    (void)unit;
    (void)options;
    return TUTTI_OK;
}

static void finish(struct tutti_unit *unit)
{
    (void)unit;
}

static enum tutti_err configure(struct tutti_unit *unit, const struct tutti_setting *settings, size_t count)
{
    (void)unit;
    (void)settings;
    (void)count;
    return TUTTI_OK;
}

static enum tutti_err set_up(struct tutti_unit *unit, const struct tutti_experiment_setup *setup)
{
    (void)unit;
    (void)setup;
    return TUTTI_OK;
}

static enum tutti_err nothing(struct tutti_unit *unit)
{
    (void)unit;
    return TUTTI_OK;
}

static enum tutti_err set(struct tutti_unit *unit, const struct tutti_block *block)
{
    (void)unit;
    (void)block;
    return TUTTI_OK;
}

static enum tutti_err get(struct tutti_unit *unit, struct tutti_block *block)
{
    (void)unit;
    (void)block;
    return TUTTI_OK;
}

static enum tutti_err offer(struct tutti_unit *unit, const struct tutti_block *block, bool *refused)
{
    (void)unit;
    (void)block;
    (void)refused;
    return TUTTI_OK;
}

static enum tutti_err ask(struct tutti_unit *unit, struct tutti_block *block, bool *refused)
{
    (void)unit;
    (void)block;
    (void)refused;
    return TUTTI_OK;
}

static enum tutti_err set_input_derivatives(struct tutti_unit *unit, const uint32_t *references, const size_t *elements,
                                            size_t count, const int32_t *orders, const double *values)
{
    (void)unit;
    (void)references;
    (void)elements;
    (void)count;
    (void)orders;
    (void)values;
    return TUTTI_OK;
}

static enum tutti_err get_output_derivatives(struct tutti_unit *unit, const uint32_t *references, size_t count,
                                             int32_t order, double *values)
{
    (void)unit;
    (void)references;
    (void)order;
    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
    return TUTTI_OK;
}

static enum tutti_err get_directional(struct tutti_unit *unit, const uint32_t *unknowns, size_t unknown_count,
                                      const uint32_t *knowns, size_t known_count, const double *seed,
                                      double *sensitivity)
{
    (void)unit;
    (void)unknowns;
    (void)knowns;
    (void)known_count;
    (void)seed;
    for (size_t i = 0; i < unknown_count; i++)
        sensitivity[i] = 0;
    return TUTTI_OK;
}

static enum tutti_err step(struct tutti_unit *unit, double t, double h, struct tutti_step *step)
{
    (void)unit;
    *step = (struct tutti_step){.reached = t + h};
    return TUTTI_OK;
}

static enum tutti_err settle(struct tutti_unit *unit, struct tutti_unit_event *event)
{
    (void)unit;
    *event = (struct tutti_unit_event){.next_event = INFINITY};
    return TUTTI_OK;
}

static enum tutti_err save(struct tutti_unit *unit, struct tutti_unit_saved **saved)
{
    (void)unit;
    (void)saved;
    return TUTTI_OK;
}

static enum tutti_err restore(struct tutti_unit *unit, const struct tutti_unit_saved *saved)
{
    (void)unit;
    (void)saved;
    return TUTTI_OK;
}

static void discard(struct tutti_unit *unit, struct tutti_unit_saved *saved)
{
    (void)unit;
    (void)saved;
}

#define SHADOW(NAME, INTERFACE)                                                                                        \
    {                                                                                                                  \
        .name = (NAME), .interface = (INTERFACE), .size = sizeof(struct tutti_unit), .start = start, .finish = finish, \
        .set_up = set_up, .configure = configure, .enter_init = nothing, .reset = nothing, .exit_init = nothing,       \
        .set = set, .get = get, .offer = offer, .ask = ask, .set_input_derivatives = set_input_derivatives,            \
        .get_output_derivatives = get_output_derivatives, .get_directional = get_directional, .step = step,            \
        .enter_event = nothing, .settle = settle, .save = save, .restore = restore, .discard = discard,                \
        .terminate = nothing,                                                                                          \
    }

static const struct tutti_unit_kind kinds[] =
    {[TUTTI_CS] = SHADOW("cs", TUTTI_CS), [TUTTI_ME] = SHADOW("me", TUTTI_ME), [TUTTI_SE] = SHADOW("se", TUTTI_SE)};

enum tutti_err tutti_shadow_new(struct tutti_unit **out, struct tutti_fmu *fmu, const struct tutti_unit_kind *kind,
                                const char *name)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return tutti_fail_memory();
    (*out)->kind = &kinds[kind->interface];
    (*out)->fmu = fmu;
    (*out)->name = name;
    return TUTTI_OK;
}

void tutti_unit_get_traits(const struct tutti_unit *unit, double *traits)
{
    const double all[TUTTI_TRAITS] = {unit->can,          unit->has_events,   unit->uniform,
                                      unit->keeps_slopes, unit->output_order, unit->asks_for_inputs};
    for (int i = 0; i < TUTTI_TRAITS; i++)
        traits[i] = all[i];
}

void tutti_shadow_set_traits(struct tutti_unit *unit, const double *traits)
{
    unit->can = (uint32_t)traits[0];
    unit->has_events = traits[1] > 0;
    unit->uniform = traits[2] > 0;
    unit->keeps_slopes = traits[3] > 0;
    unit->output_order = (int)traits[4];
    unit->asks_for_inputs = traits[5] > 0;
}

/* A variable that is an extent comes up once per dimension that it gives: simpler than a set of them, and there are few. */
size_t tutti_unit_count_sizes(const struct tutti_desc *desc)
{
    size_t count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        for (unsigned d = 0; d < desc->vars[v].dimension_count; d++)
            count += desc->vars[v].dimensions[d].variable != TUTTI_NONE;
    return count;
}

void tutti_unit_get_sizes(const struct tutti_unit *unit, double *sizes)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    for (uint32_t v = 0; v < desc->var_count; v++)
        for (unsigned d = 0; d < desc->vars[v].dimension_count; d++)
            if (desc->vars[v].dimensions[d].variable != TUTTI_NONE)
                *sizes++ = (double)unit->sizes[desc->vars[v].dimensions[d].variable];
}

enum tutti_err tutti_shadow_set_sizes(struct tutti_unit *unit, const double *sizes)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    unit->sizes = calloc(desc->var_count + 1, sizeof *unit->sizes);
    if (!unit->sizes)
        return tutti_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++)
        for (unsigned d = 0; d < desc->vars[v].dimension_count; d++)
            if (desc->vars[v].dimensions[d].variable != TUTTI_NONE)
                unit->sizes[desc->vars[v].dimensions[d].variable] = (uint64_t)*sizes++;
    return TUTTI_OK;
}
