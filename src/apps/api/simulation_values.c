/* SPDX-License-Identifier: MIT */
/* Variables of a simulation by name and number: read and set between steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "apps/api/simulation.h"
#include "results/recorder.h"
#include "model/system/setting.h"

/* ---- numbers ---- */

enum tutti_err tt_simulation_values_number(struct tutti_simulation *simulation)
{
    const struct tt_system *system = simulation->job.system;
    size_t total = 0;
    simulation->first = calloc((size_t)system->component_count + 1, sizeof *simulation->first);
    if (!simulation->first)
        return tt_fail_memory();
    for (uint32_t c = 0; c < system->component_count; c++) {
        simulation->first[c] = total;
        total += system->components[c].fmu->desc->var_count;
    }
    simulation->first[system->component_count] = simulation->handle_count = total;
    simulation->handles = calloc(total + 1, sizeof(struct tt_simulation_handle *));
    return simulation->handles ? TUTTI_OK : tt_fail_memory();
}

size_t tutti_simulation_variable_count(const struct tutti_simulation *simulation)
{
    return simulation->first[simulation->job.system ? simulation->job.system->component_count : 0];
}

static const struct tt_var *simulation_values_variable(const struct tutti_simulation *simulation,
                                                       const struct tt_simulation_handle *handle)
{
    return &simulation->job.system->components[handle->component].fmu->desc->vars[handle->variable];
}

/* STATE if the values are gone: after finish, and after a start that failed early. */
static enum tutti_err simulation_values_check_loaded(const struct tutti_simulation *simulation, const char *call)
{
    bool loaded = simulation->stage != TUTTI_STAGE_FINISHED && simulation->job.system;
    return loaded ? TUTTI_OK : tt_simulation_reject(simulation, call);
}

/* NULL: it was not made (yet). */
static struct tt_unit *simulation_values_unit(const struct tutti_simulation *simulation,
                                              const struct tt_simulation_handle *handle)
{
    const struct tt_rank *rank = &simulation->execution.rank;
    return handle->component < rank->member_count ? rank->members[handle->component].unit : NULL;
}

/* ---- handles ---- */

static enum tutti_err name_handle(const struct tutti_simulation *simulation, struct tt_simulation_handle *handle)
{
    const struct tt_system *system = simulation->job.system;
    struct tt_text text = {0};
    if (!system->single)
        tt_text_printf(&text, "%s.", system->components[handle->component].name);
    tt_text_append(&text, simulation_values_variable(simulation, handle)->name);
    for (unsigned i = 0; i < handle->element.count; i++)
        tt_text_printf(&text, "%c%llu", i ? ',' : '[', (unsigned long long)handle->element.index[i]);
    if (handle->element.count > 0)
        tt_text_append(&text, "]");
    handle->name = text.text;
    return text.failed ? tt_fail_memory() : TUTTI_OK;
}

static void free_handle(struct tt_simulation_handle *handle)
{
    if (handle->laid)
        tt_signals_fini(&handle->signals);
    tt_text_fini(&handle->text);
    free(handle->name);
    free(handle);
}

static enum tutti_err create_handle(const struct tutti_simulation *simulation, const struct tt_end *end,
                                    struct tt_simulation_handle **out)
{
    struct tt_simulation_handle *handle = calloc(1, sizeof *handle);
    if (!handle)
        return tt_fail_memory();
    handle->component = end->component;
    handle->variable = end->variable;
    handle->element = end->element;
    enum tutti_err err = name_handle(simulation, handle);
    if (err)
        free_handle(handle);
    else
        *out = handle;
    return err;
}

static enum tutti_err simulation_values_find_element(struct tutti_simulation *simulation, const struct tt_end *end,
                                                     size_t *number)
{
    for (size_t i = tutti_simulation_variable_count(simulation); i < simulation->handle_count; i++) {
        const struct tt_simulation_handle *handle = simulation->handles[i];
        *number = i;
        if (handle->component == end->component && handle->variable == end->variable &&
            tt_setting_compare_indices(&handle->element, &end->element) == 0)
            return TUTTI_OK;
    }
    struct tt_simulation_handle **more =
        realloc(simulation->handles, (simulation->handle_count + 1) * sizeof(struct tt_simulation_handle *));
    if (!more)
        return tt_fail_memory();
    simulation->handles = more;
    TRY(create_handle(simulation, end, &more[simulation->handle_count]));
    *number = simulation->handle_count++;
    return TUTTI_OK;
}

