/* SPDX-License-Identifier: MIT */
#include "apps/pack/exposed_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "sim/job/annotation.h"
#include "sim/job/integration.h"

enum tutti_err tt_exposed_find_kind(const struct tt_job *job, uint32_t component, const struct tt_unit_kind **kind,
                                    double *step)
{
    const struct tt_component *of = &job->system->components[component];
    struct tutti_run_options own = job->options;
    *step = 0;
    TRY(tt_annotation_apply_component(&own, job->system, of, step));
    return tt_integration_find_interface(&own, of->fmu, tt_system_is_alone(job->system), kind);
}

/* Are the outputs of a component averages over a step? */
static enum tutti_err averages(const struct tt_job *job, uint32_t component, bool *does)
{
    struct tutti_run_options own = job->options;
    double step = 0;
    TRY(tt_annotation_apply_component(&own, job->system, &job->system->components[component], &step));
    *does = own.filter && strcmp(own.filter, "average") == 0;
    return TUTTI_OK;
}

enum tutti_err tt_exposed_check_averages(const struct tt_job *job)
{
    const char *control = job->options.control;
    bool varies = control && strcmp(control, "auto") != 0 && strcmp(control, "fixed") != 0;
    for (uint32_t c = 0; c < job->system->component_count && varies && !tt_system_is_alone(job->system); c++) {
        bool does;
        TRY(averages(job, c, &does));
        if (does)
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "'%s' has averages over a step as outputs (--filter average), and --control %s varies the "
                           "steps inside a step of the importer: use --control fixed, or leave out --filter",
                           job->system->components[c].name, control);
    }
    return TUTTI_OK;
}

/* ---- is it one? ---- */

/* Are there only equations, of states that the description tells? */
static bool has_equations(const struct tt_description *desc)
{
    if (desc->fmi == 1)
        return false; /* it says how many states there are, not which */
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].type == TUTTI_TYPE_CLOCK)
            return false;
    for (uint32_t k = 0; k < desc->derivatives.count; k++) {
        const struct tt_var *derivative = &desc->vars[desc->derivatives.items[k].variable];
        if (derivative->derivative_of == TUTTI_NONE || derivative->type != TUTTI_TYPE_FLOAT64 ||
            desc->vars[derivative->derivative_of].type != TUTTI_TYPE_FLOAT64)
            return false;
    }
    return true;
}

/* Does a file, a formula or the master itself feed inputs? These are no equations of units. */
static bool exposed_states_has_external_inputs(const struct tt_job *job)
{
    return tt_job_drives_inputs(job) || job->system->fed_count > 0;
}

static bool may_couple_strongly(const struct tutti_run_options *options)
{
    return (!options->coupling || strcmp(options->coupling, "auto") == 0 || strcmp(options->coupling, "strong") == 0) &&
           !options->correct && !options->smooth;
}

static enum tutti_err supports_model_exchange(const struct tt_job *job, bool *is)
{
    const struct tt_system *system = job->system;
    *is = !tt_system_is_alone(system) && !exposed_states_has_external_inputs(job) && may_couple_strongly(&job->options);
    for (uint32_t c = 0; c < system->component_count && *is; c++) {
        const struct tt_unit_kind *kind;
        double step;
        TRY(tt_exposed_find_kind(job, c, &kind, &step));
        bool has_averages;
        TRY(averages(job, c, &has_averages));
        *is = kind->interface == TUTTI_ME && step == 0 && !has_averages &&
              has_equations(system->components[c].fmu->desc);
    }
    return TUTTI_OK;
}

/* ---- variables ---- */

/* The place of a variable's item, or of the first of its elements; it is added if it is not there. */
static enum tutti_err find_or_add(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi,
                                  uint32_t component, uint32_t variable, size_t *first)
{
    *first = tt_exposed_find(list, component, variable);
    if (*first != SIZE_MAX)
        return TUTTI_OK;
    TRY(tt_exposed_add(list, job, fmi, component, variable, TUTTI_PACKED_OUTPUT, first));
    for (size_t i = *first; i < list->count; i++)
        list->items[i].local = true;
    return TUTTI_OK;
}

