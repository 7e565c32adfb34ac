/* SPDX-License-Identifier: MIT */
#include "apps/pack/exposed.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "sim/job/annotation.h"
#include "sim/job/integration.h"

struct exposed_chooser {
    struct tt_exposed_list *list;
    const struct tt_job *job;
    unsigned fmi;
    const char *const *patterns;
    size_t pattern_count;
    size_t *hits; /* per pattern */
};

const struct tt_var *tt_exposed_var(const struct tt_job *job, const struct tt_exposed *exposed)
{
    return &job->system->components[exposed->component].fmu->desc->vars[exposed->variable];
}

/* Returns true if a variable can have this type in an FMU of this version. */
static bool exposed_fits_version(unsigned fmi, enum tt_type type)
{
    if (type == TUTTI_TYPE_CLOCK)
        return false;
    return fmi == 3 || type == TUTTI_TYPE_FLOAT64 || type == TUTTI_TYPE_INT32 || type == TUTTI_TYPE_BOOLEAN ||
           type == TUTTI_TYPE_STRING || type == TUTTI_TYPE_ENUMERATION;
}

/* ---- arrays ---- */

/* An extent as the system has it: structural parameters are set before the start, and stay. */
static uint64_t exposed_extent(const struct tt_component *component, const struct tt_dimension *dimension)
{
    for (size_t i = 0; dimension->variable != TUTTI_NONE && i < component->setting_count; i++)
        if (component->settings[i].variable == dimension->variable)
            return *(const uint64_t *)component->settings[i].values;
    return dimension->start;
}

static enum tutti_err exposed_set_dimensions(const struct tt_job *job, struct tt_exposed *exposed)
{
    const struct tt_var *var = tt_exposed_var(job, exposed);
    const struct tt_component *component = &job->system->components[exposed->component];
    if (var->dimension_count > TUTTI_MOST_INDICES)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "'%s' has %u dimensions; packed systems have arrays of at most %d",
                       exposed->row.name, var->dimension_count, TUTTI_MOST_INDICES);
    for (unsigned d = 0; d < var->dimension_count; d++)
        exposed->row.dimensions[d] = exposed_extent(component, &var->dimensions[d]);
    exposed->row.dimension_count = var->dimension_count;
    return TUTTI_OK;
}

/* "x" -> "x[2,3]"; NULL: memory is out. */
static const char *exposed_name_element(struct tt_arena *arena, const char *name, const struct tt_packed_row *array,
                                        size_t element)
{
    struct tt_text text = {0};
    uint64_t index[TUTTI_MOST_INDICES];
    for (size_t d = array->dimension_count; d-- > 0;) {
        index[d] = element % array->dimensions[d] + 1;
        element /= array->dimensions[d];
    }
    tt_text_append(&text, name);
    for (size_t d = 0; d < array->dimension_count; d++)
        tt_text_printf(&text, "%s%llu", d ? "," : "[", (unsigned long long)index[d]);
    tt_text_append(&text, "]");
    const char *copy = text.failed ? NULL : tt_arena_copy_text(arena, text.text, text.length);
    tt_text_fini(&text);
    return copy;
}

size_t tt_exposed_index(const struct tt_job *job, const struct tt_end *end)
{
    const struct tt_component *component = &job->system->components[end->component];
    const struct tt_var *var = &component->fmu->desc->vars[end->variable];
    size_t place = 0;
    for (unsigned d = 0; d < end->element.count; d++)
        place = place * exposed_extent(component, &var->dimensions[d]) + (size_t)(end->element.index[d] - 1);
    return place;
}

/* ---- items ---- */

static enum tutti_err exposed_append(struct tt_exposed_list *list, const struct tt_exposed *exposed)
{
    if (!tt_vector_reserve(&list->items, &list->room, list->count + 1, sizeof *list->items))
        return tt_fail_memory();
    list->items[list->count++] = *exposed;
    return TUTTI_OK;
}