void tt_simulation_values_free_handles(struct tutti_simulation *simulation)
{
    for (size_t i = 0; i < simulation->handle_count; i++) {
        struct tt_simulation_handle *handle = simulation->handles[i];
        if (handle && handle->laid)
            tt_signals_fini(&handle->signals);
        if (handle)
            handle->laid = false, handle->place = handle->count = 0, handle->pending_set = NULL;
    }
}

void tt_simulation_values_reset_handles(struct tutti_simulation *simulation)
{
    for (size_t i = 0; i < simulation->handle_count; i++) {
        if (simulation->handles[i])
            free_handle(simulation->handles[i]);
        simulation->handles[i] = NULL;
    }
    simulation->handle_count = 0;
}

/* Units and variables may have dots in their names. ARGUMENT, with the nearest. */
static enum tutti_err simulation_values_find_name(const struct tutti_simulation *simulation, const char *name,
                                                  const char *call, struct tt_end *end)
{
    return tt_system_find(simulation->job.system, name, call, &end->component, &end->variable, &end->element);
}

enum tutti_err tutti_simulation_find(struct tutti_simulation *simulation, const char *name, size_t *variable)
{
    struct tt_end end = {0};
    TRY(simulation_values_check_loaded(simulation, "find"));
    TRY(simulation_values_find_name(simulation, name, "tutti_simulation_find", &end));
    if (end.element.count > 0)
        return simulation_values_find_element(simulation, &end, variable);
    *variable = simulation->first[end.component] + end.variable;
    return TUTTI_OK;
}

static enum tutti_err simulation_values_handle(struct tutti_simulation *simulation, size_t variable, const char *call,
                                               struct tt_simulation_handle **out)
{
    TRY(simulation_values_check_loaded(simulation, call));
    if (variable >= simulation->handle_count)
        return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_simulation_%s: there is no variable number %zu", call, variable);
    if (!simulation->handles[variable]) {
        uint32_t low = 0, high = simulation->job.system->component_count; /* which component the number belongs to */
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            *(simulation->first[middle] <= variable ? &low : &high) = middle;
        }
        const struct tt_end end = {.component = low, .variable = (uint32_t)(variable - simulation->first[low])};
        TRY(create_handle(simulation, &end, &simulation->handles[variable]));
    }
    *out = simulation->handles[variable];
    return TUTTI_OK;
}

enum tutti_err tutti_simulation_describe(struct tutti_simulation *simulation, size_t variable,
                                         struct tutti_variable *out)
{
    struct tt_simulation_handle *handle;
    TRY(simulation_values_handle(simulation, variable, "describe", &handle));
    const struct tt_description *desc = simulation->job.system->components[handle->component].fmu->desc;
    const struct tt_var *var = &desc->vars[handle->variable];
    bool single = var->dimension_count == 0 || handle->element.count > 0;
    const struct tt_column start = {.type = (enum tt_type)var->type, .negated = var->negated, .value = var->start};
    *out = (struct tutti_variable){
        .name = handle->name,
        .unit = var->unit == TUTTI_NONE ? NULL : desc->units[var->unit].name,
        .description = var->description,
        .type = tt_type_name((enum tt_type)var->type),
        .causality = tt_description_causality_name((enum tt_causality)var->causality),
        .variability = tt_description_variability_name((enum tt_variability)var->variability),
        .start = var->start && var->start_count > 0 ? tt_recorder_column_number(&start) : NAN,
        .minimum = var->bounds ? var->bounds->min : -INFINITY,
        .maximum = var->bounds ? var->bounds->max : INFINITY,
        .nominal = var->bounds ? var->bounds->nominal : 1,
        .is_text = tt_type_is_text((enum tt_type)var->type),
        .count = single,
    };
    const struct tt_unit *unit = simulation_values_unit(simulation, handle);
    return single || !unit ? TUTTI_OK : tt_unit_extent(unit, handle->variable, &out->count);
}

/* ---- reading ---- */