static enum tutti_err add_derivative(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi,
                                     uint32_t component, uint32_t variable)
{
    const struct tt_var *var = &job->system->components[component].fmu->desc->vars[variable];
    size_t state, derivative;
    TRY(find_or_add(list, job, fmi, component, var->derivative_of, &state));
    TRY(find_or_add(list, job, fmi, component, variable, &derivative));
    const struct tt_exposed *first = &list->items[derivative];
    for (size_t i = derivative; i < list->count && first->component == list->items[i].component &&
                                list->items[i].variable == variable && list->items[i].port == TUTTI_NONE;
         i++) {
        if (!tt_vector_reserve(&list->derivatives, &list->derivative_room, list->derivative_count + 1,
                               sizeof *list->derivatives))
            return tt_fail_memory();
        list->items[i].derivative_of = state + (i - derivative);
        list->derivatives[list->derivative_count++] = i;
        list->states += tt_packed_table_row_size(&list->items[i].row);
        first = &list->items[derivative];
    }
    return TUTTI_OK;
}

/* FMI 2.0 has them by their number only. */
static enum tutti_err add_indicators(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi,
                                     uint32_t component)
{
    const struct tt_component *of = &job->system->components[component];
    uint32_t count = of->fmu->desc->event_indicator_count;
    struct tt_text name = {0};
    list->indicators += count;
    if (fmi != 3 || count == 0)
        return TUTTI_OK;
    tt_text_printf(&name, "%s.event_indicators", of->name);
    while (tt_description_find(of->fmu->desc, name.failed ? "" : name.text + strlen(of->name) + 1) != TUTTI_NONE)
        tt_text_append(&name, "_");
    const char *copy = name.failed ? NULL : tt_arena_copy_text(&list->arena, name.text, name.length);
    tt_text_fini(&name);
    if (!copy || !tt_vector_reserve(&list->items, &list->room, list->count + 1, sizeof *list->items))
        return tt_fail_memory();
    list->items[list->count++] = (struct tt_exposed){.row = {.name = copy,
                                                             .type = TUTTI_TYPE_FLOAT64,
                                                             .role = TUTTI_PACKED_INDICATOR,
                                                             .dimension_count = 1,
                                                             .dimensions = {count}},
                                                     .component = component,
                                                     .element = SIZE_MAX,
                                                     .port = TUTTI_NONE,
                                                     .local = true,
                                                     .derivative_of = SIZE_MAX};
    return TUTTI_OK;
}

/* ---- the order of units ---- */

struct exposed_state_place {
    const char *name;
    uint32_t component;
};

static int exposed_states_by_name(const void *a, const void *b)
{
    const struct exposed_state_place *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : (left->component > right->component) * 2 - 1;
}

static enum tutti_err expose_state(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi,
                                   const struct exposed_state_place *order)
{
    const struct tt_system *system = job->system;
    for (uint32_t i = 0; i < system->component_count; i++) {
        const struct tt_description *desc = system->components[order[i].component].fmu->desc;
        for (uint32_t k = 0; k < desc->derivatives.count; k++)
            TRY(add_derivative(list, job, fmi, order[i].component, desc->derivatives.items[k].variable));
    }
    for (uint32_t i = 0; i < system->component_count; i++)
        TRY(add_indicators(list, job, fmi, order[i].component));
    return TUTTI_OK;
}

enum tutti_err tt_exposed_add_states(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi)
{
    uint32_t count = job->system->component_count;
    TRY(supports_model_exchange(job, &list->exchange));
    if (!list->exchange)
        return TUTTI_OK;
    struct exposed_state_place *order = calloc((size_t)count + 1, sizeof *order);
    if (!order)
        return tt_fail_memory();
    for (uint32_t c = 0; c < count; c++)
        order[c] = (struct exposed_state_place){job->system->components[c].name, c};
    qsort(order, count, sizeof *order, exposed_states_by_name);
    enum tutti_err err = expose_state(list, job, fmi, order);
    free(order);
    return err;
}