static enum tutti_err exposed_append_elements(struct tt_exposed_list *list, const struct tt_exposed *array)
{
    size_t count = tt_packed_table_row_size(&array->row);
    for (size_t e = 0; e < count; e++) {
        struct tt_exposed one = *array;
        one.element = e;
        one.row.dimension_count = 0;
        one.row.name = exposed_name_element(&list->arena, array->row.name, &array->row, e);
        one.row.target = exposed_name_element(&list->arena, array->row.target, &array->row, e);
        if (!one.row.name || !one.row.target)
            return tt_fail_memory();
        TRY(exposed_append(list, &one));
    }
    return TUTTI_OK;
}

static enum tutti_err exposed_add(struct tt_exposed_list *list, unsigned fmi, const struct tt_exposed *exposed)
{
    bool array = exposed->row.dimension_count > 0;
    if (!exposed_fits_version(fmi, exposed->row.type))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "'%s' is of type %s, which a packed system of FMI %u.0 cannot have%s",
                       exposed->row.name, tt_type_name(exposed->row.type), fmi,
                       exposed_fits_version(3, exposed->row.type) ? "; use --fmi 3" : "");
    if (array && fmi == 2 && !exposed->row.target)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "the connector '%s' is an array, which FMI 2.0 does not have; use --fmi 3", exposed->row.name);
    return array && fmi == 2 ? exposed_append_elements(list, exposed) : exposed_append(list, exposed);
}

/* ---- the system's own connectors ---- */

static enum tutti_err add_port(struct exposed_chooser *chooser, uint32_t port, bool output)
{
    const struct tt_system *system = chooser->job->system;
    const struct tt_port *own = output ? &system->outputs[port] : &system->inputs[port];
    if (own->table != TUTTI_NONE)
        return TUTTI_OK; /* tables become part of the FMU */
    for (uint32_t i = 0; i < system->connection_count; i++) {
        const struct tt_connection *connection = &system->connections[i];
        const struct tt_end *here = output ? &connection->to : &connection->from;
        const struct tt_end *there = output ? &connection->from : &connection->to;
        if (here->component != TUTTI_NONE || here->variable != port || there->component == TUTTI_NONE)
            continue;
        const struct tt_var *var = &system->components[there->component].fmu->desc->vars[there->variable];
        struct tt_exposed exposed = {
            .row = {.name = own->name,
                    .type = own->type,
                    .role = output ? TUTTI_PACKED_OUTPUT : TUTTI_PACKED_INPUT,
                    .moves = tt_type_is_float(own->type) && var->variability == TUTTI_CONTINUOUS},
            .component = there->component,
            .variable = there->variable,
            .element = SIZE_MAX,
            .port = port,
            .conversion = connection->conversion,
            .unit = own->unit,
            .derivative_of = SIZE_MAX};
        if (there->element.count == 0)
            TRY(exposed_set_dimensions(chooser->job, &exposed));
        else
            exposed.element = tt_exposed_index(chooser->job, there);
        return exposed_add(chooser->list, chooser->fmi, &exposed);
    }
    tt_log(chooser->job->options.log, TUTTI_LOG_WARNING, NULL,
           "the connector '%s' of the system %s a unit, and is no variable of the FMU", own->name,
           output ? "does not come from" : "does not lead to");
    return TUTTI_OK;
}

/* ---- variables of units ---- */

static bool is_driven(const struct exposed_chooser *chooser, uint32_t component, uint32_t variable)
{
    uint32_t count;
    (void)tt_system_connections_to(chooser->job->system, component, variable, &count);
    for (uint32_t i = 0; i < chooser->job->system->fed_count; i++)
        if (chooser->job->system->fed[i].component == component && chooser->job->system->fed[i].variable == variable)
            return true;
    return count > 0;
}

/* Determines its role in the FMU; false if it cannot be exposed. */
static bool exposed_find_role(const struct exposed_chooser *chooser, uint32_t component, uint32_t variable,
                              enum tt_packed_role *role)
{
    const struct tt_var *var = &chooser->job->system->components[component].fmu->desc->vars[variable];
    switch ((enum tt_causality)var->causality) {
    case TUTTI_INPUT: *role = TUTTI_PACKED_INPUT; return !is_driven(chooser, component, variable);
    case TUTTI_PARAMETER:
        *role = var->variability == TUTTI_TUNABLE ? TUTTI_PACKED_TUNABLE : TUTTI_PACKED_PARAMETER;
        return !is_driven(chooser, component, variable);
    case TUTTI_OUTPUT:
    case TUTTI_LOCAL:
    case TUTTI_CALCULATED_PARAMETER: *role = TUTTI_PACKED_OUTPUT; return true;
    case TUTTI_STRUCTURAL_PARAMETER:
    case TUTTI_INDEPENDENT: break;
    }
    return false;
}