static enum tutti_err simulation_values_set_layout(struct tutti_simulation *simulation,
                                                   struct tt_simulation_handle *handle)
{
    struct tt_unit *unit = simulation_values_unit(simulation, handle);
    if (handle->laid)
        return TUTTI_OK;
    if (handle->element.count > 0)
        TRY(tt_unit_element(unit, handle->variable, &handle->element, &handle->place));
    TRY(tt_unit_signals(unit, &handle->variable, 1, &handle->signals));
    handle->laid = true;
    handle->count = 1;
    return handle->element.count > 0 ? TUTTI_OK : tt_unit_extent(unit, handle->variable, &handle->count);
}

static enum tutti_err simulation_values_check_count(const struct tt_simulation_handle *handle, size_t count,
                                                    const char *call)
{
    return count == handle->count ? TUTTI_OK
                                  : tt_fail(TUTTI_ERR_ARGUMENT, "tutti_simulation_%s: '%s' has %zu values, not %zu",
                                            call, handle->name, handle->count, count);
}

/* Reads it from the FMU; *value is the first that is meant. Also after a failure of another unit, as far as FMI allows. */
static enum tutti_err simulation_values_read(struct tutti_simulation *simulation, size_t variable, const char *call,
                                             struct tt_simulation_handle **handle, const char **value)
{
    TRY(simulation_values_handle(simulation, variable, call, handle));
    struct tt_unit *unit = simulation_values_unit(simulation, *handle);
    if (!unit)
        return tt_simulation_reject(simulation, call);
    TRY(simulation_values_set_layout(simulation, *handle));
    TRY(tt_unit_get(unit, &(*handle)->signals));
    *value = (const char *)(*handle)->signals.slots[0] + (*handle)->place * (*handle)->signals.sizes[0];
    return TUTTI_OK;
}

/* Adds the variable to the error of a call. */
static enum tutti_err simulation_values_describe_error(const struct tutti_simulation *simulation,
                                                       const struct tt_simulation_handle *handle, enum tutti_err err)
{
    return tt_fail_about(err, simulation->job.system->components[handle->component].name,
                         simulation_values_variable(simulation, handle)->name, NAN);
}

enum tutti_err tutti_simulation_get(struct tutti_simulation *simulation, size_t variable, double *values, size_t count)
{
    struct tt_simulation_handle *handle;
    const char *value;
    TRY(simulation_values_read(simulation, variable, "get", &handle, &value));
    TRY(simulation_values_describe_error(simulation, handle, simulation_values_check_count(handle, count, "get")));
    const struct tt_var *var = simulation_values_variable(simulation, handle);
    if (tt_type_is_text((enum tt_type)var->type))
        return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_simulation_get: '%s' is a text: use tutti_simulation_get_text",
                       handle->name);
    for (size_t i = 0; i < count; i++)
        values[i] = tt_recorder_column_number(&(struct tt_column){
            .type = (enum tt_type)var->type, .negated = var->negated, .value = value + i * handle->signals.sizes[0]});
    return TUTTI_OK;
}

enum tutti_err tutti_simulation_get_many(struct tutti_simulation *simulation, const size_t *variables, size_t count,
                                         double *values)
{
    for (size_t i = 0; i < count; i++)
        TRY(tutti_simulation_get(simulation, variables[i], &values[i], 1));
    return TUTTI_OK;
}

enum tutti_err tutti_simulation_get_text(struct tutti_simulation *simulation, size_t variable, const char **text)
{
    struct tt_simulation_handle *handle;
    const char *value;
    TRY(simulation_values_read(simulation, variable, "get_text", &handle, &value));
    const struct tt_var *var = simulation_values_variable(simulation, handle);
    if (!tt_type_is_text((enum tt_type)var->type) || handle->count == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_simulation_get_text: '%s' is no text: use tutti_simulation_get",
                       handle->name);
    if (var->type == TUTTI_TYPE_STRING) {
        *text = *(const char *const *)value;
        return TUTTI_OK;
    }
    const struct tt_bytes *bytes = (const struct tt_bytes *)value;
    handle->text.length = 0;
    tt_text_append(&handle->text, "");
    for (size_t i = 0; i < bytes->size; i++)
        tt_text_printf(&handle->text, "%02x", bytes->data[i]);
    *text = handle->text.text;
    return handle->text.failed ? tt_fail_memory() : TUTTI_OK;
}

