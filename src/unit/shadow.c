/* SPDX-License-Identifier: MIT */
#include "unit/shadow.h"

#include <math.h>
#include <stdlib.h>

static enum tutti_err shadow_start(struct tt_unit *unit, const struct tt_unit_options *options)
{
    (void)unit;
    (void)options;
    return TUTTI_OK;
}

static void shadow_finish(struct tt_unit *unit)
{
    (void)unit;
}

static enum tutti_err shadow_configure(struct tt_unit *unit, const struct tt_setting *settings, size_t count)
{
    (void)unit;
    (void)settings;
    (void)count;
    return TUTTI_OK;
}

static enum tutti_err shadow_set_up(struct tt_unit *unit, const struct tt_experiment_setup *setup)
{
    (void)unit;
    (void)setup;
    return TUTTI_OK;
}

static enum tutti_err shadow_do_nothing(struct tt_unit *unit)
{
    (void)unit;
    return TUTTI_OK;
}

static enum tutti_err shadow_set(struct tt_unit *unit, const struct tt_block *block)
{
    (void)unit;
    (void)block;
    return TUTTI_OK;
}

static enum tutti_err shadow_get(struct tt_unit *unit, struct tt_block *block)
{
    (void)unit;
    (void)block;
    return TUTTI_OK;
}

static enum tutti_err shadow_try_set(struct tt_unit *unit, const struct tt_block *block, bool *refused)
{
    (void)unit;
    (void)block;
    (void)refused;
    return TUTTI_OK;
}

static enum tutti_err shadow_try_get(struct tt_unit *unit, struct tt_block *block, bool *refused)
{
    (void)unit;
    (void)block;
    (void)refused;
    return TUTTI_OK;
}

static enum tutti_err shadow_set_input_derivatives(struct tt_unit *unit, const uint32_t *references,
                                                   const size_t *elements, size_t count, const int32_t *orders,
                                                   const double *values)
{
    (void)unit;
    (void)references;
    (void)elements;
    (void)count;
    (void)orders;
    (void)values;
    return TUTTI_OK;
}

static enum tutti_err shadow_get_output_derivatives(struct tt_unit *unit, const uint32_t *references, size_t count,
                                                    int32_t order, double *values)
{
    (void)unit;
    (void)references;
    (void)order;
    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
    return TUTTI_OK;
}

static enum tutti_err shadow_get_directional(struct tt_unit *unit, const uint32_t *unknowns, size_t unknown_count,
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

static enum tutti_err shadow_step(struct tt_unit *unit, double t, double h, struct tt_fmi_step *step)
{
    (void)unit;
    *step = (struct tt_fmi_step){.reached = t + h};
    return TUTTI_OK;
}

static enum tutti_err shadow_update_discrete(struct tt_unit *unit, struct tt_unit_event *event)
{
    (void)unit;
    *event = (struct tt_unit_event){.next_event = INFINITY};
    return TUTTI_OK;
}

static enum tutti_err shadow_save(struct tt_unit *unit, struct tt_unit_saved **saved)
{
    (void)unit;
    (void)saved;
    return TUTTI_OK;
}

static enum tutti_err shadow_restore(struct tt_unit *unit, const struct tt_unit_saved *saved)
{
    (void)unit;
    (void)saved;
    return TUTTI_OK;
}

static void shadow_discard(struct tt_unit *unit, struct tt_unit_saved *saved)
{
    (void)unit;
    (void)saved;
}

#define SHADOW(NAME, INTERFACE)                                                                                        \
    {                                                                                                                  \
        .name = (NAME), .interface = (INTERFACE), .size = sizeof(struct tt_unit), .start = shadow_start,               \
        .finish = shadow_finish, .set_up = shadow_set_up, .configure = shadow_configure,                               \
        .enter_init = shadow_do_nothing, .reset = shadow_do_nothing, .exit_init = shadow_do_nothing,                   \
        .set = shadow_set, .get = shadow_get, .offer = shadow_try_set, .ask = shadow_try_get,                          \
        .set_input_derivatives = shadow_set_input_derivatives,                                                         \
        .get_output_derivatives = shadow_get_output_derivatives, .get_directional = shadow_get_directional,            \
        .step = shadow_step, .enter_event = shadow_do_nothing, .settle = shadow_update_discrete, .save = shadow_save,  \
        .restore = shadow_restore, .discard = shadow_discard, .terminate = shadow_do_nothing,                          \
    }

static const struct tt_unit_kind kinds[] =
    {[TUTTI_CS] = SHADOW("cs", TUTTI_CS), [TUTTI_ME] = SHADOW("me", TUTTI_ME), [TUTTI_SE] = SHADOW("se", TUTTI_SE)};

enum tutti_err tt_shadow_new(struct tt_unit **out, struct tt_fmu *fmu, const struct tt_unit_kind *kind,
                             const char *name)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return tt_fail_memory();
    (*out)->kind = &kinds[kind->interface];
    (*out)->fmu = fmu;
    (*out)->name = name;
    return TUTTI_OK;
}

void tt_shadow_read_traits(const struct tt_unit *unit, double *traits)
{
    const double all[TUTTI_TRAITS] = {unit->can,          unit->has_events,   unit->uniform,
                                      unit->keeps_slopes, unit->output_order, unit->asks_for_inputs};
    for (int i = 0; i < TUTTI_TRAITS; i++)
        traits[i] = all[i];
}

void tt_shadow_set_traits(struct tt_unit *unit, const double *traits)
{
    unit->can = (uint32_t)traits[0];
    unit->has_events = traits[1] > 0;
    unit->uniform = traits[2] > 0;
    unit->keeps_slopes = traits[3] > 0;
    unit->output_order = (int)traits[4];
    unit->asks_for_inputs = traits[5] > 0;
}

/* A variable that is an extent of several dimensions is listed repeatedly: simpler than a set, and there are few. */
size_t tt_shadow_count_sizes(const struct tt_description *desc)
{
    size_t count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        for (unsigned d = 0; d < desc->vars[v].dimension_count; d++)
            count += desc->vars[v].dimensions[d].variable != TUTTI_NONE;
    return count;
}

void tt_shadow_read_sizes(const struct tt_unit *unit, double *sizes)
{
    const struct tt_description *desc = unit->fmu->desc;
    for (uint32_t v = 0; v < desc->var_count; v++)
        for (unsigned d = 0; d < desc->vars[v].dimension_count; d++)
            if (desc->vars[v].dimensions[d].variable != TUTTI_NONE)
                *sizes++ = (double)unit->sizes[desc->vars[v].dimensions[d].variable];
}

enum tutti_err tt_shadow_set_sizes(struct tt_unit *unit, const double *sizes)
{
    const struct tt_description *desc = unit->fmu->desc;
    unit->sizes = calloc(desc->var_count + 1, sizeof *unit->sizes);
    if (!unit->sizes)
        return tt_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++)
        for (unsigned d = 0; d < desc->vars[v].dimension_count; d++)
            if (desc->vars[v].dimensions[d].variable != TUTTI_NONE)
                unit->sizes[desc->vars[v].dimensions[d].variable] = (uint64_t)*sizes++;
    return TUTTI_OK;
}