/* "unit.var", or "der(unit.x)" for the "der(x)" of a unit: so names are structured as FMI has it. NULL: memory is out. */
static const char *name_variable(struct tt_arena *arena, const char *unit, const char *name, bool structured)
{
    struct tt_text text = {0};
    if (structured && strncmp(name, "der(", 4) == 0)
        tt_text_printf(&text, "der(%s.%s", unit, name + 4);
    else
        tt_text_printf(&text, "%s.%s", unit, name);
    const char *copy = text.failed ? NULL : tt_arena_copy_text(arena, text.text, text.length);
    tt_text_fini(&text);
    return copy;
}

enum tutti_err tt_exposed_add(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi, uint32_t component,
                              uint32_t variable, enum tt_packed_role role, size_t *first)
{
    const struct tt_component *of = &job->system->components[component];
    const struct tt_description *desc = of->fmu->desc;
    const struct tt_var *var = &desc->vars[variable];
    const char *target = name_variable(&list->arena, of->name, var->name, false);
    const char *name = name_variable(&list->arena, of->name, var->name, true);
    if (!target || !name)
        return tt_fail_memory();
    struct tt_exposed exposed = {.row = {.name = job->system->single ? var->name : name,
                                         .target = target,
                                         .type = (enum tt_type)var->type,
                                         .role = role,
                                         .moves = role == TUTTI_PACKED_INPUT &&
                                                  tt_type_is_float((enum tt_type)var->type) &&
                                                  var->variability == TUTTI_CONTINUOUS},
                                 .component = component,
                                 .variable = variable,
                                 .element = SIZE_MAX,
                                 .port = TUTTI_NONE,
                                 .unit = var->unit == TUTTI_NONE ? NULL : &desc->units[var->unit],
                                 .derivative_of = SIZE_MAX};
    *first = list->count;
    TRY(exposed_set_dimensions(job, &exposed));
    return exposed_add(list, fmi, &exposed);
}

size_t tt_exposed_find(const struct tt_exposed_list *list, uint32_t component, uint32_t variable)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].port == TUTTI_NONE && list->items[i].component == component &&
            list->items[i].variable == variable && list->items[i].row.role != TUTTI_PACKED_INDICATOR)
            return i;
    return SIZE_MAX;
}

static bool is_default(const struct exposed_chooser *chooser, const struct tt_var *var, enum tt_packed_role role,
                       bool has_ports)
{
    bool possible = exposed_fits_version(chooser->fmi, (enum tt_type)var->type);
    if (chooser->job->system->single)
        return possible && var->causality != TUTTI_LOCAL && !var->alias;
    return possible && !has_ports && (role == TUTTI_PACKED_INPUT || var->causality == TUTTI_OUTPUT) && !var->alias;
}

static bool exposed_is_requested(struct exposed_chooser *chooser, const char *name)
{
    bool is = false;
    for (size_t p = 0; p < chooser->pattern_count; p++)
        if (tt_text_glob(chooser->patterns[p], name)) {
            chooser->hits[p]++;
            is = true;
        }
    return is;
}

static enum tutti_err exposed_consider(struct exposed_chooser *chooser, uint32_t c, uint32_t v, bool has_ports)
{
    const struct tt_system *system = chooser->job->system;
    const struct tt_var *var = &system->components[c].fmu->desc->vars[v];
    struct tt_text target = {0};
    enum tt_packed_role role;
    enum tutti_err err = TUTTI_OK;
    size_t first;
    if (!exposed_find_role(chooser, c, v, &role))
        return TUTTI_OK;
    tt_text_printf(&target, "%s.%s", system->components[c].name, var->name);
    if (target.failed)
        err = tt_fail_memory();
    else if (exposed_is_requested(chooser, system->single ? var->name : target.text) ||
             is_default(chooser, var, role, has_ports))
        err = tt_exposed_add(chooser->list, chooser->job, chooser->fmi, c, v, role, &first);
    tt_text_fini(&target);
    return err;
}