/* ---- setting ---- */

static enum tutti_err simulation_values_check_settable(const struct tutti_simulation *simulation,
                                                       const struct tt_simulation_handle *handle)
{
    const struct tt_rank *rank = &simulation->execution.rank;
    const struct tt_var *var = simulation_values_variable(simulation, handle);
    const struct tt_member *member = &rank->members[handle->component];
    bool tunable = var->causality == TUTTI_PARAMETER && var->variability == TUTTI_TUNABLE;
    if (var->causality != TUTTI_INPUT && !tunable)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "'%s' is a %s %s: once a simulation is started, inputs and tunable parameters can be set",
                       handle->name, tt_description_variability_name((enum tt_variability)var->variability),
                       tt_description_causality_name((enum tt_causality)var->causality));
    if (tt_structure_find(&simulation->job.structure, handle->component, handle->variable, false) != TUTTI_NONE)
        return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is connected: it gets its values from another unit", handle->name);
    if (member->inputs && tt_inputs_slot(member->inputs, handle->variable, handle->place))
        return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' gets its values from %s", handle->name,
                       tt_inputs_file_name(member->inputs, handle->variable));
    return TUTTI_OK;
}

static enum tutti_err create_pending_set(struct tutti_simulation *simulation, struct tt_simulation_handle *handle)
{
    TRY(simulation_values_set_layout(simulation, handle));
    TRY(simulation_values_check_settable(simulation, handle));
    /* Elements of one array go to the unit together. */
    for (size_t i = 0; i < simulation->handle_count && !handle->pending_set && handle->element.count > 0; i++) {
        const struct tt_simulation_handle *other = simulation->handles[i];
        if (other && other->pending_set && other->component == handle->component && other->variable == handle->variable)
            handle->pending_set = other->pending_set;
    }
    if (!handle->pending_set)
        TRY(tt_pending_set_new(&handle->pending_set, &simulation->pending_sets, &simulation->execution.rank,
                               handle->component, handle->variable));
    /* keeps the values of all other elements */
    return handle->element.count > 0 ? tt_pending_set_refresh(handle->pending_set, &simulation->execution.rank)
                                     : TUTTI_OK;
}

/* Where the value number i of what a handle means goes. */
static void *simulation_values_index(const struct tt_simulation_handle *handle, size_t i)
{
    const struct tt_signals *signals = &handle->pending_set->signals;
    return (char *)signals->slots[0] + (handle->place + i) * signals->sizes[0];
}

static enum tutti_err simulation_values_check_value(const struct tutti_simulation *simulation,
                                                    const struct tt_simulation_handle *handle, double value)
{
    const struct tt_description *desc = simulation->job.system->components[handle->component].fmu->desc;
    const struct tt_var *var = simulation_values_variable(simulation, handle);
    if (tt_type_is_text((enum tt_type)var->type))
        return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_simulation_put: '%s' is a text: use tutti_simulation_set",
                       handle->name);
    return tt_setting_check_number(desc, var, handle->name, value);
}

enum tutti_err tutti_simulation_put(struct tutti_simulation *simulation, size_t variable, const double *values,
                                    size_t count)
{
    struct tt_simulation_handle *handle;
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "put"));
    TRY(simulation_values_handle(simulation, variable, "put", &handle));
    TRY(simulation_values_describe_error(simulation, handle, create_pending_set(simulation, handle)));
    TRY(simulation_values_describe_error(simulation, handle, simulation_values_check_count(handle, count, "put")));
    for (size_t i = 0; i < count; i++)
        TRY(simulation_values_describe_error(simulation, handle,
                                             simulation_values_check_value(simulation, handle, values[i])));
    const struct tt_var *var = simulation_values_variable(simulation, handle);
    for (size_t i = 0; i < count; i++)
        tt_setting_store_number(var, values[i], simulation_values_index(handle, i));
    tt_pending_set_submit(handle->pending_set, &simulation->execution.rank);
    return TUTTI_OK;
}

static enum tutti_err copy_values(const struct tt_simulation_handle *handle, const struct tt_var *var,
                                  const struct tt_setting *setting)
{
    struct tt_block *block = &handle->pending_set->signals.blocks[0];
    size_t size = tt_type_size((enum tt_type)var->type);
    for (size_t i = 0; i < handle->count; i++) {
        const char *from = (const char *)setting->values + (setting->count == 1 ? 0 : i) * size;
        void *to = simulation_values_index(handle, i);
        if (block->owned) {
            TRY(tt_signals_owned_copy(tt_signals_owned_at(block->owned, handle->place + i), block->type, from, to, 1));
            continue;
        }
        memcpy(to, from, size); /* with the sign of a negated alias */
    }
    return TUTTI_OK;
}

static enum tutti_err simulation_values_set_text(struct tutti_simulation *simulation, const struct tt_end *end,
                                                 const struct tt_setting *setting)
{
    size_t number = simulation->first[end->component] + end->variable;
    struct tt_simulation_handle *handle;
    if (end->element.count > 0)
        TRY(simulation_values_find_element(simulation, end, &number));
    TRY(simulation_values_handle(simulation, number, "set", &handle));
    TRY(create_pending_set(simulation, handle));
    if (setting->count != handle->count && setting->count != 1)
        return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' has %zu values, and %zu are given", handle->name, handle->count,
                       setting->count);
    TRY(copy_values(handle, simulation_values_variable(simulation, handle), setting));
    tt_pending_set_submit(handle->pending_set, &simulation->execution.rank);
    return TUTTI_OK;
}

/* Kept until the start. */
static enum tutti_err store_start_text(struct tutti_simulation *simulation, const char *text)
{
    const char **more = realloc(simulation->set, (simulation->set_count + 1) * sizeof *more);
    const char *copy = more ? tt_arena_copy_text(&simulation->arena, text, strlen(text)) : NULL;
    simulation->set = more ? more : simulation->set;
    if (!copy)
        return tt_fail_memory();
    more[simulation->set_count++] = copy;
    return TUTTI_OK;
}

/* "NAME=VALUE", where names may have a '=', too: as --set, the first that leaves the name of a variable before it. The
 * message is that of the first. */
static enum tutti_err simulation_values_split_setting(const struct tutti_simulation *simulation, const char *text,
                                                      struct tt_end *end, const char **value)
{
    const char *equals = strchr(text, '=');
    char *name = tt_text_copy(text);
    enum tutti_err err = TUTTI_ERR_ARGUMENT;
    if (!name)
        return tt_fail_memory();
    for (const char *at = equals; err && at; at = strchr(at + 1, '=')) {
        name[at - text] = '\0';
        err = simulation_values_find_name(simulation, name, "tutti_simulation_set", end);
        name[at - text] = '=';
        *value = at + 1;
    }
    if (err && equals && strchr(equals + 1, '=')) {
        name[equals - text] = '\0';
        err = simulation_values_find_name(simulation, name, "tutti_simulation_set", end);
    }
    free(name);
    return equals ? err : tt_fail(err, "tutti_simulation_set takes NAME=VALUE, not '%s'", text);
}

enum tutti_err tutti_simulation_set(struct tutti_simulation *simulation, const char *text)
{
    struct tt_arena arena = {0};
    struct tt_end end = {0};
    const char *value = NULL;
    if (simulation->stage > TUTTI_STAGE_STARTED)
        return tt_simulation_reject(simulation, "set");
    TRY(simulation_values_split_setting(simulation, text, &end, &value));
    struct tt_setting setting = {.variable = end.variable, .element = end.element};
    const struct tt_description *desc = simulation->job.system->components[end.component].fmu->desc;
    enum tutti_err err = tt_setting_read_text(&setting, &arena, desc, value);
    if (!err)
        err = simulation->stage == TUTTI_STAGE_OPEN ? store_start_text(simulation, text)
                                                    : simulation_values_set_text(simulation, &end, &setting);
    tt_arena_fini(&arena);
    return err;
}

enum tutti_err tutti_simulation_put_many(struct tutti_simulation *simulation, const size_t *variables, size_t count,
                                         const double *values)
{
    for (size_t i = 0; i < count; i++)
        TRY(tutti_simulation_put(simulation, variables[i], &values[i], 1));
    return TUTTI_OK;
}