static enum tutti_err exposed_check_patterns(const struct exposed_chooser *chooser)
{
    for (size_t p = 0; p < chooser->pattern_count; p++)
        if (chooser->hits[p] == 0)
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "--expose %s fits no variable of a unit that an FMU can show: outputs, locals, parameters, "
                           "inputs that nothing drives (`tutti info --variables` lists them)",
                           chooser->patterns[p]);
    return TUTTI_OK;
}

static enum tutti_err exposed_choose(struct exposed_chooser *chooser)
{
    const struct tt_system *system = chooser->job->system;
    for (uint32_t i = 0; i < system->input_count; i++)
        TRY(add_port(chooser, i, false));
    for (uint32_t i = 0; i < system->output_count; i++)
        TRY(add_port(chooser, i, true));
    bool has_ports = chooser->list->count > 0;
    for (uint32_t c = 0; c < system->component_count; c++)
        for (uint32_t v = 0; v < system->components[c].fmu->desc->var_count; v++)
            TRY(exposed_consider(chooser, c, v, has_ports));
    return exposed_check_patterns(chooser);
}

static int exposed_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum tutti_err tt_exposed_check_names(const struct tt_exposed_list *list, unsigned fmi)
{
    const char **names = calloc(list->count + 1, sizeof *names), *twice = NULL;
    if (!names)
        return tt_fail_memory();
    for (size_t i = 0; i < list->count; i++)
        names[i] = list->items[i].row.name;
    names[list->count] = "time"; /* the independent variable */
    size_t count = list->count + (fmi == 3);
    qsort(names, count, sizeof *names, exposed_compare_names);
    for (size_t i = 1; i < count && !twice; i++)
        twice = strcmp(names[i - 1], names[i]) == 0 ? names[i] : NULL;
    free(names);
    return twice ? tt_fail(TUTTI_ERR_ARGUMENT,
                           "two variables of the FMU would be called '%s': rename the connector of the system, or the "
                           "unit, or leave it out of --expose",
                           twice)
                 : TUTTI_OK;
}

enum tutti_err tt_exposed_choose(struct tt_exposed_list *list, const struct tt_job *job, unsigned fmi,
                                 const char *const *patterns, size_t pattern_count)
{
    struct exposed_chooser chooser = {.list = list,
                                      .job = job,
                                      .fmi = fmi,
                                      .patterns = patterns,
                                      .pattern_count = pattern_count,
                                      .hits = calloc(pattern_count + 1, sizeof *chooser.hits)};
    enum tutti_err err = chooser.hits ? exposed_choose(&chooser) : tt_fail_memory();
    free(chooser.hits);
    return err;
}

void tt_exposed_fini(struct tt_exposed_list *list)
{
    free(list->items);
    free(list->derivatives);
    tt_arena_fini(&list->arena);
    *list = (struct tt_exposed_list){0};
}

enum tutti_err tt_exposed_find_kind(const struct tt_job *job, uint32_t component, const struct tt_unit_kind **kind,
                                    double *step)
{
    const struct tt_component *of = &job->system->components[component];
    struct tutti_run_options own = job->options;
    *step = 0;
    TRY(tt_annotation_apply_component(&own, job->system, of, step));
    return tt_integration_find_interface(&own, of->fmu, tt_system_is_alone(job->system), kind);
}

/* Returns true if the outputs of a component are averages over a step. */
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

/* ---- Model Exchange ---- */

/* Returns true if the FMU has only equations, of states that the description lists. */
static bool has_equations(const struct tt_description *desc)
{
    if (desc->fmi == 1)
        return false; /* the description has the number of states, not their names */
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

static enum tutti_err supports_model_exchange(const struct tt_job *job, bool *is)
{
    const struct tt_system *system = job->system;
    const struct tutti_run_options *options = &job->options;

    /* inputs driven by a file, a formula or the master are not equations of units */
    bool fed = tt_job_drives_inputs(job) || system->fed_count > 0;
    bool strong =
        (!options->coupling || strcmp(options->coupling, "auto") == 0 || strcmp(options->coupling, "strong") == 0) &&
        !options->correct && !options->smooth;
    *is = !tt_system_is_alone(system) && !fed && strong;
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
